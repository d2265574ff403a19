#include "analysis/models/energy/clock_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "analysis/profile/quantities.h"
#include "simcore/record/event_schema.h"

namespace gpusim::analysis::energy {
namespace {

constexpr uint64_t kWarpBits = 16;  ///< of Wait::warp, below the block

bool beyond_the_sm(uint64_t level) {
  using core::MemoryLevel;
  switch (static_cast<MemoryLevel>(level)) {
    case MemoryLevel::kConstantL2:
    case MemoryLevel::kConstantL3:
    case MemoryLevel::kTextureL2:
    case MemoryLevel::kL2:
    case MemoryLevel::kDram:
      return true;
    default:
      return false;
  }
}

const std::vector<std::string>& classes_of(const KernelRecord& kernel) {
  const auto classes = kernel.per_pc.texts.find("class");
  if (classes == kernel.per_pc.texts.end())
    throw core::RecordError("table 'per_pc' has no column 'class'; the file is damaged");
  return classes->second;
}

/// A unit of an SM and the core cycles that it is busy in all SMs.
using Units = std::unordered_map<std::string, double>;

struct OperationCount {
  std::string_view op_class;
  double executed = 0, transactions = 0;
};

double access_cycles(const OperationCount& op, const core::MachineConfig& machine) {
  constexpr std::string_view kGlobal[] = {"load_global", "store_global", "atom_global", "load_local",
                                          "store_local"};
  constexpr std::string_view kShared[] = {"load_shared", "store_shared", "atom_shared"};
  if (std::ranges::find(kGlobal, op.op_class) != std::end(kGlobal))
    return op.transactions * static_cast<double>(machine.coalescer.cycles_per_transaction);
  if (std::ranges::find(kShared, op.op_class) != std::end(kShared))
    return op.transactions * static_cast<double>(machine.shared.cycles_per_access);
  return 0;
}

/// Warp operations a cycle of a class, of all pipes that it stands in.
double rate_of(const std::string& op_class, const core::MachineConfig& machine) {
  double rate = 0;
  for (const core::MachineConfig::Pipe& pipe : machine.pipes)
    if (const auto at = pipe.interval.find(op_class); at != pipe.interval.end())
      rate += 1 / static_cast<double>(at->second);
  return rate;
}

/// A class that stands in several pipes goes to whichever is free: as often to each as it is fast.
void add_operation(const OperationCount& op, const core::MachineConfig& machine, Units& units) {
  const std::string op_class(op.op_class);
  const double rate = rate_of(op_class, machine);
  for (const core::MachineConfig::Pipe& pipe : machine.pipes)
    if (pipe.interval.contains(op_class))
      units[pipe.name] += std::max(op.executed / rate, access_cycles(op, machine)) /
                          static_cast<double>(pipe.per_scheduler ? machine.scheduler.count : 1);
}

/// Share of the time that the coalescer and shared memory of an SM are busy: waits for room in their queue
/// are the core's as far.
double access_share(const KernelRecord& kernel, const core::MachineConfig& machine) {
  const std::vector<std::string>& classes = classes_of(kernel);
  double cycles = 0;
  for (uint64_t i = 0; i < kernel.per_pc.rows; ++i)
    cycles += access_cycles({classes[i], 0, static_cast<double>(kernel.per_pc["transactions"][i])}, machine);
  return cycles / static_cast<double>(std::max<uint64_t>(1, kernel.per_sm.rows) * kernel.cycles);
}

double share_of(const KernelRecord& kernel, std::string_view cause) {
  const uint64_t all = kernel.total_slots();
  return all == 0 ? 0 : static_cast<double>(kernel.slots_of(cause)) / static_cast<double>(all);
}

/// What a kernel's warps do with their time, in core cycles.
struct Lives {
  uint64_t first = UINT64_MAX, last = 0;  ///< block start, block end
  double warp_cycles = 0;                 ///< lives of all warps that have something to do
  double block_cycles = 0;                ///< and of blocks
  uint64_t blocks = 0;
};

/// Warps of each block that wait for memory at all.
std::unordered_map<uint64_t, uint64_t> waiting_warps(const std::vector<Wait>& waits) {
  std::unordered_map<uint64_t, uint64_t> count;
  for (size_t i = 0; i < waits.size(); ++i)
    if (i == 0 || waits[i].warp != waits[i - 1].warp) ++count[block_of(waits[i])];
  return count;
}

/// A block's warps without an access, where others have some, are over at once (a thread outside of the
/// data), though their block lives on: they do not count.
Lives read_lives(const Recording& recording, const KernelRecord& kernel, const std::vector<Wait>& waits) {
  const Table blocks = recording.events(kernel.index, "block", "summary", {"block", "start", "end"});
  const uint64_t warps = recording.attribute(kernel.index, "warps_per_block");
  const auto waiting = waiting_warps(waits);
  Lives lives;
  lives.blocks = blocks.rows;
  for (uint64_t i = 0; i < blocks.rows; ++i) {
    lives.first = std::min(lives.first, blocks["start"][i]);
    lives.last = std::max(lives.last, blocks["end"][i]);
    if (blocks["end"][i] < blocks["start"][i])
      throw core::RecordError(
          fmt::format("'{}': events/block of kernel {} has a block that ends before it "
                      "starts; the file is damaged",
                      recording.path(), kernel.index));
    const auto some = waiting.find(blocks["block"][i]);
    const uint64_t alive = some == waiting.end() ? warps : some->second;
    lives.warp_cycles += static_cast<double>(alive * (blocks["end"][i] - blocks["start"][i]));
    lives.block_cycles += static_cast<double>(blocks["end"][i] - blocks["start"][i]);
  }
  return lives;
}

}  // namespace

uint64_t block_of(const Wait& wait) { return wait.warp >> kWarpBits; }

double joint_bound(double a, double b, double c, double d) {
  return std::pow(
      std::pow(a, kJointNorm) + std::pow(b, kJointNorm) + std::pow(c, kJointNorm) + std::pow(d, kJointNorm),
      1 / kJointNorm);
}

void ClockParts::finish() {
  const double rest =
      1 - std::pow(work, kJointNorm) - std::pow(starts, kJointNorm) - std::pow(compute + latency, kJointNorm);
  memory = rest > 0 ? std::pow(rest, 1 / kJointNorm) : 0;
}

double ClockParts::seconds_at(double hz, const Beyond& beyond) const {
  const double ratio = core_hz / hz;
  const double between = joint_bound(work * ratio, compute * ratio + latency * beyond.latency,
                                     memory * beyond.memory, starts * ratio) /
                         joint_bound(work, compute + latency, memory, starts);
  return seconds * (launch * ratio + drain * beyond.latency + (1 - launch - drain) * between);
}

ClockParts::Bounds ClockParts::bounds_at(double hz, const Beyond& beyond) const {
  const double ratio = core_hz / hz;
  Bounds b{std::pow(work * ratio, kJointNorm), std::pow(starts * ratio, kJointNorm),
           std::pow(compute * ratio + latency * beyond.latency, kJointNorm),
           std::pow(memory * beyond.memory, kJointNorm)};
  const double sum = b.work + b.starts + b.path + b.memory;
  if (sum > 0) b.work /= sum, b.starts /= sum, b.path /= sum, b.memory /= sum;
  return b;
}

WaitCycles wait_cycles(const std::vector<Wait>& waits) {
  WaitCycles sum;
  uint64_t warp = 0, end = 0, fastest_end = 0;
  const auto add = [](uint64_t from, uint64_t to, uint64_t& until, double& total) {
    if (to <= until) return;
    total += static_cast<double>(to - std::max(from, until));
    until = to;
  };
  for (const Wait& w : waits) {
    if (w.warp != warp) warp = w.warp, end = fastest_end = 0;
    add(w.issue, w.complete, end, sum.all);
    add(w.issue, std::min(w.complete, w.issue + w.fastest), fastest_end, sum.fastest);
  }
  return sum;
}

std::vector<Wait> read_waits(const Recording& recording, const KernelRecord& kernel) {
  const Table events = recording.events(kernel.index, "memory", "memory",
                                        {"issue", "complete", "block", "warp", "pc", "level", "kind"});
  const Table blocks = recording.events(kernel.index, "block", "summary", {"block", "end"});
  std::unordered_map<uint64_t, uint64_t> end_of;
  for (uint64_t i = 0; i < blocks.rows; ++i) end_of[blocks["block"][i]] = blocks["end"][i];
  std::vector<Wait> waits;
  std::vector<uint64_t> pcs;
  std::unordered_map<uint64_t, uint64_t> fastest;
  for (uint64_t i = 0; i < events.rows; ++i) {
    if (!beyond_the_sm(events["level"][i]) ||
        static_cast<core::AccessKind>(events["kind"][i]) == core::AccessKind::kStore)
      continue;
    Wait w;
    w.warp = events["block"][i] << kWarpBits | events["warp"][i];
    w.issue = events["issue"][i];
    const uint64_t complete = std::max(events["complete"][i], w.issue);
    const auto end = end_of.find(events["block"][i]);
    w.complete = end == end_of.end() ? complete : std::max(w.issue, std::min(complete, end->second));
    const auto [known, is_new] = fastest.try_emplace(events["pc"][i], complete - w.issue);
    if (!is_new) known->second = std::min(known->second, complete - w.issue);
    waits.push_back(w);
    pcs.push_back(events["pc"][i]);
  }
  for (size_t i = 0; i < waits.size(); ++i) waits[i].fastest = fastest[pcs[i]];
  std::ranges::sort(waits, [](const Wait& a, const Wait& b) {
    return a.warp != b.warp ? a.warp < b.warp : a.issue < b.issue;
  });
  return waits;
}

double busiest_unit(const KernelRecord& kernel, const core::MachineConfig& machine) {
  const std::vector<std::string>& classes = classes_of(kernel);
  Units units;
  for (uint64_t i = 0; i < kernel.per_pc.rows; ++i)
    add_operation({classes[i], static_cast<double>(kernel.per_pc["executed"][i]),
                   static_cast<double>(kernel.per_pc["transactions"][i])},
                  machine, units);
  double most = static_cast<double>(kernel.inst_issued) *
                static_cast<double>(machine.scheduler.issue_cycles) /
                static_cast<double>(machine.scheduler.issue_width * machine.scheduler.count);
  for (const auto& [name, cycles] : units) most = std::max(most, cycles);
  return most;
}

double longest_computing(const KernelRecord& kernel, const core::MachineConfig& machine) {
  const auto longest = kernel.counters.find("longest_warp_of_blocks");
  if (longest == kernel.counters.end()) return INFINITY;
  const std::vector<std::string>& classes = classes_of(kernel);
  double cycles = 0, all = 0;
  for (uint64_t i = 0; i < kernel.per_pc.rows; ++i) {
    const OperationCount op{classes[i], static_cast<double>(kernel.per_pc["executed"][i]),
                            static_cast<double>(kernel.per_pc["transactions"][i])};
    if (op.op_class == "barrier" && op.executed > 0) return INFINITY;
    const auto latency = machine.latency.find(classes[i]);
    double own = latency == machine.latency.end() ? 0 : static_cast<double>(latency->second);
    if (op.op_class == "load_global" || op.op_class == "load_local")
      own += static_cast<double>(machine.l1.latency);
    const double rate = rate_of(classes[i], machine);
    cycles += op.executed * std::max(own, rate > 0 ? 1 / rate : 0) + access_cycles(op, machine);
    all += op.executed;
  }
  return all > 0 ? longest->second * cycles / all : 0;
}

ClockParts clock_parts(const Recording& recording, const KernelRecord& kernel) {
  ClockParts p;
  const auto cycles = static_cast<double>(kernel.cycles);
  p.seconds = kernel_seconds(kernel, recording.machine());
  p.core_hz = cycles / p.seconds;
  const uint64_t start = recording.attribute(kernel.index, "start_cycle");
  const std::vector<Wait> waits = read_waits(recording, kernel);
  const Lives lives = read_lives(recording, kernel, waits);
  if (lives.blocks == 0 || lives.last <= lives.first || lives.first < start || lives.warp_cycles == 0) {
    p.launch = 1;
    p.finish();
    return p;
  }
  p.launch = static_cast<double>(lives.first - start) / cycles;
  p.drain = std::max(0.0, 1 - p.launch - static_cast<double>(lives.last - lives.first) / cycles);
  const double between = 1 - p.launch - p.drain;
  const auto sms = static_cast<double>(std::max<uint64_t>(1, kernel.per_sm.rows));
  const auto blocks = static_cast<double>(lives.blocks);
  p.work = busiest_unit(kernel, recording.machine()) / blocks * std::ceil(blocks / sms) / (cycles * between);
  p.starts = std::min(1.0, blocks * recording.machine().gpu.block_interval / (cycles * between));
  const WaitCycles on_their_way = wait_cycles(waits);
  const double waiting = on_their_way.all / lives.warp_cycles;
  p.latency = on_their_way.fastest / lives.warp_cycles;
  const double resident =
      1 - share_of(kernel, "no_warp") - share_of(kernel, "launch") - share_of(kernel, "drain");
  const double throttled =
      std::max(0.0, share_of(kernel, "memory_throttle") + share_of(kernel, "texture_throttle") -
                        access_share(kernel, recording.machine()));
  p.compute = std::max(0.0, 1 - waiting - (resident > 0 ? throttled / resident : 0));
  p.compute = std::min(p.compute, longest_computing(kernel, recording.machine()) / lives.block_cycles);
  p.finish();
  return p;
}

}  // namespace gpusim::analysis::energy
