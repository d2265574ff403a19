// Warps and blocks working together: votes, matches, shuffles, barriers, flags between blocks.

extern "C" __global__ void vote_threshold(const float* in, unsigned* masks, int* any_count, float limit,
                                          int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool over = i < n && in[i] > limit;
  const unsigned mask = __ballot_sync(~0u, over);
  if ((threadIdx.x & 31) == 0) masks[i >> 5] = mask;
  const int all = __all_sync(~0u, over), count = __syncthreads_count(over);
  if (threadIdx.x == 0 && count > 0) atomicAdd(any_count, count + (all ? 1 << 20 : 0));
}

// Lanes with the same key add up before one of them goes to memory.
extern "C" __global__ void match_aggregate(const int* keys, const int* values, int* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
  const unsigned active = __ballot_sync(~0u, i < n);
  if (i >= n) return;
  const int key = keys[i], value = values[i];
  const unsigned peers = __match_any_sync(active, key);
  int sum = 0;
  for (unsigned rest = peers; rest != 0; rest &= rest - 1) sum += __shfl_sync(peers, value, __ffs(rest) - 1);
  if (lane == __ffs(peers) - 1) atomicAdd(&sums[key], sum);
}

extern "C" __global__ void warp_transpose_8(const float4* in, float4* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
  float4 v = i < n ? in[i] : make_float4(0.f, 0.f, 0.f, 0.f);
  const bool odd = lane & 1, high = lane & 2;
  float a = __shfl_xor_sync(~0u, odd ? v.x : v.y, 1), b = __shfl_xor_sync(~0u, odd ? v.z : v.w, 1);
  if (odd)
    v.x = a, v.z = b;
  else
    v.y = a, v.w = b;
  a = __shfl_xor_sync(~0u, high ? v.x : v.z, 2);
  b = __shfl_xor_sync(~0u, high ? v.y : v.w, 2);
  if (high)
    v.x = a, v.y = b;
  else
    v.z = a, v.w = b;
  if (i < n) out[i] = v;
}

__device__ volatile unsigned arrived;

// All blocks of the grid wait for each other between rounds.
extern "C" __global__ void grid_rounds(float* a, float* b, int n, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int r = 0; r < rounds; ++r) {
    const float* from = r & 1 ? b : a;
    float* to = r & 1 ? a : b;
    if (i > 0 && i < n - 1) to[i] = 0.25f * from[i - 1] + 0.5f * from[i] + 0.25f * from[i + 1];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
      atomicAdd((unsigned*)&arrived, 1u);
      while (arrived < gridDim.x * (r + 1)) {
      }
    }
    __syncthreads();
  }
}

extern "C" __global__ void lock_per_bin(const int* keys, const float4* values, int* locks, float4* bins,
                                        int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int key = keys[i];
  const float4 v = values[i];
  bool done = false;
  while (!done) {
    if (atomicExch(&locks[key], 1) == 0) {
      volatile float4* bin = reinterpret_cast<volatile float4*>(&bins[key]);
      bin->x = bin->x + v.x;
      bin->y = bin->y + v.y;
      bin->z = fmaxf(bin->z, v.z);
      bin->w = fminf(bin->w, v.w);
      __threadfence();
      atomicExch(&locks[key], 0);
      done = true;
    }
  }
}

extern "C" __global__ void producer_consumer(const float* in, float* out, int n) {
  __shared__ float buffer[2][128];
  const bool producer = threadIdx.x < 128;
  const int lane = threadIdx.x & 127, tiles = (n + 127) / 128;
  int which = 0;
  for (int t = blockIdx.x; t < tiles + gridDim.x; t += gridDim.x) {
    if (producer) {
      const int i = t * 128 + lane;
      if (t < tiles) buffer[which][lane] = i < n ? in[i] : 0.f;
    } else if (t != blockIdx.x) {
      const int last = t - gridDim.x, i = last * 128 + lane;
      const float left = lane > 0 ? buffer[which ^ 1][lane - 1] : 0.f, here = buffer[which ^ 1][lane];
      if (i < n) out[i] = here - left;
    }
    which ^= 1;
    __syncthreads();
  }
}

extern "C" __global__ void atomic_float_min_double_add(const float* in, const double* weights, float* lowest,
                                                       double* sum, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float v = in[i];
  unsigned old = __float_as_uint(*lowest), assumed;
  do {
    assumed = old;
    if (__uint_as_float(assumed) <= v) break;
    old = atomicCAS(reinterpret_cast<unsigned*>(lowest), assumed, __float_as_uint(v));
  } while (old != assumed);
  unsigned long long* address = reinterpret_cast<unsigned long long*>(sum);
  unsigned long long now = *address, seen;
  do {
    seen = now;
    now = atomicCAS(address, seen, __double_as_longlong(__longlong_as_double(seen) + weights[i] * v));
  } while (seen != now);
}
