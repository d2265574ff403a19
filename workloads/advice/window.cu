// A window of 128 values that one thread of each block makes while the others wait, and that all threads make.

extern "C" __global__ void before(float* out, const float* in, int n) {
  __shared__ float w[128];
  if (threadIdx.x == 0)
    for (int k = 0; k < 128; ++k) w[k] = expf(-0.001f * k * k) * cosf(0.1f * k);
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = w[i & 127] * in[i];
}

extern "C" __global__ void after(float* out, const float* in, int n) {
  __shared__ float w[128];
  int k = threadIdx.x;
  if (k < 128) w[k] = expf(-0.001f * k * k) * cosf(0.1f * k);
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = w[i & 127] * in[i];
}
