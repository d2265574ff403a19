#include "simcore/text/whole_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <utility>

#include "simcore/text/input_error.h"

namespace gpusim::core {

namespace fs = std::filesystem;

int open_temporary(const std::string& path, std::string& name) {
  struct sigaction current {};
  if (sigaction(SIGXFSZ, nullptr, &current) == 0 && current.sa_handler == SIG_DFL)
    std::signal(SIGXFSZ, SIG_IGN);
  constexpr int kAttempts = 1000;  // the same process may write the same file twice
  int fd = -1;
  for (int i = 0; i < kAttempts && fd < 0; ++i) {
    name = fmt::format("{}.{}-{}.tmp", path, getpid(), i);
    fd = open(name.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
    if (fd < 0 && errno != EEXIST) return -1;
  }
  return fd;
}

bool is_temporary_of(std::string_view file, std::string_view temporary) {
  constexpr std::string_view kDigits = "0123456789", kEnd = ".tmp";
  if (temporary.size() < file.size() + kEnd.size() || !temporary.starts_with(file) ||
      !temporary.ends_with(kEnd))
    return false;
  const std::string_view between =
      temporary.substr(file.size(), temporary.size() - file.size() - kEnd.size());  // .PID-0
  const size_t dash = between.find('-');
  return between.starts_with('.') && dash != std::string_view::npos && dash > 1 &&
         dash + 1 < between.size() &&
         between.substr(1, dash - 1).find_first_not_of(kDigits) == std::string_view::npos &&
         between.substr(dash + 1).find_first_not_of(kDigits) == std::string_view::npos;
}

std::string follow_links(const std::string& path) {
  constexpr int kMostLinks = 40;  // as the system allows
  std::error_code error;
  fs::path file = path;
  for (int links = 0; links < kMostLinks && fs::is_symlink(fs::symlink_status(file, error)); ++links)
    file = file.parent_path() / fs::read_symlink(file, error);
  return file.string();
}

NewFile::NewFile(const std::string& path) : path_(follow_links(path)) {
  std::error_code error;
  const fs::file_status present = fs::status(path_, error);
  if (fs::exists(present) && !fs::is_regular_file(present))
    raise_input_error({path}, "cannot be written: not a regular file");
  // rename() would replace a file that is protected against writing.
  if (fs::exists(present) && access(path_.c_str(), W_OK) != 0) fail(errno);
  fd_ = open_temporary(path_, temporary_);
  if (fd_ < 0) fail(errno);
}

NewFile::~NewFile() {
  if (fd_ < 0) return;
  std::remove(temporary_.c_str());
  ::close(fd_);
}

void NewFile::commit() {
  // Some file systems say only now that there was no room.
  const bool closed = ::close(std::exchange(fd_, -1)) == 0;
  if (closed && std::rename(temporary_.c_str(), path_.c_str()) == 0) return;
  const int reason = errno;
  std::remove(temporary_.c_str());
  fail(reason);
}

void NewFile::fail(int error_number) const {
  raise_input_error({path_}, fmt::format("cannot be written: {}", std::strerror(error_number)));
}

void WholeFile::flush(size_t at_least) {
  if (text_.size() < at_least) return;
  for (size_t done = 0; done < text_.size();) {
    const ssize_t n = ::write(file_.descriptor(), text_.data() + done, text_.size() - done);
    if (n < 0 && errno != EINTR) file_.fail(errno);
    if (n > 0) done += static_cast<size_t>(n);
  }
  text_.clear();
}

void WholeFile::write(std::string_view bytes) {
  constexpr size_t kPiece = 1 << 20;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(kPiece, bytes.size()))) {
    text_.append(bytes.substr(0, kPiece));
    flush(kPiece);
  }
}

void WholeFile::commit() {
  flush(0);
  file_.commit();
}

void write_whole_file(const std::string& path, std::string_view text) {
  WholeFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace gpusim::core
