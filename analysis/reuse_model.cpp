#include "analysis/reuse_model.h"

#include <algorithm>
#include <memory>

#include "analysis/reuse_memory.h"
#include "analysis/reuse_sm.h"

namespace gpusim::analysis {
namespace {

/// The SMs of a pass and the blocks that are left for them.
class Grid {
 public:
  Grid(const ReuseMachine& machine, const WarpTrace& trace, ReuseMemory& memory, int64_t only_sm)
      : machine_(machine), blocks_(trace.header().blocks), stride_(only_sm < 0 ? 1 : machine.sms) {
    next_block_ = only_sm < 0 ? 0 : static_cast<uint64_t>(only_sm);
    const uint32_t count = only_sm < 0 ? machine.sms : 1;
    for (uint32_t i = 0; i < count; ++i)
      sms_.push_back(std::make_unique<ReuseSm>(machine, trace, memory, i));
  }

  void run() {
    // One block a cycle, to the SMs in turn while one has room.
    double now = 0;
    for (bool started = true; started;) {
      started = false;
      for (auto& sm : sms_) {
        if (next_block_ >= blocks_ || !sm->has_room()) continue;
        start(*sm, now++);
        started = true;
      }
    }
    std::vector<double> next;
    for (const auto& sm : sms_) next.push_back(sm->next_event());
    for (;;) {
      const auto first = static_cast<size_t>(std::ranges::min_element(next) - next.begin());
      if (next[first] == ReuseSm::kNever) return;
      ReuseSm& sm = *sms_[first];
      if (sm.step() && next_block_ < blocks_) start(sm, sm.now());
      next[first] = sm.next_event();
    }
  }
  [[nodiscard]] const std::vector<std::unique_ptr<ReuseSm>>& sms() const { return sms_; }

 private:
  void start(ReuseSm& sm, double at) {
    sm.start(next_block_, at + machine_.block_start_cycles);
    next_block_ += stride_;
  }
  const ReuseMachine& machine_;
  uint64_t blocks_, stride_, next_block_ = 0;
  std::vector<std::unique_ptr<ReuseSm>> sms_;
};

}  // namespace

ReuseRun run_reuse(const core::MachineConfig& config, const WarpTrace& trace, const ReuseOptions& options) {
  ReuseMachine machine = reuse_machine(config, trace.header());
  machine.with = options.with;
  const bool one = options.only_sm >= 0;
  ReuseMemory memory(config, one ? 1 : machine.sms, one ? 1.0 / machine.sms : 1.0);
  Grid grid(machine, trace, memory, options.only_sm);
  grid.run();
  ReuseRun run;
  run.distances.assign(64, 0);
  for (const auto& sm : grid.sms()) {
    run.global += sm->l1().global();
    run.local += sm->l1().local();
    run.limited |= sm->l1().limited();
    run.cycles = std::max(run.cycles, sm->now());
    for (size_t i = 0; i < run.distances.size(); ++i) run.distances[i] += sm->l1().distances()[i];
  }
  run.l2_sectors = memory.counts().reads;
  run.l2_hits = memory.counts().read_hits;
  return run;
}

ReusePrediction predict_reuse(const core::MachineConfig& config, const WarpTrace& trace,
                              const ReuseOptions& options) {
  ReusePrediction p;
  p.run = run_reuse(config, trace, options);
  ReuseOptions unlimited = options;
  unlimited.with.mshrs = false;
  p.kinds = p.run.limited ? run_reuse(config, trace, unlimited).global : p.run.global;
  p.mshr = static_cast<int64_t>(p.run.global.misses()) - static_cast<int64_t>(p.kinds.misses());
  return p;
}

}  // namespace gpusim::analysis
