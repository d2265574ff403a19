// Kernels with one mistake each, for `gpusim run --check`: mistakes [bounds|init|race|sync|after_free]. Without an argument, nothing is wrong.
#include <cstdio>
#include <string>

#include "../common/check.h"

constexpr int kThreads = 64;

__global__ void shift(const int* from, int* to, int count, int by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) to[i] = from[i + by];
}

__global__ void reverse(int* values, bool together) {
  __shared__ int row[kThreads];
  row[threadIdx.x] = values[threadIdx.x];
  if (together) __syncthreads();
  values[threadIdx.x] = row[kThreads - 1 - threadIdx.x];
}

__global__ void half(int* values, bool all) {
  int one = 1;
  if (all || threadIdx.x % 2 == 0) one = __shfl_sync(0xffffffffu, one, 0);
  values[threadIdx.x] += one;
}

int main(int argc, char** argv) {
  const std::string mistake = argc > 1 ? argv[1] : "";
  int values[kThreads];
  for (int i = 0; i < kThreads; ++i) values[i] = i;
  int *from = nullptr, *to = nullptr;
  MUST(cudaMalloc(&from, sizeof(values)));
  MUST(cudaMalloc(&to, sizeof(values)));
  // Half of it has no value if that is the mistake.
  MUST(cudaMemcpy(from, values, mistake == "init" ? sizeof(values) / 2 : sizeof(values), cudaMemcpyHostToDevice));
  if (mistake == "after_free") MUST(cudaFree(from));
  shift<<<1, kThreads>>>(from, to, kThreads, mistake == "bounds" ? 4 : 0);
  MUST(cudaDeviceSynchronize());
  reverse<<<1, kThreads>>>(to, mistake != "race");
  half<<<1, kThreads>>>(to, mistake != "sync");
  MUST(cudaMemcpy(values, to, sizeof(values), cudaMemcpyDeviceToHost));
  bool good = true;
  for (int i = 0; i < kThreads; ++i) good = good && values[i] == kThreads - i;
  return verdict(good || !mistake.empty());
}
