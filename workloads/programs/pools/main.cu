// Memory in the order of a stream, from the default pool and one of its own.
#include <vector>

#include "../common/check.h"

__global__ void fill(int* x, int n, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = value + i;
}

int main() {
  constexpr int kCount = 1000;
  cudaStream_t stream;
  MUST(cudaStreamCreate(&stream));
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  cudaMemPool_t pool;
  MUST(cudaMemPoolCreate(&pool, &properties));
  std::vector<int> result(kCount);
  bool good = true;
  for (int round = 0; round < 20; ++round) {
    int *a, *b;
    MUST(cudaMallocAsync(&a, kCount * sizeof(int), stream));
    MUST(cudaMallocFromPoolAsync(&b, kCount * sizeof(int), pool, stream));
    fill<<<(kCount + 127) / 128, 128, 0, stream>>>(a, kCount, round);
    MUST(cudaMemcpyAsync(b, a, kCount * sizeof(int), cudaMemcpyDeviceToDevice, stream));
    MUST(cudaMemcpyAsync(result.data(), b, kCount * sizeof(int), cudaMemcpyDeviceToHost, stream));
    MUST(cudaFreeAsync(a, stream));
    MUST(cudaFreeAsync(b, stream));
    MUST(cudaStreamSynchronize(stream));
    for (int i = 0; i < kCount; ++i) good = good && result[i] == round + i;
  }
  MUST(cudaMemPoolDestroy(pool));
  return verdict(good);
}
