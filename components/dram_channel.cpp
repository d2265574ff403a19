#include "components/dram_channel.h"

#include <fmt/format.h>

#include <algorithm>

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
      partitions_(static_cast<uint32_t>(machine.l2.partitions)),
      interleave_(static_cast<uint32_t>(machine.l2.interleave)),
      row_bytes_(static_cast<uint32_t>(machine.dram.row_bytes)),
      bank_hash_(machine.dram.bank_hash),
      window_(static_cast<size_t>(machine.dram.queue)),
      write_high_(static_cast<uint32_t>(machine.dram.write_high)),
      write_low_(static_cast<uint32_t>(machine.dram.write_low)),
      starvation_(static_cast<uint64_t>(machine.dram.starvation_limit)),
      events_(events),
      banks_(static_cast<size_t>(machine.dram.banks)),
      next_refresh_(t_.refi) {
  queue_.reserve(window_);
}

DramChannel::Place DramChannel::place_of(uint64_t address) const {
  // Addresses inside the channel are dense: the partition interleave is taken out.
  const uint64_t span = uint64_t{interleave_} * partitions_;
  const uint64_t local = address / span * interleave_ + address % interleave_;
  const uint64_t page = local / row_bytes_;
  const uint64_t row = page / banks_.size();
  uint64_t bank = page % banks_.size();
  // Spreads rows of one bank index that differ in higher bits only (power-of-two strides).
  if (bank_hash_) bank = (bank + row) % banks_.size();
  return {static_cast<uint32_t>(bank), row};
}

void DramChannel::accept(uint64_t now) {
  while (queue_.size() < window_) {
    const MemoryRequest* r = requests_->front();
    if (r == nullptr) return;
    Entry e;
    e.request = requests_->pop();
    e.arrival = now;
    const Place place = place_of(e.request.address);
    e.bank = place.bank;
    e.row = place.row;
    e.is_write = e.request.kind == RequestKind::kWrite;
    waiting_writes_ += e.is_write;
    queue_.push_back(e);
    next_command_ = std::min(next_command_, earliest(e));
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
    b.next_activate = std::max(b.next_activate, refresh_end_);
  }
  next_command_ = 0;
  event(now, 0, 0, core::DramCommand::kRefresh, false);
}

void DramChannel::choose_direction() {
  const auto writes = waiting_writes_;
  const size_t reads = queue_.size() - writes;
  if (draining_) {
    if (writes == 0 || (writes <= write_low_ && reads != 0)) draining_ = false;
  } else if (writes >= write_high_ || (reads == 0 && writes != 0)) {
    draining_ = true;
  }
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
  if (bank.row == e.row) return std::max(bank.next_column, bus_ready(e.is_write));
  if (bank.row == kNoRow) return std::max(bank.next_activate, any_activate_ ? last_activate_ + t_.rrd : 0);
  return bank.next_precharge;
}

uint64_t DramChannel::issue_one(uint64_t now) {
  uint64_t soonest = kFar;
  size_t column = queue_.size(), activate = queue_.size(), precharge = queue_.size();
  uint32_t banks_seen = 0;  // banks for which an older request already chose the row command
  const bool starved = !queue_.empty() && now - queue_.front().arrival > starvation_;
  const bool reply_room = replies_->can_push();
  reply_blocked_ = !reply_room;
  const uint64_t bus[2] = {bus_ready(false), bus_ready(true)};
  uint32_t banks_with_hits = 0;  // open rows that a queued request of this direction still wants
  for (const Entry& e : queue_)
    if (may_go(e) && banks_[e.bank].row == e.row) banks_with_hits |= 1u << e.bank;
  for (size_t i = 0; i < queue_.size(); ++i) {
    const Entry& e = queue_[i];
    if (!may_go(e) && !(starved && i == 0)) continue;
    const Bank& bank = banks_[e.bank];
    const uint32_t bank_bit = 1u << e.bank;
    if (bank.row == e.row) {
      const uint64_t at = std::max(bank.next_column, bus[e.is_write]);
      if (at <= now) {
        if (column == queue_.size() && reply_room) column = i;
      } else {
        soonest = std::min(soonest, at);
      }
    } else if (bank.row == kNoRow) {
      if ((banks_seen & bank_bit) != 0) continue;
      banks_seen |= bank_bit;
      const uint64_t at = std::max(bank.next_activate, any_activate_ ? last_activate_ + t_.rrd : 0);
      if (at <= now) {
        if (activate == queue_.size()) activate = i;
      } else {
        soonest = std::min(soonest, at);
      }
    } else {
      // A row that others still hit stays open, unless the oldest request has starved.
      if ((banks_seen & bank_bit) != 0) continue;
      if ((banks_with_hits & bank_bit) != 0 && !(starved && i == 0)) continue;
      banks_seen |= bank_bit;
      if (bank.next_precharge <= now) {
        if (precharge == queue_.size()) precharge = i;
      } else {
        soonest = std::min(soonest, bank.next_precharge);
      }
    }
    if (starved && i == 0) break;  // nothing may overtake it
  }
  // One command a clock: data first, then the row commands that prepare the next data.
  if (column != queue_.size()) {
    issue_column(column, now);
    return now + 1;
  }
  if (activate != queue_.size()) {
    Entry& e = queue_[activate];
    Bank& bank = banks_[e.bank];
    bank.row = e.row;
    bank.next_column = now + t_.rcd;
    bank.next_precharge = now + t_.ras;
    bank.next_activate = now + t_.rc;
    last_activate_ = now;
    any_activate_ = true;
    e.opened_row = true;
    ++stats_.activates;
    event(now, e.bank, e.row, core::DramCommand::kActivate, e.is_write);
    return now + 1;
  }
  if (precharge != queue_.size()) {
    Bank& bank = banks_[queue_[precharge].bank];
    event(now, queue_[precharge].bank, bank.row, core::DramCommand::kPrecharge, queue_[precharge].is_write);
    bank.row = kNoRow;
    bank.next_activate = std::max(bank.next_activate, now + t_.rp);
    ++stats_.precharges;
    return now + 1;
  }
  return soonest;
}

void DramChannel::issue_column(size_t position, uint64_t now) {
  const Entry e = queue_[position];
  queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(position));
  Bank& bank = banks_[e.bank];
  const uint32_t bursts = (e.request.bytes + t_.burst_bytes - 1) / t_.burst_bytes;
  const uint32_t clocks = bursts * t_.clocks_per_burst;
  const bool atomic = e.request.kind == RequestKind::kAtomic;
  const uint32_t lead = e.is_write ? t_.wl : t_.cl;
  uint64_t end = now + lead + clocks;
  if (last_was_write_ != e.is_write) ++stats_.turnarounds;
  if (e.is_write) {
    ++stats_.writes;
    stats_.write_bytes += e.request.bytes;
    --waiting_writes_;
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
  last_was_write_ = e.is_write || atomic;
  if (!e.opened_row) ++stats_.row_hits;
  stats_.busy_clocks += clocks * (atomic ? 2 : 1);
  bank.next_column = now + std::max<uint64_t>(t_.ccd, clocks);
  bus_free_ = end;
  last_column_end_ = end;
  event(now, e.bank, e.row, e.is_write ? core::DramCommand::kWrite : core::DramCommand::kRead, e.is_write);
  replies_->push({e.request.address, e.request.bytes, e.request.kind, MemoryLevel::kDram, e.request.port,
                  e.request.tag, !e.is_write && e.request.wants_data},
                 data_end - now);
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
  if (queue_.empty()) {
    next_command_ = 0;
    return requests_->next_visible();
  }
  const bool was_draining = draining_;
  refresh(now);
  choose_direction();
  // Between commands nothing but a new request (accept() looks at it) or a change of direction makes one
  // legal earlier.
  if (now >= next_command_ || draining_ != was_draining || reply_blocked_)
    next_command_ = refresh_end_ <= now ? issue_one(now) : refresh_end_;
  // The oldest request may go first whatever its direction once it has starved.
  if (const uint64_t starves = queue_.empty() ? kFar : queue_.front().arrival + starvation_ + 1;
      starves > now)
    next_command_ = std::min(next_command_, starves);
  uint64_t next = next_command_;
  if (t_.refi != 0) next = std::min(next, next_refresh_);
  if (queue_.size() < window_) next = std::min(next, requests_->next_visible().count());
  return core::Cycle(std::max(next, now + 1));
}

std::string DramChannel::waiting_for() const {
  return queue_.empty() ? std::string() : fmt::format("{} requests in the FR-FCFS window", queue_.size());
}

}  // namespace gpusim::comp
