// The event tables of a recorded run: one packed record per row. EventLevel::kSummary records `block`,
// `phase` and `slot`, kMemory also `memory`, `cache`, `mshr` and `dram`, kAll also `issue`, `stall` and
// `branch`. Cycles are core (shader) cycles unless a column says otherwise. Together `block`, `phase`, `slot`
// and `memory` are the run's task graph. Needs neither SystemC nor HDF5, so that analysis/ can use it alone.
#pragma once
#include <cstdint>
#include <string_view>

#include "simcore/record/event_table.h"

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

#define GPUSIM_BLOCK_EVENT(COLUMN)                              \
  COLUMN(uint64_t, start, "core cycles", "dispatch to the SM")  \
  COLUMN(uint64_t, end, "core cycles", "last warp left")        \
  COLUMN(uint32_t, block, "", "linear block index in the grid") \
  COLUMN(uint16_t, sm, "", "SM index")                          \
  COLUMN(uint16_t, slot, "", "block slot of the SM")
/// events/block: one row per block that ran
struct BlockEvent {
  GPUSIM_EVENT(BlockEvent, "events/block", "residency of each thread block", EventLevel::kSummary,
               GPUSIM_BLOCK_EVENT)
};

#define GPUSIM_PHASE_EVENT(COLUMN)                                                               \
  COLUMN(uint64_t, start, "core cycles", "start of the block, or release of the barrier before") \
  COLUMN(uint64_t, end, "core cycles", "release of the barrier, or end of the block")            \
  COLUMN(uint32_t, block, "", "linear block index in the grid")                                  \
  COLUMN(uint32_t, interval, "", "number of the interval within the block, from 0")
/// events/phase: one barrier interval of a block
struct PhaseEvent {
  GPUSIM_EVENT(PhaseEvent, "events/phase", "barrier intervals of each block", EventLevel::kSummary,
               GPUSIM_PHASE_EVENT)
};

#define GPUSIM_SLOT_EVENT(COLUMN)                                              \
  COLUMN(uint64_t, time, "core cycles", "dispatch of the next block")          \
  COLUMN(uint32_t, previous, "", "block that left the slot; 4294967295: none") \
  COLUMN(uint32_t, next, "", "block that took the slot")                       \
  COLUMN(uint16_t, sm, "", "SM index")                                         \
  COLUMN(uint16_t, slot, "", "block slot of the SM")
/// events/slot: `next` took over the slot of `previous`
struct SlotEvent {
  GPUSIM_EVENT(SlotEvent, "events/slot", "which block followed which in a block slot", EventLevel::kSummary,
               GPUSIM_SLOT_EVENT)
};

#define GPUSIM_MEMORY_EVENT(COLUMN)                                                                      \
  COLUMN(uint64_t, issue, "core cycles", "issue")                                                        \
  COLUMN(uint64_t, complete, "core cycles",                                                              \
         "data back in the registers; for a store, accepted by the memory system")                       \
  COLUMN(uint64_t, address, "", "byte address of the lowest active lane")                                \
  COLUMN(uint32_t, block, "", "linear block index in the grid")                                          \
  COLUMN(uint32_t, pc, "", "PTX statement, row of per_pc")                                               \
  COLUMN(uint32_t, bytes, "bytes", "requested by all active lanes")                                      \
  COLUMN(uint16_t, sm, "", "SM index")                                                                   \
  COLUMN(uint16_t, warp, "", "warp index in the block")                                                  \
  COLUMN(uint16_t, transactions, "transactions", "memory transactions, or bank passes of shared memory") \
  COLUMN(MemoryLevel, level, "",                                                                         \
         "slowest level that served it: 0 shared, 1-3 constant L1-L3, 4-5 texture L1-L2, 6 L1, 7 L2, 8 " \
         "DRAM, 9 none")                                                                                 \
  COLUMN(AccessKind, kind, "", "0 load, 1 store, 2 atomic")
/// events/memory: one warp memory instruction
struct MemoryEvent {
  GPUSIM_EVENT(MemoryEvent, "events/memory", "warp memory instructions", EventLevel::kMemory,
               GPUSIM_MEMORY_EVENT)
};

#define GPUSIM_ISSUE_EVENT(COLUMN)                                     \
  COLUMN(uint64_t, cycle, "core cycles", "issue")                      \
  COLUMN(uint32_t, pc, "", "PTX statement, row of per_pc")             \
  COLUMN(uint32_t, lanes, "", "mask of active lanes, lane 0 in bit 0") \
  COLUMN(uint16_t, sm, "", "SM index")                                 \
  COLUMN(uint16_t, warp, "", "warp slot of the SM")                    \
  COLUMN(uint8_t, scheduler, "", "scheduler of the SM")
/// events/issue: one issued warp instruction
struct IssueEvent {
  GPUSIM_EVENT(IssueEvent, "events/issue", "issued warp instructions", EventLevel::kAll, GPUSIM_ISSUE_EVENT)
};

#define GPUSIM_STALL_EVENT(COLUMN)                                            \
  COLUMN(uint64_t, from, "core cycles", "first empty slot")                   \
  COLUMN(uint64_t, to, "core cycles", "end, exclusive")                       \
  COLUMN(uint32_t, pc, "", "statement that could not issue, row of per_pc")   \
  COLUMN(uint16_t, sm, "", "SM index")                                        \
  COLUMN(uint16_t, warp, "", "warp slot that would have issued; 65535: none") \
  COLUMN(uint8_t, scheduler, "", "scheduler of the SM")                       \
  COLUMN(uint8_t, cause, "", "row of issue_slots")
/// events/stall: a run of empty issue slots with one cause
struct StallEvent {
  GPUSIM_EVENT(StallEvent, "events/stall", "runs of empty issue slots with one cause", EventLevel::kAll,
               GPUSIM_STALL_EVENT)
};

#define GPUSIM_CACHE_EVENT(COLUMN)                                                                \
  COLUMN(uint64_t, cycle, "core cycles", "look-up")                                               \
  COLUMN(uint64_t, address, "", "byte address of the line")                                       \
  COLUMN(uint16_t, unit, "", "SM, cluster or partition that holds the cache")                     \
  COLUMN(uint8_t, cache, "", "1-3 constant L1-L3, 4-5 texture L1-L2, 6 L1, 7 L2, 8 instructions") \
  COLUMN(CacheResult, result, "",                                                                 \
         "0 hit, 1 miss, 2 miss merged with an outstanding one, 3 no room, 4 write")              \
  COLUMN(uint8_t, sectors, "",                                                                    \
         "L1: sectors of 32 bytes of the line that are asked for, the first in bit 0; else 0")
/// events/cache: one look-up
struct CacheEvent {
  GPUSIM_EVENT(CacheEvent, "events/cache", "cache look-ups", EventLevel::kMemory, GPUSIM_CACHE_EVENT)
};

#define GPUSIM_MSHR_EVENT(COLUMN)                            \
  COLUMN(uint64_t, cycle, "core cycles", "time")             \
  COLUMN(uint64_t, address, "", "byte address of the line")  \
  COLUMN(uint16_t, sm, "", "SM index")                       \
  COLUMN(uint16_t, occupied, "entries", "in use afterwards") \
  COLUMN(MshrAction, action, "", "0 allocate, 1 merge, 2 release, 3 refused: full")
/// events/mshr
struct MshrEvent {
  GPUSIM_EVENT(MshrEvent, "events/mshr", "miss-status registers", EventLevel::kMemory, GPUSIM_MSHR_EVENT)
};

#define GPUSIM_DRAM_EVENT(COLUMN)                                                         \
  COLUMN(uint64_t, cycle, "memory cycles", "command on the bus")                          \
  COLUMN(uint32_t, row, "", "row")                                                        \
  COLUMN(uint16_t, channel, "", "channel (partition)")                                    \
  COLUMN(uint8_t, bank, "", "bank")                                                       \
  COLUMN(DramCommand, command, "", "0 activate, 1 precharge, 2 read, 3 write, 4 refresh") \
  COLUMN(uint8_t, write, "", "1 if the request that caused it is a write")
/// events/dram: one command
struct DramEvent {
  GPUSIM_EVENT(DramEvent, "events/dram", "DRAM commands", EventLevel::kMemory, GPUSIM_DRAM_EVENT)
};

#define GPUSIM_BRANCH_EVENT(COLUMN)                              \
  COLUMN(uint64_t, cycle, "core cycles", "issue")                \
  COLUMN(uint32_t, pc, "", "PTX statement, row of per_pc")       \
  COLUMN(uint32_t, active, "", "mask of lanes that executed it") \
  COLUMN(uint32_t, taken, "", "mask of lanes that jumped")       \
  COLUMN(uint16_t, sm, "", "SM index")                           \
  COLUMN(uint16_t, warp, "", "warp slot of the SM")
/// events/branch: one executed branch that could diverge
struct BranchEvent {
  GPUSIM_EVENT(BranchEvent, "events/branch", "branches that could diverge", EventLevel::kAll,
               GPUSIM_BRANCH_EVENT)
};
}  // namespace gpusim::core
