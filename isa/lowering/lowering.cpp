#include "isa/lowering/lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "isa/exec/device_services.h"
#include "isa/lowering/link.h"
#include "isa/lowering/machine_count.h"
#include "isa/lowering/schedule.h"
#include "isa/ptx/unsupported_spellings.h"

namespace gpusim::isa {
namespace {

void set_header(const Module& module, const Function& entry, KernelImage& image) {
  image.name = entry.name;
  image.target_sm = module.target_sm;
  image.address_size = static_cast<uint32_t>(module.address_size);
  std::copy(std::begin(entry.maxntid), std::end(entry.maxntid), std::begin(image.maxntid));
  std::copy(std::begin(entry.reqntid), std::end(entry.reqntid), std::begin(image.reqntid));
  std::copy(std::begin(entry.cluster), std::end(entry.cluster), std::begin(image.cluster));
  image.max_cluster = entry.max_cluster;
  image.explicit_cluster = entry.explicit_cluster;
  image.blocks_are_clusters = entry.blocks_are_clusters;
  uint64_t offset = 0;
  for (const Variable& p : entry.params) {
    const uint64_t align = std::max<uint64_t>(p.align, 1);
    offset = (offset + align - 1) / align * align;
    image.params.push_back({p.name, p.type, static_cast<uint32_t>(offset), static_cast<uint32_t>(p.bytes),
                            static_cast<uint32_t>(p.align), p.is_array()});
    offset += p.bytes;
  }
  image.param_bytes = static_cast<uint32_t>(offset);
}

/// A kernel that reads a clock measures what it says, so its operations stay.
bool reads_clock(const lir::Program& program) {
  return std::any_of(program.blocks.begin(), program.blocks.end(), [](const lir::Block& block) {
    return std::any_of(block.ops.begin(), block.ops.end(),
                       [](const lir::Op& op) { return op.op_class == OpClass::kSpecial; });
  });
}

/// Whether operations are fused, accesses joined and loops unrolled.
bool rewrites(const lir::Program& program, const LoweringOptions& options) {
  return options.level == LoweringLevel::kSchedule && options.machine_capability >= 70 &&
         !reads_clock(program);
}

/// Compute capability from which memory is addressed by general registers and a constant.
constexpr int kGeneralAddressesFrom = 20;

/// Whether operations are added that the instruction set of 1.x needs besides. It has no calls with a frame.
bool adds_instructions(const lir::Program& program, const LoweringOptions& options) {
  return options.level == LoweringLevel::kSchedule && options.machine_capability < kGeneralAddressesFrom &&
         program.stack_pointer == lir::kNoVar && !reads_clock(program);
}

/// Where the variables of a block begin in the shared memory of 1.x: behind 16 bytes of block and grid, and
/// the kernel's parameters (envytools, docs/hw/graph/tesla/cuda; CUDA C programming guide, compute
/// capability 1.x).
uint32_t first_shared_variable(const Function& entry) {
  uint64_t bytes = 0;
  for (const Variable& p : entry.params) {
    const uint64_t align = std::max<uint64_t>(p.align, 1);
    bytes = (bytes + align - 1) / align * align + p.bytes;
  }
  return static_cast<uint32_t>(16 + (bytes + 3) / 4 * 4);
}

bool says_block_size(const Function& entry) { return entry.reqntid[0] != 0 || entry.maxntid[0] != 0; }

uint32_t registers_for(uint64_t threads, const LoweringOptions& options) {
  const uint64_t warps = std::max<uint64_t>((threads + kWarpSize - 1) / kWarpSize, 1);
  return static_cast<uint32_t>(options.register_file / (warps * kWarpSize));
}

/// Threads of the largest block that the kernel allows.
uint64_t block_threads(const Function& entry, const LoweringOptions& options) {
  uint64_t threads = 1;
  for (const uint32_t n : entry.reqntid[0] != 0 ? entry.reqntid : entry.maxntid) threads *= std::max(n, 1u);
  if (!says_block_size(entry) || threads > options.largest_block) threads = options.largest_block;
  return threads;
}

/// What the kernel's directives leave each thread (PTX ISA, "Performance-Tuning Directives"; ptxas 13): of
/// .maxnreg no fewer than 24; of .minnctapersm, which counts only with the size of a block and if an SM holds
/// that many threads, what its blocks leave, rounded down to what a warp gets at a time.
uint32_t limit_of_directives(const Function& entry, const LoweringOptions& options, uint32_t limit) {
  constexpr uint32_t kLeastOfMaxnreg = 24, kAtATime = 8;
  if (entry.maxnreg != 0) limit = std::min(limit, std::max(entry.maxnreg, kLeastOfMaxnreg));
  const uint64_t threads = entry.minnctapersm * block_threads(entry, options);
  if (threads == 0 || !says_block_size(entry) || threads > options.threads_per_sm) return limit;
  const uint32_t fits = registers_for(threads, options) / kAtATime * kAtATime;
  return fits == 0 ? limit : std::min(limit, fits);
}

/// The most registers that a warp asks for while it runs (setmaxnreg.inc); 0: none does. A block has at its
/// launch what it ever has: these are registers that its other warps give back.
uint32_t most_at_run_time(const Function& entry) {
  uint32_t most = 0;
  for (const Instruction& i : entry.body)
    if (i.opcode == Opcode::kSetmaxnreg && !i.operands.empty() && has_word(i, "inc"))
      most = std::max(most, static_cast<uint32_t>(i.operands[0].imm));
  return most;
}

/// Registers per thread that the schedule keeps to if it can: from 7.0 on those with which all threads that
/// an SM holds have some (of 135 kernels ptxas 13 gives 26 on sm_80 and 34 on sm_90, with 2048 threads,
/// exactly 32, and on sm_75, with 1024, only 2), before those of the largest block.
uint32_t schedule_limit(const Function& entry, const LoweringOptions& options, uint32_t limit) {
  if (options.machine_capability >= 70 &&
      options.registers_taken > registers_for(options.threads_per_sm, options))
    return limit == 0 ? options.registers_taken : std::min(limit, options.registers_taken);
  const uint32_t fits = options.machine_capability >= 70
                            ? registers_for(options.threads_per_sm, options)
                            : registers_for(block_threads(entry, options), options);
  return limit == 0 ? fits : std::min(limit, fits);
}

/// How far orders look ahead that are tried one after the other.
constexpr std::array<uint32_t, 7> kWindows{2048, 128, 64, 48, 32, 16, 8};
/// So many eighths of the limit are tried.
constexpr uint32_t kWhole = 8, kLeastTried = 4;

/// The best order of the block that the scheduler has chosen, if one takes no more than `most` registers.
/// Those that look less far ahead are tried if `several`.
std::optional<lir::Order> best_order(lir::BlockScheduler& scheduler, uint32_t limit, uint32_t most,
                                     bool several) {
  std::optional<lir::Order> best;
  for (const bool only_loads : {false, true}) {
    for (const uint32_t window : kWindows) {
      for (uint32_t eighths = kWhole; eighths >= kLeastTried; --eighths) {
        const uint32_t tried = limit * eighths / kWhole;
        lir::Order order = scheduler.order({tried, window, false, only_loads});
        if (scheduler.registers(order) > most) continue;
        if (!best || order.waits < best->waits) best = std::move(order);
        if (tried == limit || best->waits == 0) return best;
        break;
      }
      if (only_loads || !several) break;
    }
    if (best) break;
  }
  return best;
}

/// The same where the lanes of a warp stay together: all blocks have orders for one limit.
std::vector<lir::Order> orders_in_lockstep(lir::BlockScheduler& scheduler, uint32_t blocks, uint32_t limit,
                                           uint32_t most) {
  for (const bool only_loads : {false, true}) {
    for (uint32_t eighths = kWhole; eighths >= kLeastTried; --eighths) {
      std::vector<lir::Order> orders;
      bool fit = true;
      for (uint32_t b = 0; b < blocks && fit; ++b) {
        scheduler.choose(b);
        orders.push_back(scheduler.order({limit * eighths / kWhole, kWindows.front(), true, only_loads}));
        fit = scheduler.registers(orders.back()) <= most;
      }
      if (fit) return orders;
    }
  }
  return {};
}

/// Each block is scheduled for as many registers as the limit leaves, or for fewer if that takes more. From
/// compute capability 7.0 on, where that is so, among schedules that look less far ahead the one that waits
/// least often for global memory. If none stays below the limit, only loads start early, and the block is
/// unchanged if even that takes too many. Before 7.0 this holds for all blocks together. `needed`: registers
/// of the program as it is. How often a warp waits for global memory then, in all blocks together (7.0 and
/// up).
uint32_t schedule_within(lir::Program& program, lir::BlockScheduler& scheduler, uint32_t limit,
                         uint32_t needed, bool lockstep) {
  // Operations of a kernel for which only the first is tried: it bounds the time.
  constexpr size_t kLarge = 4096;
  const uint32_t most = std::max(needed, limit);
  const auto blocks = static_cast<uint32_t>(program.blocks.size());
  if (lockstep) {
    std::vector<lir::Order> orders = orders_in_lockstep(scheduler, blocks, limit, most);
    for (size_t b = 0; b < orders.size(); ++b) program.blocks[b].ops = std::move(orders[b].ops);
    return 0;
  }
  size_t operations = 0;
  for (const lir::Block& block : program.blocks) operations += block.ops.size();
  uint32_t waits = 0;
  for (uint32_t b = 0; b < blocks; ++b) {
    scheduler.choose(b);
    std::optional<lir::Order> best = best_order(scheduler, limit, most, operations <= kLarge);
    if (!best) continue;
    program.blocks[b].ops = std::move(best->ops);
    waits += best->waits;
  }
  return waits;
}

/// The next higher number of registers with which fewer warps fit an SM: they come by fours, one to each
/// scheduler, and their registers by eights.
uint32_t next_limit(uint32_t limit, uint32_t register_file) {
  constexpr uint32_t kSchedulers = 4, kUnit = 8;
  const auto with = [&](uint32_t warps) { return register_file / (warps * kWarpSize) / kUnit * kUnit; };
  uint32_t warps = 64;
  while (warps > kSchedulers && with(warps) <= limit) warps -= kSchedulers;
  return std::max(with(warps), limit + kUnit);
}

/// What a schedule comes to.
struct Scheduled {
  uint32_t limit = 0;      ///< that it keeps
  uint32_t registers = 0;  ///< 7.0 and up
  uint32_t waits = 0;      ///< see schedule_within()
};

/// The limit that the schedule keeps in the end is the next one up to `most` with which fewer warps fit an
/// SM, for as long as no schedule keeps to it.
Scheduled schedule_from(lir::Program& program, const lir::Flow& flow, uint32_t limit,
                        const LoweringOptions& options, uint32_t most) {
  const bool lockstep = options.machine_capability < 70;
  lir::Liveness live = lir::compute_liveness(program, flow);
  const uint32_t needed = lir::machine_registers(program, live);
  lir::BlockScheduler scheduler(program, live.crossings, lockstep);
  for (;; limit = std::min(next_limit(limit, options.register_file), most)) {
    lir::Program scheduled = program;
    Scheduled result{limit, 0, schedule_within(scheduled, scheduler, limit, needed, lockstep)};
    if (options.machine_capability >= 70) {
      lir::find_segments(scheduled, live);
      result.registers = lir::machine_registers(scheduled, live);
      if (limit < most && result.registers > limit) continue;
    }
    program = std::move(scheduled);
    return result;
  }
}

/// The limit that the schedule keeps. Addresses are carried in registers of the warp where that lowers it or
/// spares waits, and, of kernels with which a full SM's threads have no registers enough, where it takes
/// fewer.
uint32_t schedule_for_occupancy(lir::Program& program, const lir::Flow& flow, const Function& entry,
                                const LoweringOptions& options, uint32_t most, SimdLevel simd) {
  const uint32_t limit = schedule_limit(entry, options, most);
  std::optional<lir::Program> carrying = lir::carry_addresses(program, flow, simd);
  const Scheduled plain = schedule_from(program, flow, limit, options, most);
  if (!carrying) return plain.limit;
  const Scheduled other = schedule_from(*carrying, flow, limit, options, most);
  const bool better = other.limit != plain.limit ? other.limit < plain.limit
                      : plain.limit > limit && other.registers != plain.registers
                          ? other.registers < plain.registers
                          : other.waits < plain.waits;
  if (!better) return plain.limit;
  program = *std::move(carrying);
  return other.limit;
}

/// Values of 64 and 128 bits begin at multiples of two and four registers, so not every register between them
/// is used. ptxas takes a tenth more than the values need, small kernels aside, unless it has to save
/// (measured over the workloads: regress/check_ptxas.py).
uint32_t with_gaps(uint32_t registers) {
  constexpr uint32_t kSmall = 12;
  return registers <= kSmall ? registers : registers + (registers - kSmall + 5) / 10;
}

/// Operations as they will be executed: without copies, and joined to what the machine has.
void clean(lir::Program& program, const lir::Flow& flow, bool rewritten, SimdLevel simd) {
  if (rewritten) lir::share_values(program, flow, simd);
  lir::propagate_copies(program, flow, rewritten, simd);
  lir::fold_addresses(program, flow, rewritten);
  lir::remove_dead_code(program);
  if (!rewritten) return;
  lir::fuse_operations(program, flow, simd);
  lir::contract_products(program, simd);
  lir::remove_dead_code(program);
}

/// Conditions that are numbers go, with the code that never runs. Each round may decide what makes others
/// known; a long chain of such selections is left in part, for it would take as many rounds.
void fold(lir::Program& program, lir::Flow& flow, SimdLevel simd) {
  constexpr int kMostRounds = 8;
  for (int round = 0; round < kMostRounds && lir::fold_conditions(program, flow, simd); ++round) {
    flow = lir::build_flow(program);
    clean(program, flow, true, simd);
  }
}

/// Branches become predicates where the code that they jump over is short, and short loops are unrolled: how
/// short it is is known once it is clean.
void shape(lir::Program& program, SimdLevel simd) {
  lir::Flow flow = lir::build_flow(program);
  clean(program, flow, true, simd);
  fold(program, flow, simd);
  if (lir::predicate_branches(program, flow, simd)) flow = lir::build_flow(program);
  lir::narrow_loads(program);
  lir::merge_accesses(program, simd);
  bool again = false;
  while (lir::unroll_loops(program, flow, simd, again)) {
    again = true;
    flow = lir::build_flow(program);
    lir::join_steps(program, flow);
    clean(program, flow, true, simd);
    fold(program, flow, simd);
    lir::narrow_loads(program);
    lir::merge_accesses(program, simd);
  }
}

/// What a kernel gets at least, whatever its largest block is.
constexpr uint32_t kFewest = 16;

/// From here on registers are assigned one by one; before, a formula says how many they are.
constexpr int kAssignsFrom = 70;

/// The first with registers that a warp has once.
constexpr int kUniformFrom = 75;

/// Which values are alive in which blocks must fit the memory: of a set of bits, about five are there at
/// once.
bool liveness_fits(const lir::Unit& unit, Diagnostics& errors) {
  constexpr uint64_t kMostBits = uint64_t{1} << 33;
  const uint64_t blocks = unit.program.blocks.size(), values = lir::count_crossing(unit.program);
  if (blocks * values <= kMostBits) return true;
  errors.push_back(
      {Diagnostic::Severity::kError,
       unit.function->loc,
       fmt::format("'{}' is too large after inlining its calls: {} blocks and {} values that live "
                   "across them",
                   unit.function->name, blocks, values),
       {}});
  return false;
}

/// The passes between selection and allocation.
void run_passes(lir::Unit& unit, const LoweringOptions& options, const Function& entry, KernelImage& image,
                Diagnostics& errors) {
  if (!liveness_fits(unit, errors)) return;
  uint32_t limit = options.register_limit != 0 ? std::min(options.register_limit, options.max_registers)
                                               : options.max_registers;
  if (options.level == LoweringLevel::kSchedule && options.machine_capability >= 70 && says_block_size(entry))
    limit = std::min(limit, std::max(registers_for(block_threads(entry, options), options), kFewest));
  if (options.level == LoweringLevel::kSchedule) limit = limit_of_directives(entry, options, limit);
  const uint32_t at_launch = limit;
  limit = std::max(limit, std::min(most_at_run_time(entry), options.max_registers));
  uint32_t schedule_to = limit;
  lir::Program& program = unit.program;
  const lir::Flow& flow = unit.flow;
  const SimdLevel simd = options.simd.value_or(best_simd_level());
  if (options.level != LoweringLevel::kNone) {
    lir::split_local_ranges(program);
    const bool rewritten = rewrites(program, options);
    clean(program, flow, rewritten, simd);
    if (rewritten) {
      lir::narrow_loads(program);
      lir::merge_accesses(program, simd);
      lir::aggregate_atomics(program, flow, options.machine_capability, simd);
      lir::find_complementary_writes(program);
    }
    if (options.machine_capability < 20) lir::fold_shared_operands(program, first_shared_variable(entry));
    if (options.level == LoweringLevel::kSchedule && options.machine_capability < 20)
      lir::narrow_addresses(program);
    lir::mark_foreign_stores(program);
    lir::sink_values(program, flow);
    if (adds_instructions(program, options)) {
      lir::add_missing_instructions(program, flow, simd);
      lir::use_address_registers(program, flow, simd);
    }
    if (options.level == LoweringLevel::kSchedule && options.machine_capability >= 20)
      lir::bind_operands(program, flow);
    if (rewritten && options.machine_capability >= kUniformFrom) lir::find_uniform(program, flow);
    if (rewritten) lir::narrow_values(program, flow);
    lir::time_as_machine(program);
    if (rewritten) lir::time_known_divisors(program);
    if (options.level == LoweringLevel::kSchedule)
      schedule_to = schedule_for_occupancy(program, flow, entry, options, limit, simd);
    lir::coalesce(program, flow);
  } else {
    lir::mark_foreign_stores(program);
    lir::time_as_machine(program);
  }
  const uint32_t declared_bytes = program.local_bytes;
  if (program.stack_pointer != lir::kNoVar && !lir::save_registers(program, flow, simd)) {
    errors.push_back({Diagnostic::Severity::kError, unit.function->loc,
                      fmt::format("'{}' is too large: more than {} operations with those that save registers "
                                  "around its calls",
                                  unit.function->name, lir::kMaxOps),
                      "let fewer values live across calls, or make fewer calls"});
    return;
  }
  uint32_t registers = lir::register_estimate(program, flow);
  const bool spilled = limit != 0 && registers > limit;
  if (spilled) {
    const uint32_t reserved = program.stack_pointer != lir::kNoVar ? 1 : 0;
    image.spilled_registers += lir::spill(program, flow, limit - std::min(reserved, limit - 1), simd);
    registers = limit;
  }
  lir::share_slots(program, flow, declared_bytes);
  if (options.level == LoweringLevel::kSchedule && options.machine_capability >= 20) {
    if (options.machine_capability < kAssignsFrom) {
      registers = std::max(registers, lir::machine_registers(program, flow));
      registers = std::max(registers, std::min(with_gaps(registers), schedule_to));
    } else if (!spilled) {
      registers = lir::assigned_registers(program, flow, schedule_to);
    }
    if (options.machine_capability >= 70) registers = std::max(registers, lir::least_registers(program));
    if (limit != 0) registers = std::min(registers, limit);
  }
  if (at_launch != 0) registers = std::min(registers, at_launch);
  if (rewrites(program, options)) lir::count_executed(program, flow);
  image.registers = std::max(image.registers, registers);
  const MachineCounts counts = lir::machine_instructions(program, flow);
  for (size_t i = 0; i < counts.size(); ++i) image.machine_counts[i] += counts[i];
}

uint8_t system_calls_of(const KernelImage& image) {
  uint8_t calls = 0;
  for (const SystemCall call :
       {SystemCall::kPrint, SystemCall::kAllocate, SystemCall::kRelease, SystemCall::kRuntime}) {
    const MemFn function = system_call_function(call);
    if (std::ranges::any_of(image.ops, [&](const MicroOp& op) { return op.mem == function; }))
      calls |= system_call_bit(call);
  }
  return calls;
}

}  // namespace

LoweringLevel lowering_level(std::string_view name) {
  const auto found = std::find(kLoweringLevels.begin(), kLoweringLevels.end(), name);
  if (found == kLoweringLevels.end()) return LoweringLevel::kClean;
  return static_cast<LoweringLevel>(found - kLoweringLevels.begin());
}

std::function<uint64_t(const Variable&)> stand_in_addresses() {
  constexpr uint64_t kAlign = 256;
  return [places = std::map<const Variable*, uint64_t>(),
          next = kDeviceMemoryBase](const Variable& variable) mutable {
    const auto [at, added] = places.try_emplace(&variable, next);
    if (added) next += (variable.bytes / kAlign + 1) * kAlign;
    return at->second;
  };
}

std::variant<KernelImage, Diagnostics> lower_kernel(const Module& module, const Function& entry,
                                                    const LoweringOptions& options) {
  Diagnostics errors;
  KernelImage image;
  lir::Statements statements;
  const lir::CallPlan plan = lir::plan_calls(
      module, entry, options.alloca_bytes != 0 ? options.alloca_bytes : options.stack_bytes, errors);
  std::vector<lir::Unit> units;
  const auto lower = [&](const Function& function) {
    if (!errors.empty()) return;
    units.push_back({&function, lir::select(module, function, plan, options, statements, errors), {}});
    if (!errors.empty()) return;
    units.back().program.machine_capability = options.machine_capability;
    units.back().program.special_operands = options.special_operands;
    units.back().program.reconverge_operations =
        options.reconverge_operations && options.level == LoweringLevel::kSchedule;
    lir::exit_early(units.back().program);
    if (rewrites(units.back().program, options))
      shape(units.back().program, options.simd.value_or(best_simd_level()));
    units.back().flow = lir::build_flow(units.back().program);  // the passes keep blocks and branches
    run_passes(units.back(), options, entry, image, errors);
  };
  lower(entry);
  for (const Function* f : plan.callables) lower(*f);
  if (!errors.empty()) return errors;
  set_header(module, entry, image);
  image.executed_once = units.front().program.executed_once;
  image.reserved_shared_bytes = plan.reserved_shared_bytes;
  image.static_shared_bytes = plan.static_shared_bytes;
  if (options.machine_capability < 20) image.system_shared_bytes = first_shared_variable(entry);
  image.dynamic_shared_offset = plan.dynamic_shared_offset;
  image.local_bytes = (units.front().program.local_bytes + 15) / 16 * 16;
  if (plan.uses_stack) {
    lir::lay_out_stack(units, module, options.stack_bytes, image);
    for (lir::Unit& unit : units)
      lir::adjust_stack_pointer(unit.program, options.simd.value_or(best_simd_level()));
  }
  std::vector<uint8_t> row_widths;
  if (!lir::allocate(units.front().program, units.front().flow, row_widths, image, errors)) return errors;
  for (size_t i = 1; i < units.size(); ++i) {
    KernelImage part;
    part.name = units[i].function->name;
    if (!lir::allocate(units[i].program, units[i].flow, row_widths, part, errors)) return errors;
    lir::append_code(std::move(part), *units[i].function, module, image);
  }
  if (!std::ranges::all_of(units, [&](const lir::Unit& unit) { return rewrites(unit.program, options); }))
    image.instructions.clear();
  if (image.source_registers.size() != image.ops.size()) image.source_registers.clear();
  image.alloca_bytes = static_cast<uint32_t>(plan.stack.end() - plan.stack.begin());
  image.system_calls = system_calls_of(image);
  image.has_cluster_barriers = std::ranges::any_of(image.ops, [](const MicroOp& op) {
    return op.kind == OpKind::kBarrier && op.modifiers >= static_cast<uint8_t>(BarrierAction::kClusterArrive);
  });
  image.has_foreign_stores = std::ranges::any_of(image.ops, &MicroOp::others_access);
  lir::mark_waiting_loops(image);
  image.row_widths = std::move(row_widths);
  image.row_widths.resize(image.num_rows, 1);
  image.ptx = std::move(statements.list);
  image.addressed = std::move(statements.addressed);
  image.outer_scopes = std::move(statements.outer_scopes);
  if (module.files.size() > 1) image.files = module.files;
  image.source_files = module.source_files;
  for (const auto& [variable, offset] : plan.shared)
    image.shared_variables.push_back({variable->name, offset, static_cast<uint32_t>(variable->bytes)});
  std::sort(image.shared_variables.begin(), image.shared_variables.end(),
            [](const PlacedVariable& a, const PlacedVariable& b) { return a.offset < b.offset; });
  return image;
}

}  // namespace gpusim::isa
