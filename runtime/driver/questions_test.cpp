// What the driver library says about functions, modules, managed variables, the device and its memory.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "runtime/driver/work_test.h"

extern "C" {
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
int cuMemAllocManaged(CUdeviceptr*, size_t, unsigned);
int cuMemAllocAsync(CUdeviceptr*, size_t, cudaStream_t);
int cuMemFreeAsync(CUdeviceptr, cudaStream_t);
int cuDeviceGetDefaultMemPool(cudaMemPool_t*, int);
int cuMemPoolGetAttribute(cudaMemPool_t, int, void*);
int cuMemAdvise_v2(CUdeviceptr, size_t, int, cudaMemLocation);
int cuMemPrefetchAsync_v2(CUdeviceptr, size_t, cudaMemLocation, unsigned, cudaStream_t);
int cuPointerGetAttributes(unsigned, const int*, void**, CUdeviceptr);
int cuStreamSynchronize(cudaStream_t);
int cuGraphAddNode_v2(cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*, const void*, size_t,
                      cudaGraphNodeParams*);
int cuMemcpyBatchAsync(const CUdeviceptr*, const CUdeviceptr*, const size_t*, size_t, const void*,
                       const size_t*, size_t, size_t*, cudaStream_t);
int cuMemcpyBatchAsync_v2(const CUdeviceptr*, const CUdeviceptr*, const size_t*, size_t, const void*,
                          const size_t*, size_t, cudaStream_t);
int cuGetProcAddress_v2(const char*, void**, int, unsigned long long, int*);
int cuProfilerInitialize(const char*, const char*, int);
}

namespace gpusim::runtime {
namespace {

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
