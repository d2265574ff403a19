#include "cli/data_folders.h"

#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <sstream>

#include "cli/version.h"
#include "simcore/text/input_error.h"
#include "simcore/text/names.h"
#include "simcore/text/reachable.h"

namespace gpusim::cli {

namespace {

namespace fs = std::filesystem;

/// Of a list such as PATH has; empty ones are left out.
std::vector<std::string> folders_of(const char* variable) {
  std::vector<std::string> folders;
  if (const char* list = std::getenv(variable)) {
    std::stringstream in(list);
    for (std::string item; std::getline(in, item, ':');)
      if (!item.empty()) folders.push_back(item);
  }
  return folders;
}

}  // namespace

std::vector<DataFolder> data_folders() {
  std::vector<DataFolder> folders;
  std::error_code error;
  for (const std::string& given : folders_of("GPUSIM_DATA")) {
    core::refuse_unreachable(given);
    if (!fs::is_directory(given, error))
      throw core::InputError(fmt::format(
          "gpusim: error: GPUSIM_DATA: '{}' is not a folder (it has configs/, workloads/ and regress/)",
          given));
    folders.push_back({given, false});
  }
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return folders;
  const fs::path bin = program.parent_path();
  const fs::path installed = (bin / kDataFromProgram).lexically_normal();
  if (fs::is_directory(installed, error)) folders.push_back({installed, true});
  const fs::path source = (bin / ".." / ".." / "..").lexically_normal();
  if (fs::exists(source / "CMakePresets.json", error)) folders.push_back({source, false});
  return folders;
}

std::vector<std::string> config_folders() {
  std::vector<std::string> folders = folders_of("GPUSIM_CONFIG_PATH");
  folders.emplace_back("configs");
  for (const DataFolder& data : data_folders()) folders.push_back((data.path / "configs").string());
  return folders;
}

std::string find_hardware_file(const std::string& file) {
  std::error_code error;
  if (fs::exists(file, error) || file.find('/') != std::string::npos || file.ends_with(".json")) return file;
  std::vector<std::string> found;
  for (const DataFolder& data : data_folders()) {
    const fs::path folder = data.path / "regress" / "hardware";
    if (fs::exists(folder / (file + ".json"), error)) return (folder / (file + ".json")).string();
    for (const auto& entry : fs::directory_iterator(folder, error))
      if (entry.path().extension() == ".json") found.push_back(entry.path().stem().string());
  }
  const std::vector<std::string_view> names(found.begin(), found.end());
  throw core::InputError(
      fmt::format("gpusim: error: --hardware: there is no file '{}', and no measurements of this name come "
                  "with gpusim{}{}",
                  file, names.empty() ? "" : "\n  hint: ", core::name_hint(file, names)));
}

std::vector<std::string> hardware_files() {
  std::error_code error;
  std::map<std::string, std::string> by_name;
  for (const DataFolder& data : data_folders())
    for (const auto& entry : fs::directory_iterator(data.path / "regress" / "hardware", error))
      if (entry.path().extension() == ".json")
        by_name.emplace(entry.path().stem().string(), entry.path().string());
  std::vector<std::string> files;
  files.reserve(by_name.size());
  for (const auto& [name, path] : by_name) files.push_back(path);
  return files;
}

}  // namespace gpusim::cli
