#include "components/sm/warp_scheduler.h"

#include <map>
#include <stdexcept>

namespace gpusim::comp {

// The build lists the policies, GPUSIM_POLICY(name) for each.
#define GPUSIM_POLICY(name) std::unique_ptr<IssuePolicy> make_##name(const core::MachineConfig::Scheduler&);
#include "policies/scheduler.inc"
#undef GPUSIM_POLICY

namespace {

std::map<std::string, IssuePolicyMaker>& added_makers() {
  static auto& makers = *new std::map<std::string, IssuePolicyMaker>;  // never destroyed, as the schema
  return makers;
}

}  // namespace

bool register_issue_policy(const std::string& word, std::vector<core::AddedKey> keys,
                           IssuePolicyMaker maker) {
  if (!maker) throw std::invalid_argument("policy '" + word + "': nothing makes it");
  core::add_scheduler_policy(word, std::move(keys));
  added_makers().emplace(word, std::move(maker));
  return true;
}

std::unique_ptr<IssuePolicy> make_issue_policy(const core::MachineConfig::Scheduler& config) {
#define GPUSIM_POLICY(name) \
  if (config.policy == #name) return make_##name(config);
#include "policies/scheduler.inc"
#undef GPUSIM_POLICY
  if (const auto added = added_makers().find(config.policy); added != added_makers().end()) {
    std::unique_ptr<IssuePolicy> policy = added->second(config);
    if (policy == nullptr) throw std::invalid_argument("policy '" + config.policy + "' has not been made");
    return policy;
  }
  throw std::invalid_argument("no scheduling policy '" + config.policy + "'");
}

WarpScheduler::WarpScheduler(const sc_core::sc_module_name& name,
                             const core::MachineConfig::Scheduler& config, uint32_t index)
    : sc_module(name), sm("sm"), policy_(make_issue_policy(config)), index_(index) {
  for (uint32_t w = 0; w < kMaxWarps; ++w) owned_ |= uint64_t{config.of_slot(w) == index} << w;
}

}  // namespace gpusim::comp
