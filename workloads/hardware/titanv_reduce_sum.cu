// Sums of pieces of 512 elements: reduce_sum of the kernels timed on a TITAN V (Debdeep23/test1). The same:
// blocks of 256 threads with 1 KB of dynamic shared memory, two elements a thread, then halving steps of a
// plain loop with a barrier after each, down to one thread (no warp-level last steps).
extern "C" __global__ void sum_pieces(const float* __restrict__ values, float* __restrict__ sums, int count) {
  extern __shared__ float part[];
  const int me = threadIdx.x;
  const int at = 2 * blockDim.x * blockIdx.x + me;
  float sum = 0;
  if (at < count) sum += values[at];
  if (at + blockDim.x < count) sum += values[at + blockDim.x];
  part[me] = sum;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (me < half) part[me] += part[me + half];
    __syncthreads();
  }
  if (me == 0) sums[blockIdx.x] = part[0];
}
