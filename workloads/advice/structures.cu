// One field of structures of eight, and the same field in an array of its own.
extern "C" __global__ void before(float* out, const float* points, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    out[i] = points[8 * i];
}

extern "C" __global__ void after(float* out, const float* x, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = x[i];
}
