#include "cli/nearest_file.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "simcore/text/names.h"

namespace gpusim::cli {

namespace fs = std::filesystem;

std::string nearest_file(const std::string& name, const std::function<bool(const std::string& path)>& known) {
  const fs::path path(name), folder = path.parent_path();
  std::vector<std::string> names, stems;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder.empty() ? fs::path(".") : folder, error))
    if (known(entry.path().string())) names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  for (const std::string& there : names) stems.push_back(fs::path(there).stem().string());
  // With another ending, or none, a name is far from what it means.
  for (const auto& [given, candidates] :
       {std::pair(path.filename().string(), &names), std::pair(path.stem().string(), &stems)}) {
    const std::vector<std::string_view> views(candidates->begin(), candidates->end());
    const std::string_view nearest = core::nearest_name(given, views);
    if (!nearest.empty())
      return (folder / names[static_cast<size_t>(std::ranges::find(views, nearest) - views.begin())])
          .string();
  }
  return {};
}

bool is_study_folder(const std::string& path) {
  return is_folder(path) && is_there((fs::path(path) / "study.toml").string());
}

}  // namespace gpusim::cli
