// What the formulas of the metric table compute with: counters, sums over per_sm and per_pc (whole or by
// class of operation) and issue slots of one kernel. A quantity that the recording does not hold throws
// Unavailable with the reason, so a metric is either computed from recorded counts or listed with why it is
// not.
#pragma once
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>

#include "analysis/recording/recording.h"

namespace gpusim::analysis {

class Unavailable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Which operations of per_pc.
enum class Space {
  kGlobalLoad,
  kGlobalStore,
  kGlobalAtomic,
  kLocalLoad,
  kLocalStore,
  kSharedLoad,
  kSharedStore,   ///< atomics included
  kSharedOperand  ///< arithmetic with a shared-memory operand: the only one that has steps
};

/// Time that a kernel took, at the core clocks that there were.
[[nodiscard]] double kernel_seconds(const KernelRecord& kernel, const core::MachineConfig& machine);
/// False if they were others than the machine's own: --core-clock, a launch's clock, a governor.
[[nodiscard]] bool ran_at_own_clock(const KernelRecord& kernel, const core::MachineConfig& machine);

class Quantities {
 public:
  Quantities(const KernelRecord& kernel, const core::MachineConfig& machine)
      : kernel_(kernel), machine_(machine) {}

  [[nodiscard]] const core::MachineConfig& machine() const { return machine_; }
  [[nodiscard]] double cycles() const { return static_cast<double>(kernel_.cycles); }
  [[nodiscard]] double seconds() const;
  [[nodiscard]] double counter(std::string_view name) const;
  [[nodiscard]] double sm(std::string_view column) const;
  [[nodiscard]] double pc(std::string_view column) const;
  /// Sum over the operations that access this space.
  [[nodiscard]] double pc(std::string_view column, Space space) const;
  [[nodiscard]] double slots(std::string_view cause) const;
  [[nodiscard]] double all_slots() const { return static_cast<double>(kernel_.total_slots()); }
  /// Slots in which a resident warp was the candidate and did not issue.
  [[nodiscard]] double stalled_slots() const;
  /// Share of stalled_slots() that belongs to this stall metric, in percent.
  [[nodiscard]] double stall(std::string_view metric) const;
  /// numerator / denominator; if that is nothing, `none` says what there was none of.
  [[nodiscard]] static double ratio(double numerator, double denominator, const char* none);
  [[noreturn]] static void unavailable(const char* why);

 private:
  void require_separate_spaces(std::string_view column) const;

  const KernelRecord& kernel_;
  const core::MachineConfig& machine_;
};

}  // namespace gpusim::analysis
