// Dynamic shared memory above 48 KB, which a kernel has to ask for.
#include <vector>

#include "../common/check.h"

__global__ void reverse(int* x, int n) {
  extern __shared__ int tile[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) tile[i] = x[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = tile[n - 1 - i];
}

int main() {
  constexpr int kCount = 15000, kBytes = kCount * int(sizeof(int));
  std::vector<int> x(kCount), result(kCount);
  for (int i = 0; i < kCount; ++i) x[i] = i;
  int* device;
  MUST(cudaMalloc(&device, kBytes));
  MUST(cudaMemcpy(device, x.data(), kBytes, cudaMemcpyHostToDevice));
  reverse<<<1, 256, kBytes>>>(device, kCount);
  bool good = cudaGetLastError() == cudaErrorInvalidValue;
  MUST(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  reverse<<<1, 256, kBytes>>>(device, kCount);
  MUST(cudaGetLastError());
  MUST(cudaMemcpy(result.data(), device, kBytes, cudaMemcpyDeviceToHost));
  for (int i = 0; i < kCount; ++i) good = good && result[i] == kCount - 1 - i;
  return verdict(good);
}
