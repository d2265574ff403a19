#include "components/sm/resident_blocks.h"

#include <algorithm>

#include "components/checker/checker.h"

namespace gpusim::comp {

void ResidentBlocks::open_kernel(KernelLaunch& run) {
  while (kernels_.size() <= run.slot) kernels_.push_back(std::make_unique<ResidentKernel>());
  ResidentKernel& kernel = *kernels_[run.slot];
  kernel.run = &run;
  kernel.ops = run.image->ops.data();
  kernel.at = run.pc.data();
  kernel.stats = &run.sm[sm_.index];
  kernel.residence = &run.residence[sm_.index];
  kernel.events = &run.events;
  kernel.configured = false;
  sm_.cluster_kernels += run.has_clusters();
  slots_.open_kernel(run.start.count());
}

void ResidentBlocks::close_kernel(const KernelLaunch& run) {
  slots_.close_kernel(*kernels_[run.slot]);
  sm_.cluster_kernels -= run.has_clusters();
  // A later launch may lie where this one has.
  for (ResidentBlock& block : sm_.blocks)
    if (block.run == &run) block.run = nullptr;
}

void ResidentBlocks::configure(ResidentKernel& kernel, bool alone) {
  kernel.configured = true;
  sm_.warps.resize(kMaxWarps);
  sm_.blocks.resize(kMaxWarps);
  sm_.lsu->prepare();
  sm_.lsu->count_l1(kernel.run->slot, kernel.stats->l1);
  if (!kernel.storage.configure(*kernel.run, *sm_.env.arena))
    sm_.env.on_error({"the host has no memory for the kernel's local memory"});
  if (alone) sm_.dependences.configure(*kernel.run->image);
}

void ResidentBlocks::start_block(const BlockStart& start, uint64_t now) {
  slots_.settle_all(now);
  sm_.last_event = now;
  KernelLaunch& run = *start.run;
  ResidentKernel& kernel = *kernels_[run.slot];
  if (start.fresh) {
    slots_.reset_policies();
    sm_.lsu->invalidate_caches(run.l1_ways);
  }
  // An SM that gets no block of a kernel needs no storage for it.
  if (!kernel.configured) configure(kernel, block_slots_ == 0);
  // Another kernel may have found the SM empty since.
  sm_.dependences.widen(*run.image);
  // The dispatcher never starts more than fit.
  const uint32_t slot = core::lowest_clear_bit(block_slots_);
  block_slots_ |= uint64_t{1} << slot;
  ResidentBlock& block = sm_.blocks[slot];
  const uint32_t previous = block.run == &run ? static_cast<uint32_t>(block.index) : ~0u;
  block = ResidentBlock{};
  block.kernel = &kernel;
  block.run = &run;
  block.place = core::lowest_clear_bit(kernel.places);
  block.index = start.block;
  block.control.live_threads = run.threads_per_block;
  block.live_warps = run.warps_per_block;
  block.start = block.phase_start = now;
  block.stored_at = 0;
  run.first_block = std::min(run.first_block, core::Cycle(now));
  if (sm_.env.checker != nullptr) block.control.checks = sm_.env.checker->begin_block(run, start.block);
  count_residence(kernel, now);
  ++kernel.stats->blocks;
  kernel.stats->warps += run.warps_per_block;
  kernel.places |= uint64_t{1} << block.place;
  ++kernel.blocks;
  kernel.residence->warps += run.warps_per_block;
  undrained_ += !kernel.undrained;
  kernel.undrained = true;
  update_due(kernel);
  std::byte* const shared = kernel.storage.shared(block.place);
  if (start.cluster != nullptr) {
    const uint32_t rank = run.rank_of(start.block);
    block.control.join_cluster(*start.cluster, rank, run.warps_per_block, shared);
    start.cluster->places[rank] = {sm_.index, slot};
  }
  for (uint32_t i = 0; i < run.warps_per_block; ++i) {
    const uint32_t w = core::lowest_clear_bit(warp_slots_);
    warp_slots_ |= uint64_t{1} << w;
    block.warps |= uint64_t{1} << w;
    start_warp(w, slot, i, shared, now);
  }
  if (kernel.events->slot != nullptr) {
    kernel.events->slot->append(
        {.time = now, .previous = previous, .next = start.block, .sm = sm_.index, .slot = slot});
  }
}

void ResidentBlocks::start_warp(uint32_t w, uint32_t slot, uint32_t warp_in_block, std::byte* shared,
                                uint64_t now) {
  ResidentWarp& warp = sm_.warps[w];
  const ResidentBlock& block = sm_.blocks[slot];
  const KernelLaunch& run = *block.run;
  isa::WarpContext& ctx = warp.context;
  block.kernel->storage.bind(block.place, warp_in_block, ctx);
  ctx.bank[1] = const_cast<std::byte*>(run.literal_rows());
  set_thread_indices(run, block.index, warp_in_block, ctx);
  ctx.sm = sm_.index;
  ctx.num_sms = sm_.env.num_sms;
  ctx.warp_slot = w;
  ctx.global = sm_.env.memory;
  ctx.shared = shared;
  ctx.shared_bytes = run.shared_bytes;
  ctx.params = run.params.data();
  ctx.param_bytes = static_cast<uint32_t>(run.params.size());
  if (block.control.cluster != nullptr) ctx.cluster = &block.control.cluster->memory;
  ctx.defers_arrivals = true;
  ctx.observer = block.control.checks == nullptr ? nullptr : block.control.checks->warp(warp_in_block);
  warp.kernel = block.kernel;
  warp.stack.reset(ctx.existing);
  warp.groups.reset();
  warp.watch.reset();
  warp.at_barrier = isa::LaneMask();
  warp.block_slot = slot;
  warp.wait = WarpWait::kNone;
  warp.operations = 0;
  warp.remote_until = 0;
  warp.matrices = {};
  warp.subroutine = {};
  warp.scheduler = static_cast<uint8_t>(sm_.env.machine->scheduler.of_slot(w));
  warp.timing = sm_.env.timing->of_scheduler[warp.scheduler].data();
  sm_.dependences.reset_warp(w);
  sm_.copies.reset_warp(w);
  sm_.lsu->set_kernel(w, run.slot);
  sm_.table.add(w, next_age_++);
  slots_.started(w);
  if (sm_.fetch != nullptr) sm_.fetch->reset(w);
  front_end_.prepare(w, now + sm_.issue_cycles, now);
}

void ResidentBlocks::count_residence(ResidentKernel& kernel, uint64_t now) {
  Residence& here = *kernel.residence;
  const uint64_t cycles = now - here.counted_until;
  kernel.stats->active_warp_cycles += here.warps * cycles;
  kernel.stats->active_cycles += here.warps != 0 ? cycles : 0;
  here.counted_until = now;
}

void ResidentBlocks::end_warp(uint32_t w, uint64_t now) {
  ResidentWarp& warp = sm_.warps[w];
  ResidentBlock& block = sm_.block_of(warp);
  block.longest_warp = std::max(block.longest_warp, warp.operations);
  count_residence(*warp.kernel, now);
  --warp.kernel->residence->warps;
  sm_.table.remove(w);
  --block.live_warps;
  if (block.live_warps == 0 && block.loads_in_flight != 0) ++ending_blocks_;
  if (block.loads_in_flight != 0) sm_.lsu->await_all(w);
}

void ResidentBlocks::load_ends(uint32_t block_slot, uint64_t now) {
  ResidentBlock& block = sm_.blocks[block_slot];
  --block.loads_in_flight;
  if (block.live_warps != 0 || block.loads_in_flight != 0) return;
  --ending_blocks_;
  finish(block_slot, now);
}

void ResidentBlocks::finish_if_done(uint32_t block_slot, uint64_t now) {
  const ResidentBlock& block = sm_.blocks[block_slot];
  if (block.live_warps == 0 && block.loads_in_flight == 0) finish(block_slot, now);
}

void ResidentBlocks::finish(uint32_t slot, uint64_t now) {
  ResidentBlock& block = sm_.blocks[slot];
  ResidentKernel& kernel = *block.kernel;
  kernel.run->last_block = std::max(kernel.run->last_block, core::Cycle(now));
  block_slots_ &= ~(uint64_t{1} << slot);
  warp_slots_ &= ~block.warps;
  kernel.places &= ~(uint64_t{1} << block.place);
  --kernel.blocks;
  ++kernel.finished;
  update_due(kernel);
  // Other blocks of the cluster may still wait for what this one has asked for.
  for (const uint32_t w : core::Bits(block.warps))
    sm_.copies.end_all(w, [&](const isa::Arrival& a) { isa::complete_arrival(sm_.warps[w].context, a); });
  if (Cluster* const cluster = block.control.cluster; cluster != nullptr) {
    if (cluster->end_block(block.control.cluster_rank)) kernel.run->clusters.end(*cluster);
    block.control.forget_cluster();
  }
  if (block.control.checks != nullptr) sm_.env.checker->end_block(block.control.checks);
  kernel.stats->longest_warps += block.longest_warp;
  kernel.stats->longest_warp = std::max<uint64_t>(kernel.stats->longest_warp, block.longest_warp);
  block.end_phase(now);
  if (kernel.events->block != nullptr) {
    kernel.events->block->append(
        {.start = block.start, .end = now, .block = block.index, .sm = sm_.index, .slot = slot});
  }
}

void ResidentBlocks::update_due(ResidentKernel& kernel) {
  const bool due = kernel.finished != 0 || (kernel.undrained && kernel.blocks == 0);
  due_ += static_cast<uint32_t>(due) - static_cast<uint32_t>(kernel.due);
  kernel.due = due;
}

bool ResidentBlocks::is_drained(const ResidentKernel& kernel) const {
  if (kernel.blocks != 0 || sm_.lsu->outstanding(kernel.run->slot) != 0) return false;
  // Lines that are written back are nobody's: the last kernel here waits for them.
  return undrained_ > 1 || sm_.lsu->idle();
}

void ResidentBlocks::report(core::Link<SmReport>& reports) {
  for (const auto& kernel : kernels_) {
    if (!kernel->due) continue;
    const bool drained = is_drained(*kernel);
    if (kernel->finished == 0 && !drained) continue;
    if (!reports.can_push()) return;
    reports.push({static_cast<uint16_t>(sm_.index), static_cast<uint16_t>(kernel->finished), drained,
                  static_cast<uint8_t>(kernel->run->slot)});
    kernel->finished = 0;
    undrained_ -= drained;
    kernel->undrained = !drained;
    update_due(*kernel);
  }
}

}  // namespace gpusim::comp
