// printf() in a kernel, in the order of the launches.
#include "../common/check.h"

__global__ void hello(int number) {
  if (threadIdx.x % 2 == 0) printf("launch %d, thread %2u of %s: %.3f %c %llx\n", number, threadIdx.x, "block", 1.5 * threadIdx.x, 'a' + threadIdx.x, 0xfedcba9876ull);
}

int main() {
  hello<<<1, 4>>>(1);
  hello<<<1, 2>>>(2);
  MUST(cudaDeviceSynchronize());
  return verdict(true);
}
