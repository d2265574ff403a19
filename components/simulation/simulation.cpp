// Loading a program onto the machine; running it is in simulation_run.cpp.
#include "components/simulation/simulation.h"

#include <fmt/format.h>

#include <algorithm>

#include "components/dram/device_memory_adapter.h"
#include "components/launch/occupancy_limits.h"
#include "components/sm/control_codes.h"
#include "components/sm/register_banks.h"
#include "isa/exec/executor.h"
#include "isa/lowering/launch_constants.h"
#include "isa/ptx/diagnostics.h"
#include "isa/ptx/linker.h"
#include "isa/ptx/parser/parser.h"
#include "isa/ptx/verifier/verifier.h"
#include "simcore/config/load.h"
#include "simcore/memory/host_memory.h"

namespace gpusim::comp {

namespace {

/// Prints warnings, throws the errors of a diagnostics list. `files`: names by SourceLoc::file.
void report(const isa::Diagnostics& diagnostics, const std::vector<std::string>& files,
            const std::function<void(const std::string&)>& on_warning) {
  std::string errors;
  for (const isa::Diagnostic& d : diagnostics) {
    const std::string text = isa::format_diagnostic(files[d.loc.file], d);
    if (d.severity == isa::Diagnostic::Severity::kError)
      errors += (errors.empty() ? "" : "\n") + text;
    else if (on_warning)
      on_warning(text);
  }
  if (!errors.empty()) throw core::InputError(errors);
}

std::string dimensions(const Dim3& d) { return fmt::format("{}x{}x{}", d.x, d.y, d.z); }

}  // namespace

bool SimulationResult::expectations_met() const {
  return std::all_of(expects.begin(), expects.end(), [](const core::ExpectResult& e) { return e.pass; });
}

Simulation::Simulation(SimulationOptions options)
    : options_(std::move(options)), memory_(static_cast<uint64_t>(options_.machine.memory_bytes)) {
  load_program();
  bind_variables();
  core::check_memory(options_.launch, static_cast<uint64_t>(options_.machine.memory_bytes));
  core::check_host_memory(options_.launch, core::available_host_memory());
  for (const core::BufferSpec& b : options_.launch.buffers) {
    buffer_address_.push_back(
        b.variable ? 0 : allocate(b.bytes(), core::DeviceMemory::kAlign, b.name, b.where.text()));
    if (b.variable || b.bytes() == 0) continue;
    const core::Allocation* a = memory_.find(buffer_address_.back());
    core::fill_buffer(b, options_.launch.seed, {a->data, a->bytes});
  }
  place_textures();
  place_variables();
  set_variables();
  write_addresses();
  if (options_.checks.any()) make_checker();
  prepare_launches();
  warn_of_unset_constants();
}

Simulation::~Simulation() = default;

uint64_t Simulation::allocate(uint64_t bytes, uint64_t align, const std::string& name,
                              const std::string& place) {
  try {
    return memory_.allocate(bytes, align, name);
  } catch (const core::InputError& error) {
    throw core::InputError(fmt::format("{}: {}", place, error.what()));
  }
}

isa::Module Simulation::load_module(const std::string& name, const std::string& text) const {
  isa::ParseResult parsed = isa::parse_module(text);
  report(parsed.diagnostics, {name}, options_.on_warning);
  report(isa::verify_module(parsed.module), {name}, options_.on_warning);
  return std::move(parsed.module);
}

void Simulation::load_program() {
  std::vector<isa::Module> modules;
  std::vector<std::string> names{options_.ptx_name};
  modules.push_back(load_module(options_.ptx_name, options_.ptx_text));
  for (const SimulationOptions::PtxFile& file : options_.linked) {
    names.push_back(file.name);
    modules.push_back(load_module(file.name, file.text));
  }
  isa::LinkResult linked = isa::link_modules(std::move(modules), names);
  report(linked.diagnostics, names, options_.on_warning);
  module_ = std::move(linked.module);
  const int64_t capability = options_.machine.gpu.compute_capability;
  if (module_.target_sm > capability) {
    const std::string text =
        fmt::format("the module's target sm_{} is above the machine's compute capability {}.{}",
                    module_.target_sm, capability / 10, capability % 10);
    if (options_.strict_target) throw core::InputError(fmt::format("{}: error: {}", options_.ptx_name, text));
    if (options_.on_warning)
      options_.on_warning(fmt::format("{}: warning: {}; values follow the target, timing follows the machine",
                                      options_.ptx_name, text));
  }
  if (module_.entries().empty())
    throw core::InputError(fmt::format("{}: error: the module has no .entry to run", options_.ptx_name));
}

const isa::KernelImage& Simulation::lower(const core::LaunchSpec& spec) {
  std::string name = spec.kernel;
  const std::vector<const isa::Function*> entries = module_.entries();
  if (name.empty()) {
    if (entries.size() > 1)
      core::raise_input_error(
          spec.kernel_where,
          fmt::format("{} has {} kernels: name the one to launch", options_.ptx_name, entries.size()),
          fmt::format("kernel = \"{}\"", entries.front()->name));
    name = entries.front()->name;
  }
  for (const LoweredKernel& k : images_)
    if (k.name == name && k.registers == spec.registers && k.stack == spec.stack) return *k.image;
  const isa::Function* entry = module_.find_function(name);
  if (entry == nullptr || !entry->is_entry) {
    isa::NearestName nearest(name);
    for (const isa::Function* f : entries) nearest.consider(f->name);
    core::raise_input_error(spec.kernel_where, fmt::format("{} has no kernel '{}'", options_.ptx_name, name),
                            nearest.hint());
  }
  isa::LoweringOptions lowering;
  lowering.level = options_.lowering;
  lowering.machine_capability = static_cast<int>(options_.machine.gpu.compute_capability);
  lowering.register_limit = spec.registers;
  if (spec.stack != 0) lowering.stack_bytes = spec.stack;
  lowering.max_registers = static_cast<uint32_t>(options_.machine.sm.max_registers_per_thread);
  lowering.register_file = static_cast<uint32_t>(options_.machine.sm.registers);
  lowering.largest_block = static_cast<uint32_t>(options_.machine.sm.max_threads_per_block);
  lowering.address_of = [this, &name](const isa::Variable& v) {
    if (v.space == isa::Space::kConst) constants_read_.emplace_back(&v, name);
    for (const auto& [variable, address] : variable_address_)
      if (variable == &v) return address;
    return uint64_t{0};
  };
  auto lowered = isa::lower_kernel(module_, *entry, lowering);
  if (auto* errors = std::get_if<isa::Diagnostics>(&lowered))
    report(*errors, module_.files, options_.on_warning);
  auto image = std::make_unique<isa::KernelImage>(std::move(std::get<isa::KernelImage>(lowered)));
  if (spec.registers != 0) image->registers = spec.registers;
  if (checker_) checker_->observe(*image);
  // Code lies behind all data, one kernel behind the other.
  constexpr uint64_t kCode = uint64_t{1} << 41, kAlign = 4096;
  uint64_t address = kCode;
  if (!images_.empty()) {
    const LoweredKernel& last = images_.back();
    const uint64_t bytes = last.image->ops.size() * static_cast<uint64_t>(options_.machine.instruction.bytes);
    address = last.code_address + (bytes + kAlign - 1) / kAlign * kAlign;
  }
  images_.push_back({name, spec.registers, spec.stack, std::move(image), address});
  return *images_.back().image;
}

uint64_t Simulation::code_address(const isa::KernelImage& image) const {
  return std::ranges::find_if(images_, [&](const LoweredKernel& k) { return k.image.get() == &image; })
      ->code_address;
}

void Simulation::prepare_launches() {
  if (options_.launch.launches.empty())
    throw core::InputError(fmt::format("{}: error: nothing to launch", options_.launch.path));
  for (const core::LaunchSpec& spec : options_.launch.launches)
    for (uint32_t i = 0; i < spec.repeat; ++i) prepare_run(spec);
}

void Simulation::prepare_run(const core::LaunchSpec& spec) {
  const core::MachineConfig& m = options_.machine;
  const isa::KernelImage& image = lower(spec);
  auto run = std::make_unique<KernelLaunch>();
  run->image = &image;
  run->code_address = code_address(image);
  run->id = static_cast<uint32_t>(runs_.size());
  run->grid = {spec.grid[0], spec.grid[1], spec.grid[2]};
  run->block = {spec.block[0], spec.block[1], spec.block[2]};
  run->dynamic_shared = spec.dynamic_shared;
  const auto fail = [&](const std::string& what, const std::string& hint = "") {
    core::raise_input_error(spec.where, fmt::format("kernel '{}': {}", image.name, what), hint);
  };
  const auto limit = [&](const char* what, uint64_t value, int64_t most) {
    if (value > static_cast<uint64_t>(most))
      fail(fmt::format("{} is {}, machine '{}' allows {}", what, value, m.gpu.name, most));
  };
  limit("block x", run->block.x, m.sm.max_block_x);
  limit("block y", run->block.y, m.sm.max_block_y);
  limit("block z", run->block.z, m.sm.max_block_z);
  limit("grid x", run->grid.x, m.sm.max_grid_x);
  limit("grid y", run->grid.y, m.sm.max_grid_y);
  limit("grid z", run->grid.z, m.sm.max_grid_z);
  limit("threads per block", run->block.count(), m.sm.max_threads_per_block);
  limit("local memory per thread", image.local_bytes, m.sm.local_bytes_per_thread);
  for (int i = 0; i < 3; ++i) {
    const uint32_t used = spec.block[i], maximum = image.maxntid[i], required = image.reqntid[i];
    if (required != 0 && used != required)
      fail(fmt::format("block {} differs from the kernel's .reqntid in dimension {} ({} against {})",
                       dimensions(run->block), i, used, required));
    if (maximum != 0 && image.maxntid[0] != 0 &&
        run->block.count() >
            uint64_t{image.maxntid[0]} * std::max(1u, image.maxntid[1]) * std::max(1u, image.maxntid[2]))
      fail(fmt::format("{} threads per block exceed the kernel's .maxntid", run->block.count()));
  }
  run->threads_per_block = static_cast<uint32_t>(run->block.count());
  run->warps_per_block = (run->threads_per_block + isa::kWarpSize - 1) / isa::kWarpSize;
  const uint64_t shared =
      uint64_t{image.dynamic_shared_offset > image.static_shared_bytes ? image.dynamic_shared_offset
                                                                       : image.static_shared_bytes} +
      spec.dynamic_shared;
  limit("shared memory per block", shared, m.shared.bytes);
  run->shared_bytes = static_cast<uint32_t>(shared);
  run->num_blocks = run->grid.count();
  const isa::Occupancy occupancy = occupancy_on(m, *run);
  run->blocks_per_sm = static_cast<uint32_t>(occupancy.blocks_per_sm);
  if (run->blocks_per_sm == 0)
    fail(fmt::format(
             "no block fits an SM of '{}' ({} threads, {} registers per thread, {} bytes of shared memory)",
             m.gpu.name, run->threads_per_block, image.registers, shared),
         fmt::format("limited by {}", occupancy.limiter));
  run->l1_ways = core::l1_ways_beside(m, uint64_t{run->shared_bytes} * run->blocks_per_sm);
  run->carved = core::carved_shared(m, uint64_t{run->shared_bytes} * run->blocks_per_sm);
  run->share = share_of_block(m, *run);
  std::vector<core::ParameterSlot> slots;
  for (const isa::KernelParam& p : image.params)
    slots.push_back({p.name, std::string(isa::type_name(p.type)), p.offset, p.bytes, p.is_array});
  check_clocks(spec);
  run->params = core::pack_arguments(
      options_.launch, spec, slots, image.param_bytes, [this](uint32_t b) { return buffer_address_[b]; },
      isa::texture_handle);
  if (!image.launch_constants.empty())
    run->literals = isa::bind_literals(image, run->params, {run->block.x, run->block.y, run->block.z},
                                       {run->grid.x, run->grid.y, run->grid.z});
  run->pc.resize(image.ops.size());
  if (m.sm.register_banks != 0)
    run->bank_delay = register_bank_delays(image, static_cast<uint32_t>(m.sm.register_banks),
                                           static_cast<uint32_t>(m.sm.register_bank_reads));
  if (m.scheduler.dependences == core::Dependences::kControlCodes) {
    std::string problem;  // is told when the machine is built
    run->codes = control_codes(image, build_timing(m, problem).of_scheduler.front(),
                               static_cast<uint32_t>(m.scheduler.issue_cycles),
                               static_cast<uint32_t>(m.scheduler.barriers));
  }
  run->sm.resize(static_cast<size_t>(m.gpu.sms));
  limiters_.push_back(occupancy.limiter);
  launches_.push_back(&spec);
  runs_.push_back(std::move(run));
}

void Simulation::check_clocks(const core::LaunchSpec& spec) const {
  if (!spec.clocks.any()) return;
  core::MachineConfig machine = options_.machine;
  core::set_clocks(machine, spec.clocks, spec.where);
  if (spec.clocks.core_khz != 0 && machine.dvfs.governor != core::Governor::kFixed)
    core::raise_input_error(spec.where, "core_clock is set here, and by the governor",
                            fmt::format("dvfs.governor = {}; fixed leaves it to the launches",
                                        core::word(machine.dvfs.governor)));
}

std::vector<CopyResult> Simulation::copies() const {
  std::vector<CopyResult> all;
  const auto& host = options_.machine.host;
  for (const core::CopySpec& c : options_.launch.copies) {
    const core::BufferSpec& b = options_.launch.buffers[c.buffer];
    const double rate = static_cast<double>(std::max<int64_t>(host.link_bytes_per_s, 1));
    CopyResult copy;
    copy.buffer = b.name;
    copy.is_variable = b.variable.has_value();
    copy.stream = c.stream;
    copy.to_device = c.to_device;
    copy.bytes = b.bytes();
    copy.time_s = host.link_latency_ns * 1e-9 + static_cast<double>(b.bytes()) / rate;
    all.push_back(std::move(copy));
  }
  return all;
}

std::vector<Simulation::Item> Simulation::order() const {
  std::vector<std::pair<uint32_t, Item>> items;
  for (size_t i = 0; i < runs_.size(); ++i) items.emplace_back(launches_[i]->order, LaunchItem{i});
  for (size_t i = 0; i < options_.launch.copies.size(); ++i)
    items.emplace_back(options_.launch.copies[i].order, CopyItem{i});
  std::stable_sort(items.begin(), items.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Item> order;
  for (const auto& [rank, item] : items) order.push_back(item);
  return order;
}

std::span<const std::byte> Simulation::buffer(uint32_t index) const {
  const core::BufferSpec& b = options_.launch.buffers[index];
  if (b.bytes() == 0) return {};
  const core::Allocation* a = memory_.find(buffer_address_[index]);
  return {a->data, a->bytes};
}

}  // namespace gpusim::comp
