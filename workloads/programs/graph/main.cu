// A graph that is captured from two streams, launched many times, and updated.
#include <vector>

#include "../common/check.h"

__global__ void add(int* x, int n, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += value;
}

int main() {
  constexpr int kCount = 5000, kLaunches = 10;
  int *a, *b;
  MUST(cudaMalloc(&a, kCount * sizeof(int)));
  MUST(cudaMalloc(&b, kCount * sizeof(int)));
  cudaStream_t first, second;
  cudaEvent_t fork, join;
  MUST(cudaStreamCreate(&first));
  MUST(cudaStreamCreate(&second));
  MUST(cudaEventCreate(&fork));
  MUST(cudaEventCreate(&join));
  const auto capture = [&](int value) {
    cudaGraph_t graph;
    MUST(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    MUST(cudaEventRecord(fork, first));
    MUST(cudaStreamWaitEvent(second, fork));
    add<<<(kCount + 127) / 128, 128, 0, first>>>(a, kCount, value);
    add<<<(kCount + 127) / 128, 128, 0, second>>>(b, kCount, 2 * value);
    MUST(cudaEventRecord(join, second));
    MUST(cudaStreamWaitEvent(first, join));
    add<<<(kCount + 127) / 128, 128, 0, first>>>(b, kCount, 1);
    MUST(cudaStreamEndCapture(first, &graph));
    return graph;
  };
  MUST(cudaMemset(a, 0, kCount * sizeof(int)));
  MUST(cudaMemset(b, 0, kCount * sizeof(int)));
  cudaGraph_t graph = capture(1);
  cudaGraphExec_t executable;
  MUST(cudaGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < kLaunches; ++i) MUST(cudaGraphLaunch(executable, first));
  cudaGraph_t changed = capture(100);
  cudaGraphExecUpdateResultInfo info;
  MUST(cudaGraphExecUpdate(executable, changed, &info));
  MUST(cudaGraphLaunch(executable, first));
  MUST(cudaStreamSynchronize(first));
  std::vector<int> x(kCount), y(kCount);
  MUST(cudaMemcpy(x.data(), a, kCount * sizeof(int), cudaMemcpyDeviceToHost));
  MUST(cudaMemcpy(y.data(), b, kCount * sizeof(int), cudaMemcpyDeviceToHost));
  bool good = true;
  for (int i = 0; i < kCount; ++i)
    good = good && x[i] == kLaunches + 100 && y[i] == 2 * kLaunches + 200 + kLaunches + 1;
  MUST(cudaGraphExecDestroy(executable));
  MUST(cudaGraphDestroy(graph));
  MUST(cudaGraphDestroy(changed));
  return verdict(good);
}
