// Barriers that count and combine predicates.
#include "corpus.h"

extern "C" __global__ void barrier_reductions(unsigned* out) {
  unsigned m = mix(thread_index());
  int count = __syncthreads_count(m & 2);
  int some = __syncthreads_or(m % 100 == 0);
  int every = __syncthreads_and(m % 50 != 0);
  out[thread_index()] = count * 4 + (some != 0) * 2 + (every != 0);
}
