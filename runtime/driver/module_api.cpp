// Modules and libraries from PTX or fat binaries, functions, launches, occupancy.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "runtime/driver/driver.h"
#include "runtime/fatbin/fat_binary.h"
#include "simcore/text/input_error.h"

namespace gpusim::runtime::driver {

namespace {

std::set<Module*>& modules() {
  static auto* const all = new std::set<Module*>;
  return *all;
}

/// PTX text, or a fat binary with or without its wrapper.
std::vector<Module::Text> texts_of(const Device& device, const void* image, const std::string& name) {
  require(image != nullptr);
  uint32_t magic = 0;
  std::memcpy(&magic, image, sizeof magic);
  const auto* bytes = static_cast<const std::byte*>(image);
  if (magic == kFatBinaryWrapperMagic) {
    std::memcpy(&bytes, bytes + 8, sizeof bytes);
    magic = kFatBinaryMagic;
  }
  if (magic == kFatBinaryMagic) {
    const std::span<const std::byte, 16> header(bytes, 16);
    const std::vector<FatEntry> entries = fat_entries({bytes, fat_binary_bytes(header)});
    const FatEntry* best = newest_ptx(entries, static_cast<int>(device.machine().gpu.compute_capability));
    if (best == nullptr) throw Failure(Code::kNoKernelImageForDevice, name + ": the fat binary holds no PTX");
    return {{name, ptx_text(*best)}};
  }
  if (std::memcmp(image, "\177ELF", 4) == 0)
    throw Failure(Code::kNoKernelImageForDevice, name + ": is machine code of a real GPU; gpusim runs PTX");
  return {{name, std::string(static_cast<const char*>(image))}};
}

CUresult load(CUmodule* module, const void* image, const std::string& name) {
  return call([&](Device& device) {
    require(module != nullptr);
    try {
      Module& made = device.add_module(texts_of(device, image, name));
      try {
        made.load();
      } catch (...) {
        device.remove_module(made);
        throw;
      }
      modules().insert(&made);
      *module = &made;
    } catch (const core::InputError& error) {
      throw Failure(Code::kInvalidKernelImage, error.what());
    }
  });
}

CUresult load_file(CUmodule* module, const char* file) {
  if (file == nullptr) return static_cast<int>(Code::kInvalidValue);
  std::ifstream in(file, std::ios::binary);
  if (!in) return static_cast<int>(Code::kFileNotFound);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  return load(module, text.c_str(), file);
}

LaunchRequest request_of(Size3 grid, Size3 block, unsigned shared) {
  LaunchRequest r;
  r.grid = grid, r.block = block;
  r.dynamic_shared = shared;
  return r;
}

/// `r` has everything but the kernel and its parameters.
CUresult launch(CUfunction f, LaunchRequest r, CUstream stream, void** parameters, void** extra) {
  return call([&](Device& device) {
    r.kernel = &kernel_of(f);
    require(parameters == nullptr || extra == nullptr);
    std::vector<std::byte> packed;
    static void* none[1] = {nullptr};
    r.arguments = parameters != nullptr ? parameters : none;
    if (extra != nullptr) {
      // CU_LAUNCH_PARAM_BUFFER_POINTER 1, CU_LAUNCH_PARAM_BUFFER_SIZE 2, CU_LAUNCH_PARAM_END 0.
      const void* buffer = nullptr;
      size_t bytes = 0;
      for (; *extra != nullptr; extra += 2) {
        const auto what = reinterpret_cast<uintptr_t>(*extra);
        require(what == 1 || what == 2);
        if (what == 1) buffer = extra[1];
        if (what == 2) bytes = *static_cast<size_t*>(extra[1]);
      }
      require(buffer != nullptr);
      packed.resize(bytes);
      std::memcpy(packed.data(), buffer, bytes);
      r.arguments = nullptr;
      r.parameters = packed;
    } else if (parameters == nullptr) {
      require(r.kernel->image().params.empty());
    }
    cudart::submit_launch(device, r, cudart::stream_of(device, stream), f);
  });
}

}  // namespace

Module& module_of(CUmodule handle) {
  require(modules().contains(handle), Code::kInvalidResourceHandle);
  return *handle;
}

GPUSIM_DRIVER cuModuleLoad(CUmodule* module, const char* file) { return load_file(module, file); }
GPUSIM_DRIVER cuModuleLoadData(CUmodule* module, const void* image) { return load(module, image, "module"); }
GPUSIM_DRIVER cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return load(module, image, "fat binary");
}
GPUSIM_DRIVER cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count, const int* options,
                                 void** values) {
  const CUresult result = load(module, image, "module");
  // The logs stay empty; what is wrong is told on stderr. 4 and 6: their sizes, which become those that are
  // used.
  for (unsigned i = 0; i < count && options != nullptr && values != nullptr; ++i) {
    if ((options[i] == 3 || options[i] == 5) && values[i] != nullptr) *static_cast<char*>(values[i]) = '\0';
    if (options[i] == 4 || options[i] == 6) values[i] = nullptr;
  }
  return result;
}
GPUSIM_DRIVER cuModuleUnload(CUmodule module) {
  return call([&](Device& device) {
    Module& m = module_of(module);
    modules().erase(&m);
    forget_references(m);
    device.remove_module(m);
  });
}
GPUSIM_DRIVER cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return call([&](Device& device) {
    require(function != nullptr && name != nullptr);
    Kernel& kernel = device.kernel(module_of(module), name);
    require(kernel.exists(), Code::kSymbolNotFound);
    *function = &kernel;
  });
}
GPUSIM_DRIVER cuModuleGetGlobal_v2(CUdeviceptr* address, size_t* bytes, CUmodule module, const char* name) {
  return call([&](Device&) {
    require(name != nullptr);
    const auto global = module_of(module).global(name);
    require(global.has_value(), Code::kSymbolNotFound);
    if (address != nullptr) *address = global->address;
    if (bytes != nullptr) *bytes = global->bytes;
  });
}
GPUSIM_DRIVER cuModuleGetFunctionCount(unsigned* count, CUmodule module) {
  return call([&](Device&) {
    require(count != nullptr);
    const auto& functions = module_of(module).ptx().functions;
    *count = static_cast<unsigned>(std::ranges::count_if(
        functions, [](const isa::Function& f) { return f.is_entry && !f.is_declaration; }));
  });
}
GPUSIM_DRIVER cuModuleGetLoadingMode(int* mode) {
  constexpr int kLazy = 2;  // kernels are compiled when they are first needed
  return call([&](Device&) {
    require(mode != nullptr);
    *mode = kLazy;
  });
}
// Libraries (CUDA 12): modules and kernels by other names.
GPUSIM_DRIVER cuLibraryLoadData(CUmodule* library, const void* image, int*, void**, unsigned, int*, void**,
                                unsigned) {
  return load(library, image, "library");
}
GPUSIM_DRIVER cuLibraryLoadFromFile(CUmodule* library, const char* file, int*, void**, unsigned, int*, void**,
                                    unsigned) {
  return load_file(library, file);
}
GPUSIM_DRIVER cuLibraryUnload(CUmodule library) { return cuModuleUnload(library); }
GPUSIM_DRIVER cuLibraryGetModule(CUmodule* module, CUmodule library) {
  if (module == nullptr) return 1;
  *module = library;
  return 0;
}
GPUSIM_DRIVER cuLibraryGetKernel(CUfunction* kernel, CUmodule library, const char* name) {
  return cuModuleGetFunction(kernel, library, name);
}
GPUSIM_DRIVER cuLibraryGetGlobal(CUdeviceptr* address, size_t* bytes, CUmodule library, const char* name) {
  return cuModuleGetGlobal_v2(address, bytes, library, name);
}
GPUSIM_DRIVER cuLibraryGetKernelCount(unsigned* count, CUmodule library) {
  return cuModuleGetFunctionCount(count, library);
}
GPUSIM_DRIVER cuKernelGetFunction(CUfunction* function, CUfunction kernel) {
  if (function == nullptr) return 1;
  *function = kernel;
  return 0;
}

GPUSIM_DRIVER cuFuncGetAttribute(int* value, int attribute, CUfunction function) {
  return call([&](Device& device) {
    require(value != nullptr && attribute >= 0);
    Kernel& kernel = kernel_of(function);
    const isa::KernelImage& image = kernel.image();
    const auto machine = static_cast<int>(device.machine().gpu.compute_capability);
    switch (attribute) {
      case 0: {
        int threads = static_cast<int>(device.machine().sm.max_threads_per_block);
        while (threads > 32 && device.blocks_per_sm(kernel, static_cast<uint32_t>(threads), 0) == 0)
          threads -= 32;
        *value = threads;
        break;
      }
      case 1:
        *value = static_cast<int>(image.static_shared_bytes);
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
      require(value >= 0 &&
              value <= int64_t{device.machine().shared.bytes} - int64_t{kernel.image().static_shared_bytes});
      kernel.max_dynamic_shared = static_cast<uint32_t>(value);
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
GPUSIM_DRIVER cuFuncSetCacheConfig(CUfunction, int) { return 0; }
GPUSIM_DRIVER cuFuncSetSharedMemConfig(CUfunction, int) { return 0; }
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
LaunchRequest configured(const LaunchConfiguration& c) {
  LaunchRequest r =
      request_of({c.grid[0], c.grid[1], c.grid[2]}, {c.block[0], c.block[1], c.block[2]}, c.shared);
  cudart::read_launch_attributes(c.attributes, c.count, r);
  return r;
}
}  // namespace
GPUSIM_DRIVER cuLaunchKernelEx(const LaunchConfiguration* c, CUfunction f, void** parameters, void** extra) {
  if (c == nullptr) return 1;
  return launch(f, configured(*c), c->stream, parameters, extra);
}
GPUSIM_DRIVER cuLaunchKernelEx_ptsz(const LaunchConfiguration* c, CUfunction f, void** parameters,
                                    void** extra) {
  if (c == nullptr) return 1;
  return launch(f, configured(*c), per_thread(c->stream), parameters, extra);
}
GPUSIM_DRIVER cuOccupancyMaxActiveClusters(int* clusters, CUfunction f, const LaunchConfiguration* c) {
  return call([&](Device& device) {
    require(clusters != nullptr && c != nullptr);
    LaunchRequest r = configured(*c);
    r.kernel = &kernel_of(f);
    *clusters = cudart::active_clusters(device, r);
  });
}
GPUSIM_DRIVER cuOccupancyMaxPotentialClusterSize(int* blocks, CUfunction f, const LaunchConfiguration* c) {
  return call([&](Device& device) {
    require(blocks != nullptr && c != nullptr);
    LaunchRequest r = configured(*c);
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
                                                                   size_t shared, unsigned) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, f, threads, shared);
}
GPUSIM_DRIVER cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction f, size_t (*shared_of)(int),
                                               size_t shared, int limit) {
  return call([&](Device& device) {
    require(grid != nullptr && block != nullptr);
    Kernel& kernel = kernel_of(f);
    int most = static_cast<int>(device.machine().sm.max_threads_per_block);
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

}  // namespace gpusim::runtime::driver
