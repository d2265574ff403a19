// All banks of a channel at once; nothing else goes meanwhile.
#include <algorithm>

#include "components/dram/refresh/dram_refresh.h"
#include "simcore/bits.h"

namespace gpusim::comp {

namespace {

using S = DramChannelState;

class AllBanks final : public DramRefresh {
 public:
  explicit AllBanks(const DramTiming& timing) : DramRefresh(timing.refi) {}
  [[nodiscard]] uint64_t per_interval() const override { return 1; }
  uint64_t refresh(S& s, uint64_t now) override {
    const DramTiming& t = s.timing;
    // Those that fell due while the channel slept were done in idle time; the last one may still be going on.
    const uint64_t due = (now - next_) / t.refi + 1;
    const uint64_t last = next_ + (due - 1) * t.refi;
    next_ += due * t.refi;
    // All banks are precharged first, no earlier than their timing allows; the controller knows when a
    // refresh is due, so idle rows have been closed before.
    uint64_t start = std::max({last, s.last_column_end, s.closing_end});
    for (const uint32_t bank : core::Bits(s.open)) start = std::max(start, s.next_precharge[bank] + t.rp);
    s.refresh_end = start + t.rfc;
    for (uint32_t b = 0; b < s.banks.size(); ++b) {
      s.set_row(b, S::kNoRow);
      s.next_activate[b] = std::max(s.next_activate[b], s.refresh_end);
    }
    s.event(now, 0, 0, core::DramCommand::kRefresh, false);
    return due;
  }
};

}  // namespace

std::unique_ptr<DramRefresh> make_all_dram_refresh(const core::MachineConfig::Dram&,
                                                   const DramTiming& timing) {
  return std::make_unique<AllBanks>(timing);
}

}  // namespace gpusim::comp
