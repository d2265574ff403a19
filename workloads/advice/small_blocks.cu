// y = a x + y, an element a thread, in blocks of 32 threads and of 256 (the launch files differ).
extern "C" __global__ void saxpy(float* y, const float* x, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
