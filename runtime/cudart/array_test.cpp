// Arrays and copies to and from them, as programs use them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "runtime/cudart/abi.h"
#include "runtime/device/error.h"

extern "C" {
cudaChannelFormatDesc cudaCreateChannelDesc(int, int, int, int, int);
cudaError_t cudaMallocArray(cudaArray_t*, const cudaChannelFormatDesc*, size_t, size_t, unsigned);
cudaError_t cudaFreeArray(cudaArray_t);
cudaError_t cudaMemcpy2DToArray(cudaArray_t, size_t, size_t, const void*, size_t, size_t, size_t,
                                cudaMemcpyKind);
cudaError_t cudaMemcpyArrayToArray(cudaArray_t, size_t, size_t, cudaArray_const_t, size_t, size_t, size_t,
                                   cudaMemcpyKind);
cudaError_t cudaMemcpyToArray(cudaArray_t, size_t, size_t, const void*, size_t, cudaMemcpyKind);
cudaError_t cudaMemcpyFromArray(void*, cudaArray_const_t, size_t, size_t, size_t, cudaMemcpyKind);
cudaError_t cudaMemcpy2DFromArray(void*, size_t, cudaArray_const_t, size_t, size_t, size_t, size_t,
                                  cudaMemcpyKind);
/// cudaMemcpy3DOperand
struct BatchEnd {
  int type;
  union {
    struct {
      void* pointer;
      size_t row, rows;
      cudaMemLocation hint;
    } memory;
    struct {
      cudaArray_t array;
      cudaPos offset;
    } array;
  };
};
struct BatchCopy {
  BatchEnd from, to;
  cudaExtent extent;
  int order;
  unsigned flags;
};
cudaError_t cudaMemcpy3DBatchAsync(size_t, const BatchCopy*, unsigned long long, cudaStream_t);
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t*, const cudaChannelFormatDesc*, cudaExtent,
                                     unsigned, unsigned);
cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t*, cudaMipmappedArray_t, unsigned);
cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t);
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc*, cudaExtent*, unsigned*, cudaArray_t);
cudaError_t cudaMemGetInfo(size_t*, size_t*);
cudaError_t cudaCreateTextureObject(cudaTextureObject_t*, const cudaResourceDesc*, const cudaTextureDesc*,
                                    const cudaResourceViewDesc*);
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t);
cudaError_t cudaDeviceGetAttribute(int*, int, int);
cudaError_t cudaFree(void*);
cudaError_t cudaMalloc(void**, size_t);
cudaError_t cudaMallocPitch(void**, size_t*, size_t, size_t);
cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc*, cudaTextureObject_t);
}

namespace gpusim::runtime {
namespace {

class CudartArray : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("GPUSIM_CONFIG", GPUSIM_SOURCE_DIR "/configs/tesla_v100.cfg", 1);
    setenv("GPUSIM_QUIET", "1", 1);
    setenv("GPUSIM_FUNCTIONAL", "1", 1);
  }
  static cudaArray_t floats(size_t width, size_t height) {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, 2);
    cudaArray_t array = nullptr;
    EXPECT_EQ(cudaMallocArray(&array, &format, width, height, 0), 0);
    return array;
  }
};

TEST_F(CudartArray, OneRowNeedsNoPitchAndSeveralDo) {
  const cudaArray_t array = floats(8, 3);
  std::vector<float> values(24), back(8);
  std::iota(values.begin(), values.end(), 1.0f);
  const int bad_pitch = static_cast<int>(Code::kInvalidPitchValue);
  EXPECT_EQ(cudaMemcpy2DToArray(array, 0, 0, values.data(), 16, 32, 3, cudaMemcpyHostToDevice), bad_pitch);
  ASSERT_EQ(cudaMemcpy2DToArray(array, 0, 0, values.data(), 32, 32, 3, cudaMemcpyHostToDevice), 0);
  ASSERT_EQ(cudaMemcpy2DToArray(array, 8, 1, values.data(), 0, 16, 1, cudaMemcpyHostToDevice), 0);
  ASSERT_EQ(cudaMemcpy2DFromArray(back.data(), 0, array, 0, 1, 32, 1, cudaMemcpyDeviceToHost), 0);
  EXPECT_EQ(back, (std::vector<float>{9, 10, 1, 2, 3, 4, 15, 16}));
  EXPECT_EQ(cudaMemcpy2DFromArray(back.data(), 0, array, 0, 0, 16, 2, cudaMemcpyDeviceToHost), bad_pitch);
  EXPECT_EQ(cudaFreeArray(array), 0);
}

TEST_F(CudartArray, BytesGoFromArrayToArray) {
  const cudaArray_t from = floats(8, 3), to = floats(8, 3);
  std::vector<float> values(24), zeros(24), back(24);
  std::iota(values.begin(), values.end(), 1.0f);
  ASSERT_EQ(cudaMemcpy2DToArray(from, 0, 0, values.data(), 32, 32, 3, cudaMemcpyHostToDevice), 0);
  ASSERT_EQ(cudaMemcpy2DToArray(to, 0, 0, zeros.data(), 32, 32, 3, cudaMemcpyHostToDevice), 0);
  ASSERT_EQ(cudaMemcpyArrayToArray(to, 8, 2, from, 4, 1, 16, cudaMemcpyDeviceToDevice), 0);
  ASSERT_EQ(cudaMemcpy2DFromArray(back.data(), 32, to, 0, 0, 32, 3, cudaMemcpyDeviceToHost), 0);
  std::copy_n(values.begin() + 9, 4, zeros.begin() + 18);
  EXPECT_EQ(back, zeros);
  EXPECT_NE(cudaMemcpyArrayToArray(to, 0, 2, from, 0, 0, 64, cudaMemcpyDeviceToDevice), 0)
      << "beyond its end";
}

TEST_F(CudartArray, BytesGoOnInTheNextRow) {
  const cudaArray_t array = floats(4, 4), wide = floats(8, 3);
  std::vector<float> values(16), back(16), some(10), zeros(24), all(24);
  std::iota(values.begin(), values.end(), 1.0f);
  const cudaMemcpyKind in = cudaMemcpyHostToDevice, out = cudaMemcpyDeviceToHost;
  ASSERT_EQ(cudaMemcpyToArray(array, 0, 0, values.data(), 64, in), 0);
  // The end of row 0, two rows, the begin of row 3.
  ASSERT_EQ(cudaMemcpyFromArray(some.data(), array, 12, 0, 40, out), 0);
  EXPECT_EQ(some, (std::vector<float>{4, 5, 6, 7, 8, 9, 10, 11, 12, 13}));
  ASSERT_EQ(cudaMemcpyToArray(array, 8, 1, values.data(), 16, in), 0);
  ASSERT_EQ(cudaMemcpy2DFromArray(back.data(), 16, array, 0, 0, 16, 4, out), 0);
  EXPECT_EQ(back, (std::vector<float>{1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 11, 12, 13, 14, 15, 16}));
  // Rows of another length.
  ASSERT_EQ(cudaMemcpyToArray(wide, 0, 0, zeros.data(), 96, in), 0);
  ASSERT_EQ(cudaMemcpyArrayToArray(wide, 20, 0, array, 4, 0, 60, cudaMemcpyDeviceToDevice), 0);
  ASSERT_EQ(cudaMemcpyFromArray(all.data(), wide, 0, 0, 96, out), 0);
  std::copy_n(back.begin() + 1, 15, zeros.begin() + 5);
  EXPECT_EQ(all, zeros);
  const int bad = static_cast<int>(Code::kInvalidValue);
  EXPECT_EQ(cudaMemcpyToArray(array, 4, 0, values.data(), 64, in), bad) << "beyond its end";
  EXPECT_EQ(cudaMemcpyFromArray(back.data(), array, 0, 4, 4, out), bad) << "no such row";
  EXPECT_EQ(cudaMemcpyFromArray(back.data(), array, 0, 0, 4, in),
            static_cast<int>(Code::kInvalidMemcpyDirection));
  EXPECT_EQ(cudaMemcpyToArray(array, 0, 0, values.data(), 0, in), 0);
}

TEST_F(CudartArray, LevelsOfAMipmappedArrayAreArrays) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, 2);
  const int bad = static_cast<int>(Code::kInvalidValue),
            bad_handle = static_cast<int>(Code::kInvalidResourceHandle);
  size_t before = 0, after = 0, total = 0;
  ASSERT_EQ(cudaMemGetInfo(&before, &total), 0);
  cudaMipmappedArray_t mipmapped = nullptr;
  // No levels are one, as an H100 with driver 580.159 answers.
  ASSERT_EQ(cudaMallocMipmappedArray(&mipmapped, &format, {8, 2, 0}, 0, 0), 0);
  cudaArray_t second = nullptr;
  EXPECT_EQ(cudaGetMipmappedArrayLevel(&second, mipmapped, 1), bad);
  EXPECT_EQ(cudaFreeMipmappedArray(mipmapped), 0);
  EXPECT_EQ(cudaMallocMipmappedArray(&mipmapped, &format, {32769, 1, 0}, 2, 0), bad);
  ASSERT_EQ(cudaMallocMipmappedArray(&mipmapped, &format, {8, 2, 0}, 9, 0), 0);
  std::vector<cudaExtent> extents(4);
  for (unsigned i = 0; i < 4; ++i) {
    cudaArray_t level = nullptr;
    ASSERT_EQ(cudaGetMipmappedArrayLevel(&level, mipmapped, i), 0);
    ASSERT_EQ(cudaArrayGetInfo(nullptr, &extents[i], nullptr, level), 0);
    std::vector<float> in(extents[i].width, 1.0f + static_cast<float>(i)), out(extents[i].width);
    const size_t bytes = extents[i].width * 4;
    ASSERT_EQ(cudaMemcpy2DToArray(level, 0, 0, in.data(), bytes, bytes, 1, cudaMemcpyHostToDevice), 0);
    ASSERT_EQ(cudaMemcpy2DFromArray(out.data(), bytes, level, 0, 0, bytes, 1, cudaMemcpyDeviceToHost), 0);
    EXPECT_EQ(in, out);
  }
  EXPECT_EQ(extents[1].width, 4u);
  EXPECT_EQ(extents[1].height, 1u);
  EXPECT_EQ(extents[3].width, 1u);
  EXPECT_EQ(extents[3].depth, 0u);
  cudaArray_t none = nullptr;
  EXPECT_EQ(cudaGetMipmappedArrayLevel(&none, mipmapped, 4), bad);
  cudaResourceDesc resource{};
  resource.resType = 1;
  resource.res.mipmap.mipmap = mipmapped;
  cudaTextureDesc texture{};
  texture.maxMipmapLevelClamp = 3;
  cudaTextureObject_t object = 0;
  EXPECT_EQ(cudaCreateTextureObject(&object, &resource, &texture, nullptr), 0);
  ASSERT_EQ(cudaFreeMipmappedArray(mipmapped), 0);
  EXPECT_EQ(cudaFreeMipmappedArray(mipmapped), bad_handle);
  EXPECT_EQ(cudaCreateTextureObject(&object, &resource, &texture, nullptr), bad_handle);
  ASSERT_EQ(cudaMemGetInfo(&after, &total), 0);
  EXPECT_EQ(after, before);
  // Layers are not halved.
  constexpr unsigned kLayered = 1;
  ASSERT_EQ(cudaMallocMipmappedArray(&mipmapped, &format, {8, 8, 6}, 2, kLayered), 0);
  ASSERT_EQ(cudaGetMipmappedArrayLevel(&none, mipmapped, 1), 0);
  ASSERT_EQ(cudaArrayGetInfo(nullptr, &extents[0], nullptr, none), 0);
  EXPECT_EQ(extents[0].depth, 6u);
}

TEST_F(CudartArray, ViewsShowPartsAndOtherFormats) {
  const int bad = static_cast<int>(Code::kInvalidValue), missing = static_cast<int>(Code::kNotSupported);
  const cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, 2);
  cudaMipmappedArray_t mipmapped = nullptr;
  constexpr unsigned kLayered = 1;
  ASSERT_EQ(cudaMallocMipmappedArray(&mipmapped, &format, {8, 8, 6}, 3, kLayered), 0);
  cudaResourceDesc resource{};
  resource.resType = 1;
  resource.res.mipmap.mipmap = mipmapped;
  const cudaTextureDesc texture{};
  cudaTextureObject_t object = 0;
  const auto made = [&](const cudaResourceViewDesc& view) {
    return cudaCreateTextureObject(&object, &resource, &texture, &view);
  };
  cudaResourceViewDesc view{};
  view.width = view.height = 8, view.depth = 6;
  view.firstMipmapLevel = 1, view.lastMipmapLevel = 2, view.firstLayer = 2, view.lastLayer = 3;
  // A view has a format (as an H100 with driver 580.159 answers).
  EXPECT_EQ(made(view), bad);
  constexpr int kFloat = 22;
  view.format = kFloat;
  ASSERT_EQ(made(view), 0);
  cudaResourceViewDesc back{};
  ASSERT_EQ(cudaGetTextureObjectResourceViewDesc(&back, object), 0);
  EXPECT_EQ(back.lastLayer, 3u);
  constexpr int kTwoShorts = 8, kFourBytes = 3, kTwoBytes = 2, kCompressed = 25;
  for (const int same_size : {kTwoShorts, kFourBytes}) {
    view.format = same_size;
    EXPECT_EQ(made(view), 0);
  }
  view.format = kTwoBytes;
  EXPECT_EQ(made(view), bad);
  view.format = kCompressed;
  EXPECT_EQ(made(view), missing);
  view.format = kFloat;
  view.lastMipmapLevel = 3;
  EXPECT_EQ(made(view), bad);
  view.lastMipmapLevel = 2, view.lastLayer = 6;
  EXPECT_EQ(made(view), bad);
  view.lastLayer = 3, view.width = 4;
  EXPECT_EQ(made(view), bad);
  ASSERT_EQ(cudaCreateTextureObject(&object, &resource, &texture, nullptr), 0);
  EXPECT_EQ(cudaGetTextureObjectResourceViewDesc(&back, object), 0);
  EXPECT_EQ(back.lastLayer, 0u) << "it has none";
  EXPECT_EQ(cudaFreeMipmappedArray(mipmapped), 0);
}

TEST_F(CudartArray, TexturesOfMemoryBeginAndGoOnAligned) {
  constexpr int kTextureAlignment = 14, kPitchAlignment = 51, kMostPitch = 72, kLinear = 2, kPitch2d = 3;
  int alignment = 0, pitch_alignment = 0, most_pitch = 0;
  ASSERT_EQ(cudaDeviceGetAttribute(&alignment, kTextureAlignment, 0), 0);
  ASSERT_EQ(cudaDeviceGetAttribute(&pitch_alignment, kPitchAlignment, 0), 0);
  ASSERT_EQ(cudaDeviceGetAttribute(&most_pitch, kMostPitch, 0), 0);
  EXPECT_EQ(alignment, 512);
  EXPECT_EQ(pitch_alignment, 32);
  void *memory = nullptr, *rows = nullptr;
  size_t pitch = 0;
  ASSERT_EQ(cudaMalloc(&memory, 4096), 0);
  ASSERT_EQ(cudaMallocPitch(&rows, &pitch, 100, 8), 0);
  EXPECT_EQ(pitch % static_cast<size_t>(pitch_alignment), 0u);
  const auto result = [&](const cudaResourceDesc& resource) {
    cudaTextureObject_t texture = 0;
    const cudaTextureDesc reads{};
    const int code = cudaCreateTextureObject(&texture, &resource, &reads, nullptr);
    EXPECT_EQ(cudaDestroyTextureObject(texture), 0);
    return code;
  };
  const auto linear = [&](void* begin) {
    cudaResourceDesc r{};
    r.resType = kLinear;
    r.res.linear = {begin, cudaCreateChannelDesc(32, 0, 0, 0, 2), 512};
    return result(r);
  };
  const auto pitched = [&](void* begin, size_t row) {
    cudaResourceDesc r{};
    r.resType = kPitch2d;
    r.res.pitch2D = {begin, cudaCreateChannelDesc(32, 0, 0, 0, 2), 8, 4, row};
    return result(r);
  };
  const auto behind = [&](void* begin, int bytes) { return static_cast<std::byte*>(begin) + bytes; };
  const int bad = static_cast<int>(Code::kInvalidValue);
  EXPECT_EQ(linear(memory), 0);
  EXPECT_EQ(linear(behind(memory, alignment)), 0);
  EXPECT_EQ(linear(behind(memory, 4)), bad);
  EXPECT_EQ(linear(nullptr), bad);
  alignas(512) static std::byte own[512];
  EXPECT_EQ(linear(own), bad) << "not the device's";
  EXPECT_EQ(pitched(rows, pitch), 0);
  EXPECT_EQ(pitched(rows, static_cast<size_t>(pitch_alignment)), 0);
  EXPECT_EQ(pitched(rows, static_cast<size_t>(pitch_alignment) + 4), bad);
  EXPECT_EQ(pitched(rows, static_cast<size_t>(most_pitch) + 32), bad);
  EXPECT_EQ(pitched(behind(rows, 4), pitch), bad);
  EXPECT_EQ(cudaFree(rows), 0);
  EXPECT_EQ(cudaFree(memory), 0);
}

TEST_F(CudartArray, ABatchCopiesBetweenMemoryAndArrays) {
  const cudaArray_t array = floats(4, 2), other = floats(4, 2);
  // The middle two columns of rows of five, into the last two columns of the array, and back by another.
  std::vector<float> values(10), back(4);
  std::iota(values.begin(), values.end(), 0.0f);
  BatchCopy in{}, across{}, out{};
  in.from.type = out.to.type = 1;
  in.from.memory = {values.data() + 1, 5, 0, {}};
  out.to.memory = {back.data(), 0, 0, {}};
  in.to.type = across.from.type = across.to.type = out.from.type = 2;
  in.to.array = across.from.array = {array, {2, 0, 0}};
  across.to.array = out.from.array = {other, {1, 0, 0}};
  in.extent = across.extent = out.extent = {2, 2, 1};
  in.order = across.order = out.order = 1;
  const BatchCopy batch[] = {in, across, out};
  ASSERT_EQ(cudaMemcpy3DBatchAsync(3, batch, 0, nullptr), 0);
  ASSERT_EQ(cudaStreamSynchronize(nullptr), 0);
  EXPECT_EQ(back, (std::vector<float>{1, 2, 6, 7}));
  const int bad = static_cast<int>(Code::kInvalidValue);
  const auto refused = [&](auto change) {
    BatchCopy wrong = in;
    change(wrong);
    EXPECT_EQ(cudaMemcpy3DBatchAsync(1, &wrong, 0, nullptr), bad);
  };
  refused([](BatchCopy& c) { c.order = 0; });
  refused([](BatchCopy& c) { c.extent.depth = 0; });
  refused([](BatchCopy& c) { c.from.memory.row = 1; });
  refused([](BatchCopy& c) { c.to.array.offset.x = 3; });
  EXPECT_EQ(cudaMemcpy3DBatchAsync(1, &in, 1, nullptr), bad);
  // Elements of two arrays have one size.
  const cudaChannelFormatDesc half = cudaCreateChannelDesc(16, 0, 0, 0, 2);
  ASSERT_EQ(cudaMallocArray(&across.to.array.array, &half, 4, 2, 0), 0);
  EXPECT_EQ(cudaMemcpy3DBatchAsync(1, &across, 0, nullptr), bad);
}

}  // namespace
}  // namespace gpusim::runtime
