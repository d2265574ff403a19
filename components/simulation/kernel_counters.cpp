#include "components/simulation/kernel_counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace gpusim::comp {

namespace {

double real(uint64_t value) { return static_cast<double>(value); }
double quotient(double a, double b) { return b == 0 ? 0 : a / b; }
double quotient(uint64_t a, uint64_t b) { return quotient(real(a), real(b)); }

/// A value that is computed from others when they are reported.
struct DerivedCounter {
  const char* name;
  const char* unit;
  const char* meaning;
  double (*value)(const KernelView&);
  const char* reference = "";
};

constexpr DerivedCounter kInstructions[] = {
    {"machine_instructions", "1",
     "instructions that the warps execute in code as ptxas makes it (an estimate; of runs for values without "
     "the subroutines of special_operands); not of machines before 7.0 and of programs that read the clock",
     [](const KernelView& k) { return real(k.machine_instructions.value_or(0)); },
     "Nsight Compute: smsp__inst_executed.sum"},
};

constexpr DerivedCounter kSmRates[] = {
    {"load_efficiency", "1", "bytes that threads asked for per byte moved by load transactions",
     [](const KernelView& k) { return quotient(k.sm.requested_load_bytes, k.sm.load_bytes); }},
    {"store_efficiency", "1", "bytes that threads stored per byte moved by store transactions",
     [](const KernelView& k) { return quotient(k.sm.requested_store_bytes, k.sm.store_bytes); }},
    {"load_throughput", "bytes/s", "moved by load transactions",
     [](const KernelView& k) { return real(k.sm.load_bytes) / k.cycles * k.clock_hz; }},
    {"store_throughput", "bytes/s", "moved by store transactions",
     [](const KernelView& k) { return real(k.sm.store_bytes) / k.cycles * k.clock_hz; }},
    {"branch_efficiency", "1", "branches that did not diverge",
     [](const KernelView& k) {
       return k.sm.branches == 0 ? 1 : 1 - quotient(k.sm.divergent_branches, k.sm.branches);
     },
     "nvprof"},
    {"warp_execution_efficiency", "1", "active threads per executed warp instruction, of 32",
     [](const KernelView& k) {
       return quotient(real(k.sm.thread_instructions), 32.0 * real(k.sm.warp_instructions));
     },
     "nvprof"},
    {"achieved_occupancy", "1", "resident warps per cycle with at least one, of the SM's maximum",
     [](const KernelView& k) {
       return quotient(quotient(k.sm.active_warp_cycles, k.sm.active_cycles),
                       static_cast<double>(k.machine.sm.max_warps));
     },
     "nvprof"},
    {"sm_efficiency", "1", "cycles with a resident warp, average over all SMs of the machine",
     [](const KernelView& k) {
       return quotient(real(k.sm.active_cycles), k.cycles * static_cast<double>(k.machine.gpu.sms));
     },
     "nvprof"},
    {"issue_slots", "1",
     "taken by warp instructions: an operation may stand for several, and take a slot for each",
     [](const KernelView& k) { return real(k.sm.slots[StallCause::kIssued]); }, "nvprof"},
    {"ipc", "1", "machine operations per cycle of an SM with a resident warp",
     [](const KernelView& k) { return quotient(k.sm.inst_executed, k.sm.active_cycles); }, "nvprof"},
    {"ipc_elapsed", "1", "machine operations per core cycle and SM of the machine",
     [](const KernelView& k) {
       return real(k.sm.inst_executed) / k.cycles / static_cast<double>(k.machine.gpu.sms);
     }},
};

constexpr DerivedCounter kDramTransactions[] = {
    {"dram_read_transactions", "1", "32-byte bursts read from DRAM",
     [](const KernelView& k) { return real(k.shared.dram.read_bytes / 32); }, "nvprof"},
    {"dram_write_transactions", "1", "32-byte bursts written to DRAM",
     [](const KernelView& k) { return real(k.shared.dram.write_bytes / 32); }, "nvprof"},
};
constexpr DerivedCounter kDramRates[] = {
    {"dram_bus_utilization", "1", "clocks in which the data buses move data",
     [](const KernelView& k) { return quotient(real(k.shared.dram.busy_clocks), k.bus_clocks); }},
    {"dram_throughput", "bytes/s", "read and written",
     [](const KernelView& k) {
       return k.seconds == 0 ? 0 : real(k.shared.dram.read_bytes + k.shared.dram.write_bytes) / k.seconds;
     }},
};
constexpr DerivedCounter kSysmemRates[] = {
    {"sysmem_read_throughput", "bytes/s", "kernels' reads of the host's memory",
     [](const KernelView& k) {
       return k.seconds == 0 ? 0 : real(32 * k.shared.sysmem.read_sectors) / k.seconds;
     },
     "nvprof"},
    {"sysmem_write_throughput", "bytes/s", "kernels' writes to the host's memory",
     [](const KernelView& k) {
       return k.seconds == 0 ? 0 : real(32 * k.shared.sysmem.write_sectors) / k.seconds;
     },
     "nvprof"},
    {"sysmem_utilization", "1", "of the time, the link to the host carries data in its busier direction",
     [](const KernelView& k) {
       const double busy =
           real(std::max(k.shared.sysmem.read_busy_ps, k.shared.sysmem.write_busy_ps)) * 1e-12;
       return k.seconds == 0 ? 0 : std::min(1.0, busy / k.seconds);
     }},
};
constexpr DerivedCounter kL2State[] = {
    {"l2_writeback_sectors_on_the_way", "1", "at the kernel's end: sent to DRAM, not acknowledged yet",
     [](const KernelView& k) { return real(k.end.l2.writebacks - k.end.l2.written); }},
    {"l2_dirty_sectors", "1", "at the kernel's end: sectors that have not been written back",
     [](const KernelView& k) { return real(k.l2_dirty_sectors); }},
};

template <size_t N>
void report(std::vector<core::Counter>& out, const DerivedCounter (&rows)[N], const KernelView& kernel) {
  for (const DerivedCounter& row : rows) out.push_back({row.name, row.value(kernel), row.unit, row.meaning});
}

std::string described(const char* name, const char* unit, const char* meaning, const char* reference) {
  const std::string measure = std::string_view(unit) == "1" ? "" : fmt::format(" [{}]", unit);
  const std::string source = *reference == '\0' ? "" : fmt::format(" ({})", reference);
  return fmt::format("{}{}\n    {}{}\n", name, measure, meaning, source);
}
template <class S>
std::string described() {
  std::string out;
  for (const core::CounterRow<S>& row : core::kCounterRows<S>)
    if (*row.name != '\0') out += described(row.name, row.unit, row.meaning, row.options.reference);
  return out;
}
template <size_t N>
std::string described(const DerivedCounter (&rows)[N]) {
  std::string out;
  for (const DerivedCounter& row : rows) out += described(row.name, row.unit, row.meaning, row.reference);
  return out;
}

/// Calls visit(name, adds_up) for each counter of a list.
template <class S, class Visit>
void visit_rows(Visit visit) {
  for (const core::CounterRow<S>& row : core::kCounterRows<S>)
    if (*row.name != '\0') visit(row.name, row.options.sum == core::CounterSum::kAdd);
}
template <size_t N, class Visit>
void visit_rows(const DerivedCounter (&rows)[N], bool adds_up, Visit visit) {
  for (const DerivedCounter& row : rows) visit(row.name, adds_up);
}
template <class Visit>
void visit_counters(Visit visit) {
  visit_rows<SmWork>(visit);
  visit_rows(kInstructions, true, visit);
  visit_rows<SmAccesses>(visit);
  visit_rows<L1Stats>(visit);
  visit_rows<SmConflicts>(visit);
  visit_rows(kSmRates, false, visit);
  visit_rows(kDramTransactions, true, visit);
  visit_rows<DramStats>(visit);
  visit_rows(kDramRates, false, visit);
  visit_rows<L2Stats>(visit);
  visit_rows(kL2State, false, visit);
  visit_rows<SmTlbStats>(visit);
  visit_rows<SharedTlbStats>(visit);
  visit_rows<TextureStats>(visit);
  visit_rows<NocStats>(visit);
  visit_rows<SysmemStats>(visit);
  visit_rows(kSysmemRates, false, visit);
}
// Of components/power, which names the energies of operations after them.
constexpr std::string_view kEnergyPrefix = "energy", kPower = "average_power",
                           kEnergyDelay = "energy_delay_product";

}  // namespace

void add(SmStats& sum, const SmStats& s) {
  core::add<SmWork>(sum, s);
  core::add<SmAccesses>(sum, s);
  core::add<SmConflicts>(sum, s);
  core::add(sum.l1, s.l1);
  for (size_t i = 0; i < kNumStallCauses; ++i) sum.slots[i] += s.slots[i];
}

SmStats total_of(const KernelLaunch& run) {
  SmStats sum;
  for (const SmStats& s : run.sm) add(sum, s);
  return sum;
}

std::optional<uint64_t> machine_instructions_of(const KernelLaunch& run) {
  const isa::KernelImage& image = *run.image;
  if (image.instructions.empty()) return std::nullopt;
  uint64_t sum = 0;
  for (const SmStats& s : run.sm) sum += s.warps * image.executed_once + s.subroutine_instructions;
  for (size_t i = 0; i < run.pc.size(); ++i) sum += run.pc[i].executed * image.instructions[i];
  return sum;
}

void report_sms(std::vector<core::Counter>& out, const KernelView& kernel) {
  core::report<SmWork>(out, kernel.sm, kernel.machine);
  if (kernel.machine_instructions) report(out, kInstructions, kernel);
  if (!kernel.timed) return;
  core::report<SmAccesses>(out, kernel.sm, kernel.machine);
  if (kernel.machine.l1.bytes != 0) core::report(out, kernel.sm.l1, kernel.machine);
  core::report<SmConflicts>(out, kernel.sm, kernel.machine);
  report(out, kSmRates, kernel);
}

void report_shared(std::vector<core::Counter>& out, const KernelView& kernel) {
  const core::MachineConfig& machine = kernel.machine;
  report(out, kDramTransactions, kernel);
  core::report(out, kernel.shared.dram, machine);
  report(out, kDramRates, kernel);
  if (machine.l2.bytes != 0) {
    core::report(out, kernel.shared.l2, machine);
    report(out, kL2State, kernel);
  }
  if (machine.tlb.l1_entries != 0) {
    core::report(out, kernel.shared.sm_tlb, machine);
    core::report(out, kernel.shared.tlb, machine);
  }
  core::report(out, kernel.shared.texture, machine);
  core::report(out, kernel.shared.noc, machine);
  core::report(out, kernel.shared.sysmem, machine);
  report(out, kSysmemRates, kernel);
}

std::string describe_counters() {
  return described<SmWork>() + described(kInstructions) + described<SmAccesses>() + described<L1Stats>() +
         described<SmConflicts>() + described(kSmRates) + described(kDramTransactions) +
         described<DramStats>() + described(kDramRates) + described<L2Stats>() + described(kL2State) +
         described<SmTlbStats>() + described<SharedTlbStats>() + described<TextureStats>() +
         described<NocStats>() + described<SysmemStats>() + described(kSysmemRates);
}

std::vector<std::string_view> counter_names() {
  std::vector<std::string_view> names;
  visit_counters([&names](const char* name, bool) { names.emplace_back(name); });
  return names;
}

bool is_counter(std::string_view name) {
  const std::vector<std::string_view> names = counter_names();
  return name.starts_with(kEnergyPrefix) || name == kPower || std::ranges::find(names, name) != names.end();
}

bool adds_up(std::string_view name) {
  bool adds = name != kPower && name != kEnergyDelay;
  visit_counters([&](const char* counter, bool counter_adds) { adds &= counter != name || counter_adds; });
  return adds;
}

}  // namespace gpusim::comp
