// The CUDA runtime library as a program sees it: values, the errors that the manual documents, streams and
// events.
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "runtime/cudart/test_program.h"

extern "C" {
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char* cudaGetErrorName(cudaError_t);
const char* cudaGetErrorString(cudaError_t);
cudaError_t cudaFreeHost(void*);
cudaError_t cudaHostRegister(void*, size_t, unsigned);
cudaError_t cudaHostUnregister(void*);
cudaError_t cudaFree(void*);
cudaError_t cudaMemcpy2D(void*, size_t, const void*, size_t, size_t, size_t, cudaMemcpyKind);
cudaError_t cudaMemcpyToSymbol(const void*, const void*, size_t, size_t, cudaMemcpyKind);
cudaError_t cudaMemcpyFromSymbol(void*, const void*, size_t, size_t, cudaMemcpyKind);
cudaError_t cudaMemGetInfo(size_t*, size_t*);
cudaError_t cudaLaunchCooperativeKernel(const void*, dim3, dim3, void**, size_t, cudaStream_t);
cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t, void*);
cudaError_t cudaDeviceReset();
cudaError_t cudaDeviceGetLimit(size_t*, int);
cudaError_t cudaDeviceSetLimit(int, size_t);
cudaError_t cudaFuncSetAttribute(const void*, int, int);
cudaError_t cudaSetDevice(int);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp*, int);
cudaError_t cudaDeviceGetAttribute(int*, int, int);
cudaError_t cudaStreamDestroy(cudaStream_t);
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes*, const void*);
cudaError_t cudaGraphicsMapResources(int, void*, cudaStream_t);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int*, const void*, int, size_t);
}

namespace gpusim::runtime::test_program {
namespace {

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
  // The runtime of CUDA 13, as an H100 with driver 580.159 answers.
  EXPECT_EQ(cudaLaunchKernel(&value, {1, 1, 1}, {1, 1, 1}, nullptr, 0, nullptr),
            error(Code::kInvalidResourceHandle));
  EXPECT_EQ(cudaLaunchKernel(nullptr, {1, 1, 1}, {1, 1, 1}, nullptr, 0, nullptr),
            error(Code::kInvalidDeviceFunction));
  EXPECT_EQ(cudaLaunchKernel(&count_stub, {1, 1, 1}, {2048, 1, 1}, nullptr, 0, nullptr),
            error(Code::kInvalidValue));
  EXPECT_EQ(cudaLaunchKernel(&count_stub, {0, 1, 1}, {32, 1, 1}, nullptr, 0, nullptr),
            error(Code::kInvalidValue));
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
  // As an H100 with driver 580.159 answers: the launch is good, calls after it are not, and the error of the
  // thread is that of the last call.
  cudaStream_t made = nullptr;
  ASSERT_EQ(cudaStreamCreate(&made), 0);
  EXPECT_EQ(cudaLaunchKernel(&stray_stub, {1, 1, 1}, {1, 1, 1}, nullptr, 0, nullptr), 0);
  EXPECT_EQ(cudaGetLastError(), 0);
  EXPECT_EQ(cudaDeviceSynchronize(), error(Code::kIllegalAddress));
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find("kernel 'stray'"), std::string::npos) << told;
  EXPECT_NE(told.find("block (0,0,0), thread (0,0,0)"), std::string::npos) << told;
  EXPECT_EQ(cudaGetLastError(), error(Code::kIllegalAddress));
  EXPECT_EQ(cudaGetLastError(), 0);
  EXPECT_EQ(cudaStreamSynchronize(made), error(Code::kIllegalAddress));
  EXPECT_EQ(cudaStreamDestroy(made), error(Code::kIllegalAddress));
  cudaFuncAttributes attributes;
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, &count_stub), error(Code::kIllegalAddress));
  size_t bytes = 0;
  EXPECT_EQ(cudaMemGetInfo(&bytes, &bytes), error(Code::kIllegalAddress));
  cudaDeviceProp properties;
  EXPECT_EQ(cudaGetDeviceProperties(&properties, 0), 0);
  EXPECT_EQ(cudaSetDevice(0), 0);
  void* p = nullptr;
  EXPECT_EQ(cudaMalloc(&p, 4), error(Code::kIllegalAddress));
  cudaStream_t stream = nullptr;
  EXPECT_EQ(cudaStreamCreate(&stream), error(Code::kIllegalAddress));
  cudaEvent_t event = nullptr;
  EXPECT_EQ(cudaEventCreate(&event), error(Code::kIllegalAddress));
  EXPECT_EQ(cudaLaunchKernel(&count_stub, {1, 1, 1}, {1, 1, 1}, nullptr, 0, nullptr),
            error(Code::kIllegalAddress));
  // A reset does not help: the process has to end.
  EXPECT_EQ(cudaDeviceReset(), 0);
  EXPECT_EQ(cudaMalloc(&p, 4), error(Code::kDeviceUnavailable));
  EXPECT_EQ(cudaDeviceSynchronize(), error(Code::kDeviceUnavailable));
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

class HopperCudart : public Cudart {
 protected:
  void SetUp() override {
    Cudart::SetUp();
    setenv("GPUSIM_CONFIG", GPUSIM_SOURCE_DIR "/configs/h100.cfg", 1);
  }
};

// As an H100 with driver 580.159 answers.
TEST_F(HopperCudart, AttributesLimitsAndOccupancy) {
  const auto attribute = [](int which) {
    int value = -77;
    EXPECT_EQ(cudaDeviceGetAttribute(&value, which, 0), 0) << which;
    return value;
  };
  constexpr int kSharedOfSm = 81, kSharedOfBlock = 97, kPersistingL2 = 108, kSurfaceCubes = 66, kNone = 148;
  EXPECT_EQ(attribute(kSharedOfSm), 233472);
  EXPECT_EQ(attribute(kSharedOfBlock), 232448);
  EXPECT_EQ(attribute(kPersistingL2), 32768000);
  EXPECT_EQ(attribute(kSurfaceCubes), 32768);
  int value = 0;
  EXPECT_EQ(cudaDeviceGetAttribute(&value, kNone, 0), error(Code::kInvalidValue));
  constexpr int kStack = 0, kPrintf = 1, kSyncDepth = 3, kGranularity = 5;
  size_t limit = 0;
  ASSERT_EQ(cudaDeviceSetLimit(kStack, 1000), 0);
  ASSERT_EQ(cudaDeviceGetLimit(&limit, kStack), 0);
  EXPECT_EQ(limit, 1008u);
  EXPECT_EQ(cudaDeviceSetLimit(kStack, 600000), error(Code::kInvalidValue));
  ASSERT_EQ(cudaDeviceGetLimit(&limit, kPrintf), 0);
  EXPECT_EQ(limit, 8650752u);
  EXPECT_EQ(cudaDeviceGetLimit(&limit, kSyncDepth), error(Code::kUnsupportedLimit));
  EXPECT_EQ(cudaDeviceSetLimit(kGranularity, 129), error(Code::kInvalidValue));
  // A block's kilobyte for the system, and the part of the L1 that the kernel prefers.
  const auto blocks = [](size_t shared) {
    int n = -1;
    EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, &count_stub, 32, shared), 0);
    return n;
  };
  EXPECT_EQ(blocks(10000), 20);
  EXPECT_EQ(blocks(100000), 0) << "not without asking";
  constexpr int kMaxDynamicShared = 8, kCarveout = 9;
  ASSERT_EQ(cudaFuncSetAttribute(&count_stub, kCarveout, 1), 0);
  EXPECT_EQ(blocks(0), 8);
  EXPECT_EQ(blocks(1000), 4);
  EXPECT_EQ(blocks(10000), 1);
  ASSERT_EQ(cudaFuncSetAttribute(&count_stub, kMaxDynamicShared, 0), 0);
  EXPECT_EQ(cudaLaunchKernel(&count_stub, {1, 1, 1}, {1, 1, 1}, nullptr, 1024, nullptr),
            error(Code::kInvalidValue));
}

}  // namespace
}  // namespace gpusim::runtime::test_program
