#include "analysis/profile/utilization.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/report/text.h"
#include "analysis/source/source_lines.h"
#include "simcore/text/json_text.h"

namespace gpusim::analysis {
namespace {

/// Requests over which the balance of partitions says something, and what random traffic has over such a
/// window: the largest of some eight random numbers with the mean 256 (PortBalance::kWindow).
constexpr double kBalanceWindow = 256, kRandomlyUneven = 1.09;

double counter(const KernelRecord& kernel, std::string_view name) {
  const auto at = kernel.counters.find(name);
  return at == kernel.counters.end() ? 0 : at->second;
}

struct UnitInfo {
  std::string_view unit;
  std::string_view words;
  bool works = true;  ///< else a wait, or places that are held
};

constexpr std::array<UnitInfo, 42> kUnits{{
    {"issue", "issue slots"},
    {"lsu_port", "transactions of the load/store unit"},
    {"coalescer", "coalescer"},
    {"l1_tags", "tags of the L1"},
    {"l1_data", "data of the L1"},
    {"shared", "shared memory"},
    {"dispatcher", "starts of blocks"},
    {"l1_mshrs", "MSHRs of the L1", false},
    {"lsu_queue", "load/store queue", false},
    {"lsu_mshrs", "misses on their way (MSHRs)", false},
    {"store_buffer", "store buffer", false},
    {"lsu_wait_mshr", "load/store unit waits for an MSHR", false},
    {"lsu_wait_store_buffer", "load/store unit waits for the store buffer", false},
    {"lsu_wait_network", "load/store unit waits for the interconnect", false},
    {"lsu_wait_merge", "load/store unit waits for room in a line's MSHR", false},
    {"lsu_wait_way", "load/store unit waits for a line of a set of the L1", false},
    {"lsu_wait_page", "load/store unit waits for a page", false},
    {"tlb_l2", "look-ups in the second TLB"},
    {"tlb_walkers", "walkers of page tables"},
    {"request_in", "requests into the interconnect"},
    {"request_links", "requests between routers"},
    {"request_out", "requests out of the interconnect"},
    {"reply_in", "replies into the interconnect"},
    {"reply_links", "replies between routers"},
    {"reply_out", "replies out of the interconnect"},
    {"l2_requests", "requests to the memory partitions"},
    {"l2_replies", "replies of the memory partitions"},
    {"l2_atomics", "atomics in the memory partitions"},
    {"l2_data", "data of the L2 slices"},
    {"l2_mshrs", "MSHRs of the L2", false},
    {"l2_wait_mshr", "memory partition waits for an MSHR", false},
    {"l2_wait_merge", "memory partition waits for room in a line's MSHR", false},
    {"l2_wait_way", "memory partition waits for a line of a set of the L2", false},
    {"l2_wait_dram_queue", "memory partition waits for the way to DRAM", false},
    {"l2_wait_reply", "memory partition waits for replies to leave", false},
    {"l2_wait_atomics", "memory partition waits for earlier atomics", false},
    {"l2_wait_data", "memory partition waits for the data of the L2", false},
    {"dram_bus", "data bus of DRAM"},
    {"dram_rows", "data bus of DRAM waits for a row"},
    {"dram_turnarounds", "data bus of DRAM turns between reads and writes"},
    {"dram_refresh", "data bus of DRAM waits for a refresh"},
    {"copy_engine", "copies between host and device"},
}};

const UnitInfo* info(std::string_view unit) {
  const auto* row = std::ranges::find(kUnits, unit, &UnitInfo::unit);
  return row == kUnits.end() ? nullptr : row;
}

constexpr std::string_view kPipeName = "pipe_";

std::string unit_line(const UnitLoad& u, const core::MachineConfig& machine) {
  // One that is as busy as all others is no place to look at.
  const bool even = u.near == u.instances;
  return fmt::format("    {:<50}{:>6.1f} %{:>9.1f} %   {}\n", unit_words(u.unit), 100 * u.mean(),
                     100 * u.peak(),
                     u.instances == 1 ? "there is one"
                     : even           ? fmt::format("all {}s alike", printable(u.place))
                            : fmt::format("{}; {} of {} {}s within a tenth of it", busiest_place(u, machine),
                                          u.near, u.instances, printable(u.place)));
}

}  // namespace

std::string unit_words(std::string_view unit) {
  if (unit.starts_with(kPipeName)) return fmt::format("{} pipe", printable(unit.substr(kPipeName.size())));
  const UnitInfo* known = info(unit);
  return known == nullptr ? printable(unit) : std::string(known->words);
}

bool does_work(std::string_view unit) {
  const UnitInfo* known = info(unit);
  return known == nullptr || known->works;
}

std::string busiest_place(const UnitLoad& u, const core::MachineConfig& machine) {
  if (u.place == "scheduler")
    return fmt::format("SM {}, scheduler {}", u.busiest / machine.scheduler.count,
                       u.busiest % machine.scheduler.count);
  return fmt::format("{} {}", printable(u.place), u.busiest);
}

double busiest_by_mean(const KernelRecord& kernel, const core::MachineConfig& machine) {
  const double requests = counter(kernel, "noc_requests"), partitions = machine.l2.partitions;
  if (requests <= kBalanceWindow * partitions) return 1;
  return std::max(1.0, counter(kernel, "noc_requests_to_busiest") * partitions / requests);
}

double crowding(const KernelRecord& kernel, const core::MachineConfig& machine) {
  return std::max(1.0, busiest_by_mean(kernel, machine) / kRandomlyUneven);
}

bool strides_can_camp(const core::MachineConfig& machine) {
  return machine.l2.hash == core::PartitionHash::kModulo || machine.l2.hash_bits != 0;
}

OtherRequests requests_without_atomics(const KernelRecord& kernel, const core::MachineConfig& machine) {
  const UnitLoad* atomics = kernel.unit("l2_atomics");
  if (atomics == nullptr || atomics->busy == 0) return {1, crowding(kernel, machine)};
  const double requests = counter(kernel, "noc_requests"), partitions = machine.l2.partitions;
  double of_atomics = 0;
  if (kernel.per_pc.has("transactions"))
    for (uint64_t pc = 0; pc < kernel.per_pc.rows; ++pc)
      if (text_cell(kernel.per_pc, "class", pc) == "atom_global")
        of_atomics += static_cast<double>(kernel.per_pc["transactions"][pc]);
  of_atomics = std::min(requests, of_atomics);
  const double others = requests - of_atomics;
  if (others <= kBalanceWindow * partitions) return {others / std::max(1.0, requests), 1};
  // Those of atomics to the partition that has most of them.
  const double to_busiest =
      of_atomics * static_cast<double>(atomics->most) / static_cast<double>(atomics->busy);
  const double rest = counter(kernel, "noc_requests_to_busiest") - to_busiest;
  return {others / requests, std::max(1.0, rest * partitions / others / kRandomlyUneven)};
}

std::string utilization_text(const KernelRecord& kernel, const core::MachineConfig& machine, size_t limit) {
  constexpr double kShown = 0.01;
  if (kernel.units.empty()) return {};
  std::string out =
      fmt::format("  {:<52}{:>8}{:>11}\n", "how full the units were, of their peak", "mean", "busiest");
  for (const bool works : {true, false}) {
    std::vector<const UnitLoad*> shown;
    for (const UnitLoad& u : kernel.units)
      if (does_work(u.unit) == works && u.peak() >= kShown) shown.push_back(&u);
    std::ranges::stable_sort(shown,
                             [](const UnitLoad* a, const UnitLoad* b) { return a->peak() > b->peak(); });
    if (shown.size() > limit) shown.resize(limit);
    for (const UnitLoad* u : shown) out += unit_line(*u, machine);
  }
  return out;
}

std::string utilization_json(const KernelRecord& kernel) {
  std::string out;
  for (const UnitLoad& u : kernel.units)
    out += fmt::format(
        "{}{{\"unit\": {}, \"place\": {}, \"instances\": {}, \"mean\": {}, \"peak\": {}, \"busiest\": {}, "
        "\"near\": {}}}",
        out.empty() ? "" : ", ", core::json_quoted(u.unit), core::json_quoted(u.place), u.instances,
        core::json_number(u.mean()), core::json_number(u.peak()), u.busiest, u.near);
  return out;
}

}  // namespace gpusim::analysis
