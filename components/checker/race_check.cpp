#include "components/checker/race_check.h"

namespace gpusim::comp {

namespace {
uint32_t warp_of(uint32_t thread) { return thread / isa::kWarpSize; }
uint32_t lane_of(uint32_t thread) { return thread % isa::kWarpSize; }
}  // namespace

const char* hazard_name(RaceCheck::Hazard hazard) {
  switch (hazard) {
    case RaceCheck::Hazard::kRaw:
      return "read after write";
    case RaceCheck::Hazard::kWar:
      return "write after read";
    case RaceCheck::Hazard::kWaw:
      return "write after write";
    case RaceCheck::Hazard::kNone:
      break;
  }
  return "";
}

void RaceCheck::reset(uint32_t shared_bytes) {
  shared_bytes_ = shared_bytes;
  grain_ = kWord;
  cells_.clear();
}

void RaceCheck::split_words() {
  std::vector<Cell> bytes(shared_bytes_ + kWord);
  for (size_t b = 0; b < bytes.size() && b / kWord < cells_.size(); ++b) bytes[b] = cells_[b / kWord];
  cells_ = std::move(bytes);
  grain_ = 1;
}

bool RaceCheck::conflicts(const BlockClocks& clocks, const Entry& before, const SharedAccess& a) {
  if (before.stamp == 0 || before.thread == a.thread || (before.atomic && a.atomic)) return false;
  if (before.instance == a.instance) return true;
  return !clocks.ordered(warp_of(before.thread), lane_of(before.thread), before.stamp, warp_of(a.thread),
                         lane_of(a.thread));
}

/// Slots 0 and 1 have reads of different warps, slot 2 one of another lane of slot 0's warp. A read that is
/// ordered before this one can be forgotten: what races with it races with this one too, or came before.
void RaceCheck::note_read(const BlockClocks& clocks, Cell& cell, const Entry& entry) {
  const auto replaceable = [&](const Entry& e) {
    return e.stamp == 0 || e.thread == entry.thread ||
           (e.instance != entry.instance && clocks.ordered(warp_of(e.thread), lane_of(e.thread), e.stamp,
                                                           warp_of(entry.thread), lane_of(entry.thread)));
  };
  const auto same_warp = [&](const Entry& e) {
    return e.stamp != 0 && warp_of(e.thread) == warp_of(entry.thread);
  };
  if (replaceable(cell.read[0])) {
    cell.read[0] = entry;
  } else if (same_warp(cell.read[0])) {
    if (replaceable(cell.read[2]) || !same_warp(cell.read[2])) cell.read[2] = entry;
  } else if (replaceable(cell.read[1]) || same_warp(cell.read[1])) {
    cell.read[1] = entry;
  }
}

}  // namespace gpusim::comp
