// A recorded run as a timeline that Perfetto (ui.perfetto.dev) and Chrome's viewer (chrome://tracing) open:
// JSON in the Trace Event Format. Kernels and copies by stream, blocks by SM, and what was counted over time.
#pragma once
#include <cstdint>
#include <functional>
#include <string_view>

#include "analysis/recording/recording.h"

namespace gpusim::analysis {

struct TimelineOptions {
  uint64_t sms = ~uint64_t{0};  ///< blocks of so many SMs, from the first on
};

/// Calls `write` with the pieces of the text. Times are core cycles at the machine's core clock, in
/// microseconds. A run that did not end is shown as far as its kernels ended. Throws core::RecordError.
void write_trace_events(const Recording& recording, const TimelineOptions& options,
                        const std::function<void(std::string_view)>& write);

}  // namespace gpusim::analysis
