// What compute capability 9.0 added: clusters of thread blocks and distributed shared memory, barriers in
// shared memory.
#include <cooperative_groups.h>

#include <cuda/barrier>

#pragma nv_diag_suppress static_var_with_dynamic_init  // cuda::barrier in shared memory, initialized by init

namespace cg = cooperative_groups;

extern "C" __global__ void __cluster_dims__(2, 1, 1)
    cluster_histogram(const unsigned char* in, unsigned* bins, int n) {
  __shared__ unsigned local[128];
  cg::cluster_group cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < 128; i += blockDim.x) local[i] = 0;
  cluster.sync();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const unsigned v = in[i];
    atomicAdd(cluster.map_shared_rank(local, v / 128) + v % 128, 1u);
  }
  cluster.sync();
  for (int i = threadIdx.x; i < 128; i += blockDim.x)
    atomicAdd(&bins[cluster.block_rank() * 128 + i], local[i]);
}

extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_sum(const float* in, float* out, int n) {
  __shared__ float part;
  cg::cluster_group cluster = cg::this_cluster();
  float sum = 0.f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  if (threadIdx.x == 0) part = 0.f;
  __syncthreads();
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) atomicAdd(&part, sum);
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x == 0) {
    float total = 0.f;
    for (int b = 0; b < 4; ++b) total += *cluster.map_shared_rank(&part, b);
    out[blockIdx.x / 4] = total;
  }
  cluster.sync();
}

extern "C" __global__ void split_barrier(const float* in, float* out, int n, float scale) {
  __shared__ float tile[256];
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  for (int start = blockIdx.x * 256; start < n; start += gridDim.x * 256) {
    const int i = start + threadIdx.x;
    tile[threadIdx.x] = i < n ? in[i] : 0.f;
    auto token = barrier.arrive();
    const float own = i < n ? in[i] * scale : 0.f;
    barrier.wait(std::move(token));
    if (i < n) out[i] = own + tile[255 - threadIdx.x];
    barrier.arrive_and_wait();
  }
}
