// Histogram of N words modulo 256: one histogram per block in shared memory (atomics of compute capability 1.2), added to the
// result with global atomics. The PTX beside this source is written as nvcc 2.3 for a 32-bit host would have written it for
// sm_13 (PTX 1.4).

#define BINS 256

extern "C" __global__ void histogram(unsigned* bins, const unsigned* data, int N) {
  __shared__ unsigned part[BINS];
  part[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * BINS + threadIdx.x; i < N; i += gridDim.x * BINS) atomicAdd(&part[data[i] % BINS], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], part[threadIdx.x]);
}

// histogram<<<BLOCKS, BINS>>>(bins, X, N);
