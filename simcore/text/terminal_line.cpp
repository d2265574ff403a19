#include "simcore/text/terminal_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace gpusim::core {

std::string fitted(const std::string& line) {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return line;
  return line.substr(0, size.ws_col - size_t{1});  // the last column would begin the next line
}

}  // namespace gpusim::core
