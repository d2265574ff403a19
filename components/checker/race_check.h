// Races of one block in its shared memory: two accesses of different threads to one byte, at least one of
// them a write and not both atomic, that no barrier or other synchronisation orders (BlockClocks). Every word
// has the last write and up to three reads (of two warps, and of two lanes where lanes are independent);
// blocks that access parts of words have a cell for every byte.
#pragma once
#include <cstdint>
#include <vector>

#include "components/checker/block_clocks.h"

namespace gpusim::comp {

/// One lane's access.
struct SharedAccess {
  uint32_t statement = 0;  ///< index into KernelImage::ptx
  uint32_t instance = 0;   ///< of the executed instruction, different for each in a block; never 0
  uint32_t thread = 0;     ///< linear, in the block
  bool write = false;      ///< also a read, if it is atomic
  bool atomic = false;     ///< atom, red, and the strong forms of ld and st, volatile ones included
};

class RaceCheck {
 public:
  void reset(uint32_t shared_bytes);

  enum class Hazard : uint8_t { kNone, kRaw, kWar, kWaw };
  struct Conflict {
    Hazard hazard = Hazard::kNone;
    uint32_t statement = 0, thread = 0;  ///< of the access before
  };
  /// Notes the access and returns the first race with one before it. `same_value(thread)`: the instruction
  /// stores in this thread what it stored in that one, so it does not matter who comes last.
  template <class SameValue>
  Conflict access(const BlockClocks& clocks, uint32_t address, uint32_t bytes, const SharedAccess& a,
                  SameValue same_value);

 private:
  struct Entry {
    uint32_t stamp = 0;  ///< 0: none
    uint32_t statement = 0;
    uint32_t instance = 0;
    uint16_t thread = 0;
    bool atomic = false;
  };
  struct Cell {
    Entry write;
    Entry read[3];
  };
  static constexpr uint32_t kWord = 4;
  void split_words();
  [[nodiscard]] static bool conflicts(const BlockClocks& clocks, const Entry& before, const SharedAccess& a);
  static void note_read(const BlockClocks& clocks, Cell& cell, const Entry& entry);

  uint32_t shared_bytes_ = 0;
  uint32_t grain_ = kWord;   ///< bytes of a cell
  std::vector<Cell> cells_;  ///< made at the first access
};

[[nodiscard]] const char* hazard_name(RaceCheck::Hazard hazard);

template <class SameValue>
RaceCheck::Conflict RaceCheck::access(const BlockClocks& clocks, uint32_t address, uint32_t bytes,
                                      const SharedAccess& a, SameValue same_value) {
  if (cells_.empty()) cells_.resize(shared_bytes_ / grain_ + 1);
  if (grain_ != 1 && (bytes % kWord != 0 || address % kWord != 0)) split_words();
  Conflict found;
  const auto look = [&](const Entry& before, Hazard hazard) {
    if (found.hazard != Hazard::kNone || !conflicts(clocks, before, a)) return;
    if (before.instance == a.instance && same_value(before.thread)) return;
    found = {hazard, before.statement, before.thread};
  };
  const Entry entry{clocks.now(a.thread / isa::kWarpSize), a.statement, a.instance,
                    static_cast<uint16_t>(a.thread), a.atomic};
  for (uint32_t c = address / grain_; c < (address + bytes) / grain_; ++c) {
    Cell& cell = cells_[c];
    look(cell.write, a.write ? Hazard::kWaw : Hazard::kRaw);
    if (!a.write) {
      note_read(clocks, cell, entry);
      continue;
    }
    for (const Entry& read : cell.read) look(read, Hazard::kWar);
    cell.write = entry;
  }
  return found;
}

}  // namespace gpusim::comp
