// `gpusim occupancy`: how many blocks of a kernel fit an SM.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/main_job.h"
#include "components/launch/occupancy_limits.h"
#include "isa/exec/executor.h"
#include "isa/lowering/lowering.h"
#include "isa/ptx/diagnostics.h"
#include "isa/ptx/parser/parser.h"
#include "isa/ptx/verifier/verifier.h"
#include "simcore/config/load.h"
#include "simcore/launch/launch.h"
#include "simcore/text/kernel_name.h"
#include "simcore/text/text_file.h"

namespace gpusim::cli {

namespace {

struct OccupancyArguments {
  std::string config, ptx, kernel, block, launch;
  int threads = 0, registers = 0;
  int64_t shared = 0;
  std::vector<std::string> sets;
  bool json = false;
};

int threads_of(const OccupancyArguments& a) {
  if (a.threads != 0) return a.threads;
  int64_t product = 1;
  const char* p = a.block.data();
  const char* end = p + a.block.size();
  while (p < end) {
    int value = 0;
    const auto [next, error] = std::from_chars(p, end, value);
    if (error != std::errc{} || value <= 0 || (next != end && *next != ','))
      throw core::InputError(fmt::format("gpusim: error: --block '{}' is not X[,Y[,Z]]", a.block));
    product = std::min<int64_t>(product * value, 1 << 20);
    p = next == end ? end : next + 1;
  }
  return static_cast<int>(product);
}

/// Launches of the launch file that is named or lies beside the PTX; none without one.
std::vector<core::LaunchSpec> launches_of(const OccupancyArguments& a) {
  std::string path = a.launch;
  if (path.empty()) {
    path = std::filesystem::path(a.ptx).replace_extension(".toml").string();
    if (!is_there(path)) return {};
  }
  return core::load_launch(path, {}, 0).launches;
}

/// As the launch file asks for, 0 if it does not.
int registers_of(const std::vector<core::LaunchSpec>& launches, const std::string& kernel, bool only_kernel) {
  for (const core::LaunchSpec& l : launches)
    if (l.registers != 0 && (core::means_kernel(l.kernel, kernel) || (l.kernel.empty() && only_kernel)))
      return static_cast<int>(l.registers);
  return 0;
}

void print(const OccupancyArguments& a, const std::string& name, const isa::OccupancyLimits& limits,
           int threads, int registers, bool estimated, int64_t shared) {
  const isa::Occupancy o = isa::compute_occupancy(limits, threads, registers, shared);
  if (a.json) {
    fmt::print(
        "{{\"kernel\": \"{}\", \"threads_per_block\": {}, \"registers\": {}, \"registers_estimated\": {}, "
        "\"shared_bytes\": {}, "
        "\"blocks_per_sm\": {}, "
        "\"warps_per_sm\": {}, \"occupancy\": {:.6g}, \"limiter\": \"{}\", \"blocks_by\": {{\"blocks\": {}, "
        "\"warps\": "
        "{}, \"threads\": {}, \"registers\": {}, \"shared_memory\": {}}}}}\n",
        name, threads, registers, estimated, shared, o.blocks_per_sm, o.warps, o.fraction, o.limiter,
        o.blocks_by_blocks, o.blocks_by_warps, o.blocks_by_threads, o.blocks_by_registers,
        o.blocks_by_shared);
    return;
  }
  if (!name.empty()) fmt::print("{}\n", name);
  fmt::print("  {} threads/block, {} registers/thread{}, {} bytes shared/block\n", threads, registers,
             estimated ? " by estimate" : "", shared);
  fmt::print("  {} blocks/SM, {} of {} warps ({:.0f} %), limited by {}\n", o.blocks_per_sm, o.warps,
             limits.warps, 100 * o.fraction, o.limiter);
  fmt::print("  blocks allowed by: block slots {}, warps {}, threads {}, registers {}, shared memory {}\n",
             o.blocks_by_blocks, o.blocks_by_warps, o.blocks_by_threads, o.blocks_by_registers,
             o.blocks_by_shared);
}

int show_occupancy(const OccupancyArguments& a) {
  const core::MachineConfig machine = core::load_machine(a.config, a.sets, config_folders());
  const isa::OccupancyLimits limits = core::occupancy_limits(machine);
  if (a.block.empty() && a.threads == 0)
    throw core::InputError("gpusim: error: occupancy needs --block X[,Y[,Z]] or --threads N");
  const int threads = threads_of(a);
  if (threads > limits.max_threads_per_block)
    throw core::InputError(fmt::format("gpusim: error: a block of {} threads: machine '{}' allows {}",
                                       threads, machine.gpu.name, limits.max_threads_per_block));
  if (a.ptx.empty()) {
    if (a.registers == 0)
      throw core::InputError("gpusim: error: occupancy without a PTX file needs --registers N");
    print(a, "", limits, threads, a.registers, false, a.shared);
    return kGood;
  }
  refuse_what_is_no_ptx(a.ptx);
  const isa::ParseResult parsed = isa::parse_module(core::read_text_file(a.ptx, core::kMaxPtxBytes));
  isa::Diagnostics messages = parsed.diagnostics;
  if (parsed.ok()) messages = isa::verify_module(parsed.module);
  for (const isa::Diagnostic& d : messages) print_error("{}\n", isa::format_diagnostic(a.ptx, d));
  if (isa::has_errors(messages)) return kBadInput;
  isa::LoweringOptions options;
  options.level = isa::lowering_level(MainJobArguments{}.lowering);
  isa::set_machine(options, machine);
  options.address_of = isa::stand_in_addresses();
  const std::vector<core::LaunchSpec> launches = launches_of(a);
  bool any = false;
  for (const isa::Function* entry : parsed.module.entries()) {
    if (!a.kernel.empty() && !core::means_kernel(a.kernel, entry->name)) continue;
    any = true;
    const int asked = registers_of(launches, entry->name, parsed.module.entries().size() == 1);
    options.register_limit = static_cast<uint32_t>(asked);
    const auto lowered = isa::lower_kernel(parsed.module, *entry, options);
    if (const auto* errors = std::get_if<isa::Diagnostics>(&lowered)) {
      for (const isa::Diagnostic& d : *errors) print_error("{}\n", isa::format_diagnostic(a.ptx, d));
      return kBadInput;
    }
    const auto& image = std::get<isa::KernelImage>(lowered);
    const int registers = asked != 0 ? asked : static_cast<int>(image.registers);
    print(a, entry->name, limits, threads, a.registers != 0 ? a.registers : registers,
          a.registers == 0 && asked == 0,
          image.static_shared_bytes + comp::system_shared_bytes(machine, image) + a.shared);
  }
  if (!any) throw core::InputError(fmt::format("{}: error: no kernel '{}'", a.ptx, a.kernel));
  return kGood;
}

}  // namespace

void add_occupancy_command(CLI::App& program, int& code) {
  const auto a = std::make_shared<OccupancyArguments>();
  CLI::App* occupancy = program.add_subcommand(
      "occupancy", "How many blocks and warps of a kernel fit an SM, and what limits them");
  occupancy->add_option("--config", a->config, "Machine: path or name")->required();
  occupancy->add_option("ptx", a->ptx, "PTX file: registers and shared memory are taken from the kernel");
  occupancy->add_option("--kernel", a->kernel, "Kernel of the PTX file (default: all)");
  occupancy->add_option("--block", a->block, "Block dimensions X[,Y[,Z]]");
  occupancy->add_option("--threads", a->threads, "Threads per block, instead of --block")
      ->check(CLI::Range(1, 1024));
  occupancy->add_option(
      "--launch", a->launch,
      "Launch file that sets a kernel's registers (default: the .toml beside the PTX, if any)");
  occupancy
      ->add_option("--registers", a->registers, "Registers per thread (overrides launch file and estimate)")
      ->check(CLI::Range(1, 1024));
  occupancy->add_option("--shared", a->shared, "Shared memory per block in bytes (added to the kernel's own)")
      ->check(CLI::Range(0, 1 << 20));
  occupancy->add_option("--set", a->sets, "Configuration override section.key=value (repeatable)")
      ->allow_extra_args(false);
  occupancy->add_flag("--json", a->json, "Print one JSON object");
  occupancy->callback([a, &code] { code = show_occupancy(*a); });
}

}  // namespace gpusim::cli
