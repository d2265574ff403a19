// A set of small numbers, one bit for each: data flow joins whole sets, 64 numbers at a time.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpusim::isa::lir {

class BitSet {
 public:
  explicit BitSet(size_t bits = 0, bool all = false) : words_((bits + 63) / 64, all ? ~uint64_t{0} : 0) {}
  void set(size_t i) { words_[i / 64] |= uint64_t{1} << (i % 64); }
  void reset(size_t i) { words_[i / 64] &= ~(uint64_t{1} << (i % 64)); }
  [[nodiscard]] bool test(size_t i) const { return (words_[i / 64] >> (i % 64)) & 1; }
  /// this |= a; true if something was added.
  bool add(const BitSet& a) {
    uint64_t changed = 0;
    for (size_t i = 0; i < words_.size(); ++i) {
      changed |= a.words_[i] & ~words_[i];
      words_[i] |= a.words_[i];
    }
    return changed != 0;
  }
  /// this |= a & ~b; true if something was added.
  bool add(const BitSet& a, const BitSet& without) {
    uint64_t changed = 0;
    for (size_t i = 0; i < words_.size(); ++i) {
      const uint64_t more = a.words_[i] & ~without.words_[i];
      changed |= more & ~words_[i];
      words_[i] |= more;
    }
    return changed != 0;
  }
  bool operator==(const BitSet&) const = default;
  /// this &= a.
  void keep(const BitSet& a) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] &= a.words_[i];
  }
  /// this &= ~a.
  void remove(const BitSet& a) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] &= ~a.words_[i];
  }
  /// Numbers that both have.
  [[nodiscard]] size_t common(const BitSet& a) const {
    size_t n = 0;
    for (size_t i = 0; i < words_.size(); ++i)
      n += static_cast<size_t>(std::popcount(words_[i] & a.words_[i]));
    return n;
  }
  template <class Fn>
  void for_each(Fn fn) const {
    for (size_t w = 0; w < words_.size(); ++w) each_bit(words_[w], w, fn);
  }
  /// Those that `other` has, too.
  template <class Fn>
  void for_each_with(const BitSet& other, Fn fn) const {
    for (size_t w = 0; w < words_.size(); ++w) each_bit(words_[w] & other.words_[w], w, fn);
  }
  /// Those that `other` has not.
  template <class Fn>
  void for_each_without(const BitSet& other, Fn fn) const {
    for (size_t w = 0; w < words_.size(); ++w) each_bit(words_[w] & ~other.words_[w], w, fn);
  }

 private:
  template <class Fn>
  static void each_bit(uint64_t left, size_t word, Fn fn) {
    for (; left != 0; left &= left - 1) fn(word * 64 + static_cast<size_t>(std::countr_zero(left)));
  }
  std::vector<uint64_t> words_;
};

}  // namespace gpusim::isa::lir
