// First ready, first come, first served: the oldest request that hits an open row; else a row command for the
// oldest of its bank. A request that has waited for longer than dram.starvation_limit goes before all others,
// which may go while its bank is not ready.
#include <algorithm>

#include "components/dram/scheduler/dram_scheduler.h"
#include "simcore/bits.h"

namespace gpusim::comp {

namespace {

using S = DramChannelState;

struct Candidate {
  uint64_t order = S::kNoOrder;
  uint32_t bank = 0;
  [[nodiscard]] bool found() const { return order != S::kNoOrder; }
  void take_older(uint64_t other, uint32_t its_bank) {
    bank = other < order ? its_bank : bank;
    order = std::min(order, other);
  }
};
/// The next commands that are legal; no row commands if there is a column command.
struct Choice {
  Candidate column, activate, precharge;
};

class FirstReady final : public DramScheduler {
 public:
  explicit FirstReady(uint64_t starvation) : starvation_(starvation) {}

  [[nodiscard]] DramPick choose(const S& s, uint64_t now, bool reply_room) const override {
    using Command = DramPick::Command;
    const Choice choice = candidates(s, now, reply_room);
    // One command a clock: data first, then the row commands that prepare the next data.
    if (choice.column.found()) return {Command::kColumn, choice.column.bank, choice.column.order};
    if (choice.activate.found()) return {Command::kActivate, choice.activate.bank, choice.activate.order};
    if (choice.precharge.found()) return {Command::kPrecharge, choice.precharge.bank, choice.precharge.order};
    return {};
  }
  [[nodiscard]] uint64_t next_choice(const S& s, uint64_t from, bool reply_room) const override;

 private:
  [[nodiscard]] bool starved(const S& s, uint64_t now) const { return now - s.oldest_arrival > starvation_; }
  [[nodiscard]] Choice candidates(const S& s, uint64_t now, bool reply_room) const;
  /// Takes out what would make a starved oldest request later: commands to its bank, and columns or activates
  /// while it waits for the same.
  static void keep_behind_oldest(const S& s, Choice& choice);
  /// As next_choice(), for columns of a class, none of which starved; `behind`: bit of the bank of one that
  /// has.
  static uint64_t first_hit(const S& s, S::Class cls, uint64_t from, uint64_t behind);
  /// Banks whose next command is a row command: they hold requests that may go, and none hits.
  [[nodiscard]] static uint64_t row_banks(const S& s, S::Class direction) {
    return (s.first[direction].banks | s.first[S::kAtomics].banks) &
           ~(s.hit[direction].banks | s.hit[S::kAtomics].banks);
  }

  uint64_t starvation_;
};

Choice FirstReady::candidates(const S& s, uint64_t now, bool reply_room) const {
  Choice choice;
  const bool starved_one = starved(s, now);
  if (starved_one) {
    const S::Bank& bank = s.banks[s.oldest_bank];
    const S::Waiting& w = bank.waiting[0];
    Candidate& command = bank.row == w.row       ? choice.column
                         : bank.row == S::kNoRow ? choice.activate
                                                 : choice.precharge;
    if (s.earliest(s.oldest_bank, w) <= now && (reply_room || bank.row != w.row)) {
      command = {w.order, s.oldest_bank};
      return choice;
    }
  }
  const S::Class direction = s.direction();
  const auto hits = [&](S::Class cls) {
    if (!reply_room || s.bus_ready(cls == S::kWrites) > now) return;
    // Mostly the oldest of all hits, and no other need be looked at.
    if (const uint32_t b = s.oldest_bank;
        s.next_column[b] <= now && s.hit[cls].order[b] == s.oldest_order[b]) {
      choice.column = {s.oldest_order[b], b};
      return;
    }
    for (uint64_t bits = s.hit[cls].banks; bits != 0; bits &= bits - 1) {
      const uint32_t b = core::lowest_bit(bits);
      choice.column.take_older(s.next_column[b] <= now ? s.hit[cls].order[b] : S::kNoOrder, b);
    }
  };
  hits(direction);
  if (s.of_class[S::kAtomics] != 0) hits(S::kAtomics);
  if (starved_one) keep_behind_oldest(s, choice);
  if (choice.column.found()) return choice;
  // A row that others still hit stays open; a row command is for the oldest request.
  for (uint64_t bits = row_banks(s, direction); bits != 0; bits &= bits - 1) {
    const uint32_t b = core::lowest_bit(bits);
    const uint64_t oldest = std::min(s.first[direction].order[b], s.first[S::kAtomics].order[b]);
    if ((s.open >> b & 1) != 0)
      choice.precharge.take_older(s.next_precharge[b] <= now ? oldest : S::kNoOrder, b);
    else
      choice.activate.take_older(std::max(s.next_activate[b], s.activate_ready) <= now ? oldest : S::kNoOrder,
                                 b);
  }
  if (starved_one) keep_behind_oldest(s, choice);
  return choice;
}

void FirstReady::keep_behind_oldest(const S& s, Choice& choice) {
  const S::Bank& bank = s.banks[s.oldest_bank];
  const bool wants_column = bank.row == bank.waiting[0].row;
  const bool wants_activate = bank.row == S::kNoRow;
  if (choice.column.found() && (wants_column || choice.column.bank == s.oldest_bank)) choice.column = {};
  if (choice.activate.found() && (wants_activate || choice.activate.bank == s.oldest_bank))
    choice.activate = {};
  if (choice.precharge.found() && choice.precharge.bank == s.oldest_bank) choice.precharge = {};
}

[[gnu::always_inline]] inline uint64_t FirstReady::first_hit(const S& s, S::Class cls, uint64_t from,
                                                             uint64_t behind) {
  if (s.hit[cls].banks == 0) return S::kFar;
  const uint64_t bus = std::max(from, s.bus_ready(cls == S::kWrites));
  // Where the oldest of all hits would be in the bank of a starved request, none goes.
  const bool passes = (s.hit[cls].banks & behind) != 0;
  const uint64_t passed = passes ? s.hit[cls].order[s.oldest_bank] : S::kNoOrder;
  uint64_t column = S::kFar;
  for (uint64_t bits = s.hit[cls].banks & ~behind; bits != 0 && column > bus; bits &= bits - 1) {
    const uint32_t b = core::lowest_bit(bits);
    if (passes && s.hit[cls].order[b] > passed &&
        s.next_column[s.oldest_bank] <= std::max(s.next_column[b], bus))
      continue;
    column = std::min(column, s.next_column[b]);
  }
  return std::max(column, bus);
}

uint64_t FirstReady::next_choice(const S& s, uint64_t from, bool reply_room) const {
  uint64_t first = S::kFar;
  uint64_t behind = 0;  // bit of the bank whose commands a starved request keeps back
  bool columns = reply_room, activates = true;
  if (starved(s, from)) {
    const S::Bank& bank = s.banks[s.oldest_bank];
    const S::Waiting& w = bank.waiting[0];
    if (reply_room || bank.row != w.row) first = std::max(from, s.earliest(s.oldest_bank, w));
    // As keep_behind_oldest().
    behind = uint64_t{1} << s.oldest_bank;
    columns = columns && bank.row != w.row;
    activates = bank.row != S::kNoRow;
  }
  const S::Class direction = s.direction();
  if (columns) {
    first = std::min(first, first_hit(s, direction, from, behind));
    if (s.of_class[S::kAtomics] != 0) first = std::min(first, first_hit(s, S::kAtomics, from, behind));
  }
  const uint64_t rows = row_banks(s, direction);
  // As with hits: an older precharge of the starved request's bank is passed over, and all behind it.
  const auto oldest = [&](size_t b) {
    return std::min(s.first[direction].order[b], s.first[S::kAtomics].order[b]);
  };
  const uint64_t passed = (rows & s.open & behind) != 0 ? oldest(s.oldest_bank) : S::kNoOrder;
  for (uint64_t bits = rows & ~behind; bits != 0; bits &= bits - 1) {
    const uint32_t b = core::lowest_bit(bits);
    if ((s.open >> b & 1) == 0) {
      if (activates) first = std::min(first, std::max(s.next_activate[b], s.activate_ready));
    } else if (passed == S::kNoOrder || oldest(b) < passed ||
               std::max(s.next_precharge[b], from) < s.next_precharge[s.oldest_bank]) {
      first = std::min(first, s.next_precharge[b]);
    }
  }
  return std::max(first, from);
}

}  // namespace

std::unique_ptr<DramScheduler> make_frfcfs_dram_scheduler(const core::MachineConfig::Dram& config) {
  return std::make_unique<FirstReady>(config.starvation_limit);
}

}  // namespace gpusim::comp
