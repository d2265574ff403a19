#include "components/dram_channel.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace gpusim::comp {

namespace {

constexpr uint64_t kFar = ~0ull;

DramTiming timing_of(const core::MachineConfig::Dram& d, const core::ClockDomain& domain) {
  const auto clocks = [&](double ns) { return static_cast<uint32_t>(domain.cycles_of_ns(ns)); };
  DramTiming t{};
  t.cl = clocks(d.cl_ns), t.rcd = clocks(d.rcd_ns), t.rp = clocks(d.rp_ns), t.ras = clocks(d.ras_ns);
  t.rc = clocks(d.rc_ns), t.rrd = clocks(d.rrd_ns), t.wl = clocks(d.wl_ns), t.ccd = clocks(d.ccd_ns);
  t.wr = clocks(d.wr_ns), t.cdlr = clocks(d.cdlr_ns), t.rtw = clocks(d.rtw_ns);
  t.refi = clocks(d.refi_ns), t.rfc = clocks(d.rfc_ns);
  t.burst_bytes = static_cast<uint32_t>(d.burst_bytes);
  // Double data rate: two transfers of bus_bytes a clock.
  t.clocks_per_burst = static_cast<uint32_t>(std::max<int64_t>(1, d.burst_bytes / (2 * d.bus_bytes)));
  return t;
}

}  // namespace

DramChannel::DramChannel(const sc_core::sc_module_name& name, core::ClockDomain& domain,
                         const core::MachineConfig& machine, uint32_t index, const EventSink* events)
    : Clocked(name, domain),
      t_(timing_of(machine.dram, domain)),
      index_(index),
      interleave_(static_cast<uint64_t>(machine.l2.interleave)),
      span_(static_cast<uint64_t>(machine.l2.interleave * machine.l2.partitions)),
      row_bytes_(static_cast<uint64_t>(machine.dram.row_bytes)),
      bank_count_(static_cast<uint64_t>(machine.dram.banks)),
      bank_hash_(machine.dram.bank_hash),
      window_(static_cast<size_t>(machine.dram.queue)),
      write_high_(static_cast<uint32_t>(machine.dram.write_high)),
      write_low_(static_cast<uint32_t>(machine.dram.write_low)),
      starvation_(static_cast<uint64_t>(machine.dram.starvation_limit)),
      events_(events),
      banks_(static_cast<size_t>(machine.dram.banks)),
      next_refresh_(t_.refi) {
  held_.resize(window_);
  for (size_t i = window_; i-- > 0;) free_held_.push_back(static_cast<uint16_t>(i));
  waiting_.resize(window_ * banks_.size());
  for (size_t b = 0; b < banks_.size(); ++b) banks_[b].waiting = &waiting_[b * window_];
}

DramChannel::Place DramChannel::place_of(uint64_t address) const {
  // Addresses inside the channel are dense: the partition interleave is taken out.
  const uint64_t local = address / span_ * interleave_.value() + address % interleave_;
  const uint64_t page = local / row_bytes_;
  const uint64_t row = page / bank_count_;
  uint64_t bank = page % bank_count_;
  // Spreads rows of one bank index that differ in higher bits only (power-of-two strides).
  if (bank_hash_) bank = (bank + row) % bank_count_;
  return {static_cast<uint32_t>(bank), row};
}

void DramChannel::accept(core::Cycle now) {
  while (queued_ < window_ && next_request_ <= now) add(requests_->pop(), now.count());
}

void DramChannel::add(const MemoryRequest& request, uint64_t now) {
  const uint16_t index = free_held_.back();
  free_held_.pop_back();
  held_[index] = {request, now};
  const Place place = place_of(request.address);
  const Class cls = request.kind == RequestKind::kWrite    ? kWrites
                    : request.kind == RequestKind::kAtomic ? kAtomics
                                                           : kReads;
  Bank& bank = banks_[place.bank];
  const auto at = static_cast<uint16_t>(bank.count++);
  Waiting& w = bank.waiting[at];
  w = {place.row, next_order_++, index, cls, false};
  if (bank.first[cls] == kNoPlace) bank.first[cls] = at;
  if (bank.row == w.row && bank.first_hit[cls] == kNoPlace) bank.first_hit[cls] = at;
  if (queued_++ == 0) oldest_bank_ = place.bank;
  banks_in_use_ |= uint64_t{1} << place.bank;
  ++of_class_[cls];
  next_command_ = std::min(next_command_, earliest(bank, w));
}

void DramChannel::remove(const Candidate& c) {
  Bank& bank = banks_[c.bank];
  const Waiting w = bank.waiting[c.place];
  free_held_.push_back(w.request);
  --of_class_[w.cls];
  --queued_;
  std::copy(bank.waiting + c.place + 1, bank.waiting + bank.count, bank.waiting + c.place);
  if (--bank.count == 0) banks_in_use_ &= ~(uint64_t{1} << c.bank);
  find_firsts(bank);
  if (c.place == 0 && c.bank == oldest_bank_) find_oldest();
}

void DramChannel::find_oldest() {
  uint64_t order = ~0ull;
  for (uint64_t bits = banks_in_use_; bits != 0; bits &= bits - 1) {
    const auto b = static_cast<uint32_t>(std::countr_zero(bits));
    if (banks_[b].waiting[0].order >= order) continue;
    order = banks_[b].waiting[0].order;
    oldest_bank_ = b;
  }
}

void DramChannel::find_firsts(Bank& bank) {
  bank.first.fill(kNoPlace);
  bank.first_hit.fill(kNoPlace);
  for (uint32_t i = bank.count; i-- > 0;) {
    const Waiting& w = bank.waiting[i];
    bank.first[w.cls] = static_cast<uint16_t>(i);
    if (bank.row == w.row) bank.first_hit[w.cls] = static_cast<uint16_t>(i);
  }
}

void DramChannel::refresh(uint64_t now) {
  if (t_.refi == 0 || now < next_refresh_) return;
  // Refreshes that fell due while the channel slept were done in idle time; the last one may still be going
  // on.
  const uint64_t due = (now - next_refresh_) / t_.refi + 1;
  const uint64_t last = next_refresh_ + (due - 1) * t_.refi;
  next_refresh_ += due * t_.refi;
  stats_.refreshes += due;
  // All banks are precharged first, no earlier than their timing allows; the controller knows when a refresh
  // is due, so idle rows have been closed before.
  uint64_t start = std::max(last, last_column_end_);
  for (const Bank& b : banks_)
    if (b.row != kNoRow) start = std::max(start, b.next_precharge + t_.rp);
  refresh_end_ = start + t_.rfc;
  for (Bank& b : banks_) {
    b.row = kNoRow;
    b.first_hit.fill(kNoPlace);
    b.next_activate = std::max(b.next_activate, refresh_end_);
  }
  next_command_ = 0;
  event(now, 0, 0, core::DramCommand::kRefresh, false);
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

uint64_t DramChannel::earliest(const Bank& bank, const Waiting& w) const {
  if (bank.row == w.row) return std::max(bank.next_column, bus_ready(w.cls == kWrites));
  if (bank.row == kNoRow) return std::max(bank.next_activate, activate_ready());
  return bank.next_precharge;
}

DramChannel::Choice DramChannel::choose(uint64_t now, bool reply_room) const {
  Choice choice;
  const auto consider = [&](uint32_t b, uint16_t place, uint64_t at, Candidate& candidate) {
    if (at > now) {
      choice.soonest = std::min(choice.soonest, at);
      return;
    }
    const uint64_t order = banks_[b].waiting[place].order;
    if (order < candidate.order) candidate = {order, b, place};
  };
  Candidate without_room;  // its reply has no place yet
  Candidate& column = reply_room ? choice.column : without_room;
  if (starved(now)) {  // nothing may overtake it
    const Bank& bank = banks_[oldest_bank_];
    Candidate& command = bank.row == bank.waiting[0].row ? column
                         : bank.row == kNoRow            ? choice.activate
                                                         : choice.precharge;
    consider(oldest_bank_, 0, earliest(bank, bank.waiting[0]), command);
    return choice;
  }
  const Class direction = draining_ ? kWrites : kReads;
  const uint64_t bus = bus_ready(draining_), activate = activate_ready();
  const bool atomics = of_class_[kAtomics] != 0;
  for (uint64_t bits = banks_in_use_; bits != 0; bits &= bits - 1) {
    const auto b = static_cast<uint32_t>(std::countr_zero(bits));
    const Bank& bank = banks_[b];
    uint16_t first = bank.first[direction];
    bool hits = bank.first_hit[direction] != kNoPlace;
    if (hits) consider(b, bank.first_hit[direction], std::max(bank.next_column, bus), column);
    if (atomics) {
      first = std::min(first, bank.first[kAtomics]);
      if (const uint16_t hit = bank.first_hit[kAtomics]; hit != kNoPlace) {
        consider(b, hit, std::max(bank.next_column, bus_ready(false)), column);
        hits = true;
      }
    }
    // A row that others still hit stays open; a row command is for the oldest request.
    if (hits || first == kNoPlace) continue;
    if (bank.row == kNoRow)
      consider(b, first, std::max(bank.next_activate, activate), choice.activate);
    else
      consider(b, first, bank.next_precharge, choice.precharge);
  }
  return choice;
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
    return choice.soonest;
  if (queued_ == 0 || direction_wanted() != draining_) return now + 1;
  const Choice then = choose(now + 1, true);
  const bool at_once = then.column.found() || then.activate.found() || then.precharge.found();
  return at_once ? now + 1 : then.soonest;
}

void DramChannel::issue_activate(const Candidate& c, uint64_t now) {
  Bank& bank = banks_[c.bank];
  Waiting& w = bank.waiting[c.place];
  bank.row = w.row;
  bank.next_column = now + t_.rcd;
  bank.next_precharge = now + t_.ras;
  bank.next_activate = now + t_.rc;
  last_activate_ = now;
  any_activate_ = true;
  w.opened_row = true;
  find_firsts(bank);
  ++stats_.activates;
  event(now, c.bank, w.row, core::DramCommand::kActivate, w.cls == kWrites);
}

void DramChannel::issue_precharge(const Candidate& c, uint64_t now) {
  Bank& bank = banks_[c.bank];
  event(now, c.bank, bank.row, core::DramCommand::kPrecharge, bank.waiting[c.place].cls == kWrites);
  bank.row = kNoRow;
  bank.first_hit.fill(kNoPlace);
  bank.next_activate = std::max(bank.next_activate, now + t_.rp);
  ++stats_.precharges;
}

void DramChannel::issue_column(const Candidate& c, uint64_t now) {
  Bank& bank = banks_[c.bank];
  const Waiting& w = bank.waiting[c.place];
  const MemoryRequest& request = held_[w.request].request;
  const uint32_t bursts = (request.bytes + t_.burst_bytes - 1) / t_.burst_bytes;
  const uint32_t clocks = bursts * t_.clocks_per_burst;
  const bool atomic = w.cls == kAtomics;
  const bool is_write = w.cls == kWrites;
  const uint32_t lead = is_write ? t_.wl : t_.cl;
  uint64_t end = now + lead + clocks;
  if (last_was_write_ != is_write) ++stats_.turnarounds;
  if (is_write) {
    ++stats_.writes;
    stats_.write_bytes += request.bytes;
    bank.next_precharge = std::max(bank.next_precharge, end + t_.wr);
  } else {
    ++stats_.reads;
    stats_.read_bytes += request.bytes;
    bank.next_precharge = std::max(bank.next_precharge, now + clocks);
  }
  const uint64_t data_end = end;
  if (atomic) {
    // The old value goes through the partition's update unit and comes back on the open row: a write after
    // the read.
    end += t_.rtw + clocks;
    ++stats_.writes;
    stats_.write_bytes += request.bytes;
    bank.next_precharge = std::max(bank.next_precharge, end + t_.wr);
  }
  last_was_write_ = is_write || atomic;
  if (!w.opened_row) ++stats_.row_hits;
  stats_.busy_clocks += clocks * (atomic ? 2 : 1);
  bank.next_column = now + std::max<uint64_t>(t_.ccd, clocks);
  bus_free_ = end;
  last_column_end_ = end;
  event(now, c.bank, w.row, is_write ? core::DramCommand::kWrite : core::DramCommand::kRead, is_write);
  replies_->push({request.address, request.bytes, request.kind, MemoryLevel::kDram, request.port, request.tag,
                  !is_write && request.wants_data},
                 data_end - now);
  remove(c);
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
  if (const uint64_t starves = queued_ == 0 ? kFar : oldest_arrival() + starvation_ + 1; starves > now)
    next_command_ = std::min(next_command_, starves);
  uint64_t next = next_command_;
  if (t_.refi != 0) next = std::min(next, next_refresh_);
  if (queued_ < window_) next = std::min(next, next_request_.count());
  return core::Cycle(std::max(next, now + 1));
}

std::string DramChannel::waiting_for() const {
  return queued_ == 0 ? std::string() : fmt::format("{} requests in the FR-FCFS window", queued_);
}

}  // namespace gpusim::comp
