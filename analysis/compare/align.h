// Which statements of two versions of a kernel are the same: those of a longest common subsequence.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace gpusim::analysis {

inline constexpr size_t kNoPartner = ~size_t{0};

/// For each statement of `b` the number of its partner in `a`, or kNoPartner. Partners have the same opcode
/// and operands, whatever the numbers of their registers, and stand in the same order. Kernels that differ in
/// more than about 8,000 statements get no partners in between.
[[nodiscard]] std::vector<size_t> align_statements(const std::vector<std::string>& a,
                                                   const std::vector<std::string>& b);

}  // namespace gpusim::analysis
