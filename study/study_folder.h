// What `gpusim study run` left in a folder, read again: for pages about it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "study/findings.h"

namespace gpusim::study {

struct StudyFolder {
  Study study;
  std::vector<Point> points;
  std::vector<PointResult> results;
  std::optional<Guided> guided;  ///< of a guided study, its estimates alone
  std::string findings;          ///< what the run printed
  [[nodiscard]] Outcome outcome() const { return {study, points, results, guided ? &*guided : nullptr}; }
};

/// True if `study run` has written its results there.
[[nodiscard]] bool is_study_folder(const std::string& folder);

/// `store`: where its points are; empty: in the folder. Whatever version of the program simulated them.
/// Throws core::InputError.
[[nodiscard]] StudyFolder read_study_folder(const std::string& folder, const std::string& store);

/// Cells of a CSV file, by rows. Throws core::InputError if a quoted cell does not end.
[[nodiscard]] std::vector<std::vector<std::string>> csv_cells(const std::string& text,
                                                              const std::string& name);

}  // namespace gpusim::study
