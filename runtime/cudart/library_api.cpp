// Libraries of the runtime (CUDA 12.8), whose handles are those of the driver's: modules and kernels.
#include <algorithm>

#include "runtime/cudart/libraries.h"

namespace gpusim::runtime::cudart {

namespace {

/// cudaLibraryOption. `of_file`: no copy of the program's could be kept.
void check_options(const int* options, unsigned count, bool of_file) {
  constexpr int kUniversalTable = 0, kBinaryIsPreserved = 1;
  require(count == 0 || options != nullptr);
  for (unsigned i = 0; i < count; ++i)
    require(options[i] == kUniversalTable || (options[i] == kBinaryIsPreserved && !of_file));
}

}  // namespace

GPUSIM_EXPORT cudaError_t cudaLibraryLoadData(Module** library, const void* code, const int* jit_options,
                                              void** jit_values, unsigned jit_count, const int* options,
                                              void**, unsigned count) {
  const cudaError_t result = call([&](Device&) { check_options(options, count, false); });
  if (result != 0) return result;
  return load_image(library, code, "library", {jit_options, jit_values, jit_count}, jit_count == 0);
}
GPUSIM_EXPORT cudaError_t cudaLibraryLoadFromFile(Module** library, const char* file, const int* jit_options,
                                                  void** jit_values, unsigned jit_count, const int* options,
                                                  void**, unsigned count) {
  const cudaError_t result = call([&](Device&) { check_options(options, count, true); });
  if (result != 0) return result;
  return load_image_file(library, file, {jit_options, jit_values, jit_count});
}
GPUSIM_EXPORT cudaError_t cudaLibraryUnload(Module* library) {
  return call([&](Device& device) { unload(device, library); });
}
GPUSIM_EXPORT cudaError_t cudaLibraryGetKernel(Kernel** kernel, Module* library, const char* name) {
  return call([&](Device& device) {
    require(kernel != nullptr);
    Module& module = loaded_module(library);
    *kernel = &kernel_in(device, module, name);
  });
}
GPUSIM_EXPORT cudaError_t cudaLibraryGetGlobal(void** pointer, size_t* bytes, Module* library,
                                               const char* name) {
  return call([&](Device&) {
    require(pointer != nullptr || bytes != nullptr);
    const Module::Global global = global_in(loaded_module(library), name);
    if (pointer != nullptr) *pointer = reinterpret_cast<void*>(global.address);
    if (bytes != nullptr) *bytes = global.bytes;
  });
}
/// Of a variable that is __managed__.
GPUSIM_EXPORT cudaError_t cudaLibraryGetManaged(void** pointer, size_t* bytes, Module* library,
                                                const char* name) {
  return call([&](Device&) {
    require(pointer != nullptr || bytes != nullptr);
    const Module::Global global = global_in(loaded_module(library), name);
    require(global.managed, Code::kSymbolNotFound);
    if (pointer != nullptr) *pointer = reinterpret_cast<void*>(global.address);
    if (bytes != nullptr) *bytes = global.bytes;
  });
}
GPUSIM_EXPORT cudaError_t cudaLibraryGetKernelCount(unsigned* count, Module* library) {
  return call([&](Device&) {
    require(count != nullptr);
    *count = static_cast<unsigned>(kernels_in(loaded_module(library)).size());
  });
}
GPUSIM_EXPORT cudaError_t cudaLibraryEnumerateKernels(Kernel** kernels, unsigned count, Module* library) {
  return call([&](Device& device) {
    require(kernels != nullptr || count == 0);
    Module& module = loaded_module(library);
    const std::vector<std::string> names = kernels_in(module);
    for (size_t i = 0; i < std::min<size_t>(count, names.size()); ++i)
      kernels[i] = &device.kernel(module, names[i]);
  });
}
/// Functions that host and device share have no form here: a library has none.
GPUSIM_EXPORT cudaError_t cudaLibraryGetUnifiedFunction(void** function, Module* library, const char* name) {
  return call([&](Device&) {
    require(function != nullptr && name != nullptr);
    (void)loaded_module(library);
    throw Failure(Code::kSymbolNotFound);
  });
}

}  // namespace gpusim::runtime::cudart
