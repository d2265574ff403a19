// Steps of the 3n+1 sequence until it reaches 1: neighbouring threads need very different numbers of steps and take both sides
// of the inner branch. The PTX beside this source is written as nvcc 2.3 for a 32-bit host would have written it for sm_13
// (PTX 1.4), with the inner branch kept.

extern "C" __global__ void collatz(unsigned* steps, const unsigned* start, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  unsigned n = start[i], count = 0;
  while (n > 1) {
    if (n & 1)
      n = 3 * n + 1;
    else
      n >>= 1;
    ++count;
  }
  steps[i] = count;
}
