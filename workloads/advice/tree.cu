// Sums of blocks of 256 by a tree in shared memory: partners 2, 4, 8, ... words apart, and side by side.
constexpr int kBlock = 256;

extern "C" __global__ void before(float* sums, const float* in) {
  __shared__ float part[kBlock];
  const int t = threadIdx.x;
  part[t] = in[blockIdx.x * kBlock + t];
  __syncthreads();
  for (int apart = 1; apart < kBlock; apart *= 2) {
    const int at = 2 * apart * t;
    if (at < kBlock) part[at] += part[at + apart];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = part[0];
}

extern "C" __global__ void after(float* sums, const float* in) {
  __shared__ float part[kBlock];
  const int t = threadIdx.x;
  part[t] = in[blockIdx.x * kBlock + t];
  __syncthreads();
  for (int apart = kBlock / 2; apart > 0; apart /= 2) {
    if (t < apart) part[t] += part[t + apart];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = part[0];
}
