// y = a x + y in pieces that do not need each other: a launch for each of them, and one for all.
extern "C" __global__ void saxpy(float* y, const float* x, float a, int first, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[first + i] = a * x[first + i] + y[first + i];
}
