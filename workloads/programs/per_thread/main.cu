// Host threads with a default stream each (compiled with --default-stream per-thread).
#include <thread>
#include <vector>

#include "../common/check.h"

__global__ void count(unsigned* counter, unsigned by) { atomicAdd(counter, by); }

int main() {
  constexpr int kThreads = 4;
  unsigned* counters;
  MUST(cudaMalloc(&counters, kThreads * sizeof(unsigned)));
  MUST(cudaMemset(counters, 0, kThreads * sizeof(unsigned)));
  MUST(cudaDeviceSynchronize());
  std::vector<unsigned> result(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i) count<<<2, 32>>>(counters + t, unsigned(t + 1));
      MUST(cudaMemcpyAsync(&result[t], counters + t, sizeof(unsigned), cudaMemcpyDeviceToHost, 0));
      MUST(cudaStreamSynchronize(0));
    });
  for (std::thread& thread : threads) thread.join();
  bool good = true;
  for (int t = 0; t < kThreads; ++t) good = good && result[t] == 640u * unsigned(t + 1);
  return verdict(good);
}
