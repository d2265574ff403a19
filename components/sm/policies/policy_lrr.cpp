// Loose round-robin: the next ready warp after the last one that issued.
#include "components/sm/policies/issue_policy.h"

namespace gpusim::comp {

namespace {

class LooseRoundRobin final : public IssuePolicy {
 public:
  [[nodiscard]] uint32_t choose(uint64_t warps, const WarpTable&) const override {
    return first_from((last_ + 1) % kMaxWarps, warps);
  }
  void issued(uint32_t warp) override { last_ = warp; }
  void reset() override { last_ = kMaxWarps - 1; }

 private:
  uint32_t last_ = kMaxWarps - 1;
};

}  // namespace

std::unique_ptr<IssuePolicy> make_lrr(const core::MachineConfig::Scheduler&) {
  return std::make_unique<LooseRoundRobin>();
}

}  // namespace gpusim::comp
