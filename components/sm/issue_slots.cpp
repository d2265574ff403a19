#include "components/sm/issue_slots.h"

#include <fmt/format.h>

#include <utility>

namespace gpusim::comp {

IssueSlots::IssueSlots(SmState& sm, WarpTableIf& warps) : sm_(sm) {
  for (uint32_t s = 0; s < sm_.scheduler_count; ++s) {
    schedulers_[s] =
        std::make_unique<WarpScheduler>(fmt::format("scheduler{}", s).c_str(), sm_.env.machine->scheduler, s);
    schedulers_[s]->sm.bind(warps);
    watch_l1_ |= schedulers_[s]->watches_l1();
  }
  if (sm_.env.machine->scheduler.share_in_turn) pipes_in_turn_ = sm_.env.timing->shared_pipes;
  hold_until_.fill(kUnknownCycle);
  wake_.fill(kUnknownCycle);
}

void IssueSlots::open_kernel(uint64_t start) {
  if (sm_.open_kernels++ == 0) next_slot_.fill(start / sm_.slot_cycles);
}

void IssueSlots::close_kernel(ResidentKernel& kernel) {
  const KernelLaunch& run = *kernel.run;
  if (sm_.open_kernels == 1) settle_all(run.end.count());
  --sm_.open_kernels;
  // Slots that have no warp of this kernel as their candidate: the SM has none, or it is another kernel's.
  const uint64_t width = uint64_t{sm_.scheduler_count} * sm_.issue_width;
  uint64_t other = (run.end - run.start) / sm_.slot_cycles * width;
  for (const uint64_t own : kernel.stats->slots) other -= own;
  const auto take = [&other](uint64_t slots) {
    const uint64_t taken = std::min(other, slots);
    other -= taken;
    return taken;
  };
  kernel.stats->slots[StallCause::kLaunch] = take(slots_before(run) * width);
  kernel.stats->slots[StallCause::kDrain] = take(slots_after(run) * width);
  kernel.stats->slots[StallCause::kNoWarp] = other;
}

uint64_t IssueSlots::slots_before(const KernelLaunch& run) const {
  return sm_.slot_cycles.up(std::min(run.first_block, run.end).count()) - run.start.count() / sm_.slot_cycles;
}

uint64_t IssueSlots::slots_after(const KernelLaunch& run) const {
  // The last block ends in the slot in which its last operation issues, or between two slots.
  const uint64_t over = run.last_block.count() / sm_.slot_cycles + 1;
  const uint64_t end = run.end.count() / sm_.slot_cycles;
  return end > over ? end - over : 0;
}

void IssueSlots::reset_policies() {
  for (uint32_t s = 0; s < sm_.scheduler_count; ++s) schedulers_[s]->reset();
}

void IssueSlots::plan(uint64_t now) {
  if (changed_ == 0) return;
  const uint64_t from = sm_.slot_cycles.up(now + 1) * sm_.issue_cycles;
  for (const uint32_t s : core::Bits(changed_))
    wake_[s] = schedulers_[s]->next_issue(std::max(from, next_slot_[s] * sm_.issue_cycles));
  if (watch_l1_) wake_for_holds(from);
  changed_ = 0;
  next_issue_ = *std::min_element(wake_.begin(), wake_.begin() + sm_.scheduler_count);
}

void IssueSlots::update_gates(uint64_t now) {
  if (watch_l1_) update_holds(now);
  constexpr uint8_t kQueue =
      WarpTable::gate_bit(WarpTable::kLoadStoreQueue, true) | WarpTable::gate_bit(WarpTable::kLoads, true);
  const LoadStoreUnit& lsu = *sm_.lsu;
  const auto closed =
      static_cast<uint8_t>((lsu.can_accept() ? 0 : kQueue) |
                           WarpTable::gate_bit(WarpTable::kConstantMisses, !lsu.can_accept_constant()) |
                           WarpTable::gate_bit(WarpTable::kTexturePath, !lsu.can_accept_texture()));
  if (closed == sm_.table.closed_gates()) return;
  settle_all(now);
  sm_.table.close_gates(closed);
}

void IssueSlots::update_holds(uint64_t now) {
  for (const L1Cache::LineEvent& e : sm_.lsu->l1_events()) {
    WarpScheduler& scheduler = *schedulers_[sm_.warps[e.warp].scheduler];
    if (e.evicted)
      scheduler.line_evicted(e.warp, e.line);
    else
      scheduler.line_missed(e.warp, e.line, now);
  }
  sm_.lsu->forget_l1_events();
  uint64_t held = 0;
  for (uint32_t s = 0; s < sm_.scheduler_count; ++s) {
    const IssuePolicy::Hold hold = schedulers_[s]->held_back(now);
    held |= hold.warps;
    if (hold.until != std::exchange(hold_until_[s], hold.until)) changed_ |= 1u << s;
  }
  if (held == sm_.table.held()) return;
  settle_all(now);
  sm_.table.hold(held);
}

void IssueSlots::wake_for_holds(uint64_t from) {
  for (uint32_t s = 0; s < sm_.scheduler_count; ++s)
    if (hold_until_[s] != kUnknownCycle)
      wake_[s] = std::min(wake_[s], std::max(from, sm_.slot_cycles.up(hold_until_[s]) * sm_.issue_cycles));
}

void IssueSlots::settle_all(uint64_t now) {
  for (uint32_t s = 0; s < sm_.scheduler_count; ++s) settle(s, now);
}

void IssueSlots::book_empty(uint32_t scheduler, uint64_t end) {
  const uint64_t from = std::exchange(next_slot_[scheduler], end);
  book_wait(schedulers_[scheduler]->candidate(), {scheduler, from, end, sm_.issue_width});
}

void IssueSlots::book_wait(int candidate, const Stretch& stretch) {
  if (candidate == WarpScheduler::kNone) {
    idle_ += stretch.slots();
    return;
  }
  const auto w = static_cast<uint32_t>(candidate);
  const ResidentWarp& warp = sm_.warps[w];
  switch (warp.wait) {
    case WarpWait::kMemory:
      sm_.lsu->record(warp.load).stall_slots += stretch.slots();
      if (warp.kernel->events->stall != nullptr)
        open_stalls_.push_back({warp.load, stretch.scheduler, stretch.from * sm_.issue_cycles,
                                stretch.to * sm_.issue_cycles, w, warp.stack.pc()});
      break;
    case WarpWait::kBarrier:
      book(w, StallCause::kBarrier, stretch);
      break;
    case WarpWait::kFence:
    case WarpWait::kCopies:
      book(w, StallCause::kFence, stretch);
      break;
    case WarpWait::kFetch:
      book(w, StallCause::kInstructionFetch, stretch);
      break;
    case WarpWait::kNone: {
      const uint64_t ready = std::clamp(sm_.slot_cycles.up(sm_.table.ready_at(w)), stretch.from, stretch.to);
      book(w, sm_.table.cause(w), {stretch.scheduler, stretch.from, ready, stretch.width});
      book(w, sm_.table.throttle(w), {stretch.scheduler, ready, stretch.to, stretch.width});
      break;
    }
  }
}

void IssueSlots::book(uint32_t w, StallCause cause, const Stretch& stretch) {
  const uint64_t slots = stretch.slots();
  if (slots == 0) return;
  const ResidentWarp& warp = sm_.warps[w];
  const ResidentKernel& kernel = *warp.kernel;
  kernel.stats->slots[cause] += slots;
  warp.at().slots[cause] += slots;
  if (kernel.events->stall != nullptr)
    emit_stall(*kernel.events->stall, cause,
               {0, stretch.scheduler, stretch.from * sm_.issue_cycles, stretch.to * sm_.issue_cycles, w,
                warp.stack.pc()});
}

void IssueSlots::book_access(uint32_t w, uint32_t record, StallCause cause) {
  const ResidentWarp& warp = sm_.warps[w];
  const ResidentKernel& kernel = *warp.kernel;
  const AccessRecord& r = sm_.lsu->record(record);
  if (r.stall_slots != 0) {
    kernel.stats->slots[cause] += r.stall_slots;
    warp.at().slots[cause] += r.stall_slots;
    kernel.at[r.pc].awaited[cause] += r.stall_slots;
  }
  if (open_stalls_.empty()) return;
  std::erase_if(open_stalls_, [&](const OpenStall& stall) {
    if (stall.record != record) return false;
    emit_stall(*kernel.events->stall, cause, stall);
    return true;
  });
}

void IssueSlots::emit_stall(core::EventTable<core::StallEvent>& table, StallCause cause,
                            const OpenStall& stall) const {
  table.append({.from = stall.from,
                .to = stall.to,
                .pc = stall.pc,
                .sm = sm_.index,
                .warp = stall.warp,
                .scheduler = stall.scheduler,
                .cause = static_cast<uint8_t>(cause)});
}

}  // namespace gpusim::comp
