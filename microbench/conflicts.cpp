#include "microbench/conflicts.h"

#include <algorithm>
#include <bit>

namespace gpusim::microbench {

namespace {

constexpr uint32_t kWidestStride = 65536, kNarrowestStride = 32;
constexpr uint32_t kManyLines = 64;  // more of them settle in fewer laps, by and large
constexpr size_t kLaunches = 128;    // of a program
constexpr uint32_t kPoints = 7;      // that a search looks at together
constexpr size_t kPieces = 64;       // that a group is cut into

/// Smallest count in (low, high] with which the group overflows, if it does with `high` and not with `low`.
uint32_t smallest_count(const ConflictTest& test, Group group, uint32_t low, uint32_t high) {
  while (high - low > 1) {
    std::vector<Group> groups;
    const uint32_t points = std::min(kPoints, high - low - 1);
    for (uint32_t i = 1; i <= points; ++i) {
      group.count = low + static_cast<uint32_t>(uint64_t{high - low} * i / (points + 1));
      groups.push_back(group);
    }
    const std::vector<bool> overflows = test.overflow(groups);
    const auto first = std::find(overflows.begin(), overflows.end(), true) - overflows.begin();
    if (first < static_cast<std::ptrdiff_t>(points)) high = groups[static_cast<size_t>(first)].count;
    if (first > 0) low = groups[static_cast<size_t>(first) - 1].count;
  }
  return high;
}

/// The lines that a group needs to overflow, if these are those of a single set: pieces without any of them
/// can go at once. Empty if more than one set overflows.
std::vector<uint32_t> needed(const ConflictTest& test, std::vector<uint32_t> lines) {
  for (size_t piece = std::bit_ceil(lines.size()) / kPieces + 1;; piece = (piece + 1) / 2) {
    std::vector<Group> groups;
    for (size_t first = 0; first < lines.size(); first += piece) {
      Group rest{0, 0, lines};
      const auto begin = rest.members.begin() + static_cast<std::ptrdiff_t>(first);
      rest.members.erase(begin, begin + static_cast<std::ptrdiff_t>(std::min(piece, lines.size() - first)));
      groups.push_back(std::move(rest));
    }
    const std::vector<bool> overflows = test.overflow(groups);
    std::vector<uint32_t> kept;
    for (size_t i = 0; i < lines.size(); ++i)
      if (!overflows[i / piece]) kept.push_back(lines[i]);
    if (kept.empty() || !test.overflow(Group{0, 0, kept})) return {};
    lines = std::move(kept);
    if (piece == 1) return lines;
  }
}

/// `count`: the smallest with which the lines k * stride overflow. The last line of the shortest prefix that
/// overflows together with those found before is always one of the set.
std::vector<uint32_t> reduce(const ConflictTest& test, uint32_t stride, uint32_t count) {
  if (count <= test.probe().most_members()) {
    std::vector<uint32_t> lines;
    for (uint32_t k = 0; k < count; ++k) lines.push_back(k * stride);
    if (std::vector<uint32_t> kept = needed(test, std::move(lines)); !kept.empty()) return kept;
  }
  Group group{stride, count, {}};
  while (group.count != 0) {
    group.members.push_back((group.count - 1) * stride);
    const uint32_t high = group.count - 1;
    group.count = 0;
    if (test.overflow(group)) break;
    group.count = smallest_count(test, group, 0, high);
  }
  std::sort(group.members.begin(), group.members.end());
  return group.members;
}

}  // namespace

std::vector<bool> ConflictTest::overflow(std::span<const Group> groups) const {
  std::vector<bool> result;
  for (size_t first = 0; first < groups.size(); first += kLaunches) {
    std::vector<ProbeRequest> requests;
    for (const Group& g : groups.subspan(first, std::min(kLaunches, groups.size() - first))) {
      ProbeRequest r;
      r.stride = g.stride;
      r.rounds = g.count;
      r.members = g.members;
      // A level that other kernels have used needs laps until their lines are gone.
      const bool many = g.count + g.members.size() > kManyLines;
      r.laps = probe_.path() == Path::kCached ? 3 : many ? 4 : 10;
      r.limit = limit_;
      requests.push_back(std::move(r));
    }
    for (const ProbeReading& reading : probe_.read(requests)) result.push_back(reading.slow != 0);
  }
  return result;
}

std::vector<uint32_t> smallest_overflow(const ConflictTest& test) {
  // Lines far apart share a set the sooner the better, unless a hash spreads them.
  for (uint32_t stride = kWidestStride; stride >= kNarrowestStride; stride /= 2) {
    const auto most = static_cast<uint32_t>(std::min<uint64_t>(kMostLines, test.probe().reach() / stride));
    uint32_t fits = 1;
    while (fits < most) {
      const uint32_t more = std::min(most, 4 * fits);
      if (test.overflow(Group{stride, more, {}}))
        return reduce(test, stride, smallest_count(test, {stride, 0, {}}, fits, more));
      fits = more;
    }
  }
  return {};
}

}  // namespace gpusim::microbench
