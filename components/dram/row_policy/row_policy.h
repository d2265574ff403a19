// Whether a DRAM bank closes its row behind an access. One file NAME.cpp of this folder is one policy, "NAME"
// in dram.page; the build finds it: it defines make_NAME_row_policy(), and nothing else has to know it.
#pragma once
#include <cstdint>
#include <memory>

#include "components/dram/channel_state.h"
#include "components/policy.h"
#include "simcore/config/machine_config.h"

namespace gpusim::comp {

class RowPolicy {
 public:
  virtual ~RowPolicy() = default;
  /// True if the bank, whose last access has been issued and is no longer in the window, closes its row by
  /// itself as soon as it may.
  [[nodiscard]] virtual bool closes(const DramChannelState& s, uint32_t bank) = 0;
};

/// `config.page` names it.
[[nodiscard]] std::unique_ptr<RowPolicy> make_row_policy(const core::MachineConfig::Dram& config);

}  // namespace gpusim::comp
