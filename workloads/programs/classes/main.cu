// C++ on the device: templates, a class with virtual functions that kernels make and call, lambdas, recursion.
#include <vector>

#include "../common/check.h"

struct Shape {
  __device__ virtual float area() const = 0;
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
struct Rectangle : Shape {
  float a, b;
  __device__ Rectangle(float x, float y) : a(x), b(y) {}
  __device__ float area() const override { return a * b; }
};

__global__ void areas(float* out) {
  const Square square(float(threadIdx.x));
  const Rectangle rectangle(float(threadIdx.x), 3.0f);
  const Shape* const shape = threadIdx.x % 2 == 0 ? static_cast<const Shape*>(&square) : &rectangle;
  out[threadIdx.x] = shape->area();
}

template <class T, class F>
__global__ void transform(T* x, int n, F f) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = f(x[i]);
}

__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__global__ void recursion(int* out) { out[threadIdx.x] = fibonacci(int(threadIdx.x) % 12); }

int main() {
  float* areas_out;
  double* values;
  int* numbers;
  MUST(cudaMalloc(&areas_out, 64 * sizeof(float)));
  MUST(cudaMalloc(&values, 100 * sizeof(double)));
  MUST(cudaMalloc(&numbers, 32 * sizeof(int)));
  areas<<<1, 64>>>(areas_out);
  std::vector<double> host(100);
  for (int i = 0; i < 100; ++i) host[i] = i;
  MUST(cudaMemcpy(values, host.data(), 100 * sizeof(double), cudaMemcpyHostToDevice));
  const double shift = 0.25;
  transform<<<2, 64>>>(values, 100, [=] __device__(double x) { return x * x + shift; });
  recursion<<<1, 32>>>(numbers);
  std::vector<float> a(64);
  std::vector<int> f(32);
  MUST(cudaMemcpy(a.data(), areas_out, 64 * sizeof(float), cudaMemcpyDeviceToHost));
  MUST(cudaMemcpy(host.data(), values, 100 * sizeof(double), cudaMemcpyDeviceToHost));
  MUST(cudaMemcpy(f.data(), numbers, 32 * sizeof(int), cudaMemcpyDeviceToHost));
  bool good = true;
  for (int i = 0; i < 64; ++i) good = good && a[i] == (i % 2 == 0 ? float(i) * float(i) : 3.0f * float(i));
  for (int i = 0; i < 100; ++i) good = good && host[i] == double(i) * i + 0.25;
  constexpr int kFibonacci[12] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
  for (int i = 0; i < 32; ++i) good = good && f[i] == kFibonacci[i % 12];
  return verdict(good);
}
