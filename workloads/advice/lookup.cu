// Values of a table of 4 KB at random places: in constant memory, which gives a warp one word at a time, and
// in shared memory, to which each block copies it.
constexpr int kTable = 1024;
__constant__ float table[kTable];

extern "C" __global__ void before(float* y, const unsigned* index, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] = table[index[i]];
}

extern "C" __global__ void after(float* y, const unsigned* index, const float* values, int n) {
  __shared__ float own[kTable];
  for (int i = threadIdx.x; i < kTable; i += blockDim.x) own[i] = values[i];
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = own[index[i]];
}
