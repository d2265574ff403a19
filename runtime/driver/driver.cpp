// libcuda.so.1: the CUDA driver API on a simulated GPU, as its public documentation describes it. Functions
// whose meaning changed have a suffix (_v2) in the library; cuda.h gives programs the newest.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>

#include "runtime/cudart/api.h"
#include "runtime/cudart/attributes.h"
#include "runtime/fatbin/fat_binary.h"
#include "simcore/text/input_error.h"

namespace gpusim::runtime::driver {

namespace {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUmodule = Module*;
using CUfunction = Kernel*;
using CUstream = cudaStream_t;
using CUevent = cudaEvent_t;

using cudart::call;
using cudart::require;

// One device has one context; programs may make several handles of it.
struct Contexts {
  std::set<CUcontext> made;
  uintptr_t next = 0x100;
};
Contexts& contexts() {
  static auto* const all = new Contexts;
  return *all;
}
thread_local std::vector<CUcontext> current_contexts;
const CUcontext kPrimary = reinterpret_cast<CUcontext>(uintptr_t{0x10});
std::atomic<int> primary_users{0};

CUcontext new_context() {
  const auto handle = reinterpret_cast<CUcontext>(contexts().next++);
  contexts().made.insert(handle);
  return handle;
}

std::set<Module*>& modules() {
  static auto* const all = new std::set<Module*>;
  return *all;
}
Module& module_of(CUmodule handle) {
  require(modules().contains(handle), Code::kInvalidResourceHandle);
  return *handle;
}
Kernel& kernel_of(CUfunction handle) {
  require(handle != nullptr, Code::kInvalidResourceHandle);
  return *handle;
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

CUresult launch(CUfunction f, Size3 grid, Size3 block, unsigned shared, CUstream stream, void** parameters,
                void** extra, bool cooperative) {
  return call([&](Device& device) {
    LaunchRequest r;
    r.kernel = &kernel_of(f);
    r.grid = grid, r.block = block;
    r.dynamic_shared = shared;
    r.cooperative = cooperative;
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
    Stream& s = cudart::stream_of(device, stream);
    device.launch(r, s);
  });
}

std::byte* pointer(CUdeviceptr address) { return reinterpret_cast<std::byte*>(address); }

CUresult copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, CUstream stream, bool wait) {
  return call([&](Device& device) {
    device.copy(cudart::linear_copy(device, to, from, bytes, kind), cudart::stream_of(device, stream), wait);
  });
}

CUresult fill(CUdeviceptr to, size_t pitch, unsigned value, unsigned value_bytes, size_t width, size_t height,
              CUstream stream, bool wait) {
  return call([&](Device& device) {
    Fill f;
    f.to = pointer(to);
    f.width = width * value_bytes, f.height = height;
    f.pitch = height == 1 ? f.width : pitch;
    f.slice = f.pitch * height;
    f.value = value, f.value_bytes = value_bytes;
    if (f.bytes() != 0) {
      const PointerKind kind = device.pointer_kind(f.to);
      require(kind.memory != PointerKind::Memory::kUnregistered &&
              (height - 1) * f.pitch + f.width <= kind.base + kind.bytes - to);
    }
    device.fill(f, cudart::stream_of(device, stream), wait);
  });
}

struct ErrorName {
  int code;
  const char* name;
};
constexpr ErrorName kNames[] = {
#include "runtime/driver/error_names.inc"
};

/// CUDA_MEMCPY2D: of memory types 1 host, 2 device, 3 array, 4 unified.
struct Copy2d {
  size_t from_x, from_y;
  int from_type;
  const void* from_host;
  CUdeviceptr from_device;
  void* from_array;
  size_t from_pitch;
  size_t to_x, to_y;
  int to_type;
  void* to_host;
  CUdeviceptr to_device;
  void* to_array;
  size_t to_pitch;
  size_t width, height;
};

CUresult copy_2d(const Copy2d* p, CUstream stream, bool wait) {
  return call([&](Device& device) {
    require(p != nullptr);
    if (p->from_type == 3 || p->to_type == 3) throw Failure(Code::kNotSupported, "copies of driver arrays");
    Copy c;
    c.width = p->width, c.height = p->height;
    c.from_pitch = p->from_pitch == 0 ? p->width : p->from_pitch;
    c.to_pitch = p->to_pitch == 0 ? p->width : p->to_pitch;
    const void* const from = p->from_type == 1 ? p->from_host : pointer(p->from_device);
    void* const to = p->to_type == 1 ? p->to_host : pointer(p->to_device);
    c.from = static_cast<const std::byte*>(from) + p->from_y * c.from_pitch + p->from_x;
    c.to = static_cast<std::byte*>(to) + p->to_y * c.to_pitch + p->to_x;
    c.from_slice = c.from_pitch * c.height, c.to_slice = c.to_pitch * c.height;
    device.copy(cudart::checked_copy(device, std::move(c), cudaMemcpyDefault),
                cudart::stream_of(device, stream), wait);
  });
}

}  // namespace

#define GPUSIM_DRIVER GPUSIM_EXPORT CUresult

GPUSIM_DRIVER cuInit(unsigned flags) {
  return call([&](Device&) { require(flags == 0); });
}
GPUSIM_DRIVER cuDriverGetVersion(int* version) {
  if (version == nullptr) return 1;
  *version = 13000;
  return 0;
}
GPUSIM_DRIVER cuGetErrorName(CUresult error, const char** name) {
  const auto* const at = std::ranges::find(kNames, error, &ErrorName::code);
  if (name == nullptr || at == std::end(kNames)) return 1;
  *name = at->name;
  return 0;
}
GPUSIM_DRIVER cuGetErrorString(CUresult error, const char** text) {
  if (text == nullptr || error_text(error) == nullptr) return 1;
  *text = error_text(error);
  return 0;
}

// Devices and contexts

GPUSIM_DRIVER cuDeviceGetCount(int* count) {
  return call([&](Device&) {
    require(count != nullptr);
    *count = 1;
  });
}
GPUSIM_DRIVER cuDeviceGet(CUdevice* device, int number) {
  return call([&](Device&) {
    require(device != nullptr);
    require(number == 0, Code::kInvalidDevice);
    *device = 0;
  });
}
GPUSIM_DRIVER cuDeviceGetName(char* name, int length, CUdevice number) {
  return call([&](Device& device) {
    require(name != nullptr && length > 0);
    require(number == 0, Code::kInvalidDevice);
    std::snprintf(name, static_cast<size_t>(length), "%s", device.machine().gpu.name.c_str());
  });
}
GPUSIM_DRIVER cuDeviceTotalMem_v2(size_t* bytes, CUdevice number) {
  return call([&](Device& device) {
    require(bytes != nullptr);
    require(number == 0, Code::kInvalidDevice);
    *bytes = device.total_bytes();
  });
}
GPUSIM_DRIVER cuDeviceGetAttribute(int* value, int attribute, CUdevice number) {
  return call([&](Device& device) {
    require(value != nullptr && attribute > 0 && attribute < 200);
    require(number == 0, Code::kInvalidDevice);
    *value = cudart::device_attribute(device.machine(), attribute);
  });
}
GPUSIM_DRIVER cuDeviceComputeCapability(int* major, int* minor, CUdevice number) {
  return call([&](Device& device) {
    require(major != nullptr && minor != nullptr);
    require(number == 0, Code::kInvalidDevice);
    const auto capability = static_cast<int>(device.machine().gpu.compute_capability);
    *major = capability / 10, *minor = capability % 10;
  });
}
GPUSIM_DRIVER cuDeviceGetUuid_v2(char* uuid, CUdevice) {
  if (uuid == nullptr) return 1;
  std::memset(uuid, 0, 16);
  std::memcpy(uuid, "gpusim", 6);
  return 0;
}
GPUSIM_DRIVER cuDeviceGetUuid(char* uuid, CUdevice device) { return cuDeviceGetUuid_v2(uuid, device); }
GPUSIM_DRIVER cuDeviceCanAccessPeer(int* can, CUdevice, CUdevice) {
  if (can == nullptr) return 1;
  *can = 0;
  return 0;
}

GPUSIM_DRIVER cuCtxCreate_v2(CUcontext* context, unsigned, CUdevice number) {
  return call([&](Device&) {
    require(context != nullptr);
    require(number == 0, Code::kInvalidDevice);
    *context = new_context();
    current_contexts.push_back(*context);
  });
}
GPUSIM_DRIVER cuCtxCreate_v3(CUcontext* context, void*, int, unsigned flags, CUdevice number) {
  return cuCtxCreate_v2(context, flags, number);
}
GPUSIM_DRIVER cuCtxCreate_v4(CUcontext* context, void*, unsigned flags, CUdevice number) {
  return cuCtxCreate_v2(context, flags, number);
}
GPUSIM_DRIVER cuCtxDestroy_v2(CUcontext context) {
  return call([&](Device& device) {
    require(contexts().made.erase(context) != 0, Code::kDeviceUninitialized);
    device.synchronize();
    std::erase(current_contexts, context);
  });
}
GPUSIM_DRIVER cuCtxPushCurrent_v2(CUcontext context) {
  current_contexts.push_back(context);
  return 0;
}
GPUSIM_DRIVER cuCtxPopCurrent_v2(CUcontext* context) {
  if (current_contexts.empty()) return static_cast<int>(Code::kDeviceUninitialized);
  if (context != nullptr) *context = current_contexts.back();
  current_contexts.pop_back();
  return 0;
}
GPUSIM_DRIVER cuCtxSetCurrent(CUcontext context) {
  if (!current_contexts.empty()) current_contexts.pop_back();
  if (context != nullptr) current_contexts.push_back(context);
  return 0;
}
GPUSIM_DRIVER cuCtxGetCurrent(CUcontext* context) {
  if (context == nullptr) return 1;
  *context = current_contexts.empty() ? nullptr : current_contexts.back();
  return 0;
}
GPUSIM_DRIVER cuCtxGetDevice(CUdevice* device) {
  if (device == nullptr) return 1;
  if (current_contexts.empty()) return static_cast<int>(Code::kDeviceUninitialized);
  *device = 0;
  return 0;
}
GPUSIM_DRIVER cuCtxGetApiVersion(CUcontext, unsigned* version) {
  if (version == nullptr) return 1;
  *version = 13000;
  return 0;
}
GPUSIM_DRIVER cuCtxGetFlags(unsigned* flags) {
  if (flags == nullptr) return 1;
  *flags = 8;
  return 0;
}
GPUSIM_DRIVER cuCtxSynchronize() {
  return call([](Device& device) { device.synchronize(); });
}
GPUSIM_DRIVER cuCtxSetLimit(int limit, size_t value) {
  return call([&](Device& device) {
    require(limit >= 0 && limit < 8);
    require(device.set_limit(static_cast<Device::Limit>(limit), value));
  });
}
GPUSIM_DRIVER cuCtxSetCacheConfig(int) { return 0; }
GPUSIM_DRIVER cuCtxSetSharedMemConfig(int) { return 0; }
GPUSIM_DRIVER cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return 0;
}
GPUSIM_DRIVER cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice number) {
  return call([&](Device&) {
    require(context != nullptr);
    require(number == 0, Code::kInvalidDevice);
    ++primary_users;
    *context = kPrimary;
  });
}
GPUSIM_DRIVER cuDevicePrimaryCtxRelease_v2(CUdevice) {
  if (primary_users == 0) return static_cast<int>(Code::kDeviceUninitialized);
  --primary_users;
  return 0;
}
GPUSIM_DRIVER cuDevicePrimaryCtxRelease(CUdevice device) { return cuDevicePrimaryCtxRelease_v2(device); }
GPUSIM_DRIVER cuDevicePrimaryCtxReset_v2(CUdevice) {
  return call([](Device& device) { device.reset(); });
}
GPUSIM_DRIVER cuDevicePrimaryCtxSetFlags_v2(CUdevice, unsigned) { return 0; }
GPUSIM_DRIVER cuDevicePrimaryCtxGetState(CUdevice, unsigned* flags, int* active) {
  if (flags != nullptr) *flags = 8;
  if (active != nullptr) *active = primary_users != 0;
  return 0;
}

// Modules and functions

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
      default:
        *value = 0;
    }
  });
}
GPUSIM_DRIVER cuFuncSetAttribute(CUfunction function, int attribute, int value) {
  return call([&](Device& device) {
    Kernel& kernel = kernel_of(function);
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
GPUSIM_DRIVER cuFuncSetCacheConfig(CUfunction, int) { return 0; }
GPUSIM_DRIVER cuFuncSetSharedMemConfig(CUfunction, int) { return 0; }
GPUSIM_DRIVER cuFuncGetModule(CUmodule* module, CUfunction function) {
  return call([&](Device&) {
    require(module != nullptr);
    *module = &kernel_of(function).module();
  });
}

GPUSIM_DRIVER cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                             unsigned bz, unsigned shared, CUstream stream, void** parameters, void** extra) {
  return launch(f, {gx, gy, gz}, {bx, by, bz}, shared, stream, parameters, extra, false);
}
GPUSIM_DRIVER cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                        unsigned by, unsigned bz, unsigned shared, CUstream stream,
                                        void** parameters) {
  return launch(f, {gx, gy, gz}, {bx, by, bz}, shared, stream, parameters, nullptr, true);
}
struct LaunchConfiguration {
  unsigned grid[3], block[3], shared;
  CUstream stream;
  cudaLaunchAttribute* attributes;
  unsigned count;
};
GPUSIM_DRIVER cuLaunchKernelEx(const LaunchConfiguration* c, CUfunction f, void** parameters, void** extra) {
  if (c == nullptr) return 1;
  bool cooperative = false;
  for (unsigned i = 0; i < c->count; ++i)
    cooperative = cooperative || (c->attributes[i].id == 2 && c->attributes[i].value[0] != 0);
  return launch(f, {c->grid[0], c->grid[1], c->grid[2]}, {c->block[0], c->block[1], c->block[2]}, c->shared,
                c->stream, parameters, extra, cooperative);
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

// Memory

GPUSIM_DRIVER cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  return call([&](Device& device) {
    require(address != nullptr && bytes != 0);
    device.check();
    *address = reinterpret_cast<CUdeviceptr>(device.allocate(bytes));
  });
}
GPUSIM_DRIVER cuMemFree_v2(CUdeviceptr address) {
  return call([&](Device& device) {
    if (address == 0) return;
    device.synchronize();
    require(device.release(pointer(address)));
  });
}
GPUSIM_DRIVER cuMemAllocPitch_v2(CUdeviceptr* address, size_t* pitch, size_t width, size_t height, unsigned) {
  return call([&](Device& device) {
    require(address != nullptr && pitch != nullptr && width != 0 && height != 0);
    *pitch = (width + 511) / 512 * 512;
    *address = reinterpret_cast<CUdeviceptr>(device.allocate(*pitch * height));
  });
}
GPUSIM_DRIVER cuMemAllocManaged(CUdeviceptr* address, size_t bytes, unsigned) {
  return call([&](Device& device) {
    require(address != nullptr && bytes != 0);
    *address = reinterpret_cast<CUdeviceptr>(device.allocate_managed(bytes));
  });
}
GPUSIM_DRIVER cuMemHostAlloc(void** memory, size_t bytes, unsigned flags) {
  return call([&](Device& device) {
    require(memory != nullptr && bytes != 0);
    *memory = device.allocate_host(bytes, flags);
  });
}
GPUSIM_DRIVER cuMemAllocHost_v2(void** memory, size_t bytes) { return cuMemHostAlloc(memory, bytes, 0); }
GPUSIM_DRIVER cuMemFreeHost(void* memory) {
  return call([&](Device& device) {
    device.synchronize();
    require(device.release_host(memory));
  });
}
GPUSIM_DRIVER cuMemHostGetDevicePointer_v2(CUdeviceptr* address, void* memory, unsigned) {
  return call([&](Device& device) {
    require(address != nullptr && device.pointer_kind(memory).memory == PointerKind::Memory::kHost);
    *address = reinterpret_cast<CUdeviceptr>(memory);
  });
}
GPUSIM_DRIVER cuMemHostRegister_v2(void* memory, size_t bytes, unsigned flags) {
  return call([&](Device& device) { device.register_host(memory, bytes, flags); });
}
GPUSIM_DRIVER cuMemHostUnregister(void* memory) {
  return call([&](Device& device) {
    device.synchronize();
    device.unregister_host(memory);
  });
}
GPUSIM_DRIVER cuMemGetInfo_v2(size_t* free, size_t* total) {
  return call([&](Device& device) {
    require(free != nullptr && total != nullptr);
    *free = device.free_bytes();
    *total = device.total_bytes();
  });
}
GPUSIM_DRIVER cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* bytes, CUdeviceptr address) {
  return call([&](Device& device) {
    const PointerKind kind = device.pointer_kind(pointer(address));
    require(kind.memory != PointerKind::Memory::kUnregistered);
    if (base != nullptr) *base = kind.base;
    if (bytes != nullptr) *bytes = kind.bytes;
  });
}
GPUSIM_DRIVER cuPointerGetAttribute(void* value, int attribute, CUdeviceptr address) {
  return call([&](Device& device) {
    const PointerKind kind = device.pointer_kind(pointer(address));
    require(value != nullptr && kind.memory != PointerKind::Memory::kUnregistered);
    switch (attribute) {
      case 1:
        *static_cast<CUcontext*>(value) = kPrimary;
        break;
      case 2:
        *static_cast<unsigned*>(value) = kind.memory == PointerKind::Memory::kHost ? 1 : 2;
        break;
      case 3:
      case 4:
        *static_cast<CUdeviceptr*>(value) = address;
        break;
      case 8:
        *static_cast<unsigned*>(value) = kind.memory == PointerKind::Memory::kManaged;
        break;
      case 9:
        *static_cast<int*>(value) = 0;
        break;
      case 11:
        *static_cast<CUdeviceptr*>(value) = kind.base;
        break;
      case 12:
        *static_cast<size_t*>(value) = kind.bytes;
        break;
      default:
        throw Failure(Code::kInvalidValue);
    }
  });
}

#define GPUSIM_DRIVER_COPY(name, to_type, from_type, to_pointer, from_pointer, kind)        \
  GPUSIM_DRIVER name##_v2(to_type to, from_type from, size_t bytes) {                       \
    return copy(to_pointer, from_pointer, bytes, kind, nullptr, true);                      \
  }                                                                                         \
  GPUSIM_DRIVER name##Async_v2(to_type to, from_type from, size_t bytes, CUstream stream) { \
    return copy(to_pointer, from_pointer, bytes, kind, stream, false);                      \
  }
GPUSIM_DRIVER_COPY(cuMemcpyHtoD, CUdeviceptr, const void*, pointer(to), from, cudaMemcpyHostToDevice)
GPUSIM_DRIVER_COPY(cuMemcpyDtoH, void*, CUdeviceptr, to, pointer(from), cudaMemcpyDeviceToHost)
GPUSIM_DRIVER_COPY(cuMemcpyDtoD, CUdeviceptr, CUdeviceptr, pointer(to), pointer(from),
                   cudaMemcpyDeviceToDevice)
GPUSIM_DRIVER cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return copy(pointer(to), pointer(from), bytes, cudaMemcpyDefault, nullptr, true);
}
GPUSIM_DRIVER cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return copy(pointer(to), pointer(from), bytes, cudaMemcpyDefault, stream, false);
}
GPUSIM_DRIVER cuMemcpy2D_v2(const Copy2d* p) { return copy_2d(p, nullptr, true); }
GPUSIM_DRIVER cuMemcpy2DUnaligned_v2(const Copy2d* p) { return copy_2d(p, nullptr, true); }
GPUSIM_DRIVER cuMemcpy2DAsync_v2(const Copy2d* p, CUstream stream) { return copy_2d(p, stream, false); }

#define GPUSIM_DRIVER_FILL(bits, type)                                                              \
  GPUSIM_DRIVER cuMemsetD##bits##_v2(CUdeviceptr to, type value, size_t count) {                    \
    return fill(to, 0, value, bits / 8, count, 1, nullptr, true);                                   \
  }                                                                                                 \
  GPUSIM_DRIVER cuMemsetD##bits##Async(CUdeviceptr to, type value, size_t count, CUstream stream) { \
    return fill(to, 0, value, bits / 8, count, 1, stream, false);                                   \
  }                                                                                                 \
  GPUSIM_DRIVER cuMemsetD2D##bits##_v2(CUdeviceptr to, size_t pitch, type value, size_t width,      \
                                       size_t height) {                                             \
    return fill(to, pitch, value, bits / 8, width, height, nullptr, true);                          \
  }                                                                                                 \
  GPUSIM_DRIVER cuMemsetD2D##bits##Async(CUdeviceptr to, size_t pitch, type value, size_t width,    \
                                         size_t height, CUstream stream) {                          \
    return fill(to, pitch, value, bits / 8, width, height, stream, false);                          \
  }
GPUSIM_DRIVER_FILL(8, unsigned char)
GPUSIM_DRIVER_FILL(16, unsigned short)
GPUSIM_DRIVER_FILL(32, unsigned)

// Streams and events: the handles are those of the runtime.

GPUSIM_DRIVER cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return call([&](Device& device) {
    require(stream != nullptr && flags <= 1);
    *stream = reinterpret_cast<CUstream>(&device.add_stream(flags == 0, priority, flags));
  });
}
GPUSIM_DRIVER cuStreamCreate(CUstream* stream, unsigned flags) {
  return cuStreamCreateWithPriority(stream, flags, 0);
}
GPUSIM_DRIVER cuStreamDestroy_v2(CUstream stream) {
  return call([&](Device& device) { device.remove_stream(&cudart::stream_of(device, stream)); });
}
GPUSIM_DRIVER cuStreamSynchronize(CUstream stream) {
  return call([&](Device& device) { device.synchronize(cudart::stream_of(device, stream)); });
}
GPUSIM_DRIVER cuStreamQuery(CUstream stream) { return cuStreamSynchronize(stream); }
GPUSIM_DRIVER cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  return call([&](Device& device) {
    device.wait(cudart::stream_of(device, stream), cudart::event_of(device, event));
  });
}
GPUSIM_DRIVER cuStreamAddCallback(CUstream stream, void (*callback)(CUstream, CUresult, void*), void* data,
                                  unsigned) {
  return call([&](Device& device) {
    require(callback != nullptr);
    device.host_function([stream, callback, data] { callback(stream, 0, data); },
                         cudart::stream_of(device, stream));
  });
}
GPUSIM_DRIVER cuLaunchHostFunc(CUstream stream, void (*function)(void*), void* data) {
  return call([&](Device& device) {
    require(function != nullptr);
    device.host_function([function, data] { function(data); }, cudart::stream_of(device, stream));
  });
}
GPUSIM_DRIVER cuEventCreate(CUevent* event, unsigned flags) {
  return call([&](Device& device) {
    require(event != nullptr && flags <= 7);
    *event = reinterpret_cast<CUevent>(&device.add_event((flags & 2) == 0));
  });
}
GPUSIM_DRIVER cuEventDestroy_v2(CUevent event) {
  return call([&](Device& device) { device.remove_event(&cudart::event_of(device, event)); });
}
GPUSIM_DRIVER cuEventRecord(CUevent event, CUstream stream) {
  return call([&](Device& device) {
    device.record(cudart::event_of(device, event), cudart::stream_of(device, stream));
  });
}
GPUSIM_DRIVER cuEventSynchronize(CUevent event) {
  return call([&](Device& device) { device.synchronize(cudart::event_of(device, event)); });
}
GPUSIM_DRIVER cuEventQuery(CUevent event) { return cuEventSynchronize(event); }
GPUSIM_DRIVER cuEventElapsedTime(float* milliseconds, CUevent from, CUevent to) {
  return call([&](Device& device) {
    require(milliseconds != nullptr);
    *milliseconds =
        static_cast<float>(device.milliseconds(cudart::event_of(device, from), cudart::event_of(device, to)));
  });
}
GPUSIM_DRIVER cuProfilerStart() { return 0; }
GPUSIM_DRIVER cuProfilerStop() { return 0; }

/// The newest form of a function, which is what a program of a current toolkit asks for.
GPUSIM_DRIVER cuGetProcAddress_v2(const char* name, void** function, int, unsigned long long, int* status) {
  if (name == nullptr || function == nullptr) return 1;
  static void* const self = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
  *function = nullptr;
  for (const char* suffix : {"_v4", "_v3", "_v2", ""}) {
    // Contexts with parameters are asked for by newer programs only; they take the form without.
    if (std::strcmp(name, "cuCtxCreate") == 0 && (suffix[1] == '3' || suffix[1] == '4')) continue;
    *function = dlsym(self, (std::string(name) + suffix).c_str());
    if (*function != nullptr) break;
  }
  if (status != nullptr) *status = *function == nullptr ? 1 : 0;
  if (*function == nullptr) std::fprintf(stderr, "gpusim: note: %s is not supported\n", name);
  return *function == nullptr && status == nullptr ? static_cast<int>(Code::kSymbolNotFound) : 0;
}
GPUSIM_DRIVER cuGetProcAddress(const char* name, void** function, int version, unsigned long long flags) {
  return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}

}  // namespace gpusim::runtime::driver
