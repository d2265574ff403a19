// Where components write events: one pointer per event table, null if the run does not record it, so that an
// unrecorded event costs one test. The Gpu fills it at the start of each kernel from the recorder and the
// event level.
#pragma once
#include "simcore/record/event_schema.h"
#include "simcore/record/recorder.h"

namespace gpusim::comp {

struct EventSink {
  core::EventTable* block = nullptr;
  core::EventTable* phase = nullptr;
  core::EventTable* slot = nullptr;
  core::EventTable* memory = nullptr;
  core::EventTable* cache = nullptr;
  core::EventTable* mshr = nullptr;
  core::EventTable* dram = nullptr;
  core::EventTable* issue = nullptr;
  core::EventTable* stall = nullptr;
  core::EventTable* branch = nullptr;
};

/// Codes of events/cache, besides 1 and 3 for the other levels of the constant cache.
inline constexpr uint8_t kConstantL2Cache = 2, kTextureL1Cache = 4, kTextureL2Cache = 5, kL1Cache = 6,
                         kL2Cache = 7, kInstructionCache = 8;

/// One look-up in cache `cache` of unit `unit` (SM, cluster or partition number).
inline void record_cache_event(core::EventTable& table, uint64_t cycle, uint64_t address, uint32_t unit,
                               uint8_t cache, core::CacheResult result) {
  core::CacheEvent e{};
  e.cycle = cycle;
  e.address = address;
  e.unit = static_cast<uint16_t>(unit);
  e.cache = cache;
  e.result = static_cast<uint8_t>(result);
  table.append(&e);
}
inline void record_cache_event(core::EventTable& table, uint64_t cycle, uint64_t address, uint32_t unit,
                               uint8_t cache, bool hit) {
  record_cache_event(table, cycle, address, unit, cache,
                     hit ? core::CacheResult::kHit : core::CacheResult::kMiss);
}

}  // namespace gpusim::comp
