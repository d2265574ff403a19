// What an access to memory reads of a thread's registers besides its address, as ptxas 13 has it from 7.0 on
// (probes for 7.5, 8.0 and 9.0; docs/studies/compiler_history.md).
#pragma once
#include <cstdint>
#include <vector>

#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {

struct AccessData {
  std::vector<Value> values;
  uint32_t width = 1;  ///< registers of each
  /// In registers side by side, from a multiple of their number on: the words of a vector, and what a
  /// compare-and-swap compares with and what it stores.
  bool side_by_side = false;
};

/// What a store or an atomic operation stores; of an atomic operation that one lane does for all
/// (aggregate_atomics.cpp) what the lanes add up to. Zeros alone are in no register, unless they are compared
/// with.
[[nodiscard]] AccessData access_data(const Op& op);
/// One lane does it for all of the warp, whose last two sources are the sum and whether this lane is the one.
[[nodiscard]] bool is_aggregated(const Op& op);

}  // namespace gpusim::isa::lir
