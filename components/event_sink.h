// Where components write events: one pointer per event table, null if the run does not record it, so that an unrecorded event
// costs one test. The Gpu fills it at the start of each kernel from the recorder and the event level.
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

}  // namespace gpusim::comp
