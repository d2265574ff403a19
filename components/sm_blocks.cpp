// The life of a block on an SM: storage, start, phases, end, report.
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "components/checker/checker.h"
#include "components/sm.h"

namespace gpusim::comp {

namespace {
constexpr size_t kRowAlign = 128;
constexpr size_t kRowBytes = 128;
}  // namespace

void Sm::configure(KernelRun& run) {
  const isa::KernelImage& image = *run.image;
  const uint32_t warps = std::min(run.blocks_per_sm * run.warps_per_block, kMaxWarps);
  const auto allocate = [](size_t bytes) {
    return static_cast<std::byte*>(
        std::aligned_alloc(kRowAlign, (bytes + kRowAlign - 1) / kRowAlign * kRowAlign + kRowAlign));
  };
  warps_.resize(kMaxWarps);
  lsu_->prepare();
  row_stride_ = size_t{image.num_rows} * kRowBytes;
  registers_.reset(allocate(row_stride_ * warps));
  predicates_.assign(size_t{warps} * std::max(1u, image.num_predicates), 0);
  shared_.reset(allocate(size_t{run.shared_bytes} * run.blocks_per_sm));
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
  for (uint32_t b = 0; b < run.blocks_per_sm; ++b)
    blocks_[b].shared = shared_.get() + size_t{run.shared_bytes} * b;
  for (const auto& s : schedulers_) s->reset();
  lsu_->invalidate_caches(run.l1_ways);
}

void Sm::start_block(const BlockStart& start, uint64_t now) {
  settle(now);
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
    ctx.bank[0] = registers_.get() + row_stride_ * w;
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
    warp.timing = env_.timing->of_scheduler[w % schedulers_.size()].data();
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

}  // namespace gpusim::comp
