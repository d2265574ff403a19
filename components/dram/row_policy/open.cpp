// A row stays open until another one is needed.
#include "components/dram/row_policy/row_policy.h"

namespace gpusim::comp {

namespace {

class StaysOpen final : public RowPolicy {
 public:
  [[nodiscard]] bool closes(const DramChannelState&, uint32_t) override { return false; }
};

}  // namespace

std::unique_ptr<RowPolicy> make_open_row_policy(const core::MachineConfig::Dram&) {
  return std::make_unique<StaysOpen>();
}

}  // namespace gpusim::comp
