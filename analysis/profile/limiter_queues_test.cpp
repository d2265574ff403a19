// Queues that stand elsewhere than where warps wait: in front of atomics, of one channel of DRAM, of room in
// a line's MSHR, of the steps of shared memory, and of the one SM whose work the others wait for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "analysis/profile/limiter_fixture.h"

namespace gpusim::analysis {
namespace {

using testing::HasSubstr;

class LimiterQueues : public Limiter {
 protected:
  [[nodiscard]] double saved(std::string_view of) const {
    for (const LimiterCandidate& c : limiter_candidates(kernel, machine))
      if (c.name == of) return c.saved / static_cast<double>(kernel.cycles);
    return 0;
  }
  void c1060() { machine = core::load_machine(GPUSIM_SOURCE_DIR "/configs/tesla_c1060.cfg", {}, {}); }
};

/// A load that hits a line on its way waits for the same data as the one that missed.
TEST_F(LimiterQueues, RoomInALinesMshrIsLatencyOfMemory) {
  kernel.causes.push_back({"memory_throttle", 60});
  slots("no_warp", 0);
  unit("lsu_wait_network", "SM", 80, 0.0, 0.0);
  EXPECT_EQ(name(), kNoLimiter);
  unit("lsu_wait_merge", "SM", 80, 0.6, 0.5);
  EXPECT_EQ(name(), "latency");
  unit("lsu_wait_page", "SM", 80, 0.6, 0.5);
  const double half = saved("latency");
  kernel.units.pop_back();
  EXPECT_NEAR(saved("latency"), 2 * half, 0.01) << "half of the waits are for pages";
}

/// A C1060 takes two cycles for each step of an access to shared memory, on the pipe of its arithmetic.
TEST_F(LimiterQueues, StepsOfSharedMemoryAreNoneOfTheirPipe) {
  c1060();
  unit("pipe_sp", "SM", 30, 0.9, 0.9);
  unit("shared", "SM", 30, 0.8, 0.8);
  slots("pipe_busy", 90);
  EXPECT_EQ(name(), "pipe_sp") << "nobody says that lanes met in banks";
  kernel.per_pc.rows = 2;
  kernel.per_pc.texts = {{"class", {"load_shared", "fp32"}}, {"ptx", {"ld", "add"}}};
  kernel.per_pc.numbers = {{"executed", {1000, 1000}},
                           {"replays", {900'000, 0}},
                           {"slots_pipe_busy", {900, 0}},
                           {"ptx_line", {1, 2}},
                           {"source_line", {0, 0}}};
  EXPECT_EQ(name(), "shared");
  EXPECT_THAT(limiter_text(kernel, machine), HasSubstr("shared memory (80 % busy"));
  EXPECT_THAT(limiter_text(kernel, machine), HasSubstr("(bank conflicts)"));
  EXPECT_LT(saved("pipe_sp"), 0.1) << "what is left of it";
}

/// A step takes one cycle on a V100, and the load/store pipe stands for it.
TEST_F(LimiterQueues, StepsOfOneCycleAreTheirPipes) {
  unit("pipe_lsu", "SM", 80, 0.9, 0.9);
  unit("shared", "SM", 80, 0.8, 0.8);
  slots("pipe_busy", 90);
  EXPECT_EQ(name(), "pipe_lsu");
  EXPECT_EQ(saved("shared"), 0);
}

TEST_F(LimiterQueues, APartitionThatHasMostAllTheTimeIsNoCamping) {
  c1060();
  unit("lsu_wait_network", "SM", 30, 0.9, 0.85);
  unit("request_out", "partition", 8, 0.15, 0.14);
  kernel.counters = {{"noc_requests", 100'000}, {"noc_requests_to_busiest", 60'000}};
  EXPECT_EQ(name(), "camping") << "now one and now another";
  kernel.units.pop_back();
  unit("request_out", "partition", 8, 0.6, 0.14);
  unit("dram_bus", "channel", 8, 0.92, 0.2);
  EXPECT_EQ(name(), "dram") << "the channel of the one that has what all ask for";
}

/// Requests to the partition that is the busiest at a time are three times the mean, but the L2 answers nine
/// of ten.
TEST_F(LimiterQueues, WhatTheL2AnswersDoesNotCrowdAtDram) {
  unit("dram_bus", "channel", 64, 0.2, 0.2);
  unit("l2_wait_dram_queue", "partition", 64, 0.2, 0.2);
  kernel.counters = {{"noc_requests", 640'000}, {"noc_requests_to_busiest", 30'000}};
  const double all_go_on = saved("dram");
  kernel.counters["dram_row_hits"] = 640'000;
  EXPECT_NEAR(saved("dram"), all_go_on, 1e-6);
  kernel.counters["dram_row_hits"] = 64'000;
  EXPECT_LT(saved("dram"), all_go_on / 3);
}

/// Warps that wait for what atomics return: for one trip there and back, or for nine turns of others too.
TEST_F(LimiterQueues, AtomicsThatTakeLongerThanATripQueue) {
  kernel.causes.push_back({"memory_l2", 90});
  unit("l2_atomics", "partition", 64, 0.4, 0.01);
  kernel.per_pc.rows = 1;
  kernel.per_pc.texts = {{"class", {"atom_global"}}, {"ptx", {"atom.global.add.u32 %r1, [%rd1], 1"}}};
  kernel.per_pc.numbers = {
      {"executed", {1000}}, {"awaited_memory_l2", {90}}, {"ptx_line", {1}}, {"source_line", {0}}};
  kernel.per_sm.rows = 1;
  kernel.per_sm.numbers = {{"active_warp_cycles", {200'000}}};
  EXPECT_EQ(name(), "latency") << "180 cycles for each";
  EXPECT_EQ(saved("atomics"), 0);
  kernel.per_sm.numbers["active_warp_cycles"] = {8'000'000};
  EXPECT_EQ(name(), "atomics") << "7200 cycles for each";
  EXPECT_NEAR(saved("atomics"), 0.2, 1e-6) << "half of their work";
}

}  // namespace
}  // namespace gpusim::analysis
