// Registers of a thread, and when each is taken: half-steps are twice the operations of a program, one after
// the other, and those behind each.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace gpusim::isa::lir {

/// Half-steps, both inclusive.
struct Span {
  uint32_t begin = 0, end = 0;
};

/// Which half-steps each register is taken at.
class RegisterFile {
 public:
  explicit RegisterFile(uint32_t half_steps) : words_(half_steps / 64 + 1) {}

  [[nodiscard]] bool is_free(uint32_t reg, const std::vector<Span>& spans) const {
    if (reg >= taken_.size()) return true;
    return std::ranges::all_of(spans, [&](const Span& s) {
      for (uint32_t w = s.begin / 64; w <= s.end / 64; ++w) {
        if ((taken_[reg][w] & mask(s, w)) != 0) return false;
      }
      return true;
    });
  }
  void take(uint32_t reg, const std::vector<Span>& spans) {
    while (taken_.size() <= reg) taken_.emplace_back(words_, 0);
    for (const Span& s : spans) {
      for (uint32_t w = s.begin / 64; w <= s.end / 64; ++w) taken_[reg][w] |= mask(s, w);
    }
  }
  /// The highest register that is taken, and one.
  [[nodiscard]] uint32_t count() const { return static_cast<uint32_t>(taken_.size()); }

 private:
  static uint64_t mask(const Span& s, uint32_t word) {
    uint64_t bits = ~uint64_t{0};
    if (word == s.begin / 64) bits &= ~uint64_t{0} << (s.begin % 64);
    if (word == s.end / 64) bits &= ~uint64_t{0} >> (63 - s.end % 64);
    return bits;
  }
  uint32_t words_;
  std::vector<std::vector<uint64_t>> taken_;
};

}  // namespace gpusim::isa::lir
