// Attention of one head: out = softmax(Q K^T / sqrt(D)) V for N queries and M keys of D = 64 values. A block
// takes 16 queries, a warp four of them; keys and values come in shared tiles of 32, and maximum and sum are
// carried from tile to tile (online softmax), so the N x M scores are never stored. attention.ptx is what
// nvcc 13 makes of this: nvcc -ptx -arch=compute_75
#include <cmath>

constexpr int kD = 64, kKeys = 32, kQueries = 16, kWarps = 4, kPerWarp = kQueries / kWarps;

__device__ float warp_max(float x) {
  for (int d = 16; d > 0; d /= 2) x = fmaxf(x, __shfl_xor_sync(~0u, x, d));
  return x;
}
__device__ float warp_sum(float x) {
  for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(~0u, x, d);
  return x;
}

extern "C" __global__ void attention(float* out, const float* Q, const float* K, const float* V, int N,
                                     int M) {
  __shared__ float q[kQueries][kD], tile[kKeys][kD + 1];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = blockIdx.x * kQueries;
  for (int i = threadIdx.x; i < kQueries * kD; i += blockDim.x)
    q[i / kD][i % kD] = first + i / kD < N ? Q[first * kD + i] / sqrtf(kD) : 0;
  float most[kPerWarp], sum[kPerWarp] = {}, low[kPerWarp] = {}, high[kPerWarp] = {};
  for (float& m : most) m = -INFINITY;
  for (int key = 0; key < M; key += kKeys) {
    float weight[kPerWarp] = {};
    __syncthreads();
    for (int i = threadIdx.x; i < kKeys * kD; i += blockDim.x)
      tile[i / kD][i % kD] = key + i / kD < M ? K[key * kD + i] : 0;
    __syncthreads();
#pragma unroll 4
    for (int d = 0; d < kD; ++d)
      for (int r = 0; r < kPerWarp; ++r) weight[r] += q[warp * kPerWarp + r][d] * tile[lane][d];
    for (int r = 0; r < kPerWarp; ++r) {
      if (key + lane >= M) weight[r] = -INFINITY;
      const float now = fmaxf(most[r], warp_max(weight[r])), shrink = __expf(most[r] - now);
      weight[r] = __expf(weight[r] - now);
      sum[r] = sum[r] * shrink + warp_sum(weight[r]);
      low[r] *= shrink;
      high[r] *= shrink;
      most[r] = now;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < kKeys * kD; i += blockDim.x)
      tile[i / kD][i % kD] = key + i / kD < M ? V[key * kD + i] : 0;
    __syncthreads();
#pragma unroll 4
    for (int k = 0; k < kKeys; ++k) {
      for (int r = 0; r < kPerWarp; ++r) {
        const float w = __shfl_sync(~0u, weight[r], k);
        low[r] += w * tile[k][lane];
        high[r] += w * tile[k][lane + 32];
      }
    }
  }
  for (int r = 0; r < kPerWarp; ++r) {
    const int row = first + warp * kPerWarp + r;
    if (row >= N) continue;
    out[row * kD + lane] = low[r] / sum[r];
    out[row * kD + lane + 32] = high[r] / sum[r];
  }
}
