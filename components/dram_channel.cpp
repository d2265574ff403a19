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
  entries_.resize(window_);
  for (size_t i = window_; i-- > 0;) free_entries_.push_back(static_cast<uint16_t>(i));
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

void DramChannel::accept(uint64_t now) {
  while (queued_ < window_ && requests_->front() != nullptr) add(requests_->pop(), now);
}

void DramChannel::add(const MemoryRequest& request, uint64_t now) {
  const uint16_t index = free_entries_.back();
  free_entries_.pop_back();
  Entry& e = entries_[index];
  const Place place = place_of(request.address);
  e = Entry{};
  e.request = request;
  e.arrival = now;
  e.order = next_order_++;
  e.row = place.row;
  e.bank = static_cast<uint16_t>(place.bank);
  e.cls = request.kind == RequestKind::kWrite    ? kWrites
          : request.kind == RequestKind::kAtomic ? kAtomics
                                                 : kReads;
  Bank& bank = banks_[e.bank];
  e.older = newest_;
  e.bank_older = bank.newest;
  (newest_ == kNoEntry ? oldest_ : entries_[newest_].newer) = index;
  (bank.newest == kNoEntry ? bank.oldest : entries_[bank.newest].bank_newer) = index;
  newest_ = bank.newest = index;
  if (bank.first[e.cls] == kNoEntry) bank.first[e.cls] = index;
  if (bank.row == e.row && bank.first_hit[e.cls] == kNoEntry) bank.first_hit[e.cls] = index;
  banks_in_use_ |= uint64_t{1} << e.bank;
  ++waiting_[e.cls];
  ++queued_;
  next_command_ = std::min(next_command_, earliest(e));
}

void DramChannel::remove(uint16_t index) {
  const Entry& e = entries_[index];
  Bank& bank = banks_[e.bank];
  (e.older == kNoEntry ? oldest_ : entries_[e.older].newer) = e.newer;
  (e.newer == kNoEntry ? newest_ : entries_[e.newer].older) = e.older;
  (e.bank_older == kNoEntry ? bank.oldest : entries_[e.bank_older].bank_newer) = e.bank_newer;
  (e.bank_newer == kNoEntry ? bank.newest : entries_[e.bank_newer].bank_older) = e.bank_older;
  if (bank.oldest == kNoEntry) banks_in_use_ &= ~(uint64_t{1} << e.bank);
  --waiting_[e.cls];
  --queued_;
  free_entries_.push_back(index);
  find_firsts(bank);
}

void DramChannel::find_firsts(Bank& bank) const {
  bank.first.fill(kNoEntry);
  bank.first_hit.fill(kNoEntry);
  for (uint16_t i = bank.oldest; i != kNoEntry; i = entries_[i].bank_newer) {
    const Entry& e = entries_[i];
    if (bank.first[e.cls] == kNoEntry) bank.first[e.cls] = i;
    if (bank.row == e.row && bank.first_hit[e.cls] == kNoEntry) bank.first_hit[e.cls] = i;
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
  // All banks are precharged first, no earlier than their timing allows.
  uint64_t start = std::max(last, last_column_end_);
  for (const Bank& b : banks_)
    if (b.row != kNoRow) start = std::max(start, b.next_precharge + t_.rp);
  refresh_end_ = start + t_.rfc;
  for (Bank& b : banks_) {
    b.row = kNoRow;
    b.first_hit.fill(kNoEntry);
    b.next_activate = std::max(b.next_activate, refresh_end_);
  }
  next_command_ = 0;
  event(now, 0, 0, core::DramCommand::kRefresh, false);
}

bool DramChannel::direction_wanted() const {
  const uint32_t writes = waiting_[kWrites];
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

uint64_t DramChannel::earliest(const Entry& e) const {
  const Bank& bank = banks_[e.bank];
  if (bank.row == e.row) return std::max(bank.next_column, bus_ready(e.cls == kWrites));
  if (bank.row == kNoRow) return std::max(bank.next_activate, any_activate_ ? last_activate_ + t_.rrd : 0);
  return bank.next_precharge;
}

void DramChannel::consider(uint16_t index, uint64_t now, bool reply_room, Choice& choice) const {
  const Entry& e = entries_[index];
  const uint64_t at = earliest(e);
  if (at > now) {
    choice.soonest = std::min(choice.soonest, at);
    return;
  }
  const uint64_t row = banks_[e.bank].row;
  if (row == e.row && !reply_room) return;
  uint16_t& slot = row == e.row ? choice.column : row == kNoRow ? choice.activate : choice.precharge;
  if (slot == kNoEntry || e.order < entries_[slot].order) slot = index;
}

DramChannel::Choice DramChannel::choose(uint64_t now, bool reply_room) const {
  Choice choice;
  if (starved(now)) {  // nothing may overtake it
    consider(oldest_, now, reply_room, choice);
    return choice;
  }
  const Class direction = draining_ ? kWrites : kReads;
  for (uint64_t bits = banks_in_use_; bits != 0; bits &= bits - 1) {
    const Bank& bank = banks_[static_cast<size_t>(std::countr_zero(bits))];
    // A row that others still hit stays open; a row command is for the oldest request.
    bool hits = false;
    uint16_t first = kNoEntry;
    for (const Class cls : {direction, kAtomics}) {
      if (bank.first[cls] == kNoEntry) continue;
      if (bank.first_hit[cls] != kNoEntry) {
        consider(bank.first_hit[cls], now, reply_room, choice);
        hits = true;
      }
      if (first == kNoEntry || entries_[bank.first[cls]].order < entries_[first].order)
        first = bank.first[cls];
    }
    if (!hits && first != kNoEntry) consider(first, now, reply_room, choice);
  }
  return choice;
}

uint64_t DramChannel::issue_one(uint64_t now) {
  const bool reply_room = replies_->can_push();
  reply_blocked_ = !reply_room;
  const Choice choice = choose(now, reply_room);
  // One command a clock: data first, then the row commands that prepare the next data.
  if (choice.column != kNoEntry)
    issue_column(choice.column, now);
  else if (choice.activate != kNoEntry)
    issue_activate(choice.activate, now);
  else if (choice.precharge != kNoEntry)
    issue_precharge(choice.precharge, now);
  else
    return choice.soonest;
  if (queued_ == 0 || direction_wanted() != draining_) return now + 1;
  const Choice then = choose(now + 1, true);
  const bool at_once = then.column != kNoEntry || then.activate != kNoEntry || then.precharge != kNoEntry;
  return at_once ? now + 1 : then.soonest;
}

void DramChannel::issue_activate(uint16_t index, uint64_t now) {
  Entry& e = entries_[index];
  Bank& bank = banks_[e.bank];
  bank.row = e.row;
  bank.next_column = now + t_.rcd;
  bank.next_precharge = now + t_.ras;
  bank.next_activate = now + t_.rc;
  last_activate_ = now;
  any_activate_ = true;
  e.opened_row = true;
  find_firsts(bank);
  ++stats_.activates;
  event(now, e.bank, e.row, core::DramCommand::kActivate, e.cls == kWrites);
}

void DramChannel::issue_precharge(uint16_t index, uint64_t now) {
  const Entry& e = entries_[index];
  Bank& bank = banks_[e.bank];
  event(now, e.bank, bank.row, core::DramCommand::kPrecharge, e.cls == kWrites);
  bank.row = kNoRow;
  bank.first_hit.fill(kNoEntry);
  bank.next_activate = std::max(bank.next_activate, now + t_.rp);
  ++stats_.precharges;
}

void DramChannel::issue_column(uint16_t index, uint64_t now) {
  const Entry& e = entries_[index];
  Bank& bank = banks_[e.bank];
  const uint32_t bursts = (e.request.bytes + t_.burst_bytes - 1) / t_.burst_bytes;
  const uint32_t clocks = bursts * t_.clocks_per_burst;
  const bool atomic = e.cls == kAtomics;
  const bool is_write = e.cls == kWrites;
  const uint32_t lead = is_write ? t_.wl : t_.cl;
  uint64_t end = now + lead + clocks;
  if (last_was_write_ != is_write) ++stats_.turnarounds;
  if (is_write) {
    ++stats_.writes;
    stats_.write_bytes += e.request.bytes;
    bank.next_precharge = std::max(bank.next_precharge, end + t_.wr);
  } else {
    ++stats_.reads;
    stats_.read_bytes += e.request.bytes;
    bank.next_precharge = std::max(bank.next_precharge, now + clocks);
  }
  const uint64_t data_end = end;
  if (atomic) {
    // The old value goes through the partition's update unit and comes back on the open row: a write after
    // the read.
    end += t_.rtw + clocks;
    ++stats_.writes;
    stats_.write_bytes += e.request.bytes;
    bank.next_precharge = std::max(bank.next_precharge, end + t_.wr);
  }
  last_was_write_ = is_write || atomic;
  if (!e.opened_row) ++stats_.row_hits;
  stats_.busy_clocks += clocks * (atomic ? 2 : 1);
  bank.next_column = now + std::max<uint64_t>(t_.ccd, clocks);
  bus_free_ = end;
  last_column_end_ = end;
  event(now, e.bank, e.row, is_write ? core::DramCommand::kWrite : core::DramCommand::kRead, is_write);
  replies_->push({e.request.address, e.request.bytes, e.request.kind, MemoryLevel::kDram, e.request.port,
                  e.request.tag, !is_write && e.request.wants_data},
                 data_end - now);
  remove(index);
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
  accept(now);
  if (queued_ == 0) {
    next_command_ = 0;
    return requests_->next_visible();
  }
  const bool was_draining = draining_;
  refresh(now);
  draining_ = direction_wanted();
  // Between commands nothing but a new request (accept() looks at it) or a change of direction makes one
  // legal earlier.
  if (now >= next_command_ || draining_ != was_draining || reply_blocked_)
    next_command_ = refresh_end_ <= now ? issue_one(now) : refresh_end_;
  // The oldest request may go first whatever its direction once it has starved.
  if (const uint64_t starves = queued_ == 0 ? kFar : entries_[oldest_].arrival + starvation_ + 1;
      starves > now)
    next_command_ = std::min(next_command_, starves);
  uint64_t next = next_command_;
  if (t_.refi != 0) next = std::min(next, next_refresh_);
  if (queued_ < window_) next = std::min(next, requests_->next_visible().count());
  return core::Cycle(std::max(next, now + 1));
}

std::string DramChannel::waiting_for() const {
  return queued_ == 0 ? std::string() : fmt::format("{} requests in the FR-FCFS window", queued_);
}

}  // namespace gpusim::comp
