// Functions of single precision that the CUDA library computes by a sequence of operations, to a few units in
// the last place, where an operation of the special-function unit gives nearly the same: sinf, cosf, logf,
// expf and powf. nvcc writes the sequence into the kernel, without a name; it is known by its constants.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/advice/facts.h"

namespace gpusim::analysis::advice {

struct ExactFunction {
  std::string_view name;                  ///< of the intrinsic in its place: "__sinf"
  double executed = 0;                    ///< by how many warps, all times
  std::vector<uint64_t> operations;       ///< in order; never empty
  std::vector<std::string_view> instead;  ///< classes of the operations that do nearly the same
  bool far = false;                       ///< some arguments took the way that only large ones need
};

/// Those in the kernel itself, in their order.
[[nodiscard]] std::vector<ExactFunction> exact_functions(const Facts& facts);

}  // namespace gpusim::analysis::advice
