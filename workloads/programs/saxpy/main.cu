// y = a x + y of as many elements as the first argument says.
#include <vector>

#include "../common/check.h"

__global__ void saxpy(float a, const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 10000;
  std::vector<float> x(n), y(n), result(n);
  for (int i = 0; i < n; ++i) x[i] = float(i % 97), y[i] = float(i % 13);
  float *dx, *dy;
  MUST(cudaMalloc(&dx, n * sizeof(float)));
  MUST(cudaMalloc(&dy, n * sizeof(float)));
  MUST(cudaMemcpy(dx, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  MUST(cudaMemcpy(dy, y.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  saxpy<<<(n + 255) / 256, 256>>>(2.0f, dx, dy, n);
  MUST(cudaGetLastError());
  MUST(cudaMemcpy(result.data(), dy, n * sizeof(float), cudaMemcpyDeviceToHost));
  bool good = true;
  for (int i = 0; i < n; ++i) good = good && result[i] == 2.0f * x[i] + y[i];
  MUST(cudaFree(dx));
  MUST(cudaFree(dy));
  return verdict(good);
}
