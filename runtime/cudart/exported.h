// What every exported function needs, without the device behind it.
#pragma once

#define GPUSIM_EXPORT_ALWAYS extern "C" __attribute__((visibility("default")))
// The driver library is thin over functions of the runtime, which it holds for itself.
#ifdef GPUSIM_DRIVER_LIBRARY
#define GPUSIM_EXPORT extern "C" __attribute__((visibility("hidden")))
#else
#define GPUSIM_EXPORT GPUSIM_EXPORT_ALWAYS
#endif

namespace gpusim::runtime::cudart {

/// The last error of this thread (cudaGetLastError).
extern thread_local int last_error;

}  // namespace gpusim::runtime::cudart
