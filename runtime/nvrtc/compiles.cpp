// As programs do that compile at run time: asks for machine code, loads it and runs its kernel.
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

int compile_and_run() {
  size_t size = 1;
  int errors = nvrtcCompileProgram(nullptr, 1, nullptr) | nvrtcGetCUBINSize(nullptr, &size);
  const bool none_of_virtual = errors == 0 && size == 0 && nvrtcGetCUBIN(nullptr, nullptr) == 4;
  errors |= nvrtcCompileProgram(nullptr, 0, nullptr) | nvrtcGetCUBINSize(nullptr, &size);
  std::vector<char> code(size);
  errors |= nvrtcGetCUBIN(nullptr, code.data());
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
  std::printf("%s: errors %d, value %d\n", right ? "PASS" : "FAIL", errors, value);
  return right ? 0 : 1;
}
}
