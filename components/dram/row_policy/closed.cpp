// A row closes behind the last waiting request that hits it.
#include <algorithm>

#include "components/dram/row_policy/row_policy.h"

namespace gpusim::comp {

namespace {

class ClosesBehindHits final : public RowPolicy {
 public:
  [[nodiscard]] bool closes(const DramChannelState& s, uint32_t bank) override {
    return std::ranges::all_of(s.hit, [bank](const DramChannelState::Firsts& hit) {
      return hit.order[bank] == DramChannelState::kNoOrder;
    });
  }
};

}  // namespace

std::unique_ptr<RowPolicy> make_closed_row_policy(const core::MachineConfig::Dram&) {
  return std::make_unique<ClosesBehindHits>();
}

}  // namespace gpusim::comp
