// Virtual memory management of the driver library as a program sees it.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "runtime/device/error.h"

extern "C" {
struct Location {
  int type, id;
};
struct Properties {
  int type, handle_types;
  Location location;
  void* windows;
  unsigned char rest[8];
};
struct Access {
  Location location;
  unsigned flags;
};
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void**, int);
int cuCtxSetCurrent(void*);
int cuMemGetInfo_v2(size_t*, size_t*);
int cuMemAlloc_v2(unsigned long long*, size_t);
int cuMemGetAllocationGranularity(size_t*, const Properties*, int);
int cuMemAddressReserve(unsigned long long*, size_t, size_t, unsigned long long, unsigned long long);
int cuMemAddressFree(unsigned long long, size_t);
int cuMemCreate(unsigned long long*, size_t, const Properties*, unsigned long long);
int cuMemRelease(unsigned long long);
int cuMemMap(unsigned long long, size_t, size_t, unsigned long long, unsigned long long);
int cuMemUnmap(unsigned long long, size_t);
int cuMemSetAccess(unsigned long long, size_t, const Access*, size_t);
int cuMemGetAccess(unsigned long long*, const Location*, unsigned long long);
int cuMemExportToShareableHandle(void*, unsigned long long, int, unsigned long long);
int cuMemImportFromShareableHandle(unsigned long long*, void*, int);
int cuMemcpyHtoD_v2(unsigned long long, const void*, size_t);
int cuMemcpyDtoH_v2(void*, unsigned long long, size_t);
int cuMemsetD32_v2(unsigned long long, unsigned, size_t);
int cuModuleLoadData(void**, const void*);
int cuModuleGetFunction(void**, void*, const char*);
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                   void**);
int cuCtxSynchronize();
}

namespace gpusim::runtime {
namespace {

/// data[i] += i
const char* const kPtx = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry number(.param .u64 data)
{
  .reg .b32 %r<6>; .reg .b64 %d<3>;
  ld.param.u64 %d1, [data];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  mad.wide.u32 %d2, %r4, 4, %d1;
  ld.global.u32 %r5, [%d2];
  add.u32 %r5, %r5, %r4;
  st.global.u32 [%d2], %r5;
  ret;
}
)";

class VirtualMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("GPUSIM_CONFIG", GPUSIM_SOURCE_DIR "/configs/tesla_v100.cfg", 1);
    setenv("GPUSIM_QUIET", "1", 1);
    setenv("GPUSIM_FUNCTIONAL", "1", 1);
    ASSERT_EQ(cuInit(0), 0);
    void* primary = nullptr;
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, 0), 0);
    ASSERT_EQ(cuCtxSetCurrent(primary), 0);
    properties_.type = 1, properties_.location = {1, 0}, properties_.handle_types = 1;
    ASSERT_EQ(cuMemGetAllocationGranularity(&piece_, &properties_, 0), 0);
  }
  static int error(Code code) { return static_cast<int>(code); }
  static int number(unsigned long long data, unsigned blocks) {
    void *module = nullptr, *function = nullptr;
    EXPECT_EQ(cuModuleLoadData(&module, kPtx), 0);
    EXPECT_EQ(cuModuleGetFunction(&function, module, "number"), 0);
    void* arguments[] = {&data};
    const int launched = cuLaunchKernel(function, blocks, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr);
    return launched != 0 ? launched : cuCtxSynchronize();
  }
  Properties properties_{};
  Access access_{{1, 0}, 3};
  size_t piece_ = 0;
};

TEST_F(VirtualMemory, PiecesSideBySideAreOneArray) {
  unsigned long long base = 0, first = 0, second = 0;
  size_t before = 0, with = 0, total = 0;
  ASSERT_EQ(cuMemGetInfo_v2(&before, &total), 0);
  ASSERT_EQ(cuMemAddressReserve(&base, 4 * piece_, 0, 0, 0), 0);
  ASSERT_EQ(cuMemCreate(&first, piece_, &properties_, 0), 0);
  ASSERT_EQ(cuMemCreate(&second, piece_, &properties_, 0), 0);
  ASSERT_EQ(cuMemGetInfo_v2(&with, &total), 0);
  EXPECT_EQ(before - with, 2 * piece_);
  ASSERT_EQ(cuMemMap(base, piece_, 0, first, 0), 0);
  ASSERT_EQ(cuMemMap(base + piece_, piece_, 0, second, 0), 0);
  EXPECT_EQ(cuMemMap(base, piece_, 0, second, 0), error(Code::kInvalidValue)) << "mapped already";
  EXPECT_EQ(cuMemsetD32_v2(base, 7, 16), error(Code::kInvalidValue)) << "no access yet";
  EXPECT_EQ(cuMemSetAccess(base, 3 * piece_, &access_, 1), error(Code::kInvalidValue)) << "the third is open";
  ASSERT_EQ(cuMemSetAccess(base, 2 * piece_, &access_, 1), 0);
  unsigned long long flags = 0;
  ASSERT_EQ(cuMemGetAccess(&flags, &access_.location, base + piece_ + 5), 0);
  EXPECT_EQ(flags, 3u);
  const size_t count = 2 * piece_ / 4;
  ASSERT_EQ(cuMemsetD32_v2(base, 7, count), 0);
  ASSERT_EQ(number(base, static_cast<unsigned>(count / 256)), 0);
  std::vector<unsigned> values(count);
  ASSERT_EQ(cuMemcpyDtoH_v2(values.data(), base, 2 * piece_), 0);
  for (size_t i = 0; i < count; i += 1001) ASSERT_EQ(values[i], 7 + i);

  // The pieces in the other order, at other addresses: what they hold stays.
  EXPECT_EQ(cuMemAddressFree(base, 4 * piece_), error(Code::kInvalidValue)) << "mapped";
  ASSERT_EQ(cuMemUnmap(base, 2 * piece_), 0);
  EXPECT_EQ(cuMemcpyDtoH_v2(values.data(), base, 4), error(Code::kInvalidValue));
  ASSERT_EQ(cuMemMap(base + 2 * piece_, piece_, 0, second, 0), 0);
  ASSERT_EQ(cuMemMap(base + 3 * piece_, piece_, 0, first, 0), 0);
  ASSERT_EQ(cuMemSetAccess(base + 2 * piece_, 2 * piece_, &access_, 1), 0);
  ASSERT_EQ(cuMemcpyDtoH_v2(values.data(), base + 2 * piece_, 2 * piece_), 0);
  EXPECT_EQ(values[0], 7 + count / 2);
  EXPECT_EQ(values[count / 2 + 1], 8u);
  EXPECT_EQ(cuMemRelease(first), 0);
  EXPECT_EQ(cuMemRelease(first), error(Code::kInvalidValue));
  EXPECT_EQ(cuMemRelease(second), 0);
  ASSERT_EQ(cuMemUnmap(base + 2 * piece_, 2 * piece_), 0);
  ASSERT_EQ(cuMemGetInfo_v2(&with, &total), 0);
  EXPECT_EQ(with, before);
  EXPECT_EQ(cuMemAddressFree(base, 4 * piece_), 0);
}

TEST_F(VirtualMemory, ErrorsAreThoseOfTheManual) {
  unsigned long long handle = 0, base = 0, pointer = 0;
  EXPECT_EQ(cuMemCreate(&handle, piece_ - 1, &properties_, 0), error(Code::kInvalidValue));
  EXPECT_EQ(cuMemCreate(&handle, size_t{1} << 50, &properties_, 0), error(Code::kMemoryAllocation));
  Properties other = properties_;
  other.location.id = 1;
  EXPECT_EQ(cuMemCreate(&handle, piece_, &other, 0), error(Code::kInvalidDevice));
  EXPECT_EQ(cuMemAddressReserve(&base, 100, 0, 0, 0), error(Code::kInvalidValue));
  EXPECT_EQ(cuMemMap(piece_, piece_, 0, 12345, 0), error(Code::kInvalidValue));
  // Pieces take of what other allocations may have.
  size_t free_bytes = 0, total = 0;
  ASSERT_EQ(cuMemGetInfo_v2(&free_bytes, &total), 0);
  ASSERT_EQ(cuMemCreate(&handle, free_bytes / piece_ * piece_, &properties_, 0), 0);
  EXPECT_EQ(cuMemAlloc_v2(&pointer, 2 * piece_), error(Code::kMemoryAllocation));
  ASSERT_EQ(cuMemRelease(handle), 0);
  EXPECT_EQ(cuMemAlloc_v2(&pointer, 2 * piece_), 0);
}

TEST_F(VirtualMemory, AnotherHandleOfAFileIsTheSameMemory) {
  unsigned long long base = 0, first = 0, second = 0;
  int file = -1;
  ASSERT_EQ(cuMemAddressReserve(&base, 2 * piece_, 0, 0, 0), 0);
  ASSERT_EQ(cuMemCreate(&first, piece_, &properties_, 0), 0);
  ASSERT_EQ(cuMemExportToShareableHandle(&file, first, 1, 0), 0);
  ASSERT_EQ(cuMemImportFromShareableHandle(&second, reinterpret_cast<void*>(static_cast<intptr_t>(file)), 1),
            0);
  close(file);
  ASSERT_EQ(cuMemMap(base, piece_, 0, first, 0), 0);
  ASSERT_EQ(cuMemMap(base + piece_, piece_, 0, second, 0), 0);
  ASSERT_EQ(cuMemSetAccess(base, 2 * piece_, &access_, 1), 0);
  ASSERT_EQ(number(base, 1), 0);
  unsigned value = 0;
  ASSERT_EQ(cuMemcpyDtoH_v2(&value, base + piece_ + 4 * 200, 4), 0);
  EXPECT_EQ(value, 200u);
}

}  // namespace
}  // namespace gpusim::runtime
