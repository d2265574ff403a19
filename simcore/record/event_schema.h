// The event records of a run (DESIGN section 6): packed structs and their self-description. Cycles are core cycles since the
// start of the simulation unless a column says otherwise. Summary level: block, phase, slot; memory level adds memory, cache,
// mshr, dram; all adds issue, stall, branch.
#pragma once
#include <cstdint>

#include "simcore/record/recorder.h"

namespace gpusim::core {

/// A thread block's stay on an SM.
struct BlockEvent {
  uint64_t start, end, block;
  uint16_t sm, slot;
  uint32_t reserved;
};
/// One barrier interval of a block: `interval` counts from 0, from one barrier's release (or the block's start) to the next.
struct PhaseEvent {
  uint64_t block, start, end;
  uint32_t interval;
  uint32_t reserved;
};
/// A block that starts in a slot of an SM after another has left it.
struct SlotEvent {
  uint64_t time, next_block, previous_block;  ///< previous_block: kNoBlock if the slot was new
  uint16_t sm, slot;
  uint32_t reserved;
};
inline constexpr uint64_t kNoBlock = ~uint64_t{0};
/// One warp access to device or constant memory, from issue to its last reply.
struct MemoryEvent {
  uint64_t issue, complete, address;
  uint32_t bytes, pc;
  uint16_t sm, warp, transactions;
  uint8_t level, is_write;
};
/// A look-up in a cache.
struct CacheEvent {
  uint64_t cycle, address;
  uint16_t unit;        ///< SM, cluster or partition number
  uint8_t cache, hit;   ///< cache: 1, 2, 3 constant level
  uint32_t reserved;
};
/// Entries in use after a change.
struct MshrEvent {
  uint64_t cycle;
  uint16_t sm, in_use;
  uint32_t reserved;
};
/// A DRAM command; cycle is a DRAM cycle.
struct DramEvent {
  uint64_t cycle, row;
  uint16_t channel, bank;
  uint8_t command, is_write;
  uint16_t reserved;
};
inline constexpr uint8_t kDramActivate = 0, kDramPrecharge = 1, kDramRead = 2, kDramWrite = 3, kDramRefresh = 4;
struct IssueEvent {
  uint64_t cycle;
  uint32_t pc, active_lanes;
  uint16_t sm, warp;
  uint8_t scheduler;
  uint8_t reserved[3];
};
/// Empty issue slots of one scheduler with one cause, [from, to).
struct StallEvent {
  uint64_t from, to;
  uint32_t pc;
  uint16_t sm, warp;
  uint8_t scheduler, cause;
  uint16_t reserved;
  uint32_t reserved2;
};
struct BranchEvent {
  uint64_t cycle;
  uint32_t pc, active, taken;
  uint16_t sm, warp;
};

[[nodiscard]] TableSchema block_event_schema();
[[nodiscard]] TableSchema phase_event_schema();
[[nodiscard]] TableSchema slot_event_schema();
[[nodiscard]] TableSchema memory_event_schema();
[[nodiscard]] TableSchema cache_event_schema();
[[nodiscard]] TableSchema mshr_event_schema();
[[nodiscard]] TableSchema dram_event_schema();
[[nodiscard]] TableSchema issue_event_schema();
[[nodiscard]] TableSchema stall_event_schema();
[[nodiscard]] TableSchema branch_event_schema();

}  // namespace gpusim::core
