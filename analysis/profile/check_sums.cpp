// The identities of the exact accounting (docs/statistics.md) that a right recording fulfils.
#include <fmt/format.h>

#include <optional>
#include <span>

#include "analysis/profile/stall_causes.h"
#include "analysis/recording/recording.h"

namespace gpusim::analysis {
namespace {

/// Nothing if the sum does not fit: the numbers cannot be right then.
std::optional<uint64_t> sum(std::span<const uint64_t> values) {
  uint64_t total = 0;
  for (const uint64_t value : values)
    if (__builtin_add_overflow(total, value, &total)) return std::nullopt;
  return total;
}

/// Compares the sum of a column with what it must be.
std::string require(const char* table, const Table& data, std::string_view column, uint64_t expected,
                    std::string_view meaning) {
  const std::optional<uint64_t> total = sum(data[column]);
  if (total == expected) return "";
  return fmt::format("{} is {}, but column '{}' of {} sums to {}", meaning, expected, column, table,
                     total ? fmt::format("{}", *total) : "more than 64 bits hold");
}

std::string check_operations(const KernelRecord& k) {
  if (k.inst_issued < k.inst_executed)
    return fmt::format("inst_issued is {}, less than inst_executed, {}", k.inst_issued, k.inst_executed);
  if (k.slots_of("issued") < k.inst_executed)  // operations of several instructions take further slots
    return fmt::format("inst_executed is {}, but only {} slots issued", k.inst_executed,
                       k.slots_of("issued"));
  for (const std::string& wrong :
       {require("per_sm", k.per_sm, "inst_executed", k.inst_executed, "inst_executed"),
        require("per_sm", k.per_sm, "inst_issued", k.inst_issued, "inst_issued"),
        require("per_pc", k.per_pc, "executed", k.inst_executed, "inst_executed"),
        require("per_pc", k.per_pc, "replays", k.inst_issued - k.inst_executed,
                "inst_issued - inst_executed")})
    if (!wrong.empty()) return wrong;
  for (const auto& [name, expected] :
       {std::pair{"inst_executed", k.inst_executed}, std::pair{"inst_issued", k.inst_issued},
        std::pair{"warp_instructions", k.warp_instructions}}) {
    const auto counter = k.counters.find(name);
    if (counter == k.counters.end()) return fmt::format("there is no counter '{}'", name);
    if (counter->second != static_cast<double>(expected))
      return fmt::format("attribute {} is {}, but the counter is {}", name, expected, counter->second);
  }
  return "";
}

/// A slot without a candidate warp stands at no operation.
bool stands_nowhere(const CauseSlots& cause) {
  return has_no_warp(cause.name) || cause.name == kPendingCause;
}

std::string check_causes(const KernelRecord& k) {
  for (const CauseSlots& cause : k.causes) {
    const std::string column = slots_column(cause.name);
    const std::string meaning = fmt::format("issue_slots of '{}'", cause.name);
    for (const std::string& wrong :
         {require("per_sm", k.per_sm, column, cause.slots, meaning),
          require("per_pc", k.per_pc, column, stands_nowhere(cause) ? 0 : cause.slots, meaning)})
      if (!wrong.empty()) return wrong;
  }
  return "";
}

std::string check_cycles(const KernelRecord& k, const core::MachineConfig& machine) {
  const auto step = static_cast<uint64_t>(machine.scheduler.issue_cycles);
  const auto schedulers = uint64_t{machine.scheduler.count} * machine.scheduler.issue_width;
  std::vector<uint64_t> all;
  for (const CauseSlots& cause : k.causes) all.push_back(cause.slots);
  if (!sum(all)) return "issue_slots sums to more than 64 bits hold";
  if (k.cycles % step != 0) return fmt::format("{} cycles are no whole number of issue slots", k.cycles);
  for (uint64_t row = 0; row < k.per_sm.rows; ++row) {
    std::vector<uint64_t> slots;
    for (const CauseSlots& cause : k.causes) slots.push_back(k.per_sm[slots_column(cause.name)][row]);
    const std::optional<uint64_t> total = sum(slots);
    if (!total || *total % schedulers != 0 || *total / schedulers != k.cycles / step)
      return fmt::format("SM {} has {} issue slots, expected {} cycles / {} x {} in all schedulers",
                         k.per_sm["sm"][row], total.value_or(~uint64_t{0}), k.cycles, step, schedulers);
  }
  return "";
}

}  // namespace

std::string check_sums(const KernelRecord& kernel, const core::MachineConfig& machine) {
  if (kernel.cycles == 0) return "it has no cycles";
  if (kernel.per_sm.rows == 0) return "per_sm has no rows";
  if (kernel.per_pc.rows == 0) return "per_pc has no rows";
  for (uint64_t row = 0; row < kernel.per_pc.rows; ++row)
    if (kernel.per_pc["pc"][row] != row)
      return fmt::format("row {} of per_pc is operation {}", row, kernel.per_pc["pc"][row]);
  for (const std::string& wrong :
       {check_causes(kernel), check_cycles(kernel, machine), check_operations(kernel)})
    if (!wrong.empty()) return wrong;
  return "";
}

}  // namespace gpusim::analysis
