// Reductions: over blocks, warps and the grid; sums, extremes, arguments of extremes, moments, dot products,
// norms.

extern "C" __global__ void sum_interleaved(const int* in, int* out, unsigned n) {
  extern __shared__ int part[];
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  part[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    if (t % (2 * s) == 0) part[t] += part[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = part[0];
}

extern "C" __global__ void sum_sequential(const float* in, float* out, unsigned n) {
  __shared__ float part[256];
  const unsigned t = threadIdx.x;
  unsigned i = blockIdx.x * 512 + t;
  part[t] = (i < n ? in[i] : 0.f) + (i + 256 < n ? in[i + 256] : 0.f);
  __syncthreads();
  for (unsigned s = 128; s > 0; s >>= 1) {
    if (t < s) part[t] += part[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = part[0];
}

template <typename T, unsigned Threads>
__global__ void sum_unrolled(const T* in, T* out, unsigned n) {
  __shared__ T part[Threads];
  const unsigned t = threadIdx.x;
  T sum = 0;
  for (unsigned i = blockIdx.x * Threads * 2 + t; i < n; i += Threads * 2 * gridDim.x) {
    sum += in[i];
    if (i + Threads < n) sum += in[i + Threads];
  }
  part[t] = sum;
  __syncthreads();
  if (Threads >= 512) {
    if (t < 256) part[t] = sum = sum + part[t + 256];
    __syncthreads();
  }
  if (Threads >= 256) {
    if (t < 128) part[t] = sum = sum + part[t + 128];
    __syncthreads();
  }
  if (Threads >= 128) {
    if (t < 64) part[t] = sum = sum + part[t + 64];
    __syncthreads();
  }
  if (t < 32) {
    sum += part[t + 32];
#pragma unroll
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (t == 0) out[blockIdx.x] = sum;
  }
}
template __global__ void sum_unrolled<float, 128>(const float*, float*, unsigned);
template __global__ void sum_unrolled<int, 512>(const int*, int*, unsigned);
template __global__ void sum_unrolled<double, 256>(const double*, double*, unsigned);

__device__ float block_max(float value) {
  __shared__ float warps[32];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  for (int d = 16; d > 0; d >>= 1) value = fmaxf(value, __shfl_xor_sync(~0u, value, d));
  if (lane == 0) warps[warp] = value;
  __syncthreads();
  value = threadIdx.x < (blockDim.x + 31) / 32 ? warps[lane] : -INFINITY;
  if (warp == 0)
    for (int d = 16; d > 0; d >>= 1) value = fmaxf(value, __shfl_xor_sync(~0u, value, d));
  return value;
}

extern "C" __global__ void max_atomic(const float4* in, int* out, int quads) {
  float best = -INFINITY;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
    const float4 v = in[i];
    best = fmaxf(best, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
  }
  best = block_max(best);
  if (threadIdx.x == 0) {
    if (best >= 0.f)
      atomicMax(out, __float_as_int(best));
    else
      atomicMin(reinterpret_cast<unsigned*>(out), __float_as_uint(best));
  }
}

extern "C" __global__ void arg_min(const float* in, float* values, int* places, int n) {
  __shared__ float value[256];
  __shared__ int place[256];
  const int t = threadIdx.x;
  float best = 3.4e38f;
  int where = -1;
  for (int i = blockIdx.x * 256 + t; i < n; i += 256 * gridDim.x) {
    const float v = in[i];
    if (v < best) {
      best = v;
      where = i;
    }
  }
  value[t] = best;
  place[t] = where;
  __syncthreads();
  for (int s = 128; s > 0; s >>= 1) {
    if (t < s) {
      const float other = value[t + s];
      const int other_place = place[t + s];
      if (other < value[t] || (other == value[t] && other_place < place[t])) {
        value[t] = other;
        place[t] = other_place;
      }
    }
    __syncthreads();
  }
  if (t == 0) {
    values[blockIdx.x] = value[0];
    places[blockIdx.x] = place[0];
  }
}

struct Moments {
  float count, mean, m2;
};

__device__ Moments join(Moments a, Moments b) {
  const float count = a.count + b.count;
  if (count == 0.f) return {0.f, 0.f, 0.f};
  const float delta = b.mean - a.mean, share = b.count / count;
  return {count, a.mean + delta * share, a.m2 + b.m2 + delta * delta * a.count * share};
}

extern "C" __global__ void variance(const float* in, Moments* out, int n) {
  Moments mine{0.f, 0.f, 0.f};
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float v = in[i], delta = v - mine.mean;
    mine.count += 1.f;
    mine.mean += delta / mine.count;
    mine.m2 += delta * (v - mine.mean);
  }
  for (int d = 16; d > 0; d >>= 1) {
    Moments other;
    other.count = __shfl_down_sync(~0u, mine.count, d);
    other.mean = __shfl_down_sync(~0u, mine.mean, d);
    other.m2 = __shfl_down_sync(~0u, mine.m2, d);
    mine = join(mine, other);
  }
  if ((threadIdx.x & 31) == 0) out[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = mine;
}

__device__ unsigned blocks_done;

// The block that ends last adds up what the others have left.
extern "C" __global__ void dot_single_pass(const float* x, const float* y, volatile float* partial,
                                           float* result, int n) {
  __shared__ float warp_sum[8];
  __shared__ bool last;
  float sum = 0.f;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) sum += x[i] * y[i];
  for (int round = 0; round < 2; ++round) {
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0) warp_sum[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
      sum = 0.f;
      for (int w = 0; w < 8; ++w) sum += warp_sum[w];
      if (round == 1) {
        *result = sum;
        blocks_done = 0;
        return;
      }
      partial[blockIdx.x] = sum;
      __threadfence();
      last = atomicInc(&blocks_done, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last || round == 1) return;
    sum = 0.f;
    for (int i = threadIdx.x; i < gridDim.x; i += 256) sum += partial[i];
  }
}

// Compensated sum in single precision.
extern "C" __global__ void kahan_sum(const float* in, float2* out, int n, int per_thread) {
  const int start = (blockIdx.x * blockDim.x + threadIdx.x) * per_thread;
  float sum = 0.f, lost = 0.f;
  const int end = min(start + per_thread, n);
#pragma unroll 4
  for (int i = start; i < end; ++i) {
    const float y = __fsub_rn(in[i], lost);
    const float t = __fadd_rn(sum, y);
    lost = __fsub_rn(__fsub_rn(t, sum), y);
    sum = t;
  }
  if (start < n) out[blockIdx.x * blockDim.x + threadIdx.x] = make_float2(sum, lost);
}
