// The runtime and the driver API in one program: the context that the runtime has made is the driver's
// current one, and each takes the other's memory and streams.
#include <cuda.h>

#include <thread>

#include "../common/check.h"

__global__ void scale(int* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 3;
}

int main() {
  constexpr int kCount = 1000;
  CUdevice device = -1;
  CUcontext context = nullptr;
  bool good = cuInit(0) == CUDA_SUCCESS;
  // Nothing has made a context current yet.
  good = good && cuCtxGetCurrent(&context) == CUDA_SUCCESS && context == nullptr;
  good = good && cuCtxGetDevice(&device) == CUDA_ERROR_INVALID_CONTEXT;
  MUST(cudaSetDevice(0));
  good = good && cuCtxGetDevice(&device) == CUDA_SUCCESS && device == 0;
  CUcontext primary = nullptr;
  good = good && cuDevicePrimaryCtxRetain(&primary, 0) == CUDA_SUCCESS &&
         cuCtxGetCurrent(&context) == CUDA_SUCCESS;
  good = good && context != nullptr && context == primary;
  // Each thread has a context of its own.
  CUcontext of_thread = primary;
  std::thread([&] { cuCtxGetCurrent(&of_thread); }).join();
  good = good && of_thread == nullptr;
  CUdeviceptr memory = 0;
  CUstream stream = nullptr;
  good = good && cuMemAlloc(&memory, kCount * sizeof(int)) == CUDA_SUCCESS;
  good = good && cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS;
  good = good && cuMemsetD32Async(memory, 7, kCount, stream) == CUDA_SUCCESS;
  int* const x = reinterpret_cast<int*>(memory);
  scale<<<(kCount + 127) / 128, 128, 0, stream>>>(x, kCount);
  MUST(cudaGetLastError());
  static int result[kCount];
  MUST(cudaMemcpyAsync(result, x, sizeof result, cudaMemcpyDeviceToHost, stream));
  good = good && cuStreamSynchronize(stream) == CUDA_SUCCESS;
  for (const int value : result) good = good && value == 21;
  MUST(cudaFree(x));
  MUST(cudaStreamDestroy(stream));
  return verdict(good);
}
