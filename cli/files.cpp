#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/commands.h"
#include "simcore/text/input_error.h"

namespace gpusim::cli {

namespace fs = std::filesystem;

std::vector<std::string> config_folders() {
  std::vector<std::string> folders;
  if (const char* path = std::getenv("GPUSIM_CONFIG_PATH")) {
    std::stringstream list(path);
    for (std::string item; std::getline(list, item, ':');)
      if (!item.empty()) folders.push_back(item);
  }
  folders.emplace_back("configs");
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    const fs::path bin = program.parent_path();
    folders.push_back((bin / ".." / "share" / "gpusim" / "configs").lexically_normal().string());
    // build/<preset>/bin/gpusim in the source tree
    folders.push_back((bin / ".." / ".." / ".." / "configs").lexically_normal().string());
  }
  return folders;
}

std::string read_file(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) core::raise_input_error({path, 0, 0}, "is a folder, not a file");
  std::ifstream in(path, std::ios::binary);
  if (!in) core::raise_input_error({path, 0, 0}, "cannot be opened for reading");
  if (fs::is_regular_file(path, error)) {
    std::string text(fs::file_size(path, error), 0);
    if (!error && in.read(text.data(), static_cast<std::streamsize>(text.size()))) return text;
    core::raise_input_error({path, 0, 0}, "cannot be read");
  }
  std::ostringstream text;
  text << in.rdbuf();
  if (in.bad()) core::raise_input_error({path, 0, 0}, "cannot be read");
  return text.str();
}

}  // namespace gpusim::cli
