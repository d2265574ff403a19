// Oldest first: of the ready warps always the one whose block started first.
#include "components/sm/policies/issue_policy.h"

namespace gpusim::comp {

namespace {

class OldestFirst final : public IssuePolicy {
 public:
  [[nodiscard]] uint32_t choose(uint64_t warps, const WarpTable& table) const override {
    return oldest_of(warps, table);
  }
  void issued(uint32_t) override {}
  void reset() override {}
};

}  // namespace

std::unique_ptr<IssuePolicy> make_oldest(const core::MachineConfig::Scheduler&) {
  return std::make_unique<OldestFirst>();
}

}  // namespace gpusim::comp
