// Inclusive prefix sums of N words by M blocks, M a power of two up to 1024: each block adds up its piece of N / M words, one
// block turns the M sums into what precedes each piece (up-sweep and down-sweep, log2 M steps each), and each block scans
// its piece tile by tile from there. reduce_down.ptx is what nvcc 13 makes of this: nvcc -ptx -arch=compute_75

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

__device__ unsigned warp_scan(unsigned x) {
  const int lane = threadIdx.x & 31;
  for (int d = 1; d < 32; d *= 2) {
    const unsigned left = __shfl_up_sync(~0u, x, d);
    if (lane >= d) x += left;
  }
  return x;
}

extern "C" __global__ void reduce(unsigned* sums, const unsigned* in, int N, int piece) {
  __shared__ unsigned part[kWarps];
  const int first = blockIdx.x * piece, end = min(first + piece, N);
  unsigned sum = 0;
  for (int i = first + threadIdx.x; i < end; i += kThreads) sum += in[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int w = 1; w < kWarps; ++w) sum += part[w];
  sums[blockIdx.x] = sum;
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

extern "C" __global__ void scan_pieces(unsigned* out, const unsigned* before, const unsigned* in, int N, int piece) {
  __shared__ unsigned part[kWarps];
  const int tid = threadIdx.x, first = blockIdx.x * piece, end = min(first + piece, N);
  unsigned carry = before[blockIdx.x];
  for (int tile = first; tile < end; tile += kThreads) {
    const int i = tile + tid;
    unsigned x = warp_scan(i < end ? in[i] : 0);
    if (tid % 32 == 31) part[tid / 32] = x;
    __syncthreads();
    unsigned all = 0;
    for (int w = 0; w < kWarps; ++w) {
      if (w < tid / 32) x += part[w];
      all += part[w];
    }
    if (i < end) out[i] = carry + x;
    carry += all;
    __syncthreads();
  }
}
