// The event tables of a recorded run: one packed record per row, with unit and meaning of every column.
// Cycles are core (shader) cycles unless a column says otherwise. Together `block`, `phase`, `slot` and
// `memory` are the run's task graph. Needs neither SystemC nor HDF5, so that analysis/ can use it alone.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "simcore/record/recorder.h"

namespace gpusim::core {

/// The levels of the memory hierarchy, the nearest to the SM first, as what served an access (events/memory
/// `level`). Recorded files hold the numbers.
enum class MemoryLevel : uint8_t {
  kShared,
  kConstantL1,
  kConstantL2,
  kConstantL3,
  kTextureL1,
  kTextureL2,
  kL1,
  kL2,
  kDram,
  kNone
};
inline constexpr size_t kNumMemoryLevels = static_cast<size_t>(MemoryLevel::kNone);
[[nodiscard]] std::string_view memory_level_name(MemoryLevel level);
enum class AccessKind : uint8_t { kLoad, kStore, kAtomic };
enum class CacheResult : uint8_t { kHit, kMiss, kMissMerged, kReservationFail, kWrite };
enum class MshrAction : uint8_t { kAllocate, kMerge, kRelease, kFull };
enum class DramCommand : uint8_t { kActivate, kPrecharge, kRead, kWrite, kRefresh };

#pragma pack(push, 1)
struct BlockEvent {  ///< events/block: one row per block that ran
  uint64_t start, end;
  uint32_t block;
  uint16_t sm, slot;
};
struct PhaseEvent {  ///< events/phase: one barrier interval of a block
  uint64_t start, end;
  uint32_t block, interval;
};
struct SlotEvent {  ///< events/slot: `next` took over the slot of `previous`
  uint64_t time;
  uint32_t previous, next;
  uint16_t sm, slot;
};
struct MemoryEvent {  ///< events/memory: one warp memory instruction
  uint64_t issue, complete, address;
  uint32_t block, pc, bytes;
  uint16_t sm, warp, transactions;
  uint8_t level, kind;
};
struct IssueEvent {  ///< events/issue: one issued warp instruction
  uint64_t cycle;
  uint32_t pc, lanes;
  uint16_t sm, warp;
  uint8_t scheduler;
};
struct StallEvent {  ///< events/stall: a run of empty issue slots with one cause
  uint64_t from, to;
  uint32_t pc;
  uint16_t sm, warp;
  uint8_t scheduler, cause;
};
struct CacheEvent {  ///< events/cache: one look-up
  uint64_t cycle, address;
  uint16_t unit;
  uint8_t cache, result;
};
struct MshrEvent {  ///< events/mshr
  uint64_t cycle, address;
  uint16_t sm, occupied;
  uint8_t action;
};
struct DramEvent {  ///< events/dram: one command
  uint64_t cycle;
  uint32_t row;
  uint16_t channel;
  uint8_t bank, command, write;
};
struct BranchEvent {  ///< events/branch: one executed branch that could diverge
  uint64_t cycle;
  uint32_t pc, active, taken;
  uint16_t sm, warp;
};
#pragma pack(pop)

[[nodiscard]] const TableSchema& block_schema();
[[nodiscard]] const TableSchema& phase_schema();
[[nodiscard]] const TableSchema& slot_schema();
[[nodiscard]] const TableSchema& memory_schema();
[[nodiscard]] const TableSchema& issue_schema();
[[nodiscard]] const TableSchema& stall_schema();
[[nodiscard]] const TableSchema& cache_schema();
[[nodiscard]] const TableSchema& mshr_schema();
[[nodiscard]] const TableSchema& dram_schema();
[[nodiscard]] const TableSchema& branch_schema();

/// An event table and the lowest level that records it: summary has block, phase, slot; memory adds memory,
/// cache, mshr, dram; all adds issue, stall, branch.
struct EventTableInfo {
  EventLevel level;
  const TableSchema& (*schema)();
};
[[nodiscard]] std::span<const EventTableInfo> event_tables();
/// True if a recorder at level `have` records tables of level `need`.
[[nodiscard]] constexpr bool level_includes(EventLevel have, EventLevel need) {
  return have >= need && have != EventLevel::kOff;
}

}  // namespace gpusim::core
