// Greedy then oldest: the same warp while it can, then the oldest ready one (Rogers et al., MICRO 2012).
#include "components/sm/policies/issue_policy.h"

namespace gpusim::comp {

namespace {

class GreedyThenOldest final : public IssuePolicy {
 public:
  [[nodiscard]] uint32_t choose(uint64_t warps, const WarpTable& table) const override {
    return (warps >> last_ & 1) != 0 ? last_ : oldest_of(warps, table);
  }
  void issued(uint32_t warp) override { last_ = warp; }
  void reset() override { last_ = kMaxWarps - 1; }

 private:
  uint32_t last_ = kMaxWarps - 1;
};

}  // namespace

std::unique_ptr<IssuePolicy> make_gto(const core::MachineConfig::Scheduler&) {
  return std::make_unique<GreedyThenOldest>();
}

}  // namespace gpusim::comp
