#include "components/dram/dram_channel.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace gpusim::comp {

DramChannel::DramChannel(const sc_core::sc_module_name& name, core::ClockDomain& domain,
                         const core::MachineConfig& machine, uint32_t index, const EventSink* events)
    : Clocked(name, domain),
      s_(machine.dram, domain, index, events),
      places_(machine),
      scheduler_(make_dram_scheduler(machine.dram)),
      row_policy_(make_row_policy(machine.dram)),
      refresh_(make_dram_refresh(machine.dram, s_.timing)),
      window_(machine.dram.queue),
      write_high_(machine.dram.write_high),
      write_low_(machine.dram.write_low),
      starvation_(machine.dram.starvation_limit) {
  held_.resize(window_);
  free_held_ = FreeList<uint16_t>(window_);
  waiting_ = core::SparseArray<Waiting>(window_ * s_.banks.size());
  for (size_t b = 0; b < s_.banks.size(); ++b) s_.banks[b].waiting = &waiting_[b * window_];
  // What has been planned keeps its cycles.
  domain.on_change([this, d = machine.dram] { s_.timing = DramTiming(d, this->domain()); });
}

void DramChannel::take_requests(core::Cycle now) {
  do add(requests_->pop_at(now), now.count());
  while (s_.queued < window_ && next_request_ <= now);
}

void DramChannel::add(const MemoryRequest& request, uint64_t now) {
  const uint16_t index = free_held_.take();
  held_[index] = {request, now};
  const DramPlaces::Place place = places_.of(request.address);
  const Class cls = request.kind == RequestKind::kWrite    ? kWrites
                    : request.kind == RequestKind::kAtomic ? kAtomics
                                                           : kReads;
  Bank& bank = s_.banks[place.bank];
  Waiting& w = bank.waiting[bank.count++];
  const auto bursts =
      static_cast<uint16_t>((request.bytes + s_.timing.burst_bytes - 1) / s_.timing.burst_bytes);
  w = {place.row, next_order_++, index, bursts, cls, false, false};
  if (bank.count == 1) s_.oldest_order[place.bank] = w.order;
  if (s_.first[cls].order[place.bank] == kNoOrder) s_.first[cls].set(place.bank, w.order);
  if (bank.row == w.row && s_.hit[cls].order[place.bank] == kNoOrder) s_.hit[cls].set(place.bank, w.order);
  if (s_.queued++ == 0) {
    s_.oldest_bank = place.bank;
    s_.oldest_arrival = now;
  }
  ++s_.of_class[cls];
  next_command_ = std::min(next_command_, s_.earliest(place.bank, w));
}

void DramChannel::remove(uint32_t b, const Waiting& gone) {
  Bank& bank = s_.banks[b];
  const uint64_t order = gone.order, row = gone.row;
  const Class cls = gone.cls;
  free_held_.give_back(gone.request);
  --s_.of_class[cls];
  --s_.queued;
  Waiting* const at = bank.waiting + (&gone - bank.waiting);
  Waiting* const end = bank.waiting + --bank.count;
  std::copy(at + 1, end + 1, at);
  // The next of its kind is younger: behind it.
  const auto replace = [&](DramChannelState::Firsts& firsts, auto&& wanted) {
    if (firsts.order[b] != order) return;
    const Waiting* w = std::find_if(at, end, wanted);
    if (w == end)
      firsts.clear(b);
    else
      firsts.set(b, w->order);
  };
  replace(s_.first[cls], [&](const Waiting& w) { return w.cls == cls; });
  replace(s_.hit[cls], [&](const Waiting& w) { return w.cls == cls && w.row == row; });
  if (at != bank.waiting) return;
  s_.oldest_order[b] = bank.count == 0 ? kNoOrder : bank.waiting[0].order;
  if (b == s_.oldest_bank) find_oldest();
}

void DramChannel::find_oldest() {
  if (s_.queued == 0) return;
  // Banks without a request have the highest order of all.
  const auto banks = static_cast<uint32_t>(s_.banks.size());
  uint64_t oldest = s_.oldest_order[0];
  uint32_t bank = 0;
  for (uint32_t b = 1; b < banks; ++b) {
    bank = s_.oldest_order[b] < oldest ? b : bank;
    oldest = std::min(oldest, s_.oldest_order[b]);
  }
  s_.oldest_bank = bank;
  s_.oldest_arrival = held_[s_.banks[s_.oldest_bank].waiting[0].request].arrival;
}

bool DramChannel::direction_wanted() const {
  const uint32_t writes = s_.of_class[kWrites];
  const bool others = s_.queued != writes;
  if (s_.draining) return writes != 0 && (writes > write_low_ || !others);
  return writes >= write_high_ || (!others && writes != 0);
}

uint64_t DramChannel::issue_one(uint64_t now) {
  const bool reply_room = replies_->can_push();
  reply_blocked_ = !reply_room;
  const DramPick pick = scheduler_->choose(s_, now, reply_room);
  switch (pick.command) {
    case DramPick::Command::kColumn:
      issue_column(pick, now);
      break;
    case DramPick::Command::kActivate:
      issue_activate(pick, now);
      break;
    case DramPick::Command::kPrecharge:
      issue_precharge(pick, now);
      break;
    case DramPick::Command::kNone:
      return scheduler_->next_choice(s_, now + 1, reply_room);
  }
  // A full window takes the next request in the next cycle, whatever else that brings.
  accept(core::Cycle(now + 1));
  if (s_.queued == 0 || direction_wanted() != s_.draining) return now + 1;
  return scheduler_->next_choice(s_, now + 1, true);
}

void DramChannel::issue_activate(const DramPick& c, uint64_t now) {
  Waiting& w = waiting_of(c);
  w.opened_row = true;
  w.closed_row = std::exchange(s_.banks[c.bank].row_closed, false);
  s_.set_row(c.bank, w.row);
  s_.next_column[c.bank] = now + s_.timing.rcd;
  s_.next_precharge[c.bank] = now + s_.timing.ras;
  s_.next_activate[c.bank] = now + s_.timing.rc;
  if (s_.groups > 1)
    for (uint32_t b = c.bank % s_.groups; b < s_.banks.size(); b += s_.groups)
      s_.next_activate[b] = std::max(s_.next_activate[b], now + s_.timing.rrd_l);
  // Four activates and no more in any time of tFAW.
  last_activates_[stats_.activates++ % last_activates_.size()] = now;
  s_.activate_ready = now + s_.timing.rrd;
  if (s_.timing.faw != 0 && stats_.activates >= last_activates_.size())
    s_.activate_ready = std::max(s_.activate_ready,
                                 last_activates_[stats_.activates % last_activates_.size()] + s_.timing.faw);
  s_.event(now, c.bank, w.row, core::DramCommand::kActivate, w.cls == kWrites);
}

void DramChannel::issue_precharge(const DramPick& c, uint64_t now) {
  s_.event(now, c.bank, s_.banks[c.bank].row, core::DramCommand::kPrecharge, waiting_of(c).cls == kWrites);
  s_.set_row(c.bank, kNoRow);
  s_.banks[c.bank].row_closed = true;
  s_.next_activate[c.bank] = std::max(s_.next_activate[c.bank], now + s_.timing.rp);
  ++stats_.precharges;
}

void DramChannel::issue_column(const DramPick& c, uint64_t now) {
  Waiting& w = waiting_of(c);
  uint64_t& next_precharge = s_.next_precharge[c.bank];
  const bool atomic = w.cls == kAtomics;
  const bool is_write = w.cls == kWrites;
  const uint32_t bursts = s_.groups > 1 && !atomic ? 1 : w.bursts;
  const uint32_t clocks = bursts * s_.timing.clocks_per_burst;
  const uint32_t lead = is_write ? s_.timing.wl : s_.timing.cl;
  uint64_t end = now + lead + clocks;
  count_gap(w, now, now + lead, is_write);
  if (s_.last_was_write != is_write) ++stats_.turnarounds;
  next_precharge = std::max(next_precharge, is_write ? end + s_.timing.wr : now + clocks);
  const uint64_t data_end = end;
  if (atomic) {
    // The old value goes through the partition's update unit and comes back on the open row: a write after
    // the read.
    end += s_.timing.rtw + clocks;
    next_precharge = std::max(next_precharge, end + s_.timing.wr);
  }
  s_.last_was_write = is_write || atomic;
  stats_.busy_clocks += uint64_t{clocks} * (atomic ? 2 : 1);
  space_columns(c.bank, now, clocks);
  s_.bus_free = end;
  s_.last_column_end = end;
  s_.event(now, c.bank, w.row, is_write ? core::DramCommand::kWrite : core::DramCommand::kRead, is_write);
  w.bursts = static_cast<uint16_t>(w.bursts - bursts);
  if (w.bursts == 0) finish(c.bank, w, now, data_end);
}

void DramChannel::count_gap(const Waiting& w, uint64_t now, uint64_t data, bool is_write) {
  const MemoryRequest& request = held_[w.request].request;
  const uint64_t lead = data - now;
  uint64_t from = std::max(s_.bus_free, held_[w.request].arrival + lead);
  if (data <= from) return;
  if (const uint64_t refreshed = std::min(s_.refresh_end + lead, data); refreshed > from) {
    stats_.refresh_clocks += refreshed - from;
    from = refreshed;
  }
  // With bank groups a request moves burst after burst: its row was opened for the first.
  const bool first = uint64_t{w.bursts} * s_.timing.burst_bytes >= request.bytes;
  if (w.opened_row && first)
    stats_.row_clocks += data - from;
  else if (s_.last_was_write != is_write)
    stats_.turnaround_clocks += data - from;
}

void DramChannel::space_columns(uint32_t bank, uint64_t now, uint32_t clocks) {
  if (s_.groups == 1) {
    s_.next_column[bank] = now + std::max(s_.timing.ccd, clocks);
    return;
  }
  const uint64_t same = now + std::max(s_.timing.ccd_l, clocks),
                 other = now + std::max(s_.timing.ccd, clocks);
  for (uint32_t b = 0; b < s_.banks.size(); ++b)
    s_.next_column[b] = std::max(s_.next_column[b], b % s_.groups == bank % s_.groups ? same : other);
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
  if (row_policy_->closes(s_, bank)) close_row(bank);
}

void DramChannel::close_row(uint32_t bank) {
  // Auto-precharge: the bank closes its row by itself as soon as it may.
  const uint64_t closed = s_.next_precharge[bank] + s_.timing.rp;
  s_.event(s_.next_precharge[bank], bank, s_.banks[bank].row, core::DramCommand::kPrecharge,
           s_.last_was_write);
  s_.set_row(bank, kNoRow);
  s_.next_activate[bank] = std::max(s_.next_activate[bank], closed);
  s_.closing_end = std::max(s_.closing_end, closed);
  ++stats_.precharges;
}

core::Cycle DramChannel::tick(core::Cycle cycle) {
  const uint64_t now = cycle.count();
  // 1. Requests into the window, 2. refresh, 3. direction, 4. one command.
  accept(cycle);
  if (s_.queued == 0) {
    next_command_ = 0;
    return next_request_;
  }
  const bool was_draining = s_.draining;
  if (s_.timing.refi != 0 && now >= refresh_->next()) {
    stats_.refreshes += refresh_->refresh(s_, now);
    next_command_ = 0;
  }
  s_.draining = direction_wanted();
  // Between commands nothing but a new request (accept() looks at it) or a change of direction makes one
  // legal earlier.
  if (now >= next_command_ || s_.draining != was_draining || reply_blocked_)
    next_command_ = s_.refresh_end <= now ? issue_one(now) : s_.refresh_end;
  // The oldest request may go first whatever its direction once it has starved.
  if (const uint64_t starves = s_.queued == 0 ? DramChannelState::kFar : s_.oldest_arrival + starvation_ + 1;
      starves > now)
    next_command_ = std::min(next_command_, starves);
  uint64_t next = next_command_;
  if (s_.timing.refi != 0) next = std::min(next, refresh_->next());
  if (s_.queued < window_) next = std::min(next, next_request_.count());
  return core::Cycle(std::max(next, now + 1));
}

std::string DramChannel::waiting_for() const {
  return s_.queued == 0 ? std::string() : fmt::format("{} requests in the controller's window", s_.queued);
}

}  // namespace gpusim::comp
