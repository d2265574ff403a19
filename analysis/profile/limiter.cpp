#include "analysis/profile/limiter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <map>
#include <utility>

#include "analysis/profile/polling.h"
#include "analysis/profile/traffic_lines.h"
#include "analysis/profile/utilization.h"
#include "analysis/report/reports.h"
#include "simcore/text/json_text.h"

namespace gpusim::analysis {
namespace {

constexpr std::string_view kPipeUnits = "pipe_", kConstantLoad = "load_const";
// A unit is taken to be full if what feeds it waits for it in so much of the time (docs/metrics.md).
constexpr double kFullNetwork = 0.3, kFullDram = 0.5;
/// Of a latency, the part that is queueing when what lies behind it is full.
constexpr double kQueueing = 0.7;

double power(double base, int exponent) { return std::pow(std::min(1.0, base), exponent); }

/// A kernel's counts as shares of its time.
class Shares {
 public:
  Shares(const KernelRecord& kernel, const core::MachineConfig& machine)
      : kernel_(kernel), machine_(machine) {
    const double cycles = static_cast<double>(kernel.cycles);
    const double launch = machine.gpu.launch_cycles + static_cast<double>(machine.gpu.block_start_cycles);
    start_ = std::min(1.0, launch / cycles);
    crowding_ = busiest_by_mean(kernel, machine);
    slots_ = static_cast<double>(kernel.total_slots());
    drain_ = slots({"drain"});
    const double waiting = waits("lsu_wait_mshr") + waits("lsu_wait_store_buffer");
    double all = 0;
    for (const UnitLoad& u : kernel.units)
      if (u.unit.starts_with("lsu_wait_")) all += u.mean();
    buffers_full_ = all == 0 ? 0 : waiting / all;
  }
  /// Of the time that it takes to start the kernel, and of the rest.
  [[nodiscard]] double start() const { return start_; }
  [[nodiscard]] double active() const { return 1 - start_; }
  /// Of the time after the last block, in which stores and atomics are on their way.
  [[nodiscard]] double drain() const { return drain_; }
  [[nodiscard]] double mean(std::string_view unit) const {
    const UnitLoad* u = kernel_.unit(unit);
    return u == nullptr ? 0 : u->mean();
  }
  [[nodiscard]] double peak(std::string_view unit) const {
    const UnitLoad* u = kernel_.unit(unit);
    return u == nullptr ? 0 : u->peak();
  }
  /// Of the partition, port or channel that is the busiest at a time: which one that is may change.
  [[nodiscard]] double at_a_time(std::string_view unit) const {
    return std::min(active(), std::max(peak(unit), mean(unit) * crowding_));
  }
  /// Of the requests of one time, the share of the partition that gets most.
  [[nodiscard]] double to_busiest() const { return crowding_ / static_cast<double>(machine_.l2.partitions); }
  /// Of the interconnect's ports and links, over the whole time: which partition gets most requests changes,
  /// and queues last until it does.
  [[nodiscard]] double fullest_port() const {
    double port = 0;
    for (const char* unit :
         {"request_in", "request_out", "request_links", "l2_data", "reply_in", "reply_out", "reply_links"})
      port = std::max(port, peak(unit));
    return std::min(active(), port);
  }
  /// Between the mean and the busiest one: few that wait hold up some of the others.
  [[nodiscard]] double wait(std::string_view unit) const {
    return std::max(std::sqrt(peak(unit) * mean(unit)), mean(unit) * crowding_);
  }
  [[nodiscard]] double wait_of_sms(std::string_view unit) const { return std::sqrt(peak(unit) * mean(unit)); }
  [[nodiscard]] double slots(std::initializer_list<const char*> causes) const {
    double sum = 0;
    for (const char* cause : causes) sum += static_cast<double>(kernel_.slots_of(cause));
    return slots_ == 0 ? 0 : sum / slots_;
  }
  /// A share of the slots that had a warp, as a share of the time: the SMs that have warps decide how long
  /// the kernel takes, until its last block ends.
  [[nodiscard]] double of_resident(double share) const {
    const double resident = 1 - static_cast<double>(kernel_.idle_slots()) / std::max(slots_, 1.0);
    return resident <= 0 ? 0 : std::max(0.0, active() - drain_) * share / resident;
  }
  /// Of all cycles of SMs, those in which the oldest access waited for a page of the TLBs or the page table.
  [[nodiscard]] double translation() const {
    const auto waited = kernel_.counters.find("tlb_l1_wait_cycles");
    const double sm_cycles = slots_ * machine_.scheduler.issue_cycles / machine_.scheduler.count;
    return waited == kernel_.counters.end() || sm_cycles == 0 ? 0 : waited->second / sm_cycles;
  }
  /// Of the time in which the load/store units wait, that for MSHRs and the store buffer.
  [[nodiscard]] double buffers_full() const { return buffers_full_; }

 private:
  [[nodiscard]] double waits(std::string_view unit) const { return mean(unit); }

  const KernelRecord& kernel_;
  const core::MachineConfig& machine_;
  double start_ = 0, drain_ = 0, crowding_ = 1, slots_ = 0, buffers_full_ = 0;
};

/// Parts of the time from a request to its reply, without queues, in ns.
struct Way {
  double network, l2, dram, l1;
  [[nodiscard]] double all() const { return network + l2 + dram + l1; }
};
Way way_to_dram(const core::MachineConfig& m) {
  const double l1 = m.l1.bytes == 0 ? 0 : m.l1.latency * 1e6 / static_cast<double>(m.clocks.core_khz);
  return {m.interconnect.request_latency_ns + m.interconnect.reply_latency_ns, m.l2.latency_ns,
          m.dram.latency_ns + m.dram.rcd_ns + m.dram.cl_ns, l1};
}
Way way_to_l2(const core::MachineConfig& m) {
  Way way = way_to_dram(m);
  way.l2 = m.l2.hit_latency_ns;
  way.dram = 0;
  return way;
}

/// Slots that waited for memory, by the part of the way that they waited for. Translation is no part of it.
Way memory_waits(const Shares& s, const core::MachineConfig& machine) {
  const double l1 = s.slots({"memory_l1", "memory_tex_l1"});
  const double l2 = s.slots({"memory_l2", "memory_const_l2", "memory_const_l3", "memory_tex_l2"});
  const double dram = s.slots({"memory_dram"}) + s.slots({"memory_throttle"}) * s.buffers_full();
  const Way far = way_to_dram(machine), near = way_to_l2(machine);
  const auto share = [&](double Way::*part) {
    return dram * (far.*part) / std::max(far.all(), 1e-9) + l2 * (near.*part) / std::max(near.all(), 1e-9);
  };
  const double other = std::max(0.0, 1 - s.translation() / std::max(dram + l2 + l1, 1e-9));
  return {share(&Way::network) * other, share(&Way::l2) * other, share(&Way::dram) * other, l1 * other};
}

struct Estimate {
  std::vector<LimiterCandidate> all;
  void add(std::string name, double share) { all.push_back({std::move(name), share}); }
  /// The unit is worth so much for one more reason, which may be the same cycles.
  void raise(std::string_view name, double share) {
    const auto at = std::ranges::find(all, name, &LimiterCandidate::name);
    if (at != all.end()) at->saved = std::max(at->saved, share);
  }
};

/// Interconnect, partitions and DRAM: full only if what feeds them waits for them. How much of the latency
/// of memory is queueing then.
double add_memory(Estimate& e, const Shares& s, const KernelRecord& kernel,
                  const core::MachineConfig& machine) {
  const double wait = s.wait_of_sms("lsu_wait_network"), active = s.active();
  // Of these waits, those that partitions pass on: they wait themselves.
  const auto passed_on = [&](std::string_view unit) {
    return wait > 0.01 ? std::min(1.0, s.wait(unit) / wait) : 0.0;
  };
  const double by_dram = passed_on("l2_wait_dram_queue"), by_atomics = passed_on("l2_wait_atomics");
  const double own = std::max(0.0, 1 - by_dram - by_atomics);
  const double full = std::min(1.0, wait / (kFullNetwork * active));
  const double port = s.fullest_port();
  // The port of one cluster can be full alone.
  const double one = std::min(1.0, s.peak("lsu_wait_network") / (kFullNetwork * active));
  e.add("network", std::max(port * full, std::min(active, s.peak("request_in")) * one) / 2 * own);
  const double dram_full = std::min(1.0, s.wait("l2_wait_dram_queue") / (kFullDram * active));
  e.add("dram", s.at_a_time("dram_bus") / 2 * dram_full);
  const double atomics = s.at_a_time("l2_atomics");
  e.add("atomics", atomics / 2 * (atomics >= 0.85 * active ? 1 : full * by_atomics));
  if (strides_can_camp(machine)) {
    const OtherRequests others = requests_without_atomics(kernel, machine);
    e.add("camping", s.mean("lsu_wait_network") * std::max(0.0, 1 - by_atomics) * others.share *
                         (1 - 1 / others.crowding));
  }
  e.add("buffers", std::max(s.peak("lsu_wait_mshr"), s.peak("lsu_wait_store_buffer")) / 2);
  return std::max(full, dram_full);
}

/// After the last block only stores and atomics are on their way, and the unit of memory that is busy longest
/// holds up the end: twice as fast it saves half of its work, but no more than the drain takes beyond one
/// trip to memory.
void add_drain(Estimate& e, const Shares& s, const KernelRecord& kernel, const core::MachineConfig& machine) {
  const Way trip = machine.l2.bytes == 0 ? way_to_dram(machine) : way_to_l2(machine);
  const double one = trip.all() * 1e-6 * static_cast<double>(machine.clocks.core_khz);
  const double queued = s.drain() - one / static_cast<double>(kernel.cycles);
  if (queued <= 0) return;
  const double bus = s.at_a_time("dram_bus");
  // A channel is also held by rows and turns, which a faster bus does not shorten.
  const double channel = bus + s.mean("dram_rows") + s.mean("dram_turnarounds") + s.mean("dram_refresh");
  const double atomics = s.at_a_time("l2_atomics"), port = s.fullest_port();
  const double longest = std::max({channel, atomics, port});
  if (longest == channel)
    e.raise("dram", std::min(bus / 2, queued));
  else if (longest == atomics)
    e.raise("atomics", std::min(atomics / 2, queued));
  else
    e.raise("network", std::min(port / 2, queued));
}

double sum_of(const Table& table, std::string_view column) {
  double sum = 0;
  for (uint64_t row = 0; table.has(column) && row < table.rows; ++row)
    sum += static_cast<double>(table[column][row]);
  return sum;
}

/// Warps that wait until another block has written something, and the others of their blocks, which wait for
/// these at a barrier.
struct Polling {
  PollingLoop loop;
  double slots = 0;  ///< share of all
  double time = 0;   ///< share of the warps' time that asking again took, without queues
  [[nodiscard]] double share() const { return std::min(slots, time); }
  [[nodiscard]] double times() const { return 1 + loop.repeats / std::max(1.0, loop.waits); }
};

/// The loop that costs most. A barrier behind it counts if a block comes to it once for a wait.
Polling longest_polling(const KernelRecord& kernel, const core::MachineConfig& machine) {
  constexpr double kOnce = 1.5;
  const Table& t = kernel.per_pc;
  const double all = static_cast<double>(kernel.total_slots());
  const double warp_cycles = sum_of(kernel.per_sm, "active_warp_cycles"),
               blocks = sum_of(kernel.per_sm, "blocks");
  const double trip = (machine.l2.bytes == 0 ? way_to_dram(machine) : way_to_l2(machine)).all() * 1e-6 *
                      static_cast<double>(machine.clocks.core_khz);
  Polling most;
  if (all == 0 || warp_cycles == 0 || blocks == 0) return most;
  const double warps = sum_of(kernel.per_sm, "warps") / blocks;
  for (const PollingLoop& loop : polling_loops(kernel)) {
    double slots = 0, held = 1;
    for (const CauseSlots& cause : kernel.causes)
      for (uint64_t pc = loop.first; pc <= loop.last; ++pc)
        if (const std::string column = slots_column(cause.name); t.has(column))
          slots += static_cast<double>(t[column][pc]);
    if (loop.barrier < t.rows) {
      const auto come = static_cast<double>(t["executed"][loop.barrier]);
      if (come <= kOnce * loop.waits * warps && t.has("slots_barrier")) {
        held = std::max(1.0, come / loop.waits);
        slots += static_cast<double>(t["slots_barrier"][loop.barrier]);
      }
    }
    const Polling p{loop, slots / all, std::min(1.0, loop.repeats * trip * held / warp_cycles)};
    if (p.share() > most.share()) most = p;
  }
  return most;
}

/// Share of all slots in which a load of constants had no room among the misses of the constant cache.
double constants_without_room(const KernelRecord& kernel) {
  const Table& t = kernel.per_pc;
  const auto classes = t.texts.find("class");
  const auto all = static_cast<double>(kernel.total_slots());
  if (classes == t.texts.end() || !t.has("slots_memory_throttle") || all == 0) return 0;
  double slots = 0;
  for (uint64_t pc = 0; pc < t.rows; ++pc)
    if (classes->second[pc] == kConstantLoad) slots += static_cast<double>(t["slots_memory_throttle"][pc]);
  return slots / all;
}

Estimate estimate(const KernelRecord& kernel, const core::MachineConfig& machine) {
  const Shares s(kernel, machine);
  Estimate e;
  const double dispatcher = s.peak("dispatcher");
  e.add("launch", s.start() / 2 + dispatcher / 2 * power(dispatcher / std::max(s.active(), 1e-9), 2));
  if (s.active() <= 0) return e;
  const double queueing = add_memory(e, s, kernel, machine);
  add_drain(e, s, kernel, machine);
  for (const UnitLoad& u : kernel.units)
    if (u.unit.starts_with(kPipeUnits)) e.add(u.unit, u.peak() / 2 * power(u.peak() / s.active(), 1));
  e.add("issue", s.peak("issue") / 2 * power(s.peak("issue") / s.active(), 2));
  e.add("lsu", s.peak("lsu_port") / 2 * power(s.peak("lsu_port") / s.active(), 6));
  const Way waits = memory_waits(s, machine);
  const double longest = std::max({waits.network, waits.l2, waits.dram, waits.l1});
  e.add("latency", s.of_resident(longest) / 2 * (1 - kQueueing * queueing));
  e.add("translation", s.of_resident(s.translation()) / 2);
  e.add("dependency", s.of_resident(s.slots({"alu_dependency"})) / 2);
  e.add("shared_latency", s.of_resident(s.slots({"memory_shared"})) / 2);
  e.add("branch", s.of_resident(s.slots({"control"})) / 2);
  e.add("constants", s.of_resident(constants_without_room(kernel)) / 2);
  e.add("other_blocks", s.of_resident(longest_polling(kernel, machine).share()) / 2);
  return e;
}

void sort(std::vector<LimiterCandidate>& all) {
  std::ranges::stable_sort(all, [](const auto& a, const auto& b) { return a.saved > b.saved; });
}

/// Units of the interconnect by what they carry: "requests out of the interconnect" leaves open who gets
/// them.
std::string unit_of_limiter(std::string_view unit) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kPorts{
      {{"request_in", "ports by which SMs send requests"},
       {"request_links", "links that carry requests"},
       {"request_out", "ports by which memory partitions get requests"},
       {"reply_in", "ports by which memory partitions send replies"},
       {"reply_links", "links that carry replies"},
       {"reply_out", "ports by which SMs get replies"}}};
  for (const auto& [name, words] : kPorts)
    if (name == unit) return fmt::format("interconnect, {}", words);
  return unit_words(unit);
}

using UnitNames = std::initializer_list<std::string_view>;

/// Null if the recording has none of them.
const UnitLoad* fullest(const KernelRecord& kernel, UnitNames names) {
  const UnitLoad* most = nullptr;
  for (const std::string_view name : names)
    if (const UnitLoad* u = kernel.unit(name); u != nullptr && (most == nullptr || u->peak() > most->peak()))
      most = u;
  return most;
}

/// The busiest of some units, as the text names it.
std::string full_unit(const KernelRecord& kernel, const core::MachineConfig& machine, UnitNames names) {
  const UnitLoad* most = fullest(kernel, names);
  if (most == nullptr) return {};
  const double peak = 100 * most->peak(), mean = 100 * most->mean();
  // Nine tenths of the busiest: all are alike.
  // Bursts that queue there cost most all the same.
  const char* const full = peak < 50 ? ", not full" : "";
  if (mean >= 0.9 * peak) return fmt::format("{} ({:.0f} % busy{})", unit_of_limiter(most->unit), mean, full);
  return fmt::format("{}, {} ({:.0f} % busy{}; mean of all {:.0f} %)", unit_of_limiter(most->unit),
                     busiest_place(*most, machine), peak, full, mean);
}

using Columns = std::initializer_list<const char*>;

std::string line_of_most(const Table& per_pc, const std::vector<uint64_t>& counts) {
  const std::vector<CodePlace> places = code_places(per_pc, counts);
  return places.empty() ? std::string() : ": " + place_words(per_pc, places.front());
}

/// The place in the code with the largest sum of these columns, of operations whose class is chosen; without
/// a choice of all.
std::string line_of(const KernelRecord& kernel, Columns columns,
                    const std::function<bool(const std::string&)>& chosen = {}) {
  const Table& per_pc = kernel.per_pc;
  const auto classes = per_pc.texts.find("class");
  std::vector<uint64_t> sums(per_pc.rows);
  for (uint64_t pc = 0; pc < per_pc.rows; ++pc) {
    if (chosen && (classes == per_pc.texts.end() || !chosen(classes->second[pc]))) continue;
    for (const char* column : columns)
      if (per_pc.has(column)) sums[pc] += per_pc[column][pc];
  }
  return line_of_most(per_pc, sums);
}

constexpr Columns kPipeSlots = {"slots_pipe_busy", "slots_issued"};

/// The place that most slots went to, waiting for the pipe or issued, of those that it executes.
std::string line_in_pipe(const KernelRecord& kernel, const core::MachineConfig& machine,
                         std::string_view unit) {
  const std::string_view name = unit.substr(kPipeUnits.size());
  const auto pipe = std::ranges::find_if(machine.pipes, [&](const auto& p) { return p.name == name; });
  const std::string line =
      pipe == machine.pipes.end()
          ? std::string()
          : line_of(kernel, kPipeSlots, [&](const std::string& c) { return pipe->interval.contains(c); });
  return line.empty() ? line_of(kernel, kPipeSlots) : line;
}

constexpr Columns kMemoryData = {"awaited_memory_l1", "awaited_memory_l2", "awaited_memory_dram"};

/// Where many slots had no warp, more of them hide nothing as long as the last ones run alone.
std::string idle_text(const KernelRecord& kernel) {
  constexpr double kMuch = 20;
  const double all = static_cast<double>(kernel.total_slots());
  const double idle = all == 0 ? 0 : 100 * static_cast<double>(kernel.slots_of("no_warp")) / all;
  if (idle < kMuch) return {};
  return fmt::format("; {:.0f} % of the slots had no warp: few blocks, or blocks that end at different times",
                     idle);
}

/// How many warps would be needed for an operation in every slot, if they were as those that there are.
std::string warps_text(const KernelRecord& kernel, const core::MachineConfig& machine) {
  double warp_cycles = 0, cycles = 0;
  if (!kernel.per_sm.has("active_cycles")) return {};
  for (uint64_t row = 0; row < kernel.per_sm.rows; ++row) {
    warp_cycles += static_cast<double>(kernel.per_sm["active_warp_cycles"][row]);
    cycles += static_cast<double>(kernel.per_sm["active_cycles"][row]);
  }
  const auto issued = static_cast<double>(kernel.slots_of("issued"));
  if (cycles == 0 || issued == 0) return {};
  const double warps = warp_cycles / cycles;
  const double resident = static_cast<double>(kernel.total_slots() - kernel.idle_slots());
  const double wanted = warps * resident / issued;
  return fmt::format(
             "; {:.0f} warps an SM are resident, about {:.0f} would hide it{}", std::ceil(warps),
             std::ceil(wanted),
             wanted > machine.sm.max_warps ? fmt::format(" (an SM holds {})", machine.sm.max_warps) : "") +
         idle_text(kernel);
}

/// What a pipe's share is made of, if lanes that use one bank of shared memory take much of it.
std::string conflicts_text(const KernelRecord& kernel, std::string_view pipe) {
  constexpr double kMost = 0.5, kConflicts = 0.1;
  const UnitLoad *shared = kernel.unit("shared"), *unit = kernel.unit(pipe);
  const auto classes = kernel.per_pc.texts.find("class");
  if (shared == nullptr || unit == nullptr || shared->peak() < kMost * unit->peak() ||
      classes == kernel.per_pc.texts.end() || !kernel.per_pc.has("replays"))
    return {};
  double accesses = 0, replays = 0;
  for (uint64_t pc = 0; pc < kernel.per_pc.rows; ++pc) {
    const std::string& c = classes->second[pc];
    if (!c.ends_with("_shared") && c != "shared_operand") continue;
    accesses += static_cast<double>(kernel.per_pc["executed"][pc]);
    replays += static_cast<double>(kernel.per_pc["replays"][pc]);
  }
  if (accesses == 0 || replays < kConflicts * accesses) return {};
  return fmt::format(", by accesses to shared memory with {:.1f} further steps each (bank conflicts)",
                     replays / accesses);
}

/// Conversions between types, which take a pipe whose name says nothing of them.
std::string conversions_text(const KernelRecord& kernel, const core::MachineConfig& machine,
                             std::string_view unit) {
  constexpr double kMost = 0.5;
  const auto classes = kernel.per_pc.texts.find("class");
  const std::string_view name = unit.substr(kPipeUnits.size());
  const auto pipe = std::ranges::find_if(machine.pipes, [&](const auto& p) { return p.name == name; });
  const UnitLoad* load = kernel.unit(unit);
  if (pipe == machine.pipes.end() || load == nullptr || load->busy == 0 ||
      classes == kernel.per_pc.texts.end())
    return {};
  double cycles = 0;
  for (uint64_t pc = 0; pc < kernel.per_pc.rows; ++pc) {
    const std::string& c = classes->second[pc];
    if (c != "cvt" && c != "cvt64") continue;
    if (const auto takes = pipe->interval.find(c); takes != pipe->interval.end())
      cycles += static_cast<double>(kernel.per_pc["executed"][pc]) * static_cast<double>(takes->second);
  }
  const double share = std::min(1.0, cycles / static_cast<double>(load->busy));
  if (share < kMost) return {};
  return fmt::format(", {:.0f} % of that by conversions between types", 100 * share);
}

/// One transaction carries several sectors, and several lanes on one word: both are performed one after
/// another.
std::string serial_atomics_text(const KernelRecord& kernel) {
  constexpr double kSerial = 1.1, kSector = 32;
  const Table& t = kernel.per_pc;
  const auto classes = t.texts.find("class");
  if (!t.has("atomic_words") || classes == t.texts.end()) return {};
  double steps = 0, transactions = 0, bytes = 0;
  for (uint64_t pc = 0; pc < t.rows; ++pc) {
    if (classes->second[pc] != "atom_global") continue;
    steps += static_cast<double>(t["atomic_words"][pc]);
    transactions += static_cast<double>(t["transactions"][pc]);
    if (t.has("transferred_bytes")) bytes += static_cast<double>(t["transferred_bytes"][pc]);
  }
  if (transactions == 0 || steps < kSerial * transactions) return {};
  const double sectors = std::max(transactions, bytes / kSector);
  if (steps < kSerial * sectors)
    return fmt::format(", where the sectors of an access take turns ({:.1f} for a transaction)",
                       steps / transactions);
  return fmt::format(", where lanes of a warp on one word take turns ({:.1f} for a {})", steps / sectors,
                     sectors > kSerial * transactions ? "sector" : "transaction");
}

/// A chain of arithmetic can be worth most although warps wait longer for memory.
std::string longer_waits_text(double arithmetic, double memory) {
  if (memory <= arithmetic) return {};
  return fmt::format(
      "; warps wait longer for memory ({:.0f} % of the slots, for arithmetic {:.0f} %), but for several "
      "parts of the way, none of which is worth as much",
      memory, arithmetic);
}

std::string latency_words(const KernelRecord& kernel, const core::MachineConfig& machine) {
  const Way waits = memory_waits(Shares(kernel, machine), machine);
  const double longest = std::max({waits.network, waits.l2, waits.dram, waits.l1});
  const char* part = longest == waits.network ? "the interconnect"
                     : longest == waits.dram  ? "DRAM"
                     : longest == waits.l1    ? "the L1"
                     : machine.l2.bytes != 0  ? "the L2"
                                              : "the memory partitions between interconnect and DRAM";
  return fmt::format("latency of memory (the largest part: {})", part);
}

std::string sentence(std::string_view name, const KernelRecord& kernel, const core::MachineConfig& machine) {
  const auto share = [&](std::initializer_list<const char*> causes) {
    return 100 * Shares(kernel, machine).slots(causes);
  };
  if (name == "launch")
    return fmt::format("launch: starting the kernel and its {} takes {:.0f} % of the cycles",
                       kernel.unit("dispatcher") != nullptr && kernel.unit("dispatcher")->peak() > 0.2
                           ? "many blocks"
                           : "first block",
                       std::max(share({"launch"}), 100 * Shares(kernel, machine).peak("dispatcher")));
  if (name == "network") {
    const UnitNames units = {"request_in", "request_links", "request_out", "l2_data",
                             "reply_in",   "reply_links",   "reply_out"};
    const UnitLoad* unit = fullest(kernel, units);
    return unit == nullptr ? std::string()
                           : full_unit(kernel, machine, units) +
                                 line_of_most(kernel.per_pc, traffic_of(kernel, machine, *unit));
  }
  if (name == "camping")
    return fmt::format(
               "partition camping: the busiest of {} memory partitions gets {:.0f} % of the requests at a "
               "time",
               machine.l2.partitions, 100 * Shares(kernel, machine).to_busiest()) +
           line_of(kernel, {"transactions"});
  if (name == "atomics")
    return full_unit(kernel, machine, {"l2_atomics"}) + serial_atomics_text(kernel) +
           line_of(kernel, {kernel.per_pc.has("atomic_words") ? "atomic_words" : "transactions"},
                   [](const std::string& c) { return c == "atom_global"; });
  if (name == "dram") {
    const Shares s(kernel, machine);
    return full_unit(kernel, machine, {"dram_bus"}) +
           fmt::format(
               ", and waits for row activations, read/write turnarounds and refreshes {:.0f} % of the time",
               100 * (s.mean("dram_rows") + s.mean("dram_turnarounds") + s.mean("dram_refresh"))) +
           line_of_most(kernel.per_pc, traffic_with_dram(kernel));
  }
  if (name == "buffers")
    return full_unit(kernel, machine, {"lsu_wait_mshr", "lsu_wait_store_buffer"}) +
           line_of(kernel, {"transactions"});
  if (name.starts_with(kPipeUnits))
    return full_unit(kernel, machine, {name}) + conflicts_text(kernel, name) +
           conversions_text(kernel, machine, name) + line_in_pipe(kernel, machine, name);
  if (name == "issue") return full_unit(kernel, machine, {name}) + line_of(kernel, {"slots_issued"});
  if (name == "lsu") return full_unit(kernel, machine, {"lsu_port"}) + line_of(kernel, {"transactions"});
  if (name == "latency")
    return latency_words(kernel, machine) + warps_text(kernel, machine) + line_of(kernel, kMemoryData);
  if (name == "translation")
    return "translation of addresses (TLBs and page table)" + line_of(kernel, kMemoryData);
  if (name == "dependency")
    return "dependency chain of arithmetic" + warps_text(kernel, machine) +
           longer_waits_text(share({"alu_dependency"}), share({"memory_l1", "memory_l2", "memory_dram"})) +
           line_of(kernel, {"slots_alu_dependency"});
  if (name == "shared_latency")
    return "latency of shared memory" + warps_text(kernel, machine) +
           line_of(kernel, {"slots_memory_shared"});
  if (name == "constants")
    return fmt::format("misses of the constant cache ({} bytes), which have no room for more of them",
                       machine.constant.l1_bytes) +
           line_of(kernel, {"slots_memory_throttle"},
                   [](const std::string& c) { return c == kConstantLoad; });
  if (name == "branch") return "branches that are being resolved" + line_of(kernel, {"slots_control"});
  if (name == "other_blocks") {
    const Polling p = longest_polling(kernel, machine);
    const double blocks = sum_of(kernel.per_sm, "blocks");
    return fmt::format(
        "waiting for other blocks: {:.0f} % of the slots while warps ask for what another block is to write, "
        "{:.0f} "
        "times each wait; if blocks take turns, a turn takes {:.0f} cycles: {}",
        100 * p.slots, p.times(),
        Shares(kernel, machine).active() * static_cast<double>(kernel.cycles) / std::max(1.0, blocks),
        statement_place(kernel.per_pc, p.loop.asks));
  }
  return fmt::format("nothing alone: no unit twice as fast and no latency half as long would save {:.0f} %",
                     100 * kLimits) +
         idle_text(kernel);
}

}  // namespace

std::optional<BlocksThatWait> blocks_that_wait(const KernelRecord& kernel,
                                               const core::MachineConfig& machine) {
  if (kernel.cycles == 0) return std::nullopt;
  const Polling p = longest_polling(kernel, machine);
  if (Shares(kernel, machine).of_resident(p.share()) / 2 < kLimits) return std::nullopt;
  return BlocksThatWait{p.loop.asks, p.times()};
}

std::vector<LimiterCandidate> limiter_candidates(const KernelRecord& kernel,
                                                 const core::MachineConfig& machine) {
  if (kernel.units.empty() || kernel.cycles == 0) return {};
  std::vector<LimiterCandidate> all = estimate(kernel, machine).all;
  for (LimiterCandidate& c : all) c.saved *= static_cast<double>(kernel.cycles);
  sort(all);
  return all;
}

std::vector<LimiterCandidate> limiter_candidates(const std::vector<KernelRecord>& kernels,
                                                 const core::MachineConfig& machine) {
  std::map<std::string, double> sums;
  for (const KernelRecord& kernel : kernels)
    for (const LimiterCandidate& c : limiter_candidates(kernel, machine)) sums[c.name] += c.saved;
  std::vector<LimiterCandidate> all;
  for (const auto& [name, saved] : sums) all.push_back({name, saved});
  sort(all);
  return all;
}

std::string limiter_name(const std::vector<LimiterCandidate>& candidates, uint64_t cycles) {
  if (candidates.empty() || candidates.front().saved < kLimits * static_cast<double>(cycles))
    return std::string(kNoLimiter);
  return candidates.front().name;
}

std::string limiter_text(const KernelRecord& kernel, const core::MachineConfig& machine) {
  const std::vector<LimiterCandidate> all = limiter_candidates(kernel, machine);
  return all.empty() ? std::string() : sentence(limiter_name(all, kernel.cycles), kernel, machine);
}

std::string limiter_rivals(const std::vector<LimiterCandidate>& candidates, uint64_t cycles) {
  constexpr double kRival = 0.6;
  std::vector<std::string> near;
  for (const LimiterCandidate& c : candidates) {
    const double share = c.saved / std::max(1.0, static_cast<double>(cycles));
    if (share < kLimits || c.saved < kRival * candidates.front().saved) break;
    near.push_back(fmt::format("{} {:.0f} %", c.name, 100 * share));
  }
  return near.size() < 2 ? std::string() : fmt::format("{}", fmt::join(near, ", "));
}

std::string limiter_words(std::string_view name, const KernelRecord& kernel,
                          const core::MachineConfig& machine) {
  return sentence(name, kernel, machine);
}

std::string limiter_json(const KernelRecord& kernel, const core::MachineConfig& machine) {
  const std::vector<LimiterCandidate> all = limiter_candidates(kernel, machine);
  std::string list;
  for (const LimiterCandidate& c : all)
    list +=
        fmt::format("{}{{\"name\": {}, \"saves\": {}}}", list.empty() ? "" : ", ", core::json_quoted(c.name),
                    core::json_number(c.saved / static_cast<double>(kernel.cycles)));
  const std::string text = limiter_text(kernel, machine);
  return fmt::format("{{\"name\": {}, \"text\": {}, \"estimates\": [{}]}}",
                     all.empty() ? "null" : core::json_quoted(limiter_name(all, kernel.cycles)),
                     all.empty() ? "null" : core::json_quoted(text), list);
}

}  // namespace gpusim::analysis
