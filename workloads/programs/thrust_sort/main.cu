// Thrust from the toolkit's headers: sort, unique, reduce, inclusive scan.
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/unique.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "../common/check.h"

int main() {
  constexpr int kCount = 20000;
  std::vector<int> values(kCount);
  unsigned state = 1;
  for (int& v : values) v = int((state = state * 1664525u + 1013904223u) >> 16) % 5000;
  thrust::device_vector<int> device(values.begin(), values.end());
  const long long sum = thrust::reduce(device.begin(), device.end(), 0ll);
  thrust::sort(device.begin(), device.end());
  thrust::host_vector<int> sorted = device;
  const auto last = thrust::unique(device.begin(), device.end());
  const auto distinct = last - device.begin();
  thrust::device_vector<int> sums(kCount);
  thrust::inclusive_scan(sorted.begin(), sorted.end(), sorted.begin());
  thrust::device_vector<int> again(values.begin(), values.end());
  thrust::inclusive_scan(again.begin(), again.end(), sums.begin());
  bool good = sum == std::accumulate(values.begin(), values.end(), 0ll);
  std::vector<int> host = values;
  std::partial_sum(host.begin(), host.end(), host.begin());
  good = good && std::equal(host.begin(), host.end(), thrust::host_vector<int>(sums).begin());
  host = values;
  std::sort(host.begin(), host.end());
  std::vector<int> scanned = host;
  std::partial_sum(scanned.begin(), scanned.end(), scanned.begin());
  good = good && std::equal(scanned.begin(), scanned.end(), sorted.begin());
  good = good && distinct == std::unique(host.begin(), host.end()) - host.begin();
  return verdict(good);
}
