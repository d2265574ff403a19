#include "simcore/text/text_file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "simcore/text/input_error.h"

namespace gpusim::core {

std::string read_text_file(const std::string& path, size_t most_bytes) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0)
    raise_input_error({path}, fmt::format("cannot open: {}", std::strerror(errno)));
  if (S_ISDIR(info.st_mode)) raise_input_error({path}, "is a folder, not a file");
  if (!S_ISREG(info.st_mode)) raise_input_error({path}, "cannot read: not a regular file");
  const auto bytes = static_cast<uint64_t>(info.st_size);
  if (bytes > most_bytes)
    raise_input_error({path}, fmt::format("file is too large: {} bytes, at most {}", bytes, most_bytes));
  std::ifstream file(path, std::ios::binary);
  if (!file) raise_input_error({path}, fmt::format("cannot open: {}", std::strerror(errno)));
  std::string content(bytes, '\0');
  file.read(content.data(), static_cast<std::streamsize>(bytes));
  if (file.bad()) raise_input_error({path}, "cannot read");
  content.resize(static_cast<size_t>(file.gcount()));
  return content;
}

}  // namespace gpusim::core
