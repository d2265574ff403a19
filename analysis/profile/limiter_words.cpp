// The line that names a kernel's limiter: what is full or late, where, and the statement that asks most of
// it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <utility>

#include "analysis/profile/limiter.h"
#include "analysis/profile/limiter_estimate.h"
#include "analysis/profile/limiter_shares.h"
#include "analysis/profile/traffic_lines.h"
#include "analysis/profile/utilization.h"
#include "analysis/report/reports.h"

namespace gpusim::analysis {
namespace {

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

/// The place with most of these counts. Where hundreds have as much, none of them is the one to look at.
std::string line_of_most(const Table& per_pc, const std::vector<uint64_t>& counts) {
  constexpr double kStandsOut = 0.01;
  const std::vector<CodePlace> places = code_places(per_pc, counts);
  if (places.empty()) return {};
  double all = 0;
  for (const CodePlace& place : places) all += static_cast<double>(place.count);
  const double most = static_cast<double>(places.front().count) / all;
  if (most >= kStandsOut) return ": " + place_words(per_pc, places.front());
  return fmt::format(": spread over {} lines, none with more than {:.2g} % of it", places.size(), 100 * most);
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
  const MemoryWay waits = memory_waits(KernelShares(kernel, machine), machine);
  const double longest = std::max({waits.network, waits.l2, waits.dram, waits.l1});
  const char* part = longest == waits.network ? "the interconnect"
                     : longest == waits.dram  ? "DRAM"
                     : longest == waits.l1    ? "the L1"
                     : machine.l2.bytes != 0  ? "the L2"
                                              : "the memory partitions between interconnect and DRAM";
  return fmt::format("latency of memory (the largest part: {})", part);
}

}  // namespace

std::string limiter_words(std::string_view name, const KernelRecord& kernel,
                          const core::MachineConfig& machine) {
  constexpr double kForOne = 0.1;  // of the slots
  const auto share = [&](std::initializer_list<const char*> causes) {
    return 100 * KernelShares(kernel, machine).slots(causes);
  };
  if (name == "launch")
    return fmt::format("launch: starting the kernel and its {} takes {:.0f} % of the cycles",
                       kernel.unit("dispatcher") != nullptr && kernel.unit("dispatcher")->peak() > 0.2
                           ? "many blocks"
                           : "first block",
                       std::max(share({"launch"}), 100 * KernelShares(kernel, machine).peak("dispatcher")));
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
               machine.l2.partitions, 100 * KernelShares(kernel, machine).to_busiest()) +
           line_of(kernel, {"transactions"});
  if (name == "atomics")
    return full_unit(kernel, machine, {"l2_atomics"}) + serial_atomics_text(kernel) +
           line_of(kernel, {kernel.per_pc.has("atomic_words") ? "atomic_words" : "transactions"},
                   [](const std::string& c) { return c == "atom_global"; });
  if (name == "dram") {
    const KernelShares s(kernel, machine);
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
  if (name == "shared")
    return full_unit(kernel, machine, {name}) + conflicts_text(kernel, name) +
           line_of(kernel, {"replays"},
                   [](const std::string& c) { return c.ends_with("_shared") || c == "shared_operand"; });
  if (name == "issue") return full_unit(kernel, machine, {name}) + line_of(kernel, {"slots_issued"});
  if (name == "lsu") return full_unit(kernel, machine, {"lsu_port"}) + line_of(kernel, {"transactions"});
  if (name == "latency")
    return latency_words(kernel, machine) + warps_text(kernel, machine) + line_of(kernel, kMemoryData);
  if (name == "translation")
    return "translation of addresses (TLBs and page table)" + line_of(kernel, kMemoryData);
  if (name == "dependency" && waits_for_single_lanes(kernel) > kForOne)
    return "dependency chain of arithmetic of single threads, for which the warps of their blocks wait at a "
           "barrier" +
           line_of(kernel, {"slots_alu_dependency"});
  if (name == "dependency")
    return "dependency chain of arithmetic" + warps_text(kernel, machine) +
           longer_waits_text(share({"alu_dependency"}), share({"memory_l1", "memory_l2", "memory_dram"})) +
           line_of(kernel, {"slots_alu_dependency"});
  if (name == "shared_latency")
    return "latency of shared memory" + warps_text(kernel, machine) +
           line_of(kernel, {"slots_memory_shared"});
  if (name == "fence")
    return fmt::format("memory fences: {:.0f} % of the slots while warps wait at them", share({"fence"})) +
           line_of_most(kernel.per_pc, slots_of_fences(kernel.per_pc));
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
        KernelShares(kernel, machine).active() * static_cast<double>(kernel.cycles) / std::max(1.0, blocks),
        statement_place(kernel.per_pc, p.loop.asks));
  }
  return fmt::format("nothing alone: no unit twice as fast and no latency half as long would save {:.0f} %",
                     100 * kLimits) +
         idle_text(kernel);
}

}  // namespace gpusim::analysis
