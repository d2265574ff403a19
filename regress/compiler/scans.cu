// Prefix sums, compaction and histograms.

__device__ int warp_inclusive(int value) {
  const int lane = threadIdx.x & 31;
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const int below = __shfl_up_sync(0xffffffffu, value, d);
    if (lane >= d) value += below;
  }
  return value;
}

extern "C" __global__ void scan_block(const int* in, int* out, int* totals, int n) {
  __shared__ int warps[32];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int value = i < n ? in[i] : 0;
  int sum = warp_inclusive(value);
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  if (lane == 31) warps[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    const int total = lane < blockDim.x / 32 ? warps[lane] : 0;
    warps[lane] = warp_inclusive(total);
  }
  __syncthreads();
  if (warp > 0) sum += warps[warp - 1];
  if (i < n) out[i] = sum - value;
  if (threadIdx.x == blockDim.x - 1 && totals) totals[blockIdx.x] = sum;
}

extern "C" __global__ void scan_blelloch(float* data, float* sums, int n) {
  __shared__ float tree[1024 + 32];
  const int t = threadIdx.x, base = blockIdx.x * 1024;
  const int a = t, b = t + 512;
  const int pa = a + (a >> 5), pb = b + (b >> 5);
  tree[pa] = base + a < n ? data[base + a] : 0.f;
  tree[pb] = base + b < n ? data[base + b] : 0.f;
  int offset = 1;
  for (int d = 512; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) {
      int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1;
      left += left >> 5;
      right += right >> 5;
      tree[right] += tree[left];
    }
    offset *= 2;
  }
  if (t == 0) {
    sums[blockIdx.x] = tree[1023 + 31];
    tree[1023 + 31] = 0.f;
  }
  for (int d = 1; d < 1024; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1;
      left += left >> 5;
      right += right >> 5;
      const float old = tree[left];
      tree[left] = tree[right];
      tree[right] += old;
    }
  }
  __syncthreads();
  if (base + a < n) data[base + a] = tree[pa];
  if (base + b < n) data[base + b] = tree[pb];
}

extern "C" __global__ void add_block_sums(int4* data, const int* sums, int quads) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= quads) return;
  const int add = sums[blockIdx.x];
  int4 v = data[i];
  v.x += add;
  v.y += add;
  v.z += add;
  v.w += add;
  data[i] = v;
}

enum : unsigned { kNothing = 0, kAggregate = 1u << 30, kPrefix = 2u << 30, kState = 3u << 30 };

__device__ unsigned next_tile;

// One pass over the data: a tile looks back until it finds a complete prefix.
extern "C" __global__ void scan_look_back(const unsigned* in, unsigned* out, volatile unsigned* status,
                                          int n) {
  __shared__ unsigned tile, before, warps[8];
  if (threadIdx.x == 0) tile = atomicAdd(&next_tile, 1u);
  __syncthreads();
  const int i = tile * 256 + threadIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const unsigned value = i < n ? in[i] : 0u;
  unsigned sum = value;
  for (int d = 1; d < 32; d <<= 1) {
    const unsigned x = __shfl_up_sync(~0u, sum, d);
    if (lane >= d) sum += x;
  }
  if (lane == 31) warps[warp] = sum;
  __syncthreads();
  unsigned total = 0, mine = 0;
  for (int w = 0; w < 8; ++w) {
    if (w == warp) mine = total;
    total += warps[w];
  }
  if (threadIdx.x == 0) {
    unsigned prefix = 0;
    if (tile > 0) {
      status[tile] = kAggregate | total;
      __threadfence();
      for (int at = tile - 1;;) {
        const unsigned s = status[at];
        if ((s & kState) == kNothing) continue;
        prefix += s & ~kState;
        if ((s & kState) == kPrefix) break;
        --at;
      }
    }
    status[tile] = kPrefix | (prefix + total);
    __threadfence();
    before = prefix;
  }
  __syncthreads();
  if (i < n) out[i] = before + mine + sum - value;
}

extern "C" __global__ void compact_positive(const float* in, float* out, int* count, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
  const float v = i < n ? in[i] : 0.f;
  const bool keep = v > 0.f;
  const unsigned kept = __ballot_sync(0xffffffffu, keep);
  if (kept == 0) return;
  const int leader = __ffs(kept) - 1;
  int base = 0;
  if (lane == leader) base = atomicAdd(count, __popc(kept));
  base = __shfl_sync(0xffffffffu, base, leader);
  if (keep) out[base + __popc(kept & ((1u << lane) - 1))] = v;
}

extern "C" __global__ void segmented_sum(const float* value, const int* segment, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
  const int mine = i < n ? segment[i] : -1;
  float sum = i < n ? value[i] : 0.f;
  for (int d = 1; d < 32; d <<= 1) {
    const float v = __shfl_up_sync(~0u, sum, d);
    const int s = __shfl_up_sync(~0u, mine, d);
    if (lane >= d && s == mine) sum += v;
  }
  const int next = __shfl_down_sync(~0u, mine, 1);
  if (mine >= 0 && (lane == 31 || next != mine)) atomicAdd(out + mine, sum);
}

extern "C" __global__ void histogram_private(const uchar4* pixels, unsigned* bins, int quads) {
  __shared__ unsigned local[8][256];
  for (int i = threadIdx.x; i < 8 * 256; i += blockDim.x) (&local[0][0])[i] = 0;
  __syncthreads();
  unsigned* mine = local[threadIdx.x >> 5];
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
    const uchar4 p = pixels[i];
    atomicAdd(&mine[p.x], 1u);
    atomicAdd(&mine[p.y], 1u);
    atomicAdd(&mine[p.z], 1u);
    atomicAdd(&mine[p.w], 1u);
  }
  __syncthreads();
  for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) {
    unsigned sum = 0;
#pragma unroll
    for (int w = 0; w < 8; ++w) sum += local[w][bin];
    if (sum) atomicAdd(&bins[bin], sum);
  }
}

// Bins of unequal width: a binary search for each value.
extern "C" __global__ void histogram_edges(const double* in, const double* edges, unsigned long long* counts,
                                           int bins, int n) {
  extern __shared__ double edge[];
  for (int i = threadIdx.x; i <= bins; i += blockDim.x) edge[i] = edges[i];
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const double v = in[i];
    if (!(v >= edge[0] && v < edge[bins])) continue;
    int low = 0, high = bins;
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      if (v < edge[middle])
        high = middle;
      else
        low = middle;
    }
    atomicAdd(&counts[low], 1ull);
  }
}

extern "C" __global__ void cumulative_rows(const unsigned char* image, unsigned* integral, int width,
                                           int height) {
  __shared__ unsigned carry;
  const int row = blockIdx.x;
  if (row >= height) return;
  if (threadIdx.x == 0) carry = 0;
  for (int start = 0; start < width; start += 32) {
    __syncwarp();
    const int x = start + threadIdx.x;
    unsigned sum = x < width ? image[row * width + x] : 0;
    for (int d = 1; d < 32; d <<= 1) {
      const unsigned below = __shfl_up_sync(~0u, sum, d);
      if (threadIdx.x >= d) sum += below;
    }
    sum += carry;
    if (x < width) integral[row * width + x] = sum;
    __syncwarp();
    if (threadIdx.x == 31) carry = sum;
  }
}
