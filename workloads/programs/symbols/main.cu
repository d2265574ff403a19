// Device and constant variables by their symbols, in two files that know nothing of each other.
#include "../common/check.h"

int other_value();

static __device__ int counter = 5;
__constant__ int weights[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__device__ int sums[2];

__global__ void weigh() {
  int sum = 0;
  for (int w : weights) sum += w;
  sums[threadIdx.x] = sum * counter;
}

int main() {
  weigh<<<1, 1>>>();
  const int changed[4] = {10, 20, 30, 40}, three = 3;
  MUST(cudaMemcpyToSymbol(weights, changed, sizeof changed, 4 * sizeof(int)));
  MUST(cudaMemcpyToSymbol(counter, &three, sizeof three));
  int* address;
  size_t bytes = 0;
  MUST(cudaGetSymbolAddress(reinterpret_cast<void**>(&address), sums));
  MUST(cudaGetSymbolSize(&bytes, sums));
  int first = 0;
  MUST(cudaMemcpy(&first, address, sizeof first, cudaMemcpyDeviceToHost));
  weigh<<<1, 2>>>();
  int both[2];
  MUST(cudaMemcpyFromSymbol(both, sums, sizeof both));
  return verdict(bytes == 8 && first == 180 && both[0] == 330 && both[1] == 330 && other_value() == 1001);
}
