#include "simcore/text/text_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "simcore/text/input_error.h"

namespace gpusim::core {

InputFile::InputFile(const std::string& path)
    : InputFile(path, [&path](const std::string& reason) { raise_input_error({path}, reason); }) {}

InputFile::InputFile(const std::string& path, const std::function<void(const std::string&)>& refuse)
    : path_(path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) refuse(fmt::format("cannot open: {}", std::strerror(errno)));
  if (S_ISDIR(info.st_mode)) refuse("is a folder, not a file");
  if (!S_ISREG(info.st_mode)) refuse("cannot read: not a regular file");
  bytes_ = static_cast<uint64_t>(info.st_size);
  // What has this name by now may be a pipe: opening it must not wait.
  file_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file_ < 0) refuse(fmt::format("cannot open: {}", std::strerror(errno)));
}

InputFile::~InputFile() {
  if (file_ >= 0) close(file_);
}

size_t InputFile::read(uint64_t offset, void* to, size_t most_bytes) const {
  size_t done = 0;
  while (done < most_bytes) {
    const ssize_t n =
        pread(file_, static_cast<char*>(to) + done, most_bytes - done, static_cast<off_t>(offset + done));
    if (n == 0) break;
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) raise_input_error({path_}, fmt::format("cannot read: {}", std::strerror(errno)));
    done += static_cast<size_t>(n);
  }
  return done;
}

std::string read_text_file(const std::string& path, size_t most_bytes) {
  const InputFile file(path);
  if (file.bytes() > most_bytes)
    raise_input_error({path},
                      fmt::format("file is too large: {} bytes, at most {}", file.bytes(), most_bytes));
  std::string content(file.bytes(), '\0');
  content.resize(file.read(0, content.data(), content.size()));
  return content;
}

}  // namespace gpusim::core
