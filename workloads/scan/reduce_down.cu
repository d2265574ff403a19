// Inclusive prefix sums of N words by M blocks, M a power of two up to 1024: each block adds up its piece of
// N / M words, one block turns the M sums into what precedes each piece (up-sweep and down-sweep, log2 M
// steps each), and each block scans its piece tile by tile from there. reduce_down.ptx is what nvcc 13 makes
// of this: nvcc -ptx -arch=compute_75; reduce_down_sm13.ptx is written as nvcc 2.3 for a 32-bit host would
// have written it for sm_13 (PTX 1.4), and runs with the same launch file.

constexpr int kThreads = 256;

extern "C" __global__ void reduce(unsigned* sums, const unsigned* in, int N, int piece) {
  __shared__ unsigned part[kThreads];
  const int tid = threadIdx.x, first = blockIdx.x * piece, end = min(first + piece, N);
  unsigned sum = 0;
  for (int i = first + tid; i < end; i += kThreads) sum += in[i];
  part[tid] = sum;
  for (int d = kThreads / 2; d > 0; d /= 2) {
    __syncthreads();
    if (tid < d) part[tid] += part[tid + d];
  }
  if (tid == 0) sums[blockIdx.x] = part[0];
}

// One block of M / 2 threads (one if M is 1); M words of dynamic shared memory.
extern "C" __global__ void sweep(unsigned* sums, int M) {
  extern __shared__ unsigned tree[];
  const int tid = threadIdx.x;
  for (int i = tid; i < M; i += blockDim.x) tree[i] = sums[i];
  for (int step = 1; step < M; step *= 2) {
    __syncthreads();
    const int right = (tid + 1) * 2 * step - 1;
    if (right < M) tree[right] += tree[right - step];
  }
  __syncthreads();
  if (tid == 0) tree[M - 1] = 0;
  for (int step = M / 2; step > 0; step /= 2) {
    __syncthreads();
    const int right = (tid + 1) * 2 * step - 1;
    if (right < M) {
      const unsigned left = tree[right - step];
      tree[right - step] = tree[right];
      tree[right] += left;
    }
  }
  __syncthreads();
  for (int i = tid; i < M; i += blockDim.x) sums[i] = tree[i];
}

extern "C" __global__ void scan_pieces(unsigned* out, const unsigned* before, const unsigned* in, int N,
                                       int piece) {
  __shared__ unsigned part[2][kThreads];
  const int tid = threadIdx.x, first = blockIdx.x * piece, end = min(first + piece, N);
  unsigned carry = before[blockIdx.x];
  for (int tile = first; tile < end; tile += kThreads) {
    const int i = tile + tid;
    int now = 0;
    part[0][tid] = i < end ? in[i] : 0;
    __syncthreads();
    for (int d = 1; d < kThreads; d *= 2) {
      part[1 - now][tid] = part[now][tid] + (tid >= d ? part[now][tid - d] : 0);
      now = 1 - now;
      __syncthreads();
    }
    if (i < end) out[i] = carry + part[now][tid];
    carry += part[now][kThreads - 1];
    __syncthreads();
  }
}
