#include "simcore/record/file_claim.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "simcore/record/recorder.h"

namespace gpusim::core {
namespace {

/// An open file, closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  operator int() const { return fd_; }  // NOLINT: stands for the number in system calls

 private:
  int fd_;
};

/// False if somebody else has the lock. Where the file system knows no locks, everybody has it.
bool lock(int fd) {
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  return fcntl(fd, F_OFD_SETLK, &range) == 0 || (errno != EAGAIN && errno != EACCES);
}

/// The same where the file can only be read.
bool is_locked(int fd) {
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  return fcntl(fd, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
}

bool same_file(int fd, const std::string& path) {
  struct stat open {
  }, named{};
  return fstat(fd, &open) == 0 && stat(path.c_str(), &named) == 0 && open.st_dev == named.st_dev &&
         open.st_ino == named.st_ino;
}

}  // namespace

FileClaim::FileClaim(std::string path) : path_(std::move(path)) {
  constexpr int kAttempts = 1000;
  for (int i = 0; fd_ < 0; ++i) {
    temporary_ = fmt::format("{}.{}-{}.tmp", path_, getpid(), i);
    fd_ = open(temporary_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
    if (fd_ < 0 && (errno != EEXIST || i == kAttempts))
      fail(fmt::format("cannot create: {}", std::strerror(errno)));
  }
  static_cast<void>(lock(fd_));  // nobody else knows the file yet
}

FileClaim::~FileClaim() {
  if (!published_) std::remove(temporary_.c_str());
  if (fd_ >= 0) ::close(fd_);
}

void FileClaim::publish() {
  constexpr int kAttempts = 100;
  for (int i = 0; i < kAttempts; ++i)
    if (try_publish()) return;
  fail("other runs replace it all the time");
}

bool FileClaim::try_publish() {
  const char* busy = "another run is writing this file";
  const Descriptor present(open(path_.c_str(), O_RDWR | O_CLOEXEC));
  const bool absent = present < 0 && errno == ENOENT;
  const Descriptor readable(present < 0 && !absent ? open(path_.c_str(), O_RDONLY | O_CLOEXEC) : -1);
  if (present >= 0) {
    if (!lock(present)) fail(busy);
    if (!same_file(present, path_)) return false;
  } else if (readable >= 0 && is_locked(readable)) {
    fail(busy);
  }
  if (absent && renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) == 0) {
    published_ = true;
    return true;
  }
  if (absent && errno == EEXIST) return false;
  // The file that is there goes, or the file system knows no RENAME_NOREPLACE.
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail(std::strerror(errno));
  published_ = true;
  return true;
}

void FileClaim::fail(const std::string& why) const {
  throw RecordError(fmt::format("cannot write '{}': {}", path_, why));
}

}  // namespace gpusim::core
