// Green contexts (CUDA Driver API, "Green Contexts"): the multiprocessors of the device are split, and a
// context is made of a part, to which the kernels of its streams are kept.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "runtime/device/attributes.h"
#include "runtime/driver/driver.h"

namespace gpusim::runtime::driver {

/// CUdevResource
struct DeviceResource {
  int type = 0;
  // What the manual leaves to the implementation: the multiprocessors from `first` on, and the split that
  // they come from.
  uint32_t first = 0, split = 0;
  uint32_t list = 0;  ///< of State::lists, from 1: what `first` counts in; 0: all of the device
  unsigned char unused[80] = {};
  uint32_t count = 0, least = 0, alignment = 0;
  unsigned char rest[36] = {};
};
static_assert(sizeof(DeviceResource) == 144);

struct GreenContext : SmPart {
  CUcontext context = nullptr;
  DeviceResource resource;
  bool is_alive = true;
};

namespace {

constexpr int kNoResource = 0, kMultiprocessors = 1;

struct Descriptor {
  DeviceResource resource;
};
struct State {
  std::mutex mutex;  ///< of `made`, which threads read that only change their current context
  /// All there ever were, so that a handle never means another one.
  std::vector<std::unique_ptr<GreenContext>> made;
  std::vector<std::unique_ptr<Descriptor>> descriptors;  ///< no function ends them
  uint32_t splits = 0;
  std::vector<std::vector<uint32_t>> lists;  ///< multiprocessors of several parts together
};
State& state() {
  static auto* const all = new State;
  return *all;
}

GreenContext* find_green(const auto& is_it) {
  const std::scoped_lock lock(state().mutex);
  const auto at = std::ranges::find_if(state().made, [&](const auto& g) { return g->is_alive && is_it(*g); });
  return at == state().made.end() ? nullptr : at->get();
}
GreenContext& green(const GreenContext* handle) {
  GreenContext* const found = find_green([&](const GreenContext& g) { return &g == handle; });
  require(found != nullptr, Code::kDeviceUninitialized);
  return *found;
}

/// The least part and what parts are multiples of (guideline of cuda.h).
void set_granularity(const Device& device, DeviceResource& r, bool ignores_clusters) {
  const auto capability = static_cast<int>(device.machine().gpu.compute_capability);
  constexpr int kAmpere = 80, kHopper = 90;
  r.alignment = capability >= kHopper && !ignores_clusters ? 8 : 2;
  r.least = capability < kAmpere || ignores_clusters ? 2 : capability < kHopper ? 4 : 8;
}

DeviceResource all_multiprocessors(const Device& device) {
  constexpr int kMultiprocessorCount = 16;  // CUdevice_attribute
  DeviceResource r;
  r.type = kMultiprocessors;
  r.count = static_cast<uint32_t>(device_attribute(device.machine(), kMultiprocessorCount).value_or(0));
  set_granularity(device, r, false);
  return r;
}

std::vector<uint32_t> multiprocessors_of(const Device& device, const DeviceResource& r) {
  require(r.list <= state().lists.size(), Code::kInvalidResourceConfiguration);
  const std::vector<uint32_t> all = r.list == 0 ? device.sms_in_parts() : state().lists[r.list - 1];
  require(uint64_t{r.first} + r.count <= all.size(), Code::kInvalidResourceConfiguration);
  const auto first = all.begin() + r.first;
  return {first, first + r.count};
}

void give(DeviceResource* to, int type, const DeviceResource& resource) {
  require(to != nullptr);
  require(type == kMultiprocessors, Code::kInvalidResourceType);
  *to = resource;
}

}  // namespace

GreenContext* green_context_of(CUcontext context) {
  return context == nullptr || context == kPrimary
             ? nullptr
             : find_green([&](const GreenContext& g) { return g.context == context; });
}

const SmPart* part_of(CUcontext context) { return green_context_of(context); }

GPUSIM_DRIVER cuDeviceGetDevResource(CUdevice number, DeviceResource* resource, int type) {
  return call([&](Device& device) {
    require(number == 0, Code::kInvalidDevice);
    give(resource, type, all_multiprocessors(device));
  });
}
GPUSIM_DRIVER cuCtxGetDevResource(CUcontext context, DeviceResource* resource, int type) {
  return call([&](Device& device) {
    require(context != nullptr && is_alive(context), Code::kDeviceUninitialized);
    const GreenContext* const g = green_context_of(context);
    give(resource, type, g == nullptr ? all_multiprocessors(device) : g->resource);
  });
}
GPUSIM_DRIVER cuGreenCtxGetDevResource(GreenContext* handle, DeviceResource* resource, int type) {
  return call([&](Device&) { give(resource, type, green(handle).resource); });
}
GPUSIM_DRIVER cuDevSmResourceSplitByCount(DeviceResource* result, unsigned* groups,
                                          const DeviceResource* input, DeviceResource* remaining,
                                          unsigned flags, unsigned least) {
  constexpr unsigned kIgnoreClusters = 1, kLargestClusters = 2;
  return call([&](Device& device) {
    require(groups != nullptr && input != nullptr && (flags & ~(kIgnoreClusters | kLargestClusters)) == 0);
    require(input->type == kMultiprocessors, Code::kInvalidResourceType);
    require(input->split == 0, Code::kInvalidResourceConfiguration);
    require(least <= input->count);
    DeviceResource part = *input;
    set_granularity(device, part, (flags & kIgnoreClusters) != 0);
    const uint32_t wanted = std::max(least, part.least);
    part.count = (wanted + part.alignment - 1) / part.alignment * part.alignment;
    const unsigned possible = input->count / part.count;
    *groups = result == nullptr ? possible : std::min(*groups, possible);
    part.split = ++state().splits;
    for (unsigned i = 0; i < *groups && result != nullptr; ++i) {
      result[i] = part;
      result[i].first = input->first + i * part.count;
    }
    if (remaining == nullptr) return;
    const uint32_t taken = *groups * part.count;
    part.first = input->first + taken;
    part.count = input->count - taken;
    *remaining = part.count == 0 ? DeviceResource{} : part;
  });
}
GPUSIM_DRIVER cuDevResourceGenerateDesc(Descriptor** descriptor, DeviceResource* resources, unsigned count) {
  return call([&](Device& device) {
    require(descriptor != nullptr && resources != nullptr && count != 0);
    std::vector<DeviceResource> parts(resources, resources + count);
    for (const DeviceResource& r : parts) require(r.type == kMultiprocessors, Code::kInvalidResourceType);
    std::ranges::sort(parts, {}, &DeviceResource::first);
    DeviceResource whole = parts[0];
    whole.split = 0;  // what a green context has may be split again
    std::vector<uint32_t> together = multiprocessors_of(device, whole);
    for (size_t i = 1; i < parts.size(); ++i) {
      const bool overlaps = parts[i].first < parts[i - 1].first + parts[i - 1].count;
      require(!overlaps && parts[i].split != 0 && parts[i].split == parts[0].split,
              Code::kInvalidResourceConfiguration);
      whole.count += parts[i].count;
      const std::vector<uint32_t> more = multiprocessors_of(device, parts[i]);
      together.insert(together.end(), more.begin(), more.end());
    }
    if (count > 1) {
      state().lists.push_back(std::move(together));
      whole.list = static_cast<uint32_t>(state().lists.size());
      whole.first = 0;
    }
    *descriptor = state().descriptors.emplace_back(std::make_unique<Descriptor>(Descriptor{whole})).get();
  });
}
GPUSIM_DRIVER cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice number);
GPUSIM_DRIVER cuDevicePrimaryCtxRelease_v2(CUdevice number);
GPUSIM_DRIVER cuGreenCtxCreate(GreenContext** handle, Descriptor* descriptor, CUdevice number,
                               unsigned flags) {
  constexpr unsigned kDefaultStream = 1;
  const CUresult error = call([&](Device& device) {
    require(number == 0, Code::kInvalidDevice);
    // Without a descriptor (CCCL makes contexts so) it is the whole device.
    const bool known =
        descriptor == nullptr ||
        std::ranges::any_of(state().descriptors, [&](const auto& made) { return made.get() == descriptor; });
    require(handle != nullptr && known && flags == kDefaultStream);
    auto made = std::make_unique<GreenContext>();
    made->resource = descriptor == nullptr ? all_multiprocessors(device) : descriptor->resource;
    made->sms = multiprocessors_of(device, made->resource);
    const size_t all = device.sms_in_parts().size();
    if (made->sms.size() != all) {
      std::vector<bool> mask(all);
      for (const uint32_t sm : made->sms) mask[sm] = true;
      made->mask = std::make_shared<const std::vector<bool>>(std::move(mask));
    }
    made->context = new_context(0);
    *handle = made.get();
    const std::scoped_lock lock(state().mutex);
    state().made.push_back(std::move(made));
  });
  CUcontext primary = nullptr;
  return error != 0 ? error : cuDevicePrimaryCtxRetain(&primary, number);
}
GPUSIM_DRIVER cuGreenCtxDestroy(GreenContext* handle) {
  const CUresult error = call([&](Device& device) {
    const CUcontext context = green(handle).context;
    device.synchronize();
    {
      const std::scoped_lock lock(state().mutex);
      handle->is_alive = false;
    }
    end_context(context);
  });
  return error != 0 ? error : cuDevicePrimaryCtxRelease_v2(0);
}
GPUSIM_DRIVER cuCtxFromGreenCtx(CUcontext* context, GreenContext* handle) {
  return call([&](Device&) {
    require(context != nullptr);
    *context = green(handle).context;
  });
}
GPUSIM_DRIVER cuGreenCtxGetId(GreenContext* handle, unsigned long long* id) {
  return call([&](Device&) {
    require(id != nullptr);
    *id = reinterpret_cast<uintptr_t>(green(handle).context);
  });
}
GPUSIM_DRIVER cuGreenCtxRecordEvent(GreenContext* handle, CUevent event) {
  return call([&](Device& device) {
    static_cast<void>(green(handle));
    cudart::refuse_while_anything_is_captured();
    device.record_all(cudart::event_of(device, event));
  });
}
GPUSIM_DRIVER cuGreenCtxWaitEvent(GreenContext* handle, CUevent event) {
  return call([&](Device& device) {
    static_cast<void>(green(handle));
    cudart::refuse_while_anything_is_captured();
    device.wait_all(cudart::event_of(device, event));
  });
}

GPUSIM_EXPORT cudaError_t cudaStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority);
GPUSIM_DRIVER cuGreenCtxStreamCreate(CUstream* stream, GreenContext* handle, unsigned flags, int priority) {
  constexpr unsigned kNonBlocking = 1;
  CUresult error = call([&](Device&) {
    static_cast<void>(green(handle));
    require(flags == kNonBlocking);
  });
  if (error == 0) error = cudaStreamCreateWithPriority(stream, flags, priority);
  return error != 0 ? error
                    : call([&](Device& device) { cudart::stream_of(device, *stream).owner = handle; });
}

namespace {
/// Of a stream, or of the thread if it is one of the streams that every context has.
GreenContext* green_of(Device& device, CUstream stream) {
  const SmPart* owner = cudart::stream_of(device, stream).owner;
  constexpr uintptr_t kLastSpecial = 2;
  if (reinterpret_cast<uintptr_t>(stream) <= kLastSpecial) owner = green_context_of(current_context());
  return find_green([&](const GreenContext& g) { return &g == owner; });
}
/// One device has one set of streams, whichever regular context made them.
CUcontext regular_context() {
  const CUcontext current = current_context();
  return current == nullptr || green_context_of(current) != nullptr ? kPrimary : current;
}
}  // namespace

GPUSIM_DRIVER cuStreamGetGreenCtx(CUstream stream, GreenContext** handle) {
  return call([&](Device& device) {
    require(handle != nullptr);
    *handle = green_of(device, stream);
  });
}
GPUSIM_DRIVER cuStreamGetCtx(CUstream stream, CUcontext* context) {
  return call([&](Device& device) {
    require(context != nullptr);
    const GreenContext* const g = green_of(device, stream);
    *context = g == nullptr ? regular_context() : g->context;
  });
}
GPUSIM_DRIVER cuStreamGetCtx_ptsz(CUstream stream, CUcontext* context) {
  return cuStreamGetCtx(stream, context);
}
/// The regular context, which is the primary one for a green context, and that.
GPUSIM_DRIVER cuStreamGetCtx_v2(CUstream stream, CUcontext* context, GreenContext** handle) {
  return call([&](Device& device) {
    require(context != nullptr);
    GreenContext* const g = green_of(device, stream);
    *context = g == nullptr ? regular_context() : kPrimary;
    if (handle != nullptr) *handle = g;
  });
}
GPUSIM_DRIVER cuStreamGetCtx_v2_ptsz(CUstream stream, CUcontext* context, GreenContext** handle) {
  return cuStreamGetCtx_v2(stream, context, handle);
}

}  // namespace gpusim::runtime::driver
