// How often each of 256 values occurs, counted in shared memory and added up in global memory at a block's end. The launch files
// differ in the number of blocks.
constexpr int kValues = 256;

extern "C" __global__ void count(unsigned* counts, const unsigned* in, int n) {
  __shared__ unsigned own[kValues];
  for (int v = threadIdx.x; v < kValues; v += blockDim.x) own[v] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&own[in[i] % kValues], 1u);
  __syncthreads();
  for (int v = threadIdx.x; v < kValues; v += blockDim.x) atomicAdd(&counts[v], own[v]);
}
