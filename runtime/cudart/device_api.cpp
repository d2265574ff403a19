// Devices, their properties, errors, limits.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "runtime/cudart/api.h"
#include "runtime/device/attributes.h"

namespace gpusim::runtime::cudart {

namespace {

constexpr int kVersion = GPUSIM_CUDART == 11 ? 11080 : GPUSIM_CUDART == 12 ? 12080 : 13000;

static_assert(sizeof(cudaDeviceProp) == (GPUSIM_CUDART >= 13 ? 1008 : GPUSIM_CUDART == 12 ? 1032 : 728));

void fill_properties(const Device& device, cudaDeviceProp& p) {
  const auto get = [&device](int which) { return device_attribute(device.machine(), which).value_or(0); };
  p = {};
  std::snprintf(p.name, sizeof p.name, "%s", device.machine().gpu.name.c_str());
  std::memcpy(p.uuid.bytes, "gpusim", 6);
  p.totalGlobalMem = device.total_bytes();
  p.sharedMemPerBlock = static_cast<size_t>(get(8));
  p.regsPerBlock = get(12);
  p.warpSize = 32;
  p.memPitch = 0x7fffffff;
  p.maxThreadsPerBlock = get(1);
  for (int i = 0; i < 3; ++i) p.maxThreadsDim[i] = get(2 + i), p.maxGridSize[i] = get(5 + i);
  p.totalConstMem = 65536;
  p.major = get(75), p.minor = get(76);
  p.textureAlignment = static_cast<size_t>(get(14));
  p.texturePitchAlignment = static_cast<size_t>(get(51));
  p.multiProcessorCount = get(16);
  p.canMapHostMemory = 1;
#if GPUSIM_CUDART < 13
  p.clockRate = get(13);
  p.deviceOverlap = 1;
  p.maxTexture1DLinear = get(69);
  p.memoryClockRate = get(36);
  p.singleToDoublePrecisionPerfRatio = get(87);
#endif
  p.maxTexture1D = get(21);
  p.maxTexture2D[0] = get(22), p.maxTexture2D[1] = get(23);
  p.maxTexture2DLinear[0] = get(70), p.maxTexture2DLinear[1] = get(71), p.maxTexture2DLinear[2] = get(72);
  p.maxTexture2DGather[0] = get(45), p.maxTexture2DGather[1] = get(46);
  for (int i = 0; i < 3; ++i) p.maxTexture3D[i] = get(24 + i), p.maxSurface3D[i] = get(58 + i);
  p.maxTextureCubemap = get(52);
  p.maxTexture1DLayered[0] = get(42), p.maxTexture1DLayered[1] = get(43);
  for (int i = 0; i < 3; ++i) p.maxTexture2DLayered[i] = get(27 + i);
  p.maxSurface1D = get(55);
  p.maxSurface2D[0] = get(56), p.maxSurface2D[1] = get(57);
  for (int i = 0; i < 3; ++i) p.maxTexture3DAlt[i] = get(47 + i), p.maxSurface2DLayered[i] = get(63 + i);
  p.maxTexture1DMipmap = get(77);
  p.maxTexture2DMipmap[0] = get(73), p.maxTexture2DMipmap[1] = get(74);
  p.maxTextureCubemapLayered[0] = get(53), p.maxTextureCubemapLayered[1] = get(54);
  p.maxSurface1DLayered[0] = get(61), p.maxSurface1DLayered[1] = get(62);
  p.maxSurfaceCubemap = get(66);
  p.maxSurfaceCubemapLayered[0] = get(67), p.maxSurfaceCubemapLayered[1] = get(68);
  p.surfaceAlignment = 512;
  p.ECCEnabled = get(32);
#if GPUSIM_CUDART >= 12
  p.hostRegisterReadOnlySupported = get(113);
  p.gpuDirectRDMAFlushWritesOptions = static_cast<unsigned>(get(117));
  p.gpuDirectRDMAWritesOrdering = get(118);
#endif
  p.persistingL2CacheMaxSize = get(108);
  p.accessPolicyMaxWindowSize = get(109);
  p.concurrentKernels = get(31);
  p.pciBusID = 1;
  p.asyncEngineCount = get(40);
  p.unifiedAddressing = 1;
  p.memoryBusWidth = get(37);
  p.l2CacheSize = get(38);
  p.maxThreadsPerMultiProcessor = get(39);
  p.streamPrioritiesSupported = 1;
  p.globalL1CacheSupported = p.localL1CacheSupported = get(79);
  p.sharedMemPerMultiprocessor = static_cast<size_t>(get(81));
  p.regsPerMultiprocessor = get(82);
  p.managedMemory = get(83);
  p.concurrentManagedAccess = get(89);
  p.computePreemptionSupported = get(90);
  p.canUseHostPointerForRegisteredMem = 1;
  p.cooperativeLaunch = get(95);
  p.sharedMemPerBlockOptin = static_cast<size_t>(get(97));
  p.maxBlocksPerMultiProcessor = get(106);
  p.reservedSharedMemPerBlock = static_cast<size_t>(get(111));
#if GPUSIM_CUDART >= 12
  p.hostRegisterSupported = 1;
  p.memoryPoolsSupported = 1;
  p.memoryPoolSupportedHandleTypes = static_cast<unsigned>(get(119));
  p.ipcEventSupported = get(125);
  p.clusterLaunch = get(120);
#endif
}

constexpr unsigned kMapHost = 8;
struct Settings {
  unsigned flags = kMapHost;
  int cache = 0;
};
Settings& settings() {
  static auto* const all = new Settings;
  return *all;
}

/// At most one way of waiting, and what else there is (cudaDeviceSetDeviceFlags).
bool are_device_flags(unsigned flags) {
  constexpr unsigned kWays = 7, kResizeLocal = 16, kSyncMemory = 128;
  const unsigned way = flags & kWays;
  return (flags & ~(kWays | kMapHost | kResizeLocal | kSyncMemory)) == 0 && (way & (way - 1)) == 0;
}

/// Limits of what graphics programs share with a device, which is nothing here.
constexpr int kGraphicsLimit = 8, kLastLimit = 9;
bool is_limit(int limit) {
  if (limit == kLastLimit) throw Failure(Code::kUnsupportedLimit);
  return limit >= 0 && limit < kLastLimit;
}

}  // namespace

// Errors

GPUSIM_EXPORT cudaError_t cudaGetLastError() {
  // What a kernel has done wrong stays, but is the answer to other calls only.
  return std::exchange(last_error, 0);
}
GPUSIM_EXPORT cudaError_t cudaPeekAtLastError() { return last_error; }
GPUSIM_EXPORT const char* cudaGetErrorName(cudaError_t error) {
  const char* const name = error_name(error);
  return name == nullptr ? "unrecognized error code" : name;
}
GPUSIM_EXPORT const char* cudaGetErrorString(cudaError_t error) {
  const char* const text = error_text(error);
  return text == nullptr ? "unrecognized error code" : text;
}

// Devices

GPUSIM_EXPORT cudaError_t cudaGetDeviceCount(int* count) {
  if (count == nullptr) return returned(Failure(Code::kInvalidValue));
  *count = 0;
  return call([&](Device&) { *count = 1; });
}
GPUSIM_EXPORT cudaError_t cudaGetDevice(int* device) {
  return call([&](Device&) {
    require(device != nullptr);
    *device = 0;
  });
}
void note_call() { use_runtime(); }

GPUSIM_EXPORT cudaError_t cudaSetDevice(int device) {
  return call([&](Device&) { require(device == 0, Code::kInvalidDevice); });
}
GPUSIM_EXPORT cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
  return call([&](Device&) {
    constexpr unsigned kFlagsAreValid = 1;
    require(device == 0, Code::kInvalidDevice);
    require((flags & ~kFlagsAreValid) == 0);
    if (flags != kFlagsAreValid) return;
    require(are_device_flags(device_flags));
    settings().flags = device_flags | kMapHost;
  });
}
GPUSIM_EXPORT cudaError_t cudaSetValidDevices(int* devices, int count) {
  return call([&](Device&) {
    require(count == 0 || devices != nullptr);
    for (int i = 0; i < count; ++i) require(devices[i] == 0, Code::kInvalidDevice);
  });
}
GPUSIM_EXPORT cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted) {
  return call([&](Device&) {
    require(device != nullptr && wanted != nullptr);
    *device = 0;
  });
}
GPUSIM_EXPORT cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return call([&](Device&) {
    require(flags != nullptr);
    *flags = settings().flags;
  });
}
GPUSIM_EXPORT cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return call([&](Device&) {
    require(are_device_flags(flags));
    settings().flags = flags | kMapHost;
  });
}
GPUSIM_EXPORT cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int number) {
  return call([&](Device& device) {
    require(properties != nullptr);
    require(number == 0, Code::kInvalidDevice);
    fill_properties(device, *properties);
  });
}
GPUSIM_EXPORT cudaError_t cudaGetDeviceProperties_v2(cudaDeviceProp* properties, int number) {
  return cudaGetDeviceProperties(properties, number);
}
GPUSIM_EXPORT cudaError_t cudaDeviceGetAttribute(int* value, int which, int number) {
  return call([&](Device& device) {
    const std::optional<int> answer = device_attribute(device.machine(), which);
    require(value != nullptr && answer.has_value());
    require(number == 0, Code::kInvalidDevice);
    *value = *answer;
  });
}
GPUSIM_EXPORT cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t* elements,
                                                               const cudaChannelFormatDesc* format,
                                                               int number) {
  return call([&](Device& device) {
    require(elements != nullptr && format != nullptr);
    require(number == 0, Code::kInvalidDevice);
    *elements = linear_texture_width(device.machine(), channels(*format).bits());
  });
}
GPUSIM_EXPORT cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int number) {
  return call([&](Device&) {
    require(text != nullptr && length > static_cast<int>(std::strlen(kPciBusId)));
    require(number == 0, Code::kInvalidDevice);
    std::snprintf(text, static_cast<size_t>(length), "%s", kPciBusId);
  });
}
GPUSIM_EXPORT cudaError_t cudaDeviceGetByPCIBusId(int* number, const char* text) {
  return call([&](Device&) {
    require(number != nullptr && text != nullptr && is_pci_bus_id(text));
    require(std::strcmp(text, kPciBusId) == 0, Code::kInvalidDevice);
    *number = 0;
  });
}
GPUSIM_EXPORT cudaError_t cudaRuntimeGetVersion(int* version) {
  if (version == nullptr) return returned(Failure(Code::kInvalidValue));
  *version = kVersion;
  return 0;
}
GPUSIM_EXPORT cudaError_t cudaDriverGetVersion(int* version) { return cudaRuntimeGetVersion(version); }

// Functions of the driver library, which lies beside this one. One that is not there is no error, but null.
namespace {
void* beside_this(const char* library) {
  Dl_info here{};
  if (dladdr(reinterpret_cast<void*>(&cudaDriverGetVersion), &here) == 0 || here.dli_fname == nullptr)
    return nullptr;
  return dlopen(std::filesystem::path(here.dli_fname).replace_filename(library).c_str(), RTLD_LAZY);
}

cudaError_t driver_function(const char* symbol, void** function, unsigned version, unsigned long long flags,
                            int* status) {
  return call([&](Device&) {
    constexpr unsigned long long kFlags = 3;
    require(symbol != nullptr && function != nullptr && (flags & ~kFlags) == 0);
    *function = nullptr;
    static void* const driver = beside_this("libcuda.so.1");
    using LookUp = int (*)(const char*, void**, int, unsigned long long, int*);
    const auto look_up =
        driver == nullptr ? nullptr : reinterpret_cast<LookUp>(dlsym(driver, "cuGetProcAddress_v2"));
    require(look_up != nullptr, Code::kNotSupported);
    int found = 0;
    look_up(symbol, function, static_cast<int>(version), flags, &found);
    if (status != nullptr) *status = found;
  });
}
}  // namespace
#if GPUSIM_CUDART == 11
GPUSIM_EXPORT cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function,
                                                  unsigned long long flags) {
  return driver_function(symbol, function, kVersion, flags, nullptr);
}
GPUSIM_EXPORT cudaError_t cudaGetDriverEntryPoint_ptsz(const char* symbol, void** function,
                                                       unsigned long long flags) {
  return driver_function(symbol, function, kVersion, flags, nullptr);
}
#else
GPUSIM_EXPORT cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function,
                                                  unsigned long long flags, int* status) {
  return driver_function(symbol, function, kVersion, flags, status);
}
GPUSIM_EXPORT cudaError_t cudaGetDriverEntryPoint_ptsz(const char* symbol, void** function,
                                                       unsigned long long flags, int* status) {
  return driver_function(symbol, function, kVersion, flags, status);
}
GPUSIM_EXPORT cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function,
                                                           unsigned version, unsigned long long flags,
                                                           int* status) {
  return driver_function(symbol, function, version, flags, status);
}
GPUSIM_EXPORT cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char* symbol, void** function,
                                                                unsigned version, unsigned long long flags,
                                                                int* status) {
  return driver_function(symbol, function, version, flags, status);
}
#endif

GPUSIM_EXPORT cudaError_t cudaDeviceSynchronize() {
  return call([](Device& device) {
    refuse_while_anything_is_captured();
    device.synchronize();
  });
}
GPUSIM_EXPORT cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
GPUSIM_EXPORT cudaError_t cudaDeviceReset() {
  return call([](Device& device) {
    device.reset();
    forget_memory_of_graphs();
    forget_pieces_of_pools();
  });
}
GPUSIM_EXPORT cudaError_t cudaThreadExit() { return cudaDeviceReset(); }

GPUSIM_EXPORT cudaError_t cudaDeviceGetLimit(size_t* value, int limit) {
  return call([&](Device& device) {
    require(value != nullptr && is_limit(limit));
    *value = limit == kGraphicsLimit ? 0 : device.limit(static_cast<Device::Limit>(limit));
  });
}
GPUSIM_EXPORT cudaError_t cudaDeviceSetLimit(int limit, size_t value) {
  return call([&](Device& device) {
    refuse_if_unsafe();
    require(is_limit(limit));
    require(device.set_limit(static_cast<Device::Limit>(limit), value));
  });
}

GPUSIM_EXPORT cudaError_t cudaDeviceGetCacheConfig(int* config) {
  return call([&](Device&) {
    require(config != nullptr);
    *config = settings().cache;
  });
}
GPUSIM_EXPORT cudaError_t cudaDeviceSetCacheConfig(int config) {
  return call([&](Device&) {
    require(config >= 0 && config <= 3);
    settings().cache = config;
  });
}
GPUSIM_EXPORT cudaError_t cudaDeviceGetSharedMemConfig(int* config) {
  return call([&](Device&) {
    require(config != nullptr);
    *config = 1;  // banks of four bytes
  });
}
GPUSIM_EXPORT cudaError_t cudaDeviceSetSharedMemConfig(int) {
  return call([](Device&) {});
}
GPUSIM_EXPORT cudaError_t cudaCtxResetPersistingL2Cache() {
  return call([](Device&) {});
}
/// For devices whose gpuDirectRDMAFlushWritesOptions say so. There are no writes of other devices.
GPUSIM_EXPORT cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(int target, int scope) {
  constexpr int kCurrentDevice = 0, kToOwner = 100, kToAllDevices = 200;
  constexpr int kOptions = 117;
  return call([&](Device& device) {
    require(target == kCurrentDevice && (scope == kToOwner || scope == kToAllDevices));
    require(device_attribute(device.machine(), kOptions) != 0, Code::kNotSupported);
  });
}
// Their names before CUDA 4
#if GPUSIM_CUDART < 13
GPUSIM_EXPORT cudaError_t cudaThreadGetLimit(size_t* value, int limit) {
  return cudaDeviceGetLimit(value, limit);
}
GPUSIM_EXPORT cudaError_t cudaThreadSetLimit(int limit, size_t value) {
  return cudaDeviceSetLimit(limit, value);
}
GPUSIM_EXPORT cudaError_t cudaThreadGetCacheConfig(int* config) { return cudaDeviceGetCacheConfig(config); }
GPUSIM_EXPORT cudaError_t cudaThreadSetCacheConfig(int config) { return cudaDeviceSetCacheConfig(config); }
#endif
GPUSIM_EXPORT cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return call([&](Device&) {
    require(can != nullptr);
    require(device == 0 && peer == 0, Code::kInvalidDevice);
    *can = 0;
  });
}
GPUSIM_EXPORT cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
  return call(
      [&](Device&) { throw Failure(peer == 0 ? Code::kPeerAccessUnsupported : Code::kInvalidDevice); });
}
GPUSIM_EXPORT cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return call(
      [&](Device&) { throw Failure(peer == 0 ? Code::kPeerAccessNotEnabled : Code::kInvalidDevice); });
}
GPUSIM_EXPORT cudaError_t cudaDeviceGetP2PAttribute(int* value, int, int, int) {
  return call([&](Device&) {
    require(value != nullptr);
    throw Failure(Code::kInvalidDevice);
  });
}
GPUSIM_EXPORT cudaError_t cudaProfilerStart() { return 0; }
GPUSIM_EXPORT cudaError_t cudaProfilerStop() { return 0; }

}  // namespace gpusim::runtime::cudart
