// Groups of addresses that do not fit a cache together. Loaded round and round, a group whose lines fit their
// sets stops missing; one with more lines of a set than the set has ways goes on missing, whatever the
// replacement policy. All structure of a cache follows from which groups fit.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "microbench/probe.h"

namespace gpusim::microbench {

/// Addresses k * stride for k < count, and the members.
struct Group {
  uint32_t stride = 0, count = 0;
  std::vector<uint32_t> members;
};

class ConflictTest {
 public:
  /// `limit`: clocks of the probe that a hit takes at most.
  ConflictTest(const Probe& probe, uint32_t limit) : probe_(probe), limit_(limit) {}

  /// For each group, whether it overflows some set.
  [[nodiscard]] std::vector<bool> overflow(std::span<const Group> groups) const;
  [[nodiscard]] bool overflow(const Group& group) const { return overflow({&group, 1}).front(); }
  [[nodiscard]] const Probe& probe() const { return probe_; }
  [[nodiscard]] uint32_t limit() const { return limit_; }

 private:
  Probe probe_;
  uint32_t limit_;
};

/// Lines that are tried together, at even distances, to overflow a set.
inline constexpr uint32_t kMostLines = 32768;

/// Addresses of one set, one more than it has ways: a group that overflows, but no part of which does. Empty
/// if none was found within the probe's reach.
[[nodiscard]] std::vector<uint32_t> smallest_overflow(const ConflictTest& test);

}  // namespace gpusim::microbench
