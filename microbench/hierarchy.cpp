#include "microbench/hierarchy.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace gpusim::microbench {

namespace {

constexpr uint32_t kSpread = (1u << 20) + 8448;  // another row, bank and partition
constexpr uint32_t kSamples = 24;
/// A first level saves more than the phase of clocks does.
constexpr double kCacheSaves = 0.9;
constexpr uint64_t kMostL1 = uint64_t{1} << 20, kMostL2 = uint64_t{1} << 28;

std::vector<uint32_t> spread(uint32_t count) {
  std::vector<uint32_t> members;
  for (uint32_t i = 0; i < count; ++i) members.push_back(i * kSpread);
  return members;
}

ProbeRequest laps_over(std::vector<uint32_t> members, uint32_t laps) {
  ProbeRequest r;
  r.members = std::move(members);
  r.laps = laps;
  return r;
}

uint32_t between(uint32_t a, uint32_t b) { return a + (b - a) / 2; }

/// What a load of 32 addresses takes at least if one of them misses: between loads that hit and loads that
/// are the first of their lines.
uint32_t limit_of_warp(const Probe& probe, uint32_t stride) {
  ProbeRequest warm;
  warm.stride = stride;
  warm.threads = 32;
  warm.rounds = 4;
  warm.laps = 3;
  ProbeRequest cold = warm;
  cold.laps = 1;
  cold.rounds = 64;
  const auto readings = probe.read(std::vector{warm, cold}, true);
  return between(readings[0].slowest, readings[1].fastest);
}

}  // namespace

namespace {

/// Finds the largest count that is good, by few tries: a try gives how much is wrong, 0 for a good one.
class Search {
 public:
  explicit Search(uint64_t most) : most_(most) {}
  /// The next count to try; nothing when `good` is the answer.
  [[nodiscard]] std::optional<uint64_t> next() const {
    if (bad_ == 0)
      return good_ == most_ ? std::nullopt
                            : std::optional(std::min(most_, std::max<uint64_t>(1, good_ * kStep)));
    if (bad_ - good_ == 1) return std::nullopt;
    if (guesses_ == 0 || guesses_ > kGuesses) return good_ + (bad_ - good_) / 2;
    // Just beyond the largest, misses grow in proportion: two counts tell where they begin.
    const double per_count = static_cast<double>(worse_wrong_ - wrong_) / static_cast<double>(worse_ - bad_);
    const double begin = static_cast<double>(bad_) - static_cast<double>(wrong_) / per_count;
    return std::clamp(static_cast<uint64_t>(std::max(begin, 0.0)), good_ + 1, bad_ - 1);
  }
  void tried(uint64_t count, uint64_t wrong) {
    if (wrong == 0) {
      good_ = count;
    } else {
      worse_ = bad_, worse_wrong_ = wrong_;
      bad_ = count, wrong_ = wrong;
    }
    // Now and then a try halves what is left, whatever the guesses are worth.
    guesses_ = guesses_ <= kGuesses && worse_ != 0 && worse_wrong_ > wrong_ ? guesses_ + 1 : 0;
  }
  [[nodiscard]] uint64_t good() const { return good_; }
  /// Smallest that is known not to be good; 0: none yet.
  [[nodiscard]] uint64_t bad() const { return bad_; }

 private:
  static constexpr uint64_t kStep = 4;
  static constexpr unsigned kGuesses = 2;
  uint64_t most_, good_ = 0;
  uint64_t bad_ = 0, wrong_ = 0;
  uint64_t worse_ = 0, worse_wrong_ = 0;  ///< the one before
  unsigned guesses_ = 0;                  ///< one after another
};

}  // namespace

uint64_t largest_that_hits(const Probe& probe, const Footprint& f, const Alike& alike) {
  const uint64_t step = uint64_t{f.stride} * f.threads;
  Search search(f.most / step);
  while (const auto steps = search.next()) {
    if (alike && search.bad() != 0 && alike(search.good() * step, (search.bad() - 1) * step)) break;
    ProbeRequest r;
    r.stride = f.stride;
    r.threads = f.threads;
    r.rounds = static_cast<uint32_t>(*steps);
    r.laps = f.laps;
    r.limit = f.limit;
    r.filled = f.filled;
    const uint32_t slow = probe.read(r).slow;
    search.tried(*steps, slow <= probe.strays_of(*steps) ? 0 : slow);
  }
  return search.good() * step;
}

Hierarchy find_hierarchy(Device& device, const Alike& alike) {
  const Probe cached(device, Path::kCached), past(device, Path::kPastL1);
  Hierarchy h;
  const ProbeReading cold = past.read(laps_over(spread(kSamples), 1));
  const ProbeReading warm = past.read(laps_over(spread(kSamples), 3));
  const ProbeReading near = cached.read(laps_over({0}, 3));
  const ProbeReading near_past = past.read(laps_over({0}, 3));
  h.memory = cold.fastest;
  // Rows stay open and save time too, but are closed by a refresh now and then: some of these loads show it.
  h.l2.present = warm.slowest < cold.fastest;
  h.l2.hit = near_past.fastest;
  h.l1.present = near.slowest < kCacheSaves * near_past.fastest;
  h.l1.hit = near.fastest;
  if (h.l2.present) h.l2.limit = between(warm.slowest, cold.fastest);
  if (h.l1.present) h.l1.limit = between(near.slowest, h.l2.present ? near_past.fastest : cold.fastest);
  if (h.l1.present) h.l1.capacity = largest_that_hits(cached, {32, 1, 2, h.l1.limit, kMostL1});
  if (h.l2.present) {
    const uint32_t limit = limit_of_warp(past, 32);
    h.l2.capacity = largest_that_hits(past, {32, 32, 1, limit, std::min(kMostL2, past.reach()), true}, alike);
  }
  return h;
}

}  // namespace gpusim::microbench
