#include "simcore/text/reachable.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "simcore/text/input_error.h"

namespace gpusim::core {

std::string why_unreachable(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) == 0 || errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG)
    return "";
  return std::strerror(errno);
}

std::string why_closed(const std::string& folder) { return why_unreachable(folder + "/."); }

void refuse_unreachable(const std::string& path) {
  if (const std::string why = why_unreachable(path); !why.empty())
    raise_input_error({path}, "cannot open: " + why);
}

}  // namespace gpusim::core
