#include "components/dram/dram_channel.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace gpusim::comp {

namespace {

constexpr uint64_t kFar = ~0ull;

}  // namespace

DramChannel::DramChannel(const sc_core::sc_module_name& name, core::ClockDomain& domain,
                         const core::MachineConfig& machine, uint32_t index, const EventSink* events)
    : Clocked(name, domain),
      t_(machine.dram, domain),
      places_(machine),
      index_(index),
      groups_(static_cast<uint32_t>(machine.dram.bank_groups)),
      in_order_(machine.dram.scheduler == "fcfs"),
      closes_rows_(machine.dram.page == "closed"),
      refreshes_in_turn_(machine.dram.refresh == "bank"),
      window_(static_cast<size_t>(machine.dram.queue)),
      write_high_(static_cast<uint32_t>(machine.dram.write_high)),
      write_low_(static_cast<uint32_t>(machine.dram.write_low)),
      starvation_(static_cast<uint64_t>(machine.dram.starvation_limit)),
      events_(events),
      banks_(static_cast<size_t>(machine.dram.banks)),
      next_refresh_(refreshes_in_turn_ ? bank_refresh_interval() : t_.refi) {
  held_.resize(window_);
  for (size_t i = window_; i-- > 0;) free_held_.push_back(static_cast<uint16_t>(i));
  waiting_.resize(window_ * banks_.size());
  for (size_t b = 0; b < banks_.size(); ++b) banks_[b].waiting = &waiting_[b * window_];
  // What has been planned keeps its cycles.
  domain.on_change([this, d = machine.dram] { t_ = DramTiming(d, this->domain()); });
}

void DramChannel::accept(core::Cycle now) {
  while (queued_ < window_ && next_request_ <= now) add(requests_->pop_at(now), now.count());
}

void DramChannel::add(const MemoryRequest& request, uint64_t now) {
  const uint16_t index = free_held_.back();
  free_held_.pop_back();
  held_[index] = {request, now};
  const DramPlaces::Place place = places_.of(request.address);
  const Class cls = request.kind == RequestKind::kWrite    ? kWrites
                    : request.kind == RequestKind::kAtomic ? kAtomics
                                                           : kReads;
  Bank& bank = banks_[place.bank];
  Waiting& w = bank.waiting[bank.count++];
  const auto bursts = static_cast<uint16_t>((request.bytes + t_.burst_bytes - 1) / t_.burst_bytes);
  w = {place.row, next_order_++, index, bursts, cls, false, false};
  if (bank.count == 1) oldest_order_[place.bank] = w.order;
  if (first_[cls].order[place.bank] == kNoOrder) first_[cls].set(place.bank, w.order);
  if (bank.row == w.row && hit_[cls].order[place.bank] == kNoOrder) hit_[cls].set(place.bank, w.order);
  if (queued_++ == 0) {
    oldest_bank_ = place.bank;
    oldest_arrival_ = now;
  }
  ++of_class_[cls];
  next_command_ = std::min(next_command_, earliest(place.bank, w));
}

void DramChannel::remove(uint32_t b, const Waiting& gone) {
  Bank& bank = banks_[b];
  const uint64_t order = gone.order, row = gone.row;
  const Class cls = gone.cls;
  free_held_.push_back(gone.request);
  --of_class_[cls];
  --queued_;
  Waiting* const at = bank.waiting + (&gone - bank.waiting);
  Waiting* const end = bank.waiting + --bank.count;
  std::copy(at + 1, end + 1, at);
  // The next of its kind is younger: behind it.
  const auto next = [&](auto&& wanted) {
    const Waiting* w = std::find_if(at, end, wanted);
    return w == end ? kNoOrder : w->order;
  };
  if (first_[cls].order[b] == order) first_[cls].set(b, next([&](const Waiting& w) { return w.cls == cls; }));
  if (hit_[cls].order[b] == order)
    hit_[cls].set(b, next([&](const Waiting& w) { return w.cls == cls && w.row == row; }));
  if (at != bank.waiting) return;
  oldest_order_[b] = bank.count == 0 ? kNoOrder : bank.waiting[0].order;
  if (b == oldest_bank_) find_oldest();
}

void DramChannel::find_oldest() {
  if (queued_ == 0) return;
  Candidate oldest;
  for (uint32_t b = 0; b < banks_.size(); ++b) oldest.take_older(oldest_order_[b], b);
  oldest_bank_ = oldest.bank;
  oldest_arrival_ = held_[banks_[oldest_bank_].waiting[0].request].arrival;
}

void DramChannel::set_row(uint32_t b, uint64_t row) {
  Bank& bank = banks_[b];
  bank.row = row;
  const uint64_t bit = uint64_t{1} << b;
  open_ = row == kNoRow ? open_ & ~bit : open_ | bit;
  for (Firsts& hit : hit_) hit.set(b, kNoOrder);
  for (uint32_t i = bank.count; i-- > 0;)
    if (bank.waiting[i].row == row) hit_[bank.waiting[i].cls].set(b, bank.waiting[i].order);
}

void DramChannel::refresh(uint64_t now) {
  if (t_.refi == 0 || now < next_refresh_) return;
  if (refreshes_in_turn_) return refresh_in_turn(now);
  // Refreshes that fell due while the channel slept were done in idle time; the last one may still be going
  // on.
  const uint64_t due = (now - next_refresh_) / t_.refi + 1;
  const uint64_t last = next_refresh_ + (due - 1) * t_.refi;
  next_refresh_ += due * t_.refi;
  stats_.refreshes += due;
  // All banks are precharged first, no earlier than their timing allows; the controller knows when a refresh
  // is due, so idle rows have been closed before.
  uint64_t start = std::max({last, last_column_end_, closing_end_});
  for (uint64_t bits = open_; bits != 0; bits &= bits - 1)
    start = std::max(start, next_precharge_[static_cast<size_t>(std::countr_zero(bits))] + t_.rp);
  refresh_end_ = start + t_.rfc;
  for (uint32_t b = 0; b < banks_.size(); ++b) {
    set_row(b, kNoRow);
    next_activate_[b] = std::max(next_activate_[b], refresh_end_);
  }
  next_command_ = 0;
  event(now, 0, 0, core::DramCommand::kRefresh, false);
}

void DramChannel::refresh_in_turn(uint64_t now) {
  // As above, for the bank whose turn it is; the others go on. A bank refreshed twice while the channel slept
  // is busy with the later one at most.
  const uint64_t interval = bank_refresh_interval();
  const uint64_t due = (now - next_refresh_) / interval + 1;
  stats_.refreshes += due;
  const uint64_t skipped = due > banks_.size() ? due - banks_.size() : 0;
  for (uint64_t k = skipped; k < due; ++k) {
    const auto b = static_cast<uint32_t>((refresh_bank_ + k) % banks_.size());
    const bool open = (open_ >> b & 1) != 0;
    const uint64_t idle = open ? next_precharge_[b] + t_.rp : next_activate_[b];
    set_row(b, kNoRow);
    next_activate_[b] = std::max(next_refresh_ + k * interval, idle) + t_.rfc;
    event(now, b, 0, core::DramCommand::kRefresh, false);
  }
  refresh_bank_ = static_cast<uint32_t>((refresh_bank_ + due) % banks_.size());
  next_refresh_ += due * interval;
  next_command_ = 0;
}

bool DramChannel::direction_wanted() const {
  const uint32_t writes = of_class_[kWrites];
  const bool others = queued_ != writes;
  if (draining_) return writes != 0 && (writes > write_low_ || !others);
  return writes >= write_high_ || (!others && writes != 0);
}

uint64_t DramChannel::bus_ready(bool is_write) const {
  const uint64_t lead = is_write ? t_.wl : t_.cl;  // command to first data
  uint64_t at = bus_free_ > lead ? bus_free_ - lead : 0;
  if (last_was_write_ && !is_write) at = std::max(at, last_column_end_ + t_.cdlr);
  if (!last_was_write_ && is_write && last_column_end_ + t_.rtw > lead)
    at = std::max(at, last_column_end_ + t_.rtw - lead);
  return at;
}

uint64_t DramChannel::earliest(uint32_t bank, const Waiting& w) const {
  const uint64_t row = banks_[bank].row;
  if (row == w.row) return std::max(next_column_[bank], bus_ready(w.cls == kWrites));
  if (row == kNoRow) return std::max(next_activate_[bank], activate_ready_);
  return next_precharge_[bank];
}

DramChannel::Choice DramChannel::choose(uint64_t now, bool reply_room) const {
  Choice choice;
  const bool starved_one = starved(now);
  if (starved_one) {
    const Bank& bank = banks_[oldest_bank_];
    const Waiting& w = bank.waiting[0];
    Candidate& command = bank.row == w.row    ? choice.column
                         : bank.row == kNoRow ? choice.activate
                                              : choice.precharge;
    if (earliest(oldest_bank_, w) <= now && (reply_room || bank.row != w.row)) {
      command = {w.order, oldest_bank_};
      return choice;
    }
    if (in_order_) return choice;
  }
  const Class direction = draining_ ? kWrites : kReads;
  const auto hits = [&](Class cls) {
    if (!reply_room || bus_ready(cls == kWrites) > now) return;
    // Mostly the oldest of all hits, and no other need be looked at.
    if (const uint32_t b = oldest_bank_; next_column_[b] <= now && hit_[cls].order[b] == oldest_order_[b]) {
      choice.column = {oldest_order_[b], b};
      return;
    }
    for (uint64_t bits = hit_[cls].banks; bits != 0; bits &= bits - 1) {
      const auto b = static_cast<uint32_t>(std::countr_zero(bits));
      choice.column.take_older(next_column_[b] <= now ? hit_[cls].order[b] : kNoOrder, b);
    }
  };
  hits(direction);
  if (of_class_[kAtomics] != 0) hits(kAtomics);
  if (starved_one) keep_behind_oldest(choice);
  if (choice.column.found()) return choice;
  // A row that others still hit stays open; a row command is for the oldest request.
  for (uint64_t bits = row_banks(direction); bits != 0; bits &= bits - 1) {
    const auto b = static_cast<uint32_t>(std::countr_zero(bits));
    const uint64_t oldest = std::min(first_[direction].order[b], first_[kAtomics].order[b]);
    if ((open_ >> b & 1) != 0)
      choice.precharge.take_older(next_precharge_[b] <= now ? oldest : kNoOrder, b);
    else
      choice.activate.take_older(std::max(next_activate_[b], activate_ready_) <= now ? oldest : kNoOrder, b);
  }
  if (starved_one) keep_behind_oldest(choice);
  return choice;
}

void DramChannel::keep_behind_oldest(Choice& choice) const {
  const Bank& bank = banks_[oldest_bank_];
  const bool wants_column = bank.row == bank.waiting[0].row;
  const bool wants_activate = bank.row == kNoRow;
  if (choice.column.found() && (wants_column || choice.column.bank == oldest_bank_)) choice.column = {};
  if (choice.activate.found() && (wants_activate || choice.activate.bank == oldest_bank_))
    choice.activate = {};
  if (choice.precharge.found() && choice.precharge.bank == oldest_bank_) choice.precharge = {};
}

[[gnu::always_inline]] inline uint64_t DramChannel::first_hit(Class cls, uint64_t from,
                                                              uint64_t behind) const {
  if (hit_[cls].banks == 0) return kFar;
  const uint64_t bus = std::max(from, bus_ready(cls == kWrites));
  // Where the oldest of all hits would be in the bank of a starved request, none goes.
  const bool passes = (hit_[cls].banks & behind) != 0;
  const uint64_t passed = passes ? hit_[cls].order[oldest_bank_] : kNoOrder;
  uint64_t column = kFar;
  for (uint64_t bits = hit_[cls].banks & ~behind; bits != 0 && column > bus; bits &= bits - 1) {
    const auto b = static_cast<size_t>(std::countr_zero(bits));
    if (passes && hit_[cls].order[b] > passed && next_column_[oldest_bank_] <= std::max(next_column_[b], bus))
      continue;
    column = std::min(column, next_column_[b]);
  }
  return std::max(column, bus);
}

uint64_t DramChannel::first_choice(uint64_t from, bool reply_room) const {
  uint64_t first = kFar;
  uint64_t behind = 0;  // bit of the bank whose commands a starved request keeps back
  bool columns = reply_room, activates = true;
  if (starved(from)) {
    const Bank& bank = banks_[oldest_bank_];
    const Waiting& w = bank.waiting[0];
    if (reply_room || bank.row != w.row) first = std::max(from, earliest(oldest_bank_, w));
    if (in_order_) return first;
    // As keep_behind_oldest().
    behind = uint64_t{1} << oldest_bank_;
    columns = columns && bank.row != w.row;
    activates = bank.row != kNoRow;
  }
  const Class direction = draining_ ? kWrites : kReads;
  if (columns) {
    first = std::min(first, first_hit(direction, from, behind));
    if (of_class_[kAtomics] != 0) first = std::min(first, first_hit(kAtomics, from, behind));
  }
  const uint64_t rows = row_banks(direction);
  // As with hits: an older precharge of the starved request's bank is passed over, and all behind it.
  const auto oldest = [&](size_t b) {
    return std::min(first_[direction].order[b], first_[kAtomics].order[b]);
  };
  const uint64_t passed = (rows & open_ & behind) != 0 ? oldest(oldest_bank_) : kNoOrder;
  for (uint64_t bits = rows & ~behind; bits != 0; bits &= bits - 1) {
    const auto b = static_cast<size_t>(std::countr_zero(bits));
    if ((open_ >> b & 1) == 0) {
      if (activates) first = std::min(first, std::max(next_activate_[b], activate_ready_));
    } else if (passed == kNoOrder || oldest(b) < passed ||
               std::max(next_precharge_[b], from) < next_precharge_[oldest_bank_]) {
      first = std::min(first, next_precharge_[b]);
    }
  }
  return std::max(first, from);
}

uint64_t DramChannel::issue_one(uint64_t now) {
  const bool reply_room = replies_->can_push();
  reply_blocked_ = !reply_room;
  const Choice choice = choose(now, reply_room);
  // One command a clock: data first, then the row commands that prepare the next data.
  if (choice.column.found())
    issue_column(choice.column, now);
  else if (choice.activate.found())
    issue_activate(choice.activate, now);
  else if (choice.precharge.found())
    issue_precharge(choice.precharge, now);
  else
    return first_choice(now + 1, reply_room);
  // A full window takes the next request in the next cycle, whatever else that brings.
  accept(core::Cycle(now + 1));
  if (queued_ == 0 || direction_wanted() != draining_) return now + 1;
  return first_choice(now + 1, true);
}

void DramChannel::issue_activate(const Candidate& c, uint64_t now) {
  Waiting& w = waiting_of(c);
  w.opened_row = true;
  w.closed_row = std::exchange(banks_[c.bank].row_closed, false);
  set_row(c.bank, w.row);
  next_column_[c.bank] = now + t_.rcd;
  next_precharge_[c.bank] = now + t_.ras;
  next_activate_[c.bank] = now + t_.rc;
  if (groups_ > 1)
    for (uint32_t b = c.bank % groups_; b < banks_.size(); b += groups_)
      next_activate_[b] = std::max(next_activate_[b], now + t_.rrd_l);
  // Four activates and no more in any time of tFAW.
  last_activates_[stats_.activates++ % last_activates_.size()] = now;
  activate_ready_ = now + t_.rrd;
  if (t_.faw != 0 && stats_.activates >= last_activates_.size())
    activate_ready_ =
        std::max(activate_ready_, last_activates_[stats_.activates % last_activates_.size()] + t_.faw);
  event(now, c.bank, w.row, core::DramCommand::kActivate, w.cls == kWrites);
}

void DramChannel::issue_precharge(const Candidate& c, uint64_t now) {
  event(now, c.bank, banks_[c.bank].row, core::DramCommand::kPrecharge, waiting_of(c).cls == kWrites);
  set_row(c.bank, kNoRow);
  banks_[c.bank].row_closed = true;
  next_activate_[c.bank] = std::max(next_activate_[c.bank], now + t_.rp);
  ++stats_.precharges;
}

void DramChannel::issue_column(const Candidate& c, uint64_t now) {
  Waiting& w = waiting_of(c);
  uint64_t& next_precharge = next_precharge_[c.bank];
  const bool atomic = w.cls == kAtomics;
  const bool is_write = w.cls == kWrites;
  const uint32_t bursts = groups_ > 1 && !atomic ? 1 : w.bursts;
  const uint32_t clocks = bursts * t_.clocks_per_burst;
  const uint32_t lead = is_write ? t_.wl : t_.cl;
  uint64_t end = now + lead + clocks;
  if (last_was_write_ != is_write) ++stats_.turnarounds;
  next_precharge = std::max(next_precharge, is_write ? end + t_.wr : now + clocks);
  const uint64_t data_end = end;
  if (atomic) {
    // The old value goes through the partition's update unit and comes back on the open row: a write after
    // the read.
    end += t_.rtw + clocks;
    next_precharge = std::max(next_precharge, end + t_.wr);
  }
  last_was_write_ = is_write || atomic;
  stats_.busy_clocks += clocks * (atomic ? 2 : 1);
  space_columns(c.bank, now, clocks);
  bus_free_ = end;
  last_column_end_ = end;
  event(now, c.bank, w.row, is_write ? core::DramCommand::kWrite : core::DramCommand::kRead, is_write);
  w.bursts = static_cast<uint16_t>(w.bursts - bursts);
  if (w.bursts == 0) finish(c.bank, w, now, data_end);
}

void DramChannel::space_columns(uint32_t bank, uint64_t now, uint32_t clocks) {
  if (groups_ == 1) {
    next_column_[bank] = now + std::max(t_.ccd, clocks);
    return;
  }
  const uint64_t same = now + std::max(t_.ccd_l, clocks), other = now + std::max(t_.ccd, clocks);
  for (uint32_t b = 0; b < banks_.size(); ++b)
    next_column_[b] = std::max(next_column_[b], b % groups_ == bank % groups_ ? same : other);
}

void DramChannel::finish(uint32_t bank, const Waiting& w, uint64_t now, uint64_t data_end) {
  const MemoryRequest& request = held_[w.request].request;
  const bool is_write = w.cls == kWrites;
  if (w.cls != kWrites) {
    ++stats_.reads;
    stats_.read_bytes += request.bytes;
  }
  if (w.cls != kReads) {
    ++stats_.writes;
    stats_.write_bytes += request.bytes;
  }
  ++(w.closed_row ? stats_.row_conflicts : w.opened_row ? stats_.row_misses : stats_.row_hits);
  replies_->push({request.address, request.bytes, request.kind, MemoryLevel::kDram, request.port, request.tag,
                  !is_write && request.wants_data},
                 data_end - now);
  remove(bank, w);
  if (closes_rows_) close_unless_hit(bank);
}

void DramChannel::close_unless_hit(uint32_t bank) {
  for (const Firsts& hit : hit_)
    if (hit.order[bank] != kNoOrder) return;
  // Auto-precharge: the bank closes its row by itself as soon as it may.
  const uint64_t closed = next_precharge_[bank] + t_.rp;
  event(next_precharge_[bank], bank, banks_[bank].row, core::DramCommand::kPrecharge, last_was_write_);
  set_row(bank, kNoRow);
  next_activate_[bank] = std::max(next_activate_[bank], closed);
  closing_end_ = std::max(closing_end_, closed);
  ++stats_.precharges;
}

void DramChannel::event(uint64_t now, uint32_t bank, uint64_t row, core::DramCommand command, bool is_write) {
  if (events_->dram == nullptr) return;
  core::DramEvent e{};
  e.cycle = now;
  e.row = static_cast<uint32_t>(row);
  e.channel = static_cast<uint16_t>(index_);
  e.bank = static_cast<uint8_t>(bank);
  e.command = static_cast<uint8_t>(command);
  e.write = is_write ? 1 : 0;
  events_->dram->append(&e);
}

core::Cycle DramChannel::tick(core::Cycle cycle) {
  const uint64_t now = cycle.count();
  // 1. Requests into the window, 2. refresh, 3. direction, 4. one command.
  accept(cycle);
  if (queued_ == 0) {
    next_command_ = 0;
    return next_request_;
  }
  const bool was_draining = draining_;
  refresh(now);
  draining_ = direction_wanted();
  // Between commands nothing but a new request (accept() looks at it) or a change of direction makes one
  // legal earlier.
  if (now >= next_command_ || draining_ != was_draining || reply_blocked_)
    next_command_ = refresh_end_ <= now ? issue_one(now) : refresh_end_;
  // The oldest request may go first whatever its direction once it has starved.
  if (const uint64_t starves = queued_ == 0 ? kFar : oldest_arrival_ + starvation_ + 1; starves > now)
    next_command_ = std::min(next_command_, starves);
  uint64_t next = next_command_;
  if (t_.refi != 0) next = std::min(next, next_refresh_);
  if (queued_ < window_) next = std::min(next, next_request_.count());
  return core::Cycle(std::max(next, now + 1));
}

std::string DramChannel::waiting_for() const {
  return queued_ == 0 ? std::string() : fmt::format("{} requests in the controller's window", queued_);
}

}  // namespace gpusim::comp
