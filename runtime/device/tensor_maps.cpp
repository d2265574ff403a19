#include "runtime/device/tensor_maps.h"

#include "runtime/device/error.h"

namespace gpusim::runtime {

namespace {

using isa::TensorMap;

void require(bool holds) {
  if (!holds) throw Failure(Code::kInvalidValue);
}

}  // namespace

TensorMapBytes encoded(TensorMap map, uint64_t shared_bytes) {
  map.stride[0] = map.element_bytes();
  require(map.is_valid());
  uint64_t bytes = map.element_bytes();
  if (map.im2col)
    bytes *= uint64_t{map.box[0]} * map.pixels;
  else
    for (size_t d = 0; d < map.rank; ++d) bytes *= map.box[d];
  require(bytes <= shared_bytes);
  return map.packed();
}

TensorMapBytes moved(const std::byte* bytes, uint64_t address) {
  std::optional<TensorMap> map = TensorMap::unpacked(bytes);
  require(map.has_value());
  map->address = address;
  return encoded(*map);
}

}  // namespace gpusim::runtime
