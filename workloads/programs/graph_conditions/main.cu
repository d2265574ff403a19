// Conditional nodes of graphs: a loop with a branch in it (the steps of a number to 1 by halving and by 3 n +
// 1), a switch, and a condition that is captured.
#include "../common/check.h"

__global__ void test(const unsigned* number, cudaGraphConditionalHandle again,
                     cudaGraphConditionalHandle odd) {
  cudaGraphSetConditional(again, *number != 1);
  cudaGraphSetConditional(odd, *number % 2);
}
__global__ void halve(unsigned* number) { *number /= 2; }
__global__ void triple(unsigned* number) { *number = 3 * *number + 1; }
__global__ void count(unsigned* steps) { ++*steps; }
__global__ void choose(const unsigned* number, cudaGraphConditionalHandle which) {
  cudaGraphSetConditional(which, *number);
}
__global__ void store(unsigned* to, unsigned value) { *to = value; }
__global__ void count_down(unsigned* number, cudaGraphConditionalHandle again) {
  if (--*number == 0) cudaGraphSetConditional(again, 0);
}

namespace {

cudaGraphNode_t add_kernel(cudaGraph_t graph, cudaGraphNode_t after, void (*kernel)(unsigned*),
                           unsigned* argument) {
  cudaGraphNodeParams p = {cudaGraphNodeTypeKernel};
  void* arguments[] = {&argument};
  p.kernel.func = reinterpret_cast<void*>(kernel);
  p.kernel.gridDim = p.kernel.blockDim = dim3(1);
  p.kernel.kernelParams = arguments;
  cudaGraphNode_t node;
  MUST(cudaGraphAddNode(&node, graph, &after, nullptr, after == nullptr ? 0 : 1, &p));
  return node;
}

cudaGraph_t* add_condition(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                           size_t count, cudaGraphConditionalHandle handle, cudaGraphConditionalNodeType type,
                           unsigned size) {
  cudaGraphNodeParams p = {cudaGraphNodeTypeConditional};
  p.conditional.handle = handle;
  p.conditional.type = type;
  p.conditional.size = size;
  MUST(cudaGraphAddNode(node, graph, after, nullptr, count, &p));
  return p.conditional.phGraph_out;
}

unsigned read(const unsigned* from) {
  unsigned value;
  MUST(cudaMemcpy(&value, from, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}
void write(unsigned* to, unsigned value) {
  MUST(cudaMemcpy(to, &value, sizeof value, cudaMemcpyHostToDevice));
}

// test; while (again) { if (odd) triple; else halve; count; test }
bool steps_to_one(unsigned* number, unsigned* steps) {
  cudaGraph_t graph;
  MUST(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle again, odd;
  MUST(cudaGraphConditionalHandleCreate(&again, graph, 0, 0));
  MUST(cudaGraphConditionalHandleCreate(&odd, graph, 0, 0));
  void* arguments[] = {&number, &again, &odd};
  cudaGraphNodeParams p = {cudaGraphNodeTypeKernel};
  p.kernel.func = reinterpret_cast<void*>(test);
  p.kernel.gridDim = p.kernel.blockDim = dim3(1);
  p.kernel.kernelParams = arguments;
  cudaGraphNode_t first, loop, branch, last;
  MUST(cudaGraphAddNode(&first, graph, nullptr, nullptr, 0, &p));
  cudaGraph_t body = *add_condition(&loop, graph, &first, 1, again, cudaGraphCondTypeWhile, 1);
  cudaGraph_t* branches = add_condition(&branch, body, nullptr, 0, odd, cudaGraphCondTypeIf, 2);
  add_kernel(branches[0], nullptr, triple, number);
  add_kernel(branches[1], nullptr, halve, number);
  last = add_kernel(body, branch, count, steps);
  MUST(cudaGraphAddNode(&last, body, &last, nullptr, 1, &p));
  cudaGraphExec_t executable;
  MUST(cudaGraphInstantiate(&executable, graph, 0));
  bool good = true;
  for (const unsigned start : {27u, 1u, 97u}) {
    write(number, start);
    write(steps, 0);
    MUST(cudaGraphLaunch(executable, nullptr));
    unsigned expected = 0;
    for (unsigned n = start; n != 1; ++expected) n = n % 2 != 0 ? 3 * n + 1 : n / 2;
    good = good && read(steps) == expected && read(number) == 1;
  }
  cudaGraphExec_t second;
  cudaGraph_t clone;
  good = good && cudaGraphInstantiate(&second, graph, 0) == cudaErrorNotSupported;
  good = good && cudaGraphClone(&clone, graph) == cudaErrorNotSupported;
  good = good && cudaGraphDestroy(body) == cudaErrorInvalidValue;
  MUST(cudaGraphExecDestroy(executable));
  MUST(cudaGraphDestroy(graph));
  return good;
}

bool one_of_three(unsigned* number, unsigned* to) {
  cudaStream_t stream;
  MUST(cudaStreamCreate(&stream));
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  cudaStreamCaptureStatus status;
  cudaGraph_t graph;
  const cudaGraphNode_t* last;
  size_t count_of_last;
  MUST(cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, nullptr, nullptr, nullptr));
  cudaGraphConditionalHandle which;
  MUST(cudaGraphConditionalHandleCreate(&which, graph, 0, 0));
  choose<<<1, 1, 0, stream>>>(number, which);
  MUST(cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, &last, nullptr, &count_of_last));
  cudaGraphNode_t node;
  const cudaGraph_t* bodies =
      add_condition(&node, graph, last, count_of_last, which, cudaGraphCondTypeSwitch, 3);
  MUST(cudaStreamUpdateCaptureDependencies(stream, &node, nullptr, 1, cudaStreamSetCaptureDependencies));
  count<<<1, 1, 0, stream>>>(to);
  MUST(cudaStreamEndCapture(stream, &graph));
  for (unsigned i = 0; i < 3; ++i) {
    MUST(cudaStreamBeginCaptureToGraph(stream, bodies[i], nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
    store<<<1, 1, 0, stream>>>(to, 10 * (i + 1));
    MUST(cudaStreamEndCapture(stream, nullptr));
  }
  cudaGraphExec_t executable;
  MUST(cudaGraphInstantiate(&executable, graph, 0));
  bool good = count_of_last == 1;
  const unsigned expected[] = {11, 21, 31, 1};  // no body is that of 3
  for (unsigned i = 0; i < 4; ++i) {
    write(number, i);
    write(to, 0);
    MUST(cudaGraphLaunch(executable, stream));
    MUST(cudaStreamSynchronize(stream));
    good = good && read(to) == expected[i];
  }
  MUST(cudaGraphExecDestroy(executable));
  MUST(cudaGraphDestroy(graph));
  MUST(cudaStreamDestroy(stream));
  return good;
}

// The default is there again at each launch.
bool with_default(unsigned* number, unsigned* steps) {
  cudaGraph_t graph;
  MUST(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle again;
  MUST(cudaGraphConditionalHandleCreate(&again, graph, 1, cudaGraphCondAssignDefault));
  cudaGraphNode_t loop;
  cudaGraphExec_t executable;
  // Nothing depends on it yet.
  bool good = cudaGraphInstantiate(&executable, graph, 0) == cudaErrorInvalidValue;
  cudaGraph_t body = *add_condition(&loop, graph, nullptr, 0, again, cudaGraphCondTypeWhile, 1);
  cudaStream_t stream;
  MUST(cudaStreamCreate(&stream));
  MUST(cudaStreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
  count<<<1, 1, 0, stream>>>(steps);
  count_down<<<1, 1, 0, stream>>>(number, again);
  MUST(cudaStreamEndCapture(stream, nullptr));
  MUST(cudaGraphInstantiate(&executable, graph, 0));
  write(steps, 0);
  for (int i = 0; i < 2; ++i) {
    write(number, 5);
    MUST(cudaGraphLaunch(executable, stream));
    MUST(cudaStreamSynchronize(stream));
    good = good && read(number) == 0;
  }
  good = good && read(steps) == 10;
  MUST(cudaGraphExecDestroy(executable));
  MUST(cudaGraphDestroy(graph));
  MUST(cudaStreamDestroy(stream));
  return good;
}

}  // namespace

int main() {
  unsigned *a, *b;
  MUST(cudaMalloc(&a, sizeof *a));
  MUST(cudaMalloc(&b, sizeof *b));
  const bool loop = steps_to_one(a, b), choice = one_of_three(a, b), again = with_default(a, b);
  std::printf("loop %d, switch %d, default %d\n", loop, choice, again);
  MUST(cudaFree(a));
  MUST(cudaFree(b));
  return verdict(loop && choice && again);
}
