// Memory pools of the host and of managed memory beside those of the device.
#include <gtest/gtest.h>

#include "runtime/cudart/test_program.h"

extern "C" {
cudaError_t cudaMemPoolCreate(cudaMemPool_t*, const cudaMemPoolProps*);
cudaError_t cudaMemPoolDestroy(cudaMemPool_t);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, int, void*);
cudaError_t cudaMemPoolGetAccess(int*, cudaMemPool_t, cudaMemLocation*);
cudaError_t cudaMallocFromPoolAsync(void**, size_t, cudaMemPool_t, cudaStream_t);
cudaError_t cudaFreeAsync(void*, cudaStream_t);
cudaError_t cudaFree(void*);
cudaError_t cudaMemGetInfo(size_t*, size_t*);
cudaError_t cudaMemsetAsync(void*, int, size_t, cudaStream_t);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes*, const void*);
cudaError_t cudaDeviceGetAttribute(int*, int, int);
cudaError_t cudaDeviceSetMemPool(int, cudaMemPool_t);
cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t*, cudaMemLocation*, int);
cudaError_t cudaMemGetMemPool(cudaMemPool_t*, cudaMemLocation*, int);
cudaError_t cudaMemSetMemPool(cudaMemLocation*, int, cudaMemPool_t);
}

namespace gpusim::runtime::test_program {
namespace {

TEST_F(TimedCudart, MemoryThatAStreamHasStillToFreeIsWaitedFor) {
  size_t room = 0, total = 0;
  ASSERT_EQ(cudaMemGetInfo(&room, &total), 0);
  const auto in_turn = [](size_t bytes, cudaMemPool_t pool) {
    for (int i = 0; i < 4; ++i) {
      void* p = nullptr;
      ASSERT_EQ(cudaMallocFromPoolAsync(&p, bytes, pool, nullptr), 0) << i;
      ASSERT_EQ(cudaMemsetAsync(p, i, 1, nullptr), 0);
      ASSERT_EQ(cudaFreeAsync(p, nullptr), 0);
    }
  };
  cudaMemPoolProps properties{};
  properties.allocType = 1;
  properties.location = {1, 0};
  cudaMemPool_t pool = nullptr;
  ASSERT_EQ(cudaMemPoolCreate(&pool, &properties), 0);
  in_turn(room / 2 + 1, pool);
  EXPECT_EQ(cudaMemPoolDestroy(pool), 0);
  properties.maxSize = 1000;
  ASSERT_EQ(cudaMemPoolCreate(&pool, &properties), 0);
  in_turn(600, pool);
  void* p = nullptr;
  EXPECT_EQ(cudaMallocFromPoolAsync(&p, 1001, pool, nullptr), error(Code::kMemoryAllocation));
  EXPECT_EQ(cudaMemPoolDestroy(pool), 0);
}

TEST_F(Cudart, APoolIsOfTheDeviceTheHostOrManaged) {
  enum : int { kPinned = 1, kManaged = 2, kDevicePlace = 1, kHostPlace = 2, kHostNode = 3 };
  enum : int { kTypeOfHost = 1, kTypeOfDevice = 2, kTypeOfManaged = 3 };  // cudaMemoryType
  struct Case {
    int type;
    cudaMemLocation place;
    int memory;
  };
  for (const Case& c :
       {Case{kPinned, {kHostPlace, 0}, kTypeOfHost}, Case{kPinned, {kHostNode, 0}, kTypeOfHost},
        Case{kManaged, {0, 0}, kTypeOfManaged}, Case{kManaged, {kDevicePlace, 0}, kTypeOfManaged},
        Case{kPinned, {kDevicePlace, 0}, kTypeOfDevice}}) {
    cudaMemPool_t pool = nullptr;
    cudaMemPoolProps properties{};
    properties.allocType = c.type;
    properties.location = c.place;
    ASSERT_EQ(cudaMemPoolCreate(&pool, &properties), 0);
    void* p = nullptr;
    ASSERT_EQ(cudaMallocFromPoolAsync(&p, 4096, pool, nullptr), 0);
    cudaPointerAttributes attributes{};
    ASSERT_EQ(cudaPointerGetAttributes(&attributes, p), 0);
    EXPECT_EQ(attributes.type, c.memory);
    ASSERT_EQ(cudaMemsetAsync(p, 5, 4096, nullptr), 0);
    ASSERT_EQ(cudaStreamSynchronize(nullptr), 0);
    EXPECT_EQ(static_cast<const unsigned char*>(p)[4095], 5);
    uint64_t used = 0;
    EXPECT_EQ(cudaMemPoolGetAttribute(pool, 7, &used), 0);
    EXPECT_EQ(used, 4096u);
    EXPECT_EQ(cudaFreeAsync(p, nullptr), 0);
    ASSERT_EQ(cudaStreamSynchronize(nullptr), 0);
    ASSERT_EQ(cudaMallocFromPoolAsync(&p, 64, pool, nullptr), 0);
    EXPECT_EQ(cudaMemPoolGetAttribute(pool, 7, &used), 0);
    EXPECT_EQ(used, 64u);
    EXPECT_EQ(cudaFree(p), 0);
    EXPECT_EQ(cudaMemPoolGetAttribute(pool, 7, &used), 0);
    EXPECT_EQ(used, 0u);
    ASSERT_EQ(cudaPointerGetAttributes(&attributes, p), 0);
    EXPECT_EQ(attributes.type, 0) << "it is freed";
    int access = 0;
    EXPECT_EQ(cudaMemPoolGetAccess(&access, pool, &properties.location),
              c.place.type == 0 ? error(Code::kInvalidValue) : 0);
    cudaMemPool_t standard = nullptr, current = nullptr;
    ASSERT_EQ(cudaMemGetDefaultMemPool(&standard, &properties.location, c.type), 0);
    ASSERT_EQ(cudaMemSetMemPool(&properties.location, c.type, pool), 0);
    ASSERT_EQ(cudaMemGetMemPool(&current, &properties.location, c.type), 0);
    EXPECT_EQ(current, pool);
    EXPECT_EQ(cudaDeviceSetMemPool(0, pool), c.memory == kTypeOfDevice ? 0 : error(Code::kInvalidValue));
    EXPECT_EQ(cudaMemPoolDestroy(standard), error(Code::kInvalidValue));
    EXPECT_EQ(cudaMemPoolDestroy(pool), 0);
    ASSERT_EQ(cudaMemGetMemPool(&current, &properties.location, c.type), 0);
    EXPECT_EQ(current, standard);
    properties.handleTypes = 1;
    EXPECT_EQ(cudaMemPoolCreate(&pool, &properties),
              c.memory == kTypeOfDevice ? 0 : error(Code::kNotSupported));
    if (c.memory == kTypeOfDevice) {
      EXPECT_EQ(cudaMemPoolDestroy(pool), 0);
    }
  }
  cudaMemPool_t pool = nullptr;
  cudaMemPoolProps elsewhere{};
  elsewhere.allocType = kPinned;
  elsewhere.location = {kHostNode, 1};
  EXPECT_EQ(cudaMemPoolCreate(&pool, &elsewhere), error(Code::kInvalidValue)) << "there is one node";
  int there = 0;
  for (const int attribute : {142, 144}) {
    EXPECT_EQ(cudaDeviceGetAttribute(&there, attribute, 0), 0);
    EXPECT_EQ(there, 1);
  }
}

}  // namespace
}  // namespace gpusim::runtime::test_program
