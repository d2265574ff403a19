// Running sums of an array in three launches: SHOC's Scan (vetter/shoc). The same: 64 blocks of 256 threads,
// each with a stretch of the array. sums_of_stretches adds up a stretch, scan_sums takes the 64 sums' running
// sums in one block, and scan_stretches goes through a stretch four elements a thread at a time: running sums
// of the four in registers, of the threads' totals in shared memory (steps of 1, 2, 4, ... 128 with two
// barriers each, a zero for every thread before them), and what came before from the thread with the last
// element. For compute capability 1.3 the suite keeps the doubles of the first kernel in shared memory as
// floats, hence sums_of_stretches_f64_in_f32.
//
// Until June 2012 the suite's blocks took their running sums in another way (its first public revision has it):
// a word is left free behind each eighth, the first warp adds up eight totals a lane and takes the running sums
// of these, without barriers, and all threads add what stands before their eight. These are the kernels
// with `raked` in their names.
template <typename T>
struct alignas(16) Four {
  T x, y, z, w;
};

template <typename T>
__device__ T sum_before(T value, volatile T* shared) {
  shared[threadIdx.x] = 0;
  const unsigned i = threadIdx.x + 256;
  shared[i] = value;
  __syncthreads();
#pragma unroll
  for (unsigned step = 1; step < 256; step *= 2) {
    const T other = shared[i - step];
    __syncthreads();
    shared[i] += other;
    __syncthreads();
  }
  return shared[i - 1];
}

// Of 256 threads, in 512 words: the totals with a free word behind each eighth from word 0 on, the running sums
// of the eights in the last 32 words, below which there must be zeros.
template <typename T>
__device__ T raked_sum_before(T value, volatile T* shared) {
  const unsigned t = threadIdx.x;
  const unsigned place = t + t / 8;
  shared[t + 256] = 0;
  __syncthreads();
  shared[place] = value;
  __syncthreads();
  if (t < 32) {
    T sum = 0;
#pragma unroll
    for (unsigned k = 1; k < 8; ++k) {
      sum = shared[9 * t + k] + shared[9 * t + k - 1];
      shared[9 * t + k] = sum;
    }
    const unsigned i = 480 + t;
    shared[i] = sum;
#pragma unroll
    for (unsigned step = 1; step < 32; step *= 2) {
      const T other = shared[i - step];
      shared[i] += other;
    }
  }
  __syncthreads();
  shared[place] += shared[480 + t / 8 - 1];
  __syncthreads();
  if (t == 0) return 0;
  return shared[place - (t % 8 == 0 ? 2 : 1)];
}

// The running sums of the four elements at i, or zeros behind the stretch.
template <typename T>
__device__ Four<T> sums_of_four(const Four<T>* from, int i, int end) {
  Four<T> v = {0, 0, 0, 0};
  if (i < end) v = from[i];
  v.y += v.x;
  v.z += v.y;
  v.w += v.z;
  return v;
}

template <typename T>
__device__ void add_to_all(Four<T>& v, T before) {
  v.x += before;
  v.y += before;
  v.z += before;
  v.w += before;
}

template <typename T, typename S>
__device__ void add_stretch(const T* data, T* sums, int count, volatile S* shared) {
  const int stretch = count / 4 / gridDim.x * 4;
  const int begin = blockIdx.x * stretch;
  const int end = blockIdx.x == gridDim.x - 1 ? count : begin + stretch;
  const unsigned t = threadIdx.x;
  T sum = 0;
#pragma unroll 1
  for (int i = begin + t; i < end; i += 256) sum += data[i];
  shared[t] = sum;
  __syncthreads();
#pragma unroll
  for (unsigned half = 128; half >= 64; half /= 2) {
    if (t < half) shared[t] += shared[t + half];
    __syncthreads();
  }
  if (t < 32) {
#pragma unroll
    for (unsigned half = 32; half >= 1; half /= 2) shared[t] += shared[t + half];
  }
  if (t == 0) sums[blockIdx.x] = shared[0];
}

template <typename T>
__device__ void scan_few(T* sums, int count, volatile T* shared) {
  const T value = threadIdx.x < count ? sums[threadIdx.x] : T(0);
  const T before = sum_before(value, shared);
  if (threadIdx.x < count) sums[threadIdx.x] = before;
}

template <typename T>
__device__ void scan_stretch(const T* data, T* out, const T* sums, int count, volatile T* shared, T* carry) {
  const Four<T>* from = reinterpret_cast<const Four<T>*>(data);
  Four<T>* to = reinterpret_cast<Four<T>*>(out);
  const int fours = count / 4;
  const int stretch = fours / gridDim.x;
  const int begin = blockIdx.x * stretch;
  const int end = blockIdx.x == gridDim.x - 1 ? fours : begin + stretch;
  if (threadIdx.x == 0) *carry = sums[blockIdx.x];
  __syncthreads();
  int i = begin + threadIdx.x;
#pragma unroll 1
  for (int window = begin; window < end; window += 256) {
    Four<T> v = sums_of_four(from, i, end);
    const T before = sum_before(v.w, shared) + *carry;
    add_to_all(v, before);
    if (i < end) to[i] = v;
    __syncthreads();
    if (threadIdx.x == 255) *carry = v.w;
    i += 256;
  }
}

template <typename T>
__device__ void raked_scan_stretch(const T* data, T* out, const T* sums, int count, volatile T* shared, T* carry) {
  const Four<T>* from = reinterpret_cast<const Four<T>*>(data);
  Four<T>* to = reinterpret_cast<Four<T>*>(out);
  const int fours = count / 4;
  const int stretch = fours / gridDim.x;
  const int begin = blockIdx.x * stretch;
  const int end = blockIdx.x == gridDim.x - 1 ? fours : begin + stretch;
  T before_window = sums[blockIdx.x];
  int i = begin + threadIdx.x;
#pragma unroll 1
  for (int window = begin; window < end; window += 256) {
    Four<T> v = sums_of_four(from, i, end);
    const T before = raked_sum_before(v.w, shared) + before_window;
    __syncthreads();
    add_to_all(v, before);
    if (i < end) to[i] = v;
    if (threadIdx.x == 255) *static_cast<volatile T*>(carry) = v.w;
    __syncthreads();
    before_window = *static_cast<volatile T*>(carry);
    i += 256;
  }
}

#define SCAN_KERNELS(NAME, T)                                                                         \
  extern "C" __global__ void sums_of_stretches_##NAME(const T* data, T* sums, int count) {            \
    __shared__ T shared[256];                                                                         \
    add_stretch<T, T>(data, sums, count, shared);                                                     \
  }                                                                                                   \
  extern "C" __global__ void scan_sums_##NAME(T* sums, int count) {                                   \
    __shared__ T shared[512];                                                                         \
    scan_few<T>(sums, count, shared);                                                                 \
  }                                                                                                   \
  extern "C" __global__ void scan_stretches_##NAME(const T* data, T* out, const T* sums, int count) { \
    __shared__ T shared[512];                                                                         \
    __shared__ T carry;                                                                               \
    scan_stretch<T>(data, out, sums, count, shared, &carry);                                          \
  }                                                                                                   \
  extern "C" __global__ void raked_scan_sums_##NAME(T* sums, int count) {                             \
    __shared__ T shared[512];                                                                         \
    const T value = threadIdx.x < count ? sums[threadIdx.x] : T(0);                                   \
    const T before = raked_sum_before<T>(value, shared);                                              \
    if (threadIdx.x < count) sums[threadIdx.x] = before;                                              \
  }                                                                                                   \
  extern "C" __global__ void raked_scan_stretches_##NAME(const T* data, T* out, const T* sums, int count) { \
    __shared__ T shared[512];                                                                         \
    __shared__ T carry;                                                                               \
    raked_scan_stretch<T>(data, out, sums, count, shared, &carry);                                    \
  }
SCAN_KERNELS(f32, float)
SCAN_KERNELS(f64, double)

extern "C" __global__ void sums_of_stretches_f64_in_f32(const double* data, double* sums, int count) {
  __shared__ float shared[256];
  add_stretch<double, float>(data, sums, count, shared);
}
