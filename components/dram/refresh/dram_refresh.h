// Which banks of a DRAM channel are refreshed when. One file NAME.cpp of this folder is one policy, "NAME" in
// dram.refresh; the build finds it: it defines make_NAME_dram_refresh(), and nothing else has to know it.
// Refreshes that fell due while the channel slept are made up for when it wakes.
#pragma once
#include <cstdint>
#include <memory>

#include "components/dram/channel_state.h"
#include "components/policy.h"
#include "simcore/config/machine_config.h"

namespace gpusim::comp {

class DramRefresh {
 public:
  virtual ~DramRefresh() = default;
  /// When the next one falls due.
  [[nodiscard]] uint64_t next() const { return next_; }
  /// Refreshes of a channel in one interval of dram.refi.
  [[nodiscard]] virtual uint64_t per_interval() const = 0;
  /// Does all that fell due by `now`, which is not before next(), moves next() behind `now`, and returns how
  /// many that were. Closes rows and moves the banks' next activates.
  virtual uint64_t refresh(DramChannelState& s, uint64_t now) = 0;

 protected:
  explicit DramRefresh(uint64_t first) : next_(first) {}
  uint64_t next_;
};

/// `config.refresh` names it.
[[nodiscard]] std::unique_ptr<DramRefresh> make_dram_refresh(const core::MachineConfig::Dram& config,
                                                             const DramTiming& timing);

}  // namespace gpusim::comp
