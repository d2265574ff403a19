// Sorts and searches: bitonic, odd-even, radix, merge, rank, selection.

__device__ void exchange(unsigned& a, unsigned& b, bool up) {
  if ((a > b) == up) {
    const unsigned t = a;
    a = b;
    b = t;
  }
}

extern "C" __global__ void __launch_bounds__(512) bitonic_shared(unsigned* keys, unsigned* values, int n) {
  __shared__ unsigned k[1024], v[1024];
  const int base = blockIdx.x * 1024;
  for (int i = threadIdx.x; i < 1024; i += 512) {
    k[i] = base + i < n ? keys[base + i] : ~0u;
    v[i] = base + i < n ? values[base + i] : 0u;
  }
  for (int size = 2; size <= 1024; size <<= 1)
    for (int stride = size / 2; stride > 0; stride >>= 1) {
      __syncthreads();
      const int at = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
      const bool up = (at & size) == 0;
      const unsigned a = k[at], b = k[at + stride];
      if ((a > b) == up) {
        k[at] = b;
        k[at + stride] = a;
        const unsigned x = v[at];
        v[at] = v[at + stride];
        v[at + stride] = x;
      }
    }
  __syncthreads();
  for (int i = threadIdx.x; i < 1024; i += 512)
    if (base + i < n) {
      keys[base + i] = k[i];
      values[base + i] = v[i];
    }
}

extern "C" __global__ void bitonic_global(float* data, unsigned stride, unsigned size) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, j = i ^ stride;
  if (j <= i) return;
  const float a = data[i], b = data[j];
  if ((i & size) == 0 ? a > b : a < b) {
    data[i] = b;
    data[j] = a;
  }
}

extern "C" __global__ void bitonic_warp(unsigned* keys, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
  unsigned key = i < n ? keys[i] : 0xffffffffu;
#pragma unroll
  for (int size = 2; size <= 32; size <<= 1)
#pragma unroll
    for (int stride = size >> 1; stride > 0; stride >>= 1) {
      const unsigned other = __shfl_xor_sync(0xffffffffu, key, stride);
      const bool smaller = ((lane & stride) == 0) == ((lane & size) == 0 || size == 32);
      key = smaller ? min(key, other) : max(key, other);
    }
  if (i < n) keys[i] = key;
}

// Eight keys a thread in registers.
extern "C" __global__ void network_8(unsigned* keys, int groups) {
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g >= groups) return;
  unsigned k[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) k[i] = keys[g + i * groups];
#pragma unroll
  for (int round = 0; round < 8; ++round)
#pragma unroll
    for (int i = round & 1; i + 1 < 8; i += 2) exchange(k[i], k[i + 1], true);
#pragma unroll
  for (int i = 0; i < 8; ++i) keys[g + i * groups] = k[i];
}

template <int Bits>
__global__ void radix_count(const unsigned* keys, unsigned* counts, int n, int shift) {
  constexpr int kDigits = 1 << Bits;
  __shared__ unsigned count[kDigits];
  for (int d = threadIdx.x; d < kDigits; d += blockDim.x) count[d] = 0;
  __syncthreads();
  const int per_block = (n + gridDim.x - 1) / gridDim.x, start = blockIdx.x * per_block,
            end = min(start + per_block, n);
  for (int i = start + threadIdx.x; i < end; i += blockDim.x)
    atomicAdd(&count[keys[i] >> shift & (kDigits - 1)], 1u);
  __syncthreads();
  for (int d = threadIdx.x; d < kDigits; d += blockDim.x) counts[d * gridDim.x + blockIdx.x] = count[d];
}
template __global__ void radix_count<4>(const unsigned*, unsigned*, int, int);
template __global__ void radix_count<8>(const unsigned*, unsigned*, int, int);

// Stable scatter by four bits: the lanes with the same digit find each other.
extern "C" __global__ void radix_scatter(const unsigned* keys, unsigned* out, const unsigned* offsets, int n,
                                         int shift) {
  __shared__ unsigned place[16];
  const int lane = threadIdx.x;
  if (lane < 16) place[lane] = offsets[lane * gridDim.x + blockIdx.x];
  __syncwarp();
  const int per_block = (n + gridDim.x - 1) / gridDim.x;
  const int end = min((blockIdx.x + 1) * per_block, (unsigned)n);
  for (int start = blockIdx.x * per_block; start < end; start += 32) {
    const int i = start + lane;
    const bool in = i < end;
    const unsigned key = in ? keys[i] : 0, digit = in ? key >> shift & 15 : 16;
    unsigned same = 0xffffffffu;
#pragma unroll
    for (int bit = 0; bit < 5; ++bit) {
      const unsigned with = __ballot_sync(0xffffffffu, digit >> bit & 1);
      same &= digit >> bit & 1 ? with : ~with;
    }
    const int rank = __popc(same & ((1u << lane) - 1));
    unsigned base = 0;
    if (in) base = place[digit];
    __syncwarp();
    if (in && rank == 0) place[digit] = base + __popc(same);
    __syncwarp();
    if (in) out[base + rank] = key;
  }
}

// Merge path: each thread finds its cut through both lists and merges its share.
extern "C" __global__ void merge_path(const int* a, int na, const int* b, int nb, int* out, int share) {
  const int diagonal = (blockIdx.x * blockDim.x + threadIdx.x) * share;
  if (diagonal >= na + nb) return;
  int low = max(0, diagonal - nb), high = min(diagonal, na);
  while (low < high) {
    const int middle = (low + high) >> 1;
    if (a[middle] <= b[diagonal - 1 - middle])
      low = middle + 1;
    else
      high = middle;
  }
  int i = low, j = diagonal - low;
  const int end = min(diagonal + share, na + nb);
  for (int k = diagonal; k < end; ++k) {
    const bool take_a = j >= nb || (i < na && a[i] <= b[j]);
    out[k] = take_a ? a[i++] : b[j++];
  }
}

extern "C" __global__ void lower_bound(const long long* sorted, const long long* wanted, int* place, int n,
                                       int queries) {
  const int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q >= queries) return;
  const long long key = wanted[q];
  int low = 0, count = n;
  while (count > 0) {
    const int half = count >> 1;
    if (sorted[low + half] < key) {
      low += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  place[q] = low;
}

extern "C" __global__ void top_4(const float* scores, int* best, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float value[4] = {-1e30f, -1e30f, -1e30f, -1e30f};
  int index[4] = {-1, -1, -1, -1};
  for (int c = 0; c < columns; ++c) {
    float v = scores[c * rows + row];
    if (v <= value[3]) continue;
    int id = c;
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (v > value[k]) {
        const float old = value[k];
        const int old_id = index[k];
        value[k] = v;
        index[k] = id;
        v = old;
        id = old_id;
      }
  }
  reinterpret_cast<int4*>(best)[row] = make_int4(index[0], index[1], index[2], index[3]);
}
