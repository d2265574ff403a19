#include "analysis/models/reuse_distance/sm.h"

#include <algorithm>
#include <bit>

namespace gpusim::analysis {
namespace {

constexpr uint64_t kLocalBase = uint64_t{1} << 56;  ///< behind all that buffers have

}  // namespace

ReuseSm::ReuseSm(const ReuseMachine& machine, const WarpTrace& trace, ReuseMemory& memory, uint32_t index)
    : machine_(machine),
      trace_(trace),
      memory_(memory),
      index_(index),
      block_warps_(trace.header().block_warps),
      l1_(machine),
      coalescer_(machine.line, machine.rule),
      runners_(machine.share_in_turn ? 1 : machine.schedulers),
      warps_(size_t{machine.blocks_per_sm} * block_warps_),
      blocks_(machine.with.threads ? machine.blocks_per_sm : 1),
      last_(machine.schedulers, static_cast<uint32_t>(warps_.size()) - 1),
      queue_(machine.queue) {
  owned_.assign(machine.schedulers, 0);
  for (uint32_t w = 0; w < warps_.size(); ++w) owned_[machine.scheduler_of(w)] |= uint64_t{1} << w;
  for (uint32_t b = static_cast<uint32_t>(blocks_.size()); b-- > 0;) free_slots_.push_back(b);
}

void ReuseSm::start(uint64_t block, double at) {
  const uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  blocks_[slot] = {block, block_warps_, 0, 0, at};
  for (uint32_t w = 0; w < block_warps_; ++w) {
    Warp& warp = warps_[size_t{slot} * block_warps_ + w];
    warp.cursor = trace_.warp(block, w);
    warp.slot = slot;
    warp.age = ++starts_;
    warp.loads = 0;
    warp.awaited = kNoLoad;
    warp.queued = 0;
    warp.stores_done = 0;
    warp.arrivals.assign(kLoads, 0);
    warp.state = State::kNone;
    if (w == 0 || machine_.with.threads) begin_warp(slot * block_warps_ + w, at);
  }
  next_ = find_next();
}

void ReuseSm::begin_warp(uint32_t w, double at) {
  warps_[w].state = State::kWaits;
  wake_at(at, w);
}

void ReuseSm::want(Runners& runners, const Shares& shares, int64_t sign) {
  runners.wanted.all += sign * shares.all;
  runners.wanted.own += sign * shares.own;
  constexpr auto kAll = static_cast<double>(kWhole);
  double left = kAll;
  for (Runners& r : runners_) {
    const auto all = static_cast<double>(r.wanted.all);
    r.slowdown = all <= left ? 1 : left > 0 ? all / left : kNever;
    // Its own units keep a scheduler from taking all of what several share.
    if (runners_.size() > 1) r.slowdown = std::max(r.slowdown, static_cast<double>(r.wanted.own) / kAll);
    left = std::max(0.0, left - all / r.slowdown);
  }
}

double ReuseSm::end_of_stretch(const Runners& runners) const {
  if (runners.stretches.empty()) return kNever;
  const double left = std::max(0.0, runners.stretches.top().at - runners.virtual_now);
  return runners.slowdown == kNever && left > 0 ? kNever : now_ + left * runners.slowdown;
}

uint32_t ReuseSm::warp_in_turn() const {
  const auto count = static_cast<uint32_t>(warps_.size());
  for (uint32_t i = 1; i <= count; ++i) {
    const uint32_t w = (served_ + i) % count;
    if (warps_[w].state == State::kAsks) return w;
    if (warps_[w].state == State::kRuns || warps_[w].state == State::kWaits) return count;
  }
  return count;
}

uint32_t ReuseSm::first_asking() const {
  using Policy = ReuseMachine::Policy;
  uint32_t scheduler =
      machine_.share_in_turn ? (machine_.scheduler_of(served_) + 1) % machine_.schedulers : 0;
  while ((asking_ & owned_[scheduler]) == 0) scheduler = (scheduler + 1) % machine_.schedulers;
  const uint64_t asking = asking_ & owned_[scheduler];
  const uint32_t last = last_[scheduler];
  if (machine_.policy == Policy::kRoundRobin) {
    const uint64_t behind = last == 63 ? 0 : asking >> (last + 1) << (last + 1);
    return static_cast<uint32_t>(std::countr_zero(behind != 0 ? behind : asking));
  }
  if (machine_.policy == Policy::kGreedy && (asking >> last & 1) != 0) return last;
  auto oldest = static_cast<uint32_t>(std::countr_zero(asking));
  for (uint64_t bits = asking; bits != 0; bits &= bits - 1) {
    const auto w = static_cast<uint32_t>(std::countr_zero(bits));
    if (warps_[w].age < warps_[oldest].age) oldest = w;
  }
  return oldest;
}

double ReuseSm::next_issue() const {
  if (asking_ == 0 || queued_ == queue_.size()) return kNever;
  return !machine_.with.divergence && warp_in_turn() == warps_.size() ? kNever : now_;
}

ReuseSm::Next ReuseSm::find_next() const {
  Next next;
  if (!timed_.empty()) next.at = timed_.top().at;
  for (uint32_t r = 0; r < runners_.size(); ++r)
    if (const double at = end_of_stretch(runners_[r]); at < next.at) next = {Next::What::kStretch, at, r};
  if (const double at = next_transaction(); at < next.at) next = {Next::What::kTransaction, at};
  if (const double at = next_issue(); at < next.at) next = {Next::What::kIssue, at};
  return next;
}

void ReuseSm::advance(double at) {
  for (Runners& r : runners_) r.virtual_now += (at - now_) / r.slowdown;
  now_ = at;
}

bool ReuseSm::run(double until) {
  bool ended = false;
  do {
    ended = happen();
    next_ = find_next();
  } while (!ended && next_.at < until);
  return ended;
}

bool ReuseSm::happen() {
  advance(next_.at);
  switch (next_.what) {
    case Next::What::kTimed: {
      const uint32_t what = timed_.top().what;
      timed_.pop();
      if ((what & kBlock) != 0) {
        free_slots_.push_back(what & ~kBlock);
        return true;
      }
      const State state = warps_[what].state;
      if ((state != State::kDrains && state != State::kHeld) || perform(what)) go_on(what);
      return false;
    }
    case Next::What::kStretch: {
      Runners& runners = runners_[next_.runners];
      const Event ends = runners.stretches.top();
      runners.stretches.pop();
      runners.virtual_now = std::max(runners.virtual_now, ends.at);
      want(runners, warps_[ends.what].wants, -1);
      if (perform(ends.what)) go_on(ends.what);
      return false;
    }
    case Next::What::kTransaction:
      send();
      return false;
    case Next::What::kIssue: {
      const uint32_t w = machine_.with.divergence ? first_asking() : warp_in_turn();
      asking_ &= ~(uint64_t{1} << w);
      issue(w);
      go_on(w);
      return false;
    }
  }
  return false;
}

void ReuseSm::go_on(uint32_t w) {
  Warp& warp = warps_[w];
  do {
    if (!warp.cursor.next(warp.step, warp.runs)) {
      warp.step = WarpStep();
      warp.step.kind = WarpStep::Kind::kEnd;
    }
    if (warp.step.cycles != 0) {
      const auto cycles = static_cast<double>(warp.step.cycles);
      const auto share = [&](uint64_t work) {
        const double of = static_cast<double>(work) / WarpStep::kWorkUnits / cycles;
        return static_cast<int64_t>(std::min(of, 1.0) * static_cast<double>(kWhole));
      };
      warp.wants = {share(warp.step.work), share(warp.step.own)};
      warp.state = State::kRuns;
      Runners& runners = runners_[runners_of(w)];
      want(runners, warp.wants, 1);
      runners.stretches.push({runners.virtual_now + cycles, w});
      return;
    }
  } while (perform(w));
}

bool ReuseSm::perform(uint32_t w) {
  Warp& warp = warps_[w];
  Block& block = blocks_[warp.slot];
  switch (warp.step.kind) {
    case WarpStep::Kind::kAccess:
      if (held(w)) return false;
      warp.state = State::kAsks;
      asking_ |= uint64_t{1} << w;
      return false;
    case WarpStep::Kind::kWait: {
      if (warp.step.back >= std::min<uint64_t>(warp.loads, kLoads)) return true;
      const uint64_t load = warp.loads - 1 - warp.step.back;
      const double there = warp.arrivals[load % kLoads];
      if (there <= now_) return true;
      warp.state = State::kWaits;
      if (there == kNever)
        warp.awaited = load;
      else
        wake_at(there, w);
      return false;
    }
    case WarpStep::Kind::kFence:
      if (drains(warp)) return false;
      if (warp.stores_done <= now_) return true;
      warp.state = State::kWaits;
      wake_at(warp.stores_done, w);
      return false;
    case WarpStep::Kind::kBarrier:
      if (!machine_.with.threads) return true;
      warp.state = State::kAtBarrier;
      if (++block.at_barrier == block.live) open_barrier(warp.slot);
      return false;
    case WarpStep::Kind::kEnd:
      if (!drains(warp)) end_warp(w);
      return false;
  }
  return false;
}

bool ReuseSm::held(uint32_t w) {
  Warp& warp = warps_[w];
  const uint32_t most = machine_.with.mshrs ? std::min(machine_.warp_loads, kLoads) : 0;
  if (most == 0 || warp.step.access != WarpStep::Access::kLoad || warp.loads < most) return false;
  const uint64_t load = warp.loads - most;
  const double there = warp.arrivals[load % kLoads];
  if (there <= now_) return false;
  warp.state = State::kHeld;
  if (there == kNever)
    warp.awaited = load;
  else
    wake_at(there, w);
  return true;
}

bool ReuseSm::drains(Warp& warp) {
  if (warp.queued == 0) return false;
  warp.state = State::kDrains;
  return true;
}

void ReuseSm::open_barrier(uint32_t slot) {
  blocks_[slot].at_barrier = 0;
  for (uint32_t w = slot * block_warps_; w < (slot + 1) * block_warps_; ++w) {
    if (warps_[w].state != State::kAtBarrier) continue;
    warps_[w].state = State::kWaits;
    wake_at(now_, w);
  }
}

void ReuseSm::end_warp(uint32_t w) {
  const uint32_t slot = warps_[w].slot;
  Block& block = blocks_[slot];
  warps_[w].state = State::kNone;
  --block.live;
  if (block.live == 0)
    wake_at(std::max(now_, block.data_there), slot | kBlock);
  else if (!machine_.with.threads)
    begin_warp(w + 1, now_);
  else if (block.at_barrier == block.live)
    open_barrier(slot);
}

double ReuseSm::load(const Access& a, const LineTransaction& t) {
  const auto fetch = [&](uint64_t line, uint32_t sectors) {
    return memory_.read(now_, index_, line * machine_.line, sectors);
  };
  if (!a.cached) {
    if (!machine_.with.latency) return now_ + machine_.hit_cycles;
    if (waits_for_room()) return ReuseL1::kRefused;
    if (machine_.reads == 0) return fetch(t.line, t.sectors);
    if (is_full(reads_, machine_.reads)) return ReuseL1::kRefused;
    const double there = fetch(t.line, t.sectors);
    reads_.push({there});
    return there;
  }
  const double there =
      l1_.load({t.line, t.sectors, a.warp, a.local}, now_, memory_.room(index_) <= now_, fetch);
  if (there == ReuseL1::kRefused) next_send_ = std::max(now_, l1_.next_fill());
  if (there != ReuseL1::kNoRoom) return there;
  next_send_ = memory_.room(index_);
  return ReuseL1::kRefused;
}

bool ReuseSm::waits_for_room() {
  const double room = memory_.room(index_);
  if (room <= now_) return false;
  next_send_ = room;
  return true;
}

bool ReuseSm::is_full(EventQueue<Done>& on_the_way, uint32_t most) {
  for (; !on_the_way.empty() && on_the_way.top().at <= now_;) on_the_way.pop();
  if (on_the_way.size() < most) return false;
  next_send_ = on_the_way.top().at;
  return true;
}

double ReuseSm::store(const Access& a, const LineTransaction& t) {
  if (!machine_.with.latency) {
    l1_.store({t.line, t.sectors, 0, a.local}, now_, a.kind == WarpStep::Access::kAtomic);
    return now_ + machine_.hit_cycles;
  }
  const bool stays = a.local && machine_.has_l1 && machine_.write_local == ReuseMachine::Write::kBack;
  if ((!stays || a.kind == WarpStep::Access::kAtomic) && waits_for_room()) return ReuseL1::kRefused;
  if (a.kind == WarpStep::Access::kAtomic) {
    if (machine_.has_l1) l1_.store({t.line, t.sectors, 0, a.local}, now_, true);
    return memory_.atomic(now_, index_, t.line * machine_.line, t.sectors);
  }
  if (is_full(stores_, machine_.store_buffer)) return ReuseL1::kRefused;
  if (machine_.has_l1 && !l1_.store({t.line, t.sectors, 0, a.local}, now_, false))
    return now_ + machine_.hit_cycles;
  const double done = memory_.write(now_, index_, t.line * machine_.line, t.sectors);
  stores_.push({done});
  return done;
}

void ReuseSm::issue(uint32_t w) {
  Warp& warp = warps_[w];
  const WarpStep& s = warp.step;
  served_ = last_[machine_.scheduler_of(w)] = w;
  if (queued_ == 0) next_send_ = std::max(next_send_, now_ + 1);
  ++warp.queued;
  Access& a = queue_[(first_ + queued_++) % queue_.size()];
  a.warp = w;
  a.load = warp.loads;
  a.kind = s.access;
  a.local = s.local;
  a.cached = machine_.has_l1 && (s.local || (machine_.caches_global && !s.bypasses)) &&
             !(s.read_only && machine_.read_only_elsewhere);
  a.returns = s.returns && s.access != WarpStep::Access::kStore;
  a.there = now_;
  a.next = 0;
  a.translated = !memory_.translates();
  ++accesses_;
  const uint64_t region = s.local ? kLocalBase + (uint64_t{index_} * warps_.size() + w) *
                                                     trace_.header().local_bytes * WarpStep::kLanes
                                  : 0;
  coalescer_.coalesce(s, warp.runs, region, a.transactions);
  if (!a.translated && machine_.look_ahead)
    a.known = memory_.translate(now_, index_, a.transactions, machine_.line);
  if (!a.returns) return;
  warp.arrivals[warp.loads % kLoads] = kNever;
  ++warp.loads;
}

void ReuseSm::send() {
  Access& a = queue_[first_];
  if (!a.translated) {
    a.translated = true;
    next_send_ = machine_.look_ahead ? std::max(now_, a.known)
                                     : memory_.translate(now_, index_, a.transactions, machine_.line);
    if (next_send_ > now_) return;
  }
  const LineTransaction& t = a.transactions[a.next];
  uint64_t line = 0;
  for (uint32_t sectors = 0; l1_.take_writeback(line, sectors);)
    memory_.write(now_, index_, line * machine_.line, sectors);
  const double there = a.kind == WarpStep::Access::kLoad ? load(a, t) : store(a, t);
  if (there == ReuseL1::kRefused) return;
  a.there = std::max(a.there, there);
  next_send_ = now_ + machine_.send_cycles;
  if (++a.next == a.transactions.size()) finish(a);
}

void ReuseSm::finish(const Access& a) {
  first_ = (first_ + 1) % queue_.size();
  --queued_;
  Warp& warp = warps_[a.warp];
  if (--warp.queued == 0 && warp.state == State::kDrains) wake_at(now_, a.warp);
  if (a.kind == WarpStep::Access::kStore) {
    warp.stores_done = std::max(warp.stores_done, a.there);
    return;
  }
  double& until = blocks_[warp.slot].data_there;
  until = std::max(until, a.there);
  if (!a.returns) return;
  warp.arrivals[a.load % kLoads] = a.there;
  if (warp.awaited != a.load) return;
  warp.awaited = kNoLoad;
  wake_at(a.there, a.warp);
}

}  // namespace gpusim::analysis
