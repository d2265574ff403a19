// A study's results as a section of the HTML page: the best points and why, what each axis is worth (ranges,
// lines), which axes depend on each other (tables of shades), and the trade between time, energy and SRAM.
#pragma once
#include <string>

#include "study/study_folder.h"

namespace gpusim::study {

/// `id`: of the section's heading.
[[nodiscard]] std::string study_section(const StudyFolder& folder, const std::string& id);

}  // namespace gpusim::study
