// A set of small numbers, one bit each.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpusim::isa::lir {

class BitSet {
 public:
  explicit BitSet(size_t bits = 0) : words_((bits + 63) / 64) {}
  void set(size_t i) { words_[i / 64] |= uint64_t{1} << (i % 64); }
  void reset(size_t i) { words_[i / 64] &= ~(uint64_t{1} << (i % 64)); }
  [[nodiscard]] bool test(size_t i) const { return (words_[i / 64] >> (i % 64)) & 1; }
  /// this |= a & ~b; true if something was added.
  bool add(const BitSet& a, const BitSet* without) {
    uint64_t changed = 0;
    for (size_t i = 0; i < words_.size(); ++i) {
      const uint64_t next =
          words_[i] | (a.words_[i] & (without != nullptr ? ~without->words_[i] : ~uint64_t{0}));
      changed |= next ^ words_[i];
      words_[i] = next;
    }
    return changed != 0;
  }
  template <class Fn>
  void for_each(Fn fn) const {
    for (size_t w = 0; w < words_.size(); ++w) {
      for (uint64_t left = words_[w]; left != 0; left &= left - 1) fn(w * 64 + std::countr_zero(left));
    }
  }
  bool operator==(const BitSet&) const = default;

 private:
  std::vector<uint64_t> words_;
};

}  // namespace gpusim::isa::lir
