// Lanes of one warp that wait for each other: they need independent thread scheduling (compute capability 7.0).
#include "corpus.h"

// Every thread adds its number to counts[1] and 1 to counts[2], alone in the critical section.
extern "C" __global__ void locked_sum(unsigned* counts, unsigned* lock) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  volatile unsigned* shared = counts;
  shared[1] = shared[1] + thread_index();
  shared[2] = shared[2] + 1;
  __threadfence();
  atomicExch(lock, 0);
}

// The lanes take turns from the highest to the lowest; the last one tells who came when.
extern "C" __global__ void take_turns(unsigned* order) {
  __shared__ volatile unsigned turn;
  if (threadIdx.x == 0) turn = 0;
  __syncthreads();
  const unsigned mine = blockDim.x - 1 - threadIdx.x;
  while (turn != mine) {
  }
  order[mine] = threadIdx.x * 3 + 1;
  turn = mine + 1;
}

// Even lanes hand 20 numbers each to the odd lane beside them, through a mailbox that holds one.
extern "C" __global__ void mailboxes(unsigned* sums) {
  __shared__ volatile unsigned box[16], full[16];
  const unsigned pair = threadIdx.x / 2;
  if (threadIdx.x < 16) full[threadIdx.x] = 0;
  __syncwarp();
  unsigned sum = 0;
  for (unsigned i = 0; i < 20; ++i) {
    if (threadIdx.x % 2 == 0) {
      while (full[pair] != 0) {
      }
      box[pair] = mix(pair * 20 + i);
      __threadfence_block();
      full[pair] = 1;
    } else {
      while (full[pair] == 0) {
      }
      __threadfence_block();
      sum += box[pair];
      full[pair] = 0;
    }
  }
  // The halves come here at different times: both wait.
  __syncwarp();
  sums[threadIdx.x] = sum + __shfl_xor_sync(0xffffffffu, sum, 1);
}
