// A histogram in global memory, and in shared memory with the blocks' sums added at the end.
constexpr int kBins = 256;

extern "C" __global__ void before(unsigned* bins, const unsigned* in, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&bins[in[i] % kBins], 1u);
}

extern "C" __global__ void after(unsigned* bins, const unsigned* in, int n) {
  __shared__ unsigned own[kBins];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&own[in[i] % kBins], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
