// How often each of 64 values occurs, an element a thread: counted in global memory, and in shared memory first.
constexpr int kValues = 64;

extern "C" __global__ void before(unsigned* counts, const unsigned* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&counts[in[i] % kValues], 1u);
}

extern "C" __global__ void after(unsigned* counts, const unsigned* in, int n) {
  __shared__ unsigned own[kValues];
  if (threadIdx.x < kValues) own[threadIdx.x] = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&own[in[i] % kValues], 1u);
  __syncthreads();
  if (threadIdx.x < kValues) atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}
