// A kernel that goes behind the end of its block's shared memory.
#include <gtest/gtest.h>

#include "runtime/cudart/test_program.h"

extern "C" {
cudaError_t cudaLibraryLoadData(void**, const void*, const int*, void**, unsigned, const int*, void**,
                                unsigned);
cudaError_t cudaLibraryGetKernel(void**, void*, const char*);
}

namespace gpusim::runtime::test_program {
namespace {

/// *result: what was stored at `offset` of a block's 40 bytes.
const char* const kBehind = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry behind(.param .u64 result, .param .u32 offset)
{
  .reg .b32 %r<5>; .reg .b64 %rd1;
  .shared .align 4 .b8 row[40];
  ld.param.u64 %rd1, [result]; ld.param.u32 %r1, [offset];
  mov.u32 %r2, row; add.u32 %r3, %r2, %r1;
  st.shared.u32 [%r3], 77;
  ld.shared.u32 %r4, [%r3];
  st.global.u32 [%rd1], %r4;
  ret;
}
)";

cudaError_t store_at(unsigned offset, unsigned* stored) {
  void *library = nullptr, *kernel = nullptr, *result = nullptr;
  EXPECT_EQ(cudaLibraryLoadData(&library, kBehind, nullptr, nullptr, 0, nullptr, nullptr, 0), 0);
  EXPECT_EQ(cudaLibraryGetKernel(&kernel, library, "behind"), 0);
  EXPECT_EQ(cudaMalloc(&result, 4), 0);
  void* arguments[] = {&result, &offset};
  EXPECT_EQ(cudaLaunchKernel(kernel, {2, 1, 1}, {1, 1, 1}, arguments, 0, nullptr), 0);
  return cudaMemcpy(stored, result, 4, cudaMemcpyDeviceToHost);
}

TEST_F(Cudart, BehindTheEndOfSharedMemoryIsRoomAsFarAsTheKilobyte) {
  unsigned stored = 0;
  for (const unsigned offset : {36u, 40u, 1020u}) {
    stored = 0;
    ASSERT_EQ(store_at(offset, &stored), 0);
    EXPECT_EQ(stored, 77u);
  }
  testing::internal::CaptureStderr();
  EXPECT_EQ(store_at(1024, &stored), error(Code::kIllegalAddress));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("out of bounds"), std::string::npos);
}

TEST_F(Cudart, BehindTheEndOfSharedMemoryIsAMistakeToTheChecks) {
  setenv("GPUSIM_CHECK", "memory", 1);
  testing::internal::CaptureStderr();
  unsigned stored = 0;
  ASSERT_EQ(store_at(40, &stored), 0);
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find("kernel 'behind"), std::string::npos) << told;
}

}  // namespace
}  // namespace gpusim::runtime::test_program
