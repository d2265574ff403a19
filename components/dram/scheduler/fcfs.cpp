// First come, first served: one command after the other, all for the oldest request.
#include <algorithm>

#include "components/dram/scheduler/dram_scheduler.h"

namespace gpusim::comp {

namespace {

using S = DramChannelState;

class InOrder final : public DramScheduler {
 public:
  [[nodiscard]] DramPick choose(const S& s, uint64_t now, bool reply_room) const override {
    using Command = DramPick::Command;
    const uint64_t row = s.banks[s.oldest_bank].row;
    const S::Waiting& w = s.oldest();
    if (s.earliest(s.oldest_bank, w) > now || (!reply_room && row == w.row)) return {};
    const Command command = row == w.row       ? Command::kColumn
                            : row == S::kNoRow ? Command::kActivate
                                               : Command::kPrecharge;
    return {command, s.oldest_bank, w.order};
  }
  [[nodiscard]] uint64_t next_choice(const S& s, uint64_t from, bool reply_room) const override {
    const S::Waiting& w = s.oldest();
    if (!reply_room && s.banks[s.oldest_bank].row == w.row) return S::kFar;
    return std::max(from, s.earliest(s.oldest_bank, w));
  }
};

}  // namespace

std::unique_ptr<DramScheduler> make_fcfs_dram_scheduler(const core::MachineConfig::Dram&) {
  return std::make_unique<InOrder>();
}

}  // namespace gpusim::comp
