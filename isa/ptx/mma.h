// The forms of mma that are simulated (PTX ISA, "Matrix multiply-accumulate operation using mma
// instruction", and mma.sp). Their fragments are those of wmma (isa/ptx/wmma.h): one operation of 16 x 8
// results, or several.
#pragma once
#include <cstddef>
#include <optional>

#include "isa/ptx/module.h"

namespace gpusim::isa {

struct MmaForm {
  Type multiplicand = Type::kNone;  ///< kU8 and kS8 also of 4 bits, kB32 of one; kE4M3x2: e4m3
  Type d = Type::kNone, c = Type::kNone;
  size_t a_registers = 0, b_registers = 0, c_registers = 0, d_registers = 0;
  size_t rows = 16;
  uint8_t bits = 0;         ///< of a multiplicand
  bool other_sign = false;  ///< of small integers: B is signed where A is not, or the other way round; of
                            ///< 8-bit floating point: B has the other format
  bool satfinite = false;
  bool sparse = false;  ///< two more operands: where A's elements lie, and which lanes say it
  bool quads = false;   ///< m8n8k4 of halves
  bool differ = false;  ///< of bits: those that differ count
  bool a_by_columns = false, b_by_rows = false;
  [[nodiscard]] size_t operands() const { return sparse ? 6 : 4; }
  /// How many lanes of four together say where A's elements lie in the eight rows of a half.
  size_t place_lanes = 0;
};
/// Nothing if the form is not simulated.
[[nodiscard]] std::optional<MmaForm> mma_form(const Instruction& i);

}  // namespace gpusim::isa
