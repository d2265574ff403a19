// y = a * x + y with a fixed grid: every thread takes elements a whole grid apart. The PTX beside this source is written as
// nvcc 2.3 for a 32-bit host would have written it for sm_13 (PTX 1.4).

extern "C" __global__ void saxpy(float* y, const float* x, float a, int N) {
  const int step = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += step) y[i] = a * x[i] + y[i];
}
