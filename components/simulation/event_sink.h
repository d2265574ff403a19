// Where components write events: one pointer per event table, null if the run does not record it, so that an
// unrecorded event costs one test. The Gpu fills it at the start of each kernel from the recorder and the
// event level.
#pragma once
#include "simcore/record/event_schema.h"

namespace gpusim::comp {

struct EventSink {
  core::EventTable<core::BlockEvent>* block = nullptr;
  core::EventTable<core::PhaseEvent>* phase = nullptr;
  core::EventTable<core::SlotEvent>* slot = nullptr;
  core::EventTable<core::MemoryEvent>* memory = nullptr;
  core::EventTable<core::CacheEvent>* cache = nullptr;
  core::EventTable<core::MshrEvent>* mshr = nullptr;
  core::EventTable<core::DramEvent>* dram = nullptr;
  core::EventTable<core::IssueEvent>* issue = nullptr;
  core::EventTable<core::StallEvent>* stall = nullptr;
  core::EventTable<core::BranchEvent>* branch = nullptr;
};

/// Codes of events/cache, besides 1 and 3 for the other levels of the constant cache.
inline constexpr uint8_t kConstantL2Cache = 2, kTextureL1Cache = 4, kTextureL2Cache = 5, kL1Cache = 6,
                         kL2Cache = 7, kInstructionCache = 8;

/// One look-up in cache `cache` of unit `unit` (SM, cluster or partition number).
inline void record_cache_event(core::EventTable<core::CacheEvent>& table, uint64_t cycle, uint64_t address,
                               uint32_t unit, uint8_t cache, core::CacheResult result, uint32_t sectors = 0) {
  table.append({.cycle = cycle,
                .address = address,
                .unit = unit,
                .cache = cache,
                .result = result,
                .sectors = sectors});
}
inline void record_cache_event(core::EventTable<core::CacheEvent>& table, uint64_t cycle, uint64_t address,
                               uint32_t unit, uint8_t cache, bool hit) {
  record_cache_event(table, cycle, address, unit, cache,
                     hit ? core::CacheResult::kHit : core::CacheResult::kMiss);
}

}  // namespace gpusim::comp
