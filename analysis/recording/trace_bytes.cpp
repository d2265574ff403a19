#include "analysis/recording/trace_bytes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "simcore/text/input_error.h"

namespace gpusim::analysis {

struct TraceBytes::File {
  explicit File(const std::string& name) : path(name), descriptor(open(name.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~File() {
    if (descriptor >= 0) close(descriptor);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  std::string path;
  int descriptor;
};

TraceBytes TraceBytes::of_file(const std::string& path) {
  TraceBytes t("");
  t.file_ = std::make_shared<const File>(path);
  struct stat status {};
  if (t.file_->descriptor < 0 || fstat(t.file_->descriptor, &status) != 0)
    core::raise_input_error({path}, fmt::format("cannot be read: {}", std::strerror(errno)));
  t.size_ = static_cast<uint64_t>(status.st_size);
  return t;
}

void TraceBytes::read(uint64_t place, uint64_t length, char* to) const {
  while (length != 0) {
    const ssize_t n = pread(file_->descriptor, to, length, static_cast<off_t>(place));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0)
      core::raise_input_error({file_->path}, n == 0
                                                 ? "has become shorter while it was read"
                                                 : fmt::format("cannot be read: {}", std::strerror(errno)));
    to += n;
    place += static_cast<uint64_t>(n);
    length -= static_cast<uint64_t>(n);
  }
}

std::string_view TraceBytes::glance(uint64_t place, uint64_t length) {
  constexpr uint64_t kPage = 4096;
  if (!file_) return std::string_view(bytes_).substr(place, length);
  if (place < from_ || place + length > from_ + bytes_.size()) {
    bytes_.resize(std::min(std::max(length, kPage), size_ - place));
    from_ = place;
    read(place, bytes_.size(), bytes_.data());
  }
  return std::string_view(bytes_).substr(place - from_, length);
}

std::string_view TraceBytes::keep(uint64_t place, uint64_t length) const {
  if (!file_) return std::string_view(bytes_).substr(place, length);
  std::unique_ptr<char[]>& piece = pieces_[place];
  if (!piece) {
    piece = std::make_unique_for_overwrite<char[]>(length);
    read(place, length, piece.get());
    kept_ += length;
  }
  return {piece.get(), length};
}

}  // namespace gpusim::analysis
