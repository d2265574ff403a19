// Initialisation, error texts, the one device, and contexts.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <set>
#include <vector>

#include "runtime/device/attributes.h"
#include "runtime/driver/driver.h"

namespace gpusim::runtime::driver {

namespace {

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
std::atomic<int> primary_users{0};

/// The runtime library makes the primary context that of each thread that uses it.
CUcontext current_context() {
  if (!current_contexts.empty()) return current_contexts.back();
  return thread_uses_runtime() ? kPrimary : nullptr;
}

CUcontext new_context() {
  const auto handle = reinterpret_cast<CUcontext>(contexts().next++);
  contexts().made.insert(handle);
  return handle;
}

struct ErrorName {
  int code;
  const char* name;
};
constexpr ErrorName kNames[] = {
#include "runtime/driver/error_names.inc"
};

}  // namespace

}  // namespace gpusim::runtime::driver

namespace gpusim::runtime::cudart {
void note_call() {}
}  // namespace gpusim::runtime::cudart

namespace gpusim::runtime::driver {

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
GPUSIM_DRIVER cuDeviceGetPCIBusId(char* text, int length, CUdevice number) {
  return call([&](Device&) {
    require(text != nullptr && length > static_cast<int>(std::strlen(kPciBusId)));
    require(number == 0, Code::kInvalidDevice);
    std::snprintf(text, static_cast<size_t>(length), "%s", kPciBusId);
  });
}
GPUSIM_DRIVER cuDeviceGetByPCIBusId(CUdevice* number, const char* text) {
  return call([&](Device&) {
    require(number != nullptr && text != nullptr && std::strcmp(text, kPciBusId) == 0);
    *number = 0;
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
    *value = device_attribute(device.machine(), attribute);
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
GPUSIM_DRIVER cuDeviceGetP2PAttribute(int* value, int, CUdevice, CUdevice) {
  return static_cast<int>(value == nullptr ? Code::kInvalidValue : Code::kInvalidDevice);
}
GPUSIM_DRIVER cuCtxEnablePeerAccess(CUcontext, unsigned flags) {
  return static_cast<int>(flags != 0 ? Code::kInvalidValue : Code::kInvalidDevice);
}
GPUSIM_DRIVER cuCtxDisablePeerAccess(CUcontext) { return static_cast<int>(Code::kPeerAccessNotEnabled); }
/// Contexts that have only some SMs need a service that is not here.
GPUSIM_DRIVER cuDeviceGetExecAffinitySupport(int* supported, int, CUdevice number) {
  return call([&](Device&) {
    require(supported != nullptr);
    require(number == 0, Code::kInvalidDevice);
    *supported = 0;
  });
}
GPUSIM_DRIVER cuCtxGetExecAffinity(void* affinity, int) {
  constexpr int kUnsupportedAffinity = 224;
  return affinity == nullptr ? 1 : kUnsupportedAffinity;
}
GPUSIM_DRIVER cuDeviceGetTexture1DLinearMaxWidth(size_t* elements, int, unsigned, CUdevice number) {
  constexpr int kMaxTexture1DLinear = 69;
  return call([&](Device& device) {
    require(elements != nullptr);
    require(number == 0, Code::kInvalidDevice);
    *elements = static_cast<size_t>(device_attribute(device.machine(), kMaxTexture1DLinear));
  });
}
/// CUdevprop
struct DeviceProperties {
  int max_threads, max_block[3], max_grid[3], shared_bytes, constant_bytes, warp, pitch, registers, clock,
      alignment;
};
GPUSIM_DRIVER cuDeviceGetProperties(DeviceProperties* p, CUdevice number) {
  return call([&](Device& device) {
    require(p != nullptr);
    require(number == 0, Code::kInvalidDevice);
    constexpr int kAttributes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
    static_assert(sizeof(*p) == sizeof(kAttributes));
    int values[std::size(kAttributes)];
    std::ranges::transform(kAttributes, values, [&](int a) { return device_attribute(device.machine(), a); });
    std::memcpy(p, values, sizeof(values));
  });
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
  const CUcontext current = current_context();
  if (current == nullptr) return static_cast<int>(Code::kDeviceUninitialized);
  if (context != nullptr) *context = current;
  if (!current_contexts.empty()) current_contexts.pop_back();
  return 0;
}
GPUSIM_DRIVER cuCtxSetCurrent(CUcontext context) {
  if (!current_contexts.empty()) current_contexts.pop_back();
  if (context != nullptr) current_contexts.push_back(context);
  return 0;
}
GPUSIM_DRIVER cuCtxGetCurrent(CUcontext* context) {
  if (context == nullptr) return 1;
  *context = current_context();
  return 0;
}
/// One device has one set of streams, whichever context made them.
GPUSIM_DRIVER cuStreamGetCtx(CUstream stream, CUcontext* context) {
  return call([&](Device& device) {
    require(context != nullptr);
    (void)cudart::stream_of(device, stream);
    const CUcontext current = current_context();
    *context = current == nullptr ? kPrimary : current;
  });
}
GPUSIM_DRIVER cuStreamGetCtx_ptsz(CUstream stream, CUcontext* context) {
  return cuStreamGetCtx(stream, context);
}
GPUSIM_DRIVER cuCtxGetDevice(CUdevice* device) {
  if (device == nullptr) return 1;
  if (current_context() == nullptr) return static_cast<int>(Code::kDeviceUninitialized);
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
  return call([](Device& device) {
    cudart::refuse_while_anything_is_captured();
    device.synchronize();
  });
}
GPUSIM_DRIVER cuCtxRecordEvent(CUcontext, CUevent event) {
  return call([&](Device& device) {
    cudart::refuse_while_anything_is_captured();
    device.record_all(cudart::event_of(device, event));
  });
}
GPUSIM_DRIVER cuCtxWaitEvent(CUcontext, CUevent event) {
  return call([&](Device& device) {
    cudart::refuse_while_anything_is_captured();
    device.wait_all(cudart::event_of(device, event));
  });
}
/// For devices whose attribute of its options says so, which this one's does not.
GPUSIM_DRIVER cuFlushGPUDirectRDMAWrites(int target, int scope) {
  constexpr int kCurrentContext = 0, kToOwner = 100, kToAllDevices = 200;
  return call([&](Device&) {
    require(target == kCurrentContext && (scope == kToOwner || scope == kToAllDevices));
    require(false, Code::kNotSupported);
  });
}
GPUSIM_DRIVER cuCtxGetId(CUcontext context, unsigned long long* id) {
  if (context == nullptr) context = current_context();
  if (context == nullptr) return static_cast<int>(Code::kDeviceUninitialized);
  if (id == nullptr) return 1;
  *id = reinterpret_cast<uintptr_t>(context);
  return 0;
}
GPUSIM_DRIVER cuCtxDetach(CUcontext context) { return cuCtxDestroy_v2(context); }
GPUSIM_DRIVER cuCtxSetLimit(int limit, size_t value) {
  return call([&](Device& device) {
    require(limit >= 0 && limit < 8);
    require(device.set_limit(static_cast<Device::Limit>(limit), value));
  });
}
GPUSIM_DRIVER cuCtxGetLimit(size_t* value, int limit) {
  return call([&](Device& device) {
    require(value != nullptr && limit >= 0 && limit < static_cast<int>(Device::kLimits));
    *value = device.limit(static_cast<Device::Limit>(limit));
  });
}
GPUSIM_DRIVER cuCtxSetCacheConfig(int) { return 0; }
GPUSIM_DRIVER cuCtxSetSharedMemConfig(int) { return 0; }
GPUSIM_DRIVER cuCtxGetCacheConfig(int* config) {
  if (config == nullptr) return 1;
  *config = 0;  // CU_FUNC_CACHE_PREFER_NONE
  return 0;
}
GPUSIM_DRIVER cuCtxGetSharedMemConfig(int* config) {
  constexpr int kFourBytes = 1;
  if (config == nullptr) return 1;
  *config = kFourBytes;
  return 0;
}
GPUSIM_DRIVER cuCtxResetPersistingL2Cache() { return 0; }
GPUSIM_DRIVER cuCtxSetFlags(unsigned) { return 0; }
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
  if (active != nullptr) *active = primary_users != 0 || thread_uses_runtime();
  return 0;
}

}  // namespace gpusim::runtime::driver
