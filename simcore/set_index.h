// Which set of a cache a line lies in. Plain function object.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>

#include "simcore/divisor.h"

namespace gpusim::core {

enum class SetIndexKind : uint8_t {
  kModulo,  ///< low bits of the line number
  kXor,     ///< all bits of the line number, folded onto the low ones
  kFermi,   ///< the hash of Fermi's L1, found with strided loads (reuse-distance-cache-model-2014)
};

/// How many sets an index can tell apart: Fermi's hash has six bits.
[[nodiscard]] constexpr uint64_t most_sets(SetIndexKind kind) {
  return kind == SetIndexKind::kFermi ? 64 : ~uint64_t{0};
}

class SetIndex {
 public:
  /// `sets` >= 1. kXor folds by the number of bits that number the sets.
  SetIndex(SetIndexKind kind, uint64_t sets)
      : kind_(kind), sets_(sets), bits_(std::max(1, static_cast<int>(std::bit_width(sets - 1)))) {}

  [[nodiscard]] uint32_t sets() const { return static_cast<uint32_t>(sets_.value()); }
  [[nodiscard]] uint32_t operator()(uint64_t line) const {
    if (kind_ == SetIndexKind::kFermi) line = fermi(line);
    if (kind_ == SetIndexKind::kXor) line = folded(line);
    return static_cast<uint32_t>(line % sets_);
  }

 private:
  static uint64_t fermi(uint64_t line) {
    const auto bit = [line](int from, int to) { return (line >> from & 1) << to; };
    return ((line & 0x1f) ^ (bit(6, 0) | bit(7, 1) | bit(8, 2) | bit(10, 3) | bit(12, 4))) | bit(5, 5);
  }
  [[nodiscard]] uint64_t folded(uint64_t line) const {
    uint64_t index = 0;
    for (; line != 0; line >>= bits_) index ^= line & ((uint64_t{1} << bits_) - 1);
    return index;
  }

  SetIndexKind kind_;
  Divisor sets_;
  int bits_;
};

}  // namespace gpusim::core
