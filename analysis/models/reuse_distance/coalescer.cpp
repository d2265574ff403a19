#include "analysis/models/reuse_distance/coalescer.h"

#include <algorithm>
#include <bit>

namespace gpusim::analysis {
namespace {

constexpr uint32_t kSectorBytes = 32;

/// Sectors from the one with byte `first` of a line to the one with byte `last`.
uint32_t sectors_of(uint64_t first, uint64_t last) {
  return (2u << last / kSectorBytes) - (1u << first / kSectorBytes);
}

/// The transaction of `line` among those from `from` to `to`; `to` if there is none.
uint32_t find(const LineTransactions& in, uint64_t line, uint32_t from, uint32_t to) {
  while (from < to && in[from].line != line) ++from;
  return from;
}

/// Addresses do not decrease along the run, or do not increase.
bool goes_one_way(const LaneRuns::Run& run) {
  constexpr int64_t kMost = int64_t{1} << 57;  ///< 32 of them are less than all addresses
  const auto difference = static_cast<int64_t>(run.difference);
  if (difference >= kMost || difference <= -kMost) return false;
  const uint64_t last = run.first + (run.lanes - 1) * run.difference;
  return difference >= 0 ? last >= run.first : last <= run.first;
}

}  // namespace

void ReuseCoalescer::add_whole(uint64_t first, uint64_t last, uint32_t group, LineTransactions& out) const {
  const uint32_t before = out.size();
  const uint64_t last_line = last / line_bytes_;
  uint64_t offset = first % line_bytes_;
  for (uint64_t line = first / line_bytes_;; ++line, offset = 0) {
    const uint64_t end = line == last_line ? last % line_bytes_ : line_bytes_.value() - 1;
    const uint32_t t = find(out, line, group, before);
    if (t != before)
      out[t].sectors |= sectors_of(offset, end);
    else
      out.append(line, sectors_of(offset, end));
    if (line == last_line) return;
  }
}

void ReuseCoalescer::add_run(LaneRuns::Run run, uint32_t bytes, uint32_t group, LineTransactions& out) const {
  if (run.difference == 0) run.lanes = 1;
  // Aligned lanes that are not farther apart than a sector leave none out.
  const uint64_t last = run.first + (run.lanes - 1) * run.difference;
  if (run.difference <= kSectorBytes && bytes <= kSectorBytes &&
      ((run.first | run.difference) & (bytes - 1)) == 0 && last >= run.first) {
    add_whole(run.first, last + bytes - 1, group, out);
    return;
  }
  const bool one_way = goes_one_way(run);
  const uint32_t before = out.size();
  uint64_t address = run.first;
  for (uint32_t i = 0; i < run.lanes; ++i, address += run.difference) {
    const uint64_t line = address / line_bytes_, offset = address % line_bytes_;
    const uint64_t end = std::min<uint64_t>(offset + bytes, line_bytes_.value()) - 1;
    // A line of the run's own is the one before, or new, if the run goes one way.
    uint32_t t = out.size();
    if (t != group && out[t - 1].line == line)
      --t;
    else if (const uint32_t to = one_way ? before : t; (t = find(out, line, group, to)) == to)
      t = out.size();
    if (t == out.size()) out.append(line, 0);
    out[t].sectors |= sectors_of(offset, end);
  }
}

void ReuseCoalescer::coalesce(const WarpStep& access, const LaneRuns& runs, uint64_t base,
                              LineTransactions& out) const {
  out.clear();
  const uint32_t together =
      access.bytes <= 4 ? WarpStep::kLanes : std::max(1u, WarpStep::kLanes * 4 / access.bytes);
  if (together == WarpStep::kLanes) {
    for (const LaneRuns::Run& r : runs)
      add_run({r.first + base, r.difference, r.lanes}, access.bytes, 0, out);
    return;
  }
  const LaneRuns::Run* run = runs.begin();
  uint32_t done = 0;  ///< lanes of the run
  for (uint32_t lane = 0; lane < WarpStep::kLanes; lane += together) {
    const uint32_t group = out.size();
    auto left = static_cast<uint32_t>(std::popcount(access.lanes >> lane & ((1u << together) - 1)));
    while (left != 0) {
      const uint32_t lanes = std::min(left, run->lanes - done);
      add_run({run->first + base + done * run->difference, run->difference, lanes}, access.bytes, group, out);
      left -= lanes;
      done += lanes;
      if (done != run->lanes) continue;
      ++run;
      done = 0;
    }
  }
}

}  // namespace gpusim::analysis
