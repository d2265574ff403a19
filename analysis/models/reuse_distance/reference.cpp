#include "analysis/models/reuse_distance/reference.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <queue>
#include <random>
#include <unordered_set>

namespace gpusim::analysis {
namespace {

constexpr uint32_t kWarp = 32;
constexpr uint32_t kCoreThreads = 1536, kMaxBlocks = 8;  ///< of a core
constexpr uint32_t kUnlimited = ~0u;

/// Fermi's, found with strided loads: five bits of the line hashed with five higher ones, a sixth as it is.
uint64_t set_index(uint64_t line, uint32_t sets) {
  const auto bit = [line](int from, int to) { return (line >> from & 1) << to; };
  const uint64_t hashed = (line & 31) ^ (bit(6, 0) | bit(7, 1) | bit(8, 2) | bit(10, 3) | bit(12, 4));
  return (hashed + 32 * (line >> 5 & 1)) % sets;
}

struct Access {
  uint64_t line = 0;
  uint32_t bytes = 0;
  bool disabled = false;  ///< an earlier lane brings its line
};

/// The accesses of each thread after coalescing.
using Lanes = std::vector<std::vector<Access>>;

/// Lanes that are looked at together: half or a quarter of a warp for wide words.
uint32_t group_width(uint32_t bytes) { return bytes == 16 ? 8 : bytes == 8 ? 16 : kWarp; }

void coalesce(Lanes& lanes, size_t first, size_t count) {
  for (size_t lane = 0; lane < count; ++lane) {
    std::vector<Access>& own = lanes[first + lane];
    for (size_t k = 0; k < own.size(); ++k) {
      const size_t width = group_width(own[k].bytes);
      for (size_t before = lane / width * width; before < lane && !own[k].disabled; ++before) {
        const std::vector<Access>& other = lanes[first + before];
        own[k].disabled = k < other.size() && other[k].line == own[k].line;
      }
    }
  }
}

/// Stack of a set's lines by their last effect, as deep as distances matter.
class Set {
 public:
  /// Other lines with a later effect than the line's last, or `depth` if that many or more.
  [[nodiscard]] uint32_t distance(uint64_t line, uint32_t depth) const {
    const auto found = std::find(lines_.begin(), lines_.end(), line);
    return found == lines_.end() ? depth : static_cast<uint32_t>(found - lines_.begin());
  }
  void use(uint64_t line, uint32_t depth) {
    auto found = std::find(lines_.begin(), lines_.end(), line);
    if (found == lines_.end() && lines_.size() < depth) found = lines_.insert(lines_.end(), line);
    if (found == lines_.end()) --found;
    std::move_backward(lines_.begin(), found, found + 1);
    lines_.front() = line;
  }

 private:
  std::vector<uint64_t> lines_;
};

struct RunCounts {
  uint64_t compulsory = 0, capacity = 0, hits = 0;
  [[nodiscard]] uint64_t misses() const { return compulsory + capacity; }
};

/// One pass over the trace.
class Run {
 public:
  Run(const Lanes& lanes, uint32_t block_threads, const ReuseCache& cache, uint64_t seed)
      : lanes_(lanes),
        block_(block_threads),
        cache_(cache),
        sets_(cache.sets),
        random_(seed),
        next_(lanes.size(), 0) {}

  RunCounts counts() {
    const auto blocks = static_cast<uint32_t>((lanes_.size() + block_ - 1) / block_);
    const uint32_t together = std::min({blocks, kCoreThreads / block_, kMaxBlocks});
    for (uint32_t first = 0; first < blocks; first += together)
      run_blocks(first, std::min(blocks, first + together));
    return counts_;
  }

 private:
  struct Effect {
    uint64_t due, order, line;
    bool operator>(const Effect& other) const {
      return due != other.due ? due > other.due : order > other.order;
    }
  };
  struct Warp {
    uint32_t block = 0, in_block = 0;
  };
  using Waiting = std::pair<uint64_t, uint32_t>;  ///< tick in which it is ready again, warp
  template <class T>
  using Earliest = std::priority_queue<T, std::vector<T>, std::greater<>>;

  void run_blocks(uint32_t first, uint32_t end) {
    const uint32_t warps = (block_ + kWarp - 1) / kWarp;
    warps_.clear();
    std::deque<uint32_t> ready;
    Earliest<Waiting> waiting;
    for (uint32_t b = first; b < end; ++b)
      for (uint32_t w = 0; w < warps; ++w) {
        ready.push_back(static_cast<uint32_t>(warps_.size()));
        warps_.push_back({b, w});
      }
    for (size_t left = warps_.size(); left != 0; ++now_) {
      // Nothing happens but effects until a warp is ready.
      if (ready.empty()) now_ = std::max(now_, waiting.top().first);
      apply(now_ - 1);
      if (!ready.empty()) {
        const uint32_t w = ready.front();
        ready.pop_front();
        uint64_t wait = 0;
        if (issue(warps_[w], wait))
          --left;
        else if (wait == 0)
          ready.push_back(w);
        else
          waiting.push({now_ + wait, w});
      }
      apply(now_);
      for (; !waiting.empty() && waiting.top().first <= now_; waiting.pop())
        ready.push_back(waiting.top().second);
    }
  }

  /// Next accesses of the warp's lanes; true if it has none.
  bool issue(const Warp& warp, uint64_t& wait) {
    const size_t first = size_t{warp.block} * block_ + size_t{warp.in_block} * kWarp;
    const size_t end = std::min(lanes_.size(), first + std::min(kWarp, block_ - warp.in_block * kWarp));
    const auto in_flight = static_cast<uint32_t>(in_flight_.size());
    const bool any = first < end && next_[first] < lanes_[first].size();
    const uint32_t portions = any ? std::max(1u, lanes_[first][next_[first]].bytes / 4) : 1;
    uint32_t done = 0;
    for (uint32_t p = 0; p < portions; ++p) {
      for (uint32_t lane = p * (kWarp / portions); lane < (p + 1) * (kWarp / portions); ++lane) {
        const size_t thread = first + lane;
        if (thread >= end || next_[thread] >= lanes_[thread].size()) {
          ++done;
          continue;
        }
        const Access& access = lanes_[thread][next_[thread]++];
        if (access.disabled) continue;
        if (!look_up(access.line, lane == 0 && in_flight >= cache_.mshrs, wait)) {
          --next_[thread];
          wait = 0;
          break;
        }
      }
      apply(now_);
    }
    return done == kWarp;
  }

  /// False if the access is a miss and is refused.
  bool look_up(uint64_t line, bool refuse_miss, uint64_t& wait) {
    Set& set = sets_[set_index(line, cache_.sets)];
    const bool seen = seen_.contains(line);
    const uint32_t depth = cache_.ways + 1, distance = seen ? set.distance(line, depth) : depth;
    if (distance >= cache_.ways) {
      const uint64_t latency = cache_.latency + jitter();
      wait = std::max(wait, latency);
      if (refuse_miss) return false;
      effects_.push({now_ + latency, ++order_, line});
      in_flight_.insert(line);
    } else {
      hits_now_.push_back(line);
    }
    if (!seen)
      ++counts_.compulsory;
    else if (distance > cache_.ways)
      ++counts_.capacity;
    else
      ++counts_.hits;
    return true;
  }

  uint64_t jitter() {
    return cache_.sigma == 0 ? 0
                             : static_cast<uint64_t>(std::llround(std::abs(normal_(random_) * cache_.sigma)));
  }

  /// Effects that are due at `tick` or before.
  void apply(uint64_t tick) {
    for (const uint64_t line : hits_now_) take_effect(line);
    hits_now_.clear();
    for (; !effects_.empty() && effects_.top().due <= tick; effects_.pop()) {
      take_effect(effects_.top().line);
      in_flight_.erase(effects_.top().line);
    }
  }
  void take_effect(uint64_t line) {
    seen_.insert(line);
    sets_[set_index(line, cache_.sets)].use(line, cache_.ways + 1);
  }

  const Lanes& lanes_;
  uint32_t block_;
  ReuseCache cache_;
  std::vector<Set> sets_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::vector<size_t> next_;  ///< by thread: its next access
  std::vector<Warp> warps_;
  std::vector<uint64_t> hits_now_;
  Earliest<Effect> effects_;
  std::unordered_set<uint64_t> in_flight_, seen_;  ///< seen: lines that took effect
  RunCounts counts_;
  uint64_t now_ = 1, order_ = 0;
};

uint64_t positive(int64_t value) { return static_cast<uint64_t>(std::max<int64_t>(value, 0)); }

}  // namespace

ReuseCounts reference_reuse(const Trace& trace, const ReuseCache& cache, uint64_t seed) {
  Lanes lanes(trace.threads.size());
  for (size_t t = 0; t < lanes.size(); ++t)
    for (const TraceLoad& load : trace.threads[t])
      lanes[t].push_back({load.address / cache.line, load.bytes, false});
  for (size_t block = 0; block < lanes.size(); block += trace.block_threads)
    for (uint32_t warp = 0; warp < trace.block_threads && block + warp < lanes.size(); warp += kWarp)
      coalesce(lanes, block + warp,
               std::min<size_t>({kWarp, trace.block_threads - warp, lanes.size() - block - warp}));
  const auto run = [&](const ReuseCache& c) { return Run(lanes, trace.block_threads, c, seed).counts(); };
  ReuseCache one_set = cache, no_latency = cache, all_mshrs = cache;
  one_set.ways = cache.ways * cache.sets, one_set.sets = 1;
  no_latency.latency = 0, no_latency.sigma = 0;
  all_mshrs.mshrs = kUnlimited;
  const RunCounts full = run(cache), associative = run(one_set), at_once = run(no_latency),
                  unlimited = run(all_mshrs);
  const auto number = [](uint64_t n) { return static_cast<int64_t>(n); };
  const int64_t compulsory = number(at_once.compulsory);
  int64_t associativity = number(full.misses()) - number(associative.misses());
  int64_t latency = number(full.compulsory) - compulsory;
  int64_t mshr = number(full.misses()) - number(unlimited.misses());
  const int64_t rest = number(full.misses()) - compulsory - number(positive(latency)) -
                       number(positive(associativity)) - number(positive(mshr));
  // What was counted twice is "taken" from one kind, with the wrong sign.
  if (rest < 0) (mshr > -rest ? mshr : latency > -rest ? latency : associativity) -= rest;
  ReuseCounts counts;
  counts.hits = full.hits;
  counts.misses = full.misses();
  counts.accesses = counts.hits + counts.misses;
  counts.compulsory = at_once.compulsory;
  counts.capacity = positive(rest);
  counts.associativity = positive(associativity);
  counts.latency = positive(latency);
  counts.mshr = positive(mshr);
  return counts;
}

}  // namespace gpusim::analysis
