// What kernels have printed and nobody has read yet: the circular buffer of printf() (CUDA C++ Programming
// Guide, "Formatted Output": a fixed size; when it is full, the oldest output is overwritten). A record holds
// arguments and strings, not text: text is made when the buffer is read.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "components/services/print_format.h"

namespace gpusim::comp {

class PrintFifo {
 public:
  static constexpr uint64_t kDefaultBytes = uint64_t{1} << 20;
  using Sink = std::function<void(std::string_view)>;

  [[nodiscard]] uint64_t capacity() const { return capacity_; }
  /// What does not fit any more is lost.
  void set_capacity(uint64_t bytes);

  /// The format with this text, read once; valid until clear() or flush().
  [[nodiscard]] const PrintFormat& format(std::string_view text);
  /// One call of printf(); `format` is of this buffer, `values` one for each of its arguments.
  void push(const PrintFormat& format, const std::vector<PrintValue>& values);
  /// Gives the text of all records to `sink`, in their order, and forgets them.
  void flush(const Sink& sink);
  void clear();
  [[nodiscard]] bool empty() const { return words_.empty(); }
  /// Records that were overwritten since the last flush().
  [[nodiscard]] uint64_t lost() const { return lost_; }

 private:
  void drop_oldest();
  void make_room();

  // A record is a run of words: its length, the number of the format, and the arguments; for a string the
  // number of its bytes, then the bytes.
  static constexpr size_t kHeaderWords = 2;
  std::deque<uint64_t> words_;
  std::unordered_map<std::string, uint64_t> numbers_;
  std::deque<PrintFormat> formats_;
  std::unordered_map<const PrintFormat*, uint64_t> number_of_;
  uint64_t capacity_ = kDefaultBytes;
  uint64_t lost_ = 0;
};

}  // namespace gpusim::comp
