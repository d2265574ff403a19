// The set bits of a word as a range: sets of warps, lanes, schedulers and barriers are words.
#pragma once
#include <bit>
#include <cstdint>

namespace gpusim::core {

/// Position of the lowest set bit of `word`, which has one.
[[nodiscard]] constexpr uint32_t lowest_bit(uint64_t word) {
  return static_cast<uint32_t>(std::countr_zero(word));
}
/// Position of the lowest clear bit of `word`, which has one.
[[nodiscard]] constexpr uint32_t lowest_clear_bit(uint64_t word) {
  return static_cast<uint32_t>(std::countr_one(word));
}

/// Positions of the set bits of a word, lowest first: `for (uint32_t w : Bits(warps))`. The word is copied.
class Bits {
 public:
  explicit constexpr Bits(uint64_t word) : word_(word) {}
  struct End {};
  class Iterator {
   public:
    explicit constexpr Iterator(uint64_t rest) : rest_(rest) {}
    constexpr uint32_t operator*() const { return lowest_bit(rest_); }
    constexpr Iterator& operator++() {
      rest_ &= rest_ - 1;
      return *this;
    }
    constexpr bool operator!=(End) const { return rest_ != 0; }

   private:
    uint64_t rest_;
  };
  [[nodiscard]] constexpr Iterator begin() const { return Iterator(word_); }
  [[nodiscard]] constexpr End end() const { return {}; }

 private:
  uint64_t word_;
};

}  // namespace gpusim::core
