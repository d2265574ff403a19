// Warps' traces from what a run recorded, on recordings whose traces are known.
#include "analysis/models/reuse_distance/recording.h"

#include <gtest/gtest.h>

#include "analysis/testing/small_recording.h"
#include "simcore/record/event_schema.h"

namespace gpusim::analysis {
namespace {

/// One block whose warps issue a load each in the same cycle. They ask the cache for line w of warp w, in the
/// order of their warps, and complete in the other.
std::string loads_at_once(uint32_t warps) {
  test::SmallRecording r;
  r.level = core::EventLevel::kMemory;
  for (const auto& [name, value] :
       std::initializer_list<std::pair<const char*, uint64_t>>{{"threads_per_block", 32ul * warps},
                                                               {"warps_per_block", warps},
                                                               {"registers", 16},
                                                               {"shared_bytes", 0}})
    r.attributes.push_back({name, "", value, false});
  r.events = [warps](core::Recorder& recorder) {
    recorder.table<core::BlockEvent>()->append({.start = 0, .end = 900, .block = 0, .sm = 0, .slot = 0});
    recorder.table<core::PhaseEvent>()->append({.start = 0, .end = 900, .block = 0, .interval = 0});
    auto* const cache = recorder.table<core::CacheEvent>();
    for (uint32_t w = 0; w < warps; ++w)
      cache->append({.cycle = 100 + w,
                     .address = 128 * w,
                     .unit = 0,
                     .cache = 6,
                     .result = core::CacheResult::kMiss,
                     .sectors = 1});
    auto* const memory = recorder.table<core::MemoryEvent>();
    for (uint32_t w = warps; w-- > 0;)
      memory->append({.issue = 100,
                      .complete = 800 - w,
                      .address = 128 * w,
                      .block = 0,
                      .pc = 0,
                      .bytes = 4,
                      .sm = 0,
                      .warp = w,
                      .transactions = 1,
                      .level = core::MemoryLevel::kDram,
                      .kind = core::AccessKind::kLoad});
  };
  return r.write(test::temp_path(std::to_string(warps) + ".h5"));
}

TEST(ReuseRecording, WhatAllSchedulersIssueInOneCycleAskedTheCacheInItsOrder) {
  // An SM has eight schedulers at most.
  for (const uint32_t warps : {2u, 8u}) {
    const Recording recording(loads_at_once(warps));
    const WarpTrace trace = recorded_warp_trace(recording, recording.kernel(0));
    EXPECT_EQ(trace.header().block_warps, warps);
    for (uint32_t w = 0; w < warps; ++w) {
      WarpCursor cursor = trace.warp(0, w);
      WarpStep step;
      ASSERT_TRUE(cursor.next(step));
      EXPECT_EQ(step.kind, WarpStep::Kind::kAccess);
      EXPECT_FALSE(step.bypasses) << w;
      EXPECT_EQ(step.address[0], 128 * w + 1) << "the line, and its first sector";
    }
  }
  // More of them are of a damaged file, and as many have too many orders to try.
  const Recording damaged(loads_at_once(9));
  EXPECT_THROW((void)recorded_warp_trace(damaged, damaged.kernel(0)), core::RecordError);
}

}  // namespace
}  // namespace gpusim::analysis
