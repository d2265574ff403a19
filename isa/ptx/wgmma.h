// The forms of wgmma.mma_async that are simulated (PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-
// Accumulate Instructions"). Each warp of the four computes 16 rows of the 64 by itself: its registers of A
// and D are those of mma m16n8k16 and its relatives, one group of 8 columns behind the other.
#pragma once
#include <cstddef>
#include <optional>

#include "isa/ptx/module.h"

namespace gpusim::isa {

struct WgmmaForm {
  Type a = Type::kNone, b = Type::kNone;  ///< kE4M3x2 and kE5M2x2 stand for e4m3 and e5m2
  Type d = Type::kNone;
  size_t columns = 0;
  bool a_in_registers = false;  ///< else a descriptor says where in shared memory it lies
  bool has_signs = false;       ///< operands that say whether A and B are negated
  bool has_order = false;       ///< of 16 bits: operands that say whether A and B are transposed
  bool satfinite = false;
  bool sparse = false;  ///< of A only every other element is there; two operands say where they lie (mma.sp)
  [[nodiscard]] size_t d_registers() const { return columns / (d == Type::kF16 ? 4 : 2); }
  /// How many of four lanes together say where A's elements lie; the selector says which of them.
  [[nodiscard]] size_t place_lanes() const { return has_order || a == Type::kTF32 ? 2 : 4; }
  static constexpr size_t kPlaces = 3, kSelector = 4;
  /// The operand that says whether the products are added to what D holds.
  [[nodiscard]] size_t scale() const { return sparse ? kSelector + 1 : kPlaces; }
  /// The operand that says whether A is negated.
  [[nodiscard]] size_t signs() const { return scale() + 1; }
  [[nodiscard]] size_t operands() const {
    return signs() + (has_signs ? 2 : 0) + (has_order ? (a_in_registers ? 1 : 2) : 0);
  }
};
/// Nothing if the instruction is none, or its form is not simulated.
[[nodiscard]] std::optional<WgmmaForm> wgmma_form(const Instruction& i);

}  // namespace gpusim::isa
