// Counts of 256 values: histogram of the kernels timed on a TITAN V (Debdeep23/test1). The same: a shared
// histogram a block in 1 KB of dynamic shared memory, shared atomics, one element a thread (the grid covers
// the data, so that the loop over it runs once), then a global atomic for each of the 256 bins of every
// block, also where the count is zero. Data: the measured program counts zeros, so all lanes of a warp meet
// in one bin.
extern "C" __global__ void count_values(const unsigned int* __restrict__ data, int count,
                                        unsigned int* __restrict__ bins) {
  extern __shared__ unsigned int block_bins[];
  for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) block_bins[bin] = 0;
  __syncthreads();
  for (int at = threadIdx.x + blockDim.x * blockIdx.x; at < count; at += gridDim.x * blockDim.x) {
    atomicAdd(&block_bins[data[at] & 255u], 1);
  }
  __syncthreads();
  for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) atomicAdd(&bins[bin], block_bins[bin]);
}
