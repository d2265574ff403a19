#include "components/block_dispatcher.h"

#include <fmt/format.h>

#include <algorithm>

namespace gpusim::comp {

BlockDispatcher::BlockDispatcher(const sc_core::sc_module_name& name, core::ClockDomain& domain,
                                 uint64_t launch_cycles, uint64_t issue_cycles)
    : Clocked(name, domain), launch_cycles_(launch_cycles), issue_cycles_(issue_cycles) {
  wake_at(core::Cycle(1));
}

void BlockDispatcher::connect_sm(uint32_t sm, core::Link<BlockStart>& starts, core::Link<SmReport>& reports) {
  ports_.push_back({sm, &starts, &reports});
}

core::Cycle BlockDispatcher::tick(core::Cycle cycle) {
  const uint64_t now = cycle.count();
  // 1. Reports of SMs, 2. the end of a kernel, 3. the start of the next, 4. one block.
  collect_reports();
  if (current_ != nullptr && finished()) {
    current_->end = core::Cycle((now + issue_cycles_ - 1) / issue_cycles_ * issue_cycles_);
    hooks_.end(*current_);
    current_ = nullptr;
  }
  if (current_ == nullptr) {
    if (now < copy_until_) return core::Cycle(copy_until_);
    if (next_launch_ == queue_.size()) {
      hooks_.all_done();
      return core::kNever;
    }
    if (queue_[next_launch_].run == nullptr) {
      copy_until_ = now + std::max<uint64_t>(queue_[next_launch_++].copy_cycles, 1);
      return core::Cycle(copy_until_);
    }
    begin_next(now);
  }
  if (now < dispatch_from_) return core::Cycle(dispatch_from_);
  const bool dispatched = dispatch_one();
  uint64_t next = dispatched && next_block_ < current_->num_blocks ? now + 1 : core::kNever.count();
  for (const Port& p : ports_) next = std::min(next, p.reports->next_visible().count());
  return core::Cycle(next);
}

void BlockDispatcher::begin_next(uint64_t now) {
  current_ = queue_[next_launch_++].run;
  next_block_ = finished_blocks_ = 0;
  next_port_ = 0;
  current_->start = core::Cycle((now + issue_cycles_ - 1) / issue_cycles_ * issue_cycles_);
  dispatch_from_ = current_->start.count() + launch_cycles_;
  hooks_.begin(*current_);
}

void BlockDispatcher::collect_reports() {
  for (Port& p : ports_) {
    while (p.reports->front() != nullptr) {
      const SmReport r = p.reports->pop();
      p.resident -= r.blocks_finished;
      p.drained = r.drained;
      finished_blocks_ += r.blocks_finished;
    }
  }
}

bool BlockDispatcher::dispatch_one() {
  if (next_block_ >= current_->num_blocks) return false;
  const auto count = static_cast<uint32_t>(ports_.size());
  for (uint32_t step = 0; step < count; ++step) {
    Port& p = ports_[(next_port_ + step) % count];
    if (p.resident >= current_->blocks_per_sm || !p.starts->can_push()) continue;
    p.starts->push({current_, next_block_++});
    ++p.resident;
    p.drained = false;
    next_port_ = (next_port_ + step + 1) % count;
    return true;
  }
  return false;
}

bool BlockDispatcher::finished() const {
  return finished_blocks_ == current_->num_blocks &&
         std::all_of(ports_.begin(), ports_.end(), [](const Port& p) { return p.drained; });
}

std::string BlockDispatcher::waiting_for() const {
  if (current_ == nullptr) return {};
  return fmt::format("kernel '{}': {} of {} blocks started, {} finished", current_->image->name, next_block_,
                     current_->num_blocks, finished_blocks_);
}

}  // namespace gpusim::comp
