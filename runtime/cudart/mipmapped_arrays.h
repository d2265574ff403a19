// Mipmapped arrays: levels of half the size each, every one an array of its own.
#pragma once
#include <vector>

#include "runtime/cudart/api.h"

namespace gpusim::runtime::cudart {

struct MipmappedArray {
  std::vector<Array*> levels;
};

/// As many levels as are asked for, but no more than the largest side can be halved.
void add_mipmapped_array(Device& device, cudaMipmappedArray_t* handle, const ArrayShape& shape,
                         unsigned levels);
[[nodiscard]] MipmappedArray& mipmapped_array_of(cudaMipmappedArray_t handle);

}  // namespace gpusim::runtime::cudart
