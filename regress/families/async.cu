// Asynchronous copies to shared memory in a pipeline of two stages, and a block that meets at an mbarrier.
#include <cuda_pipeline.h>

#include <cuda/barrier>
#pragma nv_diag_suppress static_var_with_dynamic_init

template <int kUnderWay>
__device__ void add_tiles(const float4* in, float* out, int tiles) {
  __shared__ float4 tile[2][64];
  const int t = threadIdx.x;
  const float4* own = in + blockIdx.x * 64 * tiles;
  __pipeline_memcpy_async(&tile[0][t], own + t, sizeof(float4));
  __pipeline_commit();
  float sum = 0;
  for (int k = 0; k < tiles; ++k) {
    if (k + 1 < tiles) __pipeline_memcpy_async(&tile[(k + 1) & 1][t], own + (k + 1) * 64 + t, sizeof(float4));
    __pipeline_commit();
    __pipeline_wait_prior(kUnderWay);
    __syncthreads();
    const float4 v = tile[k & 1][63 - t];
    sum += v.x + 2 * v.y + 3 * v.z + 4 * v.w;
    __syncthreads();
  }
  out[blockIdx.x * 64 + t] = sum;
}
extern "C" __global__ void copies(const float4* in, float* out, int tiles) { add_tiles<1>(in, out, tiles); }
// Waits for the next tile too before it adds one up.
extern "C" __global__ void copies_in_vain(const float4* in, float* out, int tiles) { add_tiles<0>(in, out, tiles); }

extern "C" __global__ void barriers(const int* in, int* out) {
  __shared__ int s[128];
  __shared__ cuda::barrier<cuda::thread_scope_block> all;
  if (threadIdx.x == 0) init(&all, blockDim.x);
  __syncthreads();
  const int at = blockIdx.x * 128 + threadIdx.x;
  int x = in[at];
  for (int round = 0; round < 4; ++round) {
    s[threadIdx.x] = x;
    all.arrive_and_wait();
    x += s[(threadIdx.x + 1) % 128];
    all.arrive_and_wait();
  }
  out[at] = x;
}
