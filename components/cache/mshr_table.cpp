#include "components/cache/mshr_table.h"

#include <bit>

namespace gpusim::comp {

MshrTable::MshrTable(const Limits& limits)
    : limits_(limits),
      entries_(limits.entries),
      waiters_(size_t{limits.entries} * limits.merges),
      free_(limits.entries),
      of_warp_(limits.per_warp != 0 ? limits.warps : 0),
      mask_(std::bit_ceil(size_t{limits.entries} * 2) - 1),
      slots_(mask_ + 1, kNoEntry) {}

size_t MshrTable::slot_of(uint64_t line) const {
  size_t s = home(line);
  while (slots_[s] != kNoEntry && entries_[slots_[s]].line != line) s = (s + 1) & mask_;
  return s;
}

uint32_t MshrTable::find(uint64_t line) const { return slots_[slot_of(line)]; }

MshrRefusal MshrTable::can_allocate(uint32_t warp) const {
  if (free_.empty()) return MshrRefusal::kEntries;
  if (limits_.per_warp != 0 && of_warp_[warp] >= limits_.per_warp) return MshrRefusal::kWarp;
  return MshrRefusal::kNone;
}

MshrRefusal MshrTable::can_merge(uint32_t entry) const {
  return entries_[entry].waiters < limits_.merges ? MshrRefusal::kNone : MshrRefusal::kMerges;
}

uint32_t MshrTable::allocate(uint64_t line, uint32_t warp, uint32_t waiter, SectorMask sectors) {
  const uint32_t entry = free_.take();
  entries_[entry] = {line, sectors, warp, 1, 0};
  waiters_[size_t{entry} * limits_.merges] = {waiter, sectors};
  if (limits_.per_warp != 0) ++of_warp_[warp];
  slots_[slot_of(line)] = entry;
  return entry;
}

SectorMask MshrTable::merge(uint32_t entry, uint32_t waiter, SectorMask sectors) {
  Entry& e = entries_[entry];
  waiters_[size_t{entry} * limits_.merges + e.waiters++] = {waiter, sectors};
  const SectorMask missing = sectors & ~e.asked;
  e.asked |= sectors;
  return missing;
}

void MshrTable::release(uint32_t entry) {
  size_t hole = slot_of(entries_[entry].line);
  slots_[hole] = kNoEntry;
  // Entries behind the hole that would have gone there move up.
  for (size_t s = (hole + 1) & mask_; slots_[s] != kNoEntry; s = (s + 1) & mask_) {
    const size_t from = home(entries_[slots_[s]].line);
    if (((s - from) & mask_) < ((s - hole) & mask_)) continue;
    slots_[hole] = slots_[s];
    slots_[s] = kNoEntry;
    hole = s;
  }
  if (limits_.per_warp != 0) --of_warp_[entries_[entry].warp];
  free_.give_back(entry);
}

}  // namespace gpusim::comp
