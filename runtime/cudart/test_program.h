// A program for tests of the CUDA runtime library: its kernels and variables are registered as nvcc's code
// does it, from a fat binary made here.
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cudart/abi.h"
#include "runtime/device/error.h"

extern "C" {
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFatBinaryEnd(void**);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*, dim3*, int*);
void __cudaRegisterManagedVar(void**, void**, char*, const char*, int, size_t, int, int);
void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int);
cudaError_t cudaMalloc(void**, size_t);
cudaError_t cudaMemcpy(void*, const void*, size_t, cudaMemcpyKind);
cudaError_t cudaMemset(void*, int, size_t);
cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, size_t, cudaStream_t);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaGetDriverEntryPointByVersion(const char*, void**, unsigned, unsigned long long, int*);
cudaError_t cudaStreamCreate(cudaStream_t*);
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned);
cudaError_t cudaEventCreate(cudaEvent_t*);
cudaError_t cudaEventDestroy(cudaEvent_t);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t);
cudaError_t cudaEventSynchronize(cudaEvent_t);
cudaError_t cudaEventElapsedTime(float*, cudaEvent_t, cudaEvent_t);
}

namespace gpusim::runtime::test_program {

/// y[i] = a * y[i] + offset for i < n; `offset` is a constant variable. `stray` stores to address 16. `count`
/// adds the number of threads to a counter, `share` to a managed variable. `greet` prints "Hi".
inline const char* const kPtx = R"(.version 7.0
.target sm_70
.address_size 64
.const .align 4 .f32 offset;
.global .align 4 .u32 counter;
.global .attribute(.managed) .align 4 .b8 shared_total[4] = {5, 0, 0, 0};
.visible .entry scale(.param .u64 y, .param .f32 a, .param .u32 n)
{
  .reg .pred %p; .reg .b32 %r<6>; .reg .f32 %f<5>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [y]; ld.param.f32 %f1, [a]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p, %r5, %r1;
  @%p bra done;
  mul.wide.u32 %rd2, %r5, 4; add.u64 %rd3, %rd1, %rd2;
  ld.global.f32 %f2, [%rd3]; ld.const.f32 %f3, [offset];
  fma.rn.f32 %f4, %f1, %f2, %f3;
  st.global.f32 [%rd3], %f4;
done: ret;
}
.visible .entry stray()
{
  .reg .b64 %rd1; .reg .b32 %r1;
  mov.u64 %rd1, 16; mov.u32 %r1, 1;
  st.global.u32 [%rd1], %r1;
  ret;
}
.visible .entry count()
{
  .reg .b32 %r1;
  atom.global.add.u32 %r1, [counter], 1;
  ret;
}
.visible .entry share()
{
  .reg .b32 %r1;
  atom.global.add.u32 %r1, [shared_total], 1;
  ret;
}
.visible .entry stop()
{
  trap;
}
.extern .func (.param .b32 length) vprintf (.param .b64 format, .param .b64 values);
.global .align 1 .b8 greeting[4] = {72, 105, 10, 0};
.visible .entry greet()
{
  .reg .b64 %rd<3>; .reg .b32 %r1;
  mov.u64 %rd1, greeting; cvta.global.u64 %rd2, %rd1;
  {
    .param .b64 format; .param .b64 values; .param .b32 length;
    st.param.b64 [format], %rd2; st.param.b64 [values], %rd2;
    call.uni (length), vprintf, (format, values);
    ld.param.b32 %r1, [length];
  }
  ret;
}
)";

template <class T>
void put(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline std::string fat_binary() {
  std::string ptx = kPtx;
  ptx.resize((ptx.size() + 8) / 8 * 8, '\0');
  std::string body;
  put<uint16_t>(body, 1), put<uint16_t>(body, 0x101), put<uint32_t>(body, 64),
      put<uint64_t>(body, ptx.size());
  put<uint32_t>(body, 0), put<uint32_t>(body, 0), put<uint16_t>(body, 0), put<uint16_t>(body, 7);
  put<uint32_t>(body, 70), put<uint32_t>(body, 0), put<uint32_t>(body, 0), put<uint64_t>(body, 0x11);
  put<uint64_t>(body, 0), put<uint64_t>(body, 0);
  body += ptx;
  std::string all;
  put<uint32_t>(all, 0xBA55ED50), put<uint16_t>(all, 1), put<uint16_t>(all, 16),
      put<uint64_t>(all, body.size());
  return all + body;
}

// What the host program has in place of kernels and variables: their addresses are all that counts.
inline char scale_stub, stray_stub, count_stub, share_stub, greet_stub, stop_stub, offset_shadow[4],
    counter_shadow[4];
inline unsigned* managed_variable;

struct Wrapper {
  uint32_t magic, version;
  const char* binary;
  void* linked;
};

class Cudart : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("GPUSIM_CONFIG", GPUSIM_SOURCE_DIR "/configs/tesla_v100.cfg", 1);
    setenv("GPUSIM_QUIET", "1", 1);
    if (functional()) setenv("GPUSIM_FUNCTIONAL", "1", 1);
    static const auto& binary = *new std::string(fat_binary());  // as a program has it: until its very end
    static Wrapper wrapper{0x466243B1, 1, binary.data(), nullptr};
    void** handle = __cudaRegisterFatBinary(&wrapper);
    for (const auto& [stub, name] : {std::pair{&scale_stub, "scale"},
                                     {&stray_stub, "stray"},
                                     {&count_stub, "count"},
                                     {&share_stub, "share"},
                                     {&stop_stub, "stop"},
                                     {&greet_stub, "greet"}})
      __cudaRegisterFunction(handle, stub, stub, name, -1, nullptr, nullptr, nullptr, nullptr, nullptr);
    __cudaRegisterVar(handle, offset_shadow, offset_shadow, "offset", 0, 4, 1, 0);
    __cudaRegisterVar(handle, counter_shadow, counter_shadow, "counter", 0, 4, 0, 0);
    __cudaRegisterManagedVar(handle, reinterpret_cast<void**>(&managed_variable), nullptr, "shared_total", 0,
                             4, 0, 0);
    __cudaRegisterFatBinaryEnd(handle);
    program_ = handle;
  }
  [[nodiscard]] virtual bool functional() const { return true; }

  static cudaError_t scale(float* y, float a, unsigned n, cudaStream_t stream = nullptr) {
    void* arguments[] = {&y, &a, &n};
    return cudaLaunchKernel(&scale_stub, {(n + 127) / 128, 1, 1}, {128, 1, 1}, arguments, 0, stream);
  }
  static float* device_floats(const std::vector<float>& values) {
    void* memory = nullptr;
    EXPECT_EQ(cudaMalloc(&memory, values.size() * 4), 0);
    EXPECT_EQ(cudaMemcpy(memory, values.data(), values.size() * 4, cudaMemcpyHostToDevice), 0);
    return static_cast<float*>(memory);
  }
  static std::vector<float> host_floats(const float* memory, size_t count) {
    std::vector<float> values(count);
    EXPECT_EQ(cudaMemcpy(values.data(), memory, count * 4, cudaMemcpyDeviceToHost), 0);
    return values;
  }
  static int error(Code code) { return static_cast<int>(code); }

  void** program_ = nullptr;
};

class TimedCudart : public Cudart {
 protected:
  [[nodiscard]] bool functional() const override { return false; }
};

}  // namespace gpusim::runtime::test_program
