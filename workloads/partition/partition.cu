// Two ways to divide n elements among threads. Block partitioning gives each thread a run of neighbours, so
// that the lanes of a warp lie a run apart; cyclic partitioning gives lane i element i and lets all threads step
// over the data together.
extern "C" __global__ void by_blocks(float* y, const float* x, float a, int n) {
  const int threads = gridDim.x * blockDim.x, run = (n + threads - 1) / threads;
  const int first = (blockIdx.x * blockDim.x + threadIdx.x) * run;
  for (int i = first; i < min(first + run, n); ++i) y[i] = a * x[i] + y[i];
}

extern "C" __global__ void cyclic(float* y, const float* x, float a, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] = a * x[i] + y[i];
}
