// Finds addresses of one set of a cache among addresses drawn by lot.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "microbench/conflicts.h"
#include "microbench/set_index_form.h"

namespace gpusim::microbench {

/// `full`: as many lines of one set as it has ways. Returns `count` addresses of that set, or fewer if so
/// many were not found in a bounded number of tries. `sets`: about as many as the cache has.
[[nodiscard]] std::vector<uint64_t> lines_of_set(const ConflictTest& test, const std::vector<uint32_t>& full,
                                                 const AddressSpace& space, uint64_t sets, size_t count);

}  // namespace gpusim::microbench
