// One GDDR3 channel with its memory controller: a window of requests, first-ready first-come-first-served
// (FR-FCFS) among them, banks with activate, precharge and column timing, a shared data bus with read/write
// turnaround, periodic refresh and write draining between two watermarks. Clocked in the DRAM domain; it
// computes the earliest cycle at which its next command is legal and sleeps until then; refresh is computed
// lazily, so an idle channel costs nothing. One column command moves a whole request (a run of bursts on one
// row). Timings: configuration [dram], in ns there.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "components/event_sink.h"
#include "components/messages.h"
#include "simcore/config/machine_config.h"
#include "simcore/engine/link.h"

namespace gpusim::comp {

/// DRAM timing in memory clocks.
struct DramTiming {
  uint32_t cl, rcd, rp, ras, rc, rrd, wl, ccd, wr, cdlr, rtw, refi, rfc;
  uint32_t clocks_per_burst;  ///< data-bus clocks of one burst
  uint32_t burst_bytes;
};

struct DramStats {
  uint64_t reads = 0, writes = 0;  ///< requests
  uint64_t read_bytes = 0, write_bytes = 0;
  uint64_t row_hits = 0, activates = 0, precharges = 0, refreshes = 0, turnarounds = 0;
  uint64_t busy_clocks = 0;  ///< data-bus clocks in use
};

class DramChannel : public core::Clocked {
 public:
  DramChannel(const sc_core::sc_module_name& name, core::ClockDomain& domain,
              const core::MachineConfig& machine, uint32_t index, const EventSink* events);

  void connect(core::Link<MemoryRequest>& requests, core::Link<MemoryReply>& replies) {
    requests_ = &requests;
    replies_ = &replies;
  }
  [[nodiscard]] const DramStats& stats() const { return stats_; }
  [[nodiscard]] std::string waiting_for() const override;

  /// Bank and row of an address as this channel maps it (tests).
  struct Place {
    uint32_t bank;
    uint64_t row;
  };
  [[nodiscard]] Place place_of(uint64_t address) const;

 protected:
  core::Cycle tick(core::Cycle now) override;

 private:
  static constexpr uint64_t kNoRow = ~0ull;
  struct Bank {
    uint64_t row = kNoRow;
    uint64_t next_activate = 0, next_precharge = 0, next_column = 0;
  };
  struct Entry {
    MemoryRequest request;
    uint64_t arrival = 0;
    uint64_t row = 0;
    uint32_t bank = 0;
    bool is_write = false;
    bool opened_row = false;  ///< its row was activated for it: not a row hit
  };
  void accept(uint64_t now);
  void refresh(uint64_t now);
  void choose_direction();
  [[nodiscard]] bool may_go(const Entry& e) const {
    return e.is_write == draining_ || e.request.kind == RequestKind::kAtomic;
  }
  uint64_t issue_one(uint64_t now);
  /// First cycle at which the data bus allows a column command of this direction.
  [[nodiscard]] uint64_t bus_ready(bool is_write) const;
  /// First cycle at which the entry's next command would be legal, other entries aside.
  [[nodiscard]] uint64_t earliest(const Entry& e) const;
  void issue_column(size_t position, uint64_t now);
  void event(uint64_t now, uint32_t bank, uint64_t row, core::DramCommand command, bool is_write);

  DramTiming t_;
  uint32_t index_, partitions_, interleave_, row_bytes_;
  bool bank_hash_;
  size_t window_;
  uint32_t write_high_, write_low_;
  uint64_t starvation_;
  const EventSink* events_;
  core::Link<MemoryRequest>* requests_ = nullptr;
  core::Link<MemoryReply>* replies_ = nullptr;
  std::vector<Bank> banks_;
  std::vector<Entry> queue_;  ///< oldest first, at most window_
  uint32_t waiting_writes_ = 0;
  bool draining_ = false;
  bool last_was_write_ = false;
  uint64_t bus_free_ = 0;         ///< data bus
  uint64_t last_column_end_ = 0;  ///< end of the last data burst
  uint64_t last_activate_ = 0;
  bool any_activate_ = false;
  uint64_t next_refresh_ = 0, refresh_end_ = 0;
  uint64_t next_command_ = 0;   ///< no command is legal before this cycle, as far as known
  bool reply_blocked_ = false;  ///< the last look found no room for a reply
  DramStats stats_;
};

}  // namespace gpusim::comp
