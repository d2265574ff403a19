// A host program as the toolkit of CUDA 11, 12 or 13 (TOOLKIT) makes it: it knows nothing of ours but what
// that toolkit's headers declare, by the names, layouts and signatures of its public documentation, and is
// linked with its libcudart.so by soname and symbol versions. It registers a fat binary as nvcc's host code
// does, launches a kernel, and asks the functions whose structures or signatures differ between the toolkits.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {
struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
};
struct Uuid {
  char bytes[16];
};

#if TOOLKIT < 13
/// cudaDeviceProp of CUDA 11.8, and what CUDA 12 appends.
struct Properties {
  char name[256];
  Uuid uuid;
  char luid[8];
  unsigned int luidDeviceNodeMask;
  size_t totalGlobalMem;
  size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  size_t memPitch;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  int clockRate;
  size_t totalConstMem;
  int major;
  int minor;
  size_t textureAlignment;
  size_t texturePitchAlignment;
  int deviceOverlap;
  int multiProcessorCount;
  int kernelExecTimeoutEnabled;
  int integrated;
  int canMapHostMemory;
  int computeMode;
  int maxTexture1D;
  int maxTexture1DMipmap;
  int maxTexture1DLinear;
  int maxTexture2D[2];
  int maxTexture2DMipmap[2];
  int maxTexture2DLinear[3];
  int maxTexture2DGather[2];
  int maxTexture3D[3];
  int maxTexture3DAlt[3];
  int maxTextureCubemap;
  int maxTexture1DLayered[2];
  int maxTexture2DLayered[3];
  int maxTextureCubemapLayered[2];
  int maxSurface1D;
  int maxSurface2D[2];
  int maxSurface3D[3];
  int maxSurface1DLayered[2];
  int maxSurface2DLayered[3];
  int maxSurfaceCubemap;
  int maxSurfaceCubemapLayered[2];
  size_t surfaceAlignment;
  int concurrentKernels;
  int ECCEnabled;
  int pciBusID;
  int pciDeviceID;
  int pciDomainID;
  int tccDriver;
  int asyncEngineCount;
  int unifiedAddressing;
  int memoryClockRate;
  int memoryBusWidth;
  int l2CacheSize;
  int persistingL2CacheMaxSize;
  int maxThreadsPerMultiProcessor;
  int streamPrioritiesSupported;
  int globalL1CacheSupported;
  int localL1CacheSupported;
  size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor;
  int managedMemory;
  int isMultiGpuBoard;
  int multiGpuBoardGroupID;
  int hostNativeAtomicSupported;
  int singleToDoublePrecisionPerfRatio;
  int pageableMemoryAccess;
  int concurrentManagedAccess;
  int computePreemptionSupported;
  int canUseHostPointerForRegisteredMem;
  int cooperativeLaunch;
  int cooperativeMultiDeviceLaunch;
  size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables;
  int directManagedMemAccessFromHost;
  int maxBlocksPerMultiProcessor;
  int accessPolicyMaxWindowSize;
  size_t reservedSharedMemPerBlock;
#if TOOLKIT == 12
  int hostRegisterSupported;
  int sparseCudaArraySupported;
  int hostRegisterReadOnlySupported;
  int timelineSemaphoreInteropSupported;
  int memoryPoolsSupported;
  int gpuDirectRDMASupported;
  unsigned int gpuDirectRDMAFlushWritesOptions;
  int gpuDirectRDMAWritesOrdering;
  unsigned int memoryPoolSupportedHandleTypes;
  int deferredMappingCudaArraySupported;
  int ipcEventSupported;
  int clusterLaunch;
  int unifiedFunctionPointers;
  int reserved2[2];
  int reserved1[1];
  int reserved[60];
#endif
};
static_assert(offsetof(Properties, clockRate) == 348 && offsetof(Properties, multiProcessorCount) == 388);
#else
/// What comes first in CUDA 13, which has dropped clocks and modes; 1008 bytes in all.
struct Properties {
  char name[256];
  Uuid uuid;
  char luid[8];
  unsigned int luidDeviceNodeMask;
  size_t totalGlobalMem;
  size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  size_t memPitch;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  size_t totalConstMem;
  int major;
  int minor;
  size_t textureAlignment;
  size_t texturePitchAlignment;
  int multiProcessorCount;
  char rest[1008 - 388];
};
static_assert(offsetof(Properties, multiProcessorCount) == 384 && sizeof(Properties) == 1008);
#endif
/// cudaPointerAttributes, as far as CUDA 11 and 12 have it; CUDA 13 keeps 64 bytes more for itself.
struct PointerAttributes {
  int type, device;
  void *devicePointer, *hostPointer;
#if TOOLKIT >= 13
  long reserved[8];
#endif
};
struct MemLocation {
  int type, id;
};
}  // namespace

extern "C" {
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFatBinaryEnd(void**);
void __cudaUnregisterFatBinary(void**);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*);
void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int);
unsigned __cudaPushCallConfiguration(Dim3, Dim3, size_t, void*);
int __cudaPopCallConfiguration(Dim3*, Dim3*, size_t*, void*);
int cudaLaunchKernel(const void*, Dim3, Dim3, void**, size_t, void*);
int cudaMalloc(void**, size_t);
int cudaMallocManaged(void**, size_t, unsigned);
int cudaFree(void*);
int cudaMemcpy(void*, const void*, size_t, int);
int cudaMemcpyToSymbol(const void*, const void*, size_t, size_t, int);
int cudaDeviceSynchronize();
int cudaRuntimeGetVersion(int*);
int cudaPointerGetAttributes(PointerAttributes*, const void*);
int cudaGetLastError();
const char* cudaGetErrorName(int);
#if TOOLKIT == 12
int cudaGetDeviceProperties_v2(Properties*, int);  // cudaGetDeviceProperties is a macro of this name there
#else
int cudaGetDeviceProperties(Properties*, int);
#endif
#if TOOLKIT >= 13
int cudaMemPrefetchAsync(const void*, size_t, MemLocation, unsigned, void*);
#else
int cudaMemPrefetchAsync(const void*, size_t, int, void*);
#endif
#if TOOLKIT < 13
int cudaThreadSetLimit(int, size_t);
int cudaThreadGetLimit(size_t*, int);
int cudaThreadSetCacheConfig(int);
int cudaThreadGetCacheConfig(int*);
int cudaThreadSynchronize();
int cudaThreadExit();
#endif
int cudaDeviceGetLimit(size_t*, int);
int cudaStreamCreate(void**);
int cudaStreamBeginCapture(void*, int);
int cudaStreamEndCapture(void*, void**);
#if TOOLKIT == 11
int cudaGraphInstantiate(void**, void*, void**, char*, size_t);
#else
int cudaGraphInstantiate(void**, void*, unsigned long long);
#endif
int cudaGraphLaunch(void*, void*);
#if TOOLKIT == 11
void __cudaRegisterTexture(void**, const void*, const void**, const char*, int, int, int);
int cudaBindTexture2D(size_t*, const void*, const void*, const void*, size_t, size_t, size_t);
int cudaUnbindTexture(const void*);
#endif
}

namespace {

constexpr char kPtx[] = R"(.version 6.0
.target sm_30
.address_size 64
.visible .const .align 4 .u32 factor;
.visible .entry scale(.param .u64 data, .param .u32 count)
{
  .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [count];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p, %r5, %r1;
  @%p ret;
  cvta.to.global.u64 %rd1, %rd1;
  mul.wide.u32 %rd2, %r5, 4;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.u32 %r6, [%rd3];
  ld.const.u32 %r7, [factor];
  mul.lo.u32 %r6, %r6, %r7;
  st.global.u32 [%rd3], %r6;
  ret;
}
.global .texref picture;
.visible .entry fetch(.param .u64 data)
{
  .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  tex.2d.v4.u32.s32 {%r3, %r4, %r5, %r6}, [picture, {%r1, %r2}];
  mov.u32 %r7, %ntid.x;
  mad.lo.u32 %r7, %r2, %r7, %r1;
  cvta.to.global.u64 %rd1, %rd1;
  mul.wide.u32 %rd2, %r7, 4;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r3;
  ret;
}
)";

/// A fat binary with the PTX as it is: magic, version, sizes; then one entry of kind 1.
std::vector<unsigned long long> fat_binary() {
  constexpr size_t kHeader = 16, kEntry = 64;
  const size_t text = (sizeof kPtx + 7) / 8 * 8;
  std::vector<unsigned long long> words((kHeader + kEntry + text) / 8);
  auto* const bytes = reinterpret_cast<char*>(words.data());
  const auto put = [bytes](size_t at, auto value) { std::memcpy(bytes + at, &value, sizeof value); };
  put(0, 0xBA55ED50u);
  put(4, static_cast<unsigned short>(1));
  put(6, static_cast<unsigned short>(kHeader));
  put(8, static_cast<unsigned long long>(kEntry + text));
  put(kHeader, static_cast<unsigned short>(1));
  put(kHeader + 2, static_cast<unsigned short>(0x101));
  put(kHeader + 4, static_cast<unsigned>(kEntry));
  put(kHeader + 8, static_cast<unsigned long long>(text));
  put(kHeader + 28, 30u);
  std::memcpy(bytes + kHeader + kEntry, kPtx, sizeof kPtx);
  return words;
}

// What nvcc makes of `__global__ void scale(unsigned*, unsigned)` and of `__constant__ unsigned factor`.
unsigned factor;
void scale(unsigned* data, unsigned count) {
  void* arguments[] = {&data, &count};
  Dim3 grid, block;
  size_t shared = 0;
  void* stream = nullptr;
  if (__cudaPopCallConfiguration(&grid, &block, &shared, &stream) != 0) return;
  static_cast<void>(
      cudaLaunchKernel(reinterpret_cast<const void*>(&scale), grid, block, arguments, shared, stream));
}

#if TOOLKIT == 11
/// texture<unsigned, 2> picture: textureReference, which CUDA 12 has dropped.
struct TextureReference {
  int normalized = 0, filterMode = 0, addressMode[3] = {1, 1, 1};
  int x = 32, y = 0, z = 0, w = 0, kind = 1;  // channels: unsigned
  int sRGB = 0;
  unsigned maxAnisotropy = 0;
  int mipmapFilterMode = 0;
  float mipmapLevelBias = 0, minMipmapLevelClamp = 0, maxMipmapLevelClamp = 0;
  int disableTrilinearOptimization = 0, reserved[14] = {};
} picture;
void fetch(unsigned* data) {
  void* arguments[] = {&data};
  static_cast<void>(
      cudaLaunchKernel(reinterpret_cast<const void*>(&fetch), {8, 1, 1}, {16, 1, 1}, arguments, 0, nullptr));
}
#endif

struct Wrapper {
  int magic, version;
  const void* data;
  void* linked;
};

struct Registration {
  std::vector<unsigned long long> binary = fat_binary();
  Wrapper wrapper{0x466243B1, 1, binary.data(), nullptr};
  void** handle;
  Registration() {
    handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, reinterpret_cast<const char*>(&scale), const_cast<char*>("scale"), "scale",
                           -1, nullptr, nullptr, nullptr, nullptr, nullptr);
    __cudaRegisterVar(handle, reinterpret_cast<char*>(&factor), const_cast<char*>("factor"), "factor", 0,
                      sizeof factor, 1, 0);
#if TOOLKIT == 11
    __cudaRegisterFunction(handle, reinterpret_cast<const char*>(&fetch), const_cast<char*>("fetch"), "fetch",
                           -1, nullptr, nullptr, nullptr, nullptr, nullptr);
    __cudaRegisterTexture(handle, &picture, nullptr, "picture", 2, 0, 0);
#endif
    __cudaRegisterFatBinaryEnd(handle);
  }
  ~Registration() { __cudaUnregisterFatBinary(handle); }
} registration;

bool good = true;
void check(const char* what, bool right) {
  if (!right) std::printf("wrong: %s\n", what);
  good = good && right;
}
void must(const char* what, int error) {
  if (error == 0) return;
  std::printf("%s: %s\n", what, cudaGetErrorName(error));
  std::exit(1);
}

void launch(unsigned* data, unsigned count, void* stream) {
  if (__cudaPushCallConfiguration({(count + 63) / 64, 1, 1}, {64, 1, 1}, 0, stream) == 0) scale(data, count);
  must("launch", cudaGetLastError());
}

/// A structure of the library that is longer or shorter than the toolkit's would write behind it, or miss it.
void check_properties() {
  struct {
    Properties p;
    unsigned char behind[64];
  } all;
  std::memset(&all, 0xab, sizeof all);
#if TOOLKIT == 12
  must("cudaGetDeviceProperties", cudaGetDeviceProperties_v2(&all.p, 0));
#else
  must("cudaGetDeviceProperties", cudaGetDeviceProperties(&all.p, 0));
#endif
  for (const unsigned char byte : all.behind) check("properties are too long", byte == 0xab);
  const Properties& p = all.p;
  check("name", std::strcmp(p.name, "Tesla V100-SXM2-16GB") == 0 || std::strstr(p.name, "V100") != nullptr);
  check("memory", p.totalGlobalMem == size_t{16} << 30);
  check("warp", p.warpSize == 32 && p.maxThreadsPerBlock == 1024 && p.maxThreadsDim[2] == 64);
  check("constant memory", p.totalConstMem == 65536);
  check("capability", p.major == 7 && p.minor == 0);
  check("multiprocessors", p.multiProcessorCount == 80);
#if TOOLKIT < 13
  check("clock", p.clockRate == 1380000 && p.memoryClockRate == 877000);
  check("threads of an SM", p.maxThreadsPerMultiProcessor == 2048 && p.regsPerMultiprocessor == 65536);
  check("L2", p.l2CacheSize == 6 << 20 && p.memoryBusWidth == 4096);
  check("cooperative launch", p.cooperativeLaunch == 1 && p.maxBlocksPerMultiProcessor == 32);
  check("precision", p.singleToDoublePrecisionPerfRatio == 2);
#endif
#if TOOLKIT == 12
  check("pools", p.memoryPoolsSupported == 1 && p.reserved[59] == 0);
#endif
}

#if TOOLKIT < 13
/// The names that functions of devices had before CUDA 4, which CUDA 13 has dropped.
void check_old_names(unsigned* data, unsigned count) {
  constexpr int kPrintfBuffer = 1, kHeap = 2, kPreferShared = 1, kInvalidValue = 1;
  constexpr size_t kBytes = size_t{3} << 20;
  size_t bytes = 0, heap = 0;
  must("cudaThreadSetLimit", cudaThreadSetLimit(kPrintfBuffer, kBytes));
  must("cudaThreadGetLimit", cudaThreadGetLimit(&bytes, kPrintfBuffer));
  check("a limit that cudaThreadSetLimit sets", bytes == kBytes);
  must("cudaDeviceGetLimit", cudaDeviceGetLimit(&bytes, kPrintfBuffer));
  check("limits are those of the device", bytes == kBytes);
  must("cudaThreadGetLimit", cudaThreadGetLimit(&heap, kHeap));
  must("cudaDeviceGetLimit", cudaDeviceGetLimit(&bytes, kHeap));
  check("another limit", heap == bytes && heap != kBytes);
  check("a limit that is none", cudaThreadSetLimit(-1, 1) == kInvalidValue);
  check("a limit without a place", cudaThreadGetLimit(nullptr, kHeap) == kInvalidValue);
  int preference = -1;
  must("cudaThreadSetCacheConfig", cudaThreadSetCacheConfig(kPreferShared));
  must("cudaThreadGetCacheConfig", cudaThreadGetCacheConfig(&preference));
  check("the preference", preference == kPreferShared);
  check("a preference that is none", cudaThreadSetCacheConfig(4) == kInvalidValue);
  check("the last error", cudaGetLastError() == kInvalidValue);
  launch(data, count, nullptr);
  must("cudaThreadSynchronize", cudaThreadSynchronize());
}
#endif

#if TOOLKIT == 11
/// A picture of 16 by 8 texels in rows of 64 words, read through a texture reference.
void check_texture_reference() {
  constexpr unsigned kWidth = 16, kHeight = 8, kPitch = 64;
  std::vector<unsigned> picture_values(kPitch * kHeight), seen(kWidth * kHeight);
  for (unsigned i = 0; i < picture_values.size(); ++i) picture_values[i] = i * i;
  unsigned *from = nullptr, *to = nullptr;
  must("cudaMalloc", cudaMalloc(reinterpret_cast<void**>(&from), picture_values.size() * 4));
  must("cudaMalloc", cudaMalloc(reinterpret_cast<void**>(&to), seen.size() * 4));
  must("cudaMemcpy", cudaMemcpy(from, picture_values.data(), picture_values.size() * 4, 1));
  size_t offset = 1;
  must("cudaBindTexture2D",
       cudaBindTexture2D(&offset, &picture, from, &picture.x, kWidth, kHeight, kPitch * 4));
  fetch(to);
  must("launch", cudaGetLastError());
  must("cudaMemcpy", cudaMemcpy(seen.data(), to, seen.size() * 4, 2));
  check("offset of the texture", offset == 0);
  for (unsigned y = 0; y < kHeight; ++y)
    for (unsigned x = 0; x < kWidth; ++x)
      check("texels", seen[y * kWidth + x] == picture_values[y * kPitch + x]);
  must("cudaUnbindTexture", cudaUnbindTexture(&picture));
}
#endif

}  // namespace

int main() {
  constexpr unsigned kCount = 1000;
  int version = 0;
  must("cudaRuntimeGetVersion", cudaRuntimeGetVersion(&version));
  check("version", version / 1000 == TOOLKIT);
  check_properties();

  unsigned* data = nullptr;
  must("cudaMalloc", cudaMalloc(reinterpret_cast<void**>(&data), kCount * sizeof *data));
  std::vector<unsigned> values(kCount);
  for (unsigned i = 0; i < kCount; ++i) values[i] = i;
  const unsigned three = 3;
  constexpr int kToDevice = 1, kToHost = 2;
  must("cudaMemcpyToSymbol", cudaMemcpyToSymbol(&factor, &three, sizeof three, 0, kToDevice));
  must("cudaMemcpy", cudaMemcpy(data, values.data(), kCount * sizeof *data, kToDevice));
  launch(data, kCount, nullptr);
  // The same as a graph, whose functions have other parameters in CUDA 11.
  void *stream = nullptr, *graph = nullptr, *executable = nullptr;
  must("cudaStreamCreate", cudaStreamCreate(&stream));
  must("cudaStreamBeginCapture", cudaStreamBeginCapture(stream, 0));
  launch(data, kCount, stream);
  must("cudaStreamEndCapture", cudaStreamEndCapture(stream, &graph));
#if TOOLKIT == 11
  char log[100];
  must("cudaGraphInstantiate", cudaGraphInstantiate(&executable, graph, nullptr, log, sizeof log));
#else
  must("cudaGraphInstantiate", cudaGraphInstantiate(&executable, graph, 0));
#endif
  must("cudaGraphLaunch", cudaGraphLaunch(executable, stream));
  must("cudaDeviceSynchronize", cudaDeviceSynchronize());
  must("cudaMemcpy", cudaMemcpy(values.data(), data, kCount * sizeof *data, kToHost));
  for (unsigned i = 0; i < kCount; ++i) check("values", values[i] == 9 * i);

  struct {
    PointerAttributes a;
    unsigned char behind[64];
  } pointer;
  std::memset(&pointer, 0xab, sizeof pointer);
  must("cudaPointerGetAttributes", cudaPointerGetAttributes(&pointer.a, data));
  check("kind of pointer", pointer.a.type == 2 && pointer.a.devicePointer == data);
  for (const unsigned char byte : pointer.behind) check("attributes are too long", byte == 0xab);

#if TOOLKIT == 11
  check_texture_reference();
#endif
  void* managed = nullptr;
  must("cudaMallocManaged", cudaMallocManaged(&managed, 4096, 1));
#if TOOLKIT >= 13
  must("cudaMemPrefetchAsync", cudaMemPrefetchAsync(managed, 4096, {1, 0}, 0, stream));
#else
  must("cudaMemPrefetchAsync", cudaMemPrefetchAsync(managed, 4096, 0, stream));
#endif
  must("cudaFree", cudaFree(managed));
#if TOOLKIT < 13
  check_old_names(data, kCount);
  must("cudaThreadExit", cudaThreadExit());
  check("no memory after cudaThreadExit", cudaFree(data) == 1);
#else
  must("cudaFree", cudaFree(data));
#endif
  std::printf(good ? "PASS\n" : "FAIL\n");
  return good ? 0 : 1;
}
