#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "cli/commands.h"

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

}  // namespace gpusim::cli
