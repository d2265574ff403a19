// What a launch must be like: its shape, its clusters, its parameters, and whether it is timed.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "components/launch/occupancy_limits.h"
#include "runtime/device/device.h"
#include "simcore/text/kernel_name.h"

namespace gpusim::runtime {

namespace {

bool in_range(std::string_view item, uint64_t number) {
  uint64_t first = 0, last = 0;
  const char* const end = item.data() + item.size();
  auto [at, error] = std::from_chars(item.data(), end, first);
  if (error != std::errc()) return false;
  last = first;
  if (at != end) {
    if (*at != '-') return false;
    const auto second = std::from_chars(at + 1, end, last);
    if (second.ec != std::errc() || second.ptr != end) return false;
  }
  return number >= first && number <= last;
}

}  // namespace

bool Device::is_timed(const Kernel& kernel, uint64_t number) const {
  return !options_.functional && is_chosen(kernel, number);
}

bool Device::is_chosen(const Kernel& kernel, uint64_t number) const {
  std::string_view list = options_.timed;
  if (list.empty() || list == "all") return true;
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    const std::string_view item = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    if (item.starts_with("first:")) {
      uint64_t most = 0;
      std::from_chars(item.data() + 6, item.data() + item.size(), most);
      if (kernel.launches_ <= most) return true;
    } else if (in_range(item, number) || core::means_kernel(item, kernel.name())) {
      return true;
    }
  }
  return false;
}

void Device::check_shape(const LaunchRequest& r, const isa::KernelImage& image) const {
  const auto& sm = machine().sm;
  const uint64_t threads = uint64_t{r.block.x} * r.block.y * r.block.z;
  const bool block_fits = threads != 0 && threads <= sm.max_threads_per_block &&
                          r.block.x <= sm.max_block_x && r.block.y <= sm.max_block_y &&
                          r.block.z <= sm.max_block_z;
  const bool grid_fits = r.grid.x != 0 && r.grid.y != 0 && r.grid.z != 0 && r.grid.x <= sm.max_grid_x &&
                         r.grid.y <= sm.max_grid_y && r.grid.z <= sm.max_grid_z;
  if (!block_fits || !grid_fits)
    throw Failure(Code::kInvalidConfiguration,
                  fmt::format("kernel '{}': grid {}x{}x{}, block {}x{}x{}: the machine has no such launch",
                              core::demangled(image.name), r.grid.x, r.grid.y, r.grid.z, r.block.x, r.block.y,
                              r.block.z));
  if (image.maxntid[0] != 0 &&
      threads > uint64_t{image.maxntid[0]} * std::max(1u, image.maxntid[1]) * std::max(1u, image.maxntid[2]))
    throw Failure(Code::kInvalidValue, fmt::format("kernel '{}': {} threads in a block exceed its bounds",
                                                   core::demangled(image.name), threads));
  const uint32_t(&required)[3] = image.reqntid;
  if (required[0] != 0 && (r.block.x != required[0] || r.block.y != std::max(1u, required[1]) ||
                           r.block.z != std::max(1u, required[2])))
    throw Failure(Code::kInvalidValue,
                  fmt::format("kernel '{}': a block has {}x{}x{} threads, not {}x{}x{}",
                              core::demangled(image.name), required[0], std::max(1u, required[1]),
                              std::max(1u, required[2]), r.block.x, r.block.y, r.block.z));
}

std::optional<Size3> Device::cluster_of(const LaunchRequest& r, const isa::KernelImage& image) {
  const auto size = [](const auto& s) {
    return Size3{std::max<uint32_t>(s[0], 1), std::max<uint32_t>(s[1], 1), std::max<uint32_t>(s[2], 1)};
  };
  const auto given = [](const auto& s) { return s[0] != 0 || s[1] != 0 || s[2] != 0; };
  if (r.cluster) return r.cluster;
  if (given(image.cluster)) return size(image.cluster);
  if (given(r.kernel->cluster)) return size(r.kernel->cluster);
  return std::nullopt;
}

void Device::check_cluster_size(const LaunchRequest& r, const isa::KernelImage& image) {
  LaunchRequest without = r;
  without.cluster.reset();
  const std::optional<Size3>&given = r.cluster, fixed = cluster_of(without, image);
  if (!given || !fixed || (given->x == fixed->x && given->y == fixed->y && given->z == fixed->z)) return;
  throw Failure(
      Code::kInvalidClusterSize,
      fmt::format("kernel '{}': clusters of {}x{}x{} blocks: the kernel has those of {}x{}x{}",
                  core::demangled(image.name), given->x, given->y, given->z, fixed->x, fixed->y, fixed->z));
}

void Device::check_cluster(const LaunchRequest& r, const isa::KernelImage& image) const {
  const std::optional<Size3> c = cluster_of(r, image);
  const auto refuse = [&](const std::string& what, Code code = Code::kInvalidClusterSize) {
    throw Failure(code, fmt::format("kernel '{}': {}", core::demangled(image.name), what));
  };
  if (!c) {
    if (image.explicit_cluster) refuse("its launch must say how many blocks a cluster has");
    return;
  }
  const uint64_t blocks = uint64_t{c->x} * c->y * c->z, most = most_cluster_blocks(*r.kernel);
  const std::string text = fmt::format("clusters of {}x{}x{} blocks", c->x, c->y, c->z);
  if (blocks == 0) refuse(text);
  if (blocks > 1 && machine().clusters.gpcs == 0)
    refuse(fmt::format("{}: machine '{}' has none", text, machine().gpu.name), Code::kNotSupported);
  if (blocks > most) refuse(fmt::format("{}: a cluster may have {}", text, most));
  check_cluster_size(r, image);
  const bool counts_clusters = image.blocks_are_clusters && !r.cluster;
  if (!counts_clusters && (r.grid.x % c->x != 0 || r.grid.y % c->y != 0 || r.grid.z % c->z != 0))
    refuse(fmt::format("{}: the grid {}x{}x{} is not divisible", text, r.grid.x, r.grid.y, r.grid.z));
}

std::vector<std::byte> Device::parameters_of(const LaunchRequest& r, const isa::KernelImage& image) const {
  std::vector<std::byte> block(image.param_bytes);
  if (r.arguments == nullptr) {
    std::copy_n(r.parameters.begin(), std::min(block.size(), r.parameters.size()), block.begin());
    return block;
  }
  for (size_t i = 0; i < image.params.size(); ++i) {
    const isa::KernelParam& p = image.params[i];
    if (r.arguments[i] == nullptr) throw Failure(Code::kInvalidValue);
    std::memcpy(block.data() + p.offset, r.arguments[i], p.bytes);
  }
  return block;
}

const isa::KernelImage& Device::check_launch(const LaunchRequest& r) {
  Kernel& kernel = *r.kernel;
  const isa::KernelImage& image = kernel.image_for(uint64_t{r.block.x} * r.block.y * r.block.z);
  check_shape(r, image);
  check_cluster(r, image);
  if (r.dynamic_shared > most_dynamic_shared(kernel))
    throw Failure(Code::kInvalidValue,
                  fmt::format("kernel '{}': {} bytes of dynamic shared memory, it may have {}",
                              core::demangled(image.name), r.dynamic_shared, most_dynamic_shared(kernel)));
  return image;
}

const SmPart* Device::part_of(const Stream& stream) const {
  if (stream.owner == nullptr && owner_of_new_streams() == nullptr) return nullptr;
  const auto mine = thread_streams_.find(std::this_thread::get_id());
  const bool of_every_context =
      &stream == &legacy_ || (mine != thread_streams_.end() && mine->second == &stream);
  const SmPart* const part = of_every_context ? owner_of_new_streams() : stream.owner;
  return part == nullptr || part->mask == nullptr || options_.sms != 0 ? nullptr : part;
}

void Device::check_part(const LaunchRequest& r, const isa::KernelImage& image, const SmPart& part) {
  const std::optional<Size3> c = cluster_of(r, image);
  const uint32_t blocks = c ? c->x * c->y * c->z : 1, threads = r.block.x * r.block.y * r.block.z;
  if (blocks == 1) return;
  const auto on_sm = static_cast<uint32_t>(blocks_per_sm(*r.kernel, threads, r.dynamic_shared));
  if (comp::clusters_together(machine(), part.sms, on_sm, blocks) == 0)
    throw Failure(
        Code::kInvalidClusterSize,
        fmt::format("kernel '{}': a cluster of {} blocks has no room on the {} multiprocessors of the "
                    "green context",
                    core::demangled(image.name), blocks, part.sms.size()));
}

}  // namespace gpusim::runtime
