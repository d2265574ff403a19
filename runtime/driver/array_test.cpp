// Arrays, copies of several dimensions, textures and surfaces of the driver library as a program uses them.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "runtime/device/error.h"

extern "C" {
struct CUarray_st;
struct ArrayDescriptor {
  size_t width, height;
  int format;
  unsigned channels;
};
struct Array3dDescriptor {
  size_t width, height, depth;
  int format;
  unsigned channels, flags;
};
struct Copy2d {
  size_t from_x, from_y;
  int from_type;
  const void* from_host;
  unsigned long long from_device;
  CUarray_st* from_array;
  size_t from_pitch;
  size_t to_x, to_y;
  int to_type;
  void* to_host;
  unsigned long long to_device;
  CUarray_st* to_array;
  size_t to_pitch;
  size_t width, height;
};
struct Copy3dEnd {
  size_t x, y, z, level;
  int type;
  const void* host;
  unsigned long long device;
  CUarray_st* array;
  void* reserved;
  size_t pitch, height;
};
struct Copy3d {
  Copy3dEnd from, to;
  size_t width, height, depth;
};
struct Resource {
  int type;
  union {
    CUarray_st* array;
    struct {
      unsigned long long address;
      int format;
      unsigned channels;
      size_t bytes;
    } linear;
    int reserved[32];
  };
  unsigned flags;
};
struct Sampling {
  int address_mode[3], filter_mode;
  unsigned flags, anisotropy;
  int mipmap_filter;
  float mipmap[3], border[4];
  int reserved[12];
};
struct View {
  int format;
  size_t width, height, depth;
  unsigned first_level, last_level, first_layer, last_layer, reserved[16];
};
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void**, int);
int cuCtxSetCurrent(void*);
int cuMemAlloc_v2(unsigned long long*, size_t);
int cuMemFree_v2(unsigned long long);
int cuMemcpyHtoD_v2(unsigned long long, const void*, size_t);
int cuMemcpyDtoH_v2(void*, unsigned long long, size_t);
int cuMemGetInfo_v2(size_t*, size_t*);
int cuArrayCreate_v2(CUarray_st**, const ArrayDescriptor*);
int cuArray3DCreate_v2(CUarray_st**, const Array3dDescriptor*);
int cuArrayGetDescriptor_v2(ArrayDescriptor*, CUarray_st*);
int cuArray3DGetDescriptor_v2(Array3dDescriptor*, CUarray_st*);
int cuArrayDestroy(CUarray_st*);
int cuMemcpy2D_v2(const Copy2d*);
int cuMemcpy3D_v2(const Copy3d*);
int cuMemcpyHtoA_v2(CUarray_st*, size_t, const void*, size_t);
int cuMemcpyAtoH_v2(void*, CUarray_st*, size_t, size_t);
int cuMemcpyAtoA_v2(CUarray_st*, size_t, CUarray_st*, size_t, size_t);
int cuMemcpyAtoD_v2(unsigned long long, CUarray_st*, size_t, size_t);
int cuMemcpyDtoA_v2(CUarray_st*, size_t, unsigned long long, size_t);
int cuTexObjectCreate(unsigned long long*, const Resource*, const Sampling*, const void*);
int cuTexObjectDestroy(unsigned long long);
int cuTexObjectGetTextureDesc(Sampling*, unsigned long long);
int cuSurfObjectCreate(unsigned long long*, const Resource*);
int cuSurfObjectDestroy(unsigned long long);
int cuModuleLoadData(void**, const void*);
int cuModuleGetFunction(void**, void*, const char*);
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                   void**);
int cuCtxSynchronize();
}

namespace gpusim::runtime {
namespace {

// read: out[y * width + x] is the texel at (x, y), as bits. shift: the surface's texel (x, y) goes to (x + 1,
// y).
const char* const kPtx = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry read(.param .u64 texture, .param .u64 out, .param .u32 width)
{
  .reg .b32 %r<8>; .reg .f32 %f<6>; .reg .b64 %d<4>;
  ld.param.u64 %d1, [texture]; ld.param.u64 %d2, [out]; ld.param.u32 %r1, [width];
  mov.u32 %r2, %tid.x; mov.u32 %r3, %tid.y;
  cvt.rn.f32.u32 %f1, %r2; cvt.rn.f32.u32 %f2, %r3;
  add.f32 %f1, %f1, 0f3F000000; add.f32 %f2, %f2, 0f3F000000;
  tex.2d.v4.u32.f32 {%r4, %r5, %r6, %r7}, [%d1, {%f1, %f2}];
  mad.lo.u32 %r5, %r3, %r1, %r2;
  mad.wide.u32 %d3, %r5, 4, %d2;
  st.global.u32 [%d3], %r4;
  ret;
}
.visible .entry read_layers(.param .u64 texture, .param .u64 out, .param .u32 width)
{
  .reg .b32 %r<10>; .reg .f32 %f<4>; .reg .b64 %d<4>;
  ld.param.u64 %d1, [texture]; ld.param.u64 %d2, [out]; ld.param.u32 %r1, [width];
  mov.u32 %r2, %tid.x; mov.u32 %r3, %tid.y; mov.u32 %r8, %ctaid.x;
  cvt.rn.f32.u32 %f1, %r2; cvt.rn.f32.u32 %f2, %r3;
  add.f32 %f1, %f1, 0f3F000000; add.f32 %f2, %f2, 0f3F000000;
  tex.a2d.v4.u32.f32 {%r4, %r5, %r6, %r7}, [%d1, {%r8, %f1, %f2, %f2}];
  mov.u32 %r9, %ntid.y;
  mad.lo.u32 %r5, %r8, %r9, %r3;
  mad.lo.u32 %r5, %r5, %r1, %r2;
  mad.wide.u32 %d3, %r5, 4, %d2;
  st.global.u32 [%d3], %r4;
  ret;
}
.visible .entry shift(.param .u64 surface)
{
  .reg .b32 %r<5>; .reg .b64 %d<2>;
  ld.param.u64 %d1, [surface];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y;
  shl.b32 %r1, %r1, 2;
  suld.b.2d.b32.trap {%r3}, [%d1, {%r1, %r2}];
  bar.sync 0;
  add.u32 %r4, %r1, 4;
  sust.b.2d.b32.zero [%d1, {%r4, %r2}], {%r3};
  ret;
}
)";

constexpr int kHost = 1, kDevice = 2, kArray = 3;
constexpr int kU8 = 0x01, kU32 = 0x03, kFloat = 0x20;
const int kInvalidValue = static_cast<int>(Code::kInvalidValue);
const int kInvalidHandle = static_cast<int>(Code::kInvalidResourceHandle);

class DriverArray : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("GPUSIM_CONFIG", GPUSIM_SOURCE_DIR "/configs/tesla_v100.cfg", 1);
    setenv("GPUSIM_QUIET", "1", 1);
    setenv("GPUSIM_FUNCTIONAL", "1", 1);
    ASSERT_EQ(cuInit(0), 0);
    void* primary = nullptr;
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, 0), 0);
    ASSERT_EQ(cuCtxSetCurrent(primary), 0);
  }
  static CUarray_st* array(size_t width, size_t height, int format = kU32, unsigned channels = 1) {
    CUarray_st* made = nullptr;
    const ArrayDescriptor d{width, height, format, channels};
    EXPECT_EQ(cuArrayCreate_v2(&made, &d), 0);
    return made;
  }
  /// Rows without gaps.
  static int to_array(CUarray_st* to, const void* from, size_t width_bytes, size_t height) {
    Copy2d c{};
    c.from_type = kHost, c.from_host = from, c.from_pitch = width_bytes;
    c.to_type = kArray, c.to_array = to;
    c.width = width_bytes, c.height = height;
    return cuMemcpy2D_v2(&c);
  }
  static void* function(const char* name) {
    void *module = nullptr, *made = nullptr;
    EXPECT_EQ(cuModuleLoadData(&module, kPtx), 0);
    EXPECT_EQ(cuModuleGetFunction(&made, module, name), 0);
    return made;
  }
  /// What a kernel finds at each of width x height texels of each layer.
  static std::vector<uint32_t> texels(unsigned long long texture, unsigned width, unsigned height,
                                      unsigned layers = 1, const char* kernel = "read") {
    unsigned long long out = 0;
    std::vector<uint32_t> values(size_t{width} * height * layers);
    EXPECT_EQ(cuMemAlloc_v2(&out, 4 * values.size()), 0);
    void* arguments[] = {&texture, &out, &width};
    EXPECT_EQ(
        cuLaunchKernel(function(kernel), layers, 1, 1, width, height, 1, 0, nullptr, arguments, nullptr), 0);
    EXPECT_EQ(cuMemcpyDtoH_v2(values.data(), out, 4 * values.size()), 0);
    EXPECT_EQ(cuMemFree_v2(out), 0);
    return values;
  }
  static std::vector<uint32_t> numbers(size_t count) {
    std::vector<uint32_t> values(count);
    std::iota(values.begin(), values.end(), 100u);
    return values;
  }
};

TEST_F(DriverArray, DescriptorsAreThoseThatWereGiven) {
  CUarray_st* made = nullptr;
  const Array3dDescriptor d{6, 5, 4, kFloat, 2, 2};
  ASSERT_EQ(cuArray3DCreate_v2(&made, &d), 0);
  Array3dDescriptor got{};
  ASSERT_EQ(cuArray3DGetDescriptor_v2(&got, made), 0);
  EXPECT_EQ(
      std::vector<size_t>({got.width, got.height, got.depth, size_t(got.format), got.channels, got.flags}),
      std::vector<size_t>({6, 5, 4, kFloat, 2, 2}));
  ArrayDescriptor flat{};
  ASSERT_EQ(cuArrayGetDescriptor_v2(&flat, made), 0);
  EXPECT_EQ(flat.width * 10 + flat.height, 65u);
  EXPECT_EQ(cuArrayGetDescriptor_v2(nullptr, made), kInvalidValue);
  ASSERT_EQ(cuArrayDestroy(made), 0);
  EXPECT_EQ(cuArrayGetDescriptor_v2(&flat, made), kInvalidHandle);
}

TEST_F(DriverArray, ItsMemoryComesBack) {
  size_t before = 0, during = 0, after = 0, total = 0;
  ASSERT_EQ(cuMemGetInfo_v2(&before, &total), 0);
  CUarray_st* const a = array(1000, 1000);
  ASSERT_EQ(cuMemGetInfo_v2(&during, &total), 0);
  EXPECT_GE(before - during, 4'000'000u);
  ASSERT_EQ(cuArrayDestroy(a), 0);
  ASSERT_EQ(cuMemGetInfo_v2(&after, &total), 0);
  EXPECT_EQ(after, before);
  EXPECT_EQ(cuArrayDestroy(a), kInvalidHandle);
}

TEST_F(DriverArray, ShapesThatDoNotExistAreRefused) {
  CUarray_st* made = nullptr;
  const auto create = [&](ArrayDescriptor d) { return cuArrayCreate_v2(&made, &d); };
  EXPECT_EQ(create({0, 4, kU32, 1}), kInvalidValue);
  EXPECT_EQ(create({4, 4, kU32, 3}), kInvalidValue);
  EXPECT_EQ(create({4, 4, 0x77, 1}), kInvalidValue);
  EXPECT_EQ(cuArrayCreate_v2(&made, nullptr), kInvalidValue);
  const auto create_3d = [&](Array3dDescriptor d) { return cuArray3DCreate_v2(&made, &d); };
  EXPECT_EQ(create_3d({4, 0, 4, kU32, 1, 0}), kInvalidValue);  // a volume has a height
  EXPECT_EQ(create_3d({4, 5, 6, kU32, 1, 4}), kInvalidValue);  // the sides of a cube are equal
  EXPECT_EQ(create_3d({4, 4, 5, kU32, 1, 4}), kInvalidValue);  // and it has six of them
  EXPECT_EQ(create_3d({4, 4, 0, kU32, 1, 0x40}), static_cast<int>(Code::kNotSupported));  // sparse
}

TEST_F(DriverArray, CopiesOfRowsKnowTheirPlace) {
  CUarray_st* const a = array(4, 3);
  const std::vector<uint32_t> values = numbers(12);
  ASSERT_EQ(to_array(a, values.data(), 16, 3), 0);
  std::vector<uint32_t> back(6, 0);
  Copy2d c{};
  c.from_type = kArray, c.from_array = a, c.from_x = 4, c.from_y = 1;
  c.to_type = kHost, c.to_host = back.data(), c.to_pitch = 12;
  c.width = 8, c.height = 2;
  ASSERT_EQ(cuMemcpy2D_v2(&c), 0);
  EXPECT_EQ(back, (std::vector<uint32_t>{105, 106, 0, 109, 110, 0}));
  c.from_x = 12;
  EXPECT_EQ(cuMemcpy2D_v2(&c), kInvalidValue);  // leaves the row
  c.from_x = 4, c.from_y = 2;
  EXPECT_EQ(cuMemcpy2D_v2(&c), kInvalidValue);  // leaves the array
  c.from_x = 2, c.from_y = 0;
  EXPECT_EQ(cuMemcpy2D_v2(&c), kInvalidValue);  // between two texels
  c.from_x = 4, c.to_pitch = 4;
  EXPECT_EQ(cuMemcpy2D_v2(&c), kInvalidValue);  // rows would lie in each other
  c.to_pitch = 12, c.from_array = nullptr;
  EXPECT_EQ(cuMemcpy2D_v2(&c), kInvalidValue);  // as an H100 with driver 580.159 answers
  c.from_array = a, c.to_type = 7;
  EXPECT_EQ(cuMemcpy2D_v2(&c), kInvalidValue);
  EXPECT_EQ(cuArrayDestroy(a), 0);
}

TEST_F(DriverArray, VolumesAreCopiedSliceBySlice) {
  CUarray_st* volume = nullptr;
  const Array3dDescriptor d{3, 2, 4, kU32, 1, 0};
  ASSERT_EQ(cuArray3DCreate_v2(&volume, &d), 0);
  const std::vector<uint32_t> values = numbers(24);
  Copy3d c{};
  c.from = {0, 0, 0, 0, kHost, values.data(), 0, nullptr, nullptr, 12, 2};
  c.to = {0, 0, 0, 0, kArray, nullptr, 0, volume, nullptr, 0, 0};
  c.width = 12, c.height = 2, c.depth = 4;
  ASSERT_EQ(cuMemcpy3D_v2(&c), 0);
  // The last two texels of the second rows of slices 1 and 2, to device memory with slices of two rows.
  unsigned long long memory = 0;
  ASSERT_EQ(cuMemAlloc_v2(&memory, 32), 0);
  Copy3d out{};
  out.from = {4, 1, 1, 0, kArray, nullptr, 0, volume, nullptr, 0, 0};
  out.to = {0, 0, 0, 0, kDevice, nullptr, memory, nullptr, nullptr, 8, 2};
  out.width = 8, out.height = 1, out.depth = 2;
  ASSERT_EQ(cuMemcpy3D_v2(&out), 0);
  std::vector<uint32_t> back(8);
  ASSERT_EQ(cuMemcpyDtoH_v2(back.data(), memory, 32), 0);
  EXPECT_EQ(std::vector<uint32_t>({back[0], back[1], back[4], back[5]}),
            (std::vector<uint32_t>{110, 111, 116, 117}));
  out.depth = 4;
  EXPECT_EQ(cuMemcpy3D_v2(&out), kInvalidValue);
  out.depth = 2, out.from.level = 1;
  EXPECT_EQ(cuMemcpy3D_v2(&out), kInvalidValue);
  out.from.level = 0, out.to.height = 0;
  EXPECT_EQ(cuMemcpy3D_v2(&out),
            0);  // no height is that of the copy (as an H100 with driver 580.159 answers)
  EXPECT_EQ(cuMemcpy3D_v2(nullptr), kInvalidValue);
  EXPECT_EQ(cuMemFree_v2(memory), 0);
  EXPECT_EQ(cuArrayDestroy(volume), 0);
}

TEST_F(DriverArray, BytesOfOneDimensionalArrays) {
  CUarray_st *const a = array(8, 0), *const b = array(8, 0), *const flat = array(8, 2);
  const std::vector<uint32_t> values = numbers(8);
  unsigned long long memory = 0;
  ASSERT_EQ(cuMemAlloc_v2(&memory, 32), 0);
  ASSERT_EQ(cuMemcpyHtoD_v2(memory, values.data(), 32), 0);
  ASSERT_EQ(cuMemcpyDtoA_v2(a, 0, memory, 32), 0);
  ASSERT_EQ(cuMemcpyHtoA_v2(b, 0, values.data(), 32), 0);
  ASSERT_EQ(cuMemcpyAtoA_v2(b, 0, a, 16, 16), 0);
  ASSERT_EQ(cuMemcpyAtoD_v2(memory, b, 8, 16), 0);
  std::vector<uint32_t> back(8);
  ASSERT_EQ(cuMemcpyAtoH_v2(back.data(), b, 0, 32), 0);
  EXPECT_EQ(back, (std::vector<uint32_t>{104, 105, 106, 107, 104, 105, 106, 107}));
  ASSERT_EQ(cuMemcpyDtoH_v2(back.data(), memory, 32), 0);
  EXPECT_EQ(back, (std::vector<uint32_t>{106, 107, 104, 105, 104, 105, 106, 107}));
  EXPECT_EQ(cuMemcpyHtoA_v2(a, 8, values.data(), 32), kInvalidValue);
  // Of two dimensions it is the first row (as an H100 with driver 580.159 answers).
  EXPECT_EQ(cuMemcpyHtoA_v2(flat, 0, values.data(), 1024), kInvalidValue);
  for (CUarray_st* made : {a, b, flat}) EXPECT_EQ(cuArrayDestroy(made), 0);
  EXPECT_EQ(cuMemFree_v2(memory), 0);
}

TEST_F(DriverArray, AViewShowsItsLayersAndFormat) {
  constexpr unsigned kLayered = 1;
  CUarray_st* layers = nullptr;
  const Array3dDescriptor d{3, 2, 4, kU32, 1, kLayered};
  ASSERT_EQ(cuArray3DCreate_v2(&layers, &d), 0);
  const std::vector<uint32_t> values = numbers(24);
  Copy3d c{};
  c.from = {0, 0, 0, 0, kHost, values.data(), 0, nullptr, nullptr, 12, 2};
  c.to = {0, 0, 0, 0, kArray, nullptr, 0, layers, nullptr, 0, 0};
  c.width = 12, c.height = 2, c.depth = 4;
  ASSERT_EQ(cuMemcpy3D_v2(&c), 0);
  Resource resource{};
  resource.array = layers;
  Sampling sampling{};
  sampling.address_mode[0] = sampling.address_mode[1] = 1;
  sampling.flags = 1;
  View view{};
  view.width = 3, view.height = 2, view.depth = 4, view.first_layer = 1, view.last_layer = 2;
  constexpr int kUnsigned32 = 13;
  view.format = kUnsigned32;
  unsigned long long texture = 0;
  ASSERT_EQ(cuTexObjectCreate(&texture, &resource, &sampling, &view), 0);
  EXPECT_EQ(texels(texture, 3, 2, 2, "read_layers"), std::vector(values.begin() + 6, values.begin() + 18));
  constexpr int kFourBytes = 3;
  view.format = kFourBytes;
  ASSERT_EQ(cuTexObjectCreate(&texture, &resource, &sampling, &view), 0);
  EXPECT_EQ(texels(texture, 3, 2, 1, "read_layers")[0], 106u) << "the first of four bytes";
  EXPECT_EQ(cuArrayDestroy(layers), 0);
}

TEST_F(DriverArray, TexturesPromoteIntegersUnlessToldNotTo) {
  CUarray_st* const a = array(4, 2, kU8);
  const std::array<uint8_t, 8> values{0, 51, 102, 255, 1, 2, 3, 4};
  ASSERT_EQ(to_array(a, values.data(), 4, 2), 0);
  Resource resource{};
  resource.array = a;
  Sampling sampling{};
  sampling.address_mode[0] = sampling.address_mode[1] = 1;
  unsigned long long promoted = 0, as_integer = 0;
  ASSERT_EQ(cuTexObjectCreate(&promoted, &resource, &sampling, nullptr), 0);
  sampling.flags = 1;
  ASSERT_EQ(cuTexObjectCreate(&as_integer, &resource, &sampling, nullptr), 0);
  EXPECT_EQ(texels(as_integer, 4, 2), (std::vector<uint32_t>{0, 51, 102, 255, 1, 2, 3, 4}));
  sampling.filter_mode = 1;
  unsigned long long filtered = 0;
  ASSERT_EQ(cuTexObjectCreate(&filtered, &resource, &sampling, nullptr), 0) << "integers are not filtered";
  EXPECT_EQ(texels(filtered, 4, 2), (std::vector<uint32_t>{0, 51, 102, 255, 1, 2, 3, 4}));
  EXPECT_EQ(cuTexObjectDestroy(filtered), 0);
  sampling.filter_mode = 0;
  const std::vector<uint32_t> bits = texels(promoted, 4, 2);
  EXPECT_EQ(bits[1], 0x3e4ccccdu);  // 0.2
  EXPECT_EQ(bits[3], 0x3f800000u);  // 1
  Sampling got{};
  ASSERT_EQ(cuTexObjectGetTextureDesc(&got, as_integer), 0);
  EXPECT_EQ(got.flags, 1u);
  EXPECT_EQ(cuTexObjectDestroy(promoted), 0);
  EXPECT_EQ(cuTexObjectDestroy(promoted), 0);  // as an H100 with driver 580.159 answers
  EXPECT_EQ(cuTexObjectGetTextureDesc(&got, promoted), kInvalidValue);
  EXPECT_EQ(cuTexObjectDestroy(as_integer), 0);
  resource.flags = 1;
  EXPECT_EQ(cuTexObjectCreate(&promoted, &resource, &sampling, nullptr), kInvalidValue);
  resource.flags = 0, sampling.address_mode[0] = 9;
  EXPECT_EQ(cuTexObjectCreate(&promoted, &resource, &sampling, nullptr), kInvalidValue);
  constexpr unsigned kSrgb = 0x10;
  sampling.address_mode[0] = 3, sampling.border[2] = 1, sampling.flags = kSrgb;
  ASSERT_EQ(cuTexObjectCreate(&promoted, &resource, &sampling, nullptr), 0);
  EXPECT_NEAR(std::bit_cast<float>(texels(promoted, 4, 2)[1]), 0.0331048, 1e-6) << "0.2 in sRGB";
  EXPECT_EQ(cuArrayDestroy(a), 0);
}

TEST_F(DriverArray, SurfacesAreWritten) {
  CUarray_st* made = nullptr;
  const Array3dDescriptor d{4, 2, 0, kU32, 1, 2};
  ASSERT_EQ(cuArray3DCreate_v2(&made, &d), 0);
  const std::vector<uint32_t> values = numbers(8);
  ASSERT_EQ(to_array(made, values.data(), 16, 2), 0);
  Resource resource{};
  resource.array = made;
  unsigned long long surface = 0;
  ASSERT_EQ(cuSurfObjectCreate(&surface, &resource), 0);
  void* arguments[] = {&surface};
  ASSERT_EQ(cuLaunchKernel(function("shift"), 1, 1, 1, 4, 2, 1, 0, nullptr, arguments, nullptr), 0);
  ASSERT_EQ(cuCtxSynchronize(), 0);
  Copy2d c{};
  std::vector<uint32_t> back(8);
  c.from_type = kArray, c.from_array = made;
  c.to_type = kHost, c.to_host = back.data(), c.to_pitch = 16;
  c.width = 16, c.height = 2;
  ASSERT_EQ(cuMemcpy2D_v2(&c), 0);
  EXPECT_EQ(back, (std::vector<uint32_t>{100, 100, 101, 102, 104, 104, 105, 106}));
  EXPECT_EQ(cuSurfObjectDestroy(surface), 0);
  resource.type = 2;  // of linear memory there are no surfaces
  resource.linear = {0x1000, kU32, 1, 64};
  EXPECT_EQ(cuSurfObjectCreate(&surface, &resource), kInvalidValue);
  EXPECT_EQ(cuArrayDestroy(made), 0);
}

}  // namespace
}  // namespace gpusim::runtime
