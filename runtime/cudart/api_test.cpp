// The CUDA runtime library as a program sees it: values, the errors that the manual documents, streams,
// events and graphs. The program's kernels are registered as nvcc's code does it, from a fat binary made
// here.
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "runtime/cudart/abi.h"
#include "runtime/device/error.h"

extern "C" {
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFatBinaryEnd(void**);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*, dim3*, int*);
void __cudaRegisterManagedVar(void**, void**, char*, const char*, int, size_t, int, int);
char __cudaInitModule(void**);
void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char* cudaGetErrorName(cudaError_t);
const char* cudaGetErrorString(cudaError_t);
cudaError_t cudaMalloc(void**, size_t);
cudaError_t cudaMallocManaged(void**, size_t, unsigned);
cudaError_t cudaHostAlloc(void**, size_t, unsigned);
cudaError_t cudaFreeHost(void*);
cudaError_t cudaHostRegister(void*, size_t, unsigned);
cudaError_t cudaHostUnregister(void*);
cudaError_t cudaFree(void*);
cudaError_t cudaMemcpy(void*, const void*, size_t, cudaMemcpyKind);
cudaError_t cudaMemcpyAsync(void*, const void*, size_t, cudaMemcpyKind, cudaStream_t);
cudaError_t cudaMemcpy2D(void*, size_t, const void*, size_t, size_t, size_t, cudaMemcpyKind);
cudaError_t cudaMemcpyToSymbol(const void*, const void*, size_t, size_t, cudaMemcpyKind);
cudaError_t cudaMemcpyFromSymbol(void*, const void*, size_t, size_t, cudaMemcpyKind);
cudaError_t cudaMemset(void*, int, size_t);
cudaError_t cudaMemGetInfo(size_t*, size_t*);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes*, const void*);
cudaError_t cudaMallocAsync(void**, size_t, cudaStream_t);
cudaError_t cudaMallocFromPoolAsync(void**, size_t, cudaMemPool_t, cudaStream_t);
cudaError_t cudaFreeAsync(void*, cudaStream_t);
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t*, int);
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t*, int);
cudaError_t cudaDeviceSetMemPool(int, cudaMemPool_t);
cudaError_t cudaMemPoolCreate(cudaMemPool_t*, const cudaMemPoolProps*);
cudaError_t cudaMemPoolDestroy(cudaMemPool_t);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, int, void*);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, int, void*);
cudaError_t cudaMemPrefetchAsync(const void*, size_t, cudaMemLocation, unsigned, cudaStream_t);
cudaError_t cudaMemAdvise(const void*, size_t, int, cudaMemLocation);
cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void*, size_t, unsigned);
cudaError_t cudaGetSymbolAddress(void**, const void*);
cudaError_t cudaGetSymbolSize(size_t*, const void*);
cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, size_t, cudaStream_t);
cudaError_t cudaLaunchCooperativeKernel(const void*, dim3, dim3, void**, size_t, cudaStream_t);
cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t, void*);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceReset();
cudaError_t cudaGetDriverEntryPointByVersion(const char*, void**, unsigned, unsigned long long, int*);
cudaError_t cudaGetDeviceCount(int*);
cudaError_t cudaSetDevice(int);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp*, int);
cudaError_t cudaDeviceGetAttribute(int*, int, int);
cudaError_t cudaStreamCreate(cudaStream_t*);
cudaError_t cudaStreamDestroy(cudaStream_t);
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned);
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
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*, size_t);
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*, size_t,
                                   const cudaKernelNodeParams*);
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
cudaError_t cudaMemRangeGetAttribute(void*, size_t, int, const void*, size_t);
cudaError_t cudaMemRangeGetAttributes(void**, size_t*, const int*, size_t, const void*, size_t);
cudaError_t cudaMemPrefetchBatchAsync(void**, size_t*, size_t, cudaMemLocation*, size_t*, size_t,
                                      unsigned long long, cudaStream_t);
cudaError_t cudaMemcpyBatchAsync(void* const*, const void* const*, const size_t*, size_t, const void*,
                                 const size_t*, size_t, cudaStream_t);
cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t*, cudaMemLocation*, int);
cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t*, const cudaChannelFormatDesc*, int);
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t, int*);
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t*);
cudaError_t cudaEventCreate(cudaEvent_t*);
cudaError_t cudaEventDestroy(cudaEvent_t);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t);
cudaError_t cudaEventSynchronize(cudaEvent_t);
cudaError_t cudaEventElapsedTime(float*, cudaEvent_t, cudaEvent_t);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t*, cudaGraph_t, unsigned long long);
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t);
cudaError_t cudaGraphDestroy(cudaGraph_t);
cudaError_t cudaGraphGetNodes(cudaGraph_t, cudaGraphNode_t*, size_t*);
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t, cudaKernelNodeParams*);
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t, cudaGraphNode_t, const cudaKernelNodeParams*);
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes*, const void*);
cudaError_t cudaGraphicsMapResources(int, void*, cudaStream_t);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int*, const void*, int, size_t);
}

namespace gpusim::runtime {
namespace {

/// y[i] = a * y[i] + offset for i < n; `offset` is a constant variable. `stray` stores to address 16. `count`
/// adds the number of threads to a counter. `greet` prints "Hi".
const char* const kPtx = R"(.version 7.0
.target sm_70
.address_size 64
.const .align 4 .f32 offset;
.global .align 4 .u32 counter;
.global .attribute(.managed) .align 4 .u32 shared_total = 5;
.visible .entry scale(.param .u64 y, .param .f32 a, .param .u32 n)
{
  .reg .pred %p; .reg .b32 %r<6>; .reg .f32 %f<5>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [y]; ld.param.f32 %f1, [a]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p, %r5, %r1;
  @%p bra done;
  mul.wide.u32 %rd2, %r5, 4; add.u64 %rd3, %rd1, %rd2;
  ld.global.f32 %f2, [%rd3]; ld.const.f32 %f3, [offset];
  fma.rn.f32 %f4, %f1, %f2, %f3;
  st.global.f32 [%rd3], %f4;
done: ret;
}
.visible .entry stray()
{
  .reg .b64 %rd1; .reg .b32 %r1;
  mov.u64 %rd1, 16; mov.u32 %r1, 1;
  st.global.u32 [%rd1], %r1;
  ret;
}
.visible .entry count()
{
  .reg .b32 %r1;
  atom.global.add.u32 %r1, [counter], 1;
  ret;
}
.visible .entry stop()
{
  trap;
}
.extern .func (.param .b32 length) vprintf (.param .b64 format, .param .b64 values);
.global .align 1 .b8 greeting[4] = {72, 105, 10, 0};
.visible .entry greet()
{
  .reg .b64 %rd<3>; .reg .b32 %r1;
  mov.u64 %rd1, greeting; cvta.global.u64 %rd2, %rd1;
  {
    .param .b64 format; .param .b64 values; .param .b32 length;
    st.param.b64 [format], %rd2; st.param.b64 [values], %rd2;
    call.uni (length), vprintf, (format, values);
    ld.param.b32 %r1, [length];
  }
  ret;
}
)";

template <class T>
void put(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string fat_binary() {
  std::string ptx = kPtx;
  ptx.resize((ptx.size() + 8) / 8 * 8, '\0');
  std::string body;
  put<uint16_t>(body, 1), put<uint16_t>(body, 0x101), put<uint32_t>(body, 64),
      put<uint64_t>(body, ptx.size());
  put<uint32_t>(body, 0), put<uint32_t>(body, 0), put<uint16_t>(body, 0), put<uint16_t>(body, 7);
  put<uint32_t>(body, 70), put<uint32_t>(body, 0), put<uint32_t>(body, 0), put<uint64_t>(body, 0x11);
  put<uint64_t>(body, 0), put<uint64_t>(body, 0);
  body += ptx;
  std::string all;
  put<uint32_t>(all, 0xBA55ED50), put<uint16_t>(all, 1), put<uint16_t>(all, 16),
      put<uint64_t>(all, body.size());
  return all + body;
}

// What the host program has in place of kernels and variables: their addresses are all that counts.
char scale_stub, stray_stub, count_stub, greet_stub, stop_stub, offset_shadow[4], counter_shadow[4];
unsigned* managed_variable;

struct Wrapper {
  uint32_t magic, version;
  const char* binary;
  void* linked;
};

class Cudart : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("GPUSIM_CONFIG", GPUSIM_SOURCE_DIR "/configs/tesla_v100.cfg", 1);
    setenv("GPUSIM_QUIET", "1", 1);
    if (functional()) setenv("GPUSIM_FUNCTIONAL", "1", 1);
    static const std::string binary = fat_binary();
    static Wrapper wrapper{0x466243B1, 1, binary.data(), nullptr};
    void** handle = __cudaRegisterFatBinary(&wrapper);
    for (const auto& [stub, name] : {std::pair{&scale_stub, "scale"},
                                     {&stray_stub, "stray"},
                                     {&count_stub, "count"},
                                     {&stop_stub, "stop"},
                                     {&greet_stub, "greet"}})
      __cudaRegisterFunction(handle, stub, stub, name, -1, nullptr, nullptr, nullptr, nullptr, nullptr);
    __cudaRegisterVar(handle, offset_shadow, offset_shadow, "offset", 0, 4, 1, 0);
    __cudaRegisterVar(handle, counter_shadow, counter_shadow, "counter", 0, 4, 0, 0);
    __cudaRegisterManagedVar(handle, reinterpret_cast<void**>(&managed_variable), nullptr, "shared_total", 0,
                             4, 0, 0);
    __cudaRegisterFatBinaryEnd(handle);
    program_ = handle;
  }
  [[nodiscard]] virtual bool functional() const { return true; }

  static cudaError_t scale(float* y, float a, unsigned n, cudaStream_t stream = nullptr) {
    void* arguments[] = {&y, &a, &n};
    return cudaLaunchKernel(&scale_stub, {(n + 127) / 128, 1, 1}, {128, 1, 1}, arguments, 0, stream);
  }
  static float* device_floats(const std::vector<float>& values) {
    void* memory = nullptr;
    EXPECT_EQ(cudaMalloc(&memory, values.size() * 4), 0);
    EXPECT_EQ(cudaMemcpy(memory, values.data(), values.size() * 4, cudaMemcpyHostToDevice), 0);
    return static_cast<float*>(memory);
  }
  static std::vector<float> host_floats(const float* memory, size_t count) {
    std::vector<float> values(count);
    EXPECT_EQ(cudaMemcpy(values.data(), memory, count * 4, cudaMemcpyDeviceToHost), 0);
    return values;
  }
  static int error(Code code) { return static_cast<int>(code); }

  void** program_ = nullptr;
};

class TimedCudart : public Cudart {
 protected:
  [[nodiscard]] bool functional() const override { return false; }
};

TEST_F(TimedCudart, WhatNobodyWaitsForIsDoneAndRecordedAtTheEnd) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "at_the_end";
  std::filesystem::create_directories(folder);
  setenv("GPUSIM_OUT", (folder / "run.h5").c_str(), 1);
  setenv("GPUSIM_QUIET", "0", 1);
  const auto program = [](bool waits) {
    const auto launch = [] {
      return cudaLaunchKernel(&count_stub, {1, 1, 1}, {32, 1, 1}, nullptr, 0, nullptr);
    };
    if (launch() != 0 || (waits && cudaDeviceSynchronize() != 0) || launch() != 0) _exit(1);
    std::exit(0);
  };
  for (const bool waits : {true, false})
    EXPECT_EXIT(program(waits), testing::ExitedWithCode(0),
                "2 launches; .* recorded in .*\\.h5\n.* in +2 launches, +count");
  std::filesystem::remove_all(folder);
}

TEST_F(Cudart, WhatAProgramDoesAtItsEndFindsTheDevice) {
  const auto program = [] {
    if (cudaFree(nullptr) != 0) _exit(1);
    std::atexit([] {
      unsigned counter = 0;
      const bool good = cudaLaunchKernel(&count_stub, {1, 1, 1}, {32, 1, 1}, nullptr, 0, nullptr) == 0 &&
                        cudaMemcpyFromSymbol(&counter, counter_shadow, 4, 0, cudaMemcpyDeviceToHost) == 0;
      _exit(good && counter != 0 ? 42 : 2);
    });
    if (cudaLaunchKernel(&count_stub, {1, 1, 1}, {32, 1, 1}, nullptr, 0, nullptr) != 0) _exit(3);
    std::exit(0);
  };
  EXPECT_EXIT(program(), testing::ExitedWithCode(42), "");
}

/// Bytes that the heap has more after so many further launches, copies and events.
size_t growth(int launches) {
  const auto work = [](int count) {
    cudaEvent_t event;
    ASSERT_EQ(cudaEventCreate(&event), 0);
    unsigned counter = 0;
    for (int i = 0; i < count; ++i) {
      ASSERT_EQ(cudaLaunchKernel(&count_stub, {1, 1, 1}, {32, 1, 1}, nullptr, 0, nullptr), 0);
      ASSERT_EQ(cudaEventRecord(event, nullptr), 0);
      ASSERT_EQ(cudaMemcpyFromSymbol(&counter, counter_shadow, 4, 0, cudaMemcpyDeviceToHost), 0);
    }
    ASSERT_EQ(cudaEventDestroy(event), 0);
  };
  work(launches);  // what grows to a limit has done so
  const size_t before = mallinfo2().uordblks;
  work(launches);
  const size_t after = mallinfo2().uordblks;
  return after > before ? after - before : 0;
}

TEST_F(Cudart, ManyLaunchesNeedNoMoreMemory) { EXPECT_LT(growth(4000), 4000); }
TEST_F(TimedCudart, ManyLaunchesNeedNoMoreMemory) { EXPECT_LT(growth(300), 300); }

TEST_F(Cudart, KernelsComputeOnCopiesAndConstants) {
  const float offset = 0.5f;
  ASSERT_EQ(cudaMemcpyToSymbol(offset_shadow, &offset, 4, 0, cudaMemcpyHostToDevice), 0);
  float* const y = device_floats({1, 2, 3, 4, 5});
  ASSERT_EQ(scale(y, 2, 4), 0);
  EXPECT_EQ(host_floats(y, 5), (std::vector<float>{2.5, 4.5, 6.5, 8.5, 5}));
  EXPECT_EQ(cudaFree(y), 0);
  EXPECT_EQ(cudaGetLastError(), 0);
}

TEST_F(TimedCudart, TheSameValuesWithTime) {
  cudaEvent_t before, after;
  ASSERT_EQ(cudaEventCreate(&before), 0);
  ASSERT_EQ(cudaEventCreate(&after), 0);
  float* const y = device_floats(std::vector<float>(10000, 3));
  ASSERT_EQ(cudaEventRecord(before, nullptr), 0);
  ASSERT_EQ(scale(y, 2, 10000), 0);
  ASSERT_EQ(cudaEventRecord(after, nullptr), 0);
  ASSERT_EQ(cudaEventSynchronize(after), 0);
  float milliseconds = 0;
  ASSERT_EQ(cudaEventElapsedTime(&milliseconds, before, after), 0);
  EXPECT_GT(milliseconds, 1e-4);
  EXPECT_LT(milliseconds, 1);
  EXPECT_EQ(host_floats(y, 10000), std::vector<float>(10000, 6));
  // A second launch goes on where the machine stood.
  ASSERT_EQ(scale(y, 0.5f, 10000), 0);
  EXPECT_EQ(host_floats(y, 10000), std::vector<float>(10000, 3));
}

TEST_F(TimedCudart, StreamsWaitForEvents) {
  cudaStream_t first, second;
  cudaEvent_t done;
  ASSERT_EQ(cudaStreamCreate(&first), 0);
  ASSERT_EQ(cudaStreamCreate(&second), 0);
  ASSERT_EQ(cudaEventCreate(&done), 0);
  // y = a y + 1 in another order has another result.
  const float offset = 1;
  ASSERT_EQ(cudaMemcpyToSymbol(offset_shadow, &offset, 4, 0, cudaMemcpyHostToDevice), 0);
  float* const y = device_floats(std::vector<float>(20000, 1));
  for (int i = 0; i < 3; ++i) ASSERT_EQ(scale(y, 2, 20000, first), 0);
  ASSERT_EQ(cudaEventRecord(done, first), 0);
  ASSERT_EQ(cudaStreamWaitEvent(second, done, 0), 0);
  ASSERT_EQ(scale(y, 3, 20000, second), 0);
  ASSERT_EQ(cudaStreamSynchronize(second), 0);
  EXPECT_EQ(host_floats(y, 20000), std::vector<float>(20000, 46));
}

TEST_F(Cudart, ErrorsAreThoseOfTheManual) {
  void* p = nullptr;
  float value = 0;
  EXPECT_EQ(cudaMalloc(nullptr, 4), error(Code::kInvalidValue));
  EXPECT_EQ(cudaPeekAtLastError(), error(Code::kInvalidValue));
  EXPECT_EQ(cudaGetLastError(), error(Code::kInvalidValue));
  EXPECT_EQ(cudaGetLastError(), 0);
  EXPECT_EQ(cudaMalloc(&p, size_t{1} << 60), error(Code::kMemoryAllocation));
  ASSERT_EQ(cudaMalloc(&p, 64), 0);
  EXPECT_EQ(cudaMemcpy(p, &value, 4, static_cast<cudaMemcpyKind>(7)), error(Code::kInvalidMemcpyDirection));
  EXPECT_EQ(cudaMemcpy(p, nullptr, 4, cudaMemcpyHostToDevice), error(Code::kInvalidValue));
  EXPECT_EQ(cudaMemcpy(&value, &value, 4, cudaMemcpyDeviceToHost), error(Code::kInvalidValue));
  std::vector<char> large(128);
  EXPECT_EQ(cudaMemcpy(p, large.data(), 128, cudaMemcpyHostToDevice), error(Code::kInvalidValue));
  EXPECT_EQ(cudaMemset(p, 0, 65), error(Code::kInvalidValue));
  EXPECT_EQ(cudaMemset(&value, 0, 4), error(Code::kInvalidValue));
  EXPECT_EQ(cudaMemcpy2D(p, 4, large.data(), 8, 8, 2, cudaMemcpyHostToDevice),
            error(Code::kInvalidPitchValue));
  EXPECT_EQ(cudaFree(static_cast<char*>(p) + 4), error(Code::kInvalidValue));
  EXPECT_EQ(cudaFree(p), 0);
  EXPECT_EQ(cudaFree(p), error(Code::kInvalidValue));
  EXPECT_EQ(cudaFree(nullptr), 0);
  EXPECT_EQ(cudaFreeHost(&value), error(Code::kInvalidValue));
  EXPECT_EQ(cudaHostRegister(&value, 0, 0), error(Code::kInvalidValue));
  EXPECT_EQ(cudaHostRegister(large.data(), 128, 0), 0);
  EXPECT_EQ(cudaHostRegister(large.data(), 128, 0), error(Code::kHostMemoryAlreadyRegistered));
  EXPECT_EQ(cudaHostUnregister(large.data()), 0);
  EXPECT_EQ(cudaHostUnregister(large.data()), error(Code::kHostMemoryNotRegistered));
  EXPECT_EQ(cudaSetDevice(1), error(Code::kInvalidDevice));
  EXPECT_EQ(cudaMemcpyToSymbol(&value, &value, 4, 0, cudaMemcpyHostToDevice), error(Code::kInvalidSymbol));
  EXPECT_EQ(cudaMemcpyToSymbol(offset_shadow, &value, 4, 1, cudaMemcpyHostToDevice),
            error(Code::kInvalidValue));
  EXPECT_EQ(cudaMemcpyFromSymbol(&value, offset_shadow, 4, 0, cudaMemcpyHostToDevice),
            error(Code::kInvalidMemcpyDirection));
  EXPECT_EQ(cudaLaunchKernel(&value, {1, 1, 1}, {1, 1, 1}, nullptr, 0, nullptr),
            error(Code::kInvalidDeviceFunction));
  EXPECT_EQ(cudaLaunchKernel(&count_stub, {1, 1, 1}, {2048, 1, 1}, nullptr, 0, nullptr),
            error(Code::kInvalidConfiguration));
  EXPECT_EQ(cudaLaunchKernel(&count_stub, {0, 1, 1}, {32, 1, 1}, nullptr, 0, nullptr),
            error(Code::kInvalidConfiguration));
  EXPECT_EQ(cudaLaunchKernel(&count_stub, {1, 1, 1}, {32, 1, 1}, nullptr, 50000, nullptr),
            error(Code::kInvalidValue));
  EXPECT_EQ(cudaLaunchCooperativeKernel(&count_stub, {1 << 20, 1, 1}, {32, 1, 1}, nullptr, 0, nullptr),
            error(Code::kCooperativeLaunchTooLarge));
  EXPECT_EQ(cudaStreamDestroy(reinterpret_cast<cudaStream_t>(&value)), error(Code::kInvalidResourceHandle));
  EXPECT_EQ(cudaEventRecord(reinterpret_cast<cudaEvent_t>(&value), nullptr),
            error(Code::kInvalidResourceHandle));
  cudaEvent_t never = nullptr;
  ASSERT_EQ(cudaEventCreate(&never), 0);
  EXPECT_EQ(cudaEventElapsedTime(&value, never, never), error(Code::kInvalidResourceHandle));
  EXPECT_EQ(cudaEventDestroy(never), 0);
  EXPECT_EQ(cudaEventDestroy(never), error(Code::kInvalidResourceHandle));
  EXPECT_EQ(cudaGraphicsMapResources(0, nullptr, nullptr), error(Code::kNotSupported));
  EXPECT_STREQ(cudaGetErrorName(error(Code::kIllegalAddress)), "cudaErrorIllegalAddress");
  EXPECT_STREQ(cudaGetErrorString(error(Code::kIllegalAddress)), "an illegal memory access was encountered");
  EXPECT_STREQ(cudaGetErrorName(12345), "unrecognized error code");
}

TEST_F(Cudart, AFaultOfAKernelStays) {
  testing::internal::CaptureStderr();
  (void)cudaLaunchKernel(&stray_stub, {1, 1, 1}, {1, 1, 1}, nullptr, 0, nullptr);
  EXPECT_EQ(cudaDeviceSynchronize(), error(Code::kIllegalAddress));
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find("kernel 'stray'"), std::string::npos) << told;
  EXPECT_NE(told.find("block (0,0,0), thread (0,0,0)"), std::string::npos) << told;
  EXPECT_EQ(cudaGetLastError(), error(Code::kIllegalAddress));
  EXPECT_EQ(cudaGetLastError(), error(Code::kIllegalAddress));
  void* p = nullptr;
  EXPECT_EQ(cudaMalloc(&p, 4), error(Code::kIllegalAddress));
  EXPECT_EQ(cudaLaunchKernel(&count_stub, {1, 1, 1}, {1, 1, 1}, nullptr, 0, nullptr),
            error(Code::kIllegalAddress));
}

TEST_F(Cudart, ATrapIsToldOnce) {
  testing::internal::CaptureStderr();
  (void)cudaLaunchKernel(&stop_stub, {1, 1, 1}, {1, 1, 1}, nullptr, 0, nullptr);
  EXPECT_EQ(cudaDeviceSynchronize(), error(Code::kLaunchFailure));
  const std::string told = testing::internal::GetCapturedStderr();
  const size_t first = told.find("kernel 'stop'");
  ASSERT_NE(first, std::string::npos) << told;
  EXPECT_EQ(told.find("kernel 'stop'", first + 1), std::string::npos) << told;
}

TEST_F(Cudart, ManagedMappedAndRegisteredMemoryIsTheProgramsOwn) {
  void *managed = nullptr, *mapped = nullptr;
  ASSERT_EQ(cudaMallocManaged(&managed, 400, 1), 0);
  ASSERT_EQ(cudaHostAlloc(&mapped, 400, 2), 0);
  std::vector<float> own(100, 7);
  ASSERT_EQ(cudaHostRegister(own.data(), 400, 0), 0);
  for (auto* memory : {static_cast<float*>(managed), static_cast<float*>(mapped), own.data()}) {
    for (int i = 0; i < 100; ++i) memory[i] = static_cast<float>(i);
    ASSERT_EQ(scale(memory, 3, 100), 0);
    ASSERT_EQ(cudaDeviceSynchronize(), 0);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(memory[i], static_cast<float>(3 * i));
  }
  cudaPointerAttributes a;
  ASSERT_EQ(cudaPointerGetAttributes(&a, managed), 0);
  EXPECT_EQ(a.type, 3);
  ASSERT_EQ(cudaPointerGetAttributes(&a, mapped), 0);
  EXPECT_EQ(a.type, 1);
  ASSERT_EQ(cudaPointerGetAttributes(&a, &a), 0);
  EXPECT_EQ(a.type, 0);
  EXPECT_EQ(cudaFree(managed), 0);
  EXPECT_EQ(cudaFreeHost(mapped), 0);
}

TEST_F(Cudart, AManagedVariableIsManagedMemory) {
  ASSERT_EQ(__cudaInitModule(program_), 1);
  ASSERT_NE(managed_variable, nullptr);
  EXPECT_EQ(*managed_variable, 5u);
  cudaPointerAttributes a;
  ASSERT_EQ(cudaPointerGetAttributes(&a, managed_variable), 0);
  EXPECT_EQ(a.type, 3);
  EXPECT_EQ(a.devicePointer, managed_variable);
  EXPECT_EQ(a.hostPointer, managed_variable);
  EXPECT_EQ(cudaMemPrefetchAsync(managed_variable, 4, {1, 0}, 0, nullptr), 0);
  EXPECT_EQ(cudaMemAdvise(managed_variable, 4, 3, {1, 0}), 0);
  EXPECT_EQ(cudaStreamAttachMemAsync(nullptr, managed_variable, 0, 1), 0);
  // Programs pass what the variable is, where of others they pass its shadow.
  void* address = nullptr;
  size_t bytes = 0;
  EXPECT_EQ(cudaGetSymbolAddress(&address, managed_variable), 0);
  EXPECT_EQ(address, managed_variable);
  EXPECT_EQ(cudaGetSymbolSize(&bytes, managed_variable), 0);
  EXPECT_EQ(bytes, 4u);
}

TEST_F(Cudart, FreedMemoryIsGivenBack) {
  size_t before = 0, with = 0, after = 0, total = 0;
  ASSERT_EQ(cudaMemGetInfo(&before, &total), 0);
  void* p = nullptr;
  ASSERT_EQ(cudaMalloc(&p, 1 << 20), 0);
  ASSERT_EQ(cudaMemGetInfo(&with, &total), 0);
  EXPECT_EQ(before - with, size_t{1} << 20);
  ASSERT_EQ(cudaFree(p), 0);
  ASSERT_EQ(cudaMemGetInfo(&after, &total), 0);
  EXPECT_EQ(after, before);
}

TEST_F(Cudart, APoolCountsItsOwnMemory) {
  // Of a pool: reserved, at most, used, at most.
  using Counts = std::vector<uint64_t>;
  const auto counts = [](cudaMemPool_t pool) {
    Counts all;
    for (int attribute = 5; attribute <= 8; ++attribute) {
      uint64_t value = 99;
      EXPECT_EQ(cudaMemPoolGetAttribute(pool, attribute, &value), 0);
      all.push_back(value);
    }
    return all;
  };
  void *other = nullptr, *p = nullptr, *q = nullptr;
  cudaMemPool_t standard = nullptr, own = nullptr, current = nullptr;
  ASSERT_EQ(cudaMalloc(&other, 1 << 20), 0);
  ASSERT_EQ(cudaDeviceGetDefaultMemPool(&standard, 0), 0);
  cudaMemPoolProps properties{};
  properties.allocType = 1;
  properties.location = {1, 0};
  ASSERT_EQ(cudaMemPoolCreate(&own, &properties), 0);
  EXPECT_EQ(counts(standard), (Counts{0, 0, 0, 0}));
  ASSERT_EQ(cudaMallocAsync(&p, 4000, nullptr), 0);
  ASSERT_EQ(cudaMallocFromPoolAsync(&q, 600, own, nullptr), 0);
  EXPECT_EQ(counts(standard), (Counts{4000, 4000, 4000, 4000}));
  EXPECT_EQ(counts(own), (Counts{600, 600, 600, 600}));
  ASSERT_EQ(cudaFreeAsync(p, nullptr), 0);
  ASSERT_EQ(cudaFree(q), 0);
  EXPECT_EQ(counts(standard), (Counts{0, 4000, 0, 4000}));
  EXPECT_EQ(counts(own), (Counts{0, 600, 0, 600}));
  uint64_t value = 0;
  EXPECT_EQ(cudaMemPoolSetAttribute(standard, 8, &value), 0);
  EXPECT_EQ(counts(standard), (Counts{0, 4000, 0, 0}));
  EXPECT_EQ(cudaMemPoolSetAttribute(standard, 6, &value), 0);
  EXPECT_EQ(counts(standard), (Counts{0, 0, 0, 0}));
  EXPECT_EQ(cudaMemPoolSetAttribute(standard, 7, &value), error(Code::kInvalidValue));
  value = 1;
  EXPECT_EQ(cudaMemPoolSetAttribute(standard, 8, &value), error(Code::kInvalidValue));
  // The pool of the device is what the program says.
  ASSERT_EQ(cudaDeviceSetMemPool(0, own), 0);
  ASSERT_EQ(cudaDeviceGetMemPool(&current, 0), 0);
  EXPECT_EQ(current, own);
  ASSERT_EQ(cudaMallocAsync(&p, 32, nullptr), 0);
  EXPECT_EQ(counts(own), (Counts{32, 600, 32, 600}));
  EXPECT_EQ(cudaMemPoolDestroy(own), 0);
  ASSERT_EQ(cudaDeviceGetMemPool(&current, 0), 0);
  EXPECT_EQ(current, standard);
  EXPECT_EQ(cudaFree(p), 0);
}

TEST_F(Cudart, HostFunctionsRunInTheOrderOfTheStream) {
  static std::vector<int> order;
  cudaStream_t stream;
  ASSERT_EQ(cudaStreamCreate(&stream), 0);
  int numbers[] = {0, 1, 2};
  for (int& n : numbers)
    ASSERT_EQ(cudaLaunchHostFunc(
                  stream, [](void* p) { order.push_back(*static_cast<int*>(p)); }, &n),
              0);
  ASSERT_EQ(cudaStreamSynchronize(stream), 0);
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
}

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

TEST_F(Cudart, ExternalEventsAreNodesOfACapturedGraph) {
  cudaStream_t stream;
  cudaEvent_t before, after;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  ASSERT_EQ(cudaStreamCreate(&stream), 0);
  ASSERT_EQ(cudaEventCreate(&before), 0);
  ASSERT_EQ(cudaEventCreate(&after), 0);
  constexpr unsigned kExternal = 1;
  EXPECT_EQ(cudaEventRecordWithFlags(before, stream, kExternal), error(Code::kInvalidValue));
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
  EXPECT_EQ(cudaGraphDebugDotPrint(graph, "/no/such/folder/graph.dot", 0), error(Code::kInvalidValue));
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

TEST_F(Cudart, BatchesAndAdvice) {
  constexpr int kOnDevice = 1, kInvalidDevice = -2;
  void* managed = nullptr;
  ASSERT_EQ(cudaMallocManaged(&managed, 4096, 1), 0);
  const auto asked = [&](int attribute) {
    int value = 99;
    EXPECT_EQ(cudaMemRangeGetAttribute(&value, 4, attribute, managed, 4096), 0);
    return value;
  };
  EXPECT_EQ(asked(1), 0);
  EXPECT_EQ(asked(2), kInvalidDevice);
  EXPECT_EQ(cudaMemAdvise(managed, 4096, 1, {kOnDevice, 0}), 0);
  EXPECT_EQ(cudaMemAdvise(managed, 4096, 3, {kOnDevice, 0}), 0);
  EXPECT_EQ(cudaMemAdvise(managed, 4096, 5, {kOnDevice, 0}), 0);
  EXPECT_EQ(cudaMemAdvise(managed, 4096, 9, {kOnDevice, 0}), error(Code::kInvalidValue));
  EXPECT_EQ(cudaMemAdvise(managed, 4097, 1, {kOnDevice, 0}), error(Code::kInvalidValue));
  cudaStream_t stream;
  ASSERT_EQ(cudaStreamCreate(&stream), 0);
  size_t bytes = 4096, first_of = 0;
  cudaMemLocation location{kOnDevice, 0};
  EXPECT_EQ(cudaMemPrefetchBatchAsync(&managed, &bytes, 1, &location, &first_of, 1, 0, stream), 0);
  EXPECT_EQ(asked(1), 1);
  EXPECT_EQ(asked(2), 0);
  EXPECT_EQ(asked(4), 0);
  int read_mostly = 0, accessed[2] = {9, 9};
  void* data[] = {&read_mostly, accessed};
  size_t data_bytes[] = {4, 8};
  const int attributes[] = {1, 3};
  EXPECT_EQ(cudaMemRangeGetAttributes(data, data_bytes, attributes, 2, managed, 4096), 0);
  EXPECT_EQ(read_mostly, 1);
  EXPECT_EQ(accessed[0], 0);
  EXPECT_EQ(accessed[1], kInvalidDevice);
  EXPECT_EQ(cudaFree(managed), 0);
  // Two copies at once, one to the device and one inside it
  float* const x = device_floats({1, 2});
  float* const y = device_floats({0, 0});
  const std::vector<float> seven{7};
  void* const to[] = {x, y};
  const void* const from[] = {seven.data(), x + 1};
  const size_t sizes[] = {4, 4};
  ASSERT_EQ(cudaMemcpyBatchAsync(to, from, sizes, 2, nullptr, nullptr, 0, stream), 0);
  ASSERT_EQ(cudaStreamSynchronize(stream), 0);
  EXPECT_EQ(host_floats(x, 2), (std::vector<float>{7, 2}));
  EXPECT_EQ(host_floats(y, 2), (std::vector<float>{2, 0}));
  const size_t too_much[] = {4, 4096};
  EXPECT_EQ(cudaMemcpyBatchAsync(to, from, too_much, 2, nullptr, nullptr, 0, stream),
            error(Code::kInvalidValue));
  cudaMemPool_t of_location = nullptr, standard = nullptr;
  EXPECT_EQ(cudaMemGetDefaultMemPool(&of_location, &location, 1), 0);
  EXPECT_EQ(cudaDeviceGetDefaultMemPool(&standard, 0), 0);
  EXPECT_EQ(of_location, standard);
  size_t width = 0;
  const cudaChannelFormatDesc format{32, 0, 0, 0, 2};
  EXPECT_EQ(cudaDeviceGetTexture1DLinearMaxWidth(&width, &format, 0), 0);
  EXPECT_GE(width, size_t{1} << 27);
}

/// What kernels have printed comes out where the manual says so.
void expect_greeting(cudaError_t (*wait)()) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(cudaLaunchKernel(&greet_stub, {1, 1, 1}, {1, 1, 1}, nullptr, 0, nullptr), 0);
  EXPECT_EQ(wait(), 0);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "Hi\n");
}
TEST_F(Cudart, WaitingPrints) { expect_greeting(cudaDeviceSynchronize); }
TEST_F(Cudart, ResettingTheDevicePrints) { expect_greeting(cudaDeviceReset); }
TEST_F(TimedCudart, ResettingTheDevicePrints) { expect_greeting(cudaDeviceReset); }

TEST_F(Cudart, FunctionsOfTheDriverAreFoundByName) {
  void* function = nullptr;
  int status = -1, devices = 0;
  ASSERT_EQ(cudaGetDriverEntryPointByVersion("cuDeviceGetCount", &function, 12000, 0, &status), 0);
  EXPECT_EQ(status, 0);
  ASSERT_NE(function, nullptr);
  EXPECT_EQ(reinterpret_cast<int (*)(int*)>(function)(&devices), 0);
  EXPECT_EQ(devices, 1);
  EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuNoSuchThing", &function, 12000, 0, &status), 0);
  EXPECT_EQ(status, 1);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(cudaGetDriverEntryPointByVersion(nullptr, &function, 12000, 0, &status),
            error(Code::kInvalidValue));
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

TEST_F(Cudart, TwoThreadsOnTwoStreams) {
  constexpr int kLaunches = 500;
  const auto work = [] {
    cudaStream_t stream;
    ASSERT_EQ(cudaStreamCreate(&stream), 0);
    for (int i = 0; i < kLaunches; ++i)
      ASSERT_EQ(cudaLaunchKernel(&count_stub, {1, 1, 1}, {32, 1, 1}, nullptr, 0, stream), 0);
    ASSERT_EQ(cudaStreamSynchronize(stream), 0);
  };
  std::thread first(work), second(work);
  first.join();
  second.join();
  unsigned counter = 0;
  ASSERT_EQ(cudaMemcpyFromSymbol(&counter, counter_shadow, 4, 0, cudaMemcpyDeviceToHost), 0);
  EXPECT_EQ(counter, 2u * kLaunches * 32);
}

TEST_F(Cudart, AChildHasNoGpuOfItsParent) {
  ASSERT_EQ(cudaDeviceSynchronize(), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(cudaDeviceSynchronize() == static_cast<int>(Code::kInitializationError) ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(Cudart, PropertiesAreTheMachines) {
  cudaDeviceProp p;
  ASSERT_EQ(cudaGetDeviceProperties(&p, 0), 0);
  EXPECT_EQ(p.major, 7);
  EXPECT_EQ(p.multiProcessorCount, 80);
  EXPECT_EQ(p.warpSize, 32);
  int value = 0;
  ASSERT_EQ(cudaDeviceGetAttribute(&value, 16, 0), 0);
  EXPECT_EQ(value, 80);
  cudaFuncAttributes a;
  ASSERT_EQ(cudaFuncGetAttributes(&a, &scale_stub), 0);
  EXPECT_EQ(a.ptxVersion, 70);
  EXPECT_GT(a.numRegs, 0);
  ASSERT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, &scale_stub, 256, 0), 0);
  EXPECT_EQ(value, 8);
}

}  // namespace
}  // namespace gpusim::runtime
