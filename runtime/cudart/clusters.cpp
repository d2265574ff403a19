// Clusters of thread blocks, for the runtime and the driver library: attributes of launches and of functions,
// and how many clusters fit the machine.
#include <algorithm>
#include <cstring>

#include "runtime/cudart/api.h"

namespace gpusim::runtime::cudart {

namespace {

/// Events that a launch records when its blocks have begun, or ask for dependents. Both may come as late as
/// the end of the grid (manual: best effort), and do here.
LaunchRequest::Record launch_event(Device& device, const cudaLaunchAttribute& a) {
  constexpr unsigned kExternal = 1;
  struct {
    cudaEvent_t event;
    unsigned flags;
  } value{};
  std::memcpy(&value, a.value, sizeof value);
  Event& event = event_of(device, value.event);
  require(!event.timing && !event.interprocess && (value.flags & ~kExternal) == 0);
  return {&event, value.flags == kExternal};
}

}  // namespace

void read_launch_attributes(Device& device, const cudaLaunchAttribute* attributes, unsigned count,
                            LaunchRequest& r) {
  constexpr int kCooperative = 2, kSynchronization = 3, kClusterDimension = 4, kProgrammaticEvent = 7,
                kCompletionEvent = 12, kDeviceUpdatableNode = 13, kUnknown = 15, kLast = 16;
  require(count == 0 || attributes != nullptr);
  for (unsigned i = 0; i < count; ++i) {
    const cudaLaunchAttribute& a = attributes[i];
    require(a.id >= 0 && a.id <= kLast && a.id != kUnknown);
    require(a.id != kDeviceUpdatableNode, Code::kNotSupported);
    if (a.id == kSynchronization) {
      constexpr int kFirstPolicy = 1, kLastPolicy = 4;
      int value = 0;
      std::memcpy(&value, a.value, sizeof value);
      require(value >= kFirstPolicy && value <= kLastPolicy);
    } else if (a.id == kProgrammaticEvent || a.id == kCompletionEvent) {
      r.records.push_back(launch_event(device, a));
    } else if (a.id == kCooperative) {
      int value = 0;
      std::memcpy(&value, a.value, sizeof value);
      r.cooperative = value != 0;
    } else if (a.id == kClusterDimension) {
      Size3 size{0, 0, 0};
      std::memcpy(&size, a.value, sizeof size);
      if (size.x != 0 || size.y != 0 || size.z != 0) r.cluster = size;
    }
  }
}

int active_clusters(Device& device, const LaunchRequest& r) {
  const Size3 c = Device::cluster_of(r, r.kernel->image()).value_or(Size3{});
  const uint64_t blocks = uint64_t{c.x} * c.y * c.z;
  require(blocks != 0 && blocks <= device.most_cluster_blocks(*r.kernel), Code::kInvalidClusterSize);
  Device::check_cluster_size(r, r.kernel->image());
  return device.clusters_together(*r.kernel, r.block.x * r.block.y * r.block.z, r.dynamic_shared,
                                  static_cast<uint32_t>(blocks));
}

int largest_cluster(Device& device, const LaunchRequest& r) {
  const uint32_t threads = r.block.x * r.block.y * r.block.z;
  Device::check_cluster_size(r, r.kernel->image());
  for (uint32_t blocks = device.most_cluster_blocks(*r.kernel); blocks > 1; --blocks)
    if (device.clusters_together(*r.kernel, threads, r.dynamic_shared, blocks) > 0)
      return static_cast<int>(blocks);
  return 1;
}

void read_cluster_attributes(const Kernel& kernel, const isa::KernelImage& image, ClusterAttributes& a) {
  const bool fixed = image.cluster[0] != 0 || image.cluster[1] != 0 || image.cluster[2] != 0;
  a.must_be_set = image.explicit_cluster ? 1 : 0;
  for (size_t d = 0; d < 3; ++d)
    a.required[d] = static_cast<int>(fixed ? std::max(image.cluster[d], 1u) : kernel.cluster[d]);
  a.policy = kernel.cluster_policy;
  a.non_portable = kernel.non_portable_cluster ? 1 : 0;
}

void set_cluster_attribute(Kernel& kernel, int attribute, int value) {
  constexpr int kWidth = 11, kNonPortable = 14, kPolicy = 15, kPolicies = 3;
  require(attribute >= kWidth && attribute <= kPolicy);
  if (attribute == kNonPortable) {
    require(value == 0 || value == 1);
    kernel.non_portable_cluster = value != 0;
  } else if (attribute == kPolicy) {
    require(value >= 0 && value < kPolicies);
    kernel.cluster_policy = value;
  } else {
    // Not of a kernel that was compiled for a size.
    const uint32_t(&fixed)[3] = kernel.image().cluster;
    require(value >= 0 && fixed[0] == 0 && fixed[1] == 0 && fixed[2] == 0);
    kernel.cluster[static_cast<size_t>(attribute - kWidth)] = static_cast<uint32_t>(value);
  }
}

}  // namespace gpusim::runtime::cudart
