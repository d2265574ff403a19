#include "analysis/profile/quantities.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "analysis/profile/stall_causes.h"

namespace gpusim::analysis {
namespace {

double sum(const std::vector<uint64_t>& values) {
  return static_cast<double>(std::accumulate(values.begin(), values.end(), uint64_t{0}));
}

bool accesses(std::string_view op_class, Space space) {
  switch (space) {
    case Space::kGlobalLoad:
      return op_class == "load_global";
    case Space::kGlobalStore:
      return op_class == "store_global";
    case Space::kGlobalAtomic:
      return op_class == "atom_global";
    case Space::kLocalLoad:
      return op_class == "load_local";
    case Space::kLocalStore:
      return op_class == "store_local";
    case Space::kSharedLoad:
      return op_class == "load_shared";
    case Space::kSharedStore:
      return op_class == "store_shared" || op_class == "atom_shared";
    case Space::kSharedOperand:
      break;
  }
  for (const std::string_view prefix : {"load_", "store_", "atom_", "texture"})
    if (op_class.starts_with(prefix)) return false;
  return true;
}

}  // namespace

namespace {
double seconds_at_own_clock(const KernelRecord& kernel, const core::MachineConfig& machine) {
  return static_cast<double>(kernel.cycles) / (static_cast<double>(machine.clocks.core_khz) * 1e3);
}
}  // namespace

bool ran_at_own_clock(const KernelRecord& kernel, const core::MachineConfig& machine) {
  const double at_clock = seconds_at_own_clock(kernel, machine);
  const double recorded = static_cast<double>(kernel.time_fs) * 1e-15;
  return kernel.time_fs == 0 || std::abs(recorded - at_clock) <= 1e-9 * at_clock + 2e-15;
}

double kernel_seconds(const KernelRecord& kernel, const core::MachineConfig& machine) {
  // Whole femtoseconds are less exact, but right also where the core clock was another one.
  return ran_at_own_clock(kernel, machine) ? seconds_at_own_clock(kernel, machine)
                                           : static_cast<double>(kernel.time_fs) * 1e-15;
}

double Quantities::seconds() const { return kernel_seconds(kernel_, machine_); }

double Quantities::counter(std::string_view name) const {
  const auto it = kernel_.counters.find(name);
  if (it == kernel_.counters.end()) throw Unavailable(fmt::format("the recording has no counter '{}'", name));
  return it->second;
}

double Quantities::sm(std::string_view column) const {
  if (!kernel_.per_sm.has(column)) throw Unavailable(fmt::format("per_sm has no column '{}'", column));
  return sum(kernel_.per_sm[column]);
}

double Quantities::pc(std::string_view column) const {
  if (!kernel_.per_pc.has(column)) throw Unavailable(fmt::format("per_pc has no column '{}'", column));
  return sum(kernel_.per_pc[column]);
}

double Quantities::pc(std::string_view column, Space space) const {
  const auto classes = kernel_.per_pc.texts.find("class");
  if (classes == kernel_.per_pc.texts.end())
    throw Unavailable("per_pc has no column 'class' (recorded by an older version)");
  require_separate_spaces(column);
  if (!kernel_.per_pc.has(column)) throw Unavailable(fmt::format("per_pc has no column '{}'", column));
  const std::vector<uint64_t>& values = kernel_.per_pc[column];
  uint64_t total = 0;
  for (uint64_t row = 0; row < kernel_.per_pc.rows; ++row)
    if (accesses(classes->second[row], space)) total += values[row];
  return static_cast<double>(total);
}

/// The class of an operation is that of its instruction. A generic load that finds shared memory has class
/// load_global, but its steps are no transactions; then per_pc cannot tell the spaces apart.
void Quantities::require_separate_spaces(std::string_view column) const {
  if (column != "transactions" && column != "requested_bytes" && column != "replays") return;
  const std::vector<std::string>& classes = kernel_.per_pc.texts.find("class")->second;
  double loads = 0, stores = 0;
  for (uint64_t row = 0; row < kernel_.per_pc.rows; ++row) {
    const std::string& c = classes[row];
    const auto transactions = static_cast<double>(kernel_.per_pc["transactions"][row]);
    if (c == "load_global" || c == "load_local" || c == "atom_global") loads += transactions;
    if (c == "store_global" || c == "store_local") stores += transactions;
  }
  if (loads != sm("load_transactions") || stores != sm("store_transactions"))
    throw Unavailable("generic accesses reached shared memory: per_pc does not tell the spaces apart");
}

double Quantities::slots(std::string_view cause) const {
  return static_cast<double>(kernel_.slots_of(cause));
}

double Quantities::stalled_slots() const {
  return static_cast<double>(kernel_.total_slots() - kernel_.idle_slots()) - slots("issued");
}

double Quantities::stall(std::string_view metric) const {
  uint64_t lost = 0;
  for (const CauseSlots& cause : kernel_.causes)
    if (cause_info(cause.name).stall == metric) lost += cause.slots;
  return 100 * ratio(static_cast<double>(lost), stalled_slots(), "stalled issue slots");
}

double Quantities::ratio(double numerator, double denominator, const char* none) {
  if (denominator == 0) throw Unavailable(fmt::format("there were no {}", none));
  return numerator / denominator;
}

void Quantities::unavailable(const char* why) { throw Unavailable(why); }

}  // namespace gpusim::analysis
