// The CUDA runtime library as a program sees it: values, the errors that the manual documents, streams and
// events.
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "runtime/cudart/test_program.h"

extern "C" {
cudaError_t cudaMallocArray(cudaArray_t*, const cudaChannelFormatDesc*, size_t, size_t, unsigned);
cudaError_t cudaMemcpy2DToArray(cudaArray_t, size_t, size_t, const void*, size_t, size_t, size_t,
                                cudaMemcpyKind);
char __cudaInitModule(void**);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char* cudaGetErrorName(cudaError_t);
const char* cudaGetErrorString(cudaError_t);
cudaError_t cudaMallocManaged(void**, size_t, unsigned);
cudaError_t cudaHostAlloc(void**, size_t, unsigned);
cudaError_t cudaFreeHost(void*);
cudaError_t cudaHostRegister(void*, size_t, unsigned);
cudaError_t cudaHostUnregister(void*);
cudaError_t cudaFree(void*);
cudaError_t cudaMemcpy2D(void*, size_t, const void*, size_t, size_t, size_t, cudaMemcpyKind);
cudaError_t cudaMemcpyToSymbol(const void*, const void*, size_t, size_t, cudaMemcpyKind);
cudaError_t cudaMemcpyFromSymbol(void*, const void*, size_t, size_t, cudaMemcpyKind);
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
cudaError_t cudaStreamAttachMemAsync_ptsz(cudaStream_t, void*, size_t, unsigned);
cudaError_t cudaGetSymbolAddress(void**, const void*);
cudaError_t cudaGetSymbolSize(size_t*, const void*);
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
cudaError_t cudaMemRangeGetAttribute(void*, size_t, int, const void*, size_t);
cudaError_t cudaMemRangeGetAttributes(void**, size_t*, const int*, size_t, const void*, size_t);
cudaError_t cudaMemPrefetchBatchAsync(void**, size_t*, size_t, cudaMemLocation*, size_t*, size_t,
                                      unsigned long long, cudaStream_t);
cudaError_t cudaMemcpyBatchAsync(void* const*, const void* const*, const size_t*, size_t, const void*,
                                 const size_t*, size_t, cudaStream_t);
cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t*, cudaMemLocation*, int);
cudaError_t cudaMemGetMemPool(cudaMemPool_t*, cudaMemLocation*, int);
cudaError_t cudaMemSetMemPool(cudaMemLocation*, int, cudaMemPool_t);
cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(int, int);
cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t*, const cudaChannelFormatDesc*, int);
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

TEST_F(Cudart, AnExportBringsWhatTheHostHasWritten) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "exported";
  setenv("GPUSIM_EXPORT", folder.c_str(), 1);
  const auto program = [this] {
    const cudaChannelFormatDesc format{32, 0, 0, 0, 2};
    void* memory = nullptr;
    bool good = __cudaInitModule(program_) == 1 && cudaMalloc(&memory, 12) == 0 &&
                cudaMemcpy(static_cast<char*>(memory) + 3, "abc", 3, cudaMemcpyHostToDevice) == 0;
    for (const float value : {1.0f, 2.0f}) {
      cudaArray_t array = nullptr;
      good = good && cudaMallocArray(&array, &format, 1, 1, 0) == 0 &&
             cudaMemcpy2DToArray(array, 0, 0, &value, 4, 4, 1, cudaMemcpyHostToDevice) == 0;
      *managed_variable += 100;
      good = good && cudaLaunchKernel(&share_stub, {1, 1, 1}, {32, 1, 1}, nullptr, 0, nullptr) == 0 &&
             cudaDeviceSynchronize() == 0;
    }
    std::exit(good && *managed_variable == 269 ? 0 : 1);
  };
  EXPECT_EXIT(program(), testing::ExitedWithCode(0), "");
  std::ifstream in(folder / "case.toml");
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  EXPECT_NE(text.find("name = \"array\"\n"), std::string::npos) << text;
  EXPECT_NE(text.find("name = \"array_2\"\n"), std::string::npos) << text;
  const size_t first = text.find("[[launch]]"), second = text.rfind("[[launch]]");
  const size_t written = text.find("copy(shared_total, ", first);
  EXPECT_LT(first, written) << text;
  EXPECT_LT(written, second) << text;
  // What is brought has the variable's type, and copies whole elements.
  const std::string source = text.substr(written + 19, text.find(')', written) - written - 19);
  EXPECT_NE(text.find("name = \"" + source + "\"\ntype = \"b8\"\ncount = 4\n"), std::string::npos) << text;
  EXPECT_NE(text.find("offset = 0\nbytes = 8\ninit"), std::string::npos) << text;
  std::filesystem::remove_all(folder);
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
  EXPECT_EQ(cudaStreamAttachMemAsync_ptsz(nullptr, managed_variable, 0, 1), 0);
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
  constexpr int kPinned = 1;
  cudaMemPool_t own = nullptr, current = nullptr;
  cudaMemPoolProps properties{};
  properties.allocType = kPinned;
  // Of no place it is no pool (as an H100 with driver 580.159 answers).
  EXPECT_EQ(cudaMemPoolCreate(&own, &properties), error(Code::kInvalidValue));
  properties.location = location;
  ASSERT_EQ(cudaMemPoolCreate(&own, &properties), 0);
  ASSERT_EQ(cudaMemSetMemPool(&location, kPinned, own), 0);
  ASSERT_EQ(cudaMemGetMemPool(&current, &location, kPinned), 0);
  EXPECT_EQ(current, own);
  ASSERT_EQ(cudaDeviceGetMemPool(&current, 0), 0);
  EXPECT_EQ(current, own) << "the device is that location";
  ASSERT_EQ(cudaMemGetDefaultMemPool(&current, &location, kPinned), 0);
  EXPECT_EQ(current, standard);
  cudaMemLocation another{1, 1}, host{2, 0};
  EXPECT_EQ(cudaMemGetMemPool(&current, &another, kPinned), error(Code::kInvalidDevice));
  EXPECT_EQ(cudaMemSetMemPool(&host, kPinned, own), error(Code::kInvalidValue)) << "a pool of the device";
  EXPECT_EQ(cudaMemGetMemPool(&current, &location, 3), error(Code::kInvalidValue)) << "no type of memory";
  EXPECT_EQ(cudaMemGetMemPool(nullptr, &location, kPinned), error(Code::kInvalidValue));
  ASSERT_EQ(cudaMemPoolDestroy(own), 0);
  ASSERT_EQ(cudaMemGetMemPool(&current, &location, kPinned), 0);
  EXPECT_EQ(current, standard) << "its place is the standard one's again";
  constexpr int kCurrentDevice = 0, kOwner = 100;
  EXPECT_EQ(cudaDeviceFlushGPUDirectRDMAWrites(kCurrentDevice, kOwner), error(Code::kNotSupported));
  EXPECT_EQ(cudaDeviceFlushGPUDirectRDMAWrites(kCurrentDevice, 0), error(Code::kInvalidValue));
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
