// Tensor maps as a program makes them with the driver library.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

extern "C" {
int cuInit(unsigned);
int cuTensorMapEncodeTiled(void*, int, unsigned, void*, const uint64_t*, const uint64_t*, const uint32_t*,
                           const uint32_t*, int, int, int, int);
int cuTensorMapEncodeIm2col(void*, int, unsigned, void*, const uint64_t*, const uint64_t*, const int*,
                            const int*, uint32_t, uint32_t, const uint32_t*, int, int, int, int);
int cuTensorMapReplaceAddress(void*, void*);
}

namespace gpusim::runtime {
namespace {

constexpr int kInvalidValue = 1, kNotSupported = 801;

/// A tensor of 64 x 4 words, and what a test changes of it.
struct Tensor {
  int element = 3;  // CU_TENSOR_MAP_DATA_TYPE_INT32
  uint64_t size[2] = {64, 4}, stride[1] = {256};
  uint32_t box[2] = {64, 1}, step[2] = {1, 1};
  int interleave = 0, swizzle = 0, promotion = 2, fill = 0;
  uintptr_t address = 0x10000;
  alignas(64) char map[128] = {};
  int encode() {
    return cuTensorMapEncodeTiled(map, element, 2, reinterpret_cast<void*>(address), size, stride, box, step,
                                  interleave, swizzle, promotion, fill);
  }
};

int start() {
  setenv("GPUSIM_CONFIG", GPUSIM_SOURCE_DIR "/configs/h200.cfg", 1);
  setenv("GPUSIM_QUIET", "1", 1);
  setenv("GPUSIM_FUNCTIONAL", "1", 1);
  return cuInit(0);
}

template <class Change>
int error_of(Change change) {
  Tensor t;
  change(t);
  return t.encode();
}

TEST(TensorMapApi, ChecksWhatTheManualAsksFor) {
  ASSERT_EQ(start(), 0);
  EXPECT_EQ(error_of([](Tensor&) {}), 0);
  EXPECT_EQ(error_of([](Tensor& t) { t.address += 8; }), kInvalidValue);
  EXPECT_EQ(error_of([](Tensor& t) { t.stride[0] = 250; }), kInvalidValue);
  EXPECT_EQ(error_of([](Tensor& t) { t.box[0] = 63; }), kInvalidValue);
  EXPECT_EQ(error_of([](Tensor& t) { t.box[1] = 257; }), kInvalidValue);
  EXPECT_EQ(error_of([](Tensor& t) { t.step[1] = 9; }), kInvalidValue);
  EXPECT_EQ(error_of([](Tensor& t) { t.step[0] = 0; }), 0) << "the first dimension's is not looked at";
  EXPECT_EQ(error_of([](Tensor& t) { t.swizzle = 3; }), kInvalidValue) << "rows of 256 bytes are too long";
  EXPECT_EQ(error_of([](Tensor& t) { t.fill = 1; }), kInvalidValue) << "integers have no NaN";
  EXPECT_EQ(error_of([](Tensor& t) { t.interleave = 1; }), kInvalidValue);
  EXPECT_EQ(error_of([](Tensor& t) { t.swizzle = 4; }), kInvalidValue);
  EXPECT_EQ(error_of([](Tensor& t) { t.element = 99; }), kInvalidValue);
}

/// Two images of 6 x 5 pixels with 8 words each, and what a test changes of them.
struct Images {
  unsigned rank = 4;
  uint64_t size[4] = {8, 6, 5, 2}, stride[3] = {32, 192, 960};
  int lower[2] = {-1, -1}, upper[2] = {-1, -1};
  uint32_t channels = 4, pixels = 30, step[4] = {1, 1, 1, 1};
  alignas(64) char map[128] = {};
  int encode() {
    return cuTensorMapEncodeIm2col(map, 3, rank, reinterpret_cast<void*>(uintptr_t{0x10000}), size, stride,
                                   lower, upper, channels, pixels, step, 0, 0, 0, 0);
  }
};

template <class Change>
int error_of_images(Change change) {
  Images t;
  change(t);
  return t.encode();
}

TEST(TensorMapApi, ChecksTheBoxOfPixels) {
  ASSERT_EQ(start(), 0);
  EXPECT_EQ(error_of_images([](Images&) {}), 0);
  EXPECT_EQ(error_of_images([](Images& t) { t.rank = 2; }), kInvalidValue);
  EXPECT_EQ(error_of_images([](Images& t) { t.lower[0] = -128; }), 0);
  EXPECT_EQ(error_of_images([](Images& t) { t.lower[0] = -129; }), kInvalidValue);
  EXPECT_EQ(error_of_images([](Images& t) { t.upper[1] = 128; }), kInvalidValue);
  EXPECT_EQ(error_of_images([](Images& t) { t.upper[1] = -6; }), kInvalidValue) << "the box has no pixel";
  EXPECT_EQ(error_of_images([](Images& t) { t.channels = 3; }), kInvalidValue) << "12 bytes";
  EXPECT_EQ(error_of_images([](Images& t) { t.pixels = 1024; }), 0);
  EXPECT_EQ(error_of_images([](Images& t) { t.pixels = 1025; }), kInvalidValue);
  EXPECT_EQ(error_of_images([](Images& t) { t.pixels = 0; }), kInvalidValue);
}

TEST(TensorMapApi, AddressesAreReplaced) {
  ASSERT_EQ(start(), 0);
  Tensor t, other;
  other.address = 0x20000;
  ASSERT_EQ(t.encode(), 0);
  ASSERT_EQ(other.encode(), 0);
  ASSERT_EQ(cuTensorMapReplaceAddress(t.map, reinterpret_cast<void*>(other.address)), 0);
  EXPECT_EQ(std::memcmp(t.map, other.map, sizeof(t.map)), 0);
  t.map[40] ^= 1;
  EXPECT_EQ(cuTensorMapReplaceAddress(t.map, reinterpret_cast<void*>(other.address)), kInvalidValue)
      << "not a map any more";
}

}  // namespace
}  // namespace gpusim::runtime
