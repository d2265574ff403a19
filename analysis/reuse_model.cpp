#include "analysis/reuse_model.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "analysis/reuse_coalescer.h"
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
    for (uint32_t i = 0; i < count; ++i) sms_.push_back(std::make_unique<ReuseSm>(machine, trace, memory, i));
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
      if (sm.step() && next_block_ < blocks_) {
        if (stride_ > 1) vary_turn();
        if (next_block_ < blocks_) start(sm, sm.now());
      }
      next[first] = sm.next_event();
    }
  }
  [[nodiscard]] const std::vector<std::unique_ptr<ReuseSm>>& sms() const { return sms_; }

 private:
  /// The blocks that other SMs take between two of the modelled one: as many as there are other SMs in the
  /// mean, for blocks do not end in the order in which they began.
  void vary_turn() {
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    next_block_ = next_block_ - stride_ + 1 + (random_ >> 33) % (2 * stride_ - 1);
  }
  void start(ReuseSm& sm, double at) {
    sm.start(next_block_, at + machine_.block_start_cycles);
    next_block_ += stride_;
  }
  const ReuseMachine& machine_;
  uint64_t blocks_, stride_, next_block_ = 0, random_ = 1;
  std::vector<std::unique_ptr<ReuseSm>> sms_;
};

/// Of the lines that blocks running side by side on all SMs touch, the fraction that is not another's too:
/// lines of all of them / sum of each one's. From the first block of each SM.
double own_lines(const ReuseMachine& machine, const WarpTrace& trace) {
  LineTable all;
  uint64_t sum = 0;
  const uint64_t blocks = std::min<uint64_t>(machine.sms, trace.header().blocks);
  const ReuseCoalescer coalescer(machine.line);
  WarpStep step;
  LaneRuns runs;
  LineTransactions lines;
  for (uint64_t b = 0; b < blocks; ++b) {
    LineTable own;
    bool is_new = false;
    for (uint32_t w = 0; w < trace.header().block_warps; ++w)
      for (WarpCursor cursor = trace.warp(b, w); cursor.next(step, runs);) {
        if (step.kind != WarpStep::Kind::kAccess || step.local) continue;
        coalescer.coalesce(step, runs, 0, lines);
        for (const LineTransaction& t : lines) {
          own.number_of(t.line, is_new);
          all.number_of(t.line, is_new);
        }
      }
    sum += own.size();
  }
  return sum == 0 ? 1 : static_cast<double>(all.size()) / static_cast<double>(sum);
}

/// Lines that other SMs have too, if only one is modelled.
struct Neighbours {
  double own = 1;
  Neighbours(const core::MachineConfig& config, const WarpTrace& trace, const ReuseOptions& options) {
    if (options.only_sm >= 0) own = own_lines(reuse_machine(config, trace.header()), trace);
  }
};

ReuseRun run_pass(const core::MachineConfig& config, const WarpTrace& trace, const ReuseOptions& options,
                  const Neighbours& neighbours) {
  ReuseMachine machine = reuse_machine(config, trace.header());
  machine.with = options.with;
  const bool one = options.only_sm >= 0;
  ReuseMemory fresh =
      one ? ReuseMemory(config, 1, machine.sms, neighbours.own) : ReuseMemory(config, machine.sms);
  ReuseMemory& memory = options.memory != nullptr && !one ? *options.memory : fresh;
  memory.begin_kernel();
  if (!options.with.latency) machine.sets_at_once = options.sets_at_once;
  machine.most_ways = options.most_ways;
  Grid grid(machine, trace, memory, options.only_sm);
  grid.run();
  ReuseRun run;
  run.distances.assign(64, 0);
  run.hits_at_once.assign(machine.sets_at_once.size(), std::vector<uint64_t>(machine.most_ways, 0));
  for (const auto& sm : grid.sms()) {
    run.global += sm->l1().global();
    run.local += sm->l1().local();
    run.limited |= sm->l1().limited();
    run.cycles = std::max(run.cycles, sm->now());
    for (size_t i = 0; i < run.hits_at_once.size(); ++i)
      for (uint32_t w = 0; w < machine.most_ways; ++w)
        run.hits_at_once[i][w] += sm->l1().stacks()[i].hits(w + 1);
    for (size_t i = 0; i < run.distances.size(); ++i) run.distances[i] += sm->l1().distances()[i];
  }
  run.l2_sectors = memory.counts().reads;
  run.l2_hits = memory.counts().read_hits;
  return run;
}

}  // namespace

ReuseRun run_reuse(const core::MachineConfig& config, const WarpTrace& trace, const ReuseOptions& options) {
  return run_pass(config, trace, options, Neighbours(config, trace, options));
}

ReusePrediction predict_reuse(const core::MachineConfig& config, const WarpTrace& trace,
                              const ReuseOptions& options) {
  ReusePrediction p;
  ReuseOptions unlimited = options;
  unlimited.with.mshrs = false;
  std::optional<ReuseMemory> before;
  if (options.memory != nullptr) unlimited.memory = &before.emplace(*options.memory);
  const Neighbours neighbours(config, trace, options);
  p.run = run_pass(config, trace, options, neighbours);
  p.kinds = p.run.limited ? run_pass(config, trace, unlimited, neighbours).global : p.run.global;
  p.mshr = static_cast<int64_t>(p.run.global.misses()) - static_cast<int64_t>(p.kinds.misses());
  return p;
}

}  // namespace gpusim::analysis
