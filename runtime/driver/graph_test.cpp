// Capture, and graphs of nodes of all types, as a program asks the driver library.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "runtime/driver/work_test.h"

extern "C" {
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, cudaStream_t,
                   void**, void**);
int cuStreamSynchronize(cudaStream_t);
int cuStreamBeginCapture_v2(cudaStream_t, int);
int cuStreamEndCapture(cudaStream_t, cudaGraph_t*);
int cuStreamIsCapturing(cudaStream_t, int*);
int cuGraphCreate(cudaGraph_t*, unsigned);
int cuGraphDestroy(cudaGraph_t);
int cuGraphInstantiateWithFlags(cudaGraphExec_t*, cudaGraph_t, unsigned long long);
int cuGraphExecDestroy(cudaGraphExec_t);
int cuGraphLaunch(cudaGraphExec_t, cudaStream_t);
int cuGraphGetNodes(cudaGraph_t, cudaGraphNode_t*, size_t*);
int cuGraphAddKernelNode_v2(cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*, size_t, const void*);
int cuGraphKernelNodeGetParams_v2(cudaGraphNode_t, void*);
int cuGraphAddMemsetNode(cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*, size_t,
                         const cudaMemsetParams*, void*);
int cuGraphAddMemcpyNode(cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*, size_t, const void*, void*);
int cuGraphAddHostNode(cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*, size_t,
                       const cudaHostNodeParams*);
int cuGraphAddDependencies_v2(cudaGraph_t, const cudaGraphNode_t*, const cudaGraphNode_t*, const void*,
                              size_t);
int cuGraphAddNode_v2(cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*, const void*, size_t,
                      cudaGraphNodeParams*);
int cuGraphExecNodeSetParams(cudaGraphExec_t, cudaGraphNode_t, const cudaGraphNodeParams*);
int cuGraphAddMemFreeNode(cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*, size_t, CUdeviceptr);
int cuGraphConditionalHandleCreate(unsigned long long*, cudaGraph_t, void*, unsigned, unsigned);
int cuDeviceGetGraphMemAttribute(int, int, void*);
int cuGraphMemcpyNodeGetParams(cudaGraphNode_t, void*);
int cuGraphMemcpyNodeSetParams(cudaGraphNode_t, const void*);
int cuGetProcAddress_v2(const char*, void**, int, unsigned long long, int*);
}

namespace gpusim::runtime {
namespace {

/// CUDA_MEMCPY3D, as cuda.h lays it out.
struct Copy3d {
  struct End {
    size_t x, y, z, level;
    int type;
    const void* host;
    CUdeviceptr device;
    cudaArray_t array;
    void* reserved;
    size_t pitch, height;
  } from, to;
  size_t width, height, depth;
};

struct KernelNode {
  cudaKernelNodeParams common;
  void *kernel, *context;
};

TEST_F(DriverWork, AStreamIsCaptured) {
  uint32_t v = 3;
  void* arguments[] = {&word_, &v};
  struct {
    CUdeviceptr p;
    uint32_t v;
  } packed{word_, 40};
  size_t bytes = 12;
  void* extra[] = {reinterpret_cast<void*>(1), &packed, reinterpret_cast<void*>(2), &bytes, nullptr};
  int status = -1;
  ASSERT_EQ(cuStreamBeginCapture_v2(stream_, 0), 0);
  ASSERT_EQ(cuLaunchKernel(add_, 1, 1, 1, 1, 1, 1, 0, stream_, arguments, nullptr), 0);
  ASSERT_EQ(cuLaunchKernel(add_, 1, 1, 1, 1, 1, 1, 0, stream_, nullptr, extra), 0);
  ASSERT_EQ(cuMemsetD32Async(word_ + 4, 1, 1, stream_), 0);
  ASSERT_EQ(cuStreamIsCapturing(stream_, &status), 0);
  EXPECT_EQ(status, 1);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cuStreamEndCapture(stream_, &graph), 0);
  EXPECT_EQ(value(), 0u);  // nothing has run yet
  std::vector<cudaGraphNode_t> nodes(3);
  size_t count = 3;
  ASSERT_EQ(cuGraphGetNodes(graph, nodes.data(), &count), 0);
  ASSERT_EQ(count, 3u);
  KernelNode p{};
  ASSERT_EQ(cuGraphKernelNodeGetParams_v2(nodes[0], &p), 0);
  EXPECT_EQ(p.common.func, add_);
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cuGraphInstantiateWithFlags(&executable, graph, 0), 0);
  ASSERT_EQ(cuGraphLaunch(executable, stream_), 0);
  ASSERT_EQ(cuGraphLaunch(executable, stream_), 0);
  EXPECT_EQ(value(), (uint64_t{1} << 32) + 86);
  EXPECT_EQ(cuGraphExecDestroy(executable), 0);
  EXPECT_EQ(cuGraphDestroy(graph), 0);
}

TEST_F(DriverWork, AGraphIsMadeOfNodes) {
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cuGraphCreate(&graph, 0), 0);
  cudaGraphNode_t fill = nullptr, add = nullptr, copy = nullptr, host = nullptr;
  const cudaMemsetParams f{reinterpret_cast<void*>(word_), 0, 5, 4, 1, 1};
  ASSERT_EQ(cuGraphAddMemsetNode(&fill, graph, nullptr, 0, &f, nullptr), 0);
  uint32_t v = 2;
  void* arguments[] = {&word_, &v};
  KernelNode k{};
  k.common = {add_, {1, 1, 1}, {1, 1, 1}, 0, arguments, nullptr};
  ASSERT_EQ(cuGraphAddKernelNode_v2(&add, graph, &fill, 1, &k), 0);
  // CUDA_MEMCPY3D
  static uint32_t out;
  struct End {
    size_t x, y, z, level;
    int type;
    const void* host;
    CUdeviceptr device;
    void *array, *reserved;
    size_t pitch, height;
  };
  const struct {
    End from, to;
    size_t width, height, depth;
  } c{{0, 0, 0, 0, 2, nullptr, word_, nullptr, nullptr, 0, 0},
      {0, 0, 0, 0, 1, &out, 0, nullptr, nullptr, 0, 0},
      4,
      1,
      1};
  ASSERT_EQ(cuGraphAddMemcpyNode(&copy, graph, nullptr, 0, &c, nullptr), 0);
  ASSERT_EQ(cuGraphAddDependencies_v2(graph, &add, &copy, nullptr, 1), 0);
  static uint32_t seen;
  const cudaHostNodeParams h{[](void* from) { seen = *static_cast<uint32_t*>(from); }, &out};
  ASSERT_EQ(cuGraphAddHostNode(&host, graph, &copy, 1, &h), 0);
  cudaGraphExec_t executable = nullptr;
  // As a current toolkit's programs find it by name.
  void* instantiate = nullptr;
  ASSERT_EQ(cuGetProcAddress_v2("cuGraphInstantiate", &instantiate, 13000, 0, nullptr), 0);
  EXPECT_EQ(instantiate, reinterpret_cast<void*>(cuGraphInstantiateWithFlags));
  ASSERT_EQ(cuGraphInstantiateWithFlags(&executable, graph, 0), 0);
  ASSERT_EQ(cuGraphLaunch(executable, stream_), 0);
  ASSERT_EQ(cuStreamSynchronize(stream_), 0);
  EXPECT_EQ(seen, 7u);
}

TEST_F(DriverWork, ACopyNodeTellsWhatItWasGiven) {
  constexpr int kHost = 1, kDevice = 2;
  std::array<std::byte, 64> out{};
  Copy3d p{};
  p.from.type = kDevice, p.from.device = word_, p.from.pitch = 4;
  p.to.type = kHost, p.to.host = out.data(), p.to.pitch = 16, p.to.x = 4;
  p.width = 4, p.height = 2, p.depth = 1;
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t node = nullptr;
  ASSERT_EQ(cuGraphCreate(&graph, 0), 0);
  ASSERT_EQ(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &p, nullptr), 0);
  Copy3d back{};
  ASSERT_EQ(cuGraphMemcpyNodeGetParams(node, &back), 0);
  EXPECT_EQ(back.from.type, kDevice);
  EXPECT_EQ(back.from.device, word_);
  EXPECT_EQ(back.from.pitch, 4u);
  EXPECT_EQ(back.to.type, kHost);
  EXPECT_EQ(back.to.host, out.data());
  EXPECT_EQ(back.to.x, 4u);
  EXPECT_EQ(back.to.pitch, 16u);
  EXPECT_EQ(back.width, 4u);
  EXPECT_EQ(back.height, 2u);
  EXPECT_EQ(cuGraphMemcpyNodeSetParams(node, &back), 0) << "it may be given back";
  EXPECT_EQ(cuGraphMemcpyNodeGetParams(node, nullptr), error(Code::kInvalidValue));
  EXPECT_EQ(cuGraphDestroy(graph), 0);
}

TEST_F(DriverWork, NodesOfAllTypesAreAddedByOneFunction) {
  cudaGraph_t graph = nullptr, child = nullptr;
  ASSERT_EQ(cuGraphCreate(&graph, 0), 0);
  ASSERT_EQ(cuGraphCreate(&child, 0), 0);
  cudaGraphNode_t node = nullptr, last = nullptr, inner = nullptr;
  const auto add = [&](cudaGraphNodeParams& p, cudaGraph_t to) {
    EXPECT_EQ(cuGraphAddNode_v2(&node, to, &last, nullptr, last == nullptr ? 0 : 1, &p), 0) << p.type;
    last = node;
  };
  const auto of_type = [](int type) {
    cudaGraphNodeParams p{};
    p.type = type;
    return p;
  };
  // The child adds 5 to the word; the kernel is named as the second version of the structure does.
  uint32_t five = 5, six = 6;
  void *adds_five[] = {&word_, &five}, *adds_six[] = {&word_, &six};
  cudaGraphNodeParams kernel = of_type(0);
  kernel.kernel = {nullptr, {1, 1, 1}, {1, 1, 1}, 0, adds_five, nullptr};
  reinterpret_cast<KernelNode*>(kernel.reserved1)->kernel = add_;
  add(kernel, child);
  inner = last;
  last = nullptr;
  cudaGraphNodeParams allocation = of_type(10);
  allocation.alloc.poolProps.allocType = 1;
  allocation.alloc.poolProps.location = {1, 0};
  allocation.alloc.bytesize = 4;
  add(allocation, graph);
  ASSERT_NE(allocation.alloc.dptr, nullptr);
  cudaGraphNodeParams fill = of_type(2);
  fill.memset = {allocation.alloc.dptr, 0, 7, 4, 1, 1};
  add(fill, graph);
  // CUDA_MEMCPY_NODE_PARAMS: from the allocation to the word. 2: device memory.
  struct CopyEnd {
    size_t x, y, z, level;
    int type;
    const void* host;
    CUdeviceptr device;
    void *array, *reserved;
    size_t pitch, height;
  };
  struct {
    int flags, reserved;
    void* context;
    CopyEnd from, to;
    size_t width, height, depth;
  } copy{};
  copy.from.type = copy.to.type = 2;
  copy.from.device = reinterpret_cast<CUdeviceptr>(allocation.alloc.dptr);
  copy.to.device = word_;
  copy.width = 4, copy.height = copy.depth = 1;
  cudaGraphNodeParams copying = of_type(1);
  std::memcpy(copying.reserved1, &copy, sizeof copy);
  add(copying, graph);
  cudaGraphNodeParams freeing = of_type(11);
  freeing.free.dptr = allocation.alloc.dptr;
  add(freeing, graph);
  EXPECT_EQ(cuGraphAddMemFreeNode(&node, graph, nullptr, 0, copy.from.device), error(Code::kInvalidValue));
  cudaGraphNodeParams of_child = of_type(4);
  of_child.graph.graph = child;
  add(of_child, graph);
  // If the condition holds, which it does, the body adds as well.
  cudaGraphNodeParams conditional = of_type(13);
  ASSERT_EQ(cuGraphConditionalHandleCreate(&conditional.conditional.handle, graph, nullptr, 1, 1), 0);
  conditional.conditional.size = 1;
  add(conditional, graph);
  ASSERT_NE(conditional.conditional.phGraph_out, nullptr);
  last = nullptr;
  add(kernel, conditional.conditional.phGraph_out[0]);
  cudaGraphNodeParams empty = of_type(5), semaphore = of_type(8);
  add(empty, conditional.conditional.phGraph_out[0]);
  EXPECT_EQ(cuGraphAddNode_v2(&node, graph, nullptr, nullptr, 0, &semaphore), error(Code::kNotSupported));
  EXPECT_EQ(cuGraphAddNode_v2(&node, graph, nullptr, nullptr, 0, nullptr), error(Code::kInvalidValue));
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cuGraphInstantiateWithFlags(&executable, graph, 0), 0);
  ASSERT_EQ(cuGraphLaunch(executable, stream_), 0);
  ASSERT_EQ(cuStreamSynchronize(stream_), 0);
  EXPECT_EQ(value(), 17u);
  uint64_t used = 99;
  EXPECT_EQ(cuDeviceGetGraphMemAttribute(0, 0, &used), 0);
  EXPECT_EQ(used, 0u);
  EXPECT_EQ(cuGraphExecDestroy(executable), 0);
  // Of a graph alone the kernel is changed.
  ASSERT_EQ(cuGraphInstantiateWithFlags(&executable, child, 0), 0);
  kernel.kernel.kernelParams = adds_six;
  EXPECT_EQ(cuGraphExecNodeSetParams(executable, inner, &kernel), 0);
  EXPECT_EQ(cuGraphExecNodeSetParams(executable, inner, &copying), error(Code::kInvalidValue));
  ASSERT_EQ(cuGraphLaunch(executable, stream_), 0);
  ASSERT_EQ(cuStreamSynchronize(stream_), 0);
  EXPECT_EQ(value(), 23u);
}

}  // namespace
}  // namespace gpusim::runtime
