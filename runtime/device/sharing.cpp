#include "runtime/device/sharing.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/device/device.h"

namespace gpusim::runtime {

namespace {

constexpr uint64_t kMark = 0x6470'7573'696d'3031;
constexpr uint64_t kPageBytes = 4096;

struct Descriptor {
  explicit Descriptor(int number) : file(number) {}
  ~Descriptor() {
    if (file >= 0) close(file);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int file;
};

/// A file without a name, of so many bytes.
int new_file(uint64_t bytes) {
  const int file = memfd_create("gpusim", MFD_CLOEXEC);
  if (file >= 0 && ftruncate(file, static_cast<off_t>(bytes)) == 0) return file;
  const int error = errno;
  if (file >= 0) close(file);
  throw Failure(Code::kMemoryAllocation, fmt::format("memory cannot be shared: {}", std::strerror(error)));
}

/// Pages that were never written stay holes of the file.
void write_pages(int file, const std::byte* memory, uint64_t bytes) {
  static constexpr std::array<std::byte, kPageBytes> kZeros{};
  for (uint64_t at = 0; at < bytes; at += kPageBytes) {
    const uint64_t length = std::min(kPageBytes, bytes - at);
    if (std::memcmp(memory + at, kZeros.data(), length) == 0) continue;
    if (pwrite(file, memory + at, length, static_cast<off_t>(at)) != static_cast<ssize_t>(length))
      throw Failure(Code::kMemoryAllocation,
                    fmt::format("memory cannot be shared: {}", std::strerror(errno)));
  }
}

SharedHandle handle_of(SharedHandle::Kind kind, int file) {
  struct stat status {};
  fstat(file, &status);
  SharedHandle handle;
  handle.mark = kMark;
  handle.kind = kind;
  handle.process = getpid();
  handle.file = file;
  handle.file_system = status.st_dev;
  handle.node = status.st_ino;
  return handle;
}

/// The file of another process. It is that of the handle as long as its owner has it.
int open_file(const SharedHandle& handle, SharedHandle::Kind kind) {
  if (handle.mark != kMark || handle.kind != kind) throw Failure(Code::kInvalidValue);
  if (handle.process == getpid())
    throw Failure(Code::kDeviceUninitialized, "a handle is opened in the process that it comes from");
  const std::string path = fmt::format("/proc/{}/fd/{}", handle.process, handle.file);
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0 && errno == EACCES)
    throw Failure(Code::kMapBufferObjectFailed,
                  fmt::format("no access to memory of process {}, which another user runs", handle.process));
  struct stat status {};
  if (file >= 0 && fstat(file, &status) == 0 && status.st_dev == handle.file_system &&
      status.st_ino == handle.node)
    return file;
  if (file >= 0) close(file);
  throw Failure(Code::kInvalidResourceHandle,
                fmt::format("process {}, or what it has shared, is gone", handle.process));
}

}  // namespace

Sharing::~Sharing() { forget_all(); }

void Sharing::forget(Files& files, const void* key) {
  const auto at = files.find(key);
  if (at == files.end()) return;
  close(at->second);
  files.erase(at);
}

void Sharing::forget_all() {
  for (Files* files : {&memory_, &events_}) {
    for (const auto& [key, file] : *files) close(file);
    files->clear();
  }
  for (const auto& [memory, opened] : opened_) munmap(opened.pages, opened.size);
  opened_.clear();
}

SharedHandle Sharing::share_memory(const void* pointer) {
  const PointerKind kind = device_.pointer_kind(pointer);
  if (kind.memory != PointerKind::Memory::kDevice || !device_.is_own(pointer))
    throw Failure(Code::kInvalidValue);
  // An allocation has its pages for itself.
  const uint64_t first = kind.base / kPageBytes * kPageBytes, size = kind.base + kind.bytes - first;
  auto at = memory_.find(reinterpret_cast<const void*>(kind.base));
  if (at == memory_.end()) {
    auto* const pages = reinterpret_cast<std::byte*>(first);
    Descriptor made(new_file(size));
    write_pages(made.file, pages, size);
    if (mmap(pages, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, made.file, 0) == MAP_FAILED)
      throw Failure(Code::kMapBufferObjectFailed, std::strerror(errno));
    at = memory_.emplace(reinterpret_cast<const void*>(kind.base), std::exchange(made.file, -1)).first;
  }
  SharedHandle handle = handle_of(SharedHandle::Kind::kMemory, at->second);
  handle.offset = kind.base - first;
  handle.bytes = kind.bytes;
  return handle;
}

std::byte* Sharing::open_memory(const SharedHandle& handle) {
  const Descriptor opened(open_file(handle, SharedHandle::Kind::kMemory));
  for (auto& [memory, known] : opened_) {
    if (known.node != handle.node || known.file_system != handle.file_system) continue;
    ++known.users;
    return static_cast<std::byte*>(const_cast<void*>(memory));
  }
  struct stat status {};
  const bool fits = fstat(opened.file, &status) == 0 && handle.offset < kPageBytes && handle.bytes != 0 &&
                    static_cast<uint64_t>(status.st_size) == handle.offset + handle.bytes;
  if (!fits) throw Failure(Code::kInvalidValue);
  const auto size = static_cast<uint64_t>(status.st_size);
  void* const pages = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, opened.file, 0);
  if (pages == MAP_FAILED) throw Failure(Code::kMapBufferObjectFailed, std::strerror(errno));
  std::byte* const memory = static_cast<std::byte*>(pages) + handle.offset;
  try {
    device_.map(memory, handle.bytes, true);
  } catch (...) {
    munmap(pages, size);
    throw;
  }
  opened_[memory] = {handle.file_system, handle.node, pages, size, 1};
  return memory;
}

void Sharing::close_memory(void* memory) {
  const auto at = opened_.find(memory);
  if (at == opened_.end()) throw Failure(Code::kInvalidValue);
  device_.synchronize();
  if (--at->second.users != 0) return;
  const Opened opened = at->second;
  opened_.erase(at);
  device_.release(memory);
  munmap(opened.pages, opened.size);
}

SharedHandle Sharing::share_event(const Event& event) {
  if (!event.interprocess) throw Failure(Code::kInvalidResourceHandle);
  auto at = events_.find(&event);
  if (at == events_.end()) at = events_.emplace(&event, new_file(0)).first;
  return handle_of(SharedHandle::Kind::kEvent, at->second);
}

Event& Sharing::open_event(const SharedHandle& handle) {
  const Descriptor opened(open_file(handle, SharedHandle::Kind::kEvent));
  Event& event = device_.add_event(false);
  event.interprocess = true;
  return event;
}

}  // namespace gpusim::runtime
