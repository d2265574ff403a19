// A cooperative launch: the grid synchronises between the steps of a prefix sum.
#include <cooperative_groups.h>

#include <vector>

#include "../common/check.h"

namespace cg = cooperative_groups;

__global__ void scan(int* from, int* to, int n) {
  cg::grid_group grid = cg::this_grid();
  for (int distance = 1; distance < n; distance *= 2) {
    for (int i = grid.thread_rank(); i < n; i += grid.size()) to[i] = from[i] + (i >= distance ? from[i - distance] : 0);
    grid.sync();
    int* const other = from;
    from = to;
    to = other;
  }
}

int main() {
  constexpr int kCount = 4096, kThreads = 128;
  int blocks = 0, sms = 0, can = 0;
  MUST(cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, 0));
  MUST(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scan, kThreads, 0));
  std::vector<int> values(kCount), result(kCount);
  for (int i = 0; i < kCount; ++i) values[i] = i % 11;
  int *a, *b, n = kCount;
  MUST(cudaMalloc(&a, kCount * sizeof(int)));
  MUST(cudaMalloc(&b, kCount * sizeof(int)));
  MUST(cudaMemcpy(a, values.data(), kCount * sizeof(int), cudaMemcpyHostToDevice));
  void* arguments[] = {&a, &b, &n};
  const int grid = blocks * sms < 16 ? blocks * sms : 16;
  MUST(cudaLaunchCooperativeKernel(scan, dim3(grid), dim3(kThreads), arguments, 0, nullptr));
  MUST(cudaDeviceSynchronize());
  // Twelve steps: the result is where it began.
  MUST(cudaMemcpy(result.data(), a, kCount * sizeof(int), cudaMemcpyDeviceToHost));
  bool good = can == 1;
  int sum = 0;
  for (int i = 0; i < kCount; ++i) sum += values[i], good = good && result[i] == sum;
  return verdict(good);
}
