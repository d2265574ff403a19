// Functions of the driver API that are not here: each says so once, by name, and returns the error that the
// manual has for what a system does not support. Those that other files define take the place of these.
#include <atomic>
#include <cstdio>
#include <cstring>

#include "runtime/cudart/exported.h"
#include "runtime/device/error.h"

namespace gpusim::runtime::driver {
namespace {
int unsupported(const char* name, std::atomic<bool>& told) {
  if (!told.exchange(true))
    std::fprintf(stderr, "gpusim: error: %s is not supported (CUDA_ERROR_NOT_SUPPORTED)\n", name);
  return static_cast<int>(Code::kNotSupported);
}
}  // namespace
}  // namespace gpusim::runtime::driver

#define GPUSIM_NAME(name)                                     \
  GPUSIM_EXPORT_ALWAYS __attribute__((weak)) int name() {     \
    static std::atomic<bool> told{false};                     \
    return gpusim::runtime::driver::unsupported(#name, told); \
  }
#include "runtime/driver/names.inc"
