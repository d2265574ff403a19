// What every exported function needs, without the device behind it.
#pragma once

#define GPUSIM_EXPORT extern "C" __attribute__((visibility("default")))

namespace gpusim::runtime::cudart {

/// The last error of this thread (cudaGetLastError).
extern thread_local int last_error;

}  // namespace gpusim::runtime::cudart
