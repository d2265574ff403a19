// What a DRAM channel knows of its requests, banks and data bus: what its policies (scheduler, row policy,
// refresh) decide by. Orders are those in which requests were accepted; a cycle named next_* is the first one
// in which the timing allows such a command.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "components/dram/dram_timing.h"
#include "components/simulation/event_sink.h"
#include "simcore/config/limits.h"

namespace gpusim::comp {

struct DramChannelState {
  static constexpr uint64_t kNoRow = ~0ull;
  static constexpr uint64_t kNoOrder = ~0ull;
  static constexpr uint64_t kFar = ~0ull;
  static constexpr uint32_t kMaxBanks = core::kMaxDramBanks;
  /// What a request wants of the data bus decides when it may go; an atomic goes in either direction.
  enum Class : uint8_t { kReads, kWrites, kAtomics, kClasses };
  /// A request of the window in the list of its bank.
  struct Waiting {
    uint64_t row;
    uint64_t order;    ///< of acceptance
    uint16_t request;  ///< in the channel's list of requests
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
      banks |= uint64_t{1} << bank;
    }
    void clear(uint32_t bank) {
      order[bank] = kNoOrder;
      banks &= ~(uint64_t{1} << bank);
    }
  };

  DramChannelState(const core::MachineConfig::Dram& config, const core::ClockDomain& domain, uint32_t number,
                   const EventSink* sink)
      : timing(config, domain),
        groups(config.bank_groups),
        channel(number),
        events(sink),
        banks(config.banks) {}

  /// Class of the requests that go at present, besides atomics.
  [[nodiscard]] Class direction() const { return draining ? kWrites : kReads; }
  /// First cycle at which the data bus allows a column command of this direction.
  [[nodiscard]] uint64_t bus_ready(bool is_write) const {
    const uint64_t lead = is_write ? timing.wl : timing.cl;  // command to first data
    uint64_t at = bus_free > lead ? bus_free - lead : 0;
    if (last_was_write && !is_write) at = std::max(at, last_column_end + timing.cdlr);
    if (!last_was_write && is_write && last_column_end + timing.rtw > lead)
      at = std::max(at, last_column_end + timing.rtw - lead);
    return at;
  }
  /// First cycle at which the request's next command would be legal, other requests aside.
  [[nodiscard]] uint64_t earliest(uint32_t bank, const Waiting& w) const {
    const uint64_t row = banks[bank].row;
    if (row == w.row) return std::max(next_column[bank], bus_ready(w.cls == kWrites));
    if (row == kNoRow) return std::max(next_activate[bank], activate_ready);
    return next_precharge[bank];
  }
  /// The oldest request of all; the window is not empty.
  [[nodiscard]] const Waiting& oldest() const { return banks[oldest_bank].waiting[0]; }
  /// The row of the bank is now `row`.
  void set_row(uint32_t b, uint64_t row) {
    Bank& bank = banks[b];
    bank.row = row;
    const uint64_t bit = uint64_t{1} << b;
    open = row == kNoRow ? open & ~bit : open | bit;
    for (Firsts& h : hit) h.clear(b);
    for (uint32_t i = bank.count; i-- > 0;)
      if (bank.waiting[i].row == row) hit[bank.waiting[i].cls].set(b, bank.waiting[i].order);
  }
  /// Records a command, if commands are recorded.
  void event(uint64_t now, uint32_t bank, uint64_t row, core::DramCommand command, bool is_write) const {
    if (events->dram == nullptr) return;
    events->dram->append(
        {.cycle = now, .row = row, .channel = channel, .bank = bank, .command = command, .write = is_write});
  }

  DramTiming timing;
  uint32_t groups;   ///< of banks: b and b + groups are of one group
  uint32_t channel;  ///< its number
  const EventSink* events;
  std::array<Firsts, kClasses> first;  ///< the oldest request of all
  std::array<Firsts, kClasses> hit;    ///< of those that hit the open row
  PerBank next_column{0}, next_activate{0}, next_precharge{0};
  PerBank oldest_order{kNoOrder};  ///< of the bank's oldest request
  std::vector<Bank> banks;
  uint32_t oldest_bank = 0;     ///< that holds the oldest request
  uint64_t oldest_arrival = 0;  ///< of that request
  uint64_t open = 0;            ///< bit per bank that has an open row
  size_t queued = 0;
  std::array<uint32_t, kClasses> of_class{};  ///< requests in the window
  bool draining = false;                      ///< writes go, not reads
  bool last_was_write = false;
  uint64_t bus_free = 0;         ///< data bus
  uint64_t last_column_end = 0;  ///< end of the last data burst
  uint64_t activate_ready = 0;   ///< no bank may be activated before
  uint64_t closing_end = 0;      ///< when all rows that close by themselves are closed
  uint64_t refresh_end = 0;      ///< of a refresh of all banks: no command goes before
};

}  // namespace gpusim::comp
