// The forms of mma that are simulated (PTX ISA, "Matrix multiply-accumulate operation using mma
// instruction"). Their fragments are those of wmma (isa/ptx/wmma.h): one operation of 16 x 8 results, or two
// along k.
#pragma once
#include <cstddef>
#include <optional>

#include "isa/ptx/module.h"

namespace gpusim::isa {

struct MmaForm {
  Type multiplicand = Type::kNone;
  Type d = Type::kNone, c = Type::kNone;
  size_t a_registers = 0, b_registers = 0, c_registers = 0, d_registers = 0;
  bool other_sign = false;  ///< of 8-bit integers: B is signed where A is not, or the other way round
  bool satfinite = false;
};
/// Nothing if the form is not simulated.
[[nodiscard]] std::optional<MmaForm> mma_form(const Instruction& i);

}  // namespace gpusim::isa
