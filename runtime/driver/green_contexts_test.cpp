// Green contexts of the driver library as a program sees them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
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
}

namespace gpusim::runtime {
namespace {

constexpr int kSms = 1;

class GreenContexts : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("GPUSIM_CONFIG", GPUSIM_SOURCE_DIR "/configs/tesla_v100.cfg", 1);
    setenv("GPUSIM_QUIET", "1", 1);
    setenv("GPUSIM_FUNCTIONAL", "1", 1);
    ASSERT_EQ(cuInit(0), 0);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary_, 0), 0);
    ASSERT_EQ(cuCtxSetCurrent(primary_), 0);
    ASSERT_EQ(cuDeviceGetDevResource(0, &all_, kSms), 0);
  }
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

}  // namespace
}  // namespace gpusim::runtime
