#include "predict/functional_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <utility>

#include "analysis/models/reuse_distance/model.h"
#include "components/lsu/coalescer.h"
#include "components/simulation/simulation.h"
#include "study/warp_steps.h"

namespace gpusim::predict {
namespace {

using analysis::latency_hidden::Code;
using analysis::latency_hidden::Counts;
using analysis::latency_hidden::FunctionalKernel;
using analysis::latency_hidden::OpCounts;

std::string dims(const comp::Dim3& d) { return fmt::format("{},{},{}", d.x, d.y, d.z); }

/// Transactions of one operation, over all warps.
struct Moved {
  uint64_t transactions = 0, requested = 0, transferred = 0, words = 0;
};

/// One launch while it runs.
class LaunchCounter {
 public:
  LaunchCounter(const core::MachineConfig& machine, const comp::KernelLaunch& run, uint64_t most_followed)
      : machine_(machine),
        run_(run),
        steps_(run.warps_per_block),
        trace_(study::trace_header(run, machine.gpu.name)),
        moved_(run.image->ops.size()),
        most_followed_(most_followed) {
    // All blocks that begin together are followed, however long their warps are.
    const uint64_t warps =
        std::min<uint64_t>(std::max<uint64_t>(run.blocks_per_sm, 1) * machine.gpu.sms, run.num_blocks) *
        run.warps_per_block;
    most_of_warp_ = std::max<uint64_t>(most_followed / std::max<uint64_t>(warps, 1), kLeastOfWarp);
    of_warp_.assign(run.warps_per_block, 0);
  }

  /// True if that was the launch's last step.
  bool take(const comp::TracedStep& t) {
    if (t.kind == comp::TracedStep::Kind::kAccess) count(t);
    if (t.kind == comp::TracedStep::Kind::kEnd) {
      longest_of_block_ = std::max(longest_of_block_, t.operations);
      counts_.longest = std::max(counts_.longest, static_cast<double>(t.operations));
    }
    follow(t);
    if (t.kind != comp::TracedStep::Kind::kEnd || t.warp + 1 != run_.warps_per_block) return false;
    counts_.longest_sum += static_cast<double>(longest_of_block_);
    longest_of_block_ = 0;
    return ++blocks_ == run_.num_blocks;
  }

  [[nodiscard]] FunctionalKernel finish(analysis::ReuseMemory& memory, const analysis::ReuseTraffic& traffic);

 private:
  static constexpr uint64_t kLeastOfWarp = 64;

  void count(const comp::TracedStep& t) {
    list_.count = 0;
    const isa::MemoryAccess* access = t.access;
    if (access->space == isa::Space::kLocal) {
      // Equal offsets of a warp's lanes are neighbours.
      local_ = *access;
      for (uint32_t bits = access->lanes.bits(); bits != 0; bits &= bits - 1) {
        const auto lane = static_cast<uint32_t>(std::countr_zero(bits));
        local_.address[lane] = access->address[lane] * isa::kWarpSize + uint64_t{access->bytes} * lane;
      }
      access = &local_;
    }
    comp::coalesce(machine_.coalescer.rule, *access, list_, machine_.l1.line);
    Moved& m = moved_[t.pc];
    if (t.op->kind == isa::OpKind::kAtomic) {
      comp::split_into_runs(*access, list_);
      comp::count_atomic_operations(machine_.coalescer.rule, *access, list_);
      for (uint32_t i = 0; i < list_.count; ++i) m.words += list_.items[i].operations;
    }
    m.transactions += list_.count;
    m.requested += uint64_t{t.access->bytes} * static_cast<uint64_t>(t.access->lanes.count());
    for (uint32_t i = 0; i < list_.count; ++i) m.transferred += list_.items[i].bytes;
    ++accesses_;
  }

  void follow(const comp::TracedStep& t) {
    if (!follows_) return;
    // Of a warp that is too long the first part is followed, and its end.
    if (t.kind == comp::TracedStep::Kind::kAccess) {
      if (of_warp_[t.warp]++ >= most_of_warp_) return;
      ++followed_;
    } else if (of_warp_[t.warp] >= most_of_warp_ && t.kind != comp::TracedStep::Kind::kEnd) {
      return;
    }
    if (!steps_.take(t)) return;
    trace_.append_block(steps_.warps());
    steps_.clear();
    std::ranges::fill(of_warp_, 0);
    const uint64_t together = std::max<uint64_t>(run_.blocks_per_sm, 1) * machine_.gpu.sms;
    follows_ = trace_blocks_++ + 1 < together || followed_ < most_followed_;
  }

  const core::MachineConfig& machine_;
  const comp::KernelLaunch& run_;
  study::WarpSteps steps_;
  analysis::WarpTrace trace_;
  std::vector<Moved> moved_;
  comp::TransactionList list_;
  isa::MemoryAccess local_;
  Counts counts_;
  uint64_t most_followed_, most_of_warp_ = 0;
  std::vector<uint64_t> of_warp_;  ///< accesses of the block's warps
  uint64_t blocks_ = 0, trace_blocks_ = 0, accesses_ = 0, followed_ = 0, longest_of_block_ = 0;
  bool follows_ = true;
};

/// What the functional run does not tell the model.
std::vector<std::string> unmodelled(const core::MachineConfig& machine, const isa::KernelImage& image,
                                    const comp::KernelLaunch& run) {
  std::vector<std::string> what = analysis::unmodelled_memory(machine);
  const auto executes = [&](auto&& wanted) {
    for (size_t pc = 0; pc < image.ops.size(); ++pc)
      if (run.pc[pc].executed != 0 && wanted(image.ops[pc])) return true;
    return false;
  };
  if (executes([](const isa::MicroOp& op) { return op.op_class == isa::OpClass::kTexture; }))
    what.emplace_back("textures: their fetches are in no transaction, cache or row");
  if (executes([](const isa::MicroOp& op) { return op.memory.space == isa::Space::kConst; }))
    what.emplace_back("misses of constant caches");
  return what;
}

FunctionalKernel LaunchCounter::finish(analysis::ReuseMemory& memory, const analysis::ReuseTraffic& traffic) {
  FunctionalKernel k;
  k.launch = run_.id;
  k.name = run_.image->name;
  k.grid = dims(run_.grid);
  k.block = dims(run_.block);
  k.code.image = *run_.image;
  k.code.shape = {run_.num_blocks,
                  run_.threads_per_block,
                  run_.warps_per_block,
                  run_.image->registers,
                  run_.taken_shared_bytes,
                  {run_.grid.x, run_.grid.y, run_.grid.z},
                  {run_.block.x, run_.block.y, run_.block.z}};
  const auto warps = static_cast<double>(run_.num_blocks * run_.warps_per_block);
  for (size_t pc = 0; pc < moved_.size(); ++pc) {
    const comp::PcStats& at = run_.pc[pc];
    const auto of_warp = [&](uint64_t n) { return static_cast<double>(n) / warps; };
    k.code.counts.push_back({of_warp(at.executed), of_warp(at.transactions + moved_[pc].transactions),
                             of_warp(moved_[pc].requested), of_warp(moved_[pc].transferred),
                             of_warp(moved_[pc].words), of_warp(at.replays), of_warp(at.sum_rounds)});
  }
  Counts& c = counts_;
  for (const comp::SmStats& sm : run_.sm) {
    c.executed += static_cast<double>(sm.inst_executed);
    c.flops += static_cast<double>(sm.flops);
  }
  c.accesses = static_cast<double>(accesses_);
  k.unmodelled = unmodelled(machine_, *run_.image, run_);
  if (followed_ != 0) {
    trace_.set_blocks(trace_blocks_);
    analysis::ReuseOptions options;
    options.memory = &memory;
    const analysis::ReuseRun run = analysis::run_reuse(machine_, trace_, options);
    const analysis::TrafficCounts t = traffic.counts();
    const double times = c.accesses / static_cast<double>(followed_);
    const auto all = [times](uint64_t n) { return times * static_cast<double>(n); };
    c.pages = all(t.pages);
    c.sm_page_misses = all(t.sm_page_misses);
    c.page_misses = all(t.page_misses);
    c.requests = all(t.requests);
    c.to_busiest = all(t.to_busiest);
    c.rows = all(t.rows_opened);
    c.l1_hits = all(run.global.hits + run.local.hits);
    c.l1_loads = all(run.global.accesses() + run.local.accesses());
    c.l2_reads = all(run.l2_sectors);
    c.l2_read_hits = all(run.l2_hits);
    c.l2_sectors = all(run.l2_sectors + run.l2_others);
    c.l2_atomics = all(run.l2_atomics);
    c.l2_atomic_hits = all(run.l2_atomic_hits);
    c.dram_read = all(t.dram_read_bytes);
    c.dram_written = all(t.dram_written_bytes);
    c.dram_requests = all(t.dram_requests);
    c.dram_to_busiest = all(t.dram_to_busiest);
  }
  k.counts = c;
  k.followed = accesses_ == 0 ? 1 : static_cast<double>(followed_) / static_cast<double>(accesses_);
  return k;
}

}  // namespace

std::vector<FunctionalKernel> functional_counts(comp::SimulationOptions options, uint64_t most_followed) {
  core::MachineConfig machine = options.machine;
  if (options.sms != 0) machine.gpu.sms = options.sms;
  options.functional = true;
  options.caches = comp::CacheState::kCold;
  options.launch.expects.clear();
  options.out.clear();
  const auto sms = static_cast<uint32_t>(machine.gpu.sms);
  analysis::ReuseTraffic traffic(machine, sms);
  analysis::ReuseMemory memory(machine, sms, {}, &traffic);
  std::vector<FunctionalKernel> kernels;
  std::optional<LaunchCounter> counter;
  options.trace = [&](const comp::TracedStep& t) {
    if (!counter) counter.emplace(machine, *t.run, most_followed);
    if (!counter->take(t)) return;
    kernels.push_back(counter->finish(memory, traffic));
    counter.reset();
  };
  comp::Simulation simulation(std::move(options));
  const comp::SimulationResult result = simulation.run();
  if (result.status != comp::SimulationResult::Status::kComplete)
    throw ProgramFailed(result.reason.empty() ? "interrupted" : result.reason);
  const auto other = [&](const comp::KernelResult& k) { return k.stream != result.kernels.front().stream; };
  if (std::ranges::any_of(result.kernels, other))
    for (FunctionalKernel& k : kernels)
      k.unmodelled.emplace_back("kernels of several streams: each is taken to run alone");
  return kernels;
}

}  // namespace gpusim::predict
