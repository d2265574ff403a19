// Inclusive prefix sums of integers in tiles of 512, as timed on an H100 (yencal/gpu-scan-optimization). The
// same: blocks of 512, an element a thread; tiles_shared: doubling offsets between two buffers in shared
// memory with a barrier a step; tiles_warps: shuffles, then the first warp scans the warps' sums; add_tiles:
// what comes before a tile is added to it; chained: tiles taken by an atomic counter, each waiting for the
// sum up to its predecessor; look_back, look_back_warp: each publishes its own sum at once and adds up those
// of its predecessors until one knows its whole prefix, by one thread, or 32 tiles at a time by a warp.
constexpr int kThreads = 512;
constexpr int kWarp = 32;
constexpr unsigned kAll = 0xffffffff;

extern "C" __global__ void tiles_shared(const int* __restrict__ from, int* __restrict__ to, int n,
                                        int* sums) {
  __shared__ int part[2][kThreads];
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  const int me = threadIdx.x;
  int now = 0;
  part[now][me] = at < n ? from[at] : 0;
  __syncthreads();
  for (int step = 1; step < kThreads; step *= 2) {
    now = 1 - now;
    const int before = 1 - now;
    if (me >= step) {
      part[now][me] = part[before][me - step] + part[before][me];
    } else {
      part[now][me] = part[before][me];
    }
    __syncthreads();
  }
  if (at < n) to[at] = part[now][me];
  if (me == kThreads - 1 && sums != nullptr) sums[blockIdx.x] = part[now][me];
}

__device__ __forceinline__ int warp_scan(int value) {
  const int lane = threadIdx.x % kWarp;
#pragma unroll
  for (int step = 1; step < kWarp; step *= 2) {
    const int below = __shfl_up_sync(kAll, value, step);
    if (lane >= step) value += below;
  }
  return value;
}

__device__ __forceinline__ int block_scan(int value) {
  constexpr int kWarps = kThreads / kWarp;
  __shared__ int totals[kWarps];
  const int warp = threadIdx.x / kWarp;
  const int lane = threadIdx.x % kWarp;
  const int mine = warp_scan(value);
  if (lane == kWarp - 1) totals[warp] = mine;
  __syncthreads();
  if (warp == 0) {
    const int total = warp_scan(lane < kWarps ? totals[lane] : 0);
    if (lane < kWarps) totals[lane] = total;
  }
  __syncthreads();
  return mine + (warp > 0 ? totals[warp - 1] : 0);
}

extern "C" __global__ void tiles_warps(const int* __restrict__ from, int* __restrict__ to, int n, int* sums) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  const int value = block_scan(at < n ? from[at] : 0);
  if (at < n) to[at] = value;
  if (threadIdx.x == kThreads - 1 && sums != nullptr) sums[blockIdx.x] = value;
}

extern "C" __global__ void add_tiles(int* to, int n, const int* prefixes) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (blockIdx.x > 0 && at < n) to[at] += prefixes[blockIdx.x - 1];
}

/// Tile of this block, in the order in which blocks begin.
__device__ __forceinline__ int take_tile(int* counter) {
  __shared__ int tile;
  if (threadIdx.x == 0) tile = atomicAdd(counter, 1);
  __syncthreads();
  return tile;
}

extern "C" __global__ void chained(const int* __restrict__ from, int* __restrict__ to, int n, int* prefixes,
                                   int* ready, int* counter) {
  __shared__ int before;
  const int tile = take_tile(counter);
  const int at = tile * kThreads + threadIdx.x;
  const int value = block_scan(at < n ? from[at] : 0);
  if (threadIdx.x == kThreads - 1) {
    int prefix = 0;
    if (tile > 0) {
      while (atomicAdd(&ready[tile - 1], 0) == 0) {
      }
      prefix = prefixes[tile - 1];
    }
    before = prefix;
    prefixes[tile] = prefix + value;
    __threadfence();
    atomicExch(&ready[tile], 1);
  }
  __syncthreads();
  if (at < n) to[at] = before + value;
}

// What a tile publishes: its sum in the lower word, what that is in the upper one.
using Word = unsigned long long;
constexpr unsigned kOwnSum = 1;
constexpr unsigned kPrefix = 2;

__device__ __forceinline__ void publish(Word* state, unsigned kind, int sum) {
  atomicExch(state, static_cast<Word>(kind) << 32 | static_cast<unsigned>(sum));
  __threadfence();
}

__device__ __forceinline__ Word wait_for(Word* state) {
  Word word;
  do {
    word = atomicAdd(state, 0ull);
  } while (word >> 32 == 0);
  return word;
}

/// Scan of the block, whose sum is left in `total`.
__device__ __forceinline__ int scan_of_tile(const int* from, int at, int n, int* total) {
  const int value = block_scan(at < n ? from[at] : 0);
  if (threadIdx.x == kThreads - 1) *total = value;
  __syncthreads();
  return value;
}

extern "C" __global__ void look_back(const int* __restrict__ from, int* __restrict__ to, int n, Word* states,
                                     int* counter) {
  __shared__ int total;
  __shared__ int before;
  const int tile = take_tile(counter);
  const int at = tile * kThreads + threadIdx.x;
  const int value = scan_of_tile(from, at, n, &total);
  if (threadIdx.x == 0) {
    publish(&states[tile], tile == 0 ? kPrefix : kOwnSum, total);
    int prefix = 0;
    for (int i = tile - 1; i >= 0; --i) {
      const Word word = wait_for(&states[i]);
      prefix += static_cast<int>(word);
      if (word >> 32 == kPrefix) break;
    }
    before = prefix;
    if (tile > 0) publish(&states[tile], kPrefix, prefix + total);
  }
  __syncthreads();
  if (at < n) to[at] = before + value;
}

/// Sum of all tiles before `tile`, in each lane.
__device__ __forceinline__ int prefix_by_warp(Word* states, int tile) {
  const int lane = threadIdx.x % kWarp;
  int prefix = 0;
  for (int nearest = tile - 1;; nearest -= kWarp) {
    const int i = nearest - lane;
    const Word word = i >= 0 ? wait_for(&states[i]) : static_cast<Word>(kPrefix) << 32;
    const unsigned known = __ballot_sync(kAll, word >> 32 == kPrefix);
    const int last = __ffs(known) - 1;
    int sum = last < 0 || lane <= last ? static_cast<int>(word) : 0;
#pragma unroll
    for (int step = kWarp / 2; step > 0; step /= 2) sum += __shfl_xor_sync(kAll, sum, step);
    prefix += sum;
    if (last >= 0) return prefix;
  }
}

extern "C" __global__ void look_back_warp(const int* __restrict__ from, int* __restrict__ to, int n,
                                          Word* states, int* counter) {
  __shared__ int total;
  __shared__ int before;
  const int tile = take_tile(counter);
  const int at = tile * kThreads + threadIdx.x;
  const int value = scan_of_tile(from, at, n, &total);
  if (threadIdx.x < kWarp) {
    if (threadIdx.x == 0) publish(&states[tile], tile == 0 ? kPrefix : kOwnSum, total);
    __syncwarp();
    const int prefix = tile == 0 ? 0 : prefix_by_warp(states, tile);
    if (threadIdx.x == 0) {
      before = prefix;
      if (tile > 0) publish(&states[tile], kPrefix, prefix + total);
    }
  }
  __syncthreads();
  if (at < n) to[at] = before + value;
}
