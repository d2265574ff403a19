// Launches as before CUDA 4, what contexts are asked for, and batches of memory operations as nodes of
// graphs.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
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
int cuFuncSetBlockShape(void*, int, int, int);
int cuFuncSetSharedSize(void*, unsigned);
int cuParamSetSize(void*, unsigned);
int cuParamSeti(void*, int, unsigned);
int cuParamSetf(void*, int, float);
int cuParamSetv(void*, int, void*, unsigned);
int cuLaunch(void*);
int cuLaunchGrid(void*, int, int);
int cuMemAllocManaged(CUdeviceptr*, size_t, unsigned);
int cuMemcpyDtoH_v2(void*, CUdeviceptr, size_t);
int cuMemcpyPeer(CUdeviceptr, void*, CUdeviceptr, void*, size_t);
int cuMemsetD32_v2(CUdeviceptr, unsigned, size_t);
int cuCtxRecordEvent(void*, cudaEvent_t);
int cuCtxWaitEvent(void*, cudaEvent_t);
int cuCtxEnablePeerAccess(void*, unsigned);
int cuCtxDisablePeerAccess(void*);
int cuCtxGetId(void*, unsigned long long*);
int cuCtxGetApiVersion(void*, unsigned*);
int cuCtxSetCurrent(void*);
int cuDevicePrimaryCtxRetain(void**, int);
int cuDeviceGetAttribute(int*, int, int);
int cuDeviceGetProperties(int*, int);
int cuDeviceGetExecAffinitySupport(int*, int, int);
int cuCtxGetExecAffinity(void*, int);
int cuFlushGPUDirectRDMAWrites(int, int);
int cuGetExportTable(const void**, const void*);
int cuGetProcAddress_v2(const char*, void**, int, unsigned long long, int*);
int cuEventCreate(cudaEvent_t*, unsigned);
int cuEventQuery(cudaEvent_t);
int cuEventSynchronize(cudaEvent_t);
int cuStreamCreate(cudaStream_t*, unsigned);
int cuStreamQuery(cudaStream_t);
int cuStreamSynchronize(cudaStream_t);
int cuStreamWaitValue32_v2(cudaStream_t, CUdeviceptr, uint32_t, unsigned);
int cuStreamWriteValue32_v2(cudaStream_t, CUdeviceptr, uint32_t, unsigned);
int cuGraphCreate(cudaGraph_t*, unsigned);
int cuGraphDestroy(cudaGraph_t);
int cuGraphInstantiateWithFlags(cudaGraphExec_t*, cudaGraph_t, unsigned long long);
int cuGraphLaunch(cudaGraphExec_t, cudaStream_t);
int cuGraphExecDestroy(cudaGraphExec_t);
int cuGraphAddKernelNode(cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*, size_t,
                         const cudaKernelNodeParams*);
int cuGraphKernelNodeGetParams(cudaGraphNode_t, cudaKernelNodeParams*);
int cuGraphExecKernelNodeSetParams(cudaGraphExec_t, cudaGraphNode_t, const cudaKernelNodeParams*);
int cuGraphAddBatchMemOpNode(cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*, size_t, const void*);
int cuGraphBatchMemOpNodeGetParams(cudaGraphNode_t, void*);
int cuGraphBatchMemOpNodeSetParams(cudaGraphNode_t, const void*);
int cuGraphExecBatchMemOpNodeSetParams(cudaGraphExec_t, cudaGraphNode_t, const void*);
}

namespace gpusim::runtime {
namespace {

/// p[thread] = v + f + thread, and how much shared memory the block has behind it.
const char* const kFill = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry fill(.param .u64 p, .param .u32 v, .param .f32 f)
{
  .reg .b32 %r<9>; .reg .b64 %rd<3>; .reg .f32 %f1;
  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [v]; ld.param.f32 %f1, [f];
  mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;
  mad.lo.u32 %r2, %r3, %r4, %r2;
  cvt.rzi.u32.f32 %r5, %f1; add.u32 %r6, %r1, %r5; add.u32 %r6, %r6, %r2;
  mov.u32 %r7, %dynamic_smem_size; add.u32 %r6, %r6, %r7;
  mul.wide.u32 %rd2, %r2, 4; add.u64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r6;
  ret;
}
)";

/// CUstreamBatchMemOpParams and CUDA_BATCH_MEM_OP_NODE_PARAMS, as cuda.h lays them out.
struct MemoryOperation {
  int kind;
  CUdeviceptr address;
  uint64_t value;
  unsigned flags;
  uint64_t rest[2];
};
struct BatchParameters {
  void* context;
  unsigned count;
  MemoryOperation* operations;
  unsigned flags;
};
constexpr int kWrite32 = 2;

class DriverOldApi : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("GPUSIM_CONFIG", GPUSIM_SOURCE_DIR "/configs/tesla_v100.cfg", 1);
    setenv("GPUSIM_QUIET", "1", 1);
    setenv("GPUSIM_FUNCTIONAL", "1", 1);
    constexpr unsigned kGlobal = 1;
    ASSERT_EQ(cuInit(0), 0);
    void* primary = nullptr;
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, 0), 0);
    ASSERT_EQ(cuCtxSetCurrent(primary), 0);
    ASSERT_EQ(cuMemAllocManaged(&words_, sizeof(uint32_t) * kWords, kGlobal), 0);
    ASSERT_EQ(cuMemsetD32_v2(words_, 0, kWords), 0);
  }
  [[nodiscard]] std::vector<uint32_t> words() const {
    std::vector<uint32_t> w(kWords);
    EXPECT_EQ(cuMemcpyDtoH_v2(w.data(), words_, sizeof(uint32_t) * kWords), 0);
    return w;
  }
  static int error(Code code) { return static_cast<int>(code); }

  static constexpr size_t kWords = 64;
  CUdeviceptr words_ = 0;
};

TEST_F(DriverOldApi, AFunctionKeepsWhatItIsLaunchedWith) {
  void *module = nullptr, *fill = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, kFill), 0);
  ASSERT_EQ(cuModuleGetFunction(&fill, module, "fill"), 0);
  ASSERT_EQ(cuFuncSetBlockShape(fill, 16, 1, 1), 0);
  ASSERT_EQ(cuFuncSetSharedSize(fill, 256), 0);
  ASSERT_EQ(cuParamSetSize(fill, 16), 0);
  ASSERT_EQ(cuParamSetv(fill, 0, &words_, 8), 0);
  ASSERT_EQ(cuParamSeti(fill, 8, 1000), 0);
  ASSERT_EQ(cuParamSetf(fill, 12, 20.5f), 0);
  ASSERT_EQ(cuLaunchGrid(fill, 2, 1), 0);
  std::vector<uint32_t> expected(kWords);
  for (uint32_t i = 0; i < 32; ++i) expected[i] = 1000 + 20 + 256 + i;
  EXPECT_EQ(words(), expected);
  ASSERT_EQ(cuParamSeti(fill, 8, 0), 0);
  ASSERT_EQ(cuLaunch(fill), 0);
  for (uint32_t i = 0; i < 16; ++i) expected[i] = 20 + 256 + i;
  EXPECT_EQ(words(), expected) << "one block; all else is as it was";

  EXPECT_EQ(cuFuncSetBlockShape(fill, 16, 0, 1), error(Code::kInvalidValue));
  EXPECT_EQ(cuParamSeti(fill, -4, 1), error(Code::kInvalidValue));
  EXPECT_EQ(cuParamSetv(fill, 0, nullptr, 8), error(Code::kInvalidValue));
  EXPECT_EQ(cuParamSetSize(fill, 1u << 31), error(Code::kInvalidValue));
  EXPECT_EQ(cuLaunchGrid(fill, 0, 1), error(Code::kInvalidValue));
  EXPECT_NE(cuLaunch(nullptr), 0);
}

/// A node of a graph has its parameters in one buffer as a launch may, and keeps what they were.
TEST_F(DriverOldApi, AKernelNodeHasItsParametersInOneBuffer) {
  void *module = nullptr, *fill = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, kFill), 0);
  ASSERT_EQ(cuModuleGetFunction(&fill, module, "fill"), 0);
  struct {
    CUdeviceptr p;
    uint32_t v;
    float f;
  } packed{words_, 100, 7.0f};
  size_t bytes = sizeof packed;
  void* extra[] = {reinterpret_cast<void*>(1), &packed, reinterpret_cast<void*>(2), &bytes, nullptr};
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t node = nullptr;
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cuGraphCreate(&graph, 0), 0);
  cudaKernelNodeParams p{fill, {1, 1, 1}, {8, 1, 1}, 0, nullptr, extra};
  ASSERT_EQ(cuGraphAddKernelNode(&node, graph, nullptr, 0, &p), 0);
  packed.v = 5;
  ASSERT_EQ(cuGraphInstantiateWithFlags(&executable, graph, 0), 0);
  ASSERT_EQ(cuGraphLaunch(executable, nullptr), 0);
  std::vector<uint32_t> expected(kWords);
  for (uint32_t i = 0; i < 8; ++i) expected[i] = 107 + i;
  EXPECT_EQ(words(), expected) << "as they were when the node was made";
  ASSERT_EQ(cuGraphExecKernelNodeSetParams(executable, node, &p), 0);
  ASSERT_EQ(cuGraphLaunch(executable, nullptr), 0);
  for (uint32_t i = 0; i < 8; ++i) expected[i] = 12 + i;
  EXPECT_EQ(words(), expected);
  cudaKernelNodeParams told{};
  ASSERT_EQ(cuGraphKernelNodeGetParams(node, &told), 0);
  ASSERT_NE(told.kernelParams, nullptr);
  EXPECT_EQ(*static_cast<uint32_t*>(told.kernelParams[1]), 100u);

  void* pointers[] = {&packed.p, &packed.v, &packed.f};
  p.kernelParams = pointers;
  EXPECT_EQ(cuGraphAddKernelNode(&node, graph, nullptr, 0, &p), error(Code::kInvalidValue)) << "both";
  p.kernelParams = nullptr;
  bytes = 1000;
  EXPECT_EQ(cuGraphAddKernelNode(&node, graph, nullptr, 0, &p), error(Code::kLaunchOutOfResources));
  bytes = sizeof packed;
  extra[0] = reinterpret_cast<void*>(3);
  EXPECT_EQ(cuGraphAddKernelNode(&node, graph, nullptr, 0, &p), error(Code::kInvalidValue));
  EXPECT_EQ(cuGraphExecDestroy(executable), 0);
  EXPECT_EQ(cuGraphDestroy(graph), 0);
}

TEST_F(DriverOldApi, EventsOfAContextAreOfAllItsStreams) {
  constexpr unsigned kNonBlocking = 1, kEqual = 1;
  cudaStream_t a = nullptr, b = nullptr;
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cuStreamCreate(&a, kNonBlocking), 0);
  ASSERT_EQ(cuStreamCreate(&b, kNonBlocking), 0);
  ASSERT_EQ(cuEventCreate(&event, 0), 0);
  ASSERT_EQ(cuStreamWaitValue32_v2(a, words_, 5, kEqual), 0);
  ASSERT_EQ(cuCtxRecordEvent(nullptr, event), 0);
  EXPECT_EQ(cuEventQuery(event), error(Code::kNotReady)) << "a has not got that far";
  cudaStream_t later = nullptr;
  ASSERT_EQ(cuStreamCreate(&later, kNonBlocking), 0);
  ASSERT_EQ(cuStreamWriteValue32_v2(later, words_, 5, 0), 0);
  ASSERT_EQ(cuEventSynchronize(event), 0);
  EXPECT_EQ(cuEventQuery(event), 0);

  ASSERT_EQ(cuStreamWaitValue32_v2(a, words_ + 4, 6, kEqual), 0);
  ASSERT_EQ(cuCtxRecordEvent(nullptr, event), 0);
  ASSERT_EQ(cuCtxWaitEvent(nullptr, event), 0);
  EXPECT_EQ(cuStreamQuery(b), error(Code::kNotReady)) << "b waits for what was in a";
  cudaStream_t last = nullptr;
  ASSERT_EQ(cuStreamCreate(&last, kNonBlocking), 0);
  ASSERT_EQ(cuStreamWriteValue32_v2(last, words_ + 8, 7, 0), 0);
  EXPECT_EQ(cuStreamQuery(last), error(Code::kNotReady)) << "so does a stream that is made later";
  *reinterpret_cast<volatile uint32_t*>(words_ + 4) = 6;
  ASSERT_EQ(cuStreamSynchronize(b), 0);
  ASSERT_EQ(cuStreamSynchronize(last), 0);
  EXPECT_EQ(words()[2], 7u);
  cudaStream_t free = nullptr;
  ASSERT_EQ(cuStreamCreate(&free, kNonBlocking), 0);
  ASSERT_EQ(cuStreamWriteValue32_v2(free, words_ + 8, 8, 0), 0);
  int asked = 0;
  while (asked < 100 && cuStreamQuery(free) != 0) ++asked;
  EXPECT_LT(asked, 100) << "what it would wait for is done";
}

int no_context_at_all = 0;

TEST_F(DriverOldApi, ThereIsNoPeer) {
  // As an H100 with driver 580.159 answers of the device itself.
  EXPECT_EQ(cuCtxEnablePeerAccess(nullptr, 0), error(Code::kPeerAccessUnsupported));
  EXPECT_EQ(cuCtxEnablePeerAccess(nullptr, 1), error(Code::kInvalidValue));
  EXPECT_EQ(cuCtxDisablePeerAccess(nullptr), error(Code::kPeerAccessNotEnabled));
  ASSERT_EQ(cuMemsetD32_v2(words_, 7, 8), 0);
  ASSERT_EQ(cuMemcpyPeer(words_ + 32, nullptr, words_, nullptr, 16), 0) << "within the device";
  EXPECT_EQ(words()[11], 7u);
  EXPECT_EQ(words()[12], 0u);
  void* const no_context = &no_context_at_all;
  EXPECT_EQ(cuMemcpyPeer(words_ + 32, no_context, words_, nullptr, 16), error(Code::kDeviceUninitialized));
  EXPECT_EQ(cuMemcpyPeer(words_ + 32, nullptr, words_, no_context, 16), error(Code::kDeviceUninitialized));
}

TEST_F(DriverOldApi, TheVersionIsThatOfAContext) {
  unsigned version = 0;
  ASSERT_EQ(cuCtxGetApiVersion(nullptr, &version), 0);
  EXPECT_EQ(version, 3020u);
  EXPECT_EQ(cuCtxGetApiVersion(&no_context_at_all, &version), error(Code::kDeviceUninitialized));
  ASSERT_EQ(cuCtxSetCurrent(nullptr), 0);
  EXPECT_EQ(cuCtxGetApiVersion(nullptr, &version), error(Code::kDeviceUninitialized)) << "there is none";
}

TEST_F(DriverOldApi, PropertiesAreAttributes) {
  std::array<int, 14> properties{};
  ASSERT_EQ(cuDeviceGetProperties(properties.data(), 0), 0);
  for (size_t i = 0; i < properties.size(); ++i) {
    int attribute = 0;
    ASSERT_EQ(cuDeviceGetAttribute(&attribute, static_cast<int>(i) + 1, 0), 0);
    EXPECT_EQ(properties[i], attribute) << i;
  }
  EXPECT_EQ(properties[0], 1024) << "threads of a block";
  EXPECT_EQ(cuDeviceGetProperties(properties.data(), 1), error(Code::kInvalidDevice));
  int supported = 1;
  ASSERT_EQ(cuDeviceGetExecAffinitySupport(&supported, 0, 0), 0);
  EXPECT_EQ(supported, 0);
  EXPECT_EQ(cuDeviceGetExecAffinitySupport(&supported, 0, 1), error(Code::kInvalidDevice));
  EXPECT_EQ(cuDeviceGetExecAffinitySupport(nullptr, 0, 0), error(Code::kInvalidValue));
  constexpr int kUnsupportedAffinity = 224;
  int affinity[2] = {};
  EXPECT_EQ(cuCtxGetExecAffinity(affinity, 0), kUnsupportedAffinity);
  EXPECT_EQ(cuCtxGetExecAffinity(nullptr, 0), error(Code::kInvalidValue));
  unsigned long long id = 0;
  ASSERT_EQ(cuCtxSetCurrent(nullptr), 0);
  EXPECT_EQ(cuCtxGetId(nullptr, &id), error(Code::kDeviceUninitialized)) << "no context is current";
  // As an H100 with driver 580.159 answers.
  EXPECT_EQ(cuMemAllocManaged(&words_, sizeof(uint32_t), 1), error(Code::kDeviceUninitialized));
  void* context = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), 0);
  ASSERT_EQ(cuCtxSetCurrent(context), 0);
  EXPECT_EQ(cuCtxGetId(nullptr, nullptr), error(Code::kInvalidValue));
  EXPECT_EQ(cuCtxGetId(nullptr, &id), 0);
  EXPECT_NE(id, 0u);
}

TEST_F(DriverOldApi, WritesOfOtherDevicesAreNotFlushed) {
  constexpr int kSupported = 116, kFlushOptions = 117, kContext = 0, kOwner = 100, kAll = 200;
  for (const int which : {kSupported, kFlushOptions}) {
    int value = -1;
    ASSERT_EQ(cuDeviceGetAttribute(&value, which, 0), 0);
    EXPECT_EQ(value, 0);
  }
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(cuFlushGPUDirectRDMAWrites(kContext, kOwner), error(Code::kNotSupported));
  EXPECT_EQ(cuFlushGPUDirectRDMAWrites(kContext, kAll), error(Code::kNotSupported));
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "") << "the attributes say so";
  EXPECT_EQ(cuFlushGPUDirectRDMAWrites(kContext, 1), error(Code::kInvalidValue));
  EXPECT_EQ(cuFlushGPUDirectRDMAWrites(1, kOwner), error(Code::kInvalidValue));
}

TEST_F(DriverOldApi, ClosedLibrariesAreToldThatTheyDoNotRun) {
  const char identifier[16] = {};
  const void* table = identifier;
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(cuGetExportTable(&table, identifier), error(Code::kNotSupported));
  EXPECT_EQ(cuGetExportTable(&table, identifier), error(Code::kNotSupported));
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(table, nullptr);
  EXPECT_NE(said.find("cuBLAS"), std::string::npos) << said;
  EXPECT_EQ(said.find("cuGetExportTable"), said.rfind("cuGetExportTable")) << "once";
  EXPECT_EQ(cuGetExportTable(nullptr, identifier), error(Code::kInvalidValue));
  // They ask for a function without a name, too, about which there is nothing to say.
  void* function = &table;
  int status = -1;
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(cuGetProcAddress_v2("", &function, 13000, 0, &status), 0);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(status, 1);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST_F(DriverOldApi, ABatchOfMemoryOperationsIsANode) {
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cuGraphCreate(&graph, 0), 0);
  std::array<MemoryOperation, 2> operations = {
      {{kWrite32, words_, 3, 0, {}}, {kWrite32, words_ + 4, 4, 0, {}}}};
  BatchParameters p{nullptr, 2, operations.data(), 0};
  cudaGraphNode_t node = nullptr;
  ASSERT_EQ(cuGraphAddBatchMemOpNode(&node, graph, nullptr, 0, &p), 0);
  BatchParameters got{};
  ASSERT_EQ(cuGraphBatchMemOpNodeGetParams(node, &got), 0);
  ASSERT_EQ(got.count, 2u);
  EXPECT_EQ(got.operations[1].address, words_ + 4);
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cuGraphInstantiateWithFlags(&executable, graph, 0), 0);
  operations[1].value = 40;
  ASSERT_EQ(cuGraphLaunch(executable, nullptr), 0);
  EXPECT_EQ(words()[0], 3u);
  EXPECT_EQ(words()[1], 4u) << "the node has operations of its own";
  p.count = 1;
  operations[0].value = 30;
  ASSERT_EQ(cuGraphExecBatchMemOpNodeSetParams(executable, node, &p), 0);
  ASSERT_EQ(cuGraphLaunch(executable, nullptr), 0);
  EXPECT_EQ(words()[0], 30u);
  ASSERT_EQ(cuGraphBatchMemOpNodeGetParams(node, &got), 0);
  EXPECT_EQ(got.count, 2u) << "of the graph, not of what was made of it";
  p.flags = 1;
  EXPECT_EQ(cuGraphBatchMemOpNodeSetParams(node, &p), error(Code::kInvalidValue));
  EXPECT_EQ(cuGraphDestroy(graph), 0);
}

}  // namespace
}  // namespace gpusim::runtime
