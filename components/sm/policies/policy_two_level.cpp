// Two levels: warp slots form groups of scheduler.group; round-robin inside one group until none of its warps
// is ready, then the next group, so that groups reach their memory accesses at different times (Narasiman et
// al., MICRO 2011).
#include "components/sm/policies/issue_policy.h"

POLICY_INTEGER(group, "warps", 8, 1, core::kMaxWarps, "warps of a group, with policy two_level");

namespace gpusim::comp {

namespace {

class TwoLevel final : public IssuePolicy {
 public:
  explicit TwoLevel(uint32_t group) : group_(group) {}
  [[nodiscard]] uint32_t choose(uint64_t warps, const WarpTable&) const override {
    const uint32_t first = last_ / group_ * group_;
    const uint64_t members = (group_ == kMaxWarps ? ~uint64_t{0} : (uint64_t{1} << group_) - 1) << first;
    if ((warps & members) != 0) return first_from((last_ + 1) % kMaxWarps, warps & members);
    return first_from((first + group_) % kMaxWarps, warps);
  }
  void issued(uint32_t warp) override { last_ = warp; }
  void reset() override { last_ = 0; }

 private:
  uint32_t group_;
  uint32_t last_ = 0;
};

}  // namespace

std::unique_ptr<IssuePolicy> make_two_level(const core::MachineConfig::Scheduler& config) {
  return std::make_unique<TwoLevel>(static_cast<uint32_t>(config.policy_keys.group));
}

}  // namespace gpusim::comp
