#include "analysis/latency_hidden/extended.h"

#include <algorithm>
#include <cmath>

namespace gpusim::analysis::latency_hidden {
namespace {

/// Two limits that are near each other are both felt: the p-norm of them. Chosen on the kernels of
/// docs/models.md that are marked as fitted.
constexpr double kSharpness = 4;

double both(double a, double b) {
  const double most = std::max(a, b);
  if (most <= 0) return 0;
  return most * std::pow(std::pow(a / most, kSharpness) + std::pow(b / most, kSharpness), 1 / kSharpness);
}

/// Barrier interval of a block: sums over its segments.
struct Phase {
  double alone = 0;    ///< one warp
  double spacing = 0;  ///< between two warps: the segment that keeps a unit longest
  double weight = 1;
  std::vector<double> busy;
  double issue = 0;
};

void add(Phase& phase, const Segment& s) {
  phase.alone += s.weight * (s.chain + s.wait);
  phase.spacing = std::max(phase.spacing, s.compute());
  phase.busy.resize(s.busy.size());
  for (size_t u = 0; u < s.busy.size(); ++u) phase.busy[u] += s.weight * s.busy[u];
  phase.issue += s.weight * s.issue;
}

double most_busy(const Phase& phase) {
  double most = phase.issue;
  for (const double b : phase.busy) most = std::max(most, b);
  return most;
}

/// SMs that hold the same number of blocks, which all end together.
struct Group {
  double sms = 0;
  uint32_t blocks = 0;
  double left = 1;  ///< of the round
};

class Rounds {
 public:
  Rounds(const Workload& w, const Parameters& p, const BlockTime& block) : p_(p), block_(block) {
    const auto sms = static_cast<uint64_t>(p.sms);
    waiting_ = w.shape.blocks;
    groups_.push_back({static_cast<double>(sms), 0, 0});
    most_ = w.blocks_per_sm;
    refill(0);
  }

  /// Core cycles until all blocks have ended.
  double run() {
    while (!groups_.empty()) {
      const double stretch = bandwidth_stretch();
      skip_full_rounds(stretch);
      size_t first = 0;
      double step = INFINITY;
      for (size_t g = 0; g < groups_.size(); ++g) {
        const double end = groups_[g].left * time_of(groups_[g], stretch);
        if (end < step) {
          step = end;
          first = g;
        }
      }
      for (Group& g : groups_) g.left -= step / time_of(g, stretch);
      now_ += step;
      if (waiting_ == 0 && tail_from_ < 0) tail_from_ = now_;
      refill(first);
    }
    return now_;
  }
  [[nodiscard]] double tail() const { return tail_from_ < 0 ? 0 : now_ - tail_from_; }
  [[nodiscard]] double full_round() {
    return time_of(groups_.front(), bandwidth_stretch());
  }

 private:
  double time_of(const Group& g, double stretch) const { return round_time(block_, g.blocks) * stretch; }

  double bandwidth_stretch() const {
    double share = 0;
    for (const Group& g : groups_) share += g.sms * g.blocks * block_.memory / round_time(block_, g.blocks);
    return both(1, share);
  }

  void skip_full_rounds(double stretch) {
    if (groups_.size() != 1) return;
    Group& g = groups_.front();
    const auto round = static_cast<uint64_t>(g.sms) * g.blocks;
    if (waiting_ <= kLastRounds * round) return;
    const uint64_t skipped = waiting_ / round - kLastRounds;
    now_ += static_cast<double>(skipped) * time_of(g, stretch);
    waiting_ -= skipped * round;
  }

  /// New blocks for a group whose blocks have ended; without any it goes.
  void refill(size_t index) {
    const Group ended = groups_[index];
    const auto sms = static_cast<uint64_t>(ended.sms);
    const uint64_t taken = std::min<uint64_t>(waiting_, sms * most_);
    waiting_ -= taken;
    groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(index));
    const uint64_t each = taken / sms, more = taken % sms;
    if (more > 0) groups_.push_back({static_cast<double>(more), static_cast<uint32_t>(each + 1), 1});
    if (each > 0 && sms > more) groups_.push_back({static_cast<double>(sms - more), static_cast<uint32_t>(each), 1});
  }

  static constexpr uint64_t kLastRounds = 16;
  const Parameters& p_;
  const BlockTime& block_;
  std::vector<Group> groups_;
  uint64_t waiting_ = 0;
  uint32_t most_ = 0;
  double now_ = 0, tail_from_ = -1;
};

}  // namespace

BlockTime block_time(const Workload& w, const Parameters& p) {
  const double warps = w.shape.warps_per_block;
  BlockTime t;
  std::vector<Phase> phases(1);
  Phase all;
  for (const Segment& s : w.segments) {
    add(phases.back(), s);
    add(all, s);
    phases.back().weight = s.weight;
    if (s.end == Wait::kBarrier && warps > 1) phases.emplace_back();
  }
  for (const Phase& phase : phases)
    t.path += std::max(phase.alone + phase.weight * (warps - 1) * phase.spacing, warps * most_busy(phase));
  t.compute = warps * most_busy(all);
  const double bytes = w.memory_read + w.memory_written;
  // Reads and writes that take turns cost the memory time; the data sheet has reads alone, and half and half.
  const double turns = bytes > 0 ? std::min(1.0, 2 * std::min(w.memory_read, w.memory_written) / bytes) : 0;
  t.memory = bytes / (p.read_bytes + turns * (p.copy_bytes - p.read_bytes));
  if (p.l2_bytes > 0) t.memory = std::max(t.memory, w.l2_bytes / p.l2_bytes);
  return t;
}

double round_time(const BlockTime& block, double blocks) { return both(block.path, blocks * block.compute); }

Estimate estimate(const Workload& w, const Parameters& p) {
  Estimate e;
  e.block = block_time(w, p);
  const double per_sm = std::ceil(static_cast<double>(w.shape.blocks) / p.sms);
  e.resident = static_cast<uint32_t>(std::min<double>(w.blocks_per_sm, per_sm));
  e.rounds = static_cast<double>(w.shape.blocks) / (e.resident * p.sms);
  Rounds rounds(w, p, e.block);
  e.round = rounds.full_round();
  e.cycles = rounds.run();
  e.tail = rounds.tail();
  e.overhead = p.launch;
  if (w.memory_written > 0 && w.segments.back().written > 0) e.overhead += p.memory_latency;
  e.cycles += e.overhead;
  e.exposed = std::max(0.0, e.round - e.resident * e.block.compute);
  for (const Segment& s : w.segments) e.latency += s.weight * s.wait;
  e.latency += e.resident * p.sms * e.block.memory;
  return e;
}

}  // namespace gpusim::analysis::latency_hidden
