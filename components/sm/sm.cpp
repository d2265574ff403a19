// Slots, books and replies of an SM; its blocks are in sm_blocks.cpp, one operation's issue in sm_issue.cpp.
#include "components/sm/sm.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gpusim::comp {

Sm::Sm(const sc_core::sc_module_name& name, core::ClockDomain& domain, uint32_t index,
       const SmEnvironment& environment)
    : Clocked(name, domain),
      index_(index),
      warps_(core::PageAllocator<Warp>(*environment.arena)),
      access_(*environment.access),
      env_(environment) {
  const core::MachineConfig& m = *env_.machine;
  issue_cycles_ = static_cast<uint64_t>(m.scheduler.issue_cycles);
  slot_cycles_ = core::Divisor(issue_cycles_);
  independent_ = m.gpu.compute_capability >= 70;
  issue_width_ = static_cast<uint64_t>(m.scheduler.issue_width);
  table_ = WarpTable(issue_cycles_, env_.timing->shared_pipes, env_.timing->own_pipes);
  shared_rules_ = {static_cast<uint32_t>(m.shared.banks), static_cast<uint32_t>(m.shared.bank_bytes),
                   static_cast<uint32_t>(m.shared.lanes_per_access)};
  const auto count = scheduler_count_ = static_cast<uint32_t>(m.scheduler.count);
  for (uint32_t s = 0; s < count; ++s) {
    schedulers_[s] = std::make_unique<WarpScheduler>(fmt::format("scheduler{}", s).c_str(), m.scheduler, s);
    schedulers_[s]->sm.bind(*this);
    watches_l1_ |= schedulers_[s]->watches_l1();
  }
  hold_until_.fill(kUnknownCycle);
  wake_.fill(kUnknownCycle);
  if (m.scheduler.dependences == core::Dependences::kControlCodes)
    barriers_ = std::make_unique<DependencyBarriers>(kMaxWarps);
}

void Sm::connect(const LoadStoreUnit::Links& links, core::Link<BlockStart>& starts,
                 core::Link<SmReport>& reports) {
  reply_latency_ = links.reply->latency();
  domain().on_change([this, reply = links.reply] { reply_latency_ = reply->latency(); });
  start_latency_ = starts.latency();
  lsu_ = std::make_unique<LoadStoreUnit>(*env_.machine, static_cast<uint16_t>(index_), links);
  lsu_->set_events(env_.events);
  if (watches_l1_) lsu_->watch_l1();
  starts_ = &starts;
  starts_->publish_head(next_start_);
  reports_ = &reports;
}

void Sm::connect_fetch(const InstructionFetch::Links& links) {
  fetch_ =
      std::make_unique<InstructionFetch>(*env_.machine, static_cast<uint16_t>(index_), links, env_.events);
}

inline void Sm::take_slot(uint32_t scheduler, uint32_t w, uint64_t now) {
  settle(scheduler, now);
  next_slot_[scheduler] = now / slot_cycles_ + 1;
  schedulers_[scheduler]->issued(w);
  enter(*warps_[w].kernel);
  issue(w, now);
  if (issue_width_ != 1) take_rest_of_slot(scheduler, w, now);
}

void Sm::take_rest_of_slot(uint32_t scheduler, uint32_t w, uint64_t now) {
  update_gates(now);
  if (schedulers_[scheduler]->can_issue(w, now)) {
    issue(w, now);
  } else {
    const uint64_t slot = now / slot_cycles_;
    const bool resident = (table_.resident() >> w & 1) != 0;
    book_wait(scheduler, resident ? static_cast<int>(w) : WarpScheduler::kNone, slot, slot + 1, 1);
  }
}

void Sm::plan_issue(uint64_t now) {
  if (changed_ == 0) return;
  const uint64_t from = slot_cycles_.up(now + 1) * issue_cycles_;
  for (uint32_t bits = changed_; bits != 0; bits &= bits - 1) {
    const auto s = static_cast<size_t>(std::countr_zero(bits));
    wake_[s] = schedulers_[s]->next_issue(from);
  }
  if (watches_l1_) wake_for_holds(from);
  changed_ = 0;
  next_issue_ = *std::min_element(wake_.begin(), wake_.begin() + scheduler_count_);
}

core::Cycle Sm::tick(core::Cycle cycle) {
  const uint64_t now = cycle.count();
  // 1. Replies: registers become ready, MSHRs and store-buffer entries free.
  lsu_->collect_replies(now, [this, now](uint32_t record) { complete_access(record, now); });
  if (fetch_ != nullptr)
    fetch_->collect([this, now](uint32_t w) {
      settle(warps_[w].scheduler, now);
      enter(*warps_[w].kernel);
      prepare_next(w, std::max(warps_[w].fetch_from, now), now);
    });
  // 2. One transaction to the interconnect, and one line of instructions asked for.
  lsu_->send(now);
  if (fetch_ != nullptr) fetch_->send(now);
  // 3. New blocks.
  while (next_start_ <= cycle) start_block(starts_->pop(), now);
  update_gates(now);
  // 4. Issue, in every slot in which some warp may be able to.
  if (now % slot_cycles_ == 0 && open_kernels_ != 0 && (changed_ != 0 || now >= next_issue_)) {
    table_.promote(now);
    const uint64_t slot = now / slot_cycles_;
    for (uint32_t s = 0; s < scheduler_count_; ++s) {
      if (next_slot_[s] > slot || (wake_[s] > now && (changed_ >> s & 1) == 0)) continue;
      changed_ |= 1u << s;
      const int w = schedulers_[s]->pick(now);
      if (w == WarpScheduler::kNone) continue;
      take_slot(s, static_cast<uint32_t>(w), now);
      update_gates(now);
    }
  }
  // 5. What leaves in the next cycles, as far as it is certain.
  lsu_->send_ahead(now);
  if (due_ != 0) report();
  plan_issue(now);
  // 6. Issue what concerns nobody else ahead of time. What the L1 does concerns a policy that watches it.
  if (env_.run_ahead && issue_width_ == 1 && !watches_l1_) run_ahead(now);
  // Sleep until the first warp can issue, a transaction may leave, or a message arrives.
  uint64_t next = std::min({next_issue_, lsu_->next_send(), lsu_->next_reply().count(), next_start_.count()});
  if (fetch_ != nullptr) next = std::min({next, fetch_->next_send(), fetch_->next_reply().count()});
  return core::Cycle(std::max(next, now + 1));
}

uint64_t Sm::undisturbed_until(uint64_t now) const {
  if (open_kernels_ == 0 || lsu_->may_open() || lsu_->has_unannounced() || fetching()) return now;
  return std::min(
      {lsu_->next_completion().count(), lsu_->next_send(), lsu_->next_surprise(now), foreseen_until(now)});
}

uint64_t Sm::foreseen_until(uint64_t now) const {
  // A message that is not in a link yet is seen after that link's latency at the earliest.
  const uint64_t start = std::min(next_start_.count(), env_.first_start(index_, now) + 1 + start_latency_);
  const uint64_t steady = std::min(domain().steady_until(), domain().observed_at()).count();
  return std::min({start, now + 1 + reply_latency_, steady});
}

bool Sm::is_local(const isa::MicroOp& op) {
  switch (op.kind) {
    case isa::OpKind::kAlu:
    case isa::OpKind::kSync:
      return op.op_class != isa::OpClass::kSpecial;
    case isa::OpKind::kLoad:
    case isa::OpKind::kStore:
    case isa::OpKind::kAtomic:
      return op.memory.space == isa::Space::kShared || op.memory.space == isa::Space::kParam;
    case isa::OpKind::kBranch:
    case isa::OpKind::kBarrier:
    case isa::OpKind::kNop:
      return true;
    default:
      return false;
  }
}

void Sm::run_ahead(uint64_t now) {
  // A block or a kernel that ends is reported in its own cycle.
  if (open_kernels_ != 0 && due_ == 0 && ending_blocks_ == 0 && lsu_->foresees())
    return run_ahead_with_memory(now);
  const uint64_t limit = undisturbed_until(now);
  while (next_issue_ < limit && !fetching())
    if (!issue_ahead(next_issue_)) return;
}

void Sm::run_ahead_with_memory(uint64_t now) {
  const uint64_t limit = foreseen_until(now);
  for (uint64_t cycle = now; lsu_->foresees();) {
    // What issues ahead is nothing to the load/store unit: its next cycle stays.
    const uint64_t memory = std::max(std::min(lsu_->next_send(), lsu_->next_reply().count()), cycle + 1);
    while (next_issue_ < std::min(memory, limit))
      if (fetching() || !issue_ahead(next_issue_)) return;
    cycle = memory;
    if (cycle >= limit || fetching()) return;
    lsu_->collect_replies(cycle, [this, cycle](uint32_t record) { complete_access(record, cycle); });
    lsu_->send_at(cycle);
    update_gates(cycle);
    plan_issue(cycle - 1);
    if (next_issue_ <= cycle && !issue_ahead(cycle)) return;
  }
}

bool Sm::issue_ahead(uint64_t cycle) {
  table_.promote(cycle);
  uint32_t s = 0;
  for (; s < scheduler_count_; ++s) {
    if (wake_[s] > cycle && (changed_ >> s & 1) == 0) continue;
    const int w = schedulers_[s]->pick(cycle);
    if (w != WarpScheduler::kNone && !is_local(*warps_[static_cast<size_t>(w)].op)) break;
    changed_ |= 1u << s;
    if (w != WarpScheduler::kNone) take_slot(s, static_cast<uint32_t>(w), cycle);
  }
  // The rest of the slot has to wait for the time to come, also where the others have changed something.
  for (uint32_t bits = changed_ >> s << s; bits != 0; bits &= bits - 1)
    wake_[static_cast<size_t>(std::countr_zero(bits))] = cycle;
  changed_ &= (1u << s) - 1;
  plan_issue(cycle);
  return s == scheduler_count_;
}

void Sm::update_gates(uint64_t now) {
  if (watches_l1_) update_holds(now);
  constexpr uint8_t kQueue =
      WarpTable::gate_bit(WarpTable::kLoadStoreQueue, true) | WarpTable::gate_bit(WarpTable::kLoads, true);
  const auto closed =
      static_cast<uint8_t>((lsu_->can_accept() ? 0 : kQueue) |
                           WarpTable::gate_bit(WarpTable::kConstantMisses, !lsu_->can_accept_constant()) |
                           WarpTable::gate_bit(WarpTable::kTexturePath, !lsu_->can_accept_texture()));
  if (closed == table_.closed_gates()) return;
  settle_all(now);
  table_.close_gates(closed);
}

void Sm::update_holds(uint64_t now) {
  for (const L1Cache::LineEvent& e : lsu_->l1_events()) {
    WarpScheduler& scheduler = *schedulers_[e.warp % scheduler_count_];
    if (e.evicted)
      scheduler.line_evicted(e.warp, e.line);
    else
      scheduler.line_missed(e.warp, e.line, now);
  }
  lsu_->forget_l1_events();
  uint64_t held = 0;
  for (uint32_t s = 0; s < scheduler_count_; ++s) {
    const IssuePolicy::Hold hold = schedulers_[s]->held_back(now);
    held |= hold.warps;
    if (hold.until != std::exchange(hold_until_[s], hold.until)) changed_ |= 1u << s;
  }
  if (held == table_.held()) return;
  settle_all(now);
  table_.hold(held);
}

void Sm::wake_for_holds(uint64_t from) {
  for (uint32_t s = 0; s < scheduler_count_; ++s)
    if (hold_until_[s] != kUnknownCycle)
      wake_[s] = std::min(wake_[s], std::max(from, slot_cycles_.up(hold_until_[s]) * issue_cycles_));
}

void Sm::book_empty(uint32_t scheduler, uint64_t end) {
  const uint64_t from = std::exchange(next_slot_[scheduler], end);
  book_wait(scheduler, schedulers_[scheduler]->candidate(), from, end, issue_width_);
}

void Sm::settle_all(uint64_t now) {
  for (uint32_t s = 0; s < scheduler_count_; ++s) settle(s, now);
}

void Sm::book_wait(uint32_t scheduler, int w, uint64_t from, uint64_t end, uint64_t width) {
  if (w == WarpScheduler::kNone) {
    book(scheduler, w, StallCause::kNoWarp, from, end, width);
    return;
  }
  const auto slot = static_cast<uint32_t>(w);
  const Warp& warp = warps_[slot];
  switch (warp.wait) {
    case WarpWait::kMemory:
      lsu_->record(warp.load).stall_slots += (end - from) * width;
      if (warp.kernel->events->stall != nullptr)
        open_stalls_.push_back(
            {warp.load, scheduler, from * issue_cycles_, end * issue_cycles_, slot, warp.stack.pc()});
      break;
    case WarpWait::kBarrier:
      book(scheduler, w, StallCause::kBarrier, from, end, width);
      break;
    case WarpWait::kFence:
      book(scheduler, w, StallCause::kFence, from, end, width);
      break;
    case WarpWait::kFetch:
      book(scheduler, w, StallCause::kInstructionFetch, from, end, width);
      break;
    case WarpWait::kNone: {
      const uint64_t ready = std::clamp(slot_cycles_.up(table_.ready_at(slot)), from, end);
      book(scheduler, w, table_.cause(slot), from, ready, width);
      book(scheduler, w, table_.throttle(slot), ready, end, width);
      break;
    }
  }
}

void Sm::book(uint32_t scheduler, int w, StallCause cause, uint64_t from_slot, uint64_t to_slot,
              uint64_t width) {
  if (from_slot >= to_slot) return;
  const uint64_t slots = (to_slot - from_slot) * width;
  if (w == WarpScheduler::kNone) {
    idle_slots_ += slots;
    return;
  }
  const Warp& warp = warps_[static_cast<size_t>(w)];
  const Kernel& kernel = *warp.kernel;
  const uint32_t pc = warp.stack.pc();
  kernel.stats->slots[static_cast<size_t>(cause)] += slots;
  kernel.run->pc[pc].slots[static_cast<size_t>(cause)] += slots;
  if (kernel.events->stall != nullptr)
    emit_stall(*kernel.events->stall, scheduler, cause, from_slot * issue_cycles_, to_slot * issue_cycles_,
               static_cast<uint32_t>(w), pc);
}

void Sm::emit_stall(core::EventTable& table, uint32_t scheduler, StallCause cause, uint64_t from, uint64_t to,
                    uint32_t warp, uint32_t pc) const {
  core::StallEvent e{};
  e.from = from;
  e.to = to;
  e.pc = pc;
  e.sm = static_cast<uint16_t>(index_);
  e.warp = static_cast<uint16_t>(warp);
  e.scheduler = static_cast<uint8_t>(scheduler);
  e.cause = static_cast<uint8_t>(cause);
  table.append(&e);
}

void Sm::complete_access(uint32_t index, uint64_t now) {
  const AccessRecord& r = lsu_->record(index);
  Warp& warp = warps_[r.warp];
  enter(*kernels_[r.kernel]);
  if (events_->memory != nullptr) {
    core::MemoryEvent e{};
    e.issue = r.issued;
    e.complete = std::min(now, r.done_at.count());
    e.address = r.first_address;
    e.bytes = r.bytes;
    e.pc = r.pc;
    e.sm = static_cast<uint16_t>(index_);
    e.warp = static_cast<uint16_t>(r.warp);
    e.transactions = static_cast<uint16_t>(r.transactions);
    e.block = static_cast<uint32_t>(blocks_[warp.block_slot].index);
    e.level = static_cast<uint8_t>(r.level);
    e.kind = static_cast<uint8_t>(r.op->kind == isa::OpKind::kAtomic  ? core::AccessKind::kAtomic
                                  : r.op->kind == isa::OpKind::kStore ? core::AccessKind::kStore
                                                                      : core::AccessKind::kLoad);
    events_->memory->append(&e);
  }
  if (r.is_store) {
    if (warp.wait == WarpWait::kFence && lsu_->outstanding_stores(r.warp) == 0) {
      settle(warp.scheduler, now);
      warp.wait = WarpWait::kNone;
      enter(*warp.kernel);  // a store may outlive its block
      prepare_next(r.warp, now, now);
    }
    return;
  }
  const StallCause cause = cause_of(r.level);
  for (uint32_t i = 0; i < r.op->num_sb_writes; ++i)
    scoreboard_.set_ready_at(r.warp, r.op->sb_writes[i], now, cause);
  if (barriers_ != nullptr) barriers_->complete(r.warp, index, now, cause);
  if (warp.wait == WarpWait::kMemory && warp.load == index) {
    settle(warp.scheduler, now);
    if (r.stall_slots != 0) {
      stats_->slots[static_cast<size_t>(cause)] += r.stall_slots;
      run_->pc[warp.stack.pc()].slots[static_cast<size_t>(cause)] += r.stall_slots;
      run_->pc[r.pc].awaited[static_cast<size_t>(cause)] += r.stall_slots;
    }
    if (!open_stalls_.empty())
      std::erase_if(open_stalls_, [&](const OpenStall& o) {
        if (o.record != index) return false;
        emit_stall(*events_->stall, o.scheduler, cause, o.from, o.to, o.warp, o.pc);
        return true;
      });
    prepare_next(r.warp, now, now);
  }
  Block& block = blocks_[warp.block_slot];
  --block.loads_in_flight;
  if (block.live_warps == 0 && block.loads_in_flight == 0) {
    --ending_blocks_;
    finish_block(warp.block_slot, now);
  }
}

std::string Sm::waiting_for() const {
  std::string text;
  uint32_t shown = 0;
  for (uint64_t bits = table_.resident(); bits != 0 && shown < 4; bits &= bits - 1, ++shown) {
    if (!text.empty()) text += "; ";
    text += waiting_for(warps_[static_cast<size_t>(std::countr_zero(bits))]);
  }
  if (text.empty() && lsu_ != nullptr && !lsu_->idle())
    text = fmt::format("{} transactions without a reply, {} accesses queued", lsu_->mshrs_in_use(),
                       lsu_->queued());
  return text;
}

std::string Sm::waiting_for(const Warp& warp) const {
  const bool at_barrier = warp.wait == WarpWait::kBarrier;
  const char* what = at_barrier                       ? "waits at a barrier"
                     : warp.wait == WarpWait::kFence  ? "waits at a memory fence"
                     : warp.wait == WarpWait::kMemory ? "waits for memory"
                     : warp.wait == WarpWait::kFetch  ? "waits for its next instruction"
                                                      : "is ready";
  uint32_t pc = warp.stack.pc();
  isa::LaneMask lanes = at_barrier ? warp.at_barrier : warp.stack.mask();
  const isa::LaneMask alive = warp.stack.alive() | warp.groups.apart();
  isa::LaneMask missing = alive & ~lanes;
  std::string never = "never arrive: the barrier is divergent";
  if (at_barrier && lanes.none()) {
    const DivergentGroups::Waiting group = warp.groups.longest_waiting();
    pc = group.pc;
    lanes = group.lanes;
    missing = alive & ~lanes;
    if (group.at_sync) what = "waits at a .sync operation";
    never = "wait elsewhere";
  }
  std::string text = fmt::format("warp {} {}: {}", warp.context.warp_in_block, what,
                                 describe_location(*warp.kernel->run, pc, blocks_[warp.block_slot].index,
                                                   warp.context.warp_in_block, lanes.lowest() % 32));
  if (at_barrier && missing.any()) text += fmt::format(" (its lanes {:#010x} {})", missing.bits(), never);
  return text;
}

}  // namespace gpusim::comp
