#include "simcore/text/source_place.h"

#include <fmt/format.h>

namespace gpusim::core {

bool is_library_header(std::string_view file) {
  if (!file.starts_with('/')) return false;
  bool of_system = file.starts_with("/usr/") || file.starts_with("/opt/");
  while (!file.empty()) {
    file.remove_prefix(1);
    const std::string_view folder = file.substr(0, file.find('/'));
    if (folder.size() == file.size()) return false;  // the file itself
    if (folder == "include" && of_system) return true;
    of_system |= folder == "targets" || folder.starts_with("cuda");
    file.remove_prefix(folder.size());
  }
  return false;
}

SourceLine user_line(const SourceLine& written, const SourceLine& call) {
  if (call.line == 0) return written;
  if (is_library_header(call.file) && !written.file.empty() && !is_library_header(written.file))
    return written;
  return call;
}

std::string source_place(const SourceLine& user, const SourceLine& written) {
  if (user.line == 0) return "";
  const std::string place = fmt::format("{}:{}", user.file, user.line);
  if (user == written || written.line == 0) return place;
  const std::string name = written.file.substr(written.file.rfind('/') + 1);
  return name == user.file.substr(user.file.rfind('/') + 1)
             ? fmt::format("{}, inlined from line {}", place, written.line)
             : fmt::format("{}, inlined from {}:{}", place, name, written.line);
}
}  // namespace gpusim::core
