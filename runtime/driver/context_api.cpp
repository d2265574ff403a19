// Initialisation, error texts, the one device, and contexts.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <vector>

#include "runtime/device/attributes.h"
#include "runtime/device/of_thread.h"
#include "runtime/driver/driver.h"

namespace gpusim::runtime::driver {

namespace {

// One device has one context; programs may make several handles of it.
struct Context {
  unsigned flags = 0;
  unsigned users = 1;  ///< cuCtxAttach() and cuCtxDetach()
};
struct Contexts {
  std::map<CUcontext, Context> made;
  uintptr_t next = 0x100;
  // Of the device's primary context. A reset leaves its users as they are, who may release it after that; the
  // next one who retains it can use it again.
  Context primary{0, 0};
  bool is_primary_there = false;
  int cache = 0;
};
Contexts& contexts() {
  static auto* const all = new Contexts;
  return *all;
}
std::vector<CUcontext>& current_contexts() { return of_thread<std::vector<CUcontext>>(); }
std::atomic<bool> initialised{false};

bool is_primary_active() { return contexts().is_primary_there || is_runtime_used(); }
/// At most one way of waiting, and what else contexts may be made with.
constexpr unsigned kWaysToWait = 7, kMapHost = 8;
bool are_context_flags(unsigned flags) {
  constexpr unsigned kAll = 0xff;
  const unsigned way = flags & kWaysToWait;
  return (flags & ~kAll) == 0 && (way & (way - 1)) == 0;
}

Context& context_at(CUcontext handle) {
  if (handle == kPrimary) return contexts().primary;
  const auto at = contexts().made.find(handle);
  require(at != contexts().made.end(), Code::kDeviceUninitialized);
  return at->second;
}

struct ErrorName {
  int code;
  const char* name;
};
constexpr ErrorName kNames[] = {
#include "runtime/driver/error_names.inc"
};
/// Errors that the runtime does not know, with their texts.
constexpr ErrorName kTexts[] = {{202, "context already current"},
                                {916, "an error happened during the key rotation sequence"}};

}  // namespace

bool is_alive(CUcontext context) {
  return context == kPrimary ? is_primary_active() : contexts().made.contains(context);
}

/// The runtime library makes the primary context that of each thread that uses it.
CUcontext current_context() {
  if (!current_contexts().empty()) return current_contexts().back();
  return thread_uses_runtime() ? kPrimary : nullptr;
}

namespace {
/// Not what was never made or has been destroyed; a primary context that is not active says so when it is
/// used.
bool may_be_current(CUcontext context) { return context == kPrimary || is_alive(context); }
/// Streams that the thread makes from now on, by either library, are of its green context, if it has one.
void note_current_context() { owner_of_new_streams() = part_of(current_context()); }
}  // namespace

CUcontext new_context(unsigned flags) {
  const auto handle = reinterpret_cast<CUcontext>(contexts().next++);
  contexts().made[handle].flags = flags;
  return handle;
}

void end_context(CUcontext context) {
  contexts().made.erase(context);
  std::erase(current_contexts(), context);
  note_current_context();
}

}  // namespace gpusim::runtime::driver

namespace gpusim::runtime::cudart {
/// Before any other function, the driver is initialised; the runtime does that itself.
void note_call() { require(driver::initialised || is_runtime_used(), Code::kInitializationError); }
}  // namespace gpusim::runtime::cudart

namespace gpusim::runtime::driver {

CUresult missing_context() {
  if (!initialised && !is_runtime_used()) return static_cast<int>(Code::kInitializationError);
  const CUcontext current = current_context();
  if (current == nullptr) return static_cast<int>(Code::kDeviceUninitialized);
  return is_alive(current) ? 0 : static_cast<int>(Code::kContextIsDestroyed);
}

GPUSIM_DRIVER cuInit(unsigned flags) {
  if (flags != 0) return static_cast<int>(Code::kInvalidValue);
  initialised = true;
  return call([](Device&) {});
}
GPUSIM_DRIVER cuDriverGetVersion(int* version) {
  if (version == nullptr) return 1;
  *version = 13000;
  return 0;
}
GPUSIM_DRIVER cuGetErrorName(CUresult error, const char** name) {
  const auto* const at = std::ranges::find(kNames, error, &ErrorName::code);
  if (name == nullptr) return 1;
  *name = at == std::end(kNames) ? nullptr : at->name;
  return *name == nullptr ? 1 : 0;
}
GPUSIM_DRIVER cuGetErrorString(CUresult error, const char** text) {
  if (text == nullptr) return 1;
  const bool known = std::ranges::find(kNames, error, &ErrorName::code) != std::end(kNames);
  const auto* const at = std::ranges::find(kTexts, error, &ErrorName::code);
  *text = at != std::end(kTexts) ? at->name : known ? error_text(error) : nullptr;
  return *text == nullptr ? 1 : 0;
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
    require(number != nullptr && text != nullptr && is_pci_bus_id(text));
    require(std::strcmp(text, kPciBusId) == 0, Code::kInvalidDevice);
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
    const std::optional<int> answer = device_attribute(device.machine(), attribute);
    require(value != nullptr && answer.has_value());
    require(number == 0, Code::kInvalidDevice);
    *value = *answer;
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
GPUSIM_DRIVER cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  if (can == nullptr) return 1;
  if (device != 0 || peer != 0) return static_cast<int>(Code::kInvalidDevice);
  *can = 0;
  return 0;
}
GPUSIM_DRIVER cuDeviceGetP2PAttribute(int* value, int, CUdevice, CUdevice) {
  return static_cast<int>(value == nullptr ? Code::kInvalidValue : Code::kInvalidDevice);
}
GPUSIM_DRIVER cuCtxEnablePeerAccess(CUcontext, unsigned flags) {
  return static_cast<int>(flags != 0 ? Code::kInvalidValue : Code::kPeerAccessUnsupported);
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
GPUSIM_DRIVER cuDeviceGetTexture1DLinearMaxWidth(size_t* elements, int format, unsigned channels,
                                                 CUdevice number) {
  return call([&](Device& device) {
    require(elements != nullptr);
    require(number == 0, Code::kInvalidDevice);
    *elements = linear_texture_width(device.machine(), format_of(format, channels).bits());
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
    std::ranges::transform(kAttributes, values,
                           [&](int a) { return device_attribute(device.machine(), a).value_or(0); });
    std::memcpy(p, values, sizeof(values));
  });
}

GPUSIM_DRIVER cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice number) {
  return call([&](Device& device) {
    require(context != nullptr && are_context_flags(flags));
    require(number == 0, Code::kInvalidDevice);
    device.check();
    *context = new_context(flags);
    current_contexts().push_back(*context);
    note_current_context();
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
    require(context != nullptr);
    require(contexts().made.contains(context) && green_context_of(context) == nullptr,
            Code::kDeviceUninitialized);
    device.synchronize();
    end_context(context);
  });
}
GPUSIM_DRIVER cuCtxPushCurrent_v2(CUcontext context) {
  if (context == nullptr) return static_cast<int>(Code::kInvalidValue);
  if (!may_be_current(context)) return static_cast<int>(Code::kDeviceUninitialized);
  current_contexts().push_back(context);
  note_current_context();
  return 0;
}
GPUSIM_DRIVER cuCtxPopCurrent_v2(CUcontext* context) {
  const CUcontext current = current_context();
  if (current == nullptr) return static_cast<int>(Code::kDeviceUninitialized);
  if (context != nullptr) *context = current;
  if (!current_contexts().empty()) current_contexts().pop_back();
  note_current_context();
  return 0;
}
GPUSIM_DRIVER cuCtxSetCurrent(CUcontext context) {
  if (context != nullptr && !may_be_current(context)) return static_cast<int>(Code::kDeviceUninitialized);
  if (!current_contexts().empty()) current_contexts().pop_back();
  if (context != nullptr) current_contexts().push_back(context);
  note_current_context();
  return 0;
}
GPUSIM_DRIVER cuCtxGetCurrent(CUcontext* context) {
  if (context == nullptr) return 1;
  if (!initialised && !is_runtime_used()) return static_cast<int>(Code::kInitializationError);
  *context = current_context();
  return 0;
}
GPUSIM_DRIVER cuCtxGetDevice(CUdevice* device) {
  if (device == nullptr) return 1;
  if (current_context() == nullptr) return static_cast<int>(Code::kDeviceUninitialized);
  *device = 0;
  return 0;
}
/// Of a context by its handle; null is the current one.
GPUSIM_DRIVER cuCtxGetDevice_v2(CUdevice* device, CUcontext context) {
  if (context == nullptr) return cuCtxGetDevice(device);
  if (device == nullptr) return 1;
  if (!is_alive(context)) return static_cast<int>(Code::kDeviceUninitialized);
  *device = 0;
  return 0;
}
/// Null is the current one.
GPUSIM_DRIVER cuCtxGetApiVersion(CUcontext context, unsigned* version) {
  if (version == nullptr) return 1;
  if (!is_alive(context == nullptr ? current_context() : context))
    return static_cast<int>(Code::kDeviceUninitialized);
  *version = 3020;  // of contexts, since cuCtxCreate_v2
  return 0;
}
GPUSIM_DRIVER cuCtxGetFlags(unsigned* flags) {
  return in_context([&](Device&) {
    require(flags != nullptr);
    *flags = context_at(current_context()).flags | kMapHost;
  });
}
GPUSIM_DRIVER cuCtxSynchronize() {
  return in_context([](Device& device) {
    cudart::refuse_while_anything_is_captured();
    device.synchronize();
  });
}
GPUSIM_DRIVER cuCtxSynchronize_v2(CUcontext context) {
  if (context == nullptr) return cuCtxSynchronize();
  return call([&](Device& device) {
    require(is_alive(context), Code::kDeviceUninitialized);
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
/// For devices whose attribute of its options says so. There are no writes of other devices.
GPUSIM_DRIVER cuFlushGPUDirectRDMAWrites(int target, int scope) {
  constexpr int kCurrentContext = 0, kToOwner = 100, kToAllDevices = 200;
  constexpr int kOptions = 117;
  return call([&](Device& device) {
    require(target == kCurrentContext && (scope == kToOwner || scope == kToAllDevices));
    require(device_attribute(device.machine(), kOptions).value_or(0) != 0, Code::kNotSupported);
  });
}
GPUSIM_DRIVER cuCtxGetId(CUcontext context, unsigned long long* id) {
  if (context == nullptr) context = current_context();
  if (context == nullptr) return static_cast<int>(Code::kDeviceUninitialized);
  if (id == nullptr) return 1;
  *id = reinterpret_cast<uintptr_t>(context);
  return 0;
}
// Uses of a context are counted; with the last it is destroyed.
GPUSIM_DRIVER cuCtxAttach(CUcontext* context, unsigned flags) {
  return in_context([&](Device&) {
    require(context != nullptr && flags == 0);
    *context = current_context();
    ++context_at(*context).users;
  });
}
GPUSIM_DRIVER cuCtxDetach(CUcontext context) {
  bool last = false;
  const CUresult error = call([&](Device&) {
    require(context != nullptr);
    Context& c = context_at(context);
    last = c.users <= 1;
    if (!last) --c.users;
  });
  return error != 0 || !last ? error : cuCtxDestroy_v2(context);
}
namespace {
/// Limits of what graphics programs share with a device, which is nothing here.
constexpr int kLimitOfGraphics = 8, kLastLimitNumber = 9;
bool is_limit_number(int limit) {
  require(limit != kLastLimitNumber, Code::kUnsupportedLimit);
  return limit >= 0 && limit < kLastLimitNumber;
}
}  // namespace
GPUSIM_DRIVER cuCtxSetLimit(int limit, size_t value) {
  return in_context([&](Device& device) {
    cudart::refuse_if_unsafe();
    device.check();
    require(is_limit_number(limit));
    require(device.set_limit(static_cast<Device::Limit>(limit), value));
  });
}
GPUSIM_DRIVER cuCtxGetLimit(size_t* value, int limit) {
  return in_context([&](Device& device) {
    device.check();
    require(value != nullptr && is_limit_number(limit));
    *value = limit == kLimitOfGraphics ? 0 : device.limit(static_cast<Device::Limit>(limit));
  });
}
GPUSIM_DRIVER cuCtxSetCacheConfig(int config) {
  return in_context([&](Device&) {
    require(config >= 0 && config <= 3);
    contexts().cache = config;
  });
}
GPUSIM_DRIVER cuCtxSetSharedMemConfig(int config) {
  return in_context([&](Device&) { require(config >= 0 && config <= 2); });
}
GPUSIM_DRIVER cuCtxGetCacheConfig(int* config) {
  return in_context([&](Device&) {
    require(config != nullptr);
    *config = contexts().cache;
  });
}
GPUSIM_DRIVER cuCtxGetSharedMemConfig(int* config) {
  constexpr int kFourBytes = 1;
  if (config == nullptr) return 1;
  *config = kFourBytes;
  return 0;
}
GPUSIM_DRIVER cuCtxResetPersistingL2Cache() { return 0; }
GPUSIM_DRIVER cuCtxSetFlags(unsigned flags) {
  return in_context([&](Device&) {
    require(are_context_flags(flags));
    context_at(current_context()).flags = flags;
  });
}
GPUSIM_DRIVER cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return 0;
}
GPUSIM_DRIVER cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice number) {
  return call([&](Device& device) {
    require(context != nullptr);
    require(number == 0, Code::kInvalidDevice);
    device.check();
    ++contexts().primary.users;
    contexts().is_primary_there = true;
    *context = kPrimary;
  });
}
GPUSIM_DRIVER cuDevicePrimaryCtxRelease_v2(CUdevice number) {
  return call([&](Device&) {
    require(number == 0, Code::kInvalidDevice);
    Context& primary = contexts().primary;
    require(primary.users != 0, Code::kDeviceUninitialized);
    if (--primary.users != 0) return;
    primary.flags = 0;
    contexts().is_primary_there = false;
  });
}
GPUSIM_DRIVER cuDevicePrimaryCtxRelease(CUdevice device) { return cuDevicePrimaryCtxRelease_v2(device); }
GPUSIM_DRIVER cuDevicePrimaryCtxReset_v2(CUdevice number) {
  return call([&](Device& device) {
    require(number == 0, Code::kInvalidDevice);
    device.reset();
    contexts().primary.flags = 0;
    contexts().is_primary_there = false;
  });
}
GPUSIM_DRIVER cuDevicePrimaryCtxSetFlags_v2(CUdevice number, unsigned flags) {
  return call([&](Device&) {
    require(number == 0, Code::kInvalidDevice);
    require(are_context_flags(flags));
    contexts().primary.flags = flags;
  });
}
GPUSIM_DRIVER cuDevicePrimaryCtxGetState(CUdevice number, unsigned* flags, int* active) {
  return call([&](Device&) {
    require(number == 0, Code::kInvalidDevice);
    require(flags != nullptr && active != nullptr);
    *flags = contexts().primary.flags;
    *active = is_primary_active();
  });
}

}  // namespace gpusim::runtime::driver
