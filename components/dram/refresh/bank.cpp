// One bank after the other; the others go on.
#include <algorithm>

#include "components/dram/refresh/dram_refresh.h"

namespace gpusim::comp {

namespace {

using S = DramChannelState;

uint64_t interval_of(const DramTiming& timing, uint64_t banks) {
  return std::max<uint64_t>(1, timing.refi / banks);
}

class BanksInTurn final : public DramRefresh {
 public:
  BanksInTurn(const DramTiming& timing, uint64_t banks)
      : DramRefresh(interval_of(timing, banks)), banks_(banks) {}
  [[nodiscard]] uint64_t per_interval() const override { return banks_; }
  uint64_t refresh(S& s, uint64_t now) override {
    const DramTiming& t = s.timing;
    const uint64_t interval = interval_of(t, banks_);
    const uint64_t due = (now - next_) / interval + 1;
    // A bank refreshed twice while the channel slept is busy with the later one at most.
    for (uint64_t k = due > banks_ ? due - banks_ : 0; k < due; ++k) {
      const auto b = static_cast<uint32_t>((bank_ + k) % banks_);
      const bool open = (s.open >> b & 1) != 0;
      const uint64_t idle = open ? s.next_precharge[b] + t.rp : s.next_activate[b];
      s.set_row(b, S::kNoRow);
      s.next_activate[b] = std::max(next_ + k * interval, idle) + t.rfc;
      s.event(now, b, 0, core::DramCommand::kRefresh, false);
    }
    bank_ = (bank_ + due) % banks_;
    next_ += due * interval;
    return due;
  }

 private:
  uint64_t banks_;
  uint64_t bank_ = 0;  ///< whose turn it is
};

}  // namespace

std::unique_ptr<DramRefresh> make_bank_dram_refresh(const core::MachineConfig::Dram& config,
                                                    const DramTiming& timing) {
  return std::make_unique<BanksInTurn>(timing, config.banks);
}

}  // namespace gpusim::comp
