// The configuration keys that policies declare in their own files (components/policy.h), by the section that
// they stand in. The build collects them (cmake/Policies.cmake).
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace gpusim::core {

#define POLICY_INTEGER(name, unit, fallback, least, most, doc) int64_t name = fallback;
#define POLICY_REAL(name, unit, fallback, least, most, doc) double name = fallback;
struct SchedulerPolicyKeys {
#include "policies/scheduler_keys.inc"
  friend bool operator==(const SchedulerPolicyKeys&, const SchedulerPolicyKeys&) = default;
};
struct ReplacementPolicyKeys {
#include "policies/replacement_keys.inc"
  friend bool operator==(const ReplacementPolicyKeys&, const ReplacementPolicyKeys&) = default;
};
struct TopologyKeys {
#include "policies/topology_keys.inc"
  friend bool operator==(const TopologyKeys&, const TopologyKeys&) = default;
};
struct DramPolicyKeys {
#include "policies/dram_refresh_keys.inc"
#include "policies/dram_scheduler_keys.inc"
#include "policies/row_policy_keys.inc"
  friend bool operator==(const DramPolicyKeys&, const DramPolicyKeys&) = default;
};
#undef POLICY_INTEGER
#undef POLICY_REAL

/// Keys of policies that a program has added (simcore/config/added_policies.h), by name. A policy reads its
/// own when it is made; std::out_of_range if it has none of that name.
struct AddedPolicyKeys {
  std::map<std::string, int64_t, std::less<>> integers;
  std::map<std::string, double, std::less<>> reals;
  [[nodiscard]] int64_t integer(const std::string& name) const { return integers.at(name); }
  [[nodiscard]] double real(const std::string& name) const { return reals.at(name); }
  friend bool operator==(const AddedPolicyKeys&, const AddedPolicyKeys&) = default;
};

}  // namespace gpusim::core
