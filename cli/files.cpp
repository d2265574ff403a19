#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
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

void check_output(const std::string& option, const std::string& path,
                  const std::vector<std::string>& inputs) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return;
  const auto refuse = [&](const std::string& why) {
    throw core::InputError(fmt::format("{}: error: {}: {}", path, option, why));
  };
  if (!fs::is_regular_file(status)) refuse("not a regular file");
  if (access(path.c_str(), W_OK) != 0) refuse(std::strerror(errno));
  for (const std::string& input : inputs)
    if (fs::equivalent(path, input, error)) refuse("this is an input of the run");
}

}  // namespace gpusim::cli
