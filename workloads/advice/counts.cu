// How often each of 1024 values occurs, counted in global memory, and in shared memory first.
constexpr int kValues = 1024;

extern "C" __global__ void before(unsigned* counts, const unsigned* in, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&counts[in[i] % kValues], 1u);
}

extern "C" __global__ void after(unsigned* counts, const unsigned* in, int n) {
  __shared__ unsigned own[kValues];
  for (int v = threadIdx.x; v < kValues; v += blockDim.x) own[v] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&own[in[i] % kValues], 1u);
  __syncthreads();
  for (int v = threadIdx.x; v < kValues; v += blockDim.x) atomicAdd(&counts[v], own[v]);
}
