// What a kernel does only to find its way in arrays of local memory.
#pragma once
#include <string_view>
#include <vector>

#include "analysis/recording/recording.h"

namespace gpusim::analysis::advice {

/// For each operation, whether it is gone where a thread's arrays are in registers and the loops that go over
/// them unrolled: it calculates what only addresses in local memory need, or what loops count from constants
/// to constants, or is a branch that only such a count decides. `ptx`: of the program; without it none is.
[[nodiscard]] std::vector<bool> serves_local_indices(const KernelRecord& kernel, std::string_view ptx);

}  // namespace gpusim::analysis::advice
