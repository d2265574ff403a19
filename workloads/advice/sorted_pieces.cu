// Pieces of 512 keys are sorted by exchanges of partners (Batcher 1968), in global memory and in shared memory.

extern "C" __global__ void before(unsigned* keys) {
  unsigned* mine = keys + blockIdx.x * 512;
  for (int k = 2; k <= 512; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      int i = threadIdx.x, other = i ^ j;
      if (other > i) {
        unsigned a = mine[i], b = mine[other];
        if ((a > b) == ((i & k) == 0)) mine[i] = b, mine[other] = a;
      }
      __syncthreads();
    }
}

extern "C" __global__ void after(unsigned* keys) {
  __shared__ unsigned mine[512];
  mine[threadIdx.x] = keys[blockIdx.x * 512 + threadIdx.x];
  __syncthreads();
  for (int k = 2; k <= 512; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      int i = threadIdx.x, other = i ^ j;
      if (other > i) {
        unsigned a = mine[i], b = mine[other];
        if ((a > b) == ((i & k) == 0)) mine[i] = b, mine[other] = a;
      }
      __syncthreads();
    }
  keys[blockIdx.x * 512 + threadIdx.x] = mine[threadIdx.x];
}
