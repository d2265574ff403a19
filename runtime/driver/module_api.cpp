// Modules and libraries from PTX or fat binaries, functions, launches, occupancy.
#include <algorithm>
#include <cstring>
#include <vector>

#include "runtime/cudart/libraries.h"
#include "runtime/driver/driver.h"

namespace gpusim::runtime::driver {

using cudart::load_image;
using cudart::load_image_file;
using cudart::loaded_module;

namespace {

LaunchRequest request_of(Size3 grid, Size3 block, unsigned shared) {
  LaunchRequest r;
  r.grid = grid, r.block = block;
  r.dynamic_shared = shared;
  return r;
}

/// `request` gives everything but the kernel and its parameters.
template <class Request>
CUresult launch_as(CUfunction f, Request request, CUstream stream, void** parameters, void** extra) {
  return in_context([&](Device& device) {
    device.check();
    LaunchRequest r = request(device);
    r.kernel = &kernel_of(f);
    require(parameters == nullptr || extra == nullptr);
    std::vector<std::byte> packed;
    static void* none[1] = {nullptr};
    r.arguments = parameters != nullptr ? parameters : none;
    if (extra != nullptr) {
      packed = cudart::packed_parameters(*r.kernel, extra);
      r.arguments = nullptr;
      r.parameters = packed;
    } else if (parameters == nullptr) {
      require(r.kernel->image().params.empty());
    }
    cudart::as_launch([&] { cudart::submit_launch(device, r, cudart::stream_of(device, stream), f); });
  });
}
CUresult launch(CUfunction f, const LaunchRequest& r, CUstream stream, void** parameters, void** extra) {
  return launch_as(
      f, [&](Device&) { return r; }, stream, parameters, extra);
}

}  // namespace

GPUSIM_DRIVER cuModuleLoad(CUmodule* module, const char* file) {
  const CUresult missing = missing_context();
  return missing != 0 ? missing : load_image_file(module, file);
}
GPUSIM_DRIVER cuModuleLoadData(CUmodule* module, const void* image) {
  const CUresult missing = missing_context();
  return missing != 0 ? missing : load_image(module, image, "module");
}
GPUSIM_DRIVER cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  const CUresult missing = missing_context();
  return missing != 0 ? missing : load_image(module, image, "fat binary");
}
GPUSIM_DRIVER cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count, const int* options,
                                 void** values) {
  constexpr int kOptions = 34;  // CU_JIT_NUM_OPTIONS of CUDA 13.0
  if (const CUresult missing = missing_context(); missing != 0) return missing;
  for (unsigned i = 0; options != nullptr && i < count; ++i)
    if (options[i] < 0 || options[i] >= kOptions) return static_cast<int>(Code::kInvalidValue);
  return load_image(module, image, "module", {options, values, count});
}
/// The module knows its context: none need be current, as programs have it that clean up at their end.
GPUSIM_DRIVER cuModuleUnload(CUmodule module) {
  return call([&](Device& device) {
    Module& loaded = loaded_module(module);
    device.check();
    forget_references(loaded);
    cudart::unload(device, module);
  });
}
GPUSIM_DRIVER cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return call([&](Device& device) {
    require(function != nullptr);
    device.check();
    *function = &cudart::kernel_in(device, loaded_module(module), name);
  });
}
GPUSIM_DRIVER cuModuleGetGlobal_v2(CUdeviceptr* address, size_t* bytes, CUmodule module, const char* name) {
  return call([&](Device& device) {
    device.check();
    require(address != nullptr || bytes != nullptr);
    Module& loaded = loaded_module(module);
    // A function is there, but no variable.
    require(name == nullptr || !device.kernel(loaded, name).exists());
    const Module::Global global = cudart::global_in(loaded, name);
    if (address != nullptr) *address = global.address;
    if (bytes != nullptr) *bytes = global.bytes;
  });
}
GPUSIM_SAME(cuModuleGetFunctionCount, cudaLibraryGetKernelCount, (unsigned* count, CUmodule module),
            (count, module))
GPUSIM_SAME(cuModuleEnumerateFunctions, cudaLibraryEnumerateKernels,
            (CUfunction * functions, unsigned count, CUmodule module), (functions, count, module))
GPUSIM_DRIVER cuModuleGetLoadingMode(int* mode) {
  constexpr int kLazy = 2;  // kernels are compiled when they are first needed
  return call([&](Device&) {
    require(mode != nullptr);
    *mode = kLazy;
  });
}
// Libraries (CUDA 12): modules and kernels by other names.
GPUSIM_SAME(cuLibraryLoadData, cudaLibraryLoadData,
            (CUmodule * library, const void* image, const int* jit_options, void** jit_values,
             unsigned jit_count, const int* options, void** values, unsigned count),
            (library, image, jit_options, jit_values, jit_count, options, values, count))
GPUSIM_SAME(cuLibraryLoadFromFile, cudaLibraryLoadFromFile,
            (CUmodule * library, const char* file, const int* jit_options, void** jit_values,
             unsigned jit_count, const int* options, void** values, unsigned count),
            (library, file, jit_options, jit_values, jit_count, options, values, count))
GPUSIM_DRIVER cuLibraryUnload(CUmodule library) { return cuModuleUnload(library); }
GPUSIM_DRIVER cuLibraryGetModule(CUmodule* module, CUmodule library) {
  return call([&](Device&) {
    require(module != nullptr);
    *module = &loaded_module(library);
  });
}
GPUSIM_DRIVER cuLibraryGetKernel(CUfunction* kernel, CUmodule library, const char* name) {
  return cuModuleGetFunction(kernel, library, name);
}
GPUSIM_SAME(cuLibraryGetGlobal, cudaLibraryGetGlobal,
            (void** address, size_t* bytes, CUmodule library, const char* name),
            (address, bytes, library, name))
GPUSIM_SAME(cuLibraryGetManaged, cudaLibraryGetManaged,
            (void** address, size_t* bytes, CUmodule library, const char* name),
            (address, bytes, library, name))
GPUSIM_DRIVER cuLibraryGetKernelCount(unsigned* count, CUmodule library) {
  return cuModuleGetFunctionCount(count, library);
}
GPUSIM_DRIVER cuLibraryEnumerateKernels(CUfunction* kernels, unsigned count, CUmodule library) {
  return cuModuleEnumerateFunctions(kernels, count, library);
}
GPUSIM_SAME(cuLibraryGetUnifiedFunction, cudaLibraryGetUnifiedFunction,
            (void** function, CUmodule library, const char* name), (function, library, name))
GPUSIM_DRIVER cuKernelGetFunction(CUfunction* function, CUfunction kernel) {
  if (function == nullptr) return 1;
  *function = kernel;
  return 0;
}

GPUSIM_DRIVER cuFuncGetAttribute(int* value, int attribute, CUfunction function) {
  return call([&](Device& device) {
    constexpr int kAttributes = 16;
    require(value != nullptr && attribute >= 0 && attribute < kAttributes);
    device.check();
    Kernel& kernel = kernel_of(function);
    const isa::KernelImage& image = kernel.image();
    const auto machine = static_cast<int>(device.machine().gpu.compute_capability);
    switch (attribute) {
      case 0:
        *value = device.most_threads(kernel);
        break;
      case 1:
        *value = static_cast<int>(image.static_shared_bytes);
        break;
      case 2:
        *value = static_cast<int>(kernel.module().constant_bytes());
        break;
      case 3:
        *value = static_cast<int>(image.local_bytes);
        break;
      case 4:
        *value = static_cast<int>(image.registers);
        break;
      case 5:
        *value = image.target_sm;
        break;
      case 6:
        *value = machine;
        break;
      case 8:
        *value = static_cast<int>(device.most_dynamic_shared(kernel));
        break;
      case 9:
        *value = kernel.carveout;
        break;
      case 10:
      case 11:
      case 12:
      case 13:
      case 14:
      case 15: {
        cudart::ClusterAttributes a;
        cudart::read_cluster_attributes(kernel, image, a);
        const int values[] = {a.must_be_set, a.required[0],  a.required[1],
                              a.required[2], a.non_portable, a.policy};
        *value = values[attribute - 10];
        break;
      }
      default:
        *value = 0;
    }
  });
}
GPUSIM_DRIVER cuFuncSetAttribute(CUfunction function, int attribute, int value) {
  return call([&](Device& device) {
    Kernel& kernel = kernel_of(function);
    if (attribute >= 10) return cudart::set_cluster_attribute(kernel, attribute, value);
    require(attribute == 8 || attribute == 9);
    if (attribute == 8) {
      require(device.set_max_dynamic_shared(kernel, value));
    } else {
      require(value >= -1 && value <= 100);
      kernel.carveout = value;
    }
  });
}
GPUSIM_DRIVER cuKernelGetAttribute(int* value, int attribute, CUfunction kernel, CUdevice number) {
  if (number != 0) return static_cast<int>(Code::kInvalidDevice);
  return cuFuncGetAttribute(value, attribute, kernel);
}
GPUSIM_DRIVER cuKernelSetAttribute(int attribute, int value, CUfunction kernel, CUdevice number) {
  if (number != 0) return static_cast<int>(Code::kInvalidDevice);
  return cuFuncSetAttribute(kernel, attribute, value);
}
GPUSIM_DRIVER cuKernelSetCacheConfig(CUfunction, int, CUdevice) { return 0; }
GPUSIM_DRIVER cuFuncGetName(const char** name, CUfunction function) {
  return call([&](Device&) {
    require(name != nullptr);
    *name = kernel_of(function).name().c_str();
  });
}
GPUSIM_DRIVER cuKernelGetName(const char** name, CUfunction kernel) { return cuFuncGetName(name, kernel); }
GPUSIM_DRIVER cuFuncGetParamInfo(CUfunction function, size_t index, size_t* offset, size_t* bytes) {
  return call([&](Device&) {
    const isa::KernelImage& image = kernel_of(function).image();
    require(offset != nullptr && index < image.params.size());
    *offset = image.params[index].offset;
    if (bytes != nullptr) *bytes = image.params[index].bytes;
  });
}
GPUSIM_DRIVER cuKernelGetParamInfo(CUfunction kernel, size_t index, size_t* offset, size_t* bytes) {
  return cuFuncGetParamInfo(kernel, index, offset, bytes);
}
GPUSIM_DRIVER cuFuncSetCacheConfig(CUfunction function, int config) {
  return call([&](Device&) {
    (void)kernel_of(function);
    require(config >= 0 && config <= 3);
  });
}
/// Kernels are compiled when they are first needed; who asks for it needs them.
GPUSIM_DRIVER cuFuncLoad(CUfunction function) {
  return call([&](Device&) { (void)kernel_of(function).image(); });
}
GPUSIM_DRIVER cuFuncIsLoaded(int* loaded, CUfunction function) {
  return call([&](Device&) {
    require(loaded != nullptr);
    *loaded = kernel_of(function).is_compiled();
  });
}
GPUSIM_DRIVER cuFuncSetSharedMemConfig(CUfunction function, int config) {
  return call([&](Device&) {
    (void)kernel_of(function);
    require(config >= 0 && config <= 2);
  });
}
GPUSIM_DRIVER cuFuncGetModule(CUmodule* module, CUfunction function) {
  return call([&](Device&) {
    require(module != nullptr);
    *module = &kernel_of(function).module();
  });
}

GPUSIM_DRIVER cuKernelGetLibrary(CUmodule* library, CUfunction kernel) {
  return cuFuncGetModule(library, kernel);
}

GPUSIM_DRIVER cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                             unsigned bz, unsigned shared, CUstream stream, void** parameters, void** extra) {
  return launch(f, request_of({gx, gy, gz}, {bx, by, bz}, shared), stream, parameters, extra);
}
GPUSIM_DRIVER cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                        unsigned by, unsigned bz, unsigned shared, CUstream stream,
                                        void** parameters) {
  LaunchRequest r = request_of({gx, gy, gz}, {bx, by, bz}, shared);
  r.cooperative = true;
  return launch(f, r, stream, parameters, nullptr);
}
GPUSIM_DRIVER cuLaunchKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                  unsigned by, unsigned bz, unsigned shared, CUstream stream,
                                  void** parameters, void** extra) {
  return cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, per_thread(stream), parameters, extra);
}
GPUSIM_DRIVER cuLaunchCooperativeKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                             unsigned by, unsigned bz, unsigned shared, CUstream stream,
                                             void** parameters) {
  return cuLaunchCooperativeKernel(f, gx, gy, gz, bx, by, bz, shared, per_thread(stream), parameters);
}
struct LaunchConfiguration {
  unsigned grid[3], block[3], shared;
  CUstream stream;
  cudaLaunchAttribute* attributes;
  unsigned count;
};
namespace {
LaunchRequest configured(Device& device, const LaunchConfiguration& c) {
  LaunchRequest r =
      request_of({c.grid[0], c.grid[1], c.grid[2]}, {c.block[0], c.block[1], c.block[2]}, c.shared);
  cudart::read_launch_attributes(device, c.attributes, c.count, r);
  return r;
}
CUresult launch_configured(CUfunction f, const LaunchConfiguration& c, CUstream stream, void** parameters,
                           void** extra) {
  return launch_as(
      f, [&](Device& device) { return configured(device, c); }, stream, parameters, extra);
}
}  // namespace
GPUSIM_DRIVER cuLaunchKernelEx(const LaunchConfiguration* c, CUfunction f, void** parameters, void** extra) {
  if (c == nullptr) return 1;
  return launch_configured(f, *c, c->stream, parameters, extra);
}
GPUSIM_DRIVER cuLaunchKernelEx_ptsz(const LaunchConfiguration* c, CUfunction f, void** parameters,
                                    void** extra) {
  if (c == nullptr) return 1;
  return launch_configured(f, *c, per_thread(c->stream), parameters, extra);
}
GPUSIM_DRIVER cuOccupancyMaxActiveClusters(int* clusters, CUfunction f, const LaunchConfiguration* c) {
  return call([&](Device& device) {
    require(clusters != nullptr && c != nullptr);
    LaunchRequest r = configured(device, *c);
    r.kernel = &kernel_of(f);
    *clusters = cudart::active_clusters(device, r);
  });
}
GPUSIM_DRIVER cuOccupancyMaxPotentialClusterSize(int* blocks, CUfunction f, const LaunchConfiguration* c) {
  return call([&](Device& device) {
    require(blocks != nullptr && c != nullptr);
    LaunchRequest r = configured(device, *c);
    r.kernel = &kernel_of(f);
    *blocks = cudart::largest_cluster(device, r);
  });
}
GPUSIM_DRIVER cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction f, int threads,
                                                          size_t shared) {
  return call([&](Device& device) {
    require(blocks != nullptr && threads > 0);
    *blocks = device.blocks_per_sm(kernel_of(f), static_cast<uint32_t>(threads), shared);
  });
}
GPUSIM_DRIVER cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction f, int threads,
                                                                   size_t shared, unsigned flags) {
  constexpr unsigned kDisableCachingOverride = 1;
  if (flags > kDisableCachingOverride) return static_cast<int>(Code::kInvalidValue);
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, f, threads, shared);
}
GPUSIM_DRIVER cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction f, size_t (*shared_of)(int),
                                               size_t shared, int limit) {
  return call([&](Device& device) {
    require(grid != nullptr && block != nullptr);
    Kernel& kernel = kernel_of(f);
    int most = device.most_threads(kernel);
    if (limit > 0) most = std::min(most, limit);
    int best = 0, best_threads = 0;
    for (int threads = most; threads >= 32; threads -= 32) {
      const size_t bytes = shared_of != nullptr ? shared_of(threads) : shared;
      const int blocks = device.blocks_per_sm(kernel, static_cast<uint32_t>(threads), bytes);
      if (blocks * threads > best_threads) best = threads, best_threads = blocks * threads;
    }
    *block = best;
    *grid = best == 0 ? 0 : best_threads / best * static_cast<int>(device.machine().gpu.sms);
  });
}

GPUSIM_DRIVER cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction f,
                                                        size_t (*shared_of)(int), size_t shared, int limit,
                                                        unsigned) {
  return cuOccupancyMaxPotentialBlockSize(grid, block, f, shared_of, shared, limit);
}
GPUSIM_DRIVER cuOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, CUfunction f, int blocks, int threads) {
  return call([&](Device& device) {
    require(bytes != nullptr && blocks > 0 && threads > 0);
    *bytes = device.available_shared(kernel_of(f), static_cast<uint32_t>(threads), blocks);
  });
}

}  // namespace gpusim::runtime::driver
