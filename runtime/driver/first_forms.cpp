// Functions in the form that they had first, where it has the parameters of the one that took its place:
// programs that look functions up by their names in the library (ctypes, dlsym) may ask for it. Those that
// have addresses and sizes of 32 bits are in unsupported.cpp.
#include "runtime/driver/driver.h"

namespace gpusim::runtime::driver {

#define GPUSIM_FIRST_FORM(name, parameters, arguments) \
  GPUSIM_DRIVER name##_v2 parameters;                  \
  GPUSIM_DRIVER name parameters { return name##_v2 arguments; }

GPUSIM_FIRST_FORM(cuCtxCreate, (CUcontext * context, unsigned flags, CUdevice device),
                  (context, flags, device))
GPUSIM_FIRST_FORM(cuCtxDestroy, (CUcontext context), (context))
GPUSIM_FIRST_FORM(cuCtxPushCurrent, (CUcontext context), (context))
GPUSIM_FIRST_FORM(cuCtxPopCurrent, (CUcontext * context), (context))
GPUSIM_FIRST_FORM(cuDevicePrimaryCtxReset, (CUdevice device), (device))
GPUSIM_FIRST_FORM(cuDevicePrimaryCtxSetFlags, (CUdevice device, unsigned flags), (device, flags))
GPUSIM_FIRST_FORM(cuStreamDestroy, (CUstream stream), (stream))
GPUSIM_FIRST_FORM(cuEventDestroy, (CUevent event), (event))
GPUSIM_FIRST_FORM(cuMemHostRegister, (void* memory, size_t bytes, unsigned flags), (memory, bytes, flags))

}  // namespace gpusim::runtime::driver
