// Copies of a buffer, 1 to 16 bytes a thread, as timed on an H200 (yencal/gpu-bandwidth-benchmark). The same:
// blocks of 1024, an access a thread (a loop over the grid that runs once). Not the same: the loop over bytes
// that a multiple of the width leaves over, which never runs, is left out.
template <typename T>
__device__ __forceinline__ void copy(T* __restrict__ to, const T* __restrict__ from, size_t bytes) {
  const size_t count = bytes / sizeof(T);
  const size_t stride = blockDim.x * gridDim.x;
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) to[i] = from[i];
}

extern "C" __global__ void copy_1(unsigned char* __restrict__ to, const unsigned char* __restrict__ from,
                                  size_t bytes) {
  copy(to, from, bytes);
}
extern "C" __global__ void copy_2(unsigned short* __restrict__ to, const unsigned short* __restrict__ from,
                                  size_t bytes) {
  copy(to, from, bytes);
}
extern "C" __global__ void copy_4(unsigned* __restrict__ to, const unsigned* __restrict__ from,
                                  size_t bytes) {
  copy(to, from, bytes);
}
extern "C" __global__ void copy_8(unsigned long long* __restrict__ to,
                                  const unsigned long long* __restrict__ from, size_t bytes) {
  copy(to, from, bytes);
}
extern "C" __global__ void copy_16(uint4* __restrict__ to, const uint4* __restrict__ from, size_t bytes) {
  copy(to, from, bytes);
}
