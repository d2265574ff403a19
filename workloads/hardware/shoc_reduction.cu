// Sum of an array, a partial sum for each block: SHOC's Reduction (vetter/shoc). The same: 64 blocks of 256
// threads, two elements a thread and round, added up in shared memory (not in a register), a tree over shared
// memory with a barrier a level down to 64 elements and without barriers in the last warp. For compute
// capability 1.3 the suite keeps the sums of doubles in shared memory as floats, hence sum_f64_in_f32.
template <typename T, typename S>
__device__ void block_sum(const T* data, T* sums, unsigned count, volatile S* shared) {
  const unsigned t = threadIdx.x;
  shared[t] = 0;
#pragma unroll 1
  for (unsigned i = 512 * blockIdx.x + t; i < count; i += 512 * gridDim.x)
    shared[t] += data[i] + data[i + 256];
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

extern "C" __global__ void sum_f32(const float* data, float* sums, unsigned count) {
  __shared__ float shared[256];
  block_sum<float, float>(data, sums, count, shared);
}
extern "C" __global__ void sum_f64(const double* data, double* sums, unsigned count) {
  __shared__ double shared[256];
  block_sum<double, double>(data, sums, count, shared);
}
extern "C" __global__ void sum_f64_in_f32(const double* data, double* sums, unsigned count) {
  __shared__ float shared[256];
  block_sum<double, float>(data, sums, count, shared);
}
