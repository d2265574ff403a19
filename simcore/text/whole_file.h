// Files that have their name only once they are whole.
#pragma once
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>

namespace gpusim::core {

/// Written under a temporary name beside `path`, which commit() changes; without it nothing is left. All
/// functions throw InputError with the reason.
class WholeFile {
 public:
  /// Replaces regular files only.
  explicit WholeFile(std::string path);
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  /// What is to be written next.
  [[nodiscard]] fmt::memory_buffer& text() { return text_; }
  /// Writes text() if that has so many bytes.
  void flush(size_t at_least);
  void commit();

 private:
  [[noreturn]] void fail() const;

  std::string path_, part_;
  std::FILE* file_ = nullptr;
  bool failed_ = false;
  fmt::memory_buffer text_;
};

/// The whole file at once.
void write_whole_file(const std::string& path, std::string_view text);

}  // namespace gpusim::core
