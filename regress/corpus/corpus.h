// Shared by the sources of the corpus; corpus.py has the same functions in Python.
#pragma once

__device__ inline unsigned thread_index() { return blockIdx.x * blockDim.x + threadIdx.x; }

__device__ inline unsigned mix(unsigned x) {
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

__device__ inline unsigned long long mix64(unsigned x) {
  return static_cast<unsigned long long>(mix(x)) << 32 | mix(x + 0x9e3779b9u);
}
