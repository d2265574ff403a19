// As programs do that compile at run time: asks for machine code, loads it and runs its kernel, with the
// functions that it is linked with and with those that it looks up by their names.
#include <dlfcn.h>

#include <cstddef>
#include <cstdio>
#include <vector>

extern "C" {
int nvrtcCompileProgram(void*, int options, const char* const*);
int nvrtcGetCUBINSize(void*, size_t*);
int nvrtcGetCUBIN(void*, char*);
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void**, int);
int cuCtxSetCurrent(void*);
int cuModuleLoadData(void**, const void*);
int cuModuleGetFunction(void**, void*, const char*);
int cuMemAlloc_v2(unsigned long long*, size_t);
int cuMemcpyDtoH_v2(void*, unsigned long long, size_t);
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                   void**);
}

namespace {

using SizeFunction = int (*)(void*, size_t*);
using CodeFunction = int (*)(void*, char*);

bool compile_and_run_with(SizeFunction size_of_code, CodeFunction code_of) {
  size_t size = 1;
  int errors = nvrtcCompileProgram(nullptr, 1, nullptr) | size_of_code(nullptr, &size);
  const bool none_of_virtual = errors == 0 && size == 0 && code_of(nullptr, nullptr) == 4;
  errors |= nvrtcCompileProgram(nullptr, 0, nullptr) | size_of_code(nullptr, &size);
  std::vector<char> code(size);
  errors |= code_of(nullptr, code.data());
  void *context = nullptr, *module = nullptr, *kernel = nullptr;
  unsigned long long at = 0;
  int value = 0;
  void* arguments[] = {&at};
  errors |= cuInit(0) | cuDevicePrimaryCtxRetain(&context, 0) | cuCtxSetCurrent(context);
  errors |= cuModuleLoadData(&module, code.data());
  if (errors == 0) errors |= cuModuleGetFunction(&kernel, module, "fill") | cuMemAlloc_v2(&at, sizeof value);
  if (errors == 0) errors |= cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr);
  errors |= cuMemcpyDtoH_v2(&value, at, sizeof value);
  const bool right = errors == 0 && none_of_virtual && value == 42;
  if (!right) std::printf("FAIL: errors %d, value %d\n", errors, value);
  return right;
}

}  // namespace

extern "C" int compile_and_run() {
  void* const nvrtc = dlopen("libnvrtc.so.13", RTLD_NOLOAD | RTLD_LAZY);
  const auto size_of_code = reinterpret_cast<SizeFunction>(dlsym(nvrtc, "nvrtcGetCUBINSize"));
  const auto code_of = reinterpret_cast<CodeFunction>(dlsym(nvrtc, "nvrtcGetCUBIN"));
  const bool right = nvrtc != nullptr && size_of_code != nullptr && code_of != nullptr &&
                     compile_and_run_with(nvrtcGetCUBINSize, nvrtcGetCUBIN) &&
                     compile_and_run_with(size_of_code, code_of) &&
                     dlsym(nvrtc, "nvrtcNoSuchFunction") == nullptr;
  std::puts(right ? "PASS" : "FAIL");
  return right ? 0 : 1;
}
