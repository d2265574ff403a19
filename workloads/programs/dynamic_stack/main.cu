// alloca in kernels and in functions that they call, and the limit of the stack.
#include <cstring>
#include <vector>

#include "../common/check.h"

/// What it takes is free when it returns: thousands of calls need no more than one.
__device__ __noinline__ int sum_of_reversed(const int* values, int n) {
  int* const copy = static_cast<int*>(alloca(n * sizeof(int)));
  for (int i = 0; i < n; ++i) copy[n - 1 - i] = values[i] * (i + 1);
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += copy[i] ^ i;
  return sum;
}

/// Each level has memory of its own.
__device__ __noinline__ int nested(int depth, int* above) {
  int* const mine = static_cast<int*>(alloca((depth + 1) * sizeof(int)));
  for (int i = 0; i <= depth; ++i) mine[i] = depth * 100 + i + threadIdx.x;
  const int below = depth == 0 ? 0 : nested(depth - 1, mine);
  int sum = above != nullptr ? above[0] : 0;
  for (int i = 0; i <= depth; ++i) sum += mine[i];
  return sum + below;
}

__global__ void use(const int* values, int* sums, int n) {
  const int mine = 1 + threadIdx.x % n;
  int* const own = static_cast<int*>(alloca(mine * sizeof(int)));
  for (int i = 0; i < mine; ++i) own[i] = values[i];
  int sum = 0;
  for (int i = 0; i < 200; ++i) sum += sum_of_reversed(own, mine);
  sums[threadIdx.x] = sum;
  sums[blockDim.x + threadIdx.x] = nested(threadIdx.x % 5, nullptr);
}

__global__ void take(int bytes, int* out) {
  char* const memory = static_cast<char*>(alloca(bytes));
  for (int i = 0; i < bytes; ++i) memory[i] = i;
  out[0] = memory[bytes - 1] + memory[bytes / 2];
}

int reversed(const int* values, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += (values[n - 1 - i] * (n - i)) ^ i;
  return sum;
}
int levels(int depth, int thread, int above) {
  int sum = above;
  for (int i = 0; i <= depth; ++i) sum += depth * 100 + i + thread;
  return sum + (depth == 0 ? 0 : levels(depth - 1, thread, depth * 100 + thread));
}

int main() {
  constexpr int kThreads = 64, kMost = 24;
  std::vector<int> values(kMost), sums(2 * kThreads);
  for (int i = 0; i < kMost; ++i) values[i] = 7 * i + 3;
  int *a, *b;
  MUST(cudaMalloc(&a, kMost * sizeof(int)));
  MUST(cudaMalloc(&b, 2 * kThreads * sizeof(int)));
  MUST(cudaMemcpy(a, values.data(), kMost * sizeof(int), cudaMemcpyHostToDevice));
  use<<<1, kThreads>>>(a, b, kMost);
  MUST(cudaMemcpy(sums.data(), b, 2 * kThreads * sizeof(int), cudaMemcpyDeviceToHost));
  bool good = true;
  for (int t = 0; t < kThreads; ++t) {
    good = good && sums[t] == 200 * reversed(values.data(), 1 + t % kMost);
    good = good && sums[kThreads + t] == levels(t % 5, t, 0);
  }
  // More stack, if the program asks for it.
  MUST(cudaDeviceSetLimit(cudaLimitStackSize, 8192));
  take<<<1, 1>>>(6000, b);
  MUST(cudaMemcpy(sums.data(), b, sizeof(int), cudaMemcpyDeviceToHost));
  good = good && sums[0] == static_cast<char>(5999) + static_cast<char>(3000);
  MUST(cudaDeviceSetLimit(cudaLimitStackSize, 1024));
  take<<<1, 1>>>(6000, b);
  good = good && cudaDeviceSynchronize() == cudaErrorHardwareStackError;
  return verdict(good);
}
