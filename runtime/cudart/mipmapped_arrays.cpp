#include "runtime/cudart/mipmapped_arrays.h"

#include <algorithm>
#include <bit>
#include <map>
#include <memory>

#include "runtime/device/attributes.h"

namespace gpusim::runtime::cudart {

namespace {

using Arrays = std::map<MipmappedArray*, std::unique_ptr<MipmappedArray>>;
Arrays& arrays() { return common_state<Arrays>("mipmapped arrays"); }

uint64_t halved(uint64_t size, unsigned times) {
  return size == 0 ? 0 : std::max<uint64_t>(size >> times, 1);
}

void remove(Device& device, const MipmappedArray& mipmapped) {
  for (const Array* level : mipmapped.levels)
    if (device.is_array(level)) device.remove_array(level);
}

}  // namespace

void add_mipmapped_array(Device& device, cudaMipmappedArray_t* handle, const ArrayShape& shape,
                         unsigned levels) {
  require(handle != nullptr);
  constexpr int kMostOfOneDimension = 77, kMostWidth = 73, kMostHeight = 74;
  const bool layered = (shape.flags & (ArrayShape::kLayered | ArrayShape::kCubemap)) != 0;
  const auto& extent = shape.extent;
  const auto within = [&](uint64_t size, int attribute) {
    const int most = device_attribute(device.machine(), attribute).value_or(0);
    return most == 0 || size <= static_cast<uint64_t>(most);
  };
  require(extent.height == 0 ? within(extent.width, kMostOfOneDimension)
                             : within(extent.width, kMostWidth) && within(extent.height, kMostHeight));
  const uint64_t largest = std::max({extent.width, extent.height, layered ? 0 : extent.depth});
  const unsigned most = static_cast<unsigned>(std::bit_width(largest));
  auto made = std::make_unique<MipmappedArray>();
  try {
    for (unsigned level = 0; level < std::clamp(levels, 1u, most); ++level) {
      ArrayShape of_level = shape;
      of_level.extent = {halved(extent.width, level), halved(extent.height, level),
                         layered ? extent.depth : halved(extent.depth, level)};
      made->levels.push_back(&device.add_array(of_level));
    }
  } catch (...) {
    remove(device, *made);
    throw;
  }
  *handle = reinterpret_cast<cudaMipmappedArray_t>(made.get());
  MipmappedArray* const key = made.get();
  arrays().emplace(key, std::move(made));
}

MipmappedArray& mipmapped_array_of(cudaMipmappedArray_t handle) {
  const auto at = arrays().find(reinterpret_cast<MipmappedArray*>(handle));
  require(at != arrays().end(), Code::kInvalidResourceHandle);
  return *at->second;
}

GPUSIM_EXPORT cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* handle,
                                                   const cudaChannelFormatDesc* format, cudaExtent extent,
                                                   unsigned levels, unsigned flags) {
  return call([&](Device& device) {
    add_mipmapped_array(device, handle, checked_shape(device, format, extent, flags), levels);
  });
}
GPUSIM_EXPORT cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* array, cudaMipmappedArray_t handle,
                                                     unsigned level) {
  return call([&](Device&) {
    const MipmappedArray& mipmapped = mipmapped_array_of(handle);
    require(array != nullptr && level < mipmapped.levels.size());
    *array = reinterpret_cast<cudaArray_t>(mipmapped.levels[level]);
  });
}
GPUSIM_EXPORT cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t handle) {
  return call([&](Device& device) {
    if (handle == nullptr) return;
    MipmappedArray& mipmapped = mipmapped_array_of(handle);
    remove(device, mipmapped);
    arrays().erase(&mipmapped);
  });
}

}  // namespace gpusim::runtime::cudart
