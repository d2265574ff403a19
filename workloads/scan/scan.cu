// Exclusive prefix sums of N words in three launches: Blelloch's work-efficient scan of 512 words per block, a scan of the block
// sums by one block (Hillis and Steele, carrying on from tile to tile), and the addition of what precedes each block. The PTX
// beside this source is written as nvcc 2.3 for a 32-bit host would have written it for sm_13 (PTX 1.4).

#define THREADS 256

extern "C" __global__ void scan_blocks(unsigned* out, unsigned* sums, const unsigned* in, int N) {
  __shared__ unsigned tile[2 * THREADS];
  const int tid = threadIdx.x, first = blockIdx.x * 2 * THREADS;
  tile[tid] = first + tid < N ? in[first + tid] : 0;
  tile[tid + THREADS] = first + tid + THREADS < N ? in[first + tid + THREADS] : 0;
  int offset = 1;
  for (int d = THREADS; d > 0; d >>= 1) {
    __syncthreads();
    if (tid < d) tile[__mul24(offset, 2 * tid + 2) - 1] += tile[__mul24(offset, 2 * tid + 1) - 1];
    offset <<= 1;
  }
  if (tid == 0) {
    sums[blockIdx.x] = tile[2 * THREADS - 1];
    tile[2 * THREADS - 1] = 0;
  }
  for (int d = 1; d <= THREADS; d <<= 1) {
    offset >>= 1;
    __syncthreads();
    if (tid < d) {
      unsigned& a = tile[__mul24(offset, 2 * tid + 1) - 1];
      unsigned& b = tile[__mul24(offset, 2 * tid + 2) - 1];
      const unsigned left = a;
      a = b;
      b += left;
    }
  }
  __syncthreads();
  if (first + tid < N) out[first + tid] = tile[tid];
  if (first + tid + THREADS < N) out[first + tid + THREADS] = tile[tid + THREADS];
}

extern "C" __global__ void scan_sums(unsigned* before, const unsigned* sums, int blocks) {
  __shared__ unsigned tile[2][THREADS];
  const int tid = threadIdx.x;
  unsigned carry = 0;
  for (int first = 0; first < blocks; first += THREADS) {
    const int i = first + tid;
    const unsigned own = i < blocks ? sums[i] : 0;
    int now = 0;
    tile[0][tid] = own;
    __syncthreads();
    for (int d = 1; d < THREADS; d <<= 1) {
      tile[1 - now][tid] = tile[now][tid] + (tid >= d ? tile[now][tid - d] : 0);
      now = 1 - now;
      __syncthreads();
    }
    if (i < blocks) before[i] = carry + tile[now][tid] - own;
    carry += tile[now][THREADS - 1];
    __syncthreads();
  }
}

extern "C" __global__ void add_before(unsigned* out, const unsigned* before, int N) {
  const int i = blockIdx.x * 2 * THREADS + threadIdx.x;
  const unsigned add = before[blockIdx.x];
  if (i < N) out[i] += add;
  if (i + THREADS < N) out[i + THREADS] += add;
}

// scan_blocks<<<blocks, THREADS>>>(out, sums, X, N);
// scan_sums<<<1, THREADS>>>(before, sums, blocks);
// add_before<<<blocks, THREADS>>>(out, before, N);
