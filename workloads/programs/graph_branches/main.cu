// A graph with two kernels that nothing orders, or with "serial" that run one after the other; prints the time of a launch.
#include <cstring>

#include "../common/check.h"

__global__ void count(int* to, int rounds) {
  int value = threadIdx.x;
  for (int i = 0; i < rounds; ++i) value = value * 3 + 1;
  to[threadIdx.x] = value;
}

__global__ void sum(const int* a, const int* b, int* to) { to[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x]; }

int main(int argc, char** argv) {
  const bool serial = argc > 1 && std::strcmp(argv[1], "serial") == 0;
  constexpr int kThreads = 32, kRounds = 5000;
  int *a, *b, *to, result[kThreads];
  for (int** p : {&a, &b, &to}) MUST(cudaMalloc(p, sizeof result));
  cudaGraph_t graph;
  MUST(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t first, second, last;
  int rounds = kRounds;
  cudaKernelNodeParams p = {};
  p.func = reinterpret_cast<void*>(count);
  p.gridDim = dim3(1), p.blockDim = dim3(kThreads);
  void* of_first[] = {&a, &rounds};
  p.kernelParams = of_first;
  MUST(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &p));
  void* of_second[] = {&b, &rounds};
  p.kernelParams = of_second;
  MUST(cudaGraphAddKernelNode(&second, graph, &first, serial ? 1 : 0, &p));
  p.func = reinterpret_cast<void*>(sum);
  void* of_last[] = {&a, &b, &to};
  p.kernelParams = of_last;
  const cudaGraphNode_t both[] = {first, second};
  MUST(cudaGraphAddKernelNode(&last, graph, both, 2, &p));
  cudaGraphExec_t executable;
  MUST(cudaGraphInstantiate(&executable, graph, 0));
  cudaStream_t stream;
  MUST(cudaStreamCreate(&stream));
  cudaEvent_t from, until;
  MUST(cudaEventCreate(&from));
  MUST(cudaEventCreate(&until));
  MUST(cudaEventRecord(from, stream));
  MUST(cudaGraphLaunch(executable, stream));
  MUST(cudaEventRecord(until, stream));
  MUST(cudaMemcpyAsync(result, to, sizeof result, cudaMemcpyDeviceToHost, stream));
  MUST(cudaStreamSynchronize(stream));
  float ms = 0;
  MUST(cudaEventElapsedTime(&ms, from, until));
  std::printf("%.6f ms\n", ms);
  bool good = true;
  for (int t = 0; t < kThreads; ++t) {
    unsigned value = t;
    for (int i = 0; i < kRounds; ++i) value = value * 3 + 1;
    good = good && static_cast<unsigned>(result[t]) == 2 * value;
  }
  MUST(cudaGraphExecDestroy(executable));
  MUST(cudaGraphDestroy(graph));
  return verdict(good);
}
