#include "components/simulation/prepared_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "components/launch/occupancy_limits.h"
#include "components/sm/control_codes.h"
#include "components/sm/register_banks.h"
#include "isa/lowering/launch_constants.h"
#include "simcore/config/load.h"
#include "simcore/text/input_error.h"

namespace gpusim::comp {

namespace {

static_assert(isa::kMaxClusterBlocks == core::kMaxClusterBlocks);

[[noreturn]] void refuse(const core::LaunchSpec& spec, const isa::KernelImage& image, const std::string& what,
                         const std::string& hint = "") {
  core::raise_input_error(spec.where, fmt::format("kernel '{}': {}", image.name, what), hint);
}

/// The clocks that the launch asks for are the machine's, and nobody else sets them.
void check_clocks(const SimulationOptions& options, const core::LaunchSpec& spec) {
  if (!spec.clocks.any()) return;
  core::MachineConfig machine = options.machine;
  core::set_clocks(machine, spec.clocks, spec.where);
  if (spec.clocks.core_khz != 0 && machine.dvfs.governor != core::Governor::kFixed)
    core::raise_input_error(spec.where, "core_clock is set here, and by the governor",
                            fmt::format("dvfs.governor = {}; fixed leaves it to the launches",
                                        core::word(machine.dvfs.governor)));
}

/// Shared memory of a block, static and dynamic.
uint64_t shared_bytes(const isa::KernelImage& image, const core::LaunchSpec& spec) {
  return uint64_t{image.fixed_shared_bytes()} + spec.dynamic_shared;
}

void check_limits(const core::MachineConfig& m, const core::LaunchSpec& spec, const KernelLaunch& run) {
  const isa::KernelImage& image = *run.image;
  const auto limit = [&](const char* what, uint64_t value, int64_t most) {
    if (value > static_cast<uint64_t>(most))
      refuse(spec, image, fmt::format("{} is {}, machine '{}' allows {}", what, value, m.gpu.name, most));
  };
  limit("block x", run.block.x, m.sm.max_block_x);
  limit("block y", run.block.y, m.sm.max_block_y);
  limit("block z", run.block.z, m.sm.max_block_z);
  limit("grid x", run.grid.x, m.sm.max_grid_x);
  limit("grid y", run.grid.y, m.sm.max_grid_y);
  limit("grid z", run.grid.z, m.sm.max_grid_z);
  limit("threads per block", run.block.count(), m.sm.max_threads_per_block);
  limit("local memory per thread", image.local_bytes, m.sm.local_bytes_per_thread);
  const uint64_t shared = shared_bytes(image, spec), system = system_shared_bytes(m, image);
  if (system != 0 && shared + system > static_cast<uint64_t>(m.shared.bytes))
    refuse(spec, image,
           fmt::format("shared memory per block is {} ({} bytes of the kernel, and {} for its parameters and "
                       "the block's place in the grid, which 1.x keeps there), machine '{}' allows {}",
                       shared + system, shared, system, m.gpu.name, m.shared.bytes));
  limit("shared memory per block", shared, m.shared.bytes);
}

/// What the kernel says of its blocks: .reqntid and .maxntid.
void check_block(const core::LaunchSpec& spec, const KernelLaunch& run) {
  const isa::KernelImage& image = *run.image;
  for (int i = 0; i < 3; ++i) {
    const uint32_t used = spec.block[i], required = image.reqntid[i];
    if (required != 0 && used != required)
      refuse(spec, image,
             fmt::format("block {}x{}x{} differs from the kernel's .reqntid in dimension {} ({} against {})",
                         run.block.x, run.block.y, run.block.z, i, used, required));
  }
  if (image.maxntid[0] == 0) return;
  const uint64_t most =
      uint64_t{image.maxntid[0]} * std::max(1u, image.maxntid[1]) * std::max(1u, image.maxntid[2]);
  if (run.block.count() > most)
    refuse(spec, image, fmt::format("{} threads per block exceed the kernel's .maxntid", run.block.count()));
}

/// The blocks of a cluster: what the launch or the kernel says.
void set_cluster(const core::MachineConfig& m, const core::LaunchSpec& spec, KernelLaunch& run) {
  const isa::KernelImage& image = *run.image;
  const auto given = [](const auto& size) { return size[0] != 0 || size[1] != 0 || size[2] != 0; };
  const auto dims = [](const auto& s) {
    return Dim3{std::max<uint32_t>(s[0], 1), std::max<uint32_t>(s[1], 1), std::max<uint32_t>(s[2], 1)};
  };
  const bool of_kernel = given(image.cluster), of_launch = given(spec.cluster);
  const auto text = [](const Dim3& d) { return fmt::format("{}x{}x{}", d.x, d.y, d.z); };
  run.explicit_cluster = of_kernel || of_launch || image.explicit_cluster;
  if (of_kernel) run.cluster = dims(image.cluster);
  if (of_launch) {
    const Dim3 wanted = dims(spec.cluster);
    if (of_kernel && text(wanted) != text(run.cluster))
      refuse(spec, image,
             fmt::format("cluster {} differs from the kernel's .reqnctapercluster {}", text(wanted),
                         text(run.cluster)));
    run.cluster = wanted;
  }
  if (!of_kernel && !of_launch) {
    if (image.explicit_cluster)
      refuse(spec, image, "the kernel is .explicitcluster: its launch must say how many blocks a cluster has",
             "cluster = [2, 1, 1]");
    return;
  }
  const uint64_t blocks = run.cluster.count();
  if (m.clusters.gpcs == 0 && blocks > 1)
    refuse(spec, image, fmt::format("machine '{}' has no thread block clusters", m.gpu.name),
           "block_clusters.gpcs");
  if (of_kernel && image.blocks_are_clusters) {
    const auto counted = [&](uint32_t grid, uint32_t size, uint64_t most) {
      if (uint64_t{grid} * size > most)
        refuse(spec, image,
               fmt::format(
                   "a grid of {} clusters of {} blocks: .blocksareclusters makes it more than the {} blocks "
                   "that machine '{}' allows",
                   text(run.grid), text(run.cluster), most, m.gpu.name));
      return grid * size;
    };
    run.grid = {counted(run.grid.x, run.cluster.x, m.sm.max_grid_x),
                counted(run.grid.y, run.cluster.y, m.sm.max_grid_y),
                counted(run.grid.z, run.cluster.z, m.sm.max_grid_z)};
  }
  if (run.grid.x % run.cluster.x != 0 || run.grid.y % run.cluster.y != 0 || run.grid.z % run.cluster.z != 0)
    refuse(
        spec, image,
        fmt::format("the grid {} is not divisible into clusters of {}", text(run.grid), text(run.cluster)));
  const uint64_t most = spec.non_portable_cluster
                            ? m.clusters.most_blocks
                            : std::min(m.clusters.most_blocks, core::kPortableClusterBlocks);
  if (blocks > 1 && blocks > most)
    refuse(spec, image,
           fmt::format("a cluster of {} blocks, machine '{}' allows {}", blocks, m.gpu.name, most),
           !spec.non_portable_cluster && blocks <= m.clusters.most_blocks
               ? "non_portable_cluster = true allows more than 8"
               : "");
  if (image.max_cluster != 0 && blocks > image.max_cluster)
    refuse(spec, image,
           fmt::format("a cluster of {} blocks exceeds the kernel's .maxclusterrank {}", blocks,
                       image.max_cluster));
}

/// What the blocks take of an SM; returns what limits their number.
std::string share_sm(const core::MachineConfig& m, const core::LaunchSpec& spec, KernelLaunch& run) {
  const isa::Occupancy occupancy = occupancy_on(m, run);
  run.blocks_per_sm = static_cast<uint32_t>(occupancy.blocks_per_sm);
  if (run.blocks_per_sm == 0)
    refuse(spec, *run.image,
           fmt::format(
               "no block fits an SM of '{}' ({} threads, {} registers per thread, {} bytes of shared memory)",
               m.gpu.name, run.threads_per_block, run.image->registers, run.taken_shared_bytes),
           fmt::format("limited by {}", occupancy.limiter));
  run.blocks_together = uint64_t{run.blocks_per_sm} * m.gpu.sms;
  const uint64_t shared = uint64_t{run.taken_shared_bytes} * run.blocks_per_sm;
  run.l1_ways = core::l1_ways_beside(m, shared);
  run.carved = core::carved_shared(m, shared);
  run.share = share_of_block(m, run);
  return occupancy.limiter;
}

std::vector<std::byte> packed_arguments(const SimulationOptions& options, const core::LaunchSpec& spec,
                                        const DeviceContents& contents, const KernelLaunch& run) {
  const isa::KernelImage& image = *run.image;
  std::vector<core::ParameterSlot> slots;
  for (const isa::KernelParam& p : image.params)
    slots.push_back({p.name, std::string(isa::type_name(p.type)), p.offset, p.bytes, p.is_array});
  return core::pack_arguments(
      options.launch, spec, slots, image.param_bytes,
      [&contents](uint32_t b) { return contents.buffer_address(b); }, isa::texture_handle);
}

/// What a run for values counts in.
void make_value_tables(KernelLaunch& run) {
  run.pc.resize(run.image->ops.size());
  run.sm.resize(1);
}

/// Tables by operation that the machine's SMs need. Those in which they count are made when the kernel begins
/// (Gpu::open_kernel).
void make_tables(const core::MachineConfig& m, KernelLaunch& run) {
  const isa::KernelImage& image = *run.image;
  const bool coded = m.scheduler.dependences == core::Dependences::kControlCodes;
  if (!coded && m.sm.register_banks == 0) return;
  std::string problem;  // is told when the machine is built
  const ClassTimings timings = build_timing(m, problem).of_scheduler.front();
  if (coded) run.codes = control_codes(image, timings, m.scheduler);
  if (m.sm.register_banks != 0)
    run.bank_delay =
        register_bank_delays(image, {m.sm.register_banks, m.sm.register_bank_reads}, timings, run.codes);
}

/// What is known of a launch without its arguments.
PreparedLaunch launch_without_arguments(const core::MachineConfig& machine, uint32_t sms,
                                        const core::LaunchSpec& spec, uint32_t id,
                                        const KernelImages::LoweredKernel& kernel) {
  auto made = std::make_unique<KernelLaunch>();
  KernelLaunch& run = *made;
  run.image = kernel.image.get();
  run.code_address = kernel.code_address;
  run.id = id;
  run.grid = {spec.grid[0], spec.grid[1], spec.grid[2]};
  run.block = {spec.block[0], spec.block[1], spec.block[2]};
  run.dynamic_shared = spec.dynamic_shared;
  set_cluster(machine, spec, run);
  check_limits(machine, spec, run);
  check_block(spec, run);
  run.threads_per_block = static_cast<uint32_t>(run.block.count());
  run.warps_per_block = (run.threads_per_block + isa::kWarpSize - 1) / isa::kWarpSize;
  const auto own = static_cast<uint32_t>(shared_bytes(*run.image, spec));
  run.shared_bytes = run.image->reserved_shared_bytes + own;
  run.taken_shared_bytes = own + system_shared_bytes(machine, *run.image);
  run.num_blocks = run.grid.count();
  std::string limiter = share_sm(machine, spec, run);
  if (run.cluster_blocks() > 1 && clusters_together(machine, sms == 0 ? machine.gpu.sms : sms,
                                                    run.blocks_per_sm, run.cluster_blocks()) == 0)
    refuse(spec, *run.image,
           fmt::format("no part of '{}' has room for the {} blocks of a cluster ({} on an SM)",
                       machine.gpu.name, run.cluster_blocks(), run.blocks_per_sm),
           sms != 0 && sms < machine.gpu.sms ? "it has fewer SMs because of --sms" : "");
  return {std::move(made), std::move(limiter), &spec, std::nullopt};
}

}  // namespace

void set_parameters(KernelLaunch& run, std::vector<std::byte> params) {
  run.params = std::move(params);
  if (!run.image->launch_constants.empty())
    run.literals = isa::bind_literals(*run.image, run.params, {run.block.x, run.block.y, run.block.z},
                                      {run.grid.x, run.grid.y, run.grid.z});
}

PreparedLaunch prepare_launch(const SimulationOptions& options, const core::LaunchSpec& spec, uint32_t id,
                              const KernelImages::LoweredKernel& kernel, const DeviceContents& contents) {
  PreparedLaunch launch = launch_without_arguments(options.machine, options.sms, spec, id, kernel);
  check_clocks(options, spec);
  set_parameters(*launch.run, packed_arguments(options, spec, contents, *launch.run));
  if (options.functional)
    make_value_tables(*launch.run);
  else
    make_tables(options.machine, *launch.run);
  return launch;
}

PreparedLaunch prepare_launch(const core::MachineConfig& machine, const core::LaunchSpec& spec, uint32_t id,
                              const KernelImages::LoweredKernel& kernel, std::vector<std::byte> params,
                              bool timed, uint32_t sms) {
  PreparedLaunch launch = launch_without_arguments(machine, sms, spec, id, kernel);
  set_parameters(*launch.run, std::move(params));
  if (timed)
    make_tables(machine, *launch.run);
  else
    make_value_tables(*launch.run);
  return launch;
}

}  // namespace gpusim::comp
