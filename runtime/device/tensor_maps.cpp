#include "runtime/device/tensor_maps.h"

#include "runtime/device/error.h"

namespace gpusim::runtime {

namespace {

using isa::TensorMap;

constexpr uint64_t kAddressAlign = 16, kStrideAlign = 16, kRowAlign = 16;

void require(bool holds) {
  if (!holds) throw Failure(Code::kInvalidValue);
}

}  // namespace

TensorMapBytes encoded(TensorMap map, uint64_t shared_bytes) {
  uint64_t bytes = map.element_bytes();
  map.stride[0] = map.element_bytes();
  require(map.address % kAddressAlign == 0);
  require(!map.fills_with_nan || map.element >= TensorMap::Element::kF16);
  for (size_t d = 0; d < map.rank; ++d) {
    require(map.size[d] != 0 && map.size[d] <= TensorMap::kMostSize);
    require(map.box[d] != 0 && map.box[d] <= TensorMap::kMostBox);
    require(d == 0 || (map.stride[d] % kStrideAlign == 0 && map.stride[d] < TensorMap::kMostStride));
    require(map.step[d] != 0 && map.step[d] <= TensorMap::kMostStep);
    bytes *= map.box[d];
  }
  require(map.row_bytes() % kRowAlign == 0 && bytes <= shared_bytes);
  // Rows that are swizzled are not longer than what is swizzled.
  require(map.swizzle == TensorMap::Swizzle::kNone ||
          map.row_bytes() <= kRowAlign << static_cast<unsigned>(map.swizzle));
  return map.packed();
}

TensorMapBytes moved(const std::byte* bytes, uint64_t address) {
  std::optional<TensorMap> map = TensorMap::unpacked(bytes);
  require(map.has_value());
  map->address = address;
  return encoded(*map);
}

}  // namespace gpusim::runtime
