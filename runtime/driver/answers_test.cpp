// What the driver library answers about functions that programs ask for by name, and about pointers.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/cudart/abi.h"
#include "runtime/device/error.h"

extern "C" {
using CUdeviceptr = unsigned long long;
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void**, int);
int cuCtxSetCurrent(void*);
int cuCtxGetDevice_v2(int*, void*);
int cuDevicePrimaryCtxRelease_v2(int);
int cuDevicePrimaryCtxReset_v2(int);
int cuDevicePrimaryCtxGetState(int, unsigned*, int*);
int cuModuleLoadData(void**, const void*);
int cuModuleUnload(void*);
int cuModuleGetFunction(void**, void*, const char*);
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, cudaStream_t,
                   void**, void**);
int cuLaunchCooperativeKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                              cudaStream_t, void**);
int cuMemcpyDtoH_v2(void*, CUdeviceptr, size_t);
int cuLaunchKernelEx(const void*, void*, void**, void**);
int cuCtxSynchronize_v2(void*);
int cuCtxCreate(void**, unsigned, int);
int cuCtxDestroy(void*);
int cuCtxPushCurrent(void*);
int cuCtxPopCurrent(void**);
int cuEventCreate(cudaEvent_t*, unsigned);
int cuEventDestroy(cudaEvent_t);
int cuStreamCreate(cudaStream_t*, unsigned);
int cuStreamDestroy(cudaStream_t);
int cuStreamGetCtx_v2(cudaStream_t, void**, void**);
int cuStreamBeginCapture_ptsz(cudaStream_t);
int cuStreamEndCapture_ptsz(cudaStream_t, cudaGraph_t*);
int cuStreamGetCaptureInfo_ptsz(cudaStream_t, int*, unsigned long long*);
int cuStreamGetCaptureInfo_v2_ptsz(cudaStream_t, int*, unsigned long long*, cudaGraph_t*,
                                   const cudaGraphNode_t**, size_t*);
int cuStreamUpdateCaptureDependencies_ptsz(cudaStream_t, cudaGraphNode_t*, size_t, unsigned);
int cuStreamWaitValue32_ptsz(cudaStream_t, CUdeviceptr, uint32_t, unsigned);
int cuStreamWriteValue32_ptsz(cudaStream_t, CUdeviceptr, uint32_t, unsigned);
int cuStreamWaitValue64_ptsz(cudaStream_t, CUdeviceptr, uint64_t, unsigned);
int cuStreamWriteValue64_ptsz(cudaStream_t, CUdeviceptr, uint64_t, unsigned);
int cuStreamBatchMemOp_ptsz(cudaStream_t, unsigned, void*, unsigned);
int cuGraphDestroy(cudaGraph_t);
int cuMemHostRegister(void*, size_t, unsigned);
int cuMemPrefetchAsync_ptsz(CUdeviceptr, size_t, int, cudaStream_t);
int cuMemPrefetchBatchAsync(CUdeviceptr*, size_t*, size_t, cudaMemLocation*, size_t*, size_t,
                            unsigned long long, cudaStream_t);
int cuMemPrefetchBatchAsync_ptsz(CUdeviceptr*, size_t*, size_t, cudaMemLocation*, size_t*, size_t,
                                 unsigned long long, cudaStream_t);
int cuMemRangeGetAttribute(void*, size_t, int, CUdeviceptr, size_t);
int cuGetProcAddress(const char*, void**, int, unsigned long long);
int cuGetProcAddress_v2(const char*, void**, int, unsigned long long, int*);
int cuMemAlloc_v2(CUdeviceptr*, size_t);
int cuMemAllocManaged(CUdeviceptr*, size_t, unsigned);
int cuMemHostAlloc(void**, size_t, unsigned);
int cuMemHostRegister_v2(void*, size_t, unsigned);
int cuMemHostUnregister(void*);
int cuMemFreeHost(void*);
int cuMemFree_v2(CUdeviceptr);
int cuPointerGetAttribute(void*, int, CUdeviceptr);
int cuPointerGetAttributes(unsigned, const int*, void**, CUdeviceptr);
int cuPointerSetAttribute(const void*, int, CUdeviceptr);
}

namespace gpusim::runtime {
namespace {

// CUpointer_attribute
constexpr int kContext = 1, kMemoryType = 2, kDevicePointer = 3, kHostPointer = 4, kSynchronizes = 6,
              kManaged = 8, kOrdinal = 9, kRangeStart = 11, kRangeSize = 12, kMapped = 13, kUnknown = 99;
constexpr unsigned kHost = 1, kDevice = 2;  // CUmemorytype

class DriverAnswers : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("GPUSIM_CONFIG", GPUSIM_SOURCE_DIR "/configs/tesla_v100.cfg", 1);
    setenv("GPUSIM_QUIET", "1", 1);
    setenv("GPUSIM_FUNCTIONAL", "1", 1);
    ASSERT_EQ(cuInit(0), 0);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary_, 0), 0);
    ASSERT_EQ(cuCtxSetCurrent(primary_), 0);
  }
  template <class T>
  static T told(int attribute, CUdeviceptr address) {
    T value{};
    EXPECT_EQ(cuPointerGetAttribute(&value, attribute, address), 0) << attribute;
    return value;
  }
  static int error(Code code) { return static_cast<int>(code); }
  static CUdeviceptr address(const void* p) { return reinterpret_cast<CUdeviceptr>(p); }

  void* primary_ = nullptr;
};

TEST_F(DriverAnswers, AFunctionIsFoundUnknownOrTooNew) {
  constexpr int kFound = 0, kNoSuchSymbol = 1, kVersionNotSufficient = 2;
  void* function = &function;
  int status = -1;
  ASSERT_EQ(cuGetProcAddress_v2("cuInit", &function, 12000, 0, &status), 0);
  EXPECT_EQ(status, kFound);
  EXPECT_EQ(function, dlsym(RTLD_DEFAULT, "cuInit"));
  // Unknown: good with a status, else an error; no function either way.
  function = &function;
  EXPECT_EQ(cuGetProcAddress_v2("cuNoSuchFunction", &function, 12000, 0, &status), 0);
  EXPECT_EQ(status, kNoSuchSymbol);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(cuGetProcAddress_v2("cuNoSuchFunction", &function, 12000, 0, nullptr),
            error(Code::kSymbolNotFound));
  EXPECT_EQ(cuGetProcAddress("cuNoSuchFunction", &function, 12000, 0), error(Code::kSymbolNotFound));
  // Functions are asked for without the suffix of a version.
  EXPECT_EQ(cuGetProcAddress_v2("cuMemAlloc_v2", &function, 12000, 0, &status), 0);
  EXPECT_EQ(status, kNoSuchSymbol);
  // cuMemAllocAsync came with CUDA 11.2.
  function = &function;
  EXPECT_EQ(cuGetProcAddress_v2("cuMemAllocAsync", &function, 11010, 0, &status), 0);
  EXPECT_EQ(status, kVersionNotSufficient);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(cuGetProcAddress_v2("cuMemAllocAsync", &function, 11010, 0, nullptr),
            error(Code::kSymbolNotFound));
  EXPECT_EQ(cuGetProcAddress_v2("cuMemAllocAsync", &function, 11020, 0, &status), 0);
  EXPECT_EQ(status, kFound);
}

TEST_F(DriverAnswers, TheLibraryIsFoundWithoutItsVersionToo) {
  Dl_info here{};
  ASSERT_NE(dladdr(reinterpret_cast<void*>(&cuEventCreate), &here), 0);
  const std::string file = std::filesystem::path(here.dli_fname).replace_filename("libcuda.so");
  void* const library = dlopen(file.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  ASSERT_NE(library, nullptr) << dlerror();
  EXPECT_EQ(dlsym(library, "cuEventCreate"), reinterpret_cast<void*>(&cuEventCreate));
  dlclose(library);
}

TEST_F(DriverAnswers, QuestionsForFunctionsAreChecked) {
  const int bad = error(Code::kInvalidValue);
  void* function = nullptr;
  int status = 9;
  EXPECT_EQ(cuGetProcAddress_v2(nullptr, &function, 12000, 0, &status), bad);
  EXPECT_EQ(cuGetProcAddress_v2("cuInit", nullptr, 12000, 0, &status), bad);
  EXPECT_EQ(cuGetProcAddress_v2("cuInit", &function, 99000, 0, &status), bad) << "newer than the driver";
  EXPECT_EQ(cuGetProcAddress_v2("cuInit", &function, 12000, 4, &status), bad) << "no such flag";
}

TEST_F(DriverAnswers, PointersSayWhoseMemoryItIs) {
  CUdeviceptr device = 0, managed = 0;
  void* pinned = nullptr;
  std::vector<uint32_t> registered(1024);
  ASSERT_EQ(cuMemAlloc_v2(&device, 4096), 0);
  ASSERT_EQ(cuMemAllocManaged(&managed, 4096, 1), 0);
  ASSERT_EQ(cuMemHostAlloc(&pinned, 4096, 0), 0);
  ASSERT_EQ(cuMemHostRegister_v2(registered.data(), 4096, 0), 0);
  struct Expected {
    CUdeviceptr start;
    unsigned type, managed, synchronizes;
  };
  for (const Expected& e :
       {Expected{device, kDevice, 0, 1}, Expected{managed, kDevice, 1, 1},
        Expected{address(pinned), kHost, 0, 0}, Expected{address(registered.data()), kHost, 0, 0}}) {
    const CUdeviceptr inside = e.start + 100;
    EXPECT_EQ(told<void*>(kContext, inside), primary_);
    EXPECT_EQ(told<unsigned>(kMemoryType, inside), e.type);
    EXPECT_EQ(told<CUdeviceptr>(kDevicePointer, inside), inside);
    EXPECT_EQ(told<unsigned>(kManaged, inside), e.managed);
    EXPECT_EQ(told<unsigned>(kSynchronizes, inside), e.synchronizes);
    EXPECT_EQ(told<int>(kOrdinal, inside), 0);
    EXPECT_EQ(told<CUdeviceptr>(kRangeStart, inside), e.start);
    EXPECT_EQ(told<size_t>(kRangeSize, inside), 4096u);
    EXPECT_EQ(told<unsigned>(kMapped, inside), 1u);
    CUdeviceptr host = 7;
    const int result = cuPointerGetAttribute(&host, kHostPointer, inside);
    const bool reachable = e.start != device;
    EXPECT_EQ(result, reachable ? 0 : error(Code::kInvalidValue));
    EXPECT_EQ(host, reachable ? inside : 7u);
  }
  ASSERT_EQ(cuMemHostUnregister(registered.data()), 0);
  ASSERT_EQ(cuMemFreeHost(pinned), 0);
  ASSERT_EQ(cuMemFree_v2(managed), 0);
  ASSERT_EQ(cuMemFree_v2(device), 0);
}

/// A later form may have more parameters: who knows the one before must not get it.
TEST_F(DriverAnswers, AFormIsThatOfTheProgramsToolkit) {
  struct Expected {
    const char *name, *before, *since;
    int version;
  };
  for (const Expected& e : {Expected{"cuCtxSynchronize", "cuCtxSynchronize", "cuCtxSynchronize_v2", 13000},
                            Expected{"cuCtxGetDevice", "cuCtxGetDevice", "cuCtxGetDevice_v2", 13000},
                            Expected{"cuStreamGetCtx", "cuStreamGetCtx", "cuStreamGetCtx_v2", 12050},
                            Expected{"cuGetProcAddress", "cuGetProcAddress", "cuGetProcAddress_v2", 12000}}) {
    void *before = nullptr, *since = nullptr;
    EXPECT_EQ(cuGetProcAddress(e.name, &before, e.version - 10, 0), 0);
    EXPECT_EQ(cuGetProcAddress(e.name, &since, e.version, 0), 0);
    EXPECT_EQ(before, dlsym(RTLD_DEFAULT, e.before)) << e.name;
    EXPECT_EQ(since, dlsym(RTLD_DEFAULT, e.since)) << e.name;
  }
}

TEST_F(DriverAnswers, AContextIsNamedOrTheCurrentOne) {
  void *made = nullptr, *popped = nullptr;
  int device = -1;
  EXPECT_EQ(cuCtxGetDevice_v2(&device, nullptr), 0);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(cuCtxSynchronize_v2(nullptr), 0);
  // The first forms are those of today.
  ASSERT_EQ(cuCtxCreate(&made, 0, 0), 0);
  device = -1;
  EXPECT_EQ(cuCtxGetDevice_v2(&device, made), 0);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(cuCtxSynchronize_v2(made), 0);
  EXPECT_EQ(cuCtxPopCurrent(&popped), 0);
  EXPECT_EQ(popped, made);
  EXPECT_EQ(cuCtxPushCurrent(made), 0);
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, 0), 0);
  ASSERT_EQ(cuEventCreate(&event, 0), 0);
  void *context = nullptr, *green = this;
  EXPECT_EQ(cuStreamGetCtx_v2(stream, &context, &green), 0);
  EXPECT_EQ(context, made);
  EXPECT_EQ(green, nullptr) << "no stream is of a green context";
  EXPECT_EQ(cuStreamDestroy(stream), 0);
  EXPECT_EQ(cuEventDestroy(event), 0);
  EXPECT_EQ(cuCtxDestroy(made), 0);
  EXPECT_EQ(cuCtxGetDevice_v2(&device, made), error(Code::kDeviceUninitialized)) << "it is gone";
  EXPECT_EQ(cuCtxSynchronize_v2(made), error(Code::kDeviceUninitialized));
  EXPECT_EQ(cuCtxSetCurrent(made), error(Code::kDeviceUninitialized));
  EXPECT_EQ(cuCtxPushCurrent(made), error(Code::kDeviceUninitialized));
  EXPECT_EQ(cuCtxGetDevice_v2(&device, nullptr), 0) << "the one before is still current";
  std::vector<char> memory(4096);
  EXPECT_EQ(cuMemHostRegister(memory.data(), memory.size(), 0), 0);
  EXPECT_EQ(cuMemHostUnregister(memory.data()), 0);
}

/// A reset releases nothing: who retained the context releases it after that, and who retains it again uses
/// it.
TEST_F(DriverAnswers, AResetDoesNotReleaseThePrimaryContext) {
  const int no_context = error(Code::kDeviceUninitialized), gone = error(Code::kContextIsDestroyed);
  unsigned flags = 0;
  int active = -1;
  CUdeviceptr memory = 0;
  void *module = nullptr, *again = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module,
                             ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry e() { ret; }"),
            0);
  void* pinned = nullptr;
  std::vector<char> registered(4096);
  ASSERT_EQ(cuMemHostAlloc(&pinned, 64, 0), 0);
  ASSERT_EQ(cuMemHostRegister(registered.data(), registered.size(), 0), 0);
  // Without a current context, too.
  ASSERT_EQ(cuCtxSetCurrent(nullptr), 0);
  EXPECT_EQ(cuMemFreeHost(pinned), 0);
  EXPECT_EQ(cuMemHostUnregister(registered.data()), 0);
  EXPECT_EQ(cuMemAlloc_v2(&memory, 64), no_context);
  EXPECT_EQ(cuModuleUnload(module), 0);
  ASSERT_EQ(cuDevicePrimaryCtxReset_v2(0), 0);
  EXPECT_EQ(cuDevicePrimaryCtxGetState(0, &flags, &active), 0);
  EXPECT_EQ(active, 0);
  ASSERT_EQ(cuCtxSetCurrent(primary_), 0);
  EXPECT_EQ(cuMemAlloc_v2(&memory, 64), gone);
  EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(0), 0);
  EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(0), no_context) << "it was retained once";
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&again, 0), 0);
  ASSERT_EQ(cuCtxSetCurrent(again), 0);
  EXPECT_EQ(cuMemAlloc_v2(&memory, 64), 0);
  // Retained twice, reset, and retained: each releases it.
  ASSERT_EQ(cuDevicePrimaryCtxReset_v2(0), 0);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&again, 0), 0);
  EXPECT_EQ(cuMemAlloc_v2(&memory, 64), 0);
  EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(0), 0);
  EXPECT_EQ(cuMemAlloc_v2(&memory, 64), 0);
  EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(0), 0);
  EXPECT_EQ(cuMemAlloc_v2(&memory, 64), gone);
}

/// Functions of older toolkits with the default stream of each thread.
TEST_F(DriverAnswers, OldFormsHaveTheDefaultStreamOfTheThread) {
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAllocManaged(&memory, 4096, 1), 0);
  auto* const words = reinterpret_cast<volatile uint32_t*>(memory);
  EXPECT_EQ(cuStreamWriteValue32_ptsz(nullptr, memory, 5, 0), 0);
  EXPECT_EQ(cuStreamWaitValue32_ptsz(nullptr, memory, 5, 1), 0);
  EXPECT_EQ(cuStreamWriteValue64_ptsz(nullptr, memory + 8, 6, 0), 0);
  EXPECT_EQ(cuStreamWaitValue64_ptsz(nullptr, memory + 8, 6, 1), 0);
  EXPECT_EQ(cuStreamBatchMemOp_ptsz(nullptr, 0, nullptr, 0), 0);
  EXPECT_EQ(cuCtxSynchronize_v2(nullptr), 0);
  EXPECT_EQ(words[0], 5u);
  EXPECT_EQ(words[2], 6u);
  // Only the stream of the thread can be captured, the legacy default stream cannot.
  constexpr int kActive = 1;
  int status = -1;
  unsigned long long id = 0;
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cuStreamBeginCapture_ptsz(nullptr), 0);
  EXPECT_EQ(cuStreamGetCaptureInfo_ptsz(nullptr, &status, &id), 0);
  EXPECT_EQ(status, kActive);
  status = -1;
  EXPECT_EQ(cuStreamGetCaptureInfo_v2_ptsz(nullptr, &status, &id, nullptr, nullptr, nullptr), 0);
  EXPECT_EQ(status, kActive);
  EXPECT_EQ(cuStreamUpdateCaptureDependencies_ptsz(nullptr, nullptr, 0, 1), 0);
  ASSERT_EQ(cuStreamEndCapture_ptsz(nullptr, &graph), 0);
  EXPECT_EQ(cuGraphDestroy(graph), 0);
  // CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION
  constexpr int kLastPrefetch = 4, kHostNumber = -1;
  int last = 7;
  EXPECT_EQ(cuMemPrefetchAsync_ptsz(memory, 4096, 0, nullptr), 0);
  EXPECT_EQ(cuMemRangeGetAttribute(&last, sizeof last, kLastPrefetch, memory, 4096), 0);
  EXPECT_EQ(last, 0);
  size_t bytes = 4096, first = 0;
  cudaMemLocation host{2, 0};
  EXPECT_EQ(cuMemPrefetchBatchAsync(&memory, &bytes, 1, &host, &first, 1, 0, nullptr), 0);
  EXPECT_EQ(cuMemRangeGetAttribute(&last, sizeof last, kLastPrefetch, memory, 4096), 0);
  EXPECT_EQ(last, kHostNumber);
  cudaMemLocation device{1, 0};
  EXPECT_EQ(cuMemPrefetchBatchAsync_ptsz(&memory, &bytes, 1, &device, &first, 1, 0, nullptr), 0);
  EXPECT_EQ(cuMemRangeGetAttribute(&last, sizeof last, kLastPrefetch, memory, 4096), 0);
  EXPECT_EQ(last, 0);
  ASSERT_EQ(cuMemFree_v2(memory), 0);
}

TEST_F(DriverAnswers, OfForeignPointersOnlyAListIsAnswered) {
  const int bad = error(Code::kInvalidValue);
  int own = 0;
  unsigned type = 9;
  int ordinal = 9;
  EXPECT_EQ(cuPointerGetAttribute(&type, kMemoryType, address(&own)), bad);
  const int asked[] = {kMemoryType, kOrdinal};
  void* values[] = {&type, &ordinal};
  EXPECT_EQ(cuPointerGetAttributes(2, asked, values, address(&own)), 0);
  EXPECT_EQ(type, 0u);
  EXPECT_EQ(ordinal, -2);
  CUdeviceptr device = 0;
  ASSERT_EQ(cuMemAlloc_v2(&device, 64), 0);
  EXPECT_EQ(cuPointerGetAttribute(&type, kUnknown, device), bad);
  EXPECT_EQ(cuPointerGetAttribute(nullptr, kMemoryType, device), bad);
  EXPECT_EQ(cuPointerGetAttributes(0, asked, values, device), bad);
  EXPECT_EQ(cuPointerGetAttributes(2, nullptr, values, device), bad);
  EXPECT_EQ(cuPointerGetAttributes(2, asked, nullptr, device), bad);
  const unsigned on = 1;
  EXPECT_EQ(cuPointerSetAttribute(&on, kSynchronizes, device), 0);
  EXPECT_EQ(cuPointerSetAttribute(&on, kMemoryType, device), bad) << "only this one can be set";
  EXPECT_EQ(cuPointerSetAttribute(&on, kSynchronizes, address(&own)), bad);
  ASSERT_EQ(cuMemFree_v2(device), 0);
  EXPECT_EQ(cuPointerGetAttribute(&type, kMemoryType, device), bad) << "freed";
}

// Programs that load the whole driver library by names, as FFmpeg does, give up if one of them is not there.
TEST_F(DriverAnswers, FunctionsForGraphicsAreThereAndSayWhatTheyAre) {
  for (const char* name :
       {"cuGLGetDevices_v2", "cuGraphicsGLRegisterImage", "cuGraphicsGLRegisterBuffer", "cuGLInit",
        "cuEGLStreamProducerConnect", "cuEventCreateFromEGLSync", "cuVDPAUGetDevice"}) {
    const auto function = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, name));
    ASSERT_NE(function, nullptr) << name;
    testing::internal::CaptureStderr();
    EXPECT_EQ(function(), error(Code::kNotSupported));
    EXPECT_NE(testing::internal::GetCapturedStderr().find(name), std::string::npos);
  }
}

TEST_F(DriverAnswers, AWrongAttributeOfALaunchIsAnError) {
  void *module = nullptr, *kernel = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module,
                             ".version 7.0\n.target sm_70\n.address_size 64\n"
                             ".visible .entry k() { ret; }\n"),
            0);
  ASSERT_EQ(cuModuleGetFunction(&kernel, module, "k"), 0);
  cudaLaunchAttribute attribute{};
  const struct {
    unsigned grid[3] = {1, 1, 1}, block[3] = {32, 1, 1}, shared = 0;
    void* stream = nullptr;
    cudaLaunchAttribute* attributes = nullptr;
    unsigned count = 1;
  } none, wrong{.attributes = &attribute};
  EXPECT_EQ(cuLaunchKernelEx(nullptr, kernel, nullptr, nullptr), error(Code::kInvalidValue));
  EXPECT_EQ(cuLaunchKernelEx(&none, kernel, nullptr, nullptr), error(Code::kInvalidValue));
  attribute.id = 99;
  EXPECT_EQ(cuLaunchKernelEx(&wrong, kernel, nullptr, nullptr), error(Code::kInvalidValue));
  attribute.id = 0;
  EXPECT_EQ(cuLaunchKernelEx(&wrong, kernel, nullptr, nullptr), 0);
  EXPECT_EQ(cuModuleUnload(module), 0);
}

// As device code of CUDA 9 and numba calls them, whose bodies a toolkit links (libcudadevrt).
TEST_F(DriverAnswers, BlocksOfACooperativeGridWaitForEachOther) {
  // Each block adds up what the others have stored before, round after round.
  constexpr const char* kPtx = R"(.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope);
.extern .func (.param .b32 error) cudaCGSynchronize(.param .b64 handle, .param .b32 flags);
.visible .entry k(.param .u64 out)
{
  .reg .pred %p;
  .reg .b32 %i, %n, %v, %sum, %error, %round, %first;
  .reg .b64 %handle, %out, %at;
  ld.param.u64 %out, [out];
  mov.u32 %i, %ctaid.x;
  mov.u32 %n, %nctaid.x;
  mov.u32 %first, %tid.x;
  mov.u32 %v, 1;
  mov.u32 %round, 0;
  { .param .b32 s; .param .b64 h; st.param.b32 [s], 1;
    call.uni (h), cudaCGGetIntrinsicHandle, (s); ld.param.b64 %handle, [h]; }
rounds:
  mul.wide.u32 %at, %i, 4;
  add.u64 %at, %at, %out;
  setp.eq.u32 %p, %first, 0;
  @%p st.global.u32 [%at], %v;
  { .param .b64 h; .param .b32 f; .param .b32 e; st.param.b64 [h], %handle; st.param.b32 [f], 0;
    call.uni (e), cudaCGSynchronize, (h, f); ld.param.b32 %error, [e]; }
  mov.u32 %v, %error;
  mov.u32 %sum, 0;
next:
  mul.wide.u32 %at, %sum, 4;
  add.u64 %at, %at, %out;
  ld.volatile.global.u32 %first, [%at];
  add.u32 %v, %v, %first;
  add.u32 %sum, %sum, 1;
  setp.lt.u32 %p, %sum, %n;
  @%p bra next;
  { .param .b64 h; .param .b32 f; .param .b32 e; st.param.b64 [h], %handle; st.param.b32 [f], 0;
    call.uni (e), cudaCGSynchronize, (h, f); ld.param.b32 %error, [e]; }
  mov.u32 %first, %tid.x;
  add.u32 %round, %round, 1;
  setp.lt.u32 %p, %round, 3;
  @%p bra rounds;
  mul.wide.u32 %at, %i, 4;
  add.u64 %at, %at, %out;
  setp.eq.u32 %p, %first, 0;
  @%p st.global.u32 [%at], %v;
  ret;
}
)";
  void *module = nullptr, *kernel = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, kPtx), 0);
  ASSERT_EQ(cuModuleGetFunction(&kernel, module, "k"), 0);
  constexpr unsigned kBlocks = 5;
  CUdeviceptr out = 0;
  ASSERT_EQ(cuMemAlloc_v2(&out, kBlocks * sizeof(unsigned)), 0);
  void* parameters[] = {&out};
  unsigned values[kBlocks] = {};
  ASSERT_EQ(cuLaunchCooperativeKernel(kernel, kBlocks, 1, 1, 64, 1, 1, 0, nullptr, parameters), 0);
  ASSERT_EQ(cuMemcpyDtoH_v2(values, out, sizeof values), 0);
  for (const unsigned v : values) EXPECT_EQ(v, kBlocks * kBlocks * kBlocks);
  // The grid of another launch has no barrier: an error, which the kernel adds.
  ASSERT_EQ(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr), 0);
  ASSERT_EQ(cuMemcpyDtoH_v2(values, out, sizeof(unsigned)), 0);
  EXPECT_EQ(values[0], 4u);
  EXPECT_EQ(cuMemFree_v2(out), 0);
  EXPECT_EQ(cuModuleUnload(module), 0);
}

/// What is wrong with the configuration of a program that nobody has started for it is said once.
TEST(DriverWithoutDevice, SaysOnceThatItIsAnError) {
  setenv("GPUSIM_CONFIG", "no such machine", 1);
  testing::internal::CaptureStderr();
  EXPECT_EQ(cuInit(0), static_cast<int>(Code::kNoDevice));
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(told.starts_with("gpusim: error: no machine configuration 'no such machine'\n")) << told;
}

TEST(DriverWithoutDevice, SaysOnceThatACheckIsUnknown) {
  setenv("GPUSIM_CONFIG", GPUSIM_SOURCE_DIR "/configs/tesla_v100.cfg", 1);
  setenv("GPUSIM_CHECK", "foo", 1);
  testing::internal::CaptureStderr();
  EXPECT_EQ(cuInit(0), static_cast<int>(Code::kNoDevice));
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(told.starts_with("gpusim: error: --check: no check is called 'foo'\n")) << told;
}

}  // namespace
}  // namespace gpusim::runtime
