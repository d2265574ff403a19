// Errors: of calls, which go away, and of a kernel, which stay.
#include <cstring>

#include "../common/check.h"

__global__ void stray(int* p) { *p = 1; }

int main() {
  void* p;
  bool good = cudaMalloc(&p, size_t{1} << 62) == cudaErrorMemoryAllocation;
  good = good && cudaGetLastError() == cudaErrorMemoryAllocation && cudaGetLastError() == cudaSuccess;
  good = good && cudaSetDevice(7) == cudaErrorInvalidDevice;
  good = good && std::strcmp(cudaGetErrorName(cudaErrorInvalidDevice), "cudaErrorInvalidDevice") == 0;
  (void)cudaGetLastError();
  stray<<<1, 2000>>>(nullptr);
  // From 13 on, as an H100 with driver 580 answers.
  good = good && cudaGetLastError() ==
                     (CUDART_VERSION >= 13000 ? cudaErrorInvalidValue : cudaErrorInvalidConfiguration);
  stray<<<1, 1>>>(reinterpret_cast<int*>(64));
  good = good && cudaDeviceSynchronize() == cudaErrorIllegalAddress;
  good = good && cudaMalloc(&p, 16) == cudaErrorIllegalAddress;
  good = good && cudaGetLastError() == cudaErrorIllegalAddress;
  return verdict(good);
}
