// One DRAM channel with its memory controller: a window of requests, first-ready first-come-first-served
// (FR-FCFS) among them or strictly first-come-first-served (one command after the other, all for the oldest
// request), banks in groups with activate, precharge and column timing, a shared data bus with read/write
// turnaround, rows that stay open or close behind their last hit, periodic refresh of all banks or of one
// after the other, and write draining between two watermarks. Clocked in the DRAM domain; it computes the
// earliest cycle at which its next command is legal and sleeps until then; refresh is computed lazily, so an
// idle channel costs nothing. One column command moves a whole request (a run of bursts on one row), or with
// bank groups one burst, so that bursts of different groups alternate. Timings: configuration [dram].
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "components/dram/dram_stats.h"
#include "components/dram/dram_timing.h"
#include "components/noc/messages.h"
#include "components/simulation/event_sink.h"
#include "simcore/config/limits.h"
#include "simcore/config/machine_config.h"
#include "simcore/engine/link.h"

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
  static constexpr uint64_t kNoRow = ~0ull;
  static constexpr uint64_t kNoOrder = ~0ull;
  static constexpr uint32_t kMaxBanks = core::kMaxDramBanks;
  /// What a request wants of the data bus decides when it may go; an atomic goes in either direction.
  enum Class : uint8_t { kReads, kWrites, kAtomics, kClasses };
  /// A request of the window in the list of its bank.
  struct Waiting {
    uint64_t row;
    uint64_t order;    ///< of acceptance
    uint16_t request;  ///< in held_
    uint16_t bursts;   ///< still to move
    Class cls;
    bool opened_row;  ///< its row was activated for it: not a row hit
    bool closed_row;  ///< and another one was closed for that
  };
  struct Bank {
    uint64_t row = kNoRow;
    bool row_closed = false;     ///< for a request that needs another one, not opened since
    Waiting* waiting = nullptr;  ///< oldest first; room for the whole window
    uint32_t count = 0;
  };
  /// A number per bank, side by side: a choice of the next command reads few lines of memory.
  struct alignas(64) PerBank : std::array<uint64_t, kMaxBanks> {
    explicit PerBank(uint64_t value) { fill(value); }
  };
  /// Per bank, the order of the oldest request of a class, and bit per bank whether there is one.
  struct Firsts {
    PerBank order{kNoOrder};
    uint64_t banks = 0;
    void set(uint32_t bank, uint64_t o) {
      order[bank] = o;
      banks = (banks & ~(uint64_t{1} << bank)) | uint64_t{o != kNoOrder} << bank;
    }
  };
  struct Candidate {
    uint64_t order = kNoOrder;
    uint32_t bank = 0;
    [[nodiscard]] bool found() const { return order != kNoOrder; }
    void take_older(uint64_t other, uint32_t its_bank) {
      bank = other < order ? its_bank : bank;
      order = std::min(order, other);
    }
  };
  /// The next commands that are legal, by FR-FCFS; no row commands if there is a column command.
  struct Choice {
    Candidate column, activate, precharge;
  };
  struct Held {
    MemoryRequest request;
    uint64_t arrival = 0;
  };
  /// Takes requests visible by `now`, the cycle of this tick or the next.
  void accept(core::Cycle now);
  void refresh(uint64_t now);
  void refresh_in_turn(uint64_t now);
  [[nodiscard]] uint64_t bank_refresh_interval() const {
    return std::max<uint64_t>(1, t_.refi / banks_.size());
  }
  [[nodiscard]] bool direction_wanted() const;
  uint64_t issue_one(uint64_t now);
  /// What may go at `now`; columns only if their reply has a place (`reply_room`).
  [[nodiscard]] Choice choose(uint64_t now, bool reply_room) const;
  /// Takes out what would make a starved oldest request later: commands to its bank, and columns or activates
  /// while it waits for the same.
  void keep_behind_oldest(Choice& choice) const;
  /// First cycle, not before `from`, at which choose() finds something if nothing changes.
  [[nodiscard]] uint64_t first_choice(uint64_t from, bool reply_room) const;
  /// The same for columns of a class, none of which starved; `behind`: bit of the bank of one that has.
  [[nodiscard]] uint64_t first_hit(Class cls, uint64_t from, uint64_t behind) const;
  /// Banks whose next command is a row command: they hold requests that may go, and none hits.
  [[nodiscard]] uint64_t row_banks(Class direction) const {
    return (first_[direction].banks | first_[kAtomics].banks) &
           ~(hit_[direction].banks | hit_[kAtomics].banks);
  }
  /// First cycle at which the data bus allows a column command of this direction.
  [[nodiscard]] uint64_t bus_ready(bool is_write) const;
  /// First cycle at which the request's next command would be legal, other requests aside.
  [[nodiscard]] uint64_t earliest(uint32_t bank, const Waiting& w) const;
  /// The oldest request goes before all others, which may go while its bank is not ready (in order: not even
  /// then).
  [[nodiscard]] bool starved(uint64_t now) const {
    return queued_ != 0 && (in_order_ || now - oldest_arrival_ > starvation_);
  }
  [[nodiscard]] Waiting& waiting_of(const Candidate& c) {
    Waiting* w = banks_[c.bank].waiting;
    while (w->order != c.order) ++w;
    return *w;
  }
  void issue_column(const Candidate& c, uint64_t now);
  /// Column commands of all banks keep their distance from one that moves data for `clocks`.
  void space_columns(uint32_t bank, uint64_t now, uint32_t clocks);
  /// The request's last data ends at `data_end`.
  void finish(uint32_t bank, const Waiting& w, uint64_t now, uint64_t data_end);
  void close_unless_hit(uint32_t bank);
  void issue_activate(const Candidate& c, uint64_t now);
  void issue_precharge(const Candidate& c, uint64_t now);
  void add(const MemoryRequest& request, uint64_t now);
  void remove(uint32_t bank, const Waiting& w);
  void find_oldest();
  /// The row of the bank is now `row`.
  void set_row(uint32_t bank, uint64_t row);
  void event(uint64_t now, uint32_t bank, uint64_t row, core::DramCommand command, bool is_write);

  DramTiming t_;
  DramPlaces places_;
  uint32_t index_;
  uint32_t groups_;
  bool in_order_, closes_rows_, refreshes_in_turn_;
  size_t window_;
  uint32_t write_high_, write_low_;
  uint64_t starvation_;
  const EventSink* events_;
  core::Cycle next_request_ = core::kNever;  ///< when the oldest message of requests_ is visible
  core::Link<MemoryRequest>* requests_ = nullptr;
  core::Link<MemoryReply>* replies_ = nullptr;
  std::array<Firsts, kClasses> first_;  ///< the oldest request of all
  std::array<Firsts, kClasses> hit_;    ///< of those that hit the open row
  PerBank next_column_{0}, next_activate_{0}, next_precharge_{0};
  PerBank oldest_order_{kNoOrder};  ///< of the bank's oldest request
  std::vector<Bank> banks_;
  std::vector<Waiting> waiting_;  ///< of the banks
  std::vector<Held> held_;        ///< the requests of the window
  std::vector<uint16_t> free_held_;
  uint32_t oldest_bank_ = 0;     ///< that holds the oldest request
  uint64_t oldest_arrival_ = 0;  ///< of that request
  uint64_t open_ = 0;            ///< bit per bank that has an open row
  size_t queued_ = 0;
  uint64_t next_order_ = 0;
  std::array<uint32_t, kClasses> of_class_{};  ///< requests in the window
  bool draining_ = false;
  bool last_was_write_ = false;
  uint64_t bus_free_ = 0;         ///< data bus
  uint64_t last_column_end_ = 0;  ///< end of the last data burst
  uint64_t activate_ready_ = 0;   ///< no bank may be activated before
  std::array<uint64_t, 4> last_activates_{};
  uint64_t closing_end_ = 0;  ///< when all rows that close by themselves are closed
  uint64_t next_refresh_ = 0, refresh_end_ = 0;
  uint32_t refresh_bank_ = 0;   ///< whose turn it is
  uint64_t next_command_ = 0;   ///< no command is legal before this cycle, as far as known
  bool reply_blocked_ = false;  ///< the last look found no room for a reply
  DramStats stats_;
};

}  // namespace gpusim::comp
