#include "simcore/record/event_schema.h"

#include <array>
#include <cstddef>
#include <type_traits>

namespace gpusim::core {
namespace {

template <typename T>
constexpr ColumnType column_type() {
  if constexpr (sizeof(T) == 1) return ColumnType::kU8;
  if constexpr (sizeof(T) == 2) return ColumnType::kU16;
  if constexpr (sizeof(T) == 4) return ColumnType::kU32;
  return ColumnType::kU64;
}

#define COLUMN(record, member, unit, meaning) \
  Column { #member, column_type < decltype(record::member)>(), offsetof(record, member), unit, meaning }

constexpr const char* kCycles = "core cycles";
constexpr const char* kPcMeaning = "PTX statement, row of per_pc";
constexpr const char* kWarpMeaning = "warp slot of the SM";

}  // namespace

std::string_view memory_level_name(MemoryLevel level) {
  static constexpr std::array<std::string_view, 10> kNames{
      "shared",     "constant_l1", "constant_l2", "constant_l3", "texture_l1",
      "texture_l2", "l1",          "l2",          "dram",        "none"};
  const auto index = static_cast<size_t>(level);
  return index < kNames.size() ? kNames[index] : "?";
}

const TableSchema& block_schema() {
  static const TableSchema schema{
      "events/block",
      "residency of each thread block",
      sizeof(BlockEvent),
      {COLUMN(BlockEvent, start, kCycles, "dispatch to the SM"),
       COLUMN(BlockEvent, end, kCycles, "last warp left"),
       COLUMN(BlockEvent, block, "", "linear block index in the grid"),
       COLUMN(BlockEvent, sm, "", "SM index"), COLUMN(BlockEvent, slot, "", "block slot of the SM")}};
  return schema;
}

const TableSchema& phase_schema() {
  static const TableSchema schema{
      "events/phase",
      "barrier intervals of each block",
      sizeof(PhaseEvent),
      {COLUMN(PhaseEvent, start, kCycles, "start of the block, or release of the barrier before"),
       COLUMN(PhaseEvent, end, kCycles, "release of the barrier, or end of the block"),
       COLUMN(PhaseEvent, block, "", "linear block index in the grid"),
       COLUMN(PhaseEvent, interval, "", "number of the interval within the block, from 0")}};
  return schema;
}

const TableSchema& slot_schema() {
  static const TableSchema schema{
      "events/slot",
      "which block followed which in a block slot",
      sizeof(SlotEvent),
      {COLUMN(SlotEvent, time, kCycles, "dispatch of the next block"),
       COLUMN(SlotEvent, previous, "", "block that left the slot; 4294967295: none"),
       COLUMN(SlotEvent, next, "", "block that took the slot"), COLUMN(SlotEvent, sm, "", "SM index"),
       COLUMN(SlotEvent, slot, "", "block slot of the SM")}};
  return schema;
}

const TableSchema& memory_schema() {
  static const TableSchema schema{
      "events/memory",
      "warp memory instructions",
      sizeof(MemoryEvent),
      {COLUMN(MemoryEvent, issue, kCycles, "issue"),
       COLUMN(MemoryEvent, complete, kCycles,
              "data back in the registers; for a store, accepted by the memory system"),
       COLUMN(MemoryEvent, address, "", "byte address of the lowest active lane"),
       COLUMN(MemoryEvent, block, "", "linear block index in the grid"),
       COLUMN(MemoryEvent, pc, "", kPcMeaning),
       COLUMN(MemoryEvent, bytes, "bytes", "requested by all active lanes"),
       COLUMN(MemoryEvent, sm, "", "SM index"), COLUMN(MemoryEvent, warp, "", "warp index in the block"),
       COLUMN(MemoryEvent, transactions, "transactions",
              "memory transactions, or bank passes of shared memory"),
       COLUMN(MemoryEvent, level, "",
              "slowest level that served it: 0 shared, 1-3 constant L1-L3, 4-5 texture L1-L2, 6 L1, 7 L2, 8 "
              "DRAM, 9 none"),
       COLUMN(MemoryEvent, kind, "", "0 load, 1 store, 2 atomic")}};
  return schema;
}

const TableSchema& issue_schema() {
  static const TableSchema schema{
      "events/issue",
      "issued warp instructions",
      sizeof(IssueEvent),
      {COLUMN(IssueEvent, cycle, kCycles, "issue"), COLUMN(IssueEvent, pc, "", kPcMeaning),
       COLUMN(IssueEvent, lanes, "", "mask of active lanes, lane 0 in bit 0"),
       COLUMN(IssueEvent, sm, "", "SM index"), COLUMN(IssueEvent, warp, "", kWarpMeaning),
       COLUMN(IssueEvent, scheduler, "", "scheduler of the SM")}};
  return schema;
}

const TableSchema& stall_schema() {
  static const TableSchema schema{
      "events/stall",
      "runs of empty issue slots with one cause",
      sizeof(StallEvent),
      {COLUMN(StallEvent, from, kCycles, "first empty slot"),
       COLUMN(StallEvent, to, kCycles, "end, exclusive"),
       COLUMN(StallEvent, pc, "", "statement that could not issue, row of per_pc"),
       COLUMN(StallEvent, sm, "", "SM index"),
       COLUMN(StallEvent, warp, "", "warp slot that would have issued; 65535: none"),
       COLUMN(StallEvent, scheduler, "", "scheduler of the SM"),
       COLUMN(StallEvent, cause, "", "row of issue_slots")}};
  return schema;
}

const TableSchema& cache_schema() {
  static const TableSchema schema{
      "events/cache",
      "cache look-ups",
      sizeof(CacheEvent),
      {COLUMN(CacheEvent, cycle, kCycles, "look-up"),
       COLUMN(CacheEvent, address, "", "byte address of the line"),
       COLUMN(CacheEvent, unit, "", "SM, cluster or partition that holds the cache"),
       COLUMN(CacheEvent, cache, "", "1-3 constant L1-L3, 4-5 texture L1-L2, 6 L1, 7 L2, 8 instructions"),
       COLUMN(CacheEvent, result, "",
              "0 hit, 1 miss, 2 miss merged with an outstanding one, 3 no room, 4 write")}};
  return schema;
}

const TableSchema& mshr_schema() {
  static const TableSchema schema{
      "events/mshr",
      "miss-status registers",
      sizeof(MshrEvent),
      {COLUMN(MshrEvent, cycle, kCycles, "time"), COLUMN(MshrEvent, address, "", "byte address of the line"),
       COLUMN(MshrEvent, sm, "", "SM index"), COLUMN(MshrEvent, occupied, "entries", "in use afterwards"),
       COLUMN(MshrEvent, action, "", "0 allocate, 1 merge, 2 release, 3 refused: full")}};
  return schema;
}

const TableSchema& dram_schema() {
  static const TableSchema schema{
      "events/dram",
      "DRAM commands",
      sizeof(DramEvent),
      {COLUMN(DramEvent, cycle, "memory cycles", "command on the bus"), COLUMN(DramEvent, row, "", "row"),
       COLUMN(DramEvent, channel, "", "channel (partition)"), COLUMN(DramEvent, bank, "", "bank"),
       COLUMN(DramEvent, command, "", "0 activate, 1 precharge, 2 read, 3 write, 4 refresh"),
       COLUMN(DramEvent, write, "", "1 if the request that caused it is a write")}};
  return schema;
}

const TableSchema& branch_schema() {
  static const TableSchema schema{
      "events/branch",
      "branches that could diverge",
      sizeof(BranchEvent),
      {COLUMN(BranchEvent, cycle, kCycles, "issue"), COLUMN(BranchEvent, pc, "", kPcMeaning),
       COLUMN(BranchEvent, active, "", "mask of lanes that executed it"),
       COLUMN(BranchEvent, taken, "", "mask of lanes that jumped"), COLUMN(BranchEvent, sm, "", "SM index"),
       COLUMN(BranchEvent, warp, "", kWarpMeaning)}};
  return schema;
}

std::span<const EventTableInfo> event_tables() {
  static constexpr std::array<EventTableInfo, 10> kTables{{{EventLevel::kSummary, block_schema},
                                                           {EventLevel::kSummary, phase_schema},
                                                           {EventLevel::kSummary, slot_schema},
                                                           {EventLevel::kMemory, memory_schema},
                                                           {EventLevel::kMemory, cache_schema},
                                                           {EventLevel::kMemory, mshr_schema},
                                                           {EventLevel::kMemory, dram_schema},
                                                           {EventLevel::kAll, issue_schema},
                                                           {EventLevel::kAll, stall_schema},
                                                           {EventLevel::kAll, branch_schema}}};
  return kTables;
}

}  // namespace gpusim::core
