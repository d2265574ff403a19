#include "analysis/profile/limiter_estimate.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "analysis/profile/limiter_shares.h"
#include "analysis/profile/utilization.h"
#include "analysis/source/source_lines.h"

namespace gpusim::analysis {
namespace {

// A unit is taken to be full if what feeds it waits for it in so much of the time (docs/metrics.md).
constexpr double kFullNetwork = 0.3, kFullDram = 0.5;
/// One that is busy for so much of the time is full, whoever waits for it.
constexpr double kBusy = 0.85;
/// Of the waits for a busy pipe, or in the queues of DRAM, the share that one of twice the speed saves:
/// between a half, if warps have nothing else to wait for, and three quarters, as in a queue with few
/// customers, whose wait goes with the load and with the time of each.
constexpr double kFasterServer = 0.6;
/// Of a latency, the part that is queueing when what lies behind it is full.
constexpr double kQueueing = 0.7;

double power(double base, int exponent) { return std::pow(std::min(1.0, base), exponent); }

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
double add_memory(Estimate& e, const KernelShares& s, const KernelRecord& kernel,
                  const core::MachineConfig& machine) {
  const double wait = s.wait_of_sms("lsu_wait_network"), active = s.active();
  // Of these waits, those that partitions pass on: they wait themselves.
  const auto passed_on = [&](std::string_view unit) {
    return wait > 0.01 ? std::min(1.0, s.wait(unit) / wait) : 0.0;
  };
  const double by_dram = passed_on("l2_wait_dram_queue");
  // One partition whose atomics take long holds up the requests of all SMs, also those for others that stand
  // behind: of what is left, the more the fuller its atomics are, and not a port.
  const double atomics = s.at_a_time("l2_atomics"), port = s.fullest_port();
  double by_atomics = passed_on("l2_wait_atomics");
  if (atomics > 0 && wait > 0.01)
    by_atomics += std::max(0.0, 1 - by_dram - by_atomics) * std::min(1.0, s.peak("l2_wait_atomics") / wait) *
                  atomics * atomics / (atomics * atomics + port * port);
  const double own = std::max(0.0, 1 - by_dram - by_atomics);
  const double full = std::min(1.0, wait / (kFullNetwork * active));
  // The port of one cluster can be full alone.
  const double one = std::min(1.0, s.peak("lsu_wait_network") / (kFullNetwork * active));
  e.add("network", std::max(port * full, std::min(active, s.peak("request_in")) * one) / 2 * own);
  // Of requests that come no faster than a port lets them, a shorter queue further on changes little.
  const double bus_at_a_time = s.at_a_time("dram_bus");
  const double held_up = port > s.peak("dram_bus") ? kQueueing * full * own : 0;
  const double dram_full = s.peak("dram_bus") >= kBusy * active
                               ? 1
                               : std::min(1.0, s.wait("l2_wait_dram_queue") / (kFullDram * active));
  // Queues inside of DRAM are there before partitions wait: its bus shortens them as far as it, and not rows
  // or turns, is what holds the channels.
  const double bus = s.mean("dram_bus");
  const double channel = bus + s.mean("dram_rows") + s.mean("dram_turnarounds") + s.mean("dram_refresh");
  const double queued = kFasterServer * s.of_resident(s.slots({"memory_dram"}) * s.queue_at_dram());
  const double in_queues = channel > 0 ? std::min(queued, bus_at_a_time / 2) * bus / channel : 0;
  e.add("dram", std::max(bus_at_a_time / 2 * dram_full, in_queues * (1 - held_up)));
  // Queues of atomics that warps wait for are there before load/store units wait.
  const double behind = kFasterServer * s.of_resident(s.queue_at_atomics());
  e.add("atomics", std::max(atomics / 2 * (atomics >= kBusy * active ? 1 : full * by_atomics),
                            std::min(behind, atomics / 2)));
  if (strides_can_camp(machine)) {
    const OtherRequests others = requests_without_atomics(kernel, machine);
    // What one partition gets more than the others all the time is one word's or one array's that all want:
    // more partitions do not spread that.
    const double mean = s.mean("request_out");
    const double always = mean > 0 ? std::max(1.0, s.peak("request_out") / mean) : 1;
    e.add("camping", s.mean("lsu_wait_network") * std::max(0.0, 1 - by_atomics) * others.share *
                         (1 - 1 / std::max(1.0, others.crowding / always)));
  }
  e.add("buffers", std::max(s.peak("lsu_wait_mshr"), s.peak("lsu_wait_store_buffer")) / 2);
  return std::max(full, dram_full);
}

/// After the last block only stores and atomics are on their way, and the unit of memory that is busy longest
/// holds up the end: twice as fast it saves half of its work, but no more than the drain takes beyond one
/// trip to memory.
void add_drain(Estimate& e, const KernelShares& s, const KernelRecord& kernel,
               const core::MachineConfig& machine) {
  const double queued = s.drain() - trip_cycles(machine) / static_cast<double>(kernel.cycles);
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

/// Of the time that shared memory takes, the share of the further steps of accesses whose lanes meet in
/// banks, where a step takes several cycles: half of these shorten such an access, and not the time that its
/// pipe takes for one without such steps.
double shared_steps(const KernelRecord& kernel, const core::MachineConfig& machine) {
  const UnitLoad* shared = kernel.unit("shared");
  const Table& t = kernel.per_pc;
  if (shared == nullptr || shared->busy == 0 || machine.shared.cycles_per_access < 2 || !t.has("replays"))
    return 0;
  double replays = 0;
  for (uint64_t pc = 0; pc < t.rows; ++pc)
    if (const std::string_view c = text_cell(t, "class", pc); c.ends_with("_shared") || c == "shared_operand")
      replays += static_cast<double>(t["replays"][pc]);
  return std::min(1.0, replays * machine.shared.cycles_per_access / static_cast<double>(shared->busy));
}

/// The SM that issued most, where warps of others ask for what it is to write: what its warps wait for.
struct WorkingSm {
  double share = 0;                 ///< of its work, what it does beyond the mean SM
  double dependency = 0, pipe = 0;  ///< of its slots
};
WorkingSm sm_that_works(const KernelRecord& kernel) {
  const Table& t = kernel.per_sm;
  WorkingSm sm;
  if (!t.has("slots_issued") || !t.has("slots_alu_dependency") || !t.has("slots_pipe_busy") || t.rows == 0)
    return sm;
  const std::vector<uint64_t>& issued = t["slots_issued"];
  const auto most = static_cast<uint64_t>(std::ranges::max_element(issued) - issued.begin());
  const double slots = static_cast<double>(kernel.total_slots()) / static_cast<double>(t.rows);
  if (issued[most] == 0 || slots == 0) return sm;
  sm.share = 1 - sum_of(t, "slots_issued") / static_cast<double>(t.rows * issued[most]);
  sm.dependency = static_cast<double>(t["slots_alu_dependency"][most]) / slots;
  sm.pipe = static_cast<double>(t["slots_pipe_busy"][most]) / slots;
  return sm;
}

/// Blocks that take turns wait for the way of what the one before has written. As far as one SM works while
/// the others ask, they wait for that SM's work, and what its warps wait for is what the kernel waits for.
void add_other_blocks(Estimate& e, const KernelShares& s, const KernelRecord& kernel,
                      const core::MachineConfig& machine) {
  const Polling polling = longest_polling(kernel, machine);
  const double saved = s.of_resident(polling.share()) / 2;
  if (s.of_resident(polling.slots) / 2 < kLimits) {
    e.add("other_blocks", saved);
    return;
  }
  const WorkingSm sm = sm_that_works(kernel);
  e.add("other_blocks", saved * (1 - sm.share));
  e.raise("dependency", sm.share * sm.dependency / 2);
  for (const UnitLoad& u : kernel.units)
    if (u.unit.starts_with(kPipeUnits))
      e.raise(u.unit,
              sm.share * std::min(u.peak() / 2 * power(u.peak() / s.active(), 1), kFasterServer * sm.pipe));
}

/// Share of all slots in which an operation could not issue because this pipe, which executes it, was busy.
double waits_for_pipe(const KernelRecord& kernel, const core::MachineConfig& machine, std::string_view unit) {
  const Table& t = kernel.per_pc;
  const auto all = static_cast<double>(kernel.total_slots());
  if (all == 0) return 0;
  const std::string_view name = unit.substr(kPipeUnits.size());
  const auto pipe = std::ranges::find_if(machine.pipes, [&](const auto& p) { return p.name == name; });
  double slots = 0;
  bool executes = false;
  for (uint64_t pc = 0; t.has("slots_pipe_busy") && pipe != machine.pipes.end() && pc < t.rows; ++pc)
    if (pipe->interval.contains(text_cell(t, "class", pc))) {
      executes = true;
      slots += static_cast<double>(t["slots_pipe_busy"][pc]);
    }
  // Without counts of its operations, all of these waits may be for it.
  return (executes ? slots : static_cast<double>(kernel.slots_of("pipe_busy"))) / all;
}

/// Of a pipe among the units.
bool executes_shared(const core::MachineConfig& machine, std::string_view unit) {
  const auto pipe = std::ranges::find(machine.pipes, unit.substr(kPipeUnits.size()),
                                      [](const auto& p) { return std::string_view(p.name); });
  return pipe != machine.pipes.end() && pipe->interval.contains("load_shared");
}

/// Whether no pipe and no load/store unit of an SM has more to do than its issue slots: a unit that is fuller
/// is what would be waited for next.
bool issue_is_fullest(const KernelShares& s, const KernelRecord& kernel) {
  return std::ranges::none_of(kernel.units, [&](const UnitLoad& u) {
    return (u.unit.starts_with(kPipeUnits) || u.unit == "lsu_port") && u.peak() > s.peak("issue");
  });
}

}  // namespace

double sum_of(const Table& table, std::string_view column) {
  double sum = 0;
  for (uint64_t row = 0; table.has(column) && row < table.rows; ++row)
    sum += static_cast<double>(table[column][row]);
  return sum;
}

Polling longest_polling(const KernelRecord& kernel, const core::MachineConfig& machine) {
  constexpr double kOnce = 1.5;
  const Table& t = kernel.per_pc;
  const double all = static_cast<double>(kernel.total_slots());
  const double warp_cycles = sum_of(kernel.per_sm, "active_warp_cycles"),
               blocks = sum_of(kernel.per_sm, "blocks");
  const double trip = trip_cycles(machine);
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

double waits_for_single_lanes(const KernelRecord& kernel) {
  constexpr double kSingle = 1.5;  // lanes
  const Table& t = kernel.per_pc;
  const auto slots = static_cast<double>(kernel.total_slots());
  if (!t.has("executed") || !t.has("active_lanes") || slots == 0) return 0;
  double all = 0, single = 0;
  for (uint64_t pc = 0; pc < t.rows; ++pc) {
    const auto executed = static_cast<double>(t["executed"][pc]);
    all += executed;
    if (static_cast<double>(t["active_lanes"][pc]) <= kSingle * executed) single += executed;
  }
  return all == 0 ? 0 : static_cast<double>(kernel.slots_of("barrier")) / slots * single / all;
}

std::vector<LimiterCandidate> limiter_shares(const KernelRecord& kernel, const core::MachineConfig& machine) {
  const KernelShares s(kernel, machine);
  Estimate e;
  const double dispatcher = s.peak("dispatcher");
  e.add("launch", s.start() / 2 + dispatcher / 2 * power(dispatcher / std::max(s.active(), 1e-9), 6));
  if (s.active() <= 0) return e.all;
  const double queueing = add_memory(e, s, kernel, machine);
  add_drain(e, s, kernel, machine);
  const double steps = s.peak("shared") * shared_steps(kernel, machine);
  const auto worth = [&](double share) { return share / 2 * power(share / s.active(), 1); };
  for (const UnitLoad& u : kernel.units)
    if (u.unit.starts_with(kPipeUnits)) {
      const double own = std::max(0.0, u.peak() - (executes_shared(machine, u.unit) ? steps : 0));
      e.add(u.unit,
            std::min(worth(own), kFasterServer * s.of_resident(waits_for_pipe(kernel, machine, u.unit))));
      if (own < u.peak()) e.add("shared", worth(steps));
    }
  e.add("issue",
        s.peak("issue") / 2 * power(s.peak("issue") / s.active(), issue_is_fullest(s, kernel) ? 2 : 6));
  e.add("lsu", s.peak("lsu_port") / 2 * power(s.peak("lsu_port") / s.active(), 6));
  const MemoryWay waits = memory_waits(s, machine);
  const double longest = std::max({waits.network, waits.l2, waits.dram, waits.l1});
  e.add("latency", s.of_resident(longest) / 2 * (1 - kQueueing * queueing));
  e.add("translation", s.of_resident(s.translation()) / 2);
  const double alone = s.of_resident(waits_for_single_lanes(kernel));
  double fullest = 0;
  for (const UnitLoad& u : kernel.units)
    if (u.unit.starts_with(kPipeUnits)) {
      const double full = std::min(1.0, u.peak() / s.active());
      fullest = std::max(fullest, full);
      e.raise(u.unit, alone / 2 * power(full, 4));
    }
  // Half the latency of a few chains side by side: as far as no pipe is full by them then.
  e.add("dependency", s.of_resident(s.slots({"alu_dependency"})) / 2 + alone * (1 - std::max(fullest, 0.5)));
  e.add("shared_latency", s.of_resident(s.slots({"memory_shared"})) / 2);
  e.add("fence", s.of_resident(s.fences()));
  e.add("branch", s.of_resident(s.slots({"control"})) / 2);
  e.add("constants", s.of_resident(constants_without_room(kernel)) / 2);
  add_other_blocks(e, s, kernel, machine);
  return e.all;
}

}  // namespace gpusim::analysis
