// Ways to load and store, bounds of launches, parameters by value, templates over types and sizes.

struct Settings {
  float gain[8];
  int shift, mask;
  unsigned long long seed;
  bool clamp;
};

extern "C" __global__ void by_value(Settings s, const int* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int v = in[i] >> s.shift & s.mask;
  float f = v * s.gain[i & 7] + (float)(s.seed >> 40);
  if (s.clamp) f = fminf(fmaxf(f, 0.f), 1.f);
  out[i] = f;
}

extern "C" __global__ void cached_loads(const float4* a, const float* b, float4* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 v = __ldcs(&a[i]);
  const float s = __ldg(&b[i & 255]), t = __ldcg(&b[(i + 7) & 255]);
  v.x = v.x * s + t;
  v.y = v.y * s - t;
  v.z = v.z * t + s;
  v.w = v.w * t - s;
  __stcs(&out[i], v);
}

extern "C" __global__ void __launch_bounds__(1024, 2)
    bounded_registers(const float* in, float* out, int n, float c0, float c1) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v[36];
#pragma unroll
  for (int k = 0; k < 36; ++k) v[k] = in[i + k * n];
#pragma unroll
  for (int round = 0; round < 3; ++round)
#pragma unroll
    for (int k = 0; k < 36; ++k) v[k] = v[k] * c0 + v[(k + 7) % 36] * c1;
#pragma unroll
  for (int k = 0; k < 36; ++k) out[i + k * n] = v[k];
}

template <typename T>
__global__ void interpolate(const T* table, const T* x, T* out, int n, int size, T low, T inverse_step) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const T at = (x[i] - low) * inverse_step;
  int k = (int)at;
  k = k < 0 ? 0 : k > size - 2 ? size - 2 : k;
  const T f = at - k;
  out[i] = table[k] + f * (table[k + 1] - table[k]);
}
template __global__ void interpolate<float>(const float*, const float*, float*, int, int, float, float);
template __global__ void interpolate<double>(const double*, const double*, double*, int, int, double, double);

template <typename T, typename U>
__global__ void converted(const T* in, U* out, float scale, float offset, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    out[i] = (U)(in[i] * scale + offset);
}
template __global__ void converted<unsigned char, float>(const unsigned char*, float*, float, float, int);
template __global__ void converted<short, double>(const short*, double*, float, float, int);
template __global__ void converted<float, short>(const float*, short*, float, float, int);
template __global__ void converted<long long, unsigned>(const long long*, unsigned*, float, float, int);

extern "C" __global__ void volatile_flags(volatile int* flags, const int* data, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if ((i & 31) == 0) {
    flags[i >> 5] = data[i];
    __threadfence_block();
  }
  int seen = flags[i >> 5];
  seen += flags[(i >> 5) ^ 1];
  out[i] = seen;
}

extern "C" __global__ void database_filter(const int* date, const float* price, const float* discount,
                                           const unsigned char* quantity, double* revenue, int n, int first,
                                           int last, float least, float most) {
  __shared__ double sums[32];
  double mine = 0;
  const int stride = gridDim.x * blockDim.x;
#pragma unroll 4
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
    if (date[i] >= first && date[i] < last && discount[i] >= least && discount[i] <= most && quantity[i] < 24)
      mine += price[i] * discount[i];
  for (int d = 16; d > 0; d >>= 1) mine += __shfl_down_sync(~0u, mine, d);
  if ((threadIdx.x & 31) == 0) sums[threadIdx.x >> 5] = mine;
  __syncthreads();
  if (threadIdx.x < 32) {
    mine = threadIdx.x < blockDim.x >> 5 ? sums[threadIdx.x] : 0.0;
    for (int d = 16; d > 0; d >>= 1) mine += __shfl_down_sync(~0u, mine, d);
    if (threadIdx.x == 0) atomicAdd(revenue, mine);
  }
}
