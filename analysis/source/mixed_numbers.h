// Numbers that are mixed, as hashes and random numbers are.
#pragma once
#include <set>
#include <string_view>
#include <vector>

#include "analysis/source/ptx_statement.h"

namespace gpusim::analysis {

/// Registers that follow from a mixed number. A number that differs between threads is mixed if it is
/// multiplied by a constant beyond the size of any record, or if a loop multiplies it by a constant or
/// combines it with others by an exclusive or, turn after turn. Divisions by constants, which take the upper
/// half of a product, are none of it. `of_thread`: registers that differ between threads.
[[nodiscard]] std::set<std::string_view> mixed_numbers(const std::vector<PtxStatement>& statements,
                                                       const std::set<std::string_view>& of_thread);

}  // namespace gpusim::analysis
