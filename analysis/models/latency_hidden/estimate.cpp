#include "analysis/models/latency_hidden/estimate.h"

#include <algorithm>
#include <cmath>

namespace gpusim::analysis::latency_hidden {
namespace {

/// SMs that hold the same number of blocks, which all end together.
struct Group {
  double sms = 0;
  uint32_t blocks = 0;
  double left = 1;  ///< of the round
  bool together = false;
};

class Rounds {
 public:
  Rounds(const Workload& w, const Parameters& p, const Exposure& exposure)
      : exposure_(exposure), sms_(p.sms), waiting_(w.shape.blocks), most_(w.blocks_per_sm) {
    groups_.push_back({p.sms, 0, 0});
    refill(0);
    for (Group& g : groups_) g.together = true;
    all_.stages.resize(exposure.stages().size());
    if (!exposure.stages().empty()) started_apart_ = p.sms * most_ * exposure.stages().front().apart;
  }

  /// Core cycles until all blocks have ended.
  double run() {
    while (!groups_.empty()) {
      skip_full_rounds();
      size_t first = 0;
      double step = INFINITY;
      for (size_t g = 0; g < groups_.size(); ++g) {
        const double end = groups_[g].left * time_of(groups_[g]);
        if (end < step) {
          step = end;
          first = g;
        }
      }
      std::vector<double> shares;
      for (const Group& g : groups_) shares.push_back(step / time_of(g));
      for (size_t g = 0; g < groups_.size(); ++g) {
        add(groups_[g], shares[g]);
        groups_[g].left -= shares[g];
      }
      now_ += step;
      if (waiting_ == 0 && tail_from_ < 0) tail_from_ = now_;
      refill(first);
    }
    return now_;
  }
  [[nodiscard]] double tail() const { return tail_from_ < 0 ? 0 : now_ - tail_from_; }
  /// Core cycles with a resident block, mean of the SMs.
  [[nodiscard]] double active() const { return active_; }
  [[nodiscard]] const AllRounds& all() const { return all_; }
  [[nodiscard]] RoundPart full_round() const {
    const Group& g = groups_.front();
    return exposure_.round(g.blocks, resident(), g.together);
  }

 private:
  /// Blocks on the machine.
  [[nodiscard]] double resident() const {
    double blocks = 0;
    for (const Group& g : groups_) blocks += g.sms * g.blocks;
    return blocks;
  }
  [[nodiscard]] double time_of(const Group& g) const {
    return round_time(exposure_.stages(), g.blocks, resident(), g.together);
  }

  /// So many rounds of a group.
  void add(const Group& g, double rounds) {
    const double of_mean = rounds * g.sms / sms_;
    active_ += of_mean * time_of(g);
    all_.rounds += of_mean;
    all_.resident += of_mean * resident();
    if (g.together) all_.first += of_mean;
    const std::vector<RoundPart> parts = exposure_.by_stage(g.blocks, resident(), g.together);
    for (size_t i = 0; i < parts.size(); ++i) {
      all_.stages[i].work += of_mean * parts[i].work;
      all_.stages[i].exposed += of_mean * parts[i].exposed;
      all_.stages[i].latency += of_mean * parts[i].latency;
      all_.stages[i].beyond += of_mean * parts[i].beyond;
    }
  }

  void skip_full_rounds() {
    if (groups_.size() != 1 || groups_.front().together) return;
    Group& g = groups_.front();
    const auto round = static_cast<uint64_t>(g.sms) * g.blocks;
    if (waiting_ <= kLastRounds * round) return;
    const uint64_t skipped = waiting_ / round - kLastRounds;
    now_ += static_cast<double>(skipped) * time_of(g);
    add(g, static_cast<double>(skipped));
    waiting_ -= skipped * round;
  }

  /// Whether SMs end by how fast they were, not by when their blocks began: in a round that takes long, and
  /// whose time is the SM's own.
  [[nodiscard]] bool forgets_order(const Group& g) const {
    double path = 0, compute = 0, memory = 0;
    for (const Stage& s : exposure_.stages()) {
      path += s.path;
      compute += g.blocks * s.compute;
      memory += resident() * s.memory;
    }
    return compute > std::max(path, memory) && kFaster * time_of(g) > started_apart_;
  }
  /// New blocks for a group whose blocks have ended; without any it goes.
  void refill(size_t index) {
    const Group ended = groups_[index];
    const bool forgot = ended.blocks > 0 && forgets_order(ended);
    const auto sms = static_cast<uint64_t>(ended.sms);
    const uint64_t taken = std::min<uint64_t>(waiting_, sms * most_);
    waiting_ -= taken;
    groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(index));
    if (forgot && taken < sms * most_) {
      // The first SM to end gets as many as it holds, those behind it what is left: half way to the fewest
      // SMs that could hold them, and not more: an SM's blocks do not end at the very same moment.
      const double even = std::ceil(static_cast<double>(taken) / static_cast<double>(sms));
      const auto crowded = static_cast<uint32_t>((even + most_) / 2);
      const uint64_t full = taken / crowded, rest = taken % crowded;
      if (full > 0) groups_.push_back({static_cast<double>(full), crowded, 1});
      if (rest > 0) groups_.push_back({1, static_cast<uint32_t>(rest), 1});
      return;
    }
    // They begin one after the other, as those before them did that end now.
    if (ended.blocks > 0 && taken > 0)
      now_ -= started_apart_ * (1 - static_cast<double>(taken) / static_cast<double>(sms * most_));
    const uint64_t each = taken / sms, more = taken % sms;
    if (more > 0) groups_.push_back({static_cast<double>(more), static_cast<uint32_t>(each + 1), 1});
    if (each > 0 && sms > more)
      groups_.push_back({static_cast<double>(sms - more), static_cast<uint32_t>(each), 1});
  }

  static constexpr uint64_t kLastRounds = 16;
  static constexpr double kFaster = 0.02;  ///< of a round's time, by which SMs differ
  const Exposure& exposure_;
  std::vector<Group> groups_;
  double sms_ = 0;
  uint64_t waiting_ = 0;
  uint32_t most_ = 0;
  double started_apart_ = 0;  ///< from the first block's begin to the last one's, in a full round
  double now_ = 0, tail_from_ = -1, active_ = 0;
  AllRounds all_;
};

/// A kernel ends when all of its stores are where other SMs see them, in the L2 or in memory: what is left of
/// the last one's way when its warp has ended. A store that hardly any warp executes counts by its share.
double drain_of(const std::vector<Segment>& segments, const Parameters& p) {
  const double way = p.l2_latency > 0 ? p.l2_latency : p.memory_latency;
  double since = 0, drain = 0, others = 1;
  for (auto s = segments.rbegin(); s != segments.rend() && since < way; ++s) {
    if (s->stored >= 0) {
      const double share = std::min(1.0, s->passes);
      const double later = since + s->wait + s->chain - s->stored;
      drain += others * share * std::max(0.0, way - later);
      others *= 1 - share;
    }
    since += s->chain + s->wait;
  }
  return drain;
}

}  // namespace

Estimate estimate(const Workload& w, const Parameters& p) {
  Estimate e;
  const Exposure exposure(w, p);
  e.stages = exposure.stages();
  const double per_sm = std::ceil(static_cast<double>(w.shape.blocks) / p.sms);
  e.resident = static_cast<uint32_t>(std::min<double>(w.blocks_per_sm, per_sm));
  e.rounds = static_cast<double>(w.shape.blocks) / (e.resident * p.sms);
  Rounds rounds(w, p, exposure);
  e.full = rounds.full_round();
  e.round = e.full.work + e.full.exposed;
  e.cycles = rounds.run();
  // The longest warp of all hides behind later rounds if it begins early; where it begins, nothing tells.
  double path = 0;
  for (const Stage& s : e.stages) path += s.path;
  const double alone = std::max(0.0, w.longest_path - path);
  const double later = std::max(0.0, e.cycles - e.round);
  const double longer = alone >= later ? alone - later / 2 : alone * alone / (2 * later);
  e.cycles += longer;
  e.tail = rounds.tail() + longer;
  e.active = rounds.active();
  e.all = rounds.all();
  // Blocks are given out one after the other; the last one has its whole path before it.
  const double given_out = static_cast<double>(w.shape.blocks) * p.block_interval;
  e.cycles = std::max(e.cycles, given_out + path);
  e.overhead = p.launch + p.block_start + drain_of(w.segments, p);
  e.cycles += e.overhead;
  return e;
}

}  // namespace gpusim::analysis::latency_hidden
