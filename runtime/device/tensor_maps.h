// Tensor maps of programs (isa/exec/tensor_map.h), by the rules of cuTensorMapEncodeTiled.
#pragma once
#include "isa/exec/tensor_map.h"

namespace gpusim::runtime {

using TensorMapBytes = std::array<std::byte, isa::TensorMap::kBytes>;

/// The bytes of a map whose first stride may be left out. Throws a Failure for what cannot be.
/// `shared_bytes`: that a box may take.
[[nodiscard]] TensorMapBytes encoded(isa::TensorMap map, uint64_t shared_bytes = UINT64_MAX);
/// Those of the same map at another address.
[[nodiscard]] TensorMapBytes moved(const std::byte* map, uint64_t address);

}  // namespace gpusim::runtime
