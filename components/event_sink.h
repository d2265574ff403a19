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

/// One look-up in constant cache level `level` of unit `unit` (SM, cluster or partition number).
inline void record_cache_event(core::EventTable& table, uint64_t cycle, uint64_t address, uint32_t unit,
                               uint8_t level, bool hit) {
  core::CacheEvent e{};
  e.cycle = cycle;
  e.address = address;
  e.unit = static_cast<uint16_t>(unit);
  e.cache = level;
  e.result = static_cast<uint8_t>(hit ? core::CacheResult::kHit : core::CacheResult::kMiss);
  table.append(&e);
}

}  // namespace gpusim::comp
