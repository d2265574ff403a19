// Host memory that kernels access: mapped when it is allocated, and registered afterwards.
#include <vector>

#include "../common/check.h"

__global__ void add(const int* x, int* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += x[i];
}

int main() {
  constexpr int kCount = 3000;
  int *mapped, *on_device, *registered_on_device;
  std::vector<int> own(kCount, 7);
  MUST(cudaHostAlloc(&mapped, kCount * sizeof(int), cudaHostAllocMapped));
  for (int i = 0; i < kCount; ++i) mapped[i] = i;
  MUST(cudaHostRegister(own.data(), kCount * sizeof(int), cudaHostRegisterMapped));
  MUST(cudaHostGetDevicePointer(&on_device, mapped, 0));
  MUST(cudaHostGetDevicePointer(&registered_on_device, own.data(), 0));
  add<<<(kCount + 127) / 128, 128>>>(on_device, registered_on_device, kCount);
  MUST(cudaDeviceSynchronize());
  bool good = true;
  for (int i = 0; i < kCount; ++i) good = good && own[i] == i + 7;
  MUST(cudaHostUnregister(own.data()));
  MUST(cudaFreeHost(mapped));
  return verdict(good);
}
