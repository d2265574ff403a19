// Bulk copies to shared memory in a pipeline of two stages, and back; and more asynchronous copies of a warp
// than the load/store unit has room for.
#include <cuda_pipeline.h>

#include <cuda/ptx>
namespace ptx = cuda::ptx;

constexpr int kTile = 1024;

template <bool kAhead>
__device__ void add_tiles(const float* in, float* out, int tiles) {
  __shared__ alignas(128) float tile[2][kTile];
  __shared__ uint64_t full[2];
  const int t = threadIdx.x;
  const float* own = in + blockIdx.x * kTile * tiles;
  if (t == 0) {
    for (uint64_t& barrier : full) ptx::mbarrier_init(&barrier, 1);
    ptx::fence_proxy_async(ptx::space_shared);
  }
  __syncthreads();
  const auto load = [&](int k) {
    if (t != 0 || k >= tiles) return;
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[k & 1],
                                   sizeof tile[0]);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile[k & 1], own + k * kTile, sizeof tile[0],
                       &full[k & 1]);
  };
  if (kAhead) load(0);
  float sum = 0;
  for (int k = 0; k < tiles; ++k) {
    load(kAhead ? k + 1 : k);
    while (!ptx::mbarrier_try_wait_parity(&full[k & 1], k / 2 & 1)) continue;
    for (int i = t; i < kTile; i += blockDim.x) sum += tile[k & 1][kTile - 1 - i];
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + t] = sum;
}
extern "C" __global__ void tiles_ahead(const float* in, float* out, int tiles) {
  add_tiles<true>(in, out, tiles);
}
// Asks for each tile when it is needed.
extern "C" __global__ void tiles_late(const float* in, float* out, int tiles) {
  add_tiles<false>(in, out, tiles);
}

// Adds each block's numbers to the result, one copy a block.
extern "C" __global__ void add_up(const int* in, int* out) {
  __shared__ alignas(128) int part[256];
  part[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x != 0) return;
  ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, out, part, sizeof part);
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
}

// Each block of a cluster sends its row to the next one.
extern "C" __global__ void __cluster_dims__(4, 1, 1) send_rows(const int* in, int* out) {
  __shared__ alignas(128) int mine[128], theirs[128];
  __shared__ uint64_t come;
  const int t = threadIdx.x;
  mine[t] = in[blockIdx.x * 128 + t];
  if (t == 0) {
    ptx::mbarrier_init(&come, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &come, sizeof theirs);
  }
  ptx::fence_proxy_async(ptx::space_shared);
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
  if (t == 0) {
    const auto of_next = [](auto* p) {
      uint32_t there;
      const auto here = static_cast<uint32_t>(__cvta_generic_to_shared(p));
      asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"((blockIdx.x + 1) % 4));
      return there;
    };
    asm volatile(
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 512, [%2];" ::"r"(
            of_next(theirs)),
        "r"(static_cast<uint32_t>(__cvta_generic_to_shared(mine))), "r"(of_next(&come))
        : "memory");
  }
  while (!ptx::mbarrier_try_wait_parity(&come, 0)) continue;
  out[blockIdx.x * 128 + t] = theirs[t];
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
}

extern "C" __global__ void many_copies(const int* in, int* out) {
  constexpr int kCopies = 12;
  __shared__ int s[kCopies][1024];
  const int t = threadIdx.x;
#pragma unroll
  for (int i = 0; i < kCopies; ++i)
    __pipeline_memcpy_async(&s[i][t], in + (blockIdx.x * kCopies + i) * 1024 + t, sizeof(int));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < kCopies; ++i) sum += s[i][1023 - t];
  out[blockIdx.x * 1024 + t] = sum;
}
