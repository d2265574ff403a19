#include "microbench/hierarchy.h"

#include <fmt/format.h>

#include <algorithm>

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

uint64_t largest_that_hits(const Probe& probe, const Footprint& f) {
  const uint64_t step = uint64_t{f.stride} * f.threads;
  const auto hits = [&](uint64_t steps) {
    ProbeRequest r;
    r.stride = f.stride;
    r.threads = f.threads;
    r.rounds = static_cast<uint32_t>(steps);
    r.laps = f.laps;
    r.limit = f.limit;
    return probe.read(r).slow == 0;
  };
  uint64_t good = 0, bad = 1;
  while (bad * step <= f.most && hits(bad)) good = bad, bad *= 2;
  if (bad * step > f.most) return good * step;
  while (bad - good > 1) {
    const uint64_t middle = good + (bad - good) / 2;
    (hits(middle) ? good : bad) = middle;
  }
  return good * step;
}

Hierarchy find_hierarchy(Device& device) {
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
    h.l2.capacity = largest_that_hits(past, {32, 32, 2, limit, std::min(kMostL2, past.reach())});
  }
  return h;
}

}  // namespace gpusim::microbench
