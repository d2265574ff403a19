// Miss-status holding registers of a cache: the lines that are on their way and who waits for which of their
// sectors. Plain class without time of its own.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "components/cache/free_list.h"
#include "components/cache/tag_array.h"
#include "simcore/memory/sparse_array.h"

namespace gpusim::comp {

/// Why a miss could not be taken (it tries again later).
enum class MshrRefusal : uint8_t {
  kNone,
  kEntries,  ///< all entries are in use
  kMerges,   ///< the line's entry has as many waiters as it can hold
  kWarp,     ///< the warp has as many entries as it may
};

class MshrTable {
 public:
  static constexpr uint32_t kNoEntry = ~0u;
  struct Limits {
    uint32_t entries = 1;
    uint32_t merges = 1;    ///< waiters of one entry
    uint32_t per_warp = 0;  ///< entries that one warp may have asked for; 0: no limit
    uint32_t warps = 0;     ///< that ask; not used without that limit
  };
  explicit MshrTable(const Limits& limits);

  /// The entry of a line, kNoEntry if it is not on its way.
  [[nodiscard]] uint32_t find(uint64_t line) const;
  [[nodiscard]] bool full() const { return free_.empty(); }
  [[nodiscard]] uint32_t in_use() const { return static_cast<uint32_t>(entries_.size() - free_.size()); }
  [[nodiscard]] uint64_t line(uint32_t entry) const { return entries_[entry].line; }
  /// The warp that asked for it first.
  [[nodiscard]] uint32_t warp(uint32_t entry) const { return entries_[entry].warp; }
  /// Its sectors that are on their way.
  [[nodiscard]] SectorMask asked(uint32_t entry) const { return entries_[entry].asked; }

  /// Whether a miss of `warp` on a line without an entry can be taken now.
  [[nodiscard]] MshrRefusal can_allocate(uint32_t warp) const;
  /// Whether a miss on a line that has `entry` can be taken now.
  [[nodiscard]] MshrRefusal can_merge(uint32_t entry) const;
  /// `waiter` waits for `sectors` of a line that has no entry; all of them are asked for.
  uint32_t allocate(uint64_t line, uint32_t warp, uint32_t waiter, SectorMask sectors);
  /// `waiter` waits for `sectors` of the entry's line; returns those that nobody has asked for yet.
  SectorMask merge(uint32_t entry, uint32_t waiter, SectorMask sectors);
  /// Sectors of the line are written elsewhere: those on their way are stale when they come.
  void spoil(uint32_t entry, SectorMask sectors) {
    entries_[entry].spoiled |= sectors & entries_[entry].asked;
  }
  [[nodiscard]] SectorMask spoiled(uint32_t entry) const { return entries_[entry].spoiled; }
  /// `sectors` have come: calls fn(waiter) for each that waits for no more, in the order in which they came.
  /// Frees the entry when nothing of it is on its way any more; true then.
  template <class Fn>
  bool fill(uint32_t entry, SectorMask sectors, Fn fn);

 private:
  struct Waiter {
    uint32_t who = 0;
    SectorMask missing = 0;
  };
  struct Entry {
    uint64_t line = 0;
    SectorMask asked = 0;  ///< on their way
    uint32_t warp = 0;
    uint32_t waiters = 0;
    SectorMask spoiled = 0;
  };
  [[nodiscard]] size_t home(uint64_t line) const { return (line * 0x9e3779b97f4a7c15ull >> 32) & mask_; }
  [[nodiscard]] size_t slot_of(uint64_t line) const;
  void release(uint32_t entry);

  Limits limits_;
  core::SparseArray<Entry> entries_;
  core::SparseArray<Waiter> waiters_;  ///< limits.merges for each entry
  FreeList<uint32_t> free_;
  std::vector<uint32_t> of_warp_;
  size_t mask_;
  std::vector<uint32_t> slots_;  ///< hash table with linear probing: entry, or kNoEntry
};

template <class Fn>
bool MshrTable::fill(uint32_t entry, SectorMask sectors, Fn fn) {
  Entry& e = entries_[entry];
  Waiter* const first = &waiters_[size_t{entry} * limits_.merges];
  uint32_t kept = 0;
  for (uint32_t i = 0; i < e.waiters; ++i) {
    Waiter w = first[i];
    w.missing &= ~sectors;
    if (w.missing != 0)
      first[kept++] = w;
    else
      fn(w.who);
  }
  e.waiters = kept;
  e.asked &= ~sectors;
  e.spoiled &= ~sectors;
  if (e.asked != 0) return false;
  release(entry);
  return true;
}

}  // namespace gpusim::comp
