// Arrays and textures of the driver API: a picture is turned by a quarter with linear filtering, and a volume
// is read slice by slice through a texture and written through a surface.
#include <cuda.h>

#include <cmath>
#include <cstdio>
#include <vector>

#define MUST(call)                                                     \
  do {                                                                 \
    const CUresult must_ = (call);                                     \
    if (must_ != CUDA_SUCCESS) {                                       \
      const char* name = "?";                                          \
      cuGetErrorName(must_, &name);                                    \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, name); \
      return 1;                                                        \
    }                                                                  \
  } while (false)

static const char* const kPtx = R"(
.version 6.4
.target sm_70
.address_size 64
.visible .entry turn(.param .u64 picture, .param .u64 out, .param .u32 width)
{
  .reg .b32 %r<8>; .reg .f32 %f<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [picture]; ld.param.u64 %rd2, [out]; ld.param.u32 %r1, [width];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %tid.x;
  cvt.rn.f32.u32 %f1, %r2; cvt.rn.f32.u32 %f2, %r3;
  add.f32 %f1, %f1, 0f3F800000; add.f32 %f2, %f2, 0f3F000000;
  tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd1, {%f1, %f2}];
  mad.lo.u32 %r4, %r2, %r1, %r3;
  mul.wide.u32 %rd3, %r4, 4; add.u64 %rd3, %rd2, %rd3;
  st.global.f32 [%rd3], %f3;
  ret;
}
.visible .entry add_one(.param .u64 texture, .param .u64 surface)
{
  .reg .b32 %r<8>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [texture]; ld.param.u64 %rd2, [surface];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %ctaid.x;
  tex.3d.v4.u32.s32 {%r4, %r5, %r6, %r7}, [%rd1, {%r1, %r2, %r3, %r3}];
  add.u32 %r4, %r4, 1;
  shl.b32 %r1, %r1, 2;
  sust.b.3d.b32.trap [%rd2, {%r1, %r2, %r3, %r3}], {%r4};
  ret;
}
)";

static CUDA_RESOURCE_DESC resource_of(CUarray array) {
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  return resource;
}

static int turn(CUmodule module, bool* good) {
  constexpr unsigned kWidth = 32, kHeight = 16;
  std::vector<float> picture(kWidth * kHeight), result(picture.size());
  for (unsigned i = 0; i < picture.size(); ++i) picture[i] = static_cast<float>(i * i % 97);
  CUarray array;
  const CUDA_ARRAY_DESCRIPTOR shape{kWidth, kHeight, CU_AD_FORMAT_FLOAT, 1};
  MUST(cuArrayCreate(&array, &shape));
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST, copy.srcHost = picture.data(),
  copy.srcPitch = kWidth * sizeof(float);
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY, copy.dstArray = array;
  copy.WidthInBytes = kWidth * sizeof(float), copy.Height = kHeight;
  MUST(cuMemcpy2D(&copy));
  const CUDA_RESOURCE_DESC resource = resource_of(array);
  CUDA_TEXTURE_DESC sampling{};
  sampling.addressMode[0] = sampling.addressMode[1] = CU_TR_ADDRESS_MODE_CLAMP;
  sampling.filterMode = CU_TR_FILTER_MODE_LINEAR;
  CUtexObject texture;
  MUST(cuTexObjectCreate(&texture, &resource, &sampling, nullptr));
  CUdeviceptr out;
  MUST(cuMemAlloc(&out, result.size() * sizeof(float)));
  CUfunction kernel;
  MUST(cuModuleGetFunction(&kernel, module, "turn"));
  unsigned width = kHeight;
  void* parameters[] = {&texture, &out, &width};
  MUST(cuLaunchKernel(kernel, kWidth, 1, 1, kHeight, 1, 1, 0, nullptr, parameters, nullptr));
  MUST(cuMemcpyDtoH(result.data(), out, result.size() * sizeof(float)));
  // Half way between two texels: the mean of both, at the edge the last one.
  for (unsigned x = 0; x < kWidth; ++x)
    for (unsigned y = 0; y < kHeight; ++y) {
      const unsigned next = x + 1 < kWidth ? x + 1 : x;
      const float mean = (picture[y * kWidth + x] + picture[y * kWidth + next]) / 2;
      *good = *good && std::fabs(result[x * kHeight + y] - mean) < 0.25f;
    }
  MUST(cuTexObjectDestroy(texture));
  MUST(cuArrayDestroy(array));
  MUST(cuMemFree(out));
  return 0;
}

static int add_one(CUmodule module, bool* good) {
  constexpr unsigned kWidth = 8, kHeight = 4, kDepth = 3;
  std::vector<int> volume(kWidth * kHeight * kDepth), result(volume.size());
  for (unsigned i = 0; i < volume.size(); ++i) volume[i] = static_cast<int>(i * 7 % 31) - 5;
  CUarray from, to;
  const CUDA_ARRAY3D_DESCRIPTOR shape{
      kWidth, kHeight, kDepth, CU_AD_FORMAT_SIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST};
  MUST(cuArray3DCreate(&from, &shape));
  MUST(cuArray3DCreate(&to, &shape));
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST, copy.srcHost = volume.data();
  copy.srcPitch = kWidth * sizeof(int), copy.srcHeight = kHeight;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY, copy.dstArray = from;
  copy.WidthInBytes = kWidth * sizeof(int), copy.Height = kHeight, copy.Depth = kDepth;
  MUST(cuMemcpy3D(&copy));
  const CUDA_RESOURCE_DESC read = resource_of(from), written = resource_of(to);
  CUDA_TEXTURE_DESC sampling{};
  sampling.flags = CU_TRSF_READ_AS_INTEGER;
  CUtexObject texture;
  CUsurfObject surface;
  MUST(cuTexObjectCreate(&texture, &read, &sampling, nullptr));
  MUST(cuSurfObjectCreate(&surface, &written));
  CUfunction kernel;
  MUST(cuModuleGetFunction(&kernel, module, "add_one"));
  void* parameters[] = {&texture, &surface};
  MUST(cuLaunchKernel(kernel, kDepth, 1, 1, kWidth, kHeight, 1, 0, nullptr, parameters, nullptr));
  CUDA_MEMCPY3D back{};
  back.srcMemoryType = CU_MEMORYTYPE_ARRAY, back.srcArray = to;
  back.dstMemoryType = CU_MEMORYTYPE_HOST, back.dstHost = result.data();
  back.dstPitch = kWidth * sizeof(int), back.dstHeight = kHeight;
  back.WidthInBytes = kWidth * sizeof(int), back.Height = kHeight, back.Depth = kDepth;
  MUST(cuMemcpy3D(&back));
  for (unsigned i = 0; i < volume.size(); ++i) *good = *good && result[i] == volume[i] + 1;
  MUST(cuTexObjectDestroy(texture));
  MUST(cuSurfObjectDestroy(surface));
  MUST(cuArrayDestroy(from));
  MUST(cuArrayDestroy(to));
  return 0;
}

int main() {
  CUdevice device;
  CUcontext context;
  CUmodule module;
  MUST(cuInit(0));
  MUST(cuDeviceGet(&device, 0));
  MUST(cuDevicePrimaryCtxRetain(&context, device));
  MUST(cuCtxSetCurrent(context));
  MUST(cuModuleLoadData(&module, kPtx));
  bool good = true;
  if (turn(module, &good) != 0 || add_one(module, &good) != 0) return 1;
  MUST(cuModuleUnload(module));
  MUST(cuDevicePrimaryCtxRelease(device));
  std::printf(good ? "PASS\n" : "FAIL\n");
  return good ? 0 : 1;
}
