#include <cuda_runtime.h>

// A variable of the same name as in the other file, and its own.
static __device__ int counter = 1000;
__global__ void bump_other() { counter += 1; }
int other_value() {
  bump_other<<<1, 1>>>();
  int value = 0;
  cudaMemcpyFromSymbol(&value, counter, sizeof value);
  return value;
}
