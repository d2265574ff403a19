// Texture references of modules through the driver API.
#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

namespace {

using Handle = void*;
struct Shape {
  size_t width, height;
  int format;
  unsigned channels;
};

/// CUDA_MEMCPY2D: from the host to an array.
struct Copy2d {
  size_t from_x, from_y;
  int from_type;
  const void* from_host;
  unsigned long long from_device;
  Handle from_array;
  size_t from_pitch;
  size_t to_x, to_y;
  int to_type;
  void* to_host;
  unsigned long long to_device;
  Handle to_array;
  size_t to_pitch;
  size_t width, height;
};

}  // namespace

extern "C" {
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void**, int);
int cuCtxSetCurrent(void*);
int cuDevicePrimaryCtxRetain(Handle*, int);
int cuCtxSetCurrent(Handle);
int cuModuleLoadData(Handle*, const void*);
int cuModuleUnload(Handle);
int cuModuleGetFunction(Handle*, Handle, const char*);
int cuModuleGetTexRef(Handle*, Handle, const char*);
int cuTexRefSetAddress_v2(size_t*, Handle, unsigned long long, size_t);
int cuTexRefSetAddress2D_v3(Handle, const Shape*, unsigned long long, size_t);
int cuTexRefSetArray(Handle, Handle, unsigned);
int cuTexRefSetFormat(Handle, int, int);
int cuTexRefSetFlags(Handle, unsigned);
int cuTexRefSetAddressMode(Handle, int, int);
int cuTexRefSetFilterMode(Handle, int);
int cuTexRefGetFormat(int*, int*, Handle);
int cuTexRefGetAddress_v2(unsigned long long*, Handle);
int cuArrayCreate_v2(Handle*, const Shape*);
int cuArrayDestroy(Handle);
int cuMemcpy2D_v2(const Copy2d*);
int cuMemAlloc_v2(unsigned long long*, size_t);
int cuMemFree_v2(unsigned long long);
int cuMemcpyHtoD_v2(unsigned long long, const void*, size_t);
int cuMemcpyDtoH_v2(void*, unsigned long long, size_t);
int cuLaunchKernel(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle,
                   Handle*, Handle*);
int cuCtxSynchronize();
}

namespace {

constexpr char kPtx[] = R"(.version 3.0
.target sm_20
.address_size 64
.global .texref line;
.global .texref plane;
.visible .entry read(.param .u64 out)
{
  .reg .b32 %r<8>; .reg .f32 %f<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [line, {%r1}];
  tex.2d.v4.s32.s32 {%r3, %r4, %r5, %r6}, [plane, {%r1, %r2}];
  cvt.rzi.s32.f32 %r7, %f1;
  mad.lo.s32 %r3, %r3, 1000, %r7;
  shl.b32 %r4, %r2, 3;
  add.u32 %r4, %r4, %r1;
  mul.wide.u32 %rd2, %r4, 4;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r3;
  ret;
}
)";
constexpr int kFloat = 0x20, kSigned16 = 0x09, kSigned32 = 0x0a, kSuccess = 0, kInvalidValue = 1,
              kNotFound = 500;
constexpr unsigned kReadAsInteger = 1, kOverrideFormat = 1, kWidth = 8, kHeight = 4;

class TextureReferences : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("GPUSIM_CONFIG", GPUSIM_SOURCE_DIR "/configs/tesla_v100.cfg", 1);
    setenv("GPUSIM_QUIET", "1", 1);
    setenv("GPUSIM_FUNCTIONAL", "1", 1);
    ASSERT_EQ(cuInit(0), kSuccess);
    void* primary = nullptr;
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, 0), 0);
    ASSERT_EQ(cuCtxSetCurrent(primary), 0);
    Handle context = nullptr;
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), kSuccess);
    ASSERT_EQ(cuCtxSetCurrent(context), kSuccess);
    ASSERT_EQ(cuModuleLoadData(&module_, kPtx), kSuccess);
    ASSERT_EQ(cuModuleGetFunction(&read_, module_, "read"), kSuccess);
    ASSERT_EQ(cuModuleGetTexRef(&line_, module_, "line"), kSuccess);
    ASSERT_EQ(cuModuleGetTexRef(&plane_, module_, "plane"), kSuccess);
    ASSERT_EQ(cuMemAlloc_v2(&memory_, 4096), kSuccess);
    ASSERT_EQ(cuMemAlloc_v2(&out_, 4096), kSuccess);
  }
  void TearDown() override {
    EXPECT_EQ(cuModuleUnload(module_), kSuccess);
    EXPECT_EQ(cuMemFree_v2(memory_), kSuccess);
    EXPECT_EQ(cuMemFree_v2(out_), kSuccess);
  }
  std::vector<int> result() {
    Handle arguments[] = {&out_};
    EXPECT_EQ(cuLaunchKernel(read_, kHeight, 1, 1, kWidth, 1, 1, 0, nullptr, arguments, nullptr), kSuccess);
    std::vector<int> values(size_t{kWidth} * kHeight);
    EXPECT_EQ(cuMemcpyDtoH_v2(values.data(), out_, values.size() * sizeof(int)), kSuccess);
    return values;
  }
  Handle module_ = nullptr, read_ = nullptr, line_ = nullptr, plane_ = nullptr;
  unsigned long long memory_ = 0, out_ = 0;
};

class FreedTexture : public TextureReferences {
 protected:
  void TearDown() override {}  // the fault stays
};

TEST_F(FreedTexture, IsNoTextureAnyMore) {
  constexpr int kLaunchFailed = 719;
  size_t offset = 0;
  ASSERT_EQ(cuTexRefSetFormat(line_, kFloat, 1), kSuccess);
  ASSERT_EQ(cuTexRefSetAddress_v2(&offset, line_, memory_, kWidth * 4), kSuccess);
  const Shape shape{kWidth, kHeight, kSigned32, 1};
  ASSERT_EQ(cuTexRefSetFlags(plane_, kReadAsInteger), kSuccess);
  ASSERT_EQ(cuTexRefSetAddress2D_v3(plane_, &shape, memory_ + 1024, kWidth * 4), kSuccess);
  static_cast<void>(result());
  ASSERT_EQ(cuMemFree_v2(memory_), kSuccess);
  Handle arguments[] = {&out_};
  const int launched = cuLaunchKernel(read_, kHeight, 1, 1, kWidth, 1, 1, 0, nullptr, arguments, nullptr);
  EXPECT_EQ(launched == kSuccess ? cuCtxSynchronize() : launched, kLaunchFailed);
}

TEST_F(TextureReferences, ReadMemoryAndArrays) {
  std::vector<float> line(kWidth);
  for (unsigned i = 0; i < kWidth; ++i) line[i] = static_cast<float>(i * 3 + 1);
  ASSERT_EQ(cuMemcpyHtoD_v2(memory_, line.data(), line.size() * 4), kSuccess);
  size_t offset = 7;
  ASSERT_EQ(cuTexRefSetFormat(line_, kFloat, 1), kSuccess);
  ASSERT_EQ(cuTexRefSetAddress_v2(&offset, line_, memory_, line.size() * 4), kSuccess);
  EXPECT_EQ(offset, 0u);

  Handle array = nullptr;
  const Shape shape{kWidth, 1, kSigned16, 1};
  std::vector<short> row(kWidth);
  for (unsigned i = 0; i < kWidth; ++i) row[i] = static_cast<short>(-static_cast<int>(i));
  ASSERT_EQ(cuArrayCreate_v2(&array, &shape), kSuccess);
  Copy2d copy{};
  copy.from_type = 1;
  copy.from_host = row.data();
  copy.from_pitch = copy.width = row.size() * 2;
  copy.to_type = 3;
  copy.to_array = array;
  copy.height = 1;
  ASSERT_EQ(cuMemcpy2D_v2(&copy), kSuccess);
  ASSERT_EQ(cuTexRefSetFlags(plane_, kReadAsInteger), kSuccess);
  ASSERT_EQ(cuTexRefSetArray(plane_, array, kOverrideFormat), kSuccess);
  int format = 0, channels = 0;
  EXPECT_EQ(cuTexRefGetFormat(&format, &channels, plane_), kSuccess);
  EXPECT_EQ(format, kSigned16);
  EXPECT_EQ(channels, 1);
  const std::vector<int> seen = result();
  for (unsigned i = 0; i < seen.size(); ++i) {
    const int x = static_cast<int>(i % kWidth);
    EXPECT_EQ(seen[i], -x * 1000 + x * 3 + 1) << i;
  }
  // Another binding counts from the next launch on.
  std::vector<int> rows(size_t{16} * kHeight);
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int>(i);
  ASSERT_EQ(cuMemcpyHtoD_v2(memory_ + 1024, rows.data(), rows.size() * 4), kSuccess);
  const Shape plane{kWidth, kHeight, 0x0a, 1};
  ASSERT_EQ(cuTexRefSetAddress2D_v3(plane_, &plane, memory_ + 1024, 64), kSuccess);
  const std::vector<int> again = result();
  for (unsigned i = 0; i < again.size(); ++i) {
    const int x = static_cast<int>(i % kWidth), y = static_cast<int>(i / kWidth);
    EXPECT_EQ(again[i], (16 * y + x) * 1000 + x * 3 + 1) << i;
  }
  EXPECT_EQ(cuArrayDestroy(array), kSuccess);
}

TEST_F(TextureReferences, RefuseWhatIsNone) {
  Handle reference = nullptr;
  EXPECT_EQ(cuModuleGetTexRef(&reference, module_, "nothing"), kNotFound);
  EXPECT_EQ(cuModuleGetTexRef(&reference, module_, "read"), kNotFound);
  EXPECT_EQ(cuTexRefSetFormat(module_, kFloat, 1), kInvalidValue);
  EXPECT_EQ(cuTexRefSetFormat(line_, 77, 1), kInvalidValue);
  EXPECT_EQ(cuTexRefSetFormat(line_, kFloat, 3), kInvalidValue);
  EXPECT_EQ(cuTexRefSetAddressMode(line_, 3, 0), kInvalidValue);
  EXPECT_EQ(cuTexRefSetFilterMode(line_, 2), kInvalidValue);
  unsigned long long address = 0;
  EXPECT_EQ(cuTexRefGetAddress_v2(&address, line_), kInvalidValue) << "nothing is bound";
}

}  // namespace
