// The driver API: PTX is loaded when the program runs, and launched with kernelParams and with `extra`.
#include <cuda.h>

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
.global .align 4 .u32 bias = 100;
.visible .entry add(.param .u64 x, .param .u32 n)
{
  .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [x]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p, %r5, %r1;
  @%p ret;
  mul.wide.u32 %rd2, %r5, 4; add.u64 %rd3, %rd1, %rd2;
  ld.global.u32 %r6, [%rd3]; ld.global.u32 %r7, [bias];
  add.u32 %r6, %r6, %r7;
  st.global.u32 [%rd3], %r6;
  ret;
}
)";

int main() {
  constexpr unsigned kCount = 1000;
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction add;
  CUdeviceptr x, bias;
  size_t bytes = 0;
  MUST(cuInit(0));
  MUST(cuDeviceGet(&device, 0));
  MUST(cuDevicePrimaryCtxRetain(&context, device));
  MUST(cuCtxSetCurrent(context));
  MUST(cuModuleLoadData(&module, kPtx));
  MUST(cuModuleGetFunction(&add, module, "add"));
  MUST(cuModuleGetGlobal(&bias, &bytes, module, "bias"));
  MUST(cuMemAlloc(&x, kCount * 4));
  MUST(cuMemsetD32(x, 5, kCount));
  unsigned n = kCount;
  void* parameters[] = {&x, &n};
  MUST(cuLaunchKernel(add, (kCount + 127) / 128, 1, 1, 128, 1, 1, 0, nullptr, parameters, nullptr));
  const unsigned other = 1000;
  MUST(cuMemcpyHtoD(bias, &other, 4));
  struct {
    CUdeviceptr x;
    unsigned n;
  } block{x, n};
  size_t size = sizeof block.x + sizeof block.n;  // a driver refuses more than the parameters take
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &block, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  MUST(cuLaunchKernel(add, (kCount + 127) / 128, 1, 1, 128, 1, 1, 0, nullptr, nullptr, extra));
  std::vector<unsigned> result(kCount);
  MUST(cuMemcpyDtoH(result.data(), x, kCount * 4));
  bool good = bytes == 4;
  for (const unsigned v : result) good = good && v == 5 + 100 + 1000;
  MUST(cuMemFree(x));
  MUST(cuModuleUnload(module));
  MUST(cuDevicePrimaryCtxRelease(device));
  std::printf(good ? "PASS\n" : "FAIL\n");
  return good ? 0 : 1;
}
