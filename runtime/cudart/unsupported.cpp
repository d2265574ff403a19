// Functions of the runtime that are not here: each says so once, by name, and returns the error that the
// manual has for what a system does not support. Those that other files define take the place of these.
#include <atomic>
#include <cstdio>
#include <cstring>

#include "runtime/cudart/abi.h"
#include "runtime/cudart/exported.h"
#include "runtime/device/error.h"

namespace gpusim::runtime::cudart {
namespace {
cudaError_t unsupported(const char* name, std::atomic<bool>& told) {
  if (!told.exchange(true))
    std::fprintf(stderr, "gpusim: error: %s is not supported (cudaErrorNotSupported)\n", name);
  last_error = static_cast<int>(Code::kNotSupported);
  return last_error;
}
}  // namespace
}  // namespace gpusim::runtime::cudart

#define GPUSIM_NAME(name)                                     \
  GPUSIM_EXPORT __attribute__((weak)) int name() {            \
    static std::atomic<bool> told{false};                     \
    return gpusim::runtime::cudart::unsupported(#name, told); \
  }
#include "runtime/cudart/names.inc"
