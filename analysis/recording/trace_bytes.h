// The bytes of a trace of warps: in memory, or in a file of which only what is asked for is read, so that a
// model of one SM does not read the blocks of the others.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace gpusim::analysis {

class TraceBytes {
 public:
  explicit TraceBytes(std::string bytes) : bytes_(std::move(bytes)), size_(bytes_.size()) {}
  /// Opens a regular file. Throws core::InputError if it cannot be read, and so do the functions below.
  static TraceBytes of_file(const std::string& path);

  [[nodiscard]] uint64_t size() const { return size_; }
  /// For a moment: until the next call. `place` + `length` <= size().
  std::string_view glance(uint64_t place, uint64_t length);
  /// For as long as this lives, and nothing is appended.
  [[nodiscard]] std::string_view keep(uint64_t place, uint64_t length) const;
  /// How many bytes have been read to be kept; all that are in memory.
  [[nodiscard]] uint64_t kept() const { return file_ ? kept_ : size_; }
  /// Only in memory.
  void append(std::string_view bytes) {
    bytes_ += bytes;
    size_ = bytes_.size();
  }

 private:
  struct File;
  void read(uint64_t place, uint64_t length, char* to) const;

  std::string bytes_;  ///< all of them; of a file those from `from_`
  uint64_t size_ = 0, from_ = 0;
  std::shared_ptr<const File> file_;
  mutable std::unordered_map<uint64_t, std::unique_ptr<char[]>> pieces_;  ///< by place
  mutable uint64_t kept_ = 0;
};

}  // namespace gpusim::analysis
