// Which low bits of a value are zero in every thread: the alignment of addresses that the code computes.
#pragma once
#include <cstdint>
#include <vector>

#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {

/// No more than so many zero bits are told.
inline constexpr uint8_t kMostZeroBits = 12;

/// Of each variable, how many low bits are zero whenever it is read (at most kMostZeroBits).
[[nodiscard]] std::vector<uint8_t> low_zero_bits(const Program& program);

}  // namespace gpusim::isa::lir
