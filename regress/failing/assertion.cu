// assert() of thread 37 fails.
#include <cassert>

extern "C" __global__ void assertion(unsigned* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  assert(i != 37 && "no place for 37");
  out[i] = i;
}
