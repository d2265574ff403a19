// Kernels and blocks on an SM: a block's start, phases and end, and what the dispatcher is told of it.
#include <algorithm>
#include <bit>

#include "components/checker/checker.h"
#include "components/sm/sm.h"

namespace gpusim::comp {

void Sm::open_kernel(KernelLaunch& run) {
  while (kernels_.size() <= run.slot) kernels_.push_back(std::make_unique<Kernel>());
  Kernel& kernel = *kernels_[run.slot];
  kernel.run = &run;
  kernel.stats = &run.sm[index_];
  kernel.events = &run.events;
  kernel.configured = false;
  if (open_kernels_++ != 0) return;
  for (uint64_t& slot : next_slot_) slot = run.start.count() / slot_cycles_;
}

void Sm::close_kernel(const KernelLaunch& run) {
  if (open_kernels_ == 1) settle_all(run.end.count());
  --open_kernels_;
  // Slots that have no warp of this kernel as their candidate: the SM has none, or it is another kernel's.
  auto& slots = kernels_[run.slot]->stats->slots;
  uint64_t other = (run.end - run.start) / slot_cycles_ * scheduler_count_ * issue_width_;
  for (const uint64_t own : slots) other -= own;
  slots[static_cast<size_t>(StallCause::kNoWarp)] = other;
}

void Sm::configure(Kernel& kernel, bool fresh) {
  const isa::KernelImage& image = *kernel.run->image;
  kernel.configured = true;
  warps_.resize(kMaxWarps);
  blocks_.resize(kMaxWarps);
  lsu_->prepare();
  lsu_->count_l1(kernel.run->slot, kernel.stats->l1);
  if (!kernel.storage.configure(*kernel.run, *env_.arena))
    env_.on_error("the host has no memory for the kernel's local memory");
  if (fresh) scoreboard_.configure(kMaxWarps, image.num_rows + image.num_predicates);
}

void Sm::start_block(const BlockStart& start, uint64_t now) {
  settle_all(now);
  last_event_ = now;
  KernelLaunch& run = *start.run;
  Kernel& kernel = *kernels_[run.slot];
  enter(kernel);
  if (start.fresh) {
    for (uint32_t s = 0; s < scheduler_count_; ++s) schedulers_[s]->reset();
    lsu_->invalidate_caches(run.l1_ways);
  }
  // An SM that gets no block of a kernel needs no storage for it.
  if (!kernel.configured) configure(kernel, block_slots_ == 0);
  // Another kernel may have found the SM empty since.
  scoreboard_.widen(kMaxWarps, run.image->num_rows + run.image->num_predicates);
  // The dispatcher never starts more than fit.
  const auto slot = static_cast<uint32_t>(std::countr_one(block_slots_));
  block_slots_ |= uint64_t{1} << slot;
  Block& block = blocks_[slot];
  const uint32_t previous = block.run == &run ? static_cast<uint32_t>(block.index) : ~0u;
  block = Block{};
  block.kernel = &kernel;
  block.run = &run;
  block.place = static_cast<uint32_t>(std::countr_one(kernel.places));
  block.index = start.block;
  block.control.live_threads = run.threads_per_block;
  block.live_warps = run.warps_per_block;
  block.start = block.phase_start = now;
  if (env_.checker != nullptr) block.control.checks = env_.checker->begin_block(run, start.block);
  count_residence(kernel, now);
  ++kernel.stats->blocks;
  kernel.stats->warps += run.warps_per_block;
  kernel.places |= uint64_t{1} << block.place;
  ++kernel.blocks;
  kernel.warps += run.warps_per_block;
  undrained_ += !kernel.undrained;
  kernel.undrained = true;
  update_due(kernel);
  std::byte* const shared = kernel.storage.shared(block.place);
  for (uint32_t i = 0; i < run.warps_per_block; ++i) {
    const auto w = static_cast<uint32_t>(std::countr_one(warp_slots_));
    warp_slots_ |= uint64_t{1} << w;
    block.warps |= uint64_t{1} << w;
    start_warp(w, slot, i, shared, now);
  }
  if (kernel.events->slot != nullptr) {
    core::SlotEvent e{};
    e.time = now;
    e.next = static_cast<uint32_t>(start.block);
    e.previous = previous;
    e.sm = static_cast<uint16_t>(index_);
    e.slot = static_cast<uint16_t>(slot);
    kernel.events->slot->append(&e);
  }
}

void Sm::start_warp(uint32_t w, uint32_t slot, uint32_t warp_in_block, std::byte* shared, uint64_t now) {
  Warp& warp = warps_[w];
  const Block& block = blocks_[slot];
  const KernelLaunch& run = *block.run;
  isa::WarpContext& ctx = warp.context;
  block.kernel->storage.bind(block.place, warp_in_block, ctx);
  ctx.bank[1] = const_cast<std::byte*>(run.literal_rows());
  set_thread_indices(run, block.index, warp_in_block, ctx);
  ctx.sm = index_;
  ctx.num_sms = env_.num_sms;
  ctx.warp_slot = w;
  ctx.global = env_.memory;
  ctx.shared = shared;
  ctx.shared_bytes = run.shared_bytes;
  ctx.params = run.params.data();
  ctx.param_bytes = static_cast<uint32_t>(run.params.size());
  ctx.observer = block.control.checks == nullptr ? nullptr : block.control.checks->warp(warp_in_block);
  warp.kernel = block.kernel;
  warp.stack.reset(ctx.existing);
  warp.groups.reset();
  warp.watch.reset();
  warp.at_barrier = isa::LaneMask();
  warp.block_slot = slot;
  warp.wait = WarpWait::kNone;
  warp.operations = 0;
  warp.scheduler = static_cast<uint8_t>(w % scheduler_count_);
  warp.timing = env_.timing->of_scheduler[warp.scheduler].data();
  scoreboard_.reset_warp(w);
  lsu_->set_kernel(w, run.slot);
  table_.add(w, next_age_++);
  schedulers_[warp.scheduler]->started(w);
  if (fetch_ != nullptr) fetch_->reset(w);
  warp.barrier_waits = 0;
  if (barriers_ != nullptr) barriers_->reset(w);
  prepare_next(w, now + issue_cycles_, now);
}

void Sm::count_residence(Kernel& kernel, uint64_t now) {
  const uint64_t cycles = now - kernel.counted_until;
  kernel.stats->active_warp_cycles += kernel.warps * cycles;
  kernel.stats->active_cycles += kernel.warps != 0 ? cycles : 0;
  kernel.counted_until = now;
}

void Sm::remove_warp(uint32_t w, uint64_t now) {
  Kernel& kernel = *warps_[w].kernel;
  uint32_t& longest = blocks_[warps_[w].block_slot].longest_warp;
  longest = std::max(longest, warps_[w].operations);
  count_residence(kernel, now);
  --kernel.warps;
  table_.remove(w);
}

void Sm::finish_block(uint32_t slot, uint64_t now) {
  Block& block = blocks_[slot];
  Kernel& kernel = *block.kernel;
  block_slots_ &= ~(uint64_t{1} << slot);
  warp_slots_ &= ~block.warps;
  kernel.places &= ~(uint64_t{1} << block.place);
  --kernel.blocks;
  ++kernel.finished;
  update_due(kernel);
  if (block.control.checks != nullptr) env_.checker->end_block(block.control.checks);
  kernel.stats->longest_warps += block.longest_warp;
  kernel.stats->longest_warp = std::max<uint64_t>(kernel.stats->longest_warp, block.longest_warp);
  end_phase(block, now);
  if (kernel.events->block != nullptr) {
    core::BlockEvent e{};
    e.start = block.start;
    e.end = now;
    e.block = static_cast<uint32_t>(block.index);
    e.sm = static_cast<uint16_t>(index_);
    e.slot = static_cast<uint16_t>(slot);
    kernel.events->block->append(&e);
  }
}

void Sm::end_phase(Block& block, uint64_t now) {
  if (block.kernel->events->phase != nullptr) {
    core::PhaseEvent e{};
    e.block = static_cast<uint32_t>(block.index);
    e.start = block.phase_start;
    e.end = now;
    e.interval = block.phase;
    block.kernel->events->phase->append(&e);
  }
  ++block.phase;
  block.phase_start = now;
}

void Sm::update_due(Kernel& kernel) {
  const bool due = kernel.finished != 0 || (kernel.undrained && kernel.blocks == 0);
  due_ += static_cast<uint32_t>(due) - static_cast<uint32_t>(kernel.due);
  kernel.due = due;
}

bool Sm::is_drained(const Kernel& kernel) const {
  if (kernel.blocks != 0 || lsu_->outstanding(kernel.run->slot) != 0) return false;
  // Lines that are written back are nobody's: the last kernel here waits for them.
  return undrained_ > 1 || lsu_->idle();
}

void Sm::report() {
  for (const auto& kernel : kernels_) {
    if (!kernel->due) continue;
    const bool drained = is_drained(*kernel);
    if (kernel->finished == 0 && !drained) continue;
    if (!reports_->can_push()) return;
    reports_->push({static_cast<uint16_t>(index_), static_cast<uint16_t>(kernel->finished), drained,
                    static_cast<uint8_t>(kernel->run->slot)});
    kernel->finished = 0;
    undrained_ -= drained;
    kernel->undrained = !drained;
    update_due(*kernel);
  }
}

}  // namespace gpusim::comp
