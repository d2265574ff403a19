// Which command a DRAM channel issues next. One file NAME.cpp of this folder is one scheduler, "NAME" in
// dram.scheduler; the build finds it: it defines make_NAME_dram_scheduler(), and nothing else has to know it.
// When reads and when writes go is not its choice (dram.write_high), nor are refreshes.
#pragma once
#include <cstdint>
#include <memory>

#include "components/dram/channel_state.h"
#include "components/policy.h"
#include "simcore/config/machine_config.h"

namespace gpusim::comp {

/// A command for the request of that order, which waits in that bank.
struct DramPick {
  enum class Command : uint8_t { kNone, kColumn, kActivate, kPrecharge } command = Command::kNone;
  uint32_t bank = 0;
  uint64_t order = DramChannelState::kNoOrder;
};

class DramScheduler {
 public:
  virtual ~DramScheduler() = default;
  /// A command that is legal at `now`; a column only if its reply has a place (`reply_room`). The window is
  /// not empty.
  [[nodiscard]] virtual DramPick choose(const DramChannelState& s, uint64_t now, bool reply_room) const = 0;
  /// A cycle, not before `from`, before which choose() finds nothing if nothing changes; `from` is always
  /// right, and slow. kFar: only a change helps.
  [[nodiscard]] virtual uint64_t next_choice(const DramChannelState& /*s*/, uint64_t from,
                                             bool /*reply_room*/) const {
    return from;
  }
};

/// `config.scheduler` names it.
[[nodiscard]] std::unique_ptr<DramScheduler> make_dram_scheduler(const core::MachineConfig::Dram& config);

}  // namespace gpusim::comp
