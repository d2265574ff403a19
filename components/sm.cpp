// Blocks, books and replies of an SM; one operation's issue is in sm_issue.cpp.
#include "components/sm.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "components/checker/checker.h"

namespace gpusim::comp {

namespace {
constexpr size_t kRowBytes = 128;
}  // namespace

Sm::Sm(const sc_core::sc_module_name& name, core::ClockDomain& domain, uint32_t index,
       const SmEnvironment& environment)
    : Clocked(name, domain), index_(index), access_(*environment.access), env_(environment) {
  const core::MachineConfig& m = *env_.machine;
  issue_cycles_ = static_cast<uint64_t>(m.scheduler.issue_cycles);
  slot_cycles_ = core::Divisor(issue_cycles_);
  independent_ = m.gpu.compute_capability >= 70;
  issue_width_ = static_cast<uint64_t>(m.scheduler.issue_width);
  table_ = WarpTable(issue_cycles_, env_.timing->shared_pipes, env_.timing->own_pipes);
  shared_rules_ = {static_cast<uint32_t>(m.shared.banks), static_cast<uint32_t>(m.shared.bank_bytes),
                   static_cast<uint32_t>(m.shared.lanes_per_access)};
  const auto count = static_cast<uint32_t>(m.scheduler.count);
  for (uint32_t s = 0; s < count; ++s) {
    schedulers_.push_back(
        std::make_unique<WarpScheduler>(fmt::format("scheduler{}", s).c_str(), m.scheduler, s));
    schedulers_.back()->sm.bind(*this);
  }
  next_slot_.resize(count);
  wake_.resize(count, kUnknownCycle);
}

Sm::~Sm() {
  if (local_ != nullptr) munmap(local_, local_mapped_);
}

void Sm::connect(const LoadStoreUnit::Links& links, core::Link<BlockStart>& starts,
                 core::Link<SmReport>& reports) {
  reply_latency_ = links.reply->latency();
  start_latency_ = starts.latency();
  lsu_ = std::make_unique<LoadStoreUnit>(*env_.machine, static_cast<uint16_t>(index_), links);
  lsu_->set_events(env_.events);
  starts_ = &starts;
  starts_->publish_head(next_start_);
  reports_ = &reports;
}

core::Cycle Sm::tick(core::Cycle cycle) {
  const uint64_t now = cycle.count();
  // 1. Replies: registers become ready, MSHRs and store-buffer entries free.
  lsu_->collect_replies(now, [this, now](uint32_t record) { complete_access(record, now); });
  // 2. One transaction to the interconnect.
  lsu_->send(now);
  // 3. New blocks.
  while (next_start_ <= cycle) start_block(starts_->pop(), now);
  update_gates(now);
  // 4. Issue, in every slot in which some warp may be able to.
  if (now % slot_cycles_ == 0 && run_ != nullptr && (changed_ != 0 || now >= next_issue_)) {
    table_.promote(now);
    const uint64_t slot = now / slot_cycles_;
    for (uint32_t s = 0; s < schedulers_.size(); ++s) {
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
  report();
  plan_issue(now);
  // 6. Issue what concerns nobody else ahead of time.
  if (env_.run_ahead && issue_width_ == 1) run_ahead(now);
  // Sleep until the first warp can issue, a transaction may leave, or a message arrives.
  const uint64_t next =
      std::min({next_issue_, lsu_->next_send(), lsu_->next_reply().count(), next_start_.count()});
  return core::Cycle(std::max(next, now + 1));
}

uint64_t Sm::undisturbed_until(uint64_t now) const {
  if (run_ == nullptr || lsu_->may_open() || lsu_->constants_outstanding()) return now;
  // A message that is not in a link yet is seen after that link's latency at the earliest.
  const uint64_t reply = std::min(lsu_->next_completion().count(), now + 1 + reply_latency_);
  const uint64_t start = std::min(next_start_.count(), now + 1 + start_latency_);
  return std::min({reply, start, lsu_->next_send()});
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
  if (next_issue_ == kUnknownCycle) return;
  const uint64_t limit = undisturbed_until(now);
  while (next_issue_ < limit) {
    const uint64_t cycle = next_issue_;
    table_.promote(cycle);
    bool waits = false;
    for (uint32_t s = 0; s < schedulers_.size() && !waits; ++s) {
      if (wake_[s] > cycle) continue;
      const int w = schedulers_[s]->pick(cycle);
      // The rest of the slot has to wait for the time to come.
      waits = w != WarpScheduler::kNone && !is_local(*warps_[static_cast<size_t>(w)].op);
      if (waits) break;
      changed_ |= 1u << s;
      if (w != WarpScheduler::kNone) take_slot(s, static_cast<uint32_t>(w), cycle);
    }
    plan_issue(cycle);
    if (waits) return;
  }
}

void Sm::take_slot(uint32_t scheduler, uint32_t w, uint64_t now) {
  const uint64_t slot = now / slot_cycles_;
  settle(scheduler, now);
  next_slot_[scheduler] = slot + 1;
  schedulers_[scheduler]->issued(w);
  issue(w, now);
  if (issue_width_ == 1) return;
  update_gates(now);
  if (schedulers_[scheduler]->can_issue(w, now)) {
    issue(w, now);
  } else {
    const bool resident = (table_.resident() >> w & 1) != 0;
    book_wait(scheduler, resident ? static_cast<int>(w) : WarpScheduler::kNone, slot, slot + 1, 1);
  }
}

void Sm::plan_issue(uint64_t now) {
  if (changed_ == 0) return;
  const uint64_t from = slot_cycles_.up(now + 1) * issue_cycles_;
  next_issue_ = kUnknownCycle;
  for (uint32_t s = 0; s < schedulers_.size(); ++s) {
    if ((changed_ >> s & 1) != 0) wake_[s] = schedulers_[s]->next_issue(from);
    next_issue_ = std::min(next_issue_, wake_[s]);
  }
  changed_ = 0;
}

void Sm::update_gates(uint64_t now) {
  const bool queue = lsu_->can_accept(), constants = lsu_->can_accept_constant();
  if (queue == table_.is_open(WarpTable::kLoadStoreQueue) &&
      constants == table_.is_open(WarpTable::kConstantMisses))
    return;
  settle_all(now);
  table_.set_gate(WarpTable::kLoadStoreQueue, queue);
  table_.set_gate(WarpTable::kConstantMisses, constants);
}

void Sm::settle(uint32_t scheduler, uint64_t now) {
  changed_ |= 1u << scheduler;
  const uint64_t from = next_slot_[scheduler], end = slot_cycles_.up(now);
  if (from >= end || run_ == nullptr) return;
  next_slot_[scheduler] = end;
  book_wait(scheduler, schedulers_[scheduler]->candidate(), from, end, issue_width_);
}

void Sm::settle_all(uint64_t now) {
  for (uint32_t s = 0; s < schedulers_.size(); ++s) settle(s, now);
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
      if (env_.events->stall != nullptr)
        open_stalls_.push_back(
            {warp.load, scheduler, from * issue_cycles_, end * issue_cycles_, slot, warp.stack.pc()});
      break;
    case WarpWait::kBarrier:
      book(scheduler, w, StallCause::kBarrier, from, end, width);
      break;
    case WarpWait::kFence:
      book(scheduler, w, StallCause::kFence, from, end, width);
      break;
    case WarpWait::kNone: {
      const uint64_t ready = std::clamp(slot_cycles_.up(table_.ready_at(slot)), from, end);
      book(scheduler, w, table_.cause(slot), from, ready, width);
      book(scheduler, w, table_.throttled(slot) ? StallCause::kMemoryThrottle : StallCause::kPipeBusy, ready,
           end, width);
      break;
    }
  }
}

void Sm::book(uint32_t scheduler, int w, StallCause cause, uint64_t from_slot, uint64_t to_slot,
              uint64_t width) {
  if (from_slot >= to_slot) return;
  const uint64_t slots = (to_slot - from_slot) * width;
  stats_->slots[static_cast<size_t>(cause)] += slots;
  if (w == WarpScheduler::kNone) return;
  const uint32_t pc = warps_[static_cast<size_t>(w)].stack.pc();
  run_->pc[pc].slots[static_cast<size_t>(cause)] += slots;
  if (env_.events->stall != nullptr)
    emit_stall(scheduler, cause, from_slot * issue_cycles_, to_slot * issue_cycles_, static_cast<uint32_t>(w),
               pc);
}

void Sm::emit_stall(uint32_t scheduler, StallCause cause, uint64_t from, uint64_t to, uint32_t warp,
                    uint32_t pc) {
  core::StallEvent e{};
  e.from = from;
  e.to = to;
  e.pc = pc;
  e.sm = static_cast<uint16_t>(index_);
  e.warp = static_cast<uint16_t>(warp);
  e.scheduler = static_cast<uint8_t>(scheduler);
  e.cause = static_cast<uint8_t>(cause);
  env_.events->stall->append(&e);
}

void Sm::complete_access(uint32_t index, uint64_t now) {
  const AccessRecord& r = lsu_->record(index);
  Warp& warp = warps_[r.warp];
  if (env_.events->memory != nullptr) {
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
    e.level = recorded_level(r.level);
    e.kind = static_cast<uint8_t>(r.op->kind == isa::OpKind::kAtomic  ? core::AccessKind::kAtomic
                                  : r.op->kind == isa::OpKind::kStore ? core::AccessKind::kStore
                                                                      : core::AccessKind::kLoad);
    env_.events->memory->append(&e);
  }
  if (r.is_store) {
    if (warp.wait == WarpWait::kFence && lsu_->outstanding_stores(r.warp) == 0) {
      settle(warp.scheduler, now);
      warp.wait = WarpWait::kNone;
      prepare_next(r.warp, now, now);
    }
    return;
  }
  const StallCause cause = cause_of(r.level);
  for (uint32_t i = 0; i < r.op->num_sb_writes; ++i)
    scoreboard_.set_ready_at(r.warp, r.op->sb_writes[i], now, cause);
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
        emit_stall(o.scheduler, cause, o.from, o.to, o.warp, o.pc);
        return true;
      });
    prepare_next(r.warp, now, now);
  }
  Block& block = blocks_[warp.block_slot];
  --block.loads_in_flight;
  if (block.live_warps == 0 && block.loads_in_flight == 0) finish_block(warp.block_slot, now);
}

void Sm::open_kernel(KernelRun& run) {
  run_ = &run;
  stats_ = &run.sm[index_];
  for (uint64_t& slot : next_slot_) slot = run.start.count() / slot_cycles_;
  configured_ = false;
}

void Sm::close_kernel(const KernelRun& run) {
  // Without a block of this kernel, the cache still holds the counts of an earlier one.
  if (const L1Stats* l1 = lsu_->l1_stats(); l1 != nullptr && configured_) stats_->l1 = *l1;
  settle_all(run.end.count());
  run_ = nullptr;
}

void Sm::configure(KernelRun& run) {
  const isa::KernelImage& image = *run.image;
  const uint32_t warps = std::min(run.blocks_per_sm * run.warps_per_block, kMaxWarps);
  warps_.resize(kMaxWarps);
  lsu_->prepare();
  row_stride_ = size_t{image.num_rows} * kRowBytes;
  rows_ = registers_.reserve(*env_.arena, row_stride_ * warps);
  predicates_.assign(size_t{warps} * std::max(1u, image.num_predicates), 0);
  std::byte* const shared = shared_.reserve(*env_.arena, size_t{run.shared_bytes} * run.blocks_per_sm);
  scoreboard_.configure(warps, image.num_rows + image.num_predicates);
  if (local_ != nullptr) munmap(local_, local_mapped_);
  local_ = nullptr;
  if (image.local_bytes != 0) {
    local_mapped_ = size_t{image.local_bytes} * isa::kWarpSize * warps;
    void* p = mmap(nullptr, local_mapped_, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
      local_mapped_ = 0;
      env_.on_error("the host has no memory for the kernel's local memory");
      return;
    }
    local_ = static_cast<std::byte*>(p);
  }
  blocks_.assign(run.blocks_per_sm, Block{});
  for (uint32_t b = 0; b < run.blocks_per_sm; ++b) blocks_[b].shared = shared + size_t{run.shared_bytes} * b;
  for (const auto& s : schedulers_) s->reset();
  lsu_->invalidate_caches(run.l1_ways);
}

void Sm::start_block(const BlockStart& start, uint64_t now) {
  settle_all(now);
  last_event_ = now;
  KernelRun& run = *start.run;
  // An SM that gets no block of a kernel needs no storage for it.
  if (!configured_) configure(run);
  configured_ = true;
  uint32_t slot = 0;
  while (blocks_[slot].active) ++slot;  // the dispatcher never starts more than blocks_per_sm
  Block& block = blocks_[slot];
  std::byte* shared = block.shared;
  const uint32_t previous = block.previous;
  block = Block{};
  block.shared = shared;
  block.previous = static_cast<uint32_t>(start.block);
  block.active = true;
  block.index = start.block;
  block.live_threads = run.threads_per_block;
  block.live_warps = run.warps_per_block;
  block.start = block.phase_start = now;
  if (run.shared_bytes != 0) std::memset(shared, 0, run.shared_bytes);
  if (env_.checker != nullptr) block.checks = env_.checker->begin_block(run, start.block);
  if (table_.resident() == 0) last_active_update_ = now;
  stats_->active_warp_cycles += resident_warps() * (now - last_active_update_);
  stats_->active_cycles += resident_warps() != 0 ? now - last_active_update_ : 0;
  last_active_update_ = now;
  ++stats_->blocks;
  stats_->warps += run.warps_per_block;
  report_drained_ = true;
  const isa::KernelImage& image = *run.image;
  for (uint32_t i = 0; i < run.warps_per_block; ++i) {
    const uint32_t w = slot * run.warps_per_block + i;
    Warp& warp = warps_[w];
    isa::WarpContext& ctx = warp.context;
    ctx.bank[0] = rows_ + row_stride_ * w;
    ctx.bank[1] = const_cast<std::byte*>(run.literal_rows());
    ctx.predicates = &predicates_[size_t{w} * std::max(1u, image.num_predicates)];
    set_thread_indices(run, start.block, i, ctx);
    ctx.sm = index_;
    ctx.num_sms = env_.num_sms;
    ctx.warp_slot = w;
    ctx.global = env_.memory;
    ctx.shared = shared;
    ctx.shared_bytes = run.shared_bytes;
    ctx.local = local_ == nullptr ? nullptr : local_ + size_t{image.local_bytes} * isa::kWarpSize * w;
    ctx.local_bytes = image.local_bytes;
    ctx.params = run.params.data();
    ctx.param_bytes = static_cast<uint32_t>(run.params.size());
    ctx.observer = block.checks == nullptr ? nullptr : block.checks->warp(i);
    // Registers hold no defined value at start; zero keeps runs equal to each other.
    if (row_stride_ != 0) std::memset(ctx.bank[0], 0, row_stride_);
    std::fill_n(ctx.predicates, image.num_predicates, 0u);
    warp.stack.reset(ctx.existing);
    warp.groups.reset();
    warp.watch.reset();
    warp.at_barrier = isa::LaneMask();
    warp.block_slot = slot;
    warp.wait = WarpWait::kNone;
    warp.scheduler = static_cast<uint8_t>(w % schedulers_.size());
    warp.timing = env_.timing->of_scheduler[warp.scheduler].data();
    scoreboard_.reset_warp(w);
    table_.add(w, next_age_++);
    prepare_next(w, now + issue_cycles_, now);
  }
  if (env_.events->slot != nullptr) {
    core::SlotEvent e{};
    e.time = now;
    e.next = static_cast<uint32_t>(start.block);
    e.previous = previous;
    e.sm = static_cast<uint16_t>(index_);
    e.slot = static_cast<uint16_t>(slot);
    env_.events->slot->append(&e);
  }
}

void Sm::finish_block(uint32_t slot, uint64_t now) {
  Block& block = blocks_[slot];
  block.active = false;
  if (block.checks != nullptr) env_.checker->end_block(block.checks);
  ++pending_finished_;
  end_phase(block, now);
  if (env_.events->block != nullptr) {
    core::BlockEvent e{};
    e.start = block.start;
    e.end = now;
    e.block = static_cast<uint32_t>(block.index);
    e.sm = static_cast<uint16_t>(index_);
    e.slot = static_cast<uint16_t>(slot);
    env_.events->block->append(&e);
  }
}

void Sm::end_phase(Block& block, uint64_t now) {
  if (env_.events->phase != nullptr) {
    core::PhaseEvent e{};
    e.block = static_cast<uint32_t>(block.index);
    e.start = block.phase_start;
    e.end = now;
    e.interval = block.phase;
    env_.events->phase->append(&e);
  }
  ++block.phase;
  block.phase_start = now;
}

void Sm::report() {
  if (pending_finished_ == 0 && (!report_drained_ || table_.resident() != 0)) return;
  const bool drained = table_.resident() == 0 && lsu_->idle() &&
                       std::none_of(blocks_.begin(), blocks_.end(), [](const Block& b) { return b.active; });
  if (pending_finished_ == 0 && !(drained && report_drained_)) return;
  if (!reports_->can_push()) return;
  reports_->push({static_cast<uint16_t>(index_), static_cast<uint16_t>(pending_finished_), drained});
  pending_finished_ = 0;
  if (drained) report_drained_ = false;
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
                                                      : "is ready";
  uint32_t pc = warp.stack.pc();
  isa::LaneMask lanes = at_barrier ? warp.at_barrier : warp.stack.mask();
  const isa::LaneMask alive = warp.stack.alive() | warp.groups.apart();
  isa::LaneMask missing = alive & ~lanes;
  std::string never = "never arrive: the barrier is divergent";
  if (at_barrier && lanes.none()) {
    const LaneGroups::Waiting group = warp.groups.longest_waiting();
    pc = group.pc;
    lanes = group.lanes;
    missing = alive & ~lanes;
    if (group.at_sync) what = "waits at a .sync operation";
    never = "wait elsewhere";
  }
  std::string text = fmt::format("warp {} {}: {}", warp.context.warp_in_block, what,
                                 describe_location(*run_, pc, blocks_[warp.block_slot].index,
                                                   warp.context.warp_in_block, lanes.lowest() % 32));
  if (at_barrier && missing.any()) text += fmt::format(" (its lanes {:#010x} {})", missing.bits(), never);
  return text;
}

}  // namespace gpusim::comp
