// Warp primitives: shuffles, votes, match, reductions, masks; full and partial warps.
#include "corpus.h"

__device__ unsigned lane() {
  unsigned l;
  asm("mov.u32 %0, %%laneid;" : "=r"(l));
  return l;
}

__device__ unsigned reduce_add(unsigned mask, unsigned v) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(mask, v);
#else
  unsigned sum = 0;
  for (unsigned l = 0; l < 32; ++l) {
    unsigned other = __shfl_sync(mask, v, l);
    if (mask >> l & 1) sum += other;
  }
  return sum;
#endif
}

__device__ int reduce_min(unsigned mask, int v) {
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(mask, v);
#else
  for (unsigned d = 16; d; d /= 2) v = min(v, __shfl_xor_sync(mask, v, d));
  return v;
#endif
}

extern "C" __global__ void shuffles(unsigned* out, unsigned long long* wide, double* reals) {
  unsigned i = thread_index(), l = lane(), m = mix(i);
  unsigned* o = out + 8 * i;
  o[0] = __shfl_sync(~0u, m, m >> 8);
  o[1] = __shfl_up_sync(~0u, m, 3);
  o[2] = __shfl_down_sync(~0u, m, 5);
  o[3] = __shfl_xor_sync(~0u, m, 0x15);
  o[4] = __shfl_sync(~0u, m, l + 1, 8);
  o[5] = __shfl_up_sync(~0u, m, 2, 16);
  o[6] = __shfl_down_sync(~0u, m, 1, 4);
  o[7] = __shfl_xor_sync(~0u, m, 6, 4);
  wide[i] = __shfl_xor_sync(~0u, mix64(i), 9);
  double v = m * 0.25;
  for (unsigned d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
  reals[i] = l == 0 ? v : 0.0;
}

extern "C" __global__ void votes(unsigned* out) {
  unsigned i = thread_index(), l = lane(), m = mix(i);
  unsigned* o = out + 11 * i;
  o[0] = __ballot_sync(~0u, m & 4);
  o[1] = __any_sync(~0u, m % 40 == 0) << 1 | __all_sync(~0u, m % 32 != 5);
  o[2] = __match_any_sync(~0u, m % 5);
  int same;
  unsigned all = __match_all_sync(~0u, i / 64, &same);
  o[3] = all ^ static_cast<unsigned>(same);
  o[4] = __match_any_sync(~0u, static_cast<unsigned long long>(m % 3) << 40);
  o[5] = reduce_add(~0u, m);
  o[6] = static_cast<unsigned>(reduce_min(~0u, static_cast<int>(m)));
  unsigned mask = __ballot_sync(~0u, m & 1);
  if (m & 1) {
    o[7] = __popc(__activemask()) + 100 * __popc(mask & ((1u << l) - 1));
    o[8] = __shfl_sync(mask, m, __ffs(static_cast<int>(mask)) - 1);
    o[9] = __ballot_sync(mask, l & 2);
  } else {
    o[7] = reduce_add(~mask, m);
    o[8] = __ffs(static_cast<int>(~mask));
    o[9] = __any_sync(~mask, l == 31);
  }
  __syncwarp();
  unsigned low, high;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(low));
  asm("mov.u32 %0, %%lanemask_ge;" : "=r"(high));
  o[10] = low * 3 + high;
}
