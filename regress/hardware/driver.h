// The CUDA driver, loaded when it is needed: the program builds and plans without one.
#pragma once
#include <cuda.h>

#include <string>

#include "plan.h"

// Functions of the driver that are used; cuda.h renames some to their newest version.
// clang-format off
#define HARDWARE_DRIVER_FUNCTIONS(X)                                                      \
  X(cuInit) X(cuDriverGetVersion) X(cuGetErrorString) X(cuDeviceGetCount)                 \
  X(cuDeviceGet) X(cuDeviceGetName) X(cuDeviceGetAttribute) X(cuDeviceTotalMem)           \
  X(cuDevicePrimaryCtxRetain) X(cuCtxSetCurrent) X(cuModuleLoadDataEx) X(cuModuleUnload)  \
  X(cuModuleGetFunction) X(cuModuleGetGlobal) X(cuFuncGetAttribute) X(cuFuncSetAttribute) X(cuMemAlloc)        \
  X(cuMemFree) X(cuMemcpyHtoD) X(cuMemcpyDtoH) X(cuMemcpyDtoD) X(cuMemsetD8)              \
  X(cuLaunchKernel) X(cuCtxSynchronize) X(cuEventCreate) X(cuEventRecord)                 \
  X(cuEventElapsedTime) X(cuEventDestroy) X(cuDeviceGetPCIBusId)
// clang-format on

namespace hardware {

struct Driver {
#define HARDWARE_DECLARE(name) decltype(&::name) name##_ = nullptr;
  HARDWARE_DRIVER_FUNCTIONS(HARDWARE_DECLARE)
#undef HARDWARE_DECLARE

  /// Loads libcuda.so.1 and starts it. Throws Error: there is no driver, or no device.
  Driver();
  /// Throws Error with what was done and what the driver says.
  void check(CUresult result, const std::string& what) const;
};

}  // namespace hardware
