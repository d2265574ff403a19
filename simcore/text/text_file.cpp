#include "simcore/text/text_file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "simcore/text/input_error.h"

namespace gpusim::core {

std::string read_text_file(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0)
    raise_input_error({path}, fmt::format("cannot open: {}", std::strerror(errno)));
  if (!S_ISREG(info.st_mode)) raise_input_error({path}, "cannot read: not a regular file");
  if (static_cast<uint64_t>(info.st_size) > kMaxDocumentBytes) {
    raise_input_error(
        {path}, fmt::format("file is too large: {} bytes, at most {}", info.st_size, kMaxDocumentBytes));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) raise_input_error({path}, fmt::format("cannot open: {}", std::strerror(errno)));
  std::ostringstream content;
  content << file.rdbuf();
  if (file.bad()) raise_input_error({path}, "cannot read");
  return std::move(content).str();
}

}  // namespace gpusim::core
