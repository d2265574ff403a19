// Memory of graphs: captured, with a branch, and by nodes; what one graph leaves allocated another one frees.
#include <vector>

#include "../common/check.h"

__global__ void square(const int* x, int* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * x[i];
}
__global__ void negate(const int* x, int* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = -x[i];
}
__global__ void add(const int* x, const int* y, int* sum, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sum[i] = x[i] + y[i];
}

constexpr int kCount = 1000, kBlocks = (kCount + 127) / 128;
constexpr size_t kBytes = kCount * sizeof(int);

/// out = in^2 - in, with all memory in between that of the graph.
static cudaGraph_t captured(const int* in, int* out) {
  cudaStream_t stream, branch;
  MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  MUST(cudaStreamCreateWithFlags(&branch, cudaStreamNonBlocking));
  cudaEvent_t forked, joined;
  MUST(cudaEventCreate(&forked));
  MUST(cudaEventCreate(&joined));
  int *x, *squares, *negative, *sum;
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  MUST(cudaMallocAsync(&x, kBytes, stream));
  MUST(cudaMemcpyAsync(x, in, kBytes, cudaMemcpyHostToDevice, stream));
  MUST(cudaEventRecord(forked, stream));
  MUST(cudaStreamWaitEvent(branch, forked, 0));
  MUST(cudaMallocAsync(&squares, kBytes, stream));
  square<<<kBlocks, 128, 0, stream>>>(x, squares, kCount);
  MUST(cudaMallocAsync(&negative, kBytes, branch));
  negate<<<kBlocks, 128, 0, branch>>>(x, negative, kCount);
  MUST(cudaEventRecord(joined, branch));
  MUST(cudaStreamWaitEvent(stream, joined, 0));
  MUST(cudaFreeAsync(x, stream));
  MUST(cudaMallocAsync(&sum, kBytes, stream));
  add<<<kBlocks, 128, 0, stream>>>(squares, negative, sum, kCount);
  MUST(cudaFreeAsync(squares, stream));
  MUST(cudaFreeAsync(negative, stream));
  MUST(cudaMemcpyAsync(out, sum, kBytes, cudaMemcpyDeviceToHost, stream));
  MUST(cudaFreeAsync(sum, stream));
  cudaGraph_t graph;
  MUST(cudaStreamEndCapture(stream, &graph));
  MUST(cudaEventDestroy(forked));
  MUST(cudaEventDestroy(joined));
  MUST(cudaStreamDestroy(branch));
  MUST(cudaStreamDestroy(stream));
  return graph;
}

/// A graph that allocates and sets memory, which stays when it has run.
static cudaGraph_t allocating(int value, int** memory) {
  cudaGraph_t graph;
  MUST(cudaGraphCreate(&graph, 0));
  cudaMemAllocNodeParams allocation{};
  allocation.poolProps.allocType = cudaMemAllocationTypePinned;
  allocation.poolProps.location.type = cudaMemLocationTypeDevice;
  allocation.bytesize = kBytes;
  cudaGraphNode_t allocate, fill;
  MUST(cudaGraphAddMemAllocNode(&allocate, graph, nullptr, 0, &allocation));
  *memory = static_cast<int*>(allocation.dptr);
  cudaMemsetParams set{};
  set.dst = allocation.dptr, set.value = value, set.elementSize = 4, set.width = kCount, set.height = 1;
  MUST(cudaGraphAddMemsetNode(&fill, graph, &allocate, 1, &set));
  return graph;
}

int main() {
  bool good = true;
  cudaStream_t stream;
  MUST(cudaStreamCreate(&stream));
  int *in, *out;
  MUST(cudaMallocHost(&in, kBytes));
  MUST(cudaMallocHost(&out, kBytes));
  const cudaGraph_t graph = captured(in, out);
  cudaGraphExec_t run;
  MUST(cudaGraphInstantiate(&run, graph, 0));
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < kCount; ++i) in[i] = i - round, out[i] = 0;
    MUST(cudaGraphLaunch(run, stream));
    MUST(cudaStreamSynchronize(stream));
    for (int i = 0; i < kCount; ++i) good = good && out[i] == in[i] * in[i] - in[i];
  }
  MUST(cudaGraphExecDestroy(run));
  MUST(cudaGraphDestroy(graph));

  int* memory;
  const cudaGraph_t first = allocating(11, &memory);
  cudaGraph_t second;
  MUST(cudaGraphCreate(&second, 0));
  cudaGraphNode_t free;
  MUST(cudaGraphAddMemFreeNode(&free, second, nullptr, 0, memory));
  cudaGraphExec_t allocate, release;
  MUST(cudaGraphInstantiate(&allocate, first, 0));
  MUST(cudaGraphInstantiate(&release, second, 0));
  for (int round = 0; round < 2; ++round) {
    MUST(cudaGraphLaunch(allocate, stream));
    negate<<<kBlocks, 128, 0, stream>>>(memory, memory, kCount);
    MUST(cudaMemcpyAsync(out, memory, kBytes, cudaMemcpyDeviceToHost, stream));
    MUST(cudaGraphLaunch(release, stream));
    MUST(cudaStreamSynchronize(stream));
    for (int i = 0; i < kCount; ++i) good = good && out[i] == -11;
  }
  good = good && cudaGraphLaunch(release, stream) == cudaErrorInvalidValue;  // it is freed already
  MUST(cudaGraphExecDestroy(allocate));
  MUST(cudaGraphExecDestroy(release));
  MUST(cudaGraphDestroy(first));
  MUST(cudaGraphDestroy(second));
  (void)cudaGetLastError();
  MUST(cudaFreeHost(in));
  MUST(cudaFreeHost(out));
  MUST(cudaStreamDestroy(stream));
  return verdict(good);
}
