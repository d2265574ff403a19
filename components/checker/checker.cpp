#include "components/checker/checker.h"

#include <algorithm>

namespace gpusim::comp {

namespace {
/// From this compute capability on, lanes of one warp need a barrier to be ordered.
constexpr int kIndependentLanes = 70;
}  // namespace

Checker::Checker(const CheckOptions& options, std::string ptx_name, int64_t capability)
    : shared_{options, {}, FindingLog(std::move(ptx_name))}, capability_(capability) {}

void Checker::observe(isa::KernelImage& image) {
  kernels_.emplace(&image, std::make_unique<KernelChecks>(
                               image, shared_.options.memory || shared_.options.init, shared_.options.sync));
}

BlockChecks* Checker::begin_block(const KernelLaunch& run, uint64_t block) {
  if (idle_.empty()) idle_.push_back(std::make_unique<BlockChecks>(shared_));
  running_.push_back(std::move(idle_.back()));
  idle_.pop_back();
  const bool independent = capability_ >= kIndependentLanes && run.image->target_sm >= kIndependentLanes;
  running_.back()->begin(run, *kernels_.at(run.image), block, independent);
  return running_.back().get();
}

void Checker::end_block(BlockChecks* block) {
  const auto it = std::find_if(running_.begin(), running_.end(),
                               [block](const std::unique_ptr<BlockChecks>& b) { return b.get() == block; });
  idle_.push_back(std::move(*it));
  *it = std::move(running_.back());
  running_.pop_back();
}

void Checker::report_stuck_barriers() {
  for (const auto& block : running_) block->report_stuck();
}

}  // namespace gpusim::comp
