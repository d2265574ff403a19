#include "analysis/models/reuse_distance/model.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <optional>

#include "analysis/models/reuse_distance/coalescer.h"
#include "analysis/models/reuse_distance/memory.h"
#include "analysis/models/reuse_distance/sm.h"

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
    std::vector<double> next(sms_.size(), ReuseSm::kNever);
    for (;;) {
      const auto first = static_cast<size_t>(std::ranges::min_element(next) - next.begin());
      if (const double at = next_dispatch(); at <= next[first] && at != ReuseSm::kNever) {
        const size_t to = dispatch(at);
        next[to] = sms_[to]->next_event();
        continue;
      }
      if (next[first] == ReuseSm::kNever) return;
      next[first] = ReuseSm::kNever;
      ReuseSm& sm = *sms_[first];
      if (sm.run(std::min(*std::ranges::min_element(next), next_dispatch()))) {
        if (stride_ > 1 && full_) pass_others();
        room_ = std::min(room_, sm.now());
      }
      next[first] = sm.next_event();
    }
  }
  [[nodiscard]] const std::vector<std::unique_ptr<ReuseSm>>& sms() const { return sms_; }

 private:
  uint64_t random(uint64_t below) {
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    return (random_ >> 32) * below >> 32;
  }
  /// Where only one SM is modelled, the block that it gets next follows from how many the others have taken.
  /// In the time in which its resident blocks end once, so do those of the others; half of the differences in
  /// time are taken to lie between SMs and half within them. So the first of its blocks ends anywhere in the
  /// first half of that time, and from one to the next those of half the SMs end.
  void pass_others() {
    const uint64_t wave = stride_ * machine_.blocks_per_sm;
    if (ends_ % machine_.blocks_per_sm == 0)
      turn_ = wave * (1 + ends_ / machine_.blocks_per_sm) + random(wave / 2);
    else
      do ++turn_;
      while (random(stride_) >= 2);
    ++ends_;
    next_block_ = std::max(next_block_, turn_);
  }
  /// When the next block begins, if no SM gets room before: one after the other.
  [[nodiscard]] double next_dispatch() const {
    return next_block_ < blocks_ ? std::max(room_, free_) : ReuseSm::kNever;
  }
  /// Gives the next block to the next SM in turn that has room for it.
  size_t dispatch(double at) {
    while (!sms_[sm_in_turn_]->has_room()) sm_in_turn_ = (sm_in_turn_ + 1) % sms_.size();
    const size_t to = sm_in_turn_;
    sms_[to]->start(next_block_++, at + machine_.block_start_cycles);
    sm_in_turn_ = (to + 1) % sms_.size();
    // Of one SM's blocks, which are a few of all, the model does not know when others let them begin.
    free_ = at + (stride_ == 1 ? machine_.block_interval : 1);
    if (!full_) next_block_ += stride_ - 1;
    room_ = at;
    if (std::ranges::none_of(sms_, [](const auto& sm) { return sm->has_room(); })) {
      room_ = ReuseSm::kNever;
      full_ = true;
    }
    return to;
  }
  const ReuseMachine& machine_;
  uint64_t blocks_, stride_, next_block_ = 0;
  size_t sm_in_turn_ = 0;
  double free_ = 0;                            ///< when the dispatcher can give out a block
  double room_ = 0;                            ///< since when an SM has room for one; kNever: none has
  bool full_ = false;                          ///< all SMs have had all blocks that they hold
  uint64_t ends_ = 0, turn_ = 0, random_ = 1;  ///< of pass_others()
  std::vector<std::unique_ptr<ReuseSm>> sms_;
};

/// Of the lines that blocks running side by side on all SMs touch, the fraction that is not another's too:
/// lines of all of them / sum of each one's. From the first block of each SM.
double own_lines(const ReuseMachine& machine, const WarpTrace& trace) {
  LineTable all;
  std::vector<uint64_t> last;  ///< by line: the last block that has touched it, and 1
  uint64_t sum = 0;
  const uint64_t blocks = std::min<uint64_t>(machine.sms, trace.header().blocks);
  const ReuseCoalescer coalescer(machine.line);
  WarpStep step;
  LaneRuns runs;
  LineTransactions lines;
  for (uint64_t b = 0; b < blocks; ++b)
    for (uint32_t w = 0; w < trace.header().block_warps; ++w)
      for (WarpCursor cursor = trace.warp(b, w); cursor.next(step, runs);) {
        if (step.kind != WarpStep::Kind::kAccess || step.local) continue;
        coalescer.coalesce(step, runs, 0, lines);
        for (const LineTransaction& t : lines) {
          bool is_new = false;
          const uint32_t line = all.number_of(t.line, is_new);
          if (is_new) last.push_back(0);
          sum += last[line] != b + 1;
          last[line] = b + 1;
        }
      }
  return sum == 0 ? 1 : static_cast<double>(all.size()) / static_cast<double>(sum);
}

/// SMs of which one is modelled.
struct SmKind {
  int64_t sm = ReuseOptions::kAllSms;  ///< the one
  uint64_t count = 1;                  ///< that it stands for
  ReuseNeighbours neighbours;
};

/// How many blocks an SM gets at the start.
uint64_t first_blocks(const ReuseMachine& machine, uint64_t blocks, uint64_t sm) {
  return sm >= blocks ? 0 : std::min<uint64_t>(machine.blocks_per_sm, (blocks - sm - 1) / machine.sms + 1);
}

std::vector<SmKind> kinds_of_sms(const ReuseMachine& machine, const WarpTrace& trace, int64_t only_sm) {
  const uint64_t blocks = trace.header().blocks, sms = machine.sms;
  assert(sms != 0);
  std::vector<SmKind> kinds;
  if (only_sm != ReuseOptions::kOneOfEachKind) {
    kinds.push_back({only_sm, 1, {}});
  } else if (const uint64_t more = blocks % sms; blocks >= sms * machine.blocks_per_sm || more == 0) {
    kinds.push_back({0, sms, {}});
  } else {
    kinds.push_back({0, more, {}});
    if (blocks > sms) kinds.push_back({static_cast<int64_t>(more), sms - more, {}});
  }
  uint64_t all = 0;
  for (uint64_t sm = 0; sm < sms; ++sm) all += first_blocks(machine, blocks, sm);
  const double own = own_lines(machine, trace);
  for (SmKind& kind : kinds) {
    const uint64_t of_one = first_blocks(machine, blocks, static_cast<uint64_t>(kind.sm));
    kind.neighbours.copies = of_one == 0 ? 1 : static_cast<double>(all) / static_cast<double>(of_one);
    kind.neighbours.own = own;
  }
  return kinds;
}

bool needs_l1(const ReuseOptions& options) {
  return options.memory == nullptr || !options.memory->has_traffic();
}

/// Adds a pass with one kind of SMs to `run`.
void add_pass(const core::MachineConfig& config, const WarpTrace& trace, const ReuseOptions& options,
              const SmKind& kind, ReuseRun& run) {
  ReuseMachine machine = reuse_machine(config, trace.header(), needs_l1(options));
  machine.with = options.with;
  machine.writes_back = !needs_l1(options);
  const bool one = kind.sm != ReuseOptions::kAllSms;
  ReuseMemory fresh(config, one ? 1 : machine.sms, kind.neighbours);
  ReuseMemory& memory = options.memory != nullptr && !one ? *options.memory : fresh;
  memory.begin_kernel();
  if (!options.with.latency) machine.sets_at_once = options.sets_at_once;
  machine.most_ways = options.most_ways;
  Grid grid(machine, trace, memory, kind.sm);
  grid.run();
  memory.end_kernel();
  run.distances.resize(64, 0);
  run.hits_at_once.resize(machine.sets_at_once.size(), std::vector<uint64_t>(machine.most_ways, 0));
  for (const auto& sm : grid.sms()) {
    run.global.add(sm->l1().global(), kind.count);
    run.local.add(sm->l1().local(), kind.count);
    run.limited |= sm->l1().limited();
    run.cycles = std::max(run.cycles, sm->now());
    run.accesses += kind.count * sm->accesses();
    for (size_t i = 0; i < run.hits_at_once.size(); ++i)
      for (uint32_t w = 0; w < machine.most_ways; ++w)
        run.hits_at_once[i][w] += kind.count * sm->l1().stacks()[i].hits(w + 1);
    for (size_t i = 0; i < run.distances.size(); ++i)
      run.distances[i] += kind.count * sm->l1().distances()[i];
  }
  run.l2_sectors += kind.count * memory.counts().reads;
  run.l2_hits += kind.count * memory.counts().read_hits;
  run.l2_others += kind.count * memory.counts().others;
  run.l2_atomics += kind.count * memory.counts().atomics;
  run.l2_atomic_hits += kind.count * memory.counts().atomic_hits;
}

ReuseRun run_kinds(const core::MachineConfig& config, const WarpTrace& trace, const ReuseOptions& options,
                   const std::vector<SmKind>& kinds) {
  ReuseRun run;
  for (const SmKind& kind : kinds) add_pass(config, trace, options, kind, run);
  return run;
}

std::vector<SmKind> kinds_of_sms(const core::MachineConfig& config, const WarpTrace& trace, int64_t only_sm) {
  if (only_sm == ReuseOptions::kAllSms) return {SmKind()};
  return kinds_of_sms(reuse_machine(config, trace.header()), trace, only_sm);
}

}  // namespace

ReuseRun run_reuse(const core::MachineConfig& config, const WarpTrace& trace, const ReuseOptions& options) {
  return run_kinds(config, trace, options, kinds_of_sms(config, trace, options.only_sm));
}

ReusePrediction predict_reuse(const core::MachineConfig& config, const WarpTrace& trace,
                              const ReuseOptions& options) {
  ReusePrediction p;
  p.all_sms = options.only_sm == ReuseOptions::kAllSms;
  ReuseOptions unlimited = options;
  unlimited.with.mshrs = false;
  std::optional<ReuseMemory> before;
  if (options.memory != nullptr) unlimited.memory = &before.emplace(*options.memory);
  const std::vector<SmKind> kinds = kinds_of_sms(config, trace, options.only_sm);
  p.run = run_kinds(config, trace, options, kinds);
  p.kinds = p.run.limited ? run_kinds(config, trace, unlimited, kinds).global : p.run.global;
  p.mshr = static_cast<int64_t>(p.run.global.misses()) - static_cast<int64_t>(p.kinds.misses());
  return p;
}

}  // namespace gpusim::analysis
