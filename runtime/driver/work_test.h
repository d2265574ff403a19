// A kernel, a stream and two words of memory, as tests of the driver library use them.
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>

#include "runtime/cudart/abi.h"
#include "runtime/device/error.h"

extern "C" {
using CUdeviceptr = unsigned long long;
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void**, int);
int cuCtxSetCurrent(void*);
int cuModuleLoadData(void**, const void*);
int cuModuleGetFunction(void**, void*, const char*);
int cuMemAlloc_v2(CUdeviceptr*, size_t);
int cuMemcpyDtoH_v2(void*, CUdeviceptr, size_t);
int cuMemsetD32Async(CUdeviceptr, unsigned, size_t, cudaStream_t);
int cuStreamCreateWithPriority(cudaStream_t*, unsigned, int);
}

namespace gpusim::runtime {

/// p[0] += v.
inline const char* const kAdd = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry add(.param .u64 p, .param .u32 v)
{
  .reg .b32 %r<4>; .reg .b64 %rd1;
  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [v];
  ld.global.u32 %r2, [%rd1];
  add.u32 %r3, %r1, %r2;
  st.global.u32 [%rd1], %r3;
  ret;
}
.visible .entry nothing() { ret; }
.visible .global .attribute(.managed) .align 4 .u32 total = 7;
)";

class DriverWork : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("GPUSIM_CONFIG", GPUSIM_SOURCE_DIR "/configs/tesla_v100.cfg", 1);
    setenv("GPUSIM_QUIET", "1", 1);
    if (functional()) setenv("GPUSIM_FUNCTIONAL", "1", 1);
    ASSERT_EQ(cuInit(0), 0);
    void* primary = nullptr;
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, 0), 0);
    ASSERT_EQ(cuCtxSetCurrent(primary), 0);
    ASSERT_EQ(cuStreamCreateWithPriority(&stream_, 1, -2), 0);
    ASSERT_EQ(cuModuleLoadData(&module_, kAdd), 0);
    ASSERT_EQ(cuModuleGetFunction(&add_, module_, "add"), 0);
    ASSERT_EQ(cuMemAlloc_v2(&word_, 8), 0);
    ASSERT_EQ(cuMemsetD32Async(word_, 0, 2, stream_), 0);
  }
  [[nodiscard]] virtual bool functional() const { return true; }
  [[nodiscard]] uint64_t value() const {
    uint64_t v = 0;
    EXPECT_EQ(cuMemcpyDtoH_v2(&v, word_, 8), 0);
    return v;
  }
  static int error(Code code) { return static_cast<int>(code); }

  cudaStream_t stream_ = nullptr;
  void *module_ = nullptr, *add_ = nullptr;
  CUdeviceptr word_ = 0;
};

}  // namespace gpusim::runtime
