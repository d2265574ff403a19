// One bit for each byte of a piece of memory: has it been written?
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace gpusim::comp {

class ByteMap {
 public:
  void reset(uint64_t bytes) { words_.assign((bytes + 63) / 64, 0); }
  [[nodiscard]] bool empty() const { return words_.empty(); }
  /// [first, first + count) must lie inside.
  void set(uint64_t first, uint64_t count) {
    for_each_word(first, count, [this](uint64_t word, uint64_t bits) { words_[word] |= bits; });
  }
  void clear(uint64_t first, uint64_t count) {
    for_each_word(first, count, [this](uint64_t word, uint64_t bits) { words_[word] &= ~bits; });
  }
  /// How many of these bytes are not set.
  [[nodiscard]] uint32_t clear_bytes(uint64_t first, uint64_t count) const {
    uint32_t clear = 0;
    for_each_word(first, count, [&](uint64_t word, uint64_t bits) {
      clear += static_cast<uint32_t>(std::popcount(bits & ~words_[word]));
    });
    return clear;
  }

 private:
  template <class Fn>
  static void for_each_word(uint64_t first, uint64_t count, Fn fn) {
    while (count > 0) {
      const uint64_t shift = first % 64, here = std::min<uint64_t>(count, 64 - shift);
      const uint64_t bits = (here == 64 ? ~uint64_t{0} : (uint64_t{1} << here) - 1) << shift;
      fn(first / 64, bits);
      first += here;
      count -= here;
    }
  }
  std::vector<uint64_t> words_;
};

}  // namespace gpusim::comp
