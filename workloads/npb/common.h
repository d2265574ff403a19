// Shared by the sources of this folder.
#pragma once

__device__ inline int thread_index() { return blockIdx.x * blockDim.x + threadIdx.x; }

__device__ inline double warp_sum(double x) {
  for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(~0u, x, d);
  return x;
}

// Launches that follow each other with the same arguments (`repeat` in the launch file) count themselves.
struct Step {
  unsigned now, blocks_done;
};

// After the last use of step->now: the last block of the launch moves on, from step `steps` - 1 to 0.
__device__ inline void end_step(Step* step, unsigned steps) {
  __syncthreads();
  if (threadIdx.x > 0) return;
  if (atomicInc(&step->blocks_done, gridDim.x - 1) == gridDim.x - 1)
    step->now = step->now + 1 < steps ? step->now + 1 : 0;
}
