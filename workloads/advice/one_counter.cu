// The sum of all elements in one word: an atomic addition for each element, and for each warp's sum.
extern "C" __global__ void before(float* sum, const float* in, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(sum, in[i]);
}

extern "C" __global__ void after(float* sum, const float* in, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float own = in[i];
    for (int apart = 16; apart > 0; apart /= 2) own += __shfl_xor_sync(0xffffffffu, own, apart);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, own);
  }
}
