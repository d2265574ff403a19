// One DRAM channel with its memory controller: a window of requests, of which a scheduler takes one after the
// other (components/dram/scheduler), banks in groups with activate, precharge and column timing, a shared
// data bus with read/write turnaround, rows that stay open or close (components/dram/row_policy), periodic
// refresh (components/dram/refresh), and write draining between two watermarks. Clocked in the DRAM domain;
// it computes the earliest cycle at which its next command is legal and sleeps until then; refresh is
// computed lazily, so an idle channel costs nothing. One column command moves a whole request (a run of
// bursts on one row), or with bank groups one burst, so that bursts of different groups alternate. Timings:
// configuration [dram].
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "components/cache/free_list.h"
#include "components/dram/channel_state.h"
#include "components/dram/dram_stats.h"
#include "components/dram/dram_timing.h"
#include "components/dram/refresh/dram_refresh.h"
#include "components/dram/row_policy/row_policy.h"
#include "components/dram/scheduler/dram_scheduler.h"
#include "components/noc/messages.h"
#include "components/simulation/event_sink.h"
#include "simcore/config/machine_config.h"
#include "simcore/engine/link.h"
#include "simcore/memory/sparse_array.h"

namespace gpusim::comp {

class DramChannel : public core::Clocked {
 public:
  DramChannel(const sc_core::sc_module_name& name, core::ClockDomain& domain,
              const core::MachineConfig& machine, uint32_t index, const EventSink* events);

  void connect(core::Link<MemoryRequest>& requests, core::Link<MemoryReply>& replies) {
    requests_ = &requests;
    requests_->publish_head(next_request_);
    replies_ = &replies;
  }
  [[nodiscard]] const DramStats& stats() const { return stats_; }
  [[nodiscard]] std::string waiting_for() const override;

  /// Bank and row of an address as this channel maps it (tests).
  [[nodiscard]] DramPlaces::Place place_of(uint64_t address) const { return places_.of(address); }

 protected:
  core::Cycle tick(core::Cycle now) override;

 private:
  using Class = DramChannelState::Class;
  using Waiting = DramChannelState::Waiting;
  using Bank = DramChannelState::Bank;
  static constexpr uint64_t kNoRow = DramChannelState::kNoRow, kNoOrder = DramChannelState::kNoOrder;
  static constexpr Class kReads = DramChannelState::kReads, kWrites = DramChannelState::kWrites,
                         kAtomics = DramChannelState::kAtomics;
  struct Held {
    MemoryRequest request;
    uint64_t arrival = 0;
  };
  /// Takes requests visible by `now`, the cycle of this tick or the next.
  void accept(core::Cycle now) {
    if (next_request_ <= now && s_.queued < window_) take_requests(now);
  }
  void take_requests(core::Cycle now);
  [[nodiscard]] bool direction_wanted() const;
  /// Returns when to look again.
  uint64_t issue_one(uint64_t now);
  [[nodiscard]] Waiting& waiting_of(const DramPick& c) {
    Waiting* w = s_.banks[c.bank].waiting;
    while (w->order != c.order) ++w;
    return *w;
  }
  void issue_column(const DramPick& c, uint64_t now);
  /// The data of a request that is issued now begin at `data`: books why the bus was idle, from when it was
  /// free and the request had come.
  void count_gap(const Waiting& w, uint64_t now, uint64_t data, bool is_write);
  /// Column commands of all banks keep their distance from one that moves data for `clocks`.
  void space_columns(uint32_t bank, uint64_t now, uint32_t clocks);
  /// The request's last data ends at `data_end`.
  void finish(uint32_t bank, const Waiting& w, uint64_t now, uint64_t data_end);
  /// The bank closes its row by itself as soon as it may.
  void close_row(uint32_t bank);
  void issue_activate(const DramPick& c, uint64_t now);
  void issue_precharge(const DramPick& c, uint64_t now);
  void add(const MemoryRequest& request, uint64_t now);
  void remove(uint32_t bank, const Waiting& w);
  void find_oldest();

  DramChannelState s_;
  DramPlaces places_;
  std::unique_ptr<DramScheduler> scheduler_;
  std::unique_ptr<RowPolicy> row_policy_;
  std::unique_ptr<DramRefresh> refresh_;
  size_t window_;
  uint32_t write_high_, write_low_;
  uint64_t starvation_;
  core::Cycle next_request_ = core::kNever;  ///< when the oldest message of requests_ is visible
  core::Link<MemoryRequest>* requests_ = nullptr;
  core::Link<MemoryReply>* replies_ = nullptr;
  core::SparseArray<Waiting> waiting_;  ///< of the banks
  std::vector<Held> held_;              ///< the requests of the window
  FreeList<uint16_t> free_held_;
  uint64_t next_order_ = 0;
  std::array<uint64_t, 4> last_activates_{};
  uint64_t next_command_ = 0;   ///< no command is legal before this cycle, as far as known
  bool reply_blocked_ = false;  ///< the last look found no room for a reply
  DramStats stats_;
};

}  // namespace gpusim::comp
