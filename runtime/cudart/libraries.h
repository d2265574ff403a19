// Device code that a program loads itself: libraries of the runtime, libraries and modules of the driver,
// which are one thing by several names. A module that one library of ours has loaded is known to the others.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "runtime/cudart/api.h"

namespace gpusim::runtime::cudart {

/// Options of the compiler, as programs pass them (cudaJitOption, CUjit_option). What they say of machine
/// code has no meaning here; logs are filled.
struct JitOptions {
  const int* names = nullptr;
  void** values = nullptr;
  unsigned count = 0;
};

/// What was wrong goes into the log of errors, as far as there is room; the other stays empty.
void write_logs(const JitOptions& options, const std::string& errors);

/// Of PTX text, of a fat binary with or without its wrapper, or of linked_image(). `known`: how many bytes
/// there are, where that is known. Throws core::InputError for what is damaged.
[[nodiscard]] std::vector<Module::Text> texts_of(const Device& device, const void* image,
                                                 std::optional<size_t> known, const std::string& name);
/// What the linker makes of texts: one image, which is text as well.
[[nodiscard]] std::string linked_image(const std::vector<Module::Text>& texts);
/// `lazy`: what is wrong with the text is told when something of it is asked for.
[[nodiscard]] cudaError_t load_image(Module** module, const void* image, const std::string& name,
                                     const JitOptions& options = {}, bool lazy = false);
[[nodiscard]] cudaError_t load_image_file(Module** module, const char* file, const JitOptions& options = {});
void unload(Device& device, Module* module);
/// Also of the program's own code, which only the process's end unloads. Throws Failure
/// (kInvalidResourceHandle) for what is no handle.
[[nodiscard]] Module& loaded_module(Module* handle);
/// Throw Failure (kSymbolNotFound) where the module has none of that name.
[[nodiscard]] Kernel& kernel_in(Device& device, Module& module, const char* name);
[[nodiscard]] Module::Global global_in(Module& module, const char* name);
/// The names of its kernels, in the order of the text.
[[nodiscard]] std::vector<std::string> kernels_in(Module& module);

}  // namespace gpusim::runtime::cudart
