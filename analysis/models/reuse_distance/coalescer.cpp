#include "analysis/models/reuse_distance/coalescer.h"

#include <algorithm>
#include <bit>

namespace gpusim::analysis {
namespace {

constexpr uint32_t kSectorBytes = 32, kHalfWarp = 16;

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

void ReuseCoalescer::add_bytes(uint64_t first, uint64_t bytes, LineTransactions& out) const {
  const uint64_t offset = first % line_bytes_;
  out.append(first / line_bytes_, sectors_of(offset, offset + bytes - 1));
}

/// 1.2 and 1.3: the segment of the lowest lane that is left, made smaller while half of it is not asked for.
void ReuseCoalescer::add_segments(const WarpStep& access, const uint64_t* address, uint32_t mask,
                                  LineTransactions& out) const {
  const uint64_t segment = access.bytes == 1 ? 32 : access.bytes == 2 ? 64 : 128;
  while (mask != 0) {
    const uint64_t base = address[std::countr_zero(mask)] & ~(segment - 1);
    uint64_t low = ~uint64_t{0}, high = 0;
    uint32_t rest = 0;
    for (uint32_t bits = mask; bits != 0; bits &= bits - 1) {
      const auto lane = static_cast<uint32_t>(std::countr_zero(bits));
      if ((address[lane] & ~(segment - 1)) != base) {
        rest |= 1u << lane;
        continue;
      }
      low = std::min(low, address[lane]);
      high = std::max(high, address[lane] + access.bytes);
    }
    uint64_t first = base, bytes = segment;
    while (bytes > kSectorBytes) {
      const uint64_t half = bytes / 2;
      if (low >= first + half)
        first += half;
      else if (high > first + half)
        break;
      bytes = half;
    }
    add_bytes(first, bytes, out);
    mask = rest;
  }
}

/// 1.0 and 1.1: one piece if lane k asks for word k of it, else 32 bytes for each lane.
void ReuseCoalescer::add_words(const WarpStep& access, const uint64_t* address, uint32_t mask,
                               LineTransactions& out) const {
  const uint64_t word = access.bytes, piece = kHalfWarp * word;
  const auto lowest = static_cast<uint32_t>(std::countr_zero(mask));
  const uint64_t base = address[lowest] - lowest % kHalfWarp * word;
  bool together = (word == 4 || word == 8 || word == 16) && base % piece == 0;
  for (uint32_t bits = mask; bits != 0 && together; bits &= bits - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(bits));
    together = address[lane] == base + lane % kHalfWarp * word;
  }
  if (together) {
    for (uint64_t done = 0; done < piece; done += line_bytes_.value())
      add_bytes(base + done, std::min(piece - done, line_bytes_.value()), out);
    return;
  }
  for (uint32_t bits = mask; bits != 0; bits &= bits - 1)
    add_bytes(address[std::countr_zero(bits)] & ~uint64_t{kSectorBytes - 1}, kSectorBytes, out);
}

void ReuseCoalescer::coalesce(const WarpStep& access, const LaneRuns& runs, uint64_t base,
                              LineTransactions& out) const {
  out.clear();
  if (access.by_lines) {
    const uint32_t all_sectors = sectors_of(0, line_bytes_.value() - 1);
    for (const LaneRuns::Run& r : runs)
      for (uint32_t i = 0; i < r.lanes; ++i) {
        const uint64_t line = r.first + base + i * r.difference;
        out.append(line / line_bytes_, static_cast<uint32_t>(line % line_bytes_) & all_sectors);
      }
    return;
  }
  if (rule_ != core::CoalescingRule::kCc20) {
    std::array<uint64_t, WarpStep::kLanes> address;
    uint32_t left = access.lanes;
    for (const LaneRuns::Run& r : runs)
      for (uint32_t i = 0; i < r.lanes; ++i, left &= left - 1)
        address[static_cast<size_t>(std::countr_zero(left))] = r.first + base + i * r.difference;
    for (const uint32_t half : {0x0000ffffu, 0xffff0000u}) {
      const uint32_t lanes = access.lanes & half;
      if (lanes == 0) continue;
      if (rule_ == core::CoalescingRule::kCc12)
        add_segments(access, address.data(), lanes, out);
      else
        add_words(access, address.data(), lanes, out);
    }
    return;
  }
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
