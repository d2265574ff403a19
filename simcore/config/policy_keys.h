// The configuration keys that policies declare in their own files (components/policy.h), by the section that
// they stand in. The build collects them (cmake/Policies.cmake).
#pragma once
#include <cstdint>

namespace gpusim::core {

#define POLICY_INTEGER(name, unit, fallback, least, most, doc) int64_t name = fallback;
#define POLICY_REAL(name, unit, fallback, least, most, doc) double name = fallback;
struct SchedulerPolicyKeys {
#include "policies/scheduler_keys.inc"
  friend bool operator==(const SchedulerPolicyKeys&, const SchedulerPolicyKeys&) = default;
};
#undef POLICY_INTEGER
#undef POLICY_REAL

}  // namespace gpusim::core
