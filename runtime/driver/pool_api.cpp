// Memory pools and memory in the order of a stream, whose handles are those of the runtime.
#include "runtime/driver/driver.h"

namespace gpusim::runtime::driver {

using CUmemoryPool = cudaMemPool_t;

GPUSIM_SAME(cuDeviceGetDefaultMemPool, cudaDeviceGetDefaultMemPool, (CUmemoryPool * pool, CUdevice device),
            (pool, device))
GPUSIM_SAME(cuDeviceGetMemPool, cudaDeviceGetMemPool, (CUmemoryPool * pool, CUdevice device), (pool, device))
GPUSIM_SAME(cuDeviceSetMemPool, cudaDeviceSetMemPool, (CUdevice device, CUmemoryPool pool), (device, pool))
GPUSIM_SAME(cuMemGetDefaultMemPool, cudaMemGetDefaultMemPool,
            (CUmemoryPool * pool, cudaMemLocation* location, int type), (pool, location, type))
GPUSIM_SAME(cuMemGetMemPool, cudaMemGetMemPool, (CUmemoryPool * pool, cudaMemLocation* location, int type),
            (pool, location, type))
GPUSIM_SAME(cuMemSetMemPool, cudaMemSetMemPool, (cudaMemLocation * location, int type, CUmemoryPool pool),
            (location, type, pool))
GPUSIM_SAME(cuMemPoolCreate, cudaMemPoolCreate, (CUmemoryPool * pool, const cudaMemPoolProps* properties),
            (pool, properties))
GPUSIM_SAME(cuMemPoolDestroy, cudaMemPoolDestroy, (CUmemoryPool pool), (pool))
GPUSIM_SAME(cuMemPoolTrimTo, cudaMemPoolTrimTo, (CUmemoryPool pool, size_t bytes), (pool, bytes))
GPUSIM_SAME(cuMemPoolSetAccess, cudaMemPoolSetAccess,
            (CUmemoryPool pool, const cudaMemAccessDesc* access, size_t count), (pool, access, count))
GPUSIM_SAME(cuMemPoolGetAccess, cudaMemPoolGetAccess,
            (int* access, CUmemoryPool pool, cudaMemLocation* location), (access, pool, location))
GPUSIM_SAME(cuMemPoolSetAttribute, cudaMemPoolSetAttribute, (CUmemoryPool pool, int attribute, void* value),
            (pool, attribute, value))
GPUSIM_SAME(cuMemPoolGetAttribute, cudaMemPoolGetAttribute, (CUmemoryPool pool, int attribute, void* value),
            (pool, attribute, value))
GPUSIM_SAME(cuMemPoolExportToShareableHandle, cudaMemPoolExportToShareableHandle,
            (void* shareable, CUmemoryPool pool, int type, unsigned flags), (shareable, pool, type, flags))
GPUSIM_SAME(cuMemPoolImportFromShareableHandle, cudaMemPoolImportFromShareableHandle,
            (CUmemoryPool * pool, void* shareable, int type, unsigned flags), (pool, shareable, type, flags))

GPUSIM_EXPORT cudaError_t cudaMemPoolExportPointer(cudaMemPoolPtrExportData* data, void* memory);
GPUSIM_DRIVER cuMemPoolExportPointer(cudaMemPoolPtrExportData* data, CUdeviceptr address) {
  return cudaMemPoolExportPointer(data, pointer(address));
}
GPUSIM_EXPORT cudaError_t cudaMemPoolImportPointer(void** memory, cudaMemPool_t pool,
                                                   cudaMemPoolPtrExportData* data);
GPUSIM_DRIVER cuMemPoolImportPointer(CUdeviceptr* address, CUmemoryPool pool,
                                     cudaMemPoolPtrExportData* data) {
  return cudaMemPoolImportPointer(reinterpret_cast<void**>(address), pool, data);
}

#define GPUSIM_ALLOCATE(suffix)                                                                              \
  GPUSIM_EXPORT cudaError_t cudaMallocAsync##suffix(void** memory, size_t bytes, cudaStream_t stream);       \
  GPUSIM_DRIVER cuMemAllocAsync##suffix(CUdeviceptr* address, size_t bytes, CUstream stream) {               \
    return cudaMallocAsync##suffix(reinterpret_cast<void**>(address), bytes, stream);                        \
  }                                                                                                          \
  GPUSIM_EXPORT cudaError_t cudaMallocFromPoolAsync##suffix(void** memory, size_t bytes, cudaMemPool_t pool, \
                                                            cudaStream_t stream);                            \
  GPUSIM_DRIVER cuMemAllocFromPoolAsync##suffix(CUdeviceptr* address, size_t bytes, CUmemoryPool pool,       \
                                                CUstream stream) {                                           \
    return cudaMallocFromPoolAsync##suffix(reinterpret_cast<void**>(address), bytes, pool, stream);          \
  }                                                                                                          \
  GPUSIM_EXPORT cudaError_t cudaFreeAsync##suffix(void* memory, cudaStream_t stream);                        \
  GPUSIM_DRIVER cuMemFreeAsync##suffix(CUdeviceptr address, CUstream stream) {                               \
    return cudaFreeAsync##suffix(pointer(address), stream);                                                  \
  }
GPUSIM_ALLOCATE()
GPUSIM_ALLOCATE(_ptsz)

}  // namespace gpusim::runtime::driver
