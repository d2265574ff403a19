// What the manual of the runtime says is an error, by groups of functions: each case is one that a real
// library refuses, and beside it one that it takes.
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "runtime/cudart/test_program.h"

extern "C" {
cudaChannelFormatDesc cudaCreateChannelDesc(int, int, int, int, int);
cudaError_t cudaMallocArray(cudaArray_t*, const cudaChannelFormatDesc*, size_t, size_t, unsigned);
cudaError_t cudaFreeArray(cudaArray_t);
cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t*, const cudaChannelFormatDesc*, cudaExtent,
                                     unsigned, unsigned);
cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t*, cudaMipmappedArray_t, unsigned);
cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t);
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t*, const cudaResourceDesc*);
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t);
cudaError_t cudaCreateTextureObject(cudaTextureObject_t*, const cudaResourceDesc*, const cudaTextureDesc*,
                                    const cudaResourceViewDesc*);
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t);
cudaError_t cudaMallocManaged(void**, size_t, unsigned);
cudaError_t cudaMallocHost(void**, size_t);
cudaError_t cudaFreeHost(void*);
cudaError_t cudaHostRegister(void*, size_t, unsigned);
cudaError_t cudaHostUnregister(void*);
cudaError_t cudaMemPrefetchAsync(const void*, size_t, cudaMemLocation, unsigned, cudaStream_t);
cudaError_t cudaMemAdvise(const void*, size_t, int, cudaMemLocation);
cudaError_t cudaStreamSetAttribute(cudaStream_t, int, const void*);
cudaError_t cudaGetDriverEntryPointByVersion(const char*, void**, unsigned, unsigned long long, int*);
cudaError_t cudaFree(void*);
cudaError_t cudaDeviceGetAttribute(int*, int, int);
}

namespace gpusim::runtime::test_program {
namespace {

constexpr unsigned kSurface = 2;  // cudaArraySurfaceLoadStore

class Refusals : public Cudart {
 protected:
  const cudaChannelFormatDesc floats = cudaCreateChannelDesc(32, 0, 0, 0, 2);
  const int bad = error(Code::kInvalidValue);
};

TEST_F(Refusals, SurfacesAreOfArraysThatWereMadeForThem) {
  cudaSurfaceObject_t surface = 0;
  cudaResourceDesc resource{};
  for (const unsigned flags : {0u, kSurface}) {
    cudaArray_t array = nullptr;
    ASSERT_EQ(cudaMallocArray(&array, &floats, 8, 4, flags), 0);
    resource.resType = 0, resource.res.array.array = array;
    EXPECT_EQ(cudaCreateSurfaceObject(&surface, &resource), flags == kSurface ? 0 : bad);
    // A level of an array has what the array was made for.
    cudaMipmappedArray_t levels = nullptr;
    ASSERT_EQ(cudaMallocMipmappedArray(&levels, &floats, {8, 4, 0}, 2, flags), 0);
    cudaArray_t level = nullptr;
    ASSERT_EQ(cudaGetMipmappedArrayLevel(&level, levels, 1), 0);
    resource.res.array.array = level;
    EXPECT_EQ(cudaCreateSurfaceObject(&surface, &resource), flags == kSurface ? 0 : bad);
    EXPECT_EQ(cudaFreeMipmappedArray(levels), 0);
    EXPECT_EQ(cudaFreeArray(array), 0);
  }
}

TEST_F(Refusals, TexturesReadInOneOfTwoWays) {
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc bytes = cudaCreateChannelDesc(8, 0, 0, 0, 1);
  ASSERT_EQ(cudaMallocArray(&array, &bytes, 8, 4, 0), 0);
  cudaResourceDesc resource{};
  resource.res.array.array = array;
  cudaTextureObject_t texture = 0;
  for (const int mode : {-1, 0, 1, 2}) {
    cudaTextureDesc sampling{};
    sampling.readMode = mode;
    const bool known = mode == 0 || mode == 1;
    EXPECT_EQ(cudaCreateTextureObject(&texture, &resource, &sampling, nullptr), known ? 0 : bad) << mode;
  }
  EXPECT_EQ(cudaFreeArray(array), 0);
}

TEST_F(Refusals, LinearTexturesHaveALargestSizeAndNoViews) {
  float* const memory = device_floats(std::vector<float>(64));
  cudaResourceDesc resource{};
  constexpr int kLinear = 2, kFloat = 22;
  resource.resType = kLinear;
  resource.res.linear = {memory, floats, 256};
  const cudaTextureDesc sampling{};
  cudaTextureObject_t texture = 0;
  EXPECT_EQ(cudaCreateTextureObject(&texture, &resource, &sampling, nullptr), 0);
  cudaResourceViewDesc view{};
  view.format = kFloat, view.width = 64;
  EXPECT_EQ(cudaCreateTextureObject(&texture, &resource, &sampling, &view), bad);
  constexpr int kMostTexels = 69;  // cudaDevAttrMaxTexture1DLinearWidth
  int most = 0;
  ASSERT_EQ(cudaDeviceGetAttribute(&most, kMostTexels, 0), 0);
  resource.res.linear.sizeInBytes = (static_cast<size_t>(most) + 1) * sizeof(float);
  EXPECT_EQ(cudaCreateTextureObject(&texture, &resource, &sampling, nullptr), bad);
  EXPECT_EQ(cudaFree(memory), 0);
}

TEST_F(Refusals, ManagedMemoryHasASizeAndIsSentToPlacesThatExist) {
  void* memory = nullptr;
  EXPECT_EQ(cudaMallocManaged(&memory, 0, 1), bad);
  ASSERT_EQ(cudaMallocManaged(&memory, 4096, 1), 0);
  constexpr int kOnDevice = 1, kOnHost = 2, kReadMostly = 1, kPreferred = 3, kAccessedBy = 5;
  const int no_device = error(Code::kInvalidDevice);
  EXPECT_EQ(cudaMemPrefetchAsync(memory, 4096, {kOnDevice, 0}, 0, nullptr), 0);
  EXPECT_EQ(cudaMemPrefetchAsync(memory, 4096, {kOnDevice, 0}, 1, nullptr), bad);
  EXPECT_EQ(cudaMemPrefetchAsync(memory, 4096, {kOnDevice, 1}, 0, nullptr), no_device);
  EXPECT_EQ(cudaMemPrefetchAsync(memory, 4096, {77, 0}, 0, nullptr), bad);
  for (const int advice : {kPreferred, kAccessedBy}) {
    EXPECT_EQ(cudaMemAdvise(memory, 4096, advice, {kOnHost, 0}), 0);
    EXPECT_EQ(cudaMemAdvise(memory, 4096, advice, {kOnDevice, 9}), no_device);
    EXPECT_EQ(cudaMemAdvise(memory, 4096, advice, {77, 0}), bad);
  }
  EXPECT_EQ(cudaMemAdvise(memory, 4096, kReadMostly, {kOnDevice, 9}), 0) << "the place is not looked at";
  EXPECT_EQ(cudaFree(memory), 0);
}

TEST_F(Refusals, PinnedMemoryIsFreedAndRegisteredMemoryUnregistered) {
  void* pinned = nullptr;
  ASSERT_EQ(cudaMallocHost(&pinned, 64), 0);
  EXPECT_EQ(cudaHostUnregister(pinned), error(Code::kHostMemoryNotRegistered));
  EXPECT_EQ(cudaFreeHost(pinned), 0);
  std::vector<std::byte> own(64);
  ASSERT_EQ(cudaHostRegister(own.data(), own.size(), 0), 0);
  EXPECT_EQ(cudaFreeHost(own.data()), bad);
  EXPECT_EQ(cudaHostUnregister(own.data() + 8), bad);
  EXPECT_EQ(cudaHostUnregister(own.data()), 0);
}

TEST_F(Refusals, NumbersThatNameNothing) {
  constexpr int kSynchronizationPolicy = 3, kBlockingSync = 4;
  for (const int policy : {0, 1, kBlockingSync, kBlockingSync + 1}) {
    int value[16] = {policy};
    const bool known = policy >= 1 && policy <= kBlockingSync;
    EXPECT_EQ(cudaStreamSetAttribute(nullptr, kSynchronizationPolicy, value), known ? 0 : bad) << policy;
  }
  void* function = nullptr;
  int found = 0;
  constexpr unsigned long long kLegacy = 1, kUnknown = 16;
  EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuMemAlloc", &function, 12000, kLegacy, &found), 0);
  EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuMemAlloc", &function, 12000, kUnknown, &found), bad);
}

}  // namespace
}  // namespace gpusim::runtime::test_program
