// How often each of 32 letters occurs, counted in shared memory first: a byte a thread and turn, and eight at once.
constexpr int kLetters = 32;

extern "C" __global__ void before(unsigned* counts, const unsigned char* text, int n) {
  __shared__ unsigned own[kLetters];
  if (threadIdx.x < kLetters) own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&own[text[i] % kLetters], 1u);
  __syncthreads();
  if (threadIdx.x < kLetters) atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}

extern "C" __global__ void after(unsigned* counts, const uint2* text, int n) {
  __shared__ unsigned own[kLetters];
  if (threadIdx.x < kLetters) own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 8; i += gridDim.x * blockDim.x) {
    const uint2 eight = text[i];
#pragma unroll
    for (int byte = 0; byte < 4; ++byte) {
      atomicAdd(&own[(eight.x >> 8 * byte) % kLetters], 1u);
      atomicAdd(&own[(eight.y >> 8 * byte) % kLetters], 1u);
    }
  }
  __syncthreads();
  if (threadIdx.x < kLetters) atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}
