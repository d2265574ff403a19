// Files that have their name only once they are whole. Everything that this program writes goes through here,
// but for what it prints and for recordings, which have to be readable while they grow (simcore/record).
#pragma once
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>

namespace gpusim::core {

/// Makes an empty file beside `path`, open for reading and writing, whose name no other process uses and
/// which no reader takes for the whole file: PATH.PID-0.tmp. Returns its descriptor and sets `name`; -1 and
/// errno if that fails. From then on a limit of the size of files is an error of write(), not the end of the
/// process.
[[nodiscard]] int open_temporary(const std::string& path, std::string& name);

/// Whether a file of the name `temporary` was made by open_temporary() for one of the name `file` (no
/// folders).
[[nodiscard]] bool is_temporary_of(std::string_view file, std::string_view temporary);

/// The file that `path` names, symbolic links followed; it need not be there.
[[nodiscard]] std::string follow_links(const std::string& path);

/// Made under a temporary name beside `path`, which commit() changes; without it nothing is left, and what
/// was there stays. Links are followed; only regular files that may be written to are replaced. All functions
/// throw InputError with the reason.
class NewFile {
 public:
  explicit NewFile(const std::string& path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  [[nodiscard]] const std::string& temporary() const { return temporary_; }
  [[nodiscard]] int descriptor() const { return fd_; }
  /// Gives the file its name.
  void commit();
  [[noreturn]] void fail(int error_number) const;

 private:
  std::string path_, temporary_;
  int fd_ = -1;
};

/// A file that is written in pieces and has its name once it is whole.
class WholeFile {
 public:
  explicit WholeFile(const std::string& path) : file_(path) {}

  /// What is to be written next.
  [[nodiscard]] fmt::memory_buffer& text() { return text_; }
  /// Writes text() if that has so many bytes.
  void flush(size_t at_least);
  /// Writes bytes behind those of text(), which may be many.
  void write(std::string_view bytes);
  void commit();

 private:
  NewFile file_;
  fmt::memory_buffer text_;
};

/// The whole file at once.
void write_whole_file(const std::string& path, std::string_view text);

}  // namespace gpusim::core
