// Tensor maps: what cp.async.bulk.tensor reads of a tensor in global memory.
#include <algorithm>

#include "runtime/device/tensor_maps.h"
#include "runtime/driver/driver.h"

namespace gpusim::runtime::driver {

namespace {

using isa::TensorMap;

/// Of CUtensorMapInterleave, CUtensorMapL2promotion and CUtensorMapFloatOOBfill: how many there are.
constexpr int kInterleaves = 3, kPromotions = 4, kFills = 2;
/// Of CUtensorMapDataType and CUtensorMapSwizzle, those of later machines too.
constexpr int kElements = 16, kSwizzles = 7;

/// A tensor map as cuda.h declares it.
struct CUtensorMap {
  alignas(TensorMap::kAlign) std::byte bytes[TensorMap::kBytes];
};

/// One of `count` numbers, of which those from `supported` on are of later machines than compute
/// capability 9.0.
void require_number(const Device& device, int number, int count, int supported) {
  require(number >= 0 && number < count);
  constexpr unsigned kLater = 100;
  if (number >= supported)
    throw Failure(device.machine().gpu.compute_capability < kLater ? Code::kInvalidValue
                                                                   : Code::kNotSupported);
}

void require_place(const CUtensorMap* map) {
  require(map != nullptr && reinterpret_cast<uintptr_t>(map) % TensorMap::kAlign == 0);
}

/// What both modes have; numbers in the order of their functions' parameters.
TensorMap common_map(const Device& device, const CUtensorMap* to, int element, unsigned rank, void* address,
                     const uint64_t* size, const uint64_t* stride, const uint32_t* step, int interleave,
                     int swizzle, int promotion, int fill) {
  require_place(to);
  require(rank >= 1 && rank <= TensorMap::kMostRank);
  require(size != nullptr && step != nullptr && (rank == 1 || stride != nullptr));
  require_number(device, element, kElements, TensorMap::kElements);
  require_number(device, swizzle, kSwizzles, TensorMap::kSwizzles);
  constexpr unsigned kLeastInterleaved = 3;
  require(interleave >= 0 && interleave < kInterleaves && (interleave == 0 || rank >= kLeastInterleaved));
  require(interleave == 0, Code::kNotSupported);
  require(promotion >= 0 && promotion < kPromotions && fill >= 0 && fill < kFills);
  TensorMap map;
  map.address = reinterpret_cast<uintptr_t>(address);
  map.rank = static_cast<uint8_t>(rank);
  map.element = static_cast<TensorMap::Element>(element);
  map.swizzle = static_cast<TensorMap::Swizzle>(swizzle);
  map.fills_with_nan = fill != 0;
  std::copy_n(size, rank, map.size.begin());
  if (rank > 1) std::copy_n(stride, rank - 1, map.stride.begin() + 1);
  std::copy_n(step, rank, map.step.begin());
  // Steps of the first dimension are not looked at.
  map.step[0] = 1;
  return map;
}

}  // namespace

GPUSIM_DRIVER cuTensorMapEncodeTiled(CUtensorMap* to, int element, unsigned rank, void* address,
                                     const uint64_t* size, const uint64_t* stride, const uint32_t* box,
                                     const uint32_t* step, int interleave, int swizzle, int promotion,
                                     int fill) {
  return call([&](Device& device) {
    TensorMap map = common_map(device, to, element, rank, address, size, stride, step, interleave, swizzle,
                               promotion, fill);
    require(box != nullptr);
    std::copy_n(box, rank, map.box.begin());
    std::ranges::copy(encoded(map, device.machine().shared.bytes), to->bytes);
  });
}

GPUSIM_DRIVER cuTensorMapEncodeIm2col(CUtensorMap* to, int element, unsigned rank, void* address,
                                      const uint64_t* size, const uint64_t* stride, const int* lower,
                                      const int* upper, uint32_t channels, uint32_t pixels,
                                      const uint32_t* step, int interleave, int swizzle, int promotion,
                                      int fill) {
  return call([&](Device& device) {
    TensorMap map = common_map(device, to, element, rank, address, size, stride, step, interleave, swizzle,
                               promotion, fill);
    require(rank >= TensorMap::kLeastIm2colRank && lower != nullptr && upper != nullptr);
    map.im2col = true;
    std::copy_n(lower, rank - 2, map.lower.begin());
    std::copy_n(upper, rank - 2, map.upper.begin());
    map.box[0] = channels;
    map.pixels = pixels;
    std::ranges::copy(encoded(map, device.machine().shared.bytes), to->bytes);
  });
}

GPUSIM_DRIVER cuTensorMapReplaceAddress(CUtensorMap* map, void* address) {
  return call([&](Device&) {
    require_place(map);
    std::ranges::copy(moved(map->bytes, reinterpret_cast<uintptr_t>(address)), map->bytes);
  });
}

}  // namespace gpusim::runtime::driver
