// How a warp scheduler chooses. One file policy_NAME.cpp of this folder is one policy, "NAME" in the
// configuration; the build finds it: it defines make_NAME(), and nothing else has to know it. A program that
// uses gpusim as a library adds policies of its own with register_issue_policy().
#pragma once
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "components/policy.h"
#include "components/sm/warp_table.h"
#include "simcore/bits.h"
#include "simcore/config/added_policies.h"
#include "simcore/config/machine_config.h"

namespace gpusim::comp {

class IssuePolicy {
 public:
  virtual ~IssuePolicy() = default;
  /// The warp to take of `warps`, a bit per warp slot, two at least.
  [[nodiscard]] virtual uint32_t choose(uint64_t warps, const WarpTable& table) const = 0;
  /// The warp has issued.
  virtual void issued(uint32_t warp) = 0;
  /// A kernel starts.
  virtual void reset() = 0;
  /// A new warp is in the slot.
  virtual void started(uint32_t /*warp*/) {}

  // For policies that look at the L1; the others leave all of this as it is.
  /// True if what follows is to be called, each cycle's events before its held_back().
  [[nodiscard]] virtual bool watches_l1() const { return false; }
  /// A load of the warp asked for a line that the L1 neither had nor waited for.
  virtual void line_missed(uint32_t /*warp*/, uint64_t /*line*/, uint64_t /*now*/) {}
  /// A line went that the warp had brought.
  virtual void line_evicted(uint32_t /*warp*/, uint64_t /*line*/) {}
  struct Hold {
    uint64_t warps = 0;              ///< whose loads of global and local memory have to wait
    uint64_t until = kUnknownCycle;  ///< when fewer may have to, without any event
  };
  /// Of `warps`, those of the scheduler that are resident.
  virtual Hold held_back(uint64_t /*warps*/, const WarpTable& /*table*/, uint64_t /*now*/) { return {}; }
};

/// The first of `warps` from slot `start` on, once around.
[[nodiscard]] inline uint32_t first_from(uint32_t start, uint64_t warps) {
  const auto distance = static_cast<uint32_t>(std::countr_zero(std::rotr(warps, static_cast<int>(start))));
  return (start + distance) % kMaxWarps;
}
/// The one whose block started first.
[[nodiscard]] inline uint32_t oldest_of(uint64_t warps, const WarpTable& table) {
  uint32_t best = core::lowest_bit(warps);
  for (warps &= warps - 1; warps != 0; warps &= warps - 1) {
    const uint32_t w = core::lowest_bit(warps);
    if (table.age(w) < table.age(best)) best = w;
  }
  return best;
}

/// `config.policy` names it.
[[nodiscard]] std::unique_ptr<IssuePolicy> make_issue_policy(const core::MachineConfig::Scheduler& config);

/// Makes the policy of one scheduler; its keys are in `config.added_keys`.
using IssuePolicyMaker =
    std::function<std::unique_ptr<IssuePolicy>(const core::MachineConfig::Scheduler& config)>;
/// Adds a policy under a word of its own, with the keys that it has in [scheduler], before a configuration is
/// loaded (errors: core::add_scheduler_policy). True, so that a file can register its policy at start-up:
/// `const bool kRegistered = register_issue_policy(...);`.
bool register_issue_policy(const std::string& word, std::vector<core::AddedKey> keys, IssuePolicyMaker maker);

}  // namespace gpusim::comp
