// Launches as before CUDA 4: a function keeps its block, its shared memory and its parameters until the next
// launch. cuda.h still declares them.
#include <cstring>
#include <map>
#include <vector>

#include "runtime/driver/driver.h"

namespace gpusim::runtime::driver {

GPUSIM_DRIVER cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                             unsigned bz, unsigned shared, CUstream stream, void** parameters, void** extra);

namespace {

constexpr unsigned kMostParameters = 4096;  ///< bytes

struct Settings {
  unsigned block[3] = {1, 1, 1}, shared = 0;
  std::vector<std::byte> parameters;
};

/// Of a function; under the device's lock.
Settings& settings_of(CUfunction function) {
  static auto* const all = new std::map<CUfunction, Settings>;
  (void)kernel_of(function);
  return (*all)[function];
}

CUresult set_parameter(CUfunction function, int offset, const void* from, size_t bytes) {
  return call([&](Device&) {
    require(from != nullptr && offset >= 0 && bytes <= kMostParameters);
    const size_t end = static_cast<size_t>(offset) + bytes;
    require(end <= kMostParameters);
    std::vector<std::byte>& parameters = settings_of(function).parameters;
    if (parameters.size() < end) parameters.resize(end);
    std::memcpy(parameters.data() + offset, from, bytes);
  });
}

CUresult launch_grid(CUfunction function, int width, int height, CUstream stream) {
  Settings s;
  const CUresult error = call([&](Device&) {
    require(width > 0 && height > 0);
    s = settings_of(function);
  });
  if (error != 0) return error;
  size_t bytes = s.parameters.size();
  constexpr uintptr_t kPointer = 1, kSize = 2;  // CU_LAUNCH_PARAM_BUFFER_...
  void* extra[] = {reinterpret_cast<void*>(kPointer), s.parameters.data(), reinterpret_cast<void*>(kSize),
                   &bytes, nullptr};
  return cuLaunchKernel(function, static_cast<unsigned>(width), static_cast<unsigned>(height), 1, s.block[0],
                        s.block[1], s.block[2], s.shared, stream, nullptr, extra);
}

}  // namespace

GPUSIM_DRIVER cuFuncSetBlockShape(CUfunction function, int x, int y, int z) {
  return call([&](Device&) {
    require(x > 0 && y > 0 && z > 0);
    const unsigned block[] = {static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z)};
    std::memcpy(settings_of(function).block, block, sizeof(block));
  });
}
GPUSIM_DRIVER cuFuncSetSharedSize(CUfunction function, unsigned bytes) {
  return call([&](Device&) { settings_of(function).shared = bytes; });
}
GPUSIM_DRIVER cuParamSetSize(CUfunction function, unsigned bytes) {
  return call([&](Device&) {
    require(bytes <= kMostParameters);
    settings_of(function).parameters.resize(bytes);
  });
}
GPUSIM_DRIVER cuParamSeti(CUfunction function, int offset, unsigned value) {
  return set_parameter(function, offset, &value, sizeof(value));
}
GPUSIM_DRIVER cuParamSetf(CUfunction function, int offset, float value) {
  return set_parameter(function, offset, &value, sizeof(value));
}
GPUSIM_DRIVER cuParamSetv(CUfunction function, int offset, void* from, unsigned bytes) {
  return set_parameter(function, offset, from, bytes);
}
GPUSIM_DRIVER cuLaunch(CUfunction function) { return launch_grid(function, 1, 1, nullptr); }
GPUSIM_DRIVER cuLaunchGrid(CUfunction function, int width, int height) {
  return launch_grid(function, width, height, nullptr);
}
GPUSIM_DRIVER cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream) {
  return launch_grid(function, width, height, stream);
}

}  // namespace gpusim::runtime::driver
