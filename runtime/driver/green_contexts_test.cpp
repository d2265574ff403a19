// Green contexts of the driver library as a program sees them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "runtime/cudart/abi.h"
#include "runtime/device/error.h"

extern "C" {
struct Resource {
  int type;
  unsigned char padding[92];
  unsigned count, least, alignment;
  unsigned char rest[36];
};
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void**, int);
int cuDevicePrimaryCtxGetState(int, unsigned*, int*);
int cuCtxSetCurrent(void*);
int cuCtxDestroy_v2(void*);
int cuCtxSynchronize();
int cuCtxGetDevResource(void*, Resource*, int);
int cuDeviceGetDevResource(int, Resource*, int);
int cuDevSmResourceSplitByCount(Resource*, unsigned*, const Resource*, Resource*, unsigned, unsigned);
int cuDevResourceGenerateDesc(void**, Resource*, unsigned);
int cuGreenCtxCreate(void**, void*, int, unsigned);
int cuGreenCtxDestroy(void*);
int cuGreenCtxGetDevResource(void*, Resource*, int);
int cuGreenCtxGetId(void*, unsigned long long*);
int cuGreenCtxRecordEvent(void*, cudaEvent_t);
int cuGreenCtxWaitEvent(void*, cudaEvent_t);
int cuGreenCtxStreamCreate(cudaStream_t*, void*, unsigned, int);
int cuCtxFromGreenCtx(void**, void*);
int cuStreamGetGreenCtx(cudaStream_t, void**);
int cuStreamGetCtx(cudaStream_t, void**);
int cuStreamGetCtx_v2(cudaStream_t, void**, void**);
int cuStreamCreate(cudaStream_t*, unsigned);
int cuCtxPushCurrent_v2(void*);
int cuCtxPopCurrent_v2(void**);
int cuStreamDestroy_v2(cudaStream_t);
int cuStreamSynchronize(cudaStream_t);
int cuEventCreate(cudaEvent_t*, unsigned);
int cuEventSynchronize(cudaEvent_t);
int cuMemAlloc_v2(unsigned long long*, size_t);
int cuMemsetD32Async(unsigned long long, unsigned, size_t, cudaStream_t);
int cuMemcpyDtoH_v2(void*, unsigned long long, size_t);
int cuModuleLoadData(void**, const void*);
int cuModuleGetFunction(void**, void*, const char*);
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, cudaStream_t,
                   void**, void**);
int cuLaunchCooperativeKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                              cudaStream_t, void**);
}

namespace gpusim::runtime {
namespace {

constexpr int kSms = 1;

class GreenContexts : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("GPUSIM_CONFIG", (GPUSIM_SOURCE_DIR "/configs/" + machine() + ".cfg").c_str(), 1);
    setenv("GPUSIM_QUIET", "1", 1);
    if (functional()) setenv("GPUSIM_FUNCTIONAL", "1", 1);
    ASSERT_EQ(cuInit(0), 0);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary_, 0), 0);
    ASSERT_EQ(cuCtxSetCurrent(primary_), 0);
    ASSERT_EQ(cuDeviceGetDevResource(0, &all_, kSms), 0);
  }
  [[nodiscard]] virtual bool functional() const { return true; }
  [[nodiscard]] virtual std::string machine() const { return "tesla_v100"; }
  static int error(Code code) { return static_cast<int>(code); }
  /// Parts of 16 multiprocessors, and a context of the first.
  void* make(std::vector<Resource>& parts) {
    unsigned groups = 3;
    parts.resize(groups);
    EXPECT_EQ(cuDevSmResourceSplitByCount(parts.data(), &groups, &all_, nullptr, 0, 16), 0);
    void *descriptor = nullptr, *green = nullptr;
    EXPECT_EQ(cuDevResourceGenerateDesc(&descriptor, parts.data(), 1), 0);
    EXPECT_EQ(cuGreenCtxCreate(&green, descriptor, 0, 1), 0);
    return green;
  }

  void* primary_ = nullptr;
  Resource all_{};
};

TEST_F(GreenContexts, MultiprocessorsAreSplit) {
  EXPECT_EQ(all_.count, 80u);
  EXPECT_EQ(all_.least, 2u);
  EXPECT_EQ(all_.alignment, 2u);
  EXPECT_EQ(cuDeviceGetDevResource(0, &all_, 2), error(Code::kInvalidResourceType));
  EXPECT_EQ(cuDeviceGetDevResource(1, &all_, kSms), error(Code::kInvalidDevice));
  // How many parts there would be of at least so many.
  const auto possible = [&](unsigned least) {
    unsigned groups = 0;
    EXPECT_EQ(cuDevSmResourceSplitByCount(nullptr, &groups, &all_, nullptr, 0, least), 0);
    return groups;
  };
  EXPECT_EQ(possible(0), 40u);
  EXPECT_EQ(possible(15), 5u) << "in twos";
  EXPECT_EQ(possible(50), 1u);
  unsigned groups = 9;
  Resource parts[9]{}, rest{};
  ASSERT_EQ(cuDevSmResourceSplitByCount(parts, &groups, &all_, &rest, 0, 11), 0);
  EXPECT_EQ(groups, 6u);
  for (unsigned i = 0; i < groups; ++i) EXPECT_EQ(parts[i].count, 12u);
  EXPECT_EQ(parts[groups].type, 0);
  EXPECT_EQ(rest.type, kSms);
  EXPECT_EQ(rest.count, 8u);
  groups = 2;
  ASSERT_EQ(cuDevSmResourceSplitByCount(parts, &groups, &all_, &rest, 0, 40), 0);
  EXPECT_EQ(rest.type, 0) << "nothing is left";
  EXPECT_EQ(cuDevSmResourceSplitByCount(parts, &groups, &all_, &rest, 0, 81), error(Code::kInvalidValue));
  EXPECT_EQ(cuDevSmResourceSplitByCount(parts, &groups, &all_, &rest, 4, 8), error(Code::kInvalidValue));
  EXPECT_EQ(cuDevSmResourceSplitByCount(parts, &groups, &rest, nullptr, 0, 0),
            error(Code::kInvalidResourceType));
  const Resource part = parts[0];
  EXPECT_EQ(cuDevSmResourceSplitByCount(parts, &groups, &part, nullptr, 0, 2),
            error(Code::kInvalidResourceConfiguration))
      << "a part is split after a context was made of it";
}

TEST_F(GreenContexts, DescriptorsAreOfOneSplit) {
  unsigned groups = 2, others = 2;
  Resource parts[2]{}, other[2]{};
  ASSERT_EQ(cuDevSmResourceSplitByCount(parts, &groups, &all_, nullptr, 0, 20), 0);
  ASSERT_EQ(cuDevSmResourceSplitByCount(other, &others, &all_, nullptr, 0, 20), 0);
  void *descriptor = nullptr, *green = nullptr;
  Resource mixed[] = {parts[0], other[1]}, twice[] = {parts[0], parts[0]}, none[] = {Resource{}};
  EXPECT_EQ(cuDevResourceGenerateDesc(&descriptor, mixed, 2), error(Code::kInvalidResourceConfiguration));
  EXPECT_EQ(cuDevResourceGenerateDesc(&descriptor, twice, 2), error(Code::kInvalidResourceConfiguration));
  EXPECT_EQ(cuDevResourceGenerateDesc(&descriptor, none, 1), error(Code::kInvalidResourceType));
  EXPECT_EQ(cuGreenCtxCreate(&green, &green, 0, 1), error(Code::kInvalidValue)) << "no descriptor";
  ASSERT_EQ(cuDevResourceGenerateDesc(&descriptor, parts, 2), 0);
  EXPECT_EQ(cuGreenCtxCreate(&green, descriptor, 0, 0), error(Code::kInvalidValue)) << "no default stream";
  ASSERT_EQ(cuGreenCtxCreate(&green, descriptor, 0, 1), 0);
  Resource whole{};
  ASSERT_EQ(cuGreenCtxGetDevResource(green, &whole, kSms), 0);
  EXPECT_EQ(whole.count, 40u);
  ASSERT_EQ(cuDevSmResourceSplitByCount(nullptr, &groups, &whole, nullptr, 0, 10), 0);
  EXPECT_EQ(groups, 4u);
  EXPECT_EQ(cuGreenCtxDestroy(green), 0);
  EXPECT_EQ(cuGreenCtxDestroy(green), error(Code::kDeviceUninitialized));
  ASSERT_EQ(cuGreenCtxCreate(&green, nullptr, 0, 1), 0) << "of the whole device";
  ASSERT_EQ(cuGreenCtxGetDevResource(green, &whole, kSms), 0);
  EXPECT_EQ(whole.count, 80u);
  EXPECT_EQ(cuGreenCtxDestroy(green), 0);
}

TEST_F(GreenContexts, StreamsBelongToThem) {
  std::vector<Resource> parts;
  void* const green = make(parts);
  void *context = nullptr, *found = nullptr, *regular = nullptr;
  ASSERT_EQ(cuCtxFromGreenCtx(&context, green), 0);
  EXPECT_NE(context, primary_);
  Resource r{};
  ASSERT_EQ(cuCtxGetDevResource(context, &r, kSms), 0);
  EXPECT_EQ(r.count, 16u);
  ASSERT_EQ(cuCtxGetDevResource(primary_, &r, kSms), 0);
  EXPECT_EQ(r.count, 80u);
  cudaStream_t own = nullptr, made_current = nullptr, of_primary = nullptr;
  EXPECT_EQ(cuGreenCtxStreamCreate(&own, green, 0, 0), error(Code::kInvalidValue)) << "not non-blocking";
  ASSERT_EQ(cuGreenCtxStreamCreate(&own, green, 1, 0), 0);
  ASSERT_EQ(cuStreamCreate(&of_primary, 1), 0);
  ASSERT_EQ(cuCtxSetCurrent(context), 0);
  ASSERT_EQ(cuStreamCreate(&made_current, 1), 0);
  for (cudaStream_t s : {own, made_current, cudaStream_t{nullptr}}) {
    ASSERT_EQ(cuStreamGetGreenCtx(s, &found), 0);
    EXPECT_EQ(found, green);
    ASSERT_EQ(cuStreamGetCtx_v2(s, &regular, &found), 0);
    EXPECT_EQ(regular, primary_);
    EXPECT_EQ(found, green);
    ASSERT_EQ(cuStreamGetCtx(s, &regular), 0);
    EXPECT_EQ(regular, context);
  }
  ASSERT_EQ(cuStreamGetCtx_v2(of_primary, &regular, &found), 0);
  EXPECT_EQ(regular, primary_);
  EXPECT_EQ(found, nullptr);
  ASSERT_EQ(cuCtxPushCurrent_v2(primary_), 0);
  ASSERT_EQ(cuStreamGetGreenCtx(nullptr, &found), 0);
  EXPECT_EQ(found, nullptr);
  cudaStream_t pushed = nullptr;
  ASSERT_EQ(cuStreamCreate(&pushed, 1), 0);
  ASSERT_EQ(cuStreamGetGreenCtx(pushed, &found), 0);
  EXPECT_EQ(found, nullptr);
  EXPECT_EQ(cuStreamDestroy_v2(pushed), 0);
  ASSERT_EQ(cuCtxPopCurrent_v2(&regular), 0);
  ASSERT_EQ(cuStreamCreate(&pushed, 1), 0);
  ASSERT_EQ(cuStreamGetGreenCtx(pushed, &found), 0);
  EXPECT_EQ(found, green);
  EXPECT_EQ(cuStreamDestroy_v2(pushed), 0);
  ASSERT_EQ(cuCtxSetCurrent(primary_), 0);
  EXPECT_EQ(cuCtxDestroy_v2(context), error(Code::kDeviceUninitialized));
  for (cudaStream_t s : {own, made_current, of_primary}) EXPECT_EQ(cuStreamDestroy_v2(s), 0);
  EXPECT_EQ(cuGreenCtxDestroy(green), 0);
  EXPECT_EQ(cuCtxGetDevResource(context, &r, kSms), error(Code::kDeviceUninitialized));
}

TEST_F(GreenContexts, EventsHaveTheirWork) {
  std::vector<Resource> parts;
  void* const green = make(parts);
  unsigned long long id = 0, memory = 0;
  EXPECT_EQ(cuGreenCtxGetId(green, &id), 0);
  EXPECT_NE(id, 0u);
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cuGreenCtxStreamCreate(&stream, green, 1, 0), 0);
  ASSERT_EQ(cuEventCreate(&event, 0), 0);
  ASSERT_EQ(cuMemAlloc_v2(&memory, 64), 0);
  ASSERT_EQ(cuMemsetD32Async(memory, 7, 16, stream), 0);
  ASSERT_EQ(cuGreenCtxRecordEvent(green, event), 0);
  ASSERT_EQ(cuGreenCtxWaitEvent(green, event), 0);
  ASSERT_EQ(cuEventSynchronize(event), 0);
  unsigned value = 0;
  ASSERT_EQ(cuMemcpyDtoH_v2(&value, memory, 4), 0);
  EXPECT_EQ(value, 7u);
  EXPECT_EQ(cuStreamDestroy_v2(stream), 0);
  EXPECT_EQ(cuGreenCtxDestroy(green), 0);
  EXPECT_EQ(cuGreenCtxRecordEvent(green, event), error(Code::kDeviceUninitialized));
}

/// Each block says on which multiprocessor it runs.
constexpr const char* kWhere = R"(.version 7.8
.target TARGET
.address_size 64
.visible .entry where(.param .u64 out) CLUSTER
{
  .reg .b64 %rd<4>; .reg .b32 %r<4>;
  ld.param.u64 %rd1, [out]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %smid;
  mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r2;
  ret;
}
)";

class TimedGreenContexts : public GreenContexts {
 protected:
  [[nodiscard]] bool functional() const override { return false; }
  void* where(std::string target, const std::string& cluster) {
    std::string text = kWhere;
    text.replace(text.find("TARGET"), 6, target);
    text.replace(text.find("CLUSTER"), 7, cluster);
    void *module = nullptr, *kernel = nullptr;
    EXPECT_EQ(cuModuleLoadData(&module, text.c_str()), 0);
    EXPECT_EQ(cuModuleGetFunction(&kernel, module, "where"), 0);
    return kernel;
  }
  unsigned long long launch(void* kernel, unsigned blocks, cudaStream_t stream) {
    unsigned long long out = 0;
    EXPECT_EQ(cuMemAlloc_v2(&out, blocks * 4), 0);
    void* arguments[] = {&out};
    EXPECT_EQ(cuLaunchKernel(kernel, blocks, 1, 1, 1024, 1, 1, 0, stream, arguments, nullptr), 0);
    return out;
  }
  static std::set<unsigned> read(unsigned long long out, unsigned blocks) {
    std::vector<unsigned> values(blocks);
    EXPECT_EQ(cuMemcpyDtoH_v2(values.data(), out, blocks * 4), 0);
    return {values.begin(), values.end()};
  }
};

TEST_F(TimedGreenContexts, KernelsAreKeptToTheirMultiprocessors) {
  constexpr unsigned kBlocks = 200;
  void* const kernel = where("sm_70", "");
  unsigned groups = 3;
  std::vector<Resource> parts(groups);
  ASSERT_EQ(cuDevSmResourceSplitByCount(parts.data(), &groups, &all_, nullptr, 0, 16), 0);
  std::vector<Resource> outer{parts[0], parts[2]};
  std::vector<unsigned long long> out;
  std::vector<void*> greens;
  for (const auto& [resources, count] : {std::pair{outer.data(), 2u}, {&parts[1], 1u}}) {
    void *descriptor = nullptr, *green = nullptr;
    ASSERT_EQ(cuDevResourceGenerateDesc(&descriptor, resources, count), 0);
    ASSERT_EQ(cuGreenCtxCreate(&green, descriptor, 0, 1), 0);
    cudaStream_t stream = nullptr;
    ASSERT_EQ(cuGreenCtxStreamCreate(&stream, green, 1, 0), 0);
    out.push_back(launch(kernel, kBlocks, stream));
    // 2 of these blocks fit a multiprocessor.
    const unsigned fit = 2 * 16 * count;
    void* arguments[] = {&out.back()};
    EXPECT_EQ(cuLaunchCooperativeKernel(kernel, fit, 1, 1, 1024, 1, 1, 0, stream, arguments), 0);
    EXPECT_EQ(cuLaunchCooperativeKernel(kernel, fit + 1, 1, 1, 1024, 1, 1, 0, stream, arguments),
              error(Code::kCooperativeLaunchTooLarge));
    greens.push_back(green);
  }
  const std::set<unsigned> two = read(out[0], kBlocks), one = read(out[1], kBlocks);
  EXPECT_EQ(two.size(), 32u);
  EXPECT_EQ(one.size(), 16u);
  for (const unsigned sm : one) EXPECT_FALSE(two.contains(sm)) << sm;
  EXPECT_EQ(read(launch(kernel, kBlocks, nullptr), kBlocks).size(), 80u) << "the primary context has all";
  // The null stream is that of the current context.
  void* context = nullptr;
  ASSERT_EQ(cuCtxFromGreenCtx(&context, greens[1]), 0);
  ASSERT_EQ(cuCtxSetCurrent(context), 0);
  EXPECT_EQ(read(launch(kernel, kBlocks, nullptr), kBlocks), one);
}

class TimedHopperGreenContexts : public TimedGreenContexts {
 protected:
  [[nodiscard]] std::string machine() const override { return "h200"; }
};

TEST_F(TimedHopperGreenContexts, ClustersHaveRoomInEveryPart) {
  constexpr unsigned kIgnoresClusters = 1;
  void* const kernel = where("sm_90", ".reqnctapercluster 8");
  unsigned groups = 16;
  std::vector<Resource> parts(groups);
  ASSERT_EQ(cuDevSmResourceSplitByCount(parts.data(), &groups, &all_, nullptr, 0, 8), 0);
  ASSERT_EQ(groups, 16u);
  const auto stream_of = [&](Resource& part) {
    void *descriptor = nullptr, *green = nullptr;
    cudaStream_t stream = nullptr;
    EXPECT_EQ(cuDevResourceGenerateDesc(&descriptor, &part, 1), 0);
    EXPECT_EQ(cuGreenCtxCreate(&green, descriptor, 0, 1), 0);
    EXPECT_EQ(cuGreenCtxStreamCreate(&stream, green, 1, 0), 0);
    return stream;
  };
  for (Resource& part : parts) EXPECT_EQ(read(launch(kernel, 64, stream_of(part)), 64).size(), 8u);
  groups = 1;
  ASSERT_EQ(cuDevSmResourceSplitByCount(parts.data(), &groups, &all_, nullptr, kIgnoresClusters, 2), 0);
  unsigned long long out = 0;
  void* arguments[] = {&out};
  EXPECT_EQ(cuLaunchKernel(kernel, 8, 1, 1, 1024, 1, 1, 0, stream_of(parts[0]), arguments, nullptr),
            error(Code::kInvalidClusterSize))
      << "two multiprocessors hold four of these blocks";
}

}  // namespace
}  // namespace gpusim::runtime
