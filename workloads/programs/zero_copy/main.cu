// Host memory that kernels access: mapped when it is allocated, and registered afterwards; of as many elements as
// the first argument says.
#include <vector>

#include "../common/check.h"

__global__ void add(const int* x, int* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += x[i];
}

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 3000;
  int *mapped, *on_device, *registered_on_device;
  std::vector<int> own(count, 7);
  MUST(cudaHostAlloc(&mapped, count * sizeof(int), cudaHostAllocMapped));
  for (int i = 0; i < count; ++i) mapped[i] = i;
  MUST(cudaHostRegister(own.data(), count * sizeof(int), cudaHostRegisterMapped));
  MUST(cudaHostGetDevicePointer(&on_device, mapped, 0));
  MUST(cudaHostGetDevicePointer(&registered_on_device, own.data(), 0));
  add<<<(count + 127) / 128, 128>>>(on_device, registered_on_device, count);
  MUST(cudaDeviceSynchronize());
  bool good = true;
  for (int i = 0; i < count; ++i) good = good && own[i] == i + 7;
  MUST(cudaHostUnregister(own.data()));
  MUST(cudaFreeHost(mapped));
  return verdict(good);
}
