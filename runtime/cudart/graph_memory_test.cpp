// Memory nodes of graphs, added and captured, as a program uses them.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "runtime/cudart/abi.h"
#include "runtime/device/error.h"

extern "C" {
cudaError_t cudaMalloc(void**, size_t);
cudaError_t cudaFree(void*);
cudaError_t cudaMallocAsync(void**, size_t, cudaStream_t);
cudaError_t cudaFreeAsync(void*, cudaStream_t);
cudaError_t cudaMemsetAsync(void*, int, size_t, cudaStream_t);
cudaError_t cudaMemcpyAsync(void*, const void*, size_t, cudaMemcpyKind, cudaStream_t);
cudaError_t cudaMemcpy(void*, const void*, size_t, cudaMemcpyKind);
cudaError_t cudaMemGetInfo(size_t*, size_t*);
cudaError_t cudaStreamCreate(cudaStream_t*);
cudaError_t cudaStreamDestroy(cudaStream_t);
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaStreamBeginCapture(cudaStream_t, int);
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t*);
cudaError_t cudaGraphCreate(cudaGraph_t*, unsigned);
cudaError_t cudaGraphDestroy(cudaGraph_t);
cudaError_t cudaGraphClone(cudaGraph_t*, cudaGraph_t);
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t*, cudaGraph_t, unsigned long long);
cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t, unsigned long long*);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t);
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t);
cudaError_t cudaGraphGetNodes(cudaGraph_t, cudaGraphNode_t*, size_t*);
cudaError_t cudaGraphDestroyNode(cudaGraphNode_t);
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*, size_t,
                                       cudaGraph_t);
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*, size_t,
                                   const cudaMemsetParams*);
cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*, size_t,
                                     cudaMemAllocNodeParams*);
cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*, size_t, void*);
cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t, cudaMemAllocNodeParams*);
cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t, void*);
cudaError_t cudaDeviceGetGraphMemAttribute(int, int, void*);
cudaError_t cudaDeviceSetGraphMemAttribute(int, int, void*);
cudaError_t cudaDeviceGraphMemTrim(int);
cudaError_t cudaDeviceReset();
cudaError_t cudaGraphAddNode(cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*, const void*, size_t,
                             cudaGraphNodeParams*);
}

namespace gpusim::runtime {
namespace {

const int kInvalidValue = static_cast<int>(Code::kInvalidValue);
const int kNotSupported = static_cast<int>(Code::kNotSupported);
constexpr size_t kBytes = 4096;

class GraphMemoryNodes : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("GPUSIM_CONFIG", GPUSIM_SOURCE_DIR "/configs/tesla_v100.cfg", 1);
    setenv("GPUSIM_QUIET", "1", 1);
    setenv("GPUSIM_FUNCTIONAL", "1", 1);
    ASSERT_EQ(cudaStreamCreate(&stream_), 0);
    ASSERT_EQ(cudaDeviceGraphMemTrim(0), 0);
  }
  void TearDown() override { EXPECT_EQ(cudaStreamDestroy(stream_), 0); }

  static cudaMemAllocNodeParams on_device(size_t bytes) {
    cudaMemAllocNodeParams p{};
    p.poolProps.allocType = 1;
    p.poolProps.location = {1, 0};
    p.bytesize = bytes;
    return p;
  }
  /// A graph that allocates; `memory` is what.
  static cudaGraph_t allocating(void** memory, cudaGraphNode_t* node) {
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaGraphCreate(&graph, 0), 0);
    cudaMemAllocNodeParams p = on_device(kBytes);
    EXPECT_EQ(cudaGraphAddMemAllocNode(node, graph, nullptr, 0, &p), 0);
    *memory = p.dptr;
    return graph;
  }
  static cudaGraphExec_t executable(cudaGraph_t graph, unsigned long long flags = 0) {
    cudaGraphExec_t made = nullptr;
    EXPECT_EQ(cudaGraphInstantiateWithFlags(&made, graph, flags), 0);
    return made;
  }
  static uint64_t attribute(int which) {
    uint64_t value = 0;
    EXPECT_EQ(cudaDeviceGetGraphMemAttribute(0, which, &value), 0);
    return value;
  }
  static size_t free_memory() {
    size_t free = 0, total = 0;
    EXPECT_EQ(cudaMemGetInfo(&free, &total), 0);
    return free;
  }

  cudaStream_t stream_ = nullptr;
};

TEST_F(GraphMemoryNodes, CapturedMemoryIsThereAtEachLaunch) {
  const size_t before = free_memory();
  std::vector<uint8_t> first(kBytes, 0), second(kBytes, 0);
  void *a = nullptr, *b = nullptr;
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream_, 0), 0);
  ASSERT_EQ(cudaMallocAsync(&a, kBytes, stream_), 0);
  ASSERT_EQ(cudaMallocAsync(&b, kBytes, stream_), 0);
  ASSERT_NE(a, b);
  ASSERT_EQ(cudaMemsetAsync(a, 7, kBytes, stream_), 0);
  ASSERT_EQ(cudaMemcpyAsync(b, a, kBytes, cudaMemcpyDeviceToDevice, stream_), 0);
  ASSERT_EQ(cudaFreeAsync(a, stream_), 0);
  EXPECT_EQ(cudaFreeAsync(a, stream_), kInvalidValue);  // twice in a graph
  EXPECT_EQ(cudaFreeAsync(first.data(), stream_), kInvalidValue);
  ASSERT_EQ(cudaMemcpyAsync(second.data(), b, kBytes, cudaMemcpyDeviceToHost, stream_), 0);
  ASSERT_EQ(cudaFreeAsync(b, stream_), 0);
  ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), 0);
  size_t nodes = 0;
  ASSERT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes), 0);
  EXPECT_EQ(nodes, 7u);
  EXPECT_EQ(second[0], 0) << "a capture runs nothing";
  cudaGraphExec_t const run = executable(graph);
  for (int launch = 0; launch < 3; ++launch) {
    second.assign(kBytes, 0);
    ASSERT_EQ(cudaGraphLaunch(run, stream_), 0);
    ASSERT_EQ(cudaStreamSynchronize(stream_), 0);
    EXPECT_EQ(second, std::vector<uint8_t>(kBytes, 7));
  }
  EXPECT_EQ(cudaFree(a), kInvalidValue);  // the graph has freed it
  EXPECT_EQ(cudaGraphDestroy(graph), 0);
  EXPECT_EQ(cudaGraphExecDestroy(run), 0);
  EXPECT_EQ(free_memory(), before);
}

TEST_F(GraphMemoryNodes, WhatALaunchLeavesIsFreedByTheProgram) {
  const size_t before = free_memory();
  void* memory = nullptr;
  cudaGraphNode_t node = nullptr, fill = nullptr;
  cudaGraph_t const graph = allocating(&memory, &node);
  const cudaMemsetParams p{memory, 0, 3, 1, kBytes, 1};
  ASSERT_EQ(cudaGraphAddMemsetNode(&fill, graph, &node, 1, &p), 0);
  cudaGraphExec_t const run = executable(graph);
  EXPECT_EQ(cudaFree(memory), kInvalidValue);  // nothing has been launched
  ASSERT_EQ(cudaGraphLaunch(run, stream_), 0);
  std::vector<uint8_t> values(kBytes, 0);
  ASSERT_EQ(cudaMemcpy(values.data(), memory, kBytes, cudaMemcpyDeviceToHost), 0);
  EXPECT_EQ(values, std::vector<uint8_t>(kBytes, 3));
  EXPECT_EQ(cudaGraphLaunch(run, stream_), kInvalidValue);  // it is not freed yet
  ASSERT_EQ(cudaFreeAsync(memory, stream_), 0);
  ASSERT_EQ(cudaGraphLaunch(run, stream_), 0);
  // Memory outlives its graph until it is freed.
  EXPECT_EQ(cudaGraphDestroy(graph), 0);
  EXPECT_EQ(cudaGraphExecDestroy(run), 0);
  ASSERT_EQ(cudaMemcpy(values.data(), memory, kBytes, cudaMemcpyDeviceToHost), 0);
  EXPECT_LT(free_memory(), before);
  ASSERT_EQ(cudaFree(memory), 0);
  EXPECT_EQ(cudaFree(memory), kInvalidValue);
  EXPECT_EQ(free_memory(), before);
}

TEST_F(GraphMemoryNodes, AnotherGraphMayFreeIt) {
  void* memory = nullptr;
  cudaGraphNode_t node = nullptr, freeing = nullptr;
  cudaGraph_t const graph = allocating(&memory, &node);
  cudaGraph_t other = nullptr;
  ASSERT_EQ(cudaGraphCreate(&other, 0), 0);
  ASSERT_EQ(cudaGraphAddMemFreeNode(&freeing, other, nullptr, 0, memory), 0);
  void* named = nullptr;
  ASSERT_EQ(cudaGraphMemFreeNodeGetParams(freeing, &named), 0);
  EXPECT_EQ(named, memory);
  cudaGraphNode_t second = nullptr;
  EXPECT_EQ(cudaGraphAddMemFreeNode(&second, other, nullptr, 0, memory), kInvalidValue);
  EXPECT_EQ(cudaGraphAddMemFreeNode(&second, graph, &node, 1, memory), kInvalidValue);  // nor the owner now
  cudaGraphExec_t const allocate = executable(graph), free = executable(other);
  EXPECT_EQ(cudaGraphLaunch(free, stream_), kInvalidValue);  // nothing is allocated
  for (int round = 0; round < 2; ++round) {
    ASSERT_EQ(cudaGraphLaunch(allocate, stream_), 0);
    ASSERT_EQ(cudaGraphLaunch(free, stream_), 0);
  }
  EXPECT_EQ(cudaGraphExecDestroy(free), 0);
  EXPECT_EQ(cudaGraphExecDestroy(allocate), 0);
  EXPECT_EQ(cudaGraphDestroy(other), 0);
  EXPECT_EQ(cudaGraphDestroy(graph), 0);
}

TEST_F(GraphMemoryNodes, AGraphThatFreesItsOwnIsFreedNowhereElse) {
  void* memory = nullptr;
  cudaGraphNode_t node = nullptr, freeing = nullptr;
  cudaGraph_t const graph = allocating(&memory, &node);
  ASSERT_EQ(cudaGraphAddMemFreeNode(&freeing, graph, &node, 1, memory), 0);
  cudaGraph_t other = nullptr;
  ASSERT_EQ(cudaGraphCreate(&other, 0), 0);
  EXPECT_EQ(cudaGraphAddMemFreeNode(&freeing, other, nullptr, 0, memory), kInvalidValue);
  void* plain = nullptr;
  ASSERT_EQ(cudaMalloc(&plain, 64), 0);
  EXPECT_EQ(cudaGraphAddMemFreeNode(&freeing, other, nullptr, 0, plain), kInvalidValue);
  EXPECT_EQ(cudaGraphAddMemFreeNode(&freeing, other, nullptr, 0, nullptr), kInvalidValue);
  EXPECT_EQ(cudaFree(plain), 0);
  EXPECT_EQ(cudaGraphDestroy(other), 0);
  EXPECT_EQ(cudaGraphDestroy(graph), 0);
}

TEST_F(GraphMemoryNodes, AutomaticFreeLetsItBeLaunchedAgain) {
  void* memory = nullptr;
  cudaGraphNode_t node = nullptr;
  cudaGraph_t const graph = allocating(&memory, &node);
  cudaGraphExec_t const run = executable(graph, 1);
  unsigned long long flags = 0;
  EXPECT_EQ(cudaGraphExecGetFlags(run, &flags), 0);
  EXPECT_EQ(flags, 1u);
  const uint64_t used = attribute(0);
  for (int launch = 0; launch < 3; ++launch) EXPECT_EQ(cudaGraphLaunch(run, stream_), 0);
  EXPECT_EQ(attribute(0), used + kBytes);
  EXPECT_EQ(cudaFree(memory), 0);
  EXPECT_EQ(cudaGraphExecDestroy(run), 0);
  EXPECT_EQ(cudaGraphDestroy(graph), 0);
}

TEST_F(GraphMemoryNodes, SuchGraphsAreNotCopiedContainedOrCut) {
  void* memory = nullptr;
  cudaGraphNode_t node = nullptr;
  cudaGraph_t const graph = allocating(&memory, &node);
  cudaGraph_t other = nullptr;
  EXPECT_EQ(cudaGraphClone(&other, graph), kNotSupported);
  EXPECT_EQ(cudaGraphDestroyNode(node), kNotSupported);
  ASSERT_EQ(cudaGraphCreate(&other, 0), 0);
  cudaGraphNode_t child = nullptr;
  EXPECT_EQ(cudaGraphAddChildGraphNode(&child, other, nullptr, 0, graph), kNotSupported);
  cudaGraphExec_t run = executable(graph), again = nullptr;
  EXPECT_EQ(cudaGraphInstantiateWithFlags(&again, graph, 0), kNotSupported);
  EXPECT_EQ(cudaGraphInstantiateWithFlags(&again, other, 0x100), kInvalidValue);
  EXPECT_EQ(cudaGraphExecDestroy(run), 0);
  run = executable(graph);
  EXPECT_EQ(cudaGraphExecDestroy(run), 0);
  EXPECT_EQ(cudaGraphDestroy(other), 0);
  EXPECT_EQ(cudaGraphDestroy(graph), 0);
}

TEST_F(GraphMemoryNodes, ParametersAreChecked) {
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaGraphCreate(&graph, 0), 0);
  cudaGraphNode_t node = nullptr;
  cudaMemAllocNodeParams p = on_device(0);
  EXPECT_EQ(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &p), kInvalidValue);
  EXPECT_EQ(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, nullptr), kInvalidValue);
  p = on_device(64), p.poolProps.location.id = 1;
  EXPECT_EQ(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &p), static_cast<int>(Code::kInvalidDevice));
  p = on_device(64), p.poolProps.allocType = 9;
  EXPECT_EQ(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &p), kInvalidValue);
  p = on_device(uint64_t{1} << 46);
  EXPECT_EQ(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &p),
            static_cast<int>(Code::kMemoryAllocation));
  size_t nodes = 9;
  ASSERT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes), 0);
  EXPECT_EQ(nodes, 0u);
  p = on_device(64);
  ASSERT_EQ(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &p), 0);
  cudaMemAllocNodeParams got{};
  ASSERT_EQ(cudaGraphMemAllocNodeGetParams(node, &got), 0);
  EXPECT_EQ(got.dptr, p.dptr);
  EXPECT_EQ(got.bytesize, 64u);
  EXPECT_EQ(cudaGraphMemFreeNodeGetParams(node, &got.dptr), kInvalidValue);
  EXPECT_EQ(cudaGraphDestroy(graph), 0);
}

TEST_F(GraphMemoryNodes, TheFootprintIsThatOfWhatLives) {
  uint64_t zero = 0;
  ASSERT_EQ(cudaDeviceSetGraphMemAttribute(0, 1, &zero), 0);
  ASSERT_EQ(cudaDeviceSetGraphMemAttribute(0, 3, &zero), 0);
  EXPECT_EQ(cudaDeviceSetGraphMemAttribute(0, 0, &zero), kInvalidValue);
  EXPECT_EQ(cudaDeviceGetGraphMemAttribute(0, 7, &zero), kInvalidValue);
  EXPECT_EQ(cudaDeviceGetGraphMemAttribute(1, 0, &zero), static_cast<int>(Code::kInvalidDevice));
  const uint64_t used = attribute(0), reserved = attribute(2);
  EXPECT_EQ(reserved, used);
  void *a = nullptr, *b = nullptr;
  cudaGraphNode_t node = nullptr;
  cudaGraph_t const first = allocating(&a, &node), second = allocating(&b, &node);
  cudaGraphExec_t const run_first = executable(first), run_second = executable(second);
  EXPECT_EQ(attribute(2), reserved);  // graphs that were not launched take nothing
  ASSERT_EQ(cudaGraphLaunch(run_first, stream_), 0);
  ASSERT_EQ(cudaFree(a), 0);
  ASSERT_EQ(cudaGraphLaunch(run_second, stream_), 0);  // takes what the first has left
  EXPECT_EQ(attribute(0), used + kBytes);
  EXPECT_EQ(attribute(2), reserved + kBytes);
  ASSERT_EQ(cudaFree(b), 0);
  EXPECT_EQ(attribute(2), reserved + kBytes);
  ASSERT_EQ(cudaDeviceGraphMemTrim(0), 0);
  EXPECT_EQ(attribute(2), reserved);
  EXPECT_EQ(attribute(1), used + kBytes);
  EXPECT_EQ(attribute(3), reserved + kBytes);
  for (cudaGraphExec_t run : {run_first, run_second}) EXPECT_EQ(cudaGraphExecDestroy(run), 0);
  for (cudaGraph_t graph : {first, second}) EXPECT_EQ(cudaGraphDestroy(graph), 0);
}

TEST_F(GraphMemoryNodes, AChildThatIsMovedMayAllocateAndBelongsToItsParent) {
  void* memory = nullptr;
  cudaGraphNode_t node = nullptr, after = nullptr;
  cudaGraph_t const child = allocating(&memory, &node);
  ASSERT_EQ(cudaGraphAddMemFreeNode(&after, child, &node, 1, memory), 0);
  cudaGraph_t parent = nullptr;
  ASSERT_EQ(cudaGraphCreate(&parent, 0), 0);
  cudaGraphNodeParams p{};
  p.type = 4;
  p.graph.graph = child;
  EXPECT_EQ(cudaGraphAddNode(&node, parent, nullptr, nullptr, 0, &p), kNotSupported) << "it cannot be cloned";
  p.graph.ownership = 2;
  EXPECT_EQ(cudaGraphAddNode(&node, parent, nullptr, nullptr, 0, &p), kInvalidValue);
  p.graph.ownership = 1;
  ASSERT_EQ(cudaGraphAddNode(&node, parent, nullptr, nullptr, 0, &p), 0);
  EXPECT_EQ(cudaGraphAddNode(&after, parent, nullptr, nullptr, 0, &p), kInvalidValue) << "it has a parent";
  cudaGraphExec_t made = nullptr;
  EXPECT_EQ(cudaGraphInstantiateWithFlags(&made, child, 0), kInvalidValue);
  EXPECT_EQ(cudaGraphDestroy(child), kInvalidValue);
  ASSERT_EQ(cudaGraphInstantiateWithFlags(&made, parent, 0), 0);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(cudaGraphLaunch(made, stream_), 0);
  EXPECT_EQ(cudaStreamSynchronize(stream_), 0);
  EXPECT_EQ(cudaGraphExecDestroy(made), 0);
  ASSERT_EQ(cudaGraphDestroy(parent), 0);
  size_t count = 0;
  EXPECT_EQ(cudaGraphGetNodes(child, nullptr, &count), kInvalidValue) << "it went with its parent";
}

}  // namespace
}  // namespace gpusim::runtime
