// Files that are read: configurations, launch files, measurements, PTX, traces, contents of buffers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace gpusim::core {

inline constexpr size_t kMaxDocumentBytes = 4u << 20;

inline constexpr size_t kMaxPtxBytes = 256u << 20;
inline constexpr size_t kMaxTraceBytes = size_t{4} << 30;
inline constexpr size_t kAnySize = ~size_t{0};  ///< of a file that this program has written itself

/// A regular file, open for reading. Folders, devices and pipes are refused before they are opened, for they
/// may have no end, or nobody at the other one.
class InputFile {
 public:
  /// Throws InputError naming the reason.
  explicit InputFile(const std::string& path);
  /// Calls `refuse` with the reason instead, which must throw.
  InputFile(const std::string& path, const std::function<void(const std::string& reason)>& refuse);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  [[nodiscard]] uint64_t bytes() const { return bytes_; }
  /// Reads up to `most_bytes` bytes that begin at `offset`; returns how many there were before the end of the
  /// file. Throws InputError.
  size_t read(uint64_t offset, void* to, size_t most_bytes) const;

 private:
  std::string path_;
  int file_ = -1;
  uint64_t bytes_ = 0;
};

/// Whole content of a regular file of at most so many bytes; throws InputError naming the reason.
[[nodiscard]] std::string read_text_file(const std::string& path, size_t most_bytes = kMaxDocumentBytes);

}  // namespace gpusim::core
