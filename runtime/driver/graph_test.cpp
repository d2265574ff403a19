// Capture, graphs, pools, values in memory, and questions about functions, as a program asks the driver
// library.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "runtime/cudart/abi.h"
#include "runtime/device/error.h"

extern "C" {
using CUdeviceptr = unsigned long long;
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void**, int);
int cuCtxSetCurrent(void*);
int cuModuleLoadData(void**, const void*);
int cuModuleGetFunction(void**, void*, const char*);
int cuModuleGetFunctionCount(unsigned*, void*);
int cuModuleGetLoadingMode(int*);
int cuLibraryGetKernelCount(unsigned*, void*);
int cuLibraryEnumerateKernels(void**, unsigned, void*);
int cuModuleEnumerateFunctions(void**, unsigned, void*);
int cuLibraryGetManaged(CUdeviceptr*, size_t*, void*, const char*);
int cuModuleGetGlobal_v2(CUdeviceptr*, size_t*, void*, const char*);
int cuFuncLoad(void*);
int cuFuncIsLoaded(int*, void*);
int cuFuncGetName(const char**, void*);
int cuFuncGetParamInfo(void*, size_t, size_t*, size_t*);
int cuKernelGetAttribute(int*, int, void*, int);
int cuKernelSetAttribute(int, int, void*, int);
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, cudaStream_t,
                   void**, void**);
int cuCtxGetLimit(size_t*, int);
int cuCtxSetLimit(int, size_t);
int cuDeviceGetPCIBusId(char*, int, int);
int cuDeviceGetByPCIBusId(int*, const char*);
int cuMemAlloc_v2(CUdeviceptr*, size_t);
int cuMemAllocManaged(CUdeviceptr*, size_t, unsigned);
int cuMemFree_v2(CUdeviceptr);
int cuMemcpyDtoH_v2(void*, CUdeviceptr, size_t);
int cuMemsetD32Async(CUdeviceptr, unsigned, size_t, cudaStream_t);
int cuMemAllocAsync(CUdeviceptr*, size_t, cudaStream_t);
int cuMemFreeAsync(CUdeviceptr, cudaStream_t);
int cuDeviceGetDefaultMemPool(cudaMemPool_t*, int);
int cuMemPoolGetAttribute(cudaMemPool_t, int, void*);
int cuMemAdvise_v2(CUdeviceptr, size_t, int, cudaMemLocation);
int cuMemPrefetchAsync_v2(CUdeviceptr, size_t, cudaMemLocation, unsigned, cudaStream_t);
int cuPointerGetAttributes(unsigned, const int*, void**, CUdeviceptr);
int cuStreamCreateWithPriority(cudaStream_t*, unsigned, int);
int cuStreamSynchronize(cudaStream_t);
int cuStreamQuery(cudaStream_t);
int cuStreamGetPriority(cudaStream_t, int*);
int cuStreamGetFlags(cudaStream_t, unsigned*);
int cuStreamGetCtx(cudaStream_t, void**);
int cuStreamGetId(cudaStream_t, unsigned long long*);
int cuStreamBeginCapture_v2(cudaStream_t, int);
int cuStreamEndCapture(cudaStream_t, cudaGraph_t*);
int cuStreamIsCapturing(cudaStream_t, int*);
int cuStreamWriteValue32_v2(cudaStream_t, CUdeviceptr, uint32_t, unsigned);
int cuStreamWriteValue64_v2(cudaStream_t, CUdeviceptr, uint64_t, unsigned);
int cuStreamWaitValue32_v2(cudaStream_t, CUdeviceptr, uint32_t, unsigned);
int cuStreamWaitValue64_v2(cudaStream_t, CUdeviceptr, uint64_t, unsigned);
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
int cuMemcpyBatchAsync(const CUdeviceptr*, const CUdeviceptr*, const size_t*, size_t, const void*,
                       const size_t*, size_t, size_t*, cudaStream_t);
int cuMemcpyBatchAsync_v2(const CUdeviceptr*, const CUdeviceptr*, const size_t*, size_t, const void*,
                          const size_t*, size_t, cudaStream_t);
int cuGraphMemcpyNodeGetParams(cudaGraphNode_t, void*);
int cuGraphMemcpyNodeSetParams(cudaGraphNode_t, const void*);
int cuStreamBatchMemOp_v2(cudaStream_t, unsigned, void*, unsigned);
int cuGetProcAddress_v2(const char*, void**, int, unsigned long long, int*);
int cuLaunchKernel_ptsz(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                        cudaStream_t, void**, void**);
int cuMemsetD32Async_ptsz(CUdeviceptr, unsigned, size_t, cudaStream_t);
int cuMemcpyDtoH_v2_ptds(void*, CUdeviceptr, size_t);
int cuStreamGetId_ptsz(cudaStream_t, unsigned long long*);
int cuProfilerInitialize(const char*, const char*, int);
}

namespace gpusim::runtime {
namespace {

/// CUstreamBatchMemOpParams and CUDA_MEMCPY3D, as cuda.h lays them out.
struct MemoryOperation {
  int kind;
  CUdeviceptr address;
  uint64_t value;
  unsigned flags;
  uint64_t rest[2] = {};
};
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

/// p[0] += v.
const char* const kAdd = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry add(.param .u64 p, .param .u32 v)
{
  .reg .b32 %r<4>; .reg .b64 %rd1;
  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [v];
  ld.global.u32 %r2, [%rd1];
  add.u32 %r3, %r1, %r2;
  st.global.u32 [%rd1], %r3;
  ret;
}
.visible .entry nothing() { ret; }
.visible .global .attribute(.managed) .align 4 .u32 total = 7;
)";

struct KernelNode {
  cudaKernelNodeParams common;
  void *kernel, *context;
};

class DriverWork : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("GPUSIM_CONFIG", GPUSIM_SOURCE_DIR "/configs/tesla_v100.cfg", 1);
    setenv("GPUSIM_QUIET", "1", 1);
    if (functional()) setenv("GPUSIM_FUNCTIONAL", "1", 1);
    ASSERT_EQ(cuInit(0), 0);
    void* primary = nullptr;
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, 0), 0);
    ASSERT_EQ(cuCtxSetCurrent(primary), 0);
    ASSERT_EQ(cuStreamCreateWithPriority(&stream_, 1, -2), 0);
    ASSERT_EQ(cuModuleLoadData(&module_, kAdd), 0);
    ASSERT_EQ(cuModuleGetFunction(&add_, module_, "add"), 0);
    ASSERT_EQ(cuMemAlloc_v2(&word_, 8), 0);
    ASSERT_EQ(cuMemsetD32Async(word_, 0, 2, stream_), 0);
  }
  [[nodiscard]] virtual bool functional() const { return true; }
  [[nodiscard]] uint64_t value() const {
    uint64_t v = 0;
    EXPECT_EQ(cuMemcpyDtoH_v2(&v, word_, 8), 0);
    return v;
  }
  static int error(Code code) { return static_cast<int>(code); }

  cudaStream_t stream_ = nullptr;
  void *module_ = nullptr, *add_ = nullptr;
  CUdeviceptr word_ = 0;
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

TEST_F(DriverWork, AStreamWritesAndWaitsForValues) {
  constexpr unsigned kNotLess = 0, kEqual = 1, kAnd = 2;
  ASSERT_EQ(cuStreamWriteValue64_v2(stream_, word_, (uint64_t{5} << 32) + 7, 0), 0);
  ASSERT_EQ(cuStreamWaitValue64_v2(stream_, word_, uint64_t{5} << 32, kNotLess), 0);
  ASSERT_EQ(cuStreamWriteValue32_v2(stream_, word_, 8, 0), 0);
  ASSERT_EQ(cuStreamWaitValue32_v2(stream_, word_, 8, kEqual), 0);
  ASSERT_EQ(cuStreamSynchronize(stream_), 0);
  EXPECT_EQ(value(), (uint64_t{5} << 32) + 8);
  // What is not there yet: another stream writes it, or the host.
  cudaStream_t other = nullptr;
  CUdeviceptr flag = 0;
  ASSERT_EQ(cuStreamCreateWithPriority(&other, 1, 0), 0);
  ASSERT_EQ(cuMemAllocManaged(&flag, 4, 1), 0);
  *reinterpret_cast<volatile uint32_t*>(flag) = 0;
  uint32_t v = 100;
  void* arguments[] = {&word_, &v};
  ASSERT_EQ(cuStreamWaitValue32_v2(stream_, flag, 4, kAnd), 0);
  ASSERT_EQ(cuLaunchKernel(add_, 1, 1, 1, 1, 1, 1, 0, stream_, arguments, nullptr), 0);
  EXPECT_EQ(cuStreamQuery(stream_), error(Code::kNotReady));
  EXPECT_EQ(*reinterpret_cast<uint32_t*>(word_), 8u);
  ASSERT_EQ(cuStreamWriteValue32_v2(other, flag, 6, 0), 0);
  ASSERT_EQ(cuStreamSynchronize(stream_), 0);
  EXPECT_EQ(*reinterpret_cast<uint32_t*>(word_), 108u);
  // The program calls nothing meanwhile.
  const std::atomic_ref<uint32_t> written(*reinterpret_cast<uint32_t*>(flag)),
      answer(*reinterpret_cast<uint32_t*>(word_));
  ASSERT_EQ(cuStreamWaitValue32_v2(stream_, flag, 8, kAnd), 0);
  ASSERT_EQ(cuLaunchKernel(add_, 1, 1, 1, 1, 1, 1, 0, stream_, arguments, nullptr), 0);
  written = 8;
  const auto begin = std::chrono::steady_clock::now();
  while (answer != 208 && std::chrono::steady_clock::now() - begin < std::chrono::seconds(20))
    std::this_thread::yield();
  EXPECT_EQ(answer, 208u);
  EXPECT_EQ(cuStreamWaitValue32_v2(stream_, word_ + 2, 0, kEqual), error(Code::kInvalidValue));
  EXPECT_EQ(cuStreamWaitValue32_v2(stream_, word_, 0, 9), error(Code::kInvalidValue));
}

TEST_F(DriverWork, ABatchWritesAndWaitsInOrder) {
  constexpr int kWait32 = 1, kWrite32 = 2, kFlush = 3, kWait64 = 4, kWrite64 = 5, kBarrier = 6;
  constexpr unsigned kEqual = 1;
  const uint64_t wide = (uint64_t{5} << 32) + 7;
  std::vector<MemoryOperation> batch{{kWrite64, word_, wide, 0},     {kBarrier, 0, 0, 0},
                                     {kWait64, word_, wide, kEqual}, {kFlush, 0, 0, 0},
                                     {kWrite32, word_, 9, 0},        {kWait32, word_, 9, kEqual}};
  const auto count = static_cast<unsigned>(batch.size());
  ASSERT_EQ(cuStreamBatchMemOp_v2(stream_, count, batch.data(), 0), 0);
  ASSERT_EQ(cuStreamSynchronize(stream_), 0);
  EXPECT_EQ(value(), (uint64_t{5} << 32) + 9);
  // One of an unknown kind: nothing is done.
  batch[0].value = 1;
  batch[5].kind = 7;
  EXPECT_EQ(cuStreamBatchMemOp_v2(stream_, count, batch.data(), 0), error(Code::kInvalidValue));
  ASSERT_EQ(cuStreamSynchronize(stream_), 0);
  EXPECT_EQ(value(), (uint64_t{5} << 32) + 9);
  EXPECT_EQ(cuStreamBatchMemOp_v2(stream_, 0, nullptr, 1), error(Code::kInvalidValue));
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

TEST_F(DriverWork, ANullStreamIsTheThreadsForProgramsThatSayPerThread) {
  unsigned long long of_thread = 0, legacy = 0;
  EXPECT_EQ(cuStreamGetId_ptsz(nullptr, &of_thread), 0);
  EXPECT_EQ(cuStreamGetId(nullptr, &legacy), 0);
  EXPECT_NE(of_thread, legacy);
  // The thread's stream can be captured, as the legacy default stream cannot.
  constexpr auto kThreadsStream = 2;
  cudaStream_t const thread = reinterpret_cast<cudaStream_t>(kThreadsStream);
  uint32_t v = 3;
  void* arguments[] = {&word_, &v};
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cuStreamBeginCapture_v2(thread, 0), 0);
  EXPECT_EQ(cuMemsetD32Async_ptsz(word_, 1, 1, nullptr), 0);
  EXPECT_EQ(cuLaunchKernel_ptsz(add_, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), 0);
  ASSERT_EQ(cuStreamEndCapture(thread, &graph), 0);
  size_t count = 0;
  EXPECT_EQ(cuGraphGetNodes(graph, nullptr, &count), 0);
  EXPECT_EQ(count, 2u);
  uint32_t present = 9;
  EXPECT_EQ(cuMemcpyDtoH_v2_ptds(&present, word_, 4), 0);
  EXPECT_EQ(present, 0u);
  void* function = nullptr;
  constexpr unsigned long long kPerThread = 2;
  ASSERT_EQ(cuGetProcAddress_v2("cuLaunchKernel", &function, 13000, kPerThread, nullptr), 0);
  EXPECT_EQ(function, reinterpret_cast<void*>(cuLaunchKernel_ptsz));
  ASSERT_EQ(cuGetProcAddress_v2("cuInit", &function, 13000, kPerThread, nullptr), 0);
  EXPECT_EQ(function, reinterpret_cast<void*>(cuInit));
}

class TimedDriverWork : public DriverWork {
 protected:
  [[nodiscard]] bool functional() const override { return false; }
};

TEST_F(TimedDriverWork, OnlyWhatIsSubmittedBeforeIsWaitedFor) {
  constexpr unsigned kEqual = 1;
  ASSERT_EQ(cuStreamWriteValue32_v2(stream_, word_, 8, 0), 0);
  EXPECT_EQ(cuStreamWaitValue32_v2(stream_, word_, 8, kEqual), 0);
  EXPECT_EQ(cuStreamWaitValue32_v2(stream_, word_, 9, kEqual), error(Code::kNotSupported));
  EXPECT_EQ(value(), 8u);
}

TEST_F(DriverWork, WhatAStreamIs) {
  int priority = 0;
  unsigned flags = 0;
  void* context = nullptr;
  unsigned long long id = 0, of_null = 1;
  EXPECT_EQ(cuStreamGetPriority(stream_, &priority), 0);
  EXPECT_EQ(priority, -2);
  EXPECT_EQ(cuStreamGetFlags(stream_, &flags), 0);
  EXPECT_EQ(flags, 1u);
  EXPECT_EQ(cuStreamGetCtx(stream_, &context), 0);
  EXPECT_NE(context, nullptr);
  EXPECT_EQ(cuStreamGetId(stream_, &id), 0);
  EXPECT_EQ(cuStreamGetId(nullptr, &of_null), 0);
  EXPECT_NE(id, of_null);
}

TEST_F(DriverWork, WhatFunctionsAndModulesAre) {
  unsigned count = 0;
  EXPECT_EQ(cuModuleGetFunctionCount(&count, module_), 0);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(cuLibraryGetKernelCount(&count, module_), 0);
  EXPECT_EQ(count, 2u);
  void* kernels[3] = {};
  EXPECT_EQ(cuLibraryEnumerateKernels(kernels, 3, module_), 0);
  EXPECT_EQ(kernels[0], add_);
  EXPECT_EQ(kernels[2], nullptr);
  EXPECT_EQ(cuModuleEnumerateFunctions(kernels, 3, &kernels), error(Code::kInvalidResourceHandle));
  int loaded = -1;
  EXPECT_EQ(cuFuncIsLoaded(&loaded, kernels[1]), 0);
  EXPECT_EQ(loaded, 0);
  EXPECT_EQ(cuFuncLoad(kernels[1]), 0);
  EXPECT_EQ(cuFuncIsLoaded(&loaded, kernels[1]), 0);
  EXPECT_EQ(loaded, 1);
  int mode = 0, value = 0;
  EXPECT_EQ(cuModuleGetLoadingMode(&mode), 0);
  EXPECT_EQ(mode, 2);
  const char* name = nullptr;
  ASSERT_EQ(cuFuncGetName(&name, add_), 0);
  EXPECT_STREQ(name, "add");
  size_t offset = 0, bytes = 0;
  EXPECT_EQ(cuFuncGetParamInfo(add_, 1, &offset, &bytes), 0);
  EXPECT_EQ(offset, 8u);
  EXPECT_EQ(bytes, 4u);
  EXPECT_EQ(cuFuncGetParamInfo(add_, 2, &offset, &bytes), error(Code::kInvalidValue));
  constexpr int kDynamicShared = 8;
  EXPECT_EQ(cuKernelSetAttribute(kDynamicShared, 60000, add_, 0), 0);
  EXPECT_EQ(cuKernelGetAttribute(&value, kDynamicShared, add_, 0), 0);
  EXPECT_EQ(value, 60000);
  EXPECT_EQ(cuKernelGetAttribute(&value, kDynamicShared, add_, 1), error(Code::kInvalidDevice));
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

TEST_F(DriverWork, ProgramsGetTheFormOfAFunctionThatTheyKnow) {
  const auto found = [](const char* name, int version) {
    void* function = nullptr;
    EXPECT_EQ(cuGetProcAddress_v2(name, &function, version, 0, nullptr), 0);
    return function;
  };
  const auto named = [](const char* name) { return dlsym(RTLD_DEFAULT, name); };
  EXPECT_EQ(found("cuGraphAddNode", 12020), named("cuGraphAddNode"));
  EXPECT_EQ(found("cuGraphAddNode", 12030), named("cuGraphAddNode_v2"));
  EXPECT_EQ(found("cuMemcpyBatchAsync", 12080), named("cuMemcpyBatchAsync"));
  EXPECT_EQ(found("cuMemcpyBatchAsync", 13000), named("cuMemcpyBatchAsync_v2"));
  EXPECT_EQ(found("cuStreamGetCaptureInfo", 12000), named("cuStreamGetCaptureInfo_v2"));
  EXPECT_EQ(found("cuStreamGetCaptureInfo", 13000), named("cuStreamGetCaptureInfo_v3"));
  EXPECT_EQ(found("cuGraphInstantiate", 11040), named("cuGraphInstantiate_v2"));
  EXPECT_EQ(found("cuMemAlloc", 11000), named("cuMemAlloc_v2"));
}

TEST_F(DriverWork, CopiesComeInBatches) {
  const uint32_t from[] = {3, 4};
  const CUdeviceptr to_device[] = {word_, word_ + 4};
  const CUdeviceptr from_host[] = {reinterpret_cast<CUdeviceptr>(from),
                                   reinterpret_cast<CUdeviceptr>(from + 1)};
  const size_t bytes[] = {4, 4}, too_many[] = {4, 4096};
  size_t failed = 9;
  EXPECT_EQ(cuMemcpyBatchAsync(to_device, from_host, too_many, 2, nullptr, nullptr, 0, &failed, stream_),
            error(Code::kInvalidValue));
  EXPECT_EQ(failed, 1u);
  ASSERT_EQ(cuStreamSynchronize(stream_), 0);
  EXPECT_EQ(value(), 0u);
  ASSERT_EQ(cuMemcpyBatchAsync_v2(to_device, from_host, bytes, 2, nullptr, nullptr, 0, stream_), 0);
  ASSERT_EQ(cuStreamSynchronize(stream_), 0);
  EXPECT_EQ(value(), 3 + (uint64_t{4} << 32));
}

TEST_F(DriverWork, AManagedVariableIsTheHostsToo) {
  CUdeviceptr total = 0, same = 0;
  size_t bytes = 0;
  ASSERT_EQ(cuModuleGetGlobal_v2(&total, &bytes, module_, "total"), 0);
  ASSERT_EQ(cuLibraryGetManaged(&same, &bytes, module_, "total"), 0);
  EXPECT_EQ(same, total);
  constexpr int kIsManaged = 8;
  unsigned managed = 0;
  void* values[] = {&managed};
  ASSERT_EQ(cuPointerGetAttributes(1, &kIsManaged, values, total), 0);
  EXPECT_EQ(managed, 1u);
  uint32_t v = 3;
  void* arguments[] = {&total, &v};
  auto* const word = reinterpret_cast<uint32_t*>(total);
  *word += 10;
  ASSERT_EQ(cuLaunchKernel(add_, 1, 1, 1, 1, 1, 1, 0, stream_, arguments, nullptr), 0);
  ASSERT_EQ(cuStreamSynchronize(stream_), 0);
  EXPECT_EQ(*word, 20u);
}

TEST_F(DriverWork, WhatTheDeviceAndMemoryAre) {
  size_t limit = 0;
  ASSERT_EQ(cuCtxSetLimit(0, 4096), 0);
  EXPECT_EQ(cuCtxGetLimit(&limit, 0), 0);
  EXPECT_EQ(limit, 4096u);
  char bus[16];
  int number = -1;
  ASSERT_EQ(cuDeviceGetPCIBusId(bus, sizeof bus, 0), 0);
  EXPECT_EQ(cuDeviceGetByPCIBusId(&number, bus), 0);
  EXPECT_EQ(number, 0);
  EXPECT_EQ(cuDeviceGetPCIBusId(bus, 12, 0), error(Code::kInvalidValue));
  EXPECT_EQ(cuProfilerInitialize("", "", 0), 0);
  // CU_POINTER_ATTRIBUTE_MEMORY_TYPE, RANGE_START_ADDR, RANGE_SIZE
  const int asked[] = {2, 11, 12};
  unsigned type = 9;
  CUdeviceptr start = 9;
  size_t bytes = 9;
  void* values[] = {&type, &start, &bytes};
  EXPECT_EQ(cuPointerGetAttributes(3, asked, values, word_ + 4), 0);
  EXPECT_EQ(type, 2u);
  EXPECT_EQ(start, word_);
  EXPECT_EQ(bytes, 8u);
  EXPECT_EQ(cuPointerGetAttributes(3, asked, values, reinterpret_cast<CUdeviceptr>(&type)), 0);
  EXPECT_EQ(type, 0u);
  EXPECT_EQ(start, 0u);
  CUdeviceptr managed = 0;
  ASSERT_EQ(cuMemAllocManaged(&managed, 64, 1), 0);
  EXPECT_EQ(cuMemAdvise_v2(managed, 64, 1, {1, 0}), 0);
  EXPECT_EQ(cuMemPrefetchAsync_v2(managed, 64, {1, 0}, 0, stream_), 0);
  EXPECT_EQ(cuMemPrefetchAsync_v2(word_, 8, {1, 0}, 0, stream_), error(Code::kInvalidValue));
  CUdeviceptr memory = 0;
  cudaMemPool_t pool = nullptr;
  uint64_t threshold = 1;
  ASSERT_EQ(cuMemAllocAsync(&memory, 400, stream_), 0);
  EXPECT_EQ(cuMemsetD32Async(memory, 1, 100, stream_), 0);
  EXPECT_EQ(cuMemFreeAsync(memory, stream_), 0);
  ASSERT_EQ(cuDeviceGetDefaultMemPool(&pool, 0), 0);
  EXPECT_EQ(cuMemPoolGetAttribute(pool, 4, &threshold), 0);
  EXPECT_EQ(threshold, 0u);
}

}  // namespace
}  // namespace gpusim::runtime
