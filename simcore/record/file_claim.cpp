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
#include "simcore/text/whole_file.h"

namespace gpusim::core {
namespace {

/// False if somebody else has the lock. Where the file system knows no locks, everybody has it.
bool lock(int fd) {
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  return fcntl(fd, F_OFD_SETLK, &range) == 0 || (errno != EAGAIN && errno != EACCES);
}

bool same_file(int fd, const std::string& path) {
  struct stat open {
  }, named{};
  return fstat(fd, &open) == 0 && stat(path.c_str(), &named) == 0 && open.st_dev == named.st_dev &&
         open.st_ino == named.st_ino;
}

}  // namespace

FileClaim::FileClaim(std::string path) : path_(std::move(path)) {
  fd_ = open_temporary(path_, temporary_);
  if (fd_ < 0) fail(fmt::format("cannot create: {}", std::strerror(errno)));
  static_cast<void>(lock(fd_));  // nobody else knows the file yet
}

FileClaim::~FileClaim() {
  if (!published_) std::remove(temporary_.c_str());
  if (fd_ >= 0) ::close(fd_);
  if (held_ >= 0) ::close(held_);
}

int FileClaim::lock_present() const {
  constexpr int kAttempts = 100;
  for (int i = 0; i < kAttempts; ++i) {
    const int present = open(path_.c_str(), O_RDWR | O_CLOEXEC);
    if (present < 0 && errno == ENOENT) return -1;
    if (present < 0) fail(std::strerror(errno));
    const bool locked = lock(present);
    if (locked && same_file(present, path_)) return present;
    ::close(present);
    if (!locked) fail("another run is writing this file");
  }
  fail("other runs replace it all the time");
}

bool FileClaim::hold() {
  held_ = lock_present();
  return held_ >= 0;
}

void FileClaim::publish() {
  constexpr int kAttempts = 100;
  for (int i = 0; i < kAttempts; ++i)
    if (try_publish()) return;
  fail("other runs replace it all the time");
}

bool FileClaim::try_publish() {
  // What was held may have been removed meanwhile.
  if (held_ >= 0 && !same_file(held_, path_)) ::close(std::exchange(held_, -1));
  if (held_ < 0) held_ = lock_present();
  const bool absent = held_ < 0;
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
