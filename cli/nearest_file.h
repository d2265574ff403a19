// The file that is perhaps meant by a name that no file has.
#pragma once
#include <functional>
#include <string>

namespace gpusim::cli {

/// Of the files and folders where `name` would be, those that `known` takes: the nearest by its name, or by
/// its name without ending; empty if none is near.
[[nodiscard]] std::string nearest_file(const std::string& name,
                                       const std::function<bool(const std::string& path)>& known);
/// A folder of a study's results.
[[nodiscard]] bool is_study_folder(const std::string& path);

}  // namespace gpusim::cli
