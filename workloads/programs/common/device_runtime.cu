// In the place of libcudadevrt, so that the programs in prebuilt/ have nothing of NVIDIA's in them: machine
// code that nobody runs, for the linker of device code. gpusim has these functions itself, as calls from PTX.
#include <cuda_runtime.h>
#undef __cudaCDP2DeviceGetAttribute
#undef __cudaCDP2DeviceGetLimit
#undef __cudaCDP2GetLastError
#undef __cudaCDP2PeekAtLastError
#undef __cudaCDP2GetErrorString
#undef __cudaCDP2GetErrorName
#undef __cudaCDP2GetDeviceCount
#undef __cudaCDP2GetDevice
#undef __cudaCDP2StreamCreateWithFlags
#undef __cudaCDP2StreamDestroy
#undef __cudaCDP2StreamWaitEvent
#undef __cudaCDP2EventCreateWithFlags
#undef __cudaCDP2EventRecord
#undef __cudaCDP2EventDestroy
#undef __cudaCDP2FuncGetAttributes
#undef __cudaCDP2Free
#undef __cudaCDP2Malloc
#undef __cudaCDP2MemcpyAsync
#undef __cudaCDP2MemsetAsync
#undef __cudaCDP2RuntimeGetVersion
#undef __cudaCDP2GetParameterBufferV2
#undef __cudaCDP2LaunchDeviceV2
#undef __cudaCDP2OccupancyMaxActiveBlocksPerMultiprocessor
#undef __cudaCDP2OccupancyMaxActiveBlocksPerMultiprocessorWithFlags

extern "C" {
__device__ cudaError_t __cudaCDP2DeviceGetAttribute(int*, cudaDeviceAttr, int) {
  return cudaErrorNotSupported;
}
__device__ cudaError_t __cudaCDP2DeviceGetLimit(size_t*, cudaLimit) { return cudaErrorNotSupported; }
__device__ cudaError_t __cudaCDP2GetLastError() { return cudaErrorNotSupported; }
__device__ cudaError_t __cudaCDP2PeekAtLastError() { return cudaErrorNotSupported; }
__device__ const char* __cudaCDP2GetErrorString(cudaError_t) { return nullptr; }
__device__ const char* __cudaCDP2GetErrorName(cudaError_t) { return nullptr; }
__device__ cudaError_t __cudaCDP2GetDeviceCount(int*) { return cudaErrorNotSupported; }
__device__ cudaError_t __cudaCDP2GetDevice(int*) { return cudaErrorNotSupported; }
__device__ cudaError_t __cudaCDP2StreamCreateWithFlags(cudaStream_t*, unsigned int) {
  return cudaErrorNotSupported;
}
__device__ cudaError_t __cudaCDP2StreamDestroy(cudaStream_t) { return cudaErrorNotSupported; }
__device__ cudaError_t __cudaCDP2StreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned int) {
  return cudaErrorNotSupported;
}
__device__ cudaError_t __cudaCDP2EventCreateWithFlags(cudaEvent_t*, unsigned int) {
  return cudaErrorNotSupported;
}
__device__ cudaError_t __cudaCDP2EventRecord(cudaEvent_t, cudaStream_t) { return cudaErrorNotSupported; }
__device__ cudaError_t __cudaCDP2EventDestroy(cudaEvent_t) { return cudaErrorNotSupported; }
__device__ cudaError_t __cudaCDP2FuncGetAttributes(cudaFuncAttributes*, const void*) {
  return cudaErrorNotSupported;
}
__device__ cudaError_t __cudaCDP2Free(void*) { return cudaErrorNotSupported; }
__device__ cudaError_t __cudaCDP2Malloc(void**, size_t) { return cudaErrorNotSupported; }
__device__ cudaError_t __cudaCDP2MemcpyAsync(void*, const void*, size_t, cudaMemcpyKind, cudaStream_t) {
  return cudaErrorNotSupported;
}
__device__ cudaError_t __cudaCDP2MemsetAsync(void*, int, size_t, cudaStream_t) {
  return cudaErrorNotSupported;
}
__device__ cudaError_t __cudaCDP2RuntimeGetVersion(int*) { return cudaErrorNotSupported; }
__device__ void* __cudaCDP2GetParameterBufferV2(void*, dim3, dim3, unsigned int) { return nullptr; }
__device__ cudaError_t __cudaCDP2LaunchDeviceV2(void*, cudaStream_t) { return cudaErrorNotSupported; }
__device__ cudaError_t __cudaCDP2OccupancyMaxActiveBlocksPerMultiprocessor(int*, const void*, int, size_t) {
  return cudaErrorNotSupported;
}
__device__ cudaError_t __cudaCDP2OccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int*, const void*, int,
                                                                                    size_t, unsigned int) {
  return cudaErrorNotSupported;
}
}
