// Where a recorded kernel's accesses go, as far as its program says.
#pragma once
#include <string_view>
#include <vector>

#include "analysis/recording/recording.h"
#include "analysis/source/data_addresses.h"

namespace gpusim::analysis::advice {

/// Of each operation. `ptx`: of the program; may be empty.
[[nodiscard]] std::vector<AddressOrigin> origins_of(const KernelRecord& kernel, std::string_view ptx);

}  // namespace gpusim::analysis::advice
