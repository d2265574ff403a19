// CUB from the toolkit's headers: exclusive scan with look-back between blocks, and a histogram.
#include <cub/cub.cuh>

#include <vector>

#include "../common/check.h"

int main() {
  constexpr int kCount = 50000, kBins = 16;
  std::vector<int> values(kCount), scanned(kCount), counts(kBins);
  for (int i = 0; i < kCount; ++i) values[i] = (i * 31 + i / 7) % kBins;
  int *in, *out, *bins;
  MUST(cudaMalloc(&in, kCount * sizeof(int)));
  MUST(cudaMalloc(&out, kCount * sizeof(int)));
  MUST(cudaMalloc(&bins, kBins * sizeof(int)));
  MUST(cudaMemcpy(in, values.data(), kCount * sizeof(int), cudaMemcpyHostToDevice));
  size_t bytes = 0, more = 0;
  MUST(cub::DeviceScan::ExclusiveSum(nullptr, bytes, in, out, kCount));
  MUST(cub::DeviceHistogram::HistogramEven(nullptr, more, in, bins, kBins + 1, 0, kBins, kCount));
  void* scratch;
  MUST(cudaMalloc(&scratch, bytes > more ? bytes : more));
  MUST(cub::DeviceScan::ExclusiveSum(scratch, bytes, in, out, kCount));
  MUST(cub::DeviceHistogram::HistogramEven(scratch, more, in, bins, kBins + 1, 0, kBins, kCount));
  MUST(cudaMemcpy(scanned.data(), out, kCount * sizeof(int), cudaMemcpyDeviceToHost));
  MUST(cudaMemcpy(counts.data(), bins, kBins * sizeof(int), cudaMemcpyDeviceToHost));
  bool good = true;
  int sum = 0;
  std::vector<int> expected(kBins);
  for (int i = 0; i < kCount; ++i) good = good && scanned[i] == sum, sum += values[i], ++expected[values[i]];
  return verdict(good && counts == expected);
}
