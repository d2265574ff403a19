// What nvcc puts into host programs: registration of fat binaries, kernels and variables, and launches.
#include <fmt/format.h>

#include <cstring>
#include <list>

#include "runtime/cudart/api.h"
#include "runtime/device/of_thread.h"
#include "runtime/fatbin/fat_binary.h"
#include "simcore/text/input_error.h"
#include "simcore/text/kernel_name.h"

namespace gpusim::runtime::cudart {

namespace {

/// __fatDeviceText of a host program.
struct Wrapper {
  uint32_t magic, version;
  const std::byte* binary;
  void* linked;  ///< version 2: fat binaries of the objects that were linked (-rdc=true), until a null
};

struct Program {
  std::vector<const std::byte*> binaries;
  bool linked = false;  ///< -rdc=true
  Module* module = nullptr;
  uint64_t number = 0;
};

struct Variable {
  Program* program;
  std::string name;
  uint64_t bytes;
};

struct Registry {
  std::mutex mutex;
  std::list<Program> programs;
  std::unordered_map<const void*, std::pair<Program*, std::string>> functions;
  std::unordered_map<const void*, Variable> variables;
  struct Managed {
    Program* program;
    void** pointer;
    std::string name;
  };
  std::vector<Managed> managed;
};
Registry& registry() {
  static auto* const made = new Registry;  // programs call until the very end
  return *made;
}

/// The PTX of a program's objects.
std::vector<Module::Text> texts_of(const Device& device, const Program& program) {
  std::vector<Module::Text> texts;
  bool only_cubins = false;
  for (const std::byte* binary : program.binaries) {
    const std::vector<FatEntry> entries = fat_entries(fat_binary_at(binary));
    const FatEntry* best = newest_ptx(entries, static_cast<int>(device.machine().gpu.compute_capability));
    if (best == nullptr) {
      only_cubins = only_cubins || !entries.empty();
      continue;
    }
    std::string text = ptx_text(*best);
    // The toolkit's library of the device runtime, which the device has itself: it calls NVIDIA's driver.
    if (text.find("__cuda_syscall_cnp") != std::string::npos) continue;
    // nvcc names it like the CUDA source, whose lines are others.
    texts.push_back(
        {best->name.empty() ? fmt::format("fat binary {}", program.number) : "PTX of " + best->name,
         std::move(text)});
  }
  if (texts.empty())
    throw Failure(Code::kNoKernelImageForDevice,
                  only_cubins ? "the program holds machine code only and no PTX\n  hint: compile with nvcc "
                                "-arch=sm_75, or -gencode arch=compute_75,code=compute_75"
                              : "the program holds no device code");
  return texts;
}

Module& module_of(Device& device, Program& program) {
  if (program.module == nullptr) {
    try {
      program.module = &device.add_module(texts_of(device, program),
                                          program.linked ? Module::Made::kByToolkit : Module::Made::kWhole);
    } catch (const core::InputError& error) {
      throw Failure(Code::kInvalidKernelImage, error.what());
    }
  }
  return *program.module;
}

/// Managed variables are pointers of the host program, which it uses without a call before.
void set_managed(Device& device) {
  Registry& r = registry();
  std::vector<Registry::Managed> open;
  {
    const std::lock_guard lock(r.mutex);
    open.swap(r.managed);
  }
  for (const Registry::Managed& m : open) {
    const auto global = module_of(device, *m.program).global(m.name);
    if (!global) continue;
    *m.pointer = reinterpret_cast<void*>(global->address);
    // The program names the variable by what it is, not by the pointer.
    const std::lock_guard lock(r.mutex);
    r.variables[*m.pointer] = r.variables.at(m.pointer);
  }
}

struct Configuration {
  dim3 grid, block;
  size_t shared;
  cudaStream_t stream;
};
std::vector<Configuration>& configurations() { return of_thread<std::vector<Configuration>>(); }

LaunchRequest request_of(Kernel& kernel, dim3 grid, dim3 block, size_t shared, void** arguments) {
  LaunchRequest r;
  r.kernel = &kernel;
  r.grid = {grid.x, grid.y, grid.z};
  r.block = {block.x, block.y, block.z};
  require(shared <= UINT32_MAX);
  r.dynamic_shared = static_cast<uint32_t>(shared);
  r.arguments = arguments;
  // Kernels without parameters are launched with any pointer.
  static void* none[1] = {nullptr};
  if (r.arguments == nullptr) r.arguments = none;
  return r;
}

cudaError_t launch(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                   cudaStream_t stream, Default null, bool cooperative) {
  return call([&](Device& device) {
    LaunchRequest r = request_of(kernel_of(device, function), grid, block, shared, arguments);
    r.cooperative = cooperative;
    as_launch([&] { submit_launch(device, r, stream_of(device, stream, null), function); });
  });
}

cudaError_t launch_ex(const cudaLaunchConfig_t* config, const void* function, void** arguments,
                      Default null) {
  if (config == nullptr) return returned(Failure(Code::kInvalidValue));
  return call([&](Device& device) {
    LaunchRequest r = request_of(kernel_of(device, function), config->gridDim, config->blockDim,
                                 config->dynamicSmemBytes, arguments);
    read_launch_attributes(device, config->attrs, config->numAttrs, r);
    as_launch([&] { submit_launch(device, r, stream_of(device, config->stream, null), function); });
  });
}

}  // namespace

Kernel& kernel_of(Device& device, const void* function) {
  device.check();
  Registry& r = registry();
  std::pair<Program*, std::string> found{nullptr, ""};
  {
    const std::lock_guard lock(r.mutex);
    const auto at = r.functions.find(function);
    if (at != r.functions.end()) found = at->second;
  }
  if (found.first == nullptr) {
    // The handle of cudaGetFuncBySymbol(), or one that the driver library has given.
    Kernel* const kernel = device.kernel_at(function);
    constexpr Code kUnknownHandle =
        GPUSIM_CUDART >= 13 ? Code::kInvalidResourceHandle : Code::kInvalidDeviceFunction;
    require(kernel != nullptr, function == nullptr ? Code::kInvalidDeviceFunction : kUnknownHandle);
    return *kernel;
  }
  return device.kernel(module_of(device, *found.first), found.second);
}

Module& module_of_program(Device& device, void** handle) {
  return module_of(device, *reinterpret_cast<Program*>(handle));
}

Symbol symbol_of(Device& device, const void* variable) {
  Registry& r = registry();
  Variable found{};
  {
    const std::lock_guard lock(r.mutex);
    const auto at = r.variables.find(variable);
    if (at != r.variables.end()) found = at->second;
  }
  device.check();
  require(found.program != nullptr, Code::kInvalidSymbol);
  const auto global = module_of(device, *found.program).global(found.name);
  require(global.has_value(), Code::kInvalidSymbol);
  return {reinterpret_cast<std::byte*>(global->address), found.bytes};
}

// The functions that the generated code calls.

GPUSIM_EXPORT void** __cudaRegisterFatBinary(void* fat_text) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  Program& program = r.programs.emplace_back();
  program.number = r.programs.size() - 1;
  const auto* const wrapper = static_cast<const Wrapper*>(fat_text);
  if (wrapper->magic == kFatBinaryWrapperMagic) {
    program.linked = wrapper->version >= 2 && wrapper->linked != nullptr;
    if (program.linked) {
      for (auto* const* part = static_cast<std::byte* const*>(wrapper->linked); *part != nullptr; ++part) {
        // Each is a wrapper of its own, or the fat binary itself.
        const auto* inner = reinterpret_cast<const Wrapper*>(*part);
        program.binaries.push_back(inner->magic == kFatBinaryWrapperMagic ? inner->binary : *part);
      }
    } else if (wrapper->binary != nullptr) {
      program.binaries.push_back(wrapper->binary);
    }
  }
  return reinterpret_cast<void**>(&program);
}

GPUSIM_EXPORT void __cudaRegisterFatBinaryEnd(void**) {}

GPUSIM_EXPORT void __cudaUnregisterFatBinary(void** handle) {
  Registry& r = registry();
  const auto* const program = reinterpret_cast<Program*>(handle);
  // The last work is done while the program's data is still there.
  if (Device* device = existing_device()) {
    const std::lock_guard lock(device->mutex());
    if (program != nullptr && program->number == 0) device->finish();
  }
  const std::lock_guard lock(r.mutex);
  std::erase_if(r.functions, [program](const auto& f) { return f.second.first == program; });
  std::erase_if(r.variables, [program](const auto& v) { return v.second.program == program; });
}

GPUSIM_EXPORT void __cudaRegisterFunction(void** handle, const char* host, char*, const char* name, int,
                                          uint3*, uint3*, dim3*, dim3*, int*) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  r.functions[host] = {reinterpret_cast<Program*>(handle), name};
}

GPUSIM_EXPORT void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, size_t bytes,
                                     int, int) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  r.variables[host] = {reinterpret_cast<Program*>(handle), name, bytes};
}

GPUSIM_EXPORT void __cudaRegisterManagedVar(void** handle, void** host, char*, const char* name, int,
                                            size_t bytes, int, int) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  r.variables[host] = {reinterpret_cast<Program*>(handle), name, bytes};
  r.managed.push_back({reinterpret_cast<Program*>(handle), host, name});
}

GPUSIM_EXPORT void __cudaRegisterHostVar(void**, const char*, char*, size_t) {}
GPUSIM_EXPORT int __cudaRegisterUnifiedTable(void**, void*) { return 0; }

GPUSIM_EXPORT char __cudaInitModule(void**) {
  return call([](Device& device) { set_managed(device); }) == 0 ? 1 : 0;
}

GPUSIM_EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                                   cudaStream_t stream) {
  configurations().push_back({grid, block, shared, stream});
  return 0;
}

GPUSIM_EXPORT cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  if (configurations().empty()) return returned(Failure(Code::kMissingConfiguration));
  const Configuration c = configurations().back();
  configurations().pop_back();
  *grid = c.grid;
  *block = c.block;
  *shared = c.shared;
  *static_cast<cudaStream_t*>(stream) = c.stream;
  return 0;
}

// A kernel's handle is its host function.
GPUSIM_EXPORT cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(function));
  return 0;
}
GPUSIM_EXPORT cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  return call([&](Device& device) {
    require(kernel != nullptr);
    (void)kernel_of(device, function);
    *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(function));
  });
}
GPUSIM_EXPORT cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* symbol) {
  return call([&](Device& device) {
    require(function != nullptr);
    try {
      *function = reinterpret_cast<cudaFunction_t>(&kernel_of(device, symbol));
    } catch (const Failure& failure) {
      require(failure.code() != Code::kInvalidResourceHandle, Code::kInvalidDeviceFunction);
      throw;
    }
  });
}

#define GPUSIM_LAUNCH(name, null, cooperative)                                                  \
  GPUSIM_EXPORT cudaError_t name(const void* function, dim3 grid, dim3 block, void** arguments, \
                                 size_t shared, cudaStream_t stream) {                          \
    return launch(function, grid, block, arguments, shared, stream, null, cooperative);         \
  }
GPUSIM_LAUNCH(cudaLaunchKernel, Default::kLegacy, false)
GPUSIM_LAUNCH(cudaLaunchKernel_ptsz, Default::kThread, false)
GPUSIM_LAUNCH(__cudaLaunchKernel, Default::kLegacy, false)
GPUSIM_LAUNCH(__cudaLaunchKernel_ptsz, Default::kThread, false)
GPUSIM_LAUNCH(cudaLaunchCooperativeKernel, Default::kLegacy, true)
GPUSIM_LAUNCH(cudaLaunchCooperativeKernel_ptsz, Default::kThread, true)

GPUSIM_EXPORT cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                              void** arguments) {
  return launch_ex(config, function, arguments, Default::kLegacy);
}
GPUSIM_EXPORT cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t* config, const void* function,
                                                   void** arguments) {
  return launch_ex(config, function, arguments, Default::kThread);
}

GPUSIM_EXPORT cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* a, const void* function) {
  return call([&](Device& device) {
    require(a != nullptr);
    Kernel& kernel = kernel_of(device, function);
    const isa::KernelImage& image = kernel.image();
    const int capability = static_cast<int>(device.machine().gpu.compute_capability);
    *a = {};
    a->sharedSizeBytes = image.static_shared_bytes;
    a->constSizeBytes = kernel.module().constant_bytes();
    a->localSizeBytes = image.local_bytes;
    a->maxThreadsPerBlock = device.most_threads(kernel);
    a->numRegs = static_cast<int>(image.registers);
    a->ptxVersion = image.target_sm;
    a->binaryVersion = capability;
    a->maxDynamicSharedSizeBytes = static_cast<int>(device.most_dynamic_shared(kernel));
    a->preferredShmemCarveout = kernel.carveout;
#if GPUSIM_CUDART >= 12
    ClusterAttributes clusters;
    read_cluster_attributes(kernel, image, clusters);
    a->clusterDimMustBeSet = clusters.must_be_set;
    a->requiredClusterWidth = clusters.required[0];
    a->requiredClusterHeight = clusters.required[1];
    a->requiredClusterDepth = clusters.required[2];
    a->clusterSchedulingPolicyPreference = clusters.policy;
    a->nonPortableClusterSizeAllowed = clusters.non_portable;
#endif
  });
}

GPUSIM_EXPORT cudaError_t cudaFuncSetAttribute(const void* function, int attribute, int value) {
  return call([&](Device& device) {
    Kernel& kernel = kernel_of(device, function);
    constexpr int kMaxDynamicShared = 8, kCarveout = 9;
    if (attribute == kMaxDynamicShared) {
      require(device.set_max_dynamic_shared(kernel, value));
    } else if (attribute == kCarveout) {
      require(value >= -1 && value <= 100);
      kernel.carveout = value;
    } else {
      set_cluster_attribute(kernel, attribute, value);
    }
  });
}

GPUSIM_EXPORT cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, int attribute, int value,
                                                          int device) {
  if (device != 0) return returned(Failure(Code::kInvalidDevice));
  return cudaFuncSetAttribute(kernel, attribute, value);
}

GPUSIM_EXPORT cudaError_t cudaFuncSetCacheConfig(const void* function, int config) {
  return call([&](Device& device) {
    (void)kernel_of(device, function);
    require(config >= 0 && config <= 3);
  });
}
GPUSIM_EXPORT cudaError_t cudaFuncSetSharedMemConfig(const void* function, int) {
  return call([&](Device& device) { (void)kernel_of(device, function); });
}

GPUSIM_EXPORT cudaError_t cudaFuncGetName(const char** name, const void* function) {
  return call([&](Device& device) {
    require(name != nullptr);
    *name = kernel_of(device, function).name().c_str();
  });
}

GPUSIM_EXPORT cudaError_t cudaFuncGetParamInfo(const void* function, size_t index, size_t* offset,
                                               size_t* size) {
  return call([&](Device& device) {
    const isa::KernelImage& image = kernel_of(device, function).image();
    require(offset != nullptr && index < image.params.size());
    *offset = image.params[index].offset;
    if (size != nullptr) *size = image.params[index].bytes;
  });
}

namespace {
LaunchRequest configured(Device& device, const void* function, const cudaLaunchConfig_t& config) {
  require(config.blockDim.x * config.blockDim.y * config.blockDim.z > 0);
  LaunchRequest r = request_of(kernel_of(device, function), config.gridDim, config.blockDim,
                               config.dynamicSmemBytes, nullptr);
  read_launch_attributes(device, config.attrs, config.numAttrs, r);
  return r;
}

cudaError_t occupancy(int* blocks, const void* function, int threads, size_t dynamic_shared) {
  return call([&](Device& device) {
    require(blocks != nullptr && threads > 0);
    Kernel& kernel = kernel_of(device, function);
    const bool fits = threads <= static_cast<int>(device.machine().sm.max_threads_per_block);
    *blocks = fits ? device.blocks_per_sm(kernel, static_cast<uint32_t>(threads), dynamic_shared) : 0;
  });
}
}  // namespace

GPUSIM_EXPORT cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                                        int threads, size_t dynamic_shared) {
  return occupancy(blocks, function, threads, dynamic_shared);
}
GPUSIM_EXPORT cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* function, int threads, size_t dynamic_shared, unsigned flags) {
  constexpr unsigned kDisableCachingOverride = 1;
  if (flags > kDisableCachingOverride) return returned(Failure(Code::kInvalidValue));
  return occupancy(blocks, function, threads, dynamic_shared);
}
GPUSIM_EXPORT cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* function,
                                                         const cudaLaunchConfig_t* config) {
  return call([&](Device& device) {
    require(clusters != nullptr && config != nullptr);
    const LaunchRequest r = configured(device, function, *config);
    *clusters = active_clusters(device, r);
  });
}
GPUSIM_EXPORT cudaError_t cudaOccupancyMaxPotentialClusterSize(int* blocks, const void* function,
                                                               const cudaLaunchConfig_t* config) {
  return call([&](Device& device) {
    require(blocks != nullptr && config != nullptr);
    *blocks = largest_cluster(device, configured(device, function, *config));
  });
}
GPUSIM_EXPORT cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* function,
                                                                    int blocks, int threads) {
  return call([&](Device& device) {
    require(bytes != nullptr && blocks > 0 && threads > 0);
    *bytes = device.available_shared(kernel_of(device, function), static_cast<uint32_t>(threads), blocks);
  });
}

GPUSIM_EXPORT cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  return call([&](Device& device) {
    require(pointer != nullptr);
    *pointer = symbol_of(device, symbol).address;
  });
}
GPUSIM_EXPORT cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  return call([&](Device& device) {
    require(bytes != nullptr);
    *bytes = symbol_of(device, symbol).bytes;
  });
}

}  // namespace gpusim::runtime::cudart
