// Captures and graphs, and attributes of streams and nodes, as a program uses them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "runtime/cudart/test_program.h"

extern "C" {
cudaError_t cudaStreamBeginCapture(cudaStream_t, int);
cudaError_t cudaStreamIsCapturing(cudaStream_t, int*);
cudaError_t cudaThreadExchangeStreamCaptureMode(int*);
cudaError_t cudaEventRecordWithFlags(cudaEvent_t, cudaStream_t, unsigned);
cudaError_t cudaEventQuery(cudaEvent_t);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t*, unsigned);
struct UpdateResult {
  int result;
  cudaGraphNode_t node, from;
};
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t, cudaGraph_t, UpdateResult*);
cudaError_t cudaGraphCreate(cudaGraph_t*, unsigned);
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*, size_t, void*,
                                     const void*, size_t, cudaMemcpyKind);
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t, cudaGraphNode_t, const cudaMemcpy3DParms*);
cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t, cudaMemcpy3DParms*);
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*, size_t);
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*, size_t,
                                   const cudaKernelNodeParams*);
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*, size_t,
                                       cudaGraph_t);
cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t, cudaGraph_t*);
cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t, cudaGraphNode_t, cudaGraph_t);
cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*, size_t,
                                           const void*, const void*, size_t, size_t, cudaMemcpyKind);
cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t, const void*, const void*, size_t, size_t,
                                                 cudaMemcpyKind);
cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t, cudaGraphNode_t, const void*,
                                                     const void*, size_t, size_t, cudaMemcpyKind);
cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t, cudaGraphNode_t, void*, const void*,
                                                       size_t, size_t, cudaMemcpyKind);
cudaError_t cudaStreamGetAttribute(cudaStream_t, int, void*);
cudaError_t cudaStreamSetAttribute(cudaStream_t, int, const void*);
cudaError_t cudaStreamCopyAttributes(cudaStream_t, cudaStream_t);
cudaError_t cudaStreamGetPriority(cudaStream_t, int*);
cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t, int, void*);
cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t, int, const void*);
cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t, cudaGraphNode_t);
struct InstantiateParameters {
  unsigned long long flags;
  cudaStream_t stream;
  cudaGraphNode_t node;
  int result;
};
cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t*, cudaGraph_t, InstantiateParameters*);
cudaError_t cudaGraphAddDependencies(cudaGraph_t, const cudaGraphNode_t*, const cudaGraphNode_t*, const void*,
                                     size_t);
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t, const char*, unsigned);
cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*, size_t,
                                        cudaEvent_t);
cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t, cudaEvent_t*);
cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t, cudaEvent_t);
cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t, cudaEvent_t*);
cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t, cudaGraphNode_t, cudaEvent_t);
cudaError_t cudaUserObjectCreate(void**, void*, cudaHostFn_t, unsigned, unsigned);
cudaError_t cudaUserObjectRetain(void*, unsigned);
cudaError_t cudaUserObjectRelease(void*, unsigned);
cudaError_t cudaGraphRetainUserObject(cudaGraph_t, void*, unsigned, unsigned);
cudaError_t cudaGraphReleaseUserObject(cudaGraph_t, void*, unsigned);
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t, int*);
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t*);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t*, cudaGraph_t, unsigned long long);
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t);
cudaError_t cudaGraphDestroy(cudaGraph_t);
cudaError_t cudaGraphGetNodes(cudaGraph_t, cudaGraphNode_t*, size_t*);
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t, cudaKernelNodeParams*);
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t, cudaGraphNode_t, const cudaKernelNodeParams*);
}

namespace gpusim::runtime::test_program {
namespace {

TEST_F(Cudart, GraphsAreCapturedAndLaunchedAgain) {
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  ASSERT_EQ(cudaStreamCreate(&stream), 0);
  float* const y = device_floats({1, 1});
  ASSERT_EQ(cudaStreamBeginCapture(stream, 0), 0);
  ASSERT_EQ(scale(y, 2, 2, stream), 0);
  ASSERT_EQ(scale(y, 5, 1, stream), 0);
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), 0);
  size_t count = 0;
  ASSERT_EQ(cudaGraphGetNodes(graph, nullptr, &count), 0);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(host_floats(y, 2), (std::vector<float>{1, 1}));  // nothing has run yet
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), 0);
  ASSERT_EQ(cudaGraphLaunch(executable, stream), 0);
  ASSERT_EQ(cudaGraphLaunch(executable, stream), 0);
  ASSERT_EQ(cudaStreamSynchronize(stream), 0);
  EXPECT_EQ(host_floats(y, 2), (std::vector<float>{100, 4}));
  // A captured node is changed by what it says of itself.
  std::vector<cudaGraphNode_t> nodes(count);
  ASSERT_EQ(cudaGraphGetNodes(graph, nodes.data(), &count), 0);
  cudaKernelNodeParams p{};
  ASSERT_EQ(cudaGraphKernelNodeGetParams(nodes[1], &p), 0);
  EXPECT_EQ(p.func, &scale_stub);
  float a = 3;
  p.kernelParams[1] = &a;
  ASSERT_EQ(cudaGraphExecKernelNodeSetParams(executable, nodes[1], &p), 0);
  ASSERT_EQ(cudaGraphLaunch(executable, stream), 0);
  ASSERT_EQ(cudaStreamSynchronize(stream), 0);
  EXPECT_EQ(host_floats(y, 2), (std::vector<float>{600, 8}));
  EXPECT_EQ(cudaGraphExecDestroy(executable), 0);
  EXPECT_EQ(cudaGraphDestroy(graph), 0);
  EXPECT_EQ(cudaGraphDestroy(graph), error(Code::kInvalidValue));
}

TEST_F(Cudart, CallsThatCannotBeCapturedInvalidateTheCapture) {
  cudaStream_t stream, other;
  cudaEvent_t event, outside;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, 1), 0);
  ASSERT_EQ(cudaStreamCreate(&other), 0);
  ASSERT_EQ(cudaEventCreate(&event), 0);
  ASSERT_EQ(cudaEventCreate(&outside), 0);
  ASSERT_EQ(cudaEventRecord(outside, other), 0);
  float* const y = device_floats({1});
  void* p = nullptr;
  const auto status_of = [](cudaStream_t s) {
    int status = -1;
    EXPECT_EQ(cudaStreamIsCapturing(s, &status), 0);
    return status;
  };
  const auto begin = [&](int mode) {
    ASSERT_EQ(cudaStreamBeginCapture(stream, mode), 0);
    ASSERT_EQ(scale(y, 2, 1, stream), 0);
    EXPECT_EQ(status_of(stream), 1);
  };
  const auto expect_invalid = [&] {
    cudaGraph_t graph = reinterpret_cast<cudaGraph_t>(&p);
    EXPECT_EQ(status_of(stream), 2);
    EXPECT_EQ(scale(y, 2, 1, stream), error(Code::kStreamCaptureInvalidated));
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), error(Code::kStreamCaptureInvalidated));
    EXPECT_EQ(graph, nullptr);
    EXPECT_EQ(status_of(stream), 0);
  };
  const auto expect_valid = [&] {
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), 0);
    EXPECT_EQ(cudaGraphDestroy(graph), 0);
  };
  constexpr int kGlobal = 0, kThreadLocal = 1, kRelaxed = 2;
  const int unsupported = error(Code::kStreamCaptureUnsupported);
  begin(kRelaxed);
  EXPECT_EQ(cudaStreamSynchronize(stream), unsupported);
  expect_invalid();
  begin(kRelaxed);
  EXPECT_EQ(cudaDeviceSynchronize(), unsupported);
  expect_invalid();
  begin(kRelaxed);
  EXPECT_EQ(cudaEventRecord(event, stream), 0);
  EXPECT_EQ(cudaEventSynchronize(event), error(Code::kCapturedEvent));
  expect_invalid();
  // A stream that was drawn in is of the same capture; what was recorded outside is not.
  begin(kRelaxed);
  EXPECT_EQ(cudaEventRecord(event, stream), 0);
  EXPECT_EQ(cudaStreamWaitEvent(other, event, 0), 0);
  EXPECT_EQ(status_of(other), 1);
  EXPECT_EQ(cudaStreamWaitEvent(other, outside, 0), error(Code::kStreamCaptureIsolation));
  EXPECT_EQ(status_of(other), 2);
  expect_invalid();
  EXPECT_EQ(status_of(other), 0);
  // The legacy default stream would wait for a blocking stream.
  begin(kRelaxed);
  EXPECT_EQ(cudaMemset(y, 0, 4), 0);
  expect_valid();
  ASSERT_EQ(cudaStreamBeginCapture(other, kRelaxed), 0);
  EXPECT_EQ(cudaMemset(y, 0, 4), error(Code::kStreamCaptureImplicit));
  EXPECT_EQ(status_of(other), 2);
  cudaGraph_t none = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(other, &none), error(Code::kStreamCaptureInvalidated));
  // Potentially unsafe calls, of this thread and of others
  const auto elsewhere = [&](int mode) {
    cudaError_t result = -1;
    std::thread([&] {
      if (cudaThreadExchangeStreamCaptureMode(&mode) == 0) result = cudaMalloc(&p, 4);
    }).join();
    return result;
  };
  begin(kGlobal);
  EXPECT_EQ(cudaMalloc(&p, 4), unsupported);
  expect_invalid();
  begin(kGlobal);
  EXPECT_EQ(cudaEventQuery(outside), unsupported);
  expect_invalid();
  begin(kGlobal);
  EXPECT_EQ(elsewhere(kThreadLocal), 0);
  EXPECT_EQ(elsewhere(kRelaxed), 0);
  EXPECT_EQ(status_of(stream), 1);
  EXPECT_EQ(elsewhere(kGlobal), unsupported);
  expect_invalid();
  begin(kThreadLocal);
  EXPECT_EQ(elsewhere(kGlobal), 0);
  EXPECT_EQ(status_of(stream), 1);
  EXPECT_EQ(cudaMalloc(&p, 4), unsupported);
  expect_invalid();
  begin(kRelaxed);
  EXPECT_EQ(cudaMalloc(&p, 4), 0);
  expect_valid();
  int mode = kRelaxed;
  // The mode is the same for both libraries.
  void* exchange = nullptr;
  int found = -1;
  ASSERT_EQ(
      cudaGetDriverEntryPointByVersion("cuThreadExchangeStreamCaptureMode", &exchange, 12000, 0, &found), 0);
  ASSERT_EQ(reinterpret_cast<int (*)(int*)>(exchange)(&mode), 0);
  EXPECT_EQ(mode, kGlobal);
  begin(kGlobal);
  EXPECT_EQ(cudaMalloc(&p, 4), 0);
  expect_valid();
  ASSERT_EQ(cudaThreadExchangeStreamCaptureMode(&mode), 0);
  EXPECT_EQ(mode, kRelaxed);
  mode = 3;
  EXPECT_EQ(cudaThreadExchangeStreamCaptureMode(&mode), error(Code::kInvalidValue));
  // Only a relaxed capture ends in another thread.
  begin(kGlobal);
  std::thread([&] {
    EXPECT_EQ(cudaStreamEndCapture(stream, &none), error(Code::kStreamCaptureWrongThread));
  }).join();
  expect_valid();
}

TEST_F(Cudart, ACopyOfBytesIsAskedForAsOneOfThreeDimensions) {
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t node = nullptr;
  void* device = nullptr;
  std::vector<int> host(8);
  ASSERT_EQ(cudaMalloc(&device, 32), 0);
  ASSERT_EQ(cudaGraphCreate(&graph, 0), 0);
  ASSERT_EQ(
      cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, device, host.data(), 32, cudaMemcpyHostToDevice), 0);
  cudaMemcpy3DParms p{};
  ASSERT_EQ(cudaGraphMemcpyNodeGetParams(node, &p), 0);
  EXPECT_EQ(p.srcPtr.ptr, host.data());
  EXPECT_EQ(p.dstPtr.ptr, device);
  EXPECT_EQ(p.extent.width, 32u);
  EXPECT_EQ(p.extent.height * p.extent.depth, 1u);
  EXPECT_EQ(p.kind, cudaMemcpyHostToDevice);
  ASSERT_EQ(cudaGraphDestroy(graph), 0);
}

TEST_F(Cudart, ExternalEventsAreNodesOfACapturedGraph) {
  cudaStream_t stream;
  cudaEvent_t before, after;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  ASSERT_EQ(cudaStreamCreate(&stream), 0);
  ASSERT_EQ(cudaEventCreate(&before), 0);
  ASSERT_EQ(cudaEventCreate(&after), 0);
  constexpr unsigned kExternal = 1;
  EXPECT_EQ(cudaEventRecordWithFlags(before, stream, kExternal), error(Code::kIllegalState));
  EXPECT_EQ(cudaEventRecordWithFlags(before, stream, 2), error(Code::kInvalidValue));
  float* const y = device_floats({1});
  ASSERT_EQ(cudaStreamBeginCapture(stream, 0), 0);
  ASSERT_EQ(cudaEventRecordWithFlags(before, stream, kExternal), 0);
  ASSERT_EQ(scale(y, 2, 1, stream), 0);
  ASSERT_EQ(cudaEventRecordWithFlags(after, stream, kExternal), 0);
  ASSERT_EQ(cudaStreamWaitEvent(stream, before, kExternal), 0);
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), 0);
  std::vector<cudaGraphNode_t> nodes(8);
  size_t count = nodes.size();
  ASSERT_EQ(cudaGraphGetNodes(graph, nodes.data(), &count), 0);
  ASSERT_EQ(count, 4u);
  std::vector<int> types(count);
  for (size_t i = 0; i < count; ++i) EXPECT_EQ(cudaGraphNodeGetType(nodes[i], &types[i]), 0);
  EXPECT_EQ(types, (std::vector<int>{7, 0, 7, 6}));  // record, kernel, record, wait
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), 0);
  ASSERT_EQ(cudaGraphLaunch(executable, stream), 0);
  ASSERT_EQ(cudaStreamSynchronize(stream), 0);
  float milliseconds = 0;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, before, after), 0);
  EXPECT_GT(milliseconds, 0);
  EXPECT_EQ(cudaEventDestroy(after), 0);
  EXPECT_EQ(cudaGraphLaunch(executable, stream), error(Code::kInvalidResourceHandle));
  // What is destroyed while it is captured leaves nothing behind that a new event could be taken for.
  ASSERT_EQ(cudaStreamBeginCapture(stream, 0), 0);
  for (int i = 0; i < 8; ++i) {
    cudaEvent_t event = nullptr;
    ASSERT_EQ(cudaEventCreate(&event), 0);
    EXPECT_EQ(cudaStreamWaitEvent(stream, event, 0), 0);
    ASSERT_EQ(cudaEventRecord(event, stream), 0);
    ASSERT_EQ(cudaEventDestroy(event), 0);
  }
  cudaEvent_t fresh = nullptr;
  ASSERT_EQ(cudaEventCreate(&fresh), 0);
  EXPECT_EQ(cudaEventSynchronize(fresh), 0);
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), 0);
}

TEST_F(Cudart, AnUpdateOfAGraphSaysWhatHasChanged) {
  const cudaKernelNodeParams count{&count_stub, {1, 1, 1}, {32, 1, 1}, 0, nullptr, nullptr};
  const cudaKernelNodeParams greet{&greet_stub, {1, 1, 1}, {1, 1, 1}, 0, nullptr, nullptr};
  struct Made {
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t a = nullptr, b = nullptr, c = nullptr;
  };
  // A kernel, an empty node, and one that comes after one of them.
  const auto make = [](const cudaKernelNodeParams& kernel, bool after_kernel) {
    Made m;
    EXPECT_EQ(cudaGraphCreate(&m.graph, 0), 0);
    EXPECT_EQ(cudaGraphAddKernelNode(&m.a, m.graph, nullptr, 0, &kernel), 0);
    EXPECT_EQ(cudaGraphAddEmptyNode(&m.b, m.graph, nullptr, 0), 0);
    EXPECT_EQ(cudaGraphAddEmptyNode(&m.c, m.graph, after_kernel ? &m.a : &m.b, 1), 0);
    return m;
  };
  const Made first = make(count, true);
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&executable, first.graph, 0), 0);
  const auto expect = [&](cudaGraph_t graph, int result, cudaGraphNode_t node, cudaGraphNode_t from) {
    UpdateResult r{};
    EXPECT_EQ(cudaGraphExecUpdate(executable, graph, &r),
              result == 0 ? 0 : error(Code::kGraphExecUpdateFailure));
    EXPECT_EQ(r.result, result);
    EXPECT_EQ(r.node, node);
    EXPECT_EQ(r.from, from);
  };
  constexpr int kTopology = 2, kType = 3;
  const Made rewired = make(count, false);
  expect(rewired.graph, kTopology, rewired.c, rewired.b);
  Made other;
  ASSERT_EQ(cudaGraphCreate(&other.graph, 0), 0);
  ASSERT_EQ(cudaGraphAddEmptyNode(&other.a, other.graph, nullptr, 0), 0);
  expect(other.graph, kTopology, nullptr, nullptr);
  ASSERT_EQ(cudaGraphAddEmptyNode(&other.b, other.graph, nullptr, 0), 0);
  ASSERT_EQ(cudaGraphAddEmptyNode(&other.c, other.graph, &other.a, 1), 0);
  expect(other.graph, kType, other.a, nullptr);
  // Since CUDA 11.2 the function may be another.
  const Made greeting = make(greet, true);
  expect(greeting.graph, 0, nullptr, nullptr);
  testing::internal::CaptureStdout();
  EXPECT_EQ(cudaGraphLaunch(executable, nullptr), 0);
  EXPECT_EQ(cudaDeviceSynchronize(), 0);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "Hi\n");
}

TEST_F(Cudart, NodesKeepTheirNamesWhenAGraphIsUpdated) {
  float* const y = device_floats({1});
  unsigned n = 1;
  float a = 2;
  float* to = y;
  void* arguments[] = {&to, &a, &n};
  const cudaKernelNodeParams p{&scale_stub, {1, 1, 1}, {32, 1, 1}, 0, arguments, nullptr};
  struct Made {
    cudaGraph_t outer = nullptr, inner = nullptr;
    cudaGraphNode_t child = nullptr, kernel = nullptr;
  };
  const auto make = [&](float factor) {
    a = factor;
    Made m;
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaGraphCreate(&graph, 0), 0);
    EXPECT_EQ(cudaGraphAddKernelNode(&m.kernel, graph, nullptr, 0, &p), 0);
    EXPECT_EQ(cudaGraphCreate(&m.outer, 0), 0);
    EXPECT_EQ(cudaGraphAddChildGraphNode(&m.child, m.outer, nullptr, 0, graph), 0);
    EXPECT_EQ(cudaGraphChildGraphNodeGetGraph(m.child, &m.inner), 0);
    size_t count = 1;
    EXPECT_EQ(cudaGraphGetNodes(m.inner, &m.kernel, &count), 0);
    return m;
  };
  const Made first = make(2), second = make(3);
  cudaGraphExec_t executable = nullptr;
  const auto launched = [&] {
    EXPECT_EQ(cudaGraphLaunch(executable, nullptr), 0);
    return host_floats(y, 1)[0];
  };
  ASSERT_EQ(cudaGraphInstantiate(&executable, first.outer, 0), 0);
  EXPECT_EQ(launched(), 2);
  UpdateResult result{};
  ASSERT_EQ(cudaGraphExecUpdate(executable, second.outer, &result), 0);
  EXPECT_EQ(launched(), 6);
  a = 5;
  ASSERT_EQ(cudaGraphExecKernelNodeSetParams(executable, first.kernel, &p), 0);
  EXPECT_EQ(cudaGraphExecKernelNodeSetParams(executable, second.kernel, &p), error(Code::kInvalidValue));
  EXPECT_EQ(launched(), 30);
  ASSERT_EQ(cudaGraphExecChildGraphNodeSetParams(executable, first.child, first.inner), 0);
  EXPECT_EQ(launched(), 60);
  EXPECT_EQ(cudaGraphExecChildGraphNodeSetParams(executable, first.child, first.outer),
            error(Code::kInvalidValue));
}

TEST_F(Cudart, CopiesToSymbolsAreChanged) {
  const float one = 1, two = 2, three = 3;
  float back = 0;
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t node = nullptr;
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaGraphCreate(&graph, 0), 0);
  const auto kind = cudaMemcpyHostToDevice;
  ASSERT_EQ(cudaGraphAddMemcpyNodeToSymbol(&node, graph, nullptr, 0, offset_shadow, &one, 4, 0, kind), 0);
  ASSERT_EQ(cudaGraphMemcpyNodeSetParamsToSymbol(node, offset_shadow, &two, 4, 0, kind), 0);
  EXPECT_EQ(cudaGraphMemcpyNodeSetParamsToSymbol(node, offset_shadow, &two, 4, 1, kind),
            error(Code::kInvalidValue));
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), 0);
  float* const y = device_floats({0});
  const auto offset = [&] {
    EXPECT_EQ(cudaGraphLaunch(executable, nullptr), 0);
    EXPECT_EQ(scale(y, 0, 1), 0);
    return host_floats(y, 1)[0];
  };
  EXPECT_EQ(offset(), 2);
  ASSERT_EQ(cudaGraphExecMemcpyNodeSetParamsToSymbol(executable, node, offset_shadow, &three, 4, 0, kind), 0);
  EXPECT_EQ(offset(), 3);
  // Neither a copy of nothing nor one the other way.
  EXPECT_EQ(cudaGraphExecMemcpyNodeSetParamsToSymbol(executable, node, offset_shadow, &two, 0, 0, kind),
            error(Code::kInvalidValue));
  EXPECT_EQ(cudaGraphExecMemcpyNodeSetParamsFromSymbol(executable, node, &back, offset_shadow, 4, 0,
                                                       cudaMemcpyDeviceToHost),
            error(Code::kInvalidValue));
  const cudaMemcpy3DParms nothing{};
  EXPECT_EQ(cudaGraphExecMemcpyNodeSetParams(executable, node, &nothing), error(Code::kInvalidValue));
  EXPECT_EQ(offset(), 3);
  cudaGraph_t returning = nullptr;
  cudaGraphNode_t out = nullptr;
  ASSERT_EQ(cudaGraphCreate(&returning, 0), 0);
  ASSERT_EQ(cudaGraphAddMemcpyNode1D(&out, returning, nullptr, 0, &back, y, 4, cudaMemcpyDeviceToHost), 0);
  UpdateResult changed{};
  constexpr int kParametersChanged = 5;
  EXPECT_EQ(cudaGraphExecUpdate(executable, returning, &changed), error(Code::kGraphExecUpdateFailure));
  EXPECT_EQ(changed.result, kParametersChanged);
  EXPECT_EQ(changed.node, out);
  cudaGraphExec_t returned = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&returned, returning, 0), 0);
  ASSERT_EQ(cudaGraphExecMemcpyNodeSetParamsFromSymbol(returned, out, &back, offset_shadow, 4, 0,
                                                       cudaMemcpyDeviceToHost),
            0);
  ASSERT_EQ(cudaGraphLaunch(returned, nullptr), 0);
  ASSERT_EQ(cudaStreamSynchronize(nullptr), 0);
  EXPECT_EQ(back, 3);
  const cudaKernelNodeParams kernel{&count_stub, {1, 1, 1}, {32, 1, 1}, 0, nullptr, nullptr};
  EXPECT_EQ(cudaGraphExecKernelNodeSetParams(executable, node, &kernel), error(Code::kInvalidValue));
}

TEST_F(Cudart, AttributesOfStreamsAndNodesAreRemembered) {
  constexpr int kCooperative = 2, kSynchronization = 3, kPriority = 8;
  cudaStream_t first, second;
  ASSERT_EQ(cudaStreamCreate(&first), 0);
  ASSERT_EQ(cudaStreamCreate(&second), 0);
  int value[16] = {7};
  EXPECT_EQ(cudaStreamGetAttribute(first, kPriority, value), 0);
  EXPECT_EQ(value[0], 0);
  value[0] = -3;
  EXPECT_EQ(cudaStreamSetAttribute(first, kPriority, value), 0);
  value[0] = 2;
  EXPECT_EQ(cudaStreamSetAttribute(first, kSynchronization, value), 0);
  EXPECT_EQ(cudaStreamCopyAttributes(second, first), 0);
  int priority = 0;
  EXPECT_EQ(cudaStreamGetPriority(second, &priority), 0);
  EXPECT_EQ(priority, -3);
  value[0] = 0;
  EXPECT_EQ(cudaStreamGetAttribute(second, kSynchronization, value), 0);
  EXPECT_EQ(value[0], 2);
  EXPECT_EQ(cudaStreamGetAttribute(second, kCooperative, value), error(Code::kInvalidValue));
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t a = nullptr, b = nullptr, empty = nullptr;
  const cudaKernelNodeParams p{&count_stub, {1, 1, 1}, {32, 1, 1}, 0, nullptr, nullptr};
  ASSERT_EQ(cudaGraphCreate(&graph, 0), 0);
  ASSERT_EQ(cudaGraphAddKernelNode(&a, graph, nullptr, 0, &p), 0);
  ASSERT_EQ(cudaGraphAddKernelNode(&b, graph, nullptr, 0, &p), 0);
  ASSERT_EQ(cudaGraphAddEmptyNode(&empty, graph, nullptr, 0), 0);
  value[0] = -1;
  EXPECT_EQ(cudaGraphKernelNodeSetAttribute(a, kPriority, value), 0);
  EXPECT_EQ(cudaGraphKernelNodeSetAttribute(a, kCooperative, value), 0);
  EXPECT_EQ(cudaGraphKernelNodeCopyAttributes(b, a), 0);
  EXPECT_EQ(cudaGraphKernelNodeGetAttribute(b, kCooperative, value), 0);
  EXPECT_EQ(value[0], 1);
  EXPECT_EQ(cudaGraphKernelNodeGetAttribute(b, kPriority, value), 0);
  EXPECT_EQ(value[0], -1);
  EXPECT_EQ(cudaGraphKernelNodeGetAttribute(empty, kPriority, value), error(Code::kInvalidValue));
}

TEST_F(Cudart, GraphsAreInstantiatedPrintedAndKeepObjects) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  cudaGraphNode_t a = nullptr, record = nullptr;
  cudaEvent_t first, second, event = nullptr;
  const cudaKernelNodeParams p{&count_stub, {3, 1, 1}, {32, 1, 1}, 0, nullptr, nullptr};
  ASSERT_EQ(cudaEventCreate(&first), 0);
  ASSERT_EQ(cudaEventCreate(&second), 0);
  ASSERT_EQ(cudaGraphCreate(&graph, 0), 0);
  ASSERT_EQ(cudaGraphAddKernelNode(&a, graph, nullptr, 0, &p), 0);
  ASSERT_EQ(cudaGraphAddEventRecordNode(&record, graph, &a, 1, first), 0);
  EXPECT_EQ(cudaGraphEventRecordNodeGetEvent(record, &event), 0);
  EXPECT_EQ(event, first);
  EXPECT_EQ(cudaGraphEventWaitNodeGetEvent(record, &event), error(Code::kInvalidValue));
  EXPECT_EQ(cudaGraphEventRecordNodeSetEvent(record, second), 0);
  EXPECT_EQ(cudaGraphEventRecordNodeGetEvent(record, &event), 0);
  EXPECT_EQ(event, second);
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "graph.dot";
  EXPECT_EQ(cudaGraphDebugDotPrint(graph, file.c_str(), 0), 0);
  std::ifstream in(file);
  const std::string dot((std::istreambuf_iterator<char>(in)), {});
  EXPECT_EQ(dot.find("digraph dot {"), 0u) << dot;
  EXPECT_NE(dot.find("count\\ngrid 3,1,1"), std::string::npos) << dot;
  EXPECT_NE(dot.find("\"graph_0_node_0\" -> \"graph_0_node_1\""), std::string::npos) << dot;
  std::filesystem::remove(file);
  EXPECT_EQ(cudaGraphDebugDotPrint(graph, "/no/such/folder/graph.dot", 0), error(Code::kOperatingSystem));
  // An object lives as long as the program, a graph or an executable graph refers to it.
  static int destroyed;
  destroyed = 0;
  int data = 1;
  void* object = nullptr;
  const auto destroy = [](void* of) { destroyed += *static_cast<int*>(of); };
  EXPECT_EQ(cudaUserObjectCreate(&object, &data, destroy, 1, 0), error(Code::kInvalidValue));
  ASSERT_EQ(cudaUserObjectCreate(&object, &data, destroy, 1, 1), 0);
  EXPECT_EQ(cudaUserObjectRetain(object, 2), 0);
  EXPECT_EQ(cudaUserObjectRelease(object, 2), 0);
  EXPECT_EQ(cudaUserObjectRelease(object, 2), error(Code::kInvalidValue));
  ASSERT_EQ(cudaGraphRetainUserObject(graph, object, 1, 1), 0);
  EXPECT_EQ(cudaUserObjectRelease(object, 1), error(Code::kInvalidValue));  // the graph has it
  InstantiateParameters parameters{0, nullptr, nullptr, 9};
  ASSERT_EQ(cudaGraphInstantiateWithParams(&executable, graph, &parameters), 0);
  EXPECT_EQ(parameters.result, 0);
  EXPECT_EQ(cudaGraphReleaseUserObject(graph, object, 1), 0);
  EXPECT_EQ(destroyed, 0);
  EXPECT_EQ(cudaGraphExecEventRecordNodeSetEvent(executable, record, first), 0);
  EXPECT_EQ(cudaGraphLaunch(executable, nullptr), 0);
  EXPECT_EQ(cudaStreamSynchronize(nullptr), 0);
  float milliseconds = 0;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, first, first), 0);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, second, second), error(Code::kInvalidResourceHandle));
  EXPECT_EQ(cudaGraphExecDestroy(executable), 0);
  EXPECT_EQ(destroyed, 1);
  // A circle has no order.
  ASSERT_EQ(cudaGraphAddDependencies(graph, &record, &a, nullptr, 1), 0);
  EXPECT_EQ(cudaGraphInstantiateWithParams(&executable, graph, &parameters), error(Code::kInvalidValue));
  EXPECT_EQ(parameters.result, 2);
}

TEST_F(Cudart, AStreamThatIsCapturedTakesWhatTheDriverSubmits) {
  void *fill = nullptr, *launch = nullptr;
  int status = -1;
  ASSERT_EQ(cudaGetDriverEntryPointByVersion("cuMemsetD32Async", &fill, 12000, 0, &status), 0);
  ASSERT_EQ(cudaGetDriverEntryPointByVersion("cuGraphLaunch", &launch, 12000, 0, &status), 0);
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  ASSERT_EQ(cudaStreamCreate(&stream), 0);
  float* const y = device_floats({1});
  ASSERT_EQ(cudaStreamBeginCapture(stream, 0), 0);
  ASSERT_EQ(reinterpret_cast<int (*)(unsigned long long, unsigned, size_t, cudaStream_t)>(fill)(
                reinterpret_cast<unsigned long long>(y), 0x40400000, 1, stream),
            0);
  ASSERT_EQ(scale(y, 2, 1, stream), 0);
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), 0);
  EXPECT_EQ(host_floats(y, 1), std::vector<float>{1});
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), 0);
  ASSERT_EQ(reinterpret_cast<int (*)(cudaGraphExec_t, cudaStream_t)>(launch)(executable, stream), 0);
  ASSERT_EQ(cudaStreamSynchronize(stream), 0);
  EXPECT_EQ(host_floats(y, 1), std::vector<float>{6});
}

}  // namespace
}  // namespace gpusim::runtime::test_program
