// Sum of N floats: every block sums its strided share into one partial sum (tree in shared memory), a second launch of one
// block sums the partial sums. The PTX beside this source is written as nvcc 2.3 for a 32-bit host would have written it for
// sm_13 (PTX 1.4), the tree loop not unrolled.

#define THREADS 256

extern "C" __global__ void reduce(float* out, const float* in, int N) {
  __shared__ float part[THREADS];
  const int tid = threadIdx.x;
  float sum = 0;
  for (int i = blockIdx.x * THREADS + tid; i < N; i += gridDim.x * THREADS) sum += in[i];
  part[tid] = sum;
  __syncthreads();
  for (int s = THREADS / 2; s > 0; s >>= 1) {
    if (tid < s) part[tid] += part[tid + s];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = part[0];
}

// reduce<<<BLOCKS, THREADS>>>(partial, X, N);
// reduce<<<1, THREADS>>>(sum, partial, BLOCKS);
