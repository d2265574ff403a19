// Recordings whose limiter is known by construction: unit by unit, on a machine of this repository.
#include "analysis/profile/limiter.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/profile/limiter_fixture.h"
#include "analysis/profile/utilization.h"

namespace gpusim::analysis {
namespace {

using testing::HasSubstr;

TEST_F(Limiter, AFilePrintsNothingThatItDoesNotHave) {
  EXPECT_TRUE(limiter_candidates(kernel, machine).empty());
  EXPECT_EQ(limiter_text(kernel, machine), "");
  EXPECT_THAT(limiter_json(kernel, machine), HasSubstr("\"name\": null"));
}

TEST_F(Limiter, IdleUnitsLimitNothing) {
  unit("issue", "scheduler", 320, 0.1, 0.1);
  EXPECT_EQ(name(), kNoLimiter);
  slots("no_warp", 90);
  EXPECT_THAT(limiter_text(kernel, machine), HasSubstr("90 % of the slots had no warp"));
}

TEST_F(Limiter, AShortKernelIsLimitedByItsStart) {
  unit("issue", "scheduler", 320, 0.01, 0.01);
  kernel.cycles = 3000;
  EXPECT_EQ(name(), "launch");
  EXPECT_NEAR(limiter_candidates(kernel, machine)[0].saved, (1220 + 300) / 2, 1);
}

TEST_F(Limiter, AtomicsOfOnePartitionAreNamedWithTheirPlace) {
  unit("l2_atomics", "partition", 64, 0.94, 0.03);
  unit("lsu_wait_network", "SM", 80, 0.92, 0.76);
  unit("request_out", "partition", 64, 0.3, 0.01);
  EXPECT_EQ(name(), "atomics");
  EXPECT_THAT(limiter_text(kernel, machine),
              HasSubstr("atomics in the memory partitions, partition 3 (94 % busy; mean of all 3 %)"));
}

/// Two partitions at a time whose atomics take long hold up the requests of all SMs, of which few are theirs.
TEST_F(Limiter, AtomicsThatHoldUpWhatIsBehindThemAreNamed) {
  unit("l2_atomics", "partition", 64, 0.6, 0.02);
  unit("l2_wait_atomics", "partition", 64, 0.5, 0.015);
  unit("lsu_wait_network", "SM", 80, 0.5, 0.35);
  unit("request_out", "partition", 64, 0.18, 0.03);
  EXPECT_EQ(name(), "atomics");
  const auto all = limiter_candidates(kernel, machine);
  EXPECT_NEAR(all.front().saved, 0.28 * 100'000, 2'000) << "nearly half of their work";
  kernel.units.clear();
  unit("l2_atomics", "partition", 64, 0.1, 0.02);
  unit("l2_wait_atomics", "partition", 64, 0.02, 0.01);
  unit("lsu_wait_network", "SM", 80, 0.5, 0.35);
  unit("request_out", "partition", 64, 0.6, 0.5);
  EXPECT_EQ(name(), "network") << "a port is fuller";
}

TEST_F(Limiter, LanesOnOneWordTakeTurnsWhereWordsAreATenthMoreThanTransactions) {
  unit("l2_atomics", "partition", 64, 0.94, 0.03);
  unit("lsu_wait_network", "SM", 80, 0.92, 0.76);
  kernel.per_pc.rows = 2;
  kernel.per_pc.texts = {{"class", {"atom_global", "load_global"}}, {"ptx", {"atom", "ld"}}};
  kernel.per_pc.numbers = {{"executed", {100, 100}},
                           {"transactions", {1000, 5000}},
                           {"atomic_words", {1120, 0}},
                           {"ptx_line", {1, 2}},
                           {"source_line", {0, 0}}};
  ASSERT_EQ(name(), "atomics");
  EXPECT_THAT(limiter_text(kernel, machine),
              HasSubstr("lanes of a warp on one word take turns (1.1 for a transaction)"));
  kernel.per_pc.numbers["atomic_words"][0] = 1080;
  EXPECT_THAT(limiter_text(kernel, machine), testing::Not(HasSubstr("take turns")));
}

TEST_F(Limiter, LanesOnWordsOfTheirOwnTakeNoTurnsButTheirSectorsDo) {
  unit("l2_atomics", "partition", 64, 0.94, 0.03);
  unit("lsu_wait_network", "SM", 80, 0.92, 0.76);
  kernel.per_pc.rows = 1;
  kernel.per_pc.texts = {{"class", {"atom_global"}}, {"ptx", {"atom"}}};
  kernel.per_pc.numbers = {{"executed", {100}},     {"transactions", {100}},
                           {"atomic_words", {400}}, {"transferred_bytes", {12800}},
                           {"ptx_line", {1}},       {"source_line", {0}}};
  ASSERT_EQ(name(), "atomics");
  EXPECT_THAT(limiter_text(kernel, machine),
              HasSubstr("the sectors of an access take turns (4.0 for a transaction)"));
  kernel.per_pc.numbers["atomic_words"][0] = 1600;
  EXPECT_THAT(limiter_text(kernel, machine),
              HasSubstr("lanes of a warp on one word take turns (4.0 for a sector)"));
}

/// A kernel that loads and stores as much in the SM: what gets further than the L1 and the L2 is named.
class LimiterLine : public Limiter {
 protected:
  LimiterLine() {
    kernel.per_pc.rows = 3;
    kernel.per_pc.texts = {
        {"class", {"load_global", "store_global", "atom_global"}},
        {"ptx",
         {"ld.global.f32 %f1, [%rd1]", "st.global.f32 [%rd2], %f1", "atom.global.add.u32 %r1, [%rd3], 1"}}};
    kernel.per_pc.numbers = {{"executed", {100, 100, 0}},
                             {"transactions", {3300, 3200, 0}},
                             {"transferred_bytes", {105'600, 102'400, 0}},
                             {"ptx_line", {1, 2, 3}},
                             {"source_line", {0, 0, 0}}};
  }
};

TEST_F(LimiterLine, OfDramIsThatOfTheBytesThatItMoves) {
  unit("dram_bus", "channel", 64, 0.8, 0.8);
  unit("l2_wait_dram_queue", "partition", 64, 0.6, 0.6);
  kernel.counters["dram_read_bytes"] = 13'000;
  kernel.counters["dram_write_bytes"] = 90'000;
  ASSERT_EQ(name(), "dram");
  EXPECT_THAT(limiter_text(kernel, machine), HasSubstr("`st.global.f32"));
  kernel.counters["dram_write_bytes"] = 0;
  EXPECT_THAT(limiter_text(kernel, machine), HasSubstr("`ld.global.f32"));
}

TEST_F(LimiterLine, OfAPortIsThatOfThePacketsThatItCarries) {
  unit("lsu_wait_network", "SM", 80, 0.7, 0.7);
  unit("request_out", "partition", 64, 0.8, 0.8);
  kernel.per_pc.numbers["transactions"][0] = 9000;
  kernel.counters["noc_requests"] = 3700;
  ASSERT_EQ(name(), "network");
  EXPECT_THAT(limiter_text(kernel, machine), HasSubstr("`st.global.f32")) << "the L1 had 8500 of the loads";
  kernel.units.back().unit = "reply_in";
  kernel.counters["noc_requests"] = 12'200;
  EXPECT_THAT(limiter_text(kernel, machine), HasSubstr("`ld.global.f32")) << "they bring the data";
}

TEST_F(LimiterLine, OfThePortOfAPartitionWithAllAtomicsIsTheirs) {
  unit("lsu_wait_network", "SM", 80, 0.7, 0.7);
  unit("request_out", "partition", 64, 0.6, 0.15);
  kernel.counters["noc_requests"] = 7000;
  kernel.per_pc.numbers["executed"][2] = 100;
  kernel.per_pc.numbers["transactions"][2] = 500;
  kernel.per_pc.numbers["transferred_bytes"][2] = 16'000;
  ASSERT_EQ(name(), "network");
  EXPECT_THAT(limiter_text(kernel, machine), testing::Not(HasSubstr("`atom.global")));
  unit("l2_atomics", "partition", 64, 0.58, 0.01);
  ASSERT_EQ(name(), "network");
  EXPECT_THAT(limiter_text(kernel, machine), HasSubstr("`atom.global"));
  kernel.units.back().busiest = 4;
  EXPECT_THAT(limiter_text(kernel, machine), testing::Not(HasSubstr("`atom.global"))) << "another partition";
}

TEST_F(Limiter, DramIsFullOnlyIfPartitionsWaitForIt) {
  unit("dram_bus", "channel", 64, 0.8, 0.8);
  unit("lsu_wait_network", "SM", 80, 0.7, 0.7);
  EXPECT_EQ(name(), kNoLimiter);
  unit("l2_wait_dram_queue", "partition", 64, 0.6, 0.6);
  EXPECT_EQ(name(), "dram");
  // Half of its bus's work, as far as it is full: of the time behind the 1520 cycles of the start, partitions
  // wait for half.
  const auto saved = [&] {
    const auto all = limiter_candidates(kernel, machine);
    return std::ranges::find(all, "dram", &LimiterCandidate::name)->saved;
  };
  EXPECT_NEAR(saved(), 100'000 * 0.8 / 2, 1);
  kernel.units.pop_back();
  unit("l2_wait_dram_queue", "partition", 64, 0.25, 0.25);
  EXPECT_NEAR(saved(), 100'000 * 0.8 / 2 * 0.25 / (0.5 * (1 - 0.0152)), 1);
}

TEST_F(Limiter, APortThatLoadStoreUnitsWaitForIsTheInterconnects) {
  unit("request_in", "cluster", 40, 0.5, 0.5);
  EXPECT_EQ(name(), kNoLimiter);
  unit("lsu_wait_network", "SM", 80, 0.4, 0.4);
  EXPECT_EQ(name(), "network");
  EXPECT_THAT(limiter_text(kernel, machine),
              HasSubstr("interconnect, ports by which SMs send requests (50 % busy"));
}

/// Now one and now another partition gets most requests: their ports have no more to do for that, and those
/// of SMs none of it.
TEST_F(Limiter, RequestsThatCrowdForATimeFillNoPort) {
  const auto saved = [&](std::string_view of) {
    for (const LimiterCandidate& c : limiter_candidates(kernel, machine))
      if (c.name == of) return c.saved;
    return 0.0;
  };
  unit("lsu_wait_network", "SM", 80, 0.6, 0.6);
  unit("reply_out", "cluster", 40, 0.25, 0.25);
  unit("reply_in", "partition", 64, 0.3, 0.2);
  const double even = saved("network");
  EXPECT_NEAR(even, 100'000 * 0.3 / 2, 1);
  kernel.counters = {{"noc_requests", 640'000}, {"noc_requests_to_busiest", 30'000}};
  EXPECT_NEAR(saved("network"), even, 1);
}

/// A burst of 128 bytes takes 20 + 129 + 28 + 9 ns of the V100's DRAM, and its misses are held for 535.
TEST_F(Limiter, QueuesInsideOfDramAreItsAndNoLatency) {
  kernel.counters["dram_read_bytes"] = 128'000, kernel.counters["dram_write_bytes"] = 0;
  kernel.counters["dram_row_hits"] = 1000;
  slots("memory_dram", 60);
  unit("dram_bus", "channel", 64, 0.7, 0.7);
  EXPECT_EQ(name(), "latency") << "nothing says how long misses were held";
  kernel.units.push_back({"l2_mshrs", "partition", "", 64, 100'000'000, 647'000, 20'000, 3, 1});
  EXPECT_EQ(name(), "dram");
  const double of_bus = limiter_candidates(kernel, machine)[0].saved;
  kernel.units.back().busy = 217'000;  // 179 ns
  EXPECT_EQ(name(), "latency") << "no queue";
  kernel.units.back().busy = 647'000;
  unit("dram_rows", "channel", 64, 0.9, 0.9);
  const auto candidates = limiter_candidates(kernel, machine);
  const auto dram = std::ranges::find(candidates, "dram", &LimiterCandidate::name);
  EXPECT_NEAR(dram->saved, of_bus * 0.7 / 1.6, 1)
      << "rows hold the channels, which no clock of the bus shortens";
}

TEST_F(Limiter, IssueSlotsBesideAFullerUnitLimitLittle) {
  unit("issue", "scheduler", 320, 0.6, 0.6);
  EXPECT_EQ(name(), "issue");
  unit("pipe_lsu", "SM", 80, 0.62, 0.62);
  EXPECT_EQ(name(), kNoLimiter) << "nothing waits for the pipe, and it is fuller";
  kernel.units.clear();
  unit("issue", "scheduler", 320, 0.95, 0.95);
  EXPECT_EQ(name(), "issue");
}

TEST_F(Limiter, AFullPipeIsNamedWithAStatementThatItExecutes) {
  unit("pipe_fp32", "scheduler", 320, 0.9, 0.9);
  slots("pipe_busy", 90);
  ASSERT_EQ(name(), "pipe_fp32");
  Table& t = kernel.per_pc;
  t.rows = 2;
  t.numbers["slots_pipe_busy"] = {900, 100};
  t.numbers["slots_issued"] = {10, 10};
  t.numbers["executed"] = {10, 10};
  t.numbers["ptx_line"] = {7, 8};
  t.numbers["source_line"] = {0, 0};
  t.texts["ptx"] = {"ld.global.f32 %f1, [%rd1]", "fma.rn.f32 %f2, %f1, %f1, %f2"};
  t.texts["class"] = {"load_global", "fp32"};
  for (const char* column : {"ptx_file", "source_file"}) t.texts[column] = {"", ""};
  EXPECT_THAT(limiter_text(kernel, machine), HasSubstr("`fma.rn.f32"));
  t.texts["class"][1] = "int";
  EXPECT_THAT(limiter_text(kernel, machine), HasSubstr("`ld.global.f32")) << "none is known to be of it";
}

TEST_F(Limiter, WaitsForPagesAreNoLatencyOfMemory) {
  machine = core::load_machine(GPUSIM_SOURCE_DIR "/configs/h200.cfg", {}, {});
  slots("memory_dram", 90);  // of 100
  unit("issue", "scheduler", 528, 0.05, 0.05);
  const auto saved = [&](std::string_view name) {
    for (const LimiterCandidate& c : limiter_candidates(kernel, machine))
      if (c.name == name) return c.saved;
    return -1.0;
  };
  EXPECT_EQ(name(), "latency");
  const double latency = saved("latency");
  EXPECT_EQ(saved("translation"), 0);
  // A third of the time of each SM: 100 slots of 4 schedulers are 25 cycles of them.
  kernel.counters["tlb_l1_wait_cycles"] = 30 / 4.0;
  EXPECT_NEAR(saved("latency"), latency * 2 / 3, 1);
  EXPECT_EQ(name(), "latency");
  kernel.counters["tlb_l1_wait_cycles"] = 80 / 4.0;
  EXPECT_EQ(name(), "translation");
  EXPECT_NEAR(saved("translation"), 100'000 * 0.98 * 0.8 / 2, 100);
  EXPECT_THAT(limiter_text(kernel, machine), HasSubstr("translation of addresses"));
}

TEST_F(Limiter, RequestsThatMeetAtOnePartitionAfterAnotherCamp) {
  kernel.counters = {{"noc_requests", 100'000}, {"noc_requests_to_busiest", 50'000}};
  unit("lsu_wait_network", "SM", 30, 0.8, 0.6);
  EXPECT_NE(name(), "camping") << "addresses of the V100 are spread by a hash";
  machine = core::load_machine(GPUSIM_SOURCE_DIR "/configs/tesla_c1060.cfg", {}, {});
  EXPECT_EQ(name(), "camping");
  // Half of the requests instead of 1.09 eighths.
  EXPECT_NEAR(limiter_candidates(kernel, machine)[0].saved, 60'000 * (1 - 1.09 / 4), 1);
  EXPECT_THAT(limiter_text(kernel, machine),
              HasSubstr("the busiest of 8 memory partitions gets 50 % of the requests at a time"));
  kernel.counters["noc_requests_to_busiest"] = 13'500;
  EXPECT_NE(name(), "camping") << "as even as by lot";
  kernel.counters["noc_requests_to_busiest"] = 50'000;
  unit("l2_wait_atomics", "partition", 8, 0.6, 0.6);
  EXPECT_NE(name(), "camping") << "the partitions wait for atomics";
  kernel.units.pop_back();
  EXPECT_EQ(name(), "camping");
  // The same, but that nearly all requests are atomics on few words, which no hash spreads.
  unit("l2_atomics", "partition", 8, 0.1, 0.03);
  kernel.per_pc.rows = 1;
  kernel.per_pc.numbers["transactions"] = {95'000};
  kernel.per_pc.texts["class"] = {"atom_global"};
  EXPECT_NE(name(), "camping");
}

TEST_F(Limiter, LatencyOfMemoryNamesItsLongestPart) {
  unit("issue", "scheduler", 320, 0.1, 0.1);
  slots("memory_dram", 90);
  EXPECT_EQ(name(), "latency");
  // 118 ns of the interconnect and 157 of DRAM.
  EXPECT_THAT(limiter_text(kernel, machine), HasSubstr("latency of memory (the largest part: DRAM)"));
  EXPECT_THAT(limiter_text(kernel, machine), testing::Not(HasSubstr("had no warp")));
  kernel.per_sm.rows = 1;
  kernel.per_sm.numbers = {{"active_warp_cycles", {800}}, {"active_cycles", {100}}};
  slots("no_warp", 60);
  EXPECT_THAT(limiter_text(kernel, machine),
              HasSubstr("holds 64); 38 % of the slots had no warp: few blocks, or blocks that end"))
      << "more warps would not hide what the last ones wait for";
  slots("no_warp", 0);
  kernel.per_sm = {};
  slots("memory_dram", 0);
  slots("alu_dependency", 90);
  EXPECT_EQ(name(), "dependency");
}

TEST_F(Limiter, TheUnitThatIsBusyLongestHoldsUpTheDrain) {
  unit("l2_atomics", "partition", 64, 0.3, 0.01);
  unit("dram_bus", "channel", 64, 0.1, 0.1);
  EXPECT_EQ(name(), kNoLimiter) << "no load/store unit waits for them";
  kernel.causes.push_back({"drain", 90});
  slots("no_warp", 100);
  EXPECT_EQ(name(), "atomics");
  EXPECT_NEAR(limiter_candidates(kernel, machine)[0].saved, 15'000, 1) << "half of the atomics";
  EXPECT_THAT(limiter_text(kernel, machine), HasSubstr("(30 % busy, not full; mean of all 1 %)"));
  unit("dram_turnarounds", "channel", 64, 0.3, 0.3);
  EXPECT_EQ(name(), "dram");
  EXPECT_NEAR(limiter_candidates(kernel, machine)[0].saved, 5'000, 1) << "turns of the bus stay";
}

TEST_F(Limiter, ADrainOfOneTripIsHeldUpByNothing) {
  unit("l2_atomics", "partition", 64, 0.3, 0.01);
  kernel.cycles = 10'000;
  kernel.causes = {{"issued", 98}, {"drain", 2}};
  const auto all = limiter_candidates(kernel, machine);
  const auto atomics = std::ranges::find(all, "atomics", &LimiterCandidate::name);
  ASSERT_NE(atomics, all.end());
  EXPECT_LT(atomics->saved, 1) << "a trip to the L2 takes more than 200 cycles";
}

TEST_F(Limiter, WaitsBeforeTheDrainAreNotStretchedOverIt) {
  unit("issue", "scheduler", 320, 0.1, 0.1);
  slots("alu_dependency", 90);
  const double without = limiter_candidates(kernel, machine)[0].saved;
  kernel.causes.push_back({"drain", 100});
  ASSERT_EQ(limiter_candidates(kernel, machine)[0].name, "dependency");
  EXPECT_NEAR(limiter_candidates(kernel, machine)[0].saved, without / 2, without / 20);
}

TEST_F(Limiter, AChainThatIsWorthMostMayBeTheShorterWait) {
  unit("issue", "scheduler", 320, 0.1, 0.1);
  slots("alu_dependency", 40);
  EXPECT_THAT(limiter_text(kernel, machine), testing::Not(HasSubstr("wait longer for memory")));
  slots("memory_dram", 50);
  ASSERT_EQ(name(), "dependency") << "no part of the way is half of it";
  EXPECT_THAT(limiter_text(kernel, machine), HasSubstr("wait longer for memory (50 % of the slots"));
}

/// A pipe is worth what waits for it, however much it does: two thirds of the time, say, if the warps have
/// other things to wait for meanwhile.
TEST_F(Limiter, APipeThatNothingWaitsForIsNone) {
  unit("pipe_fp32", "scheduler", 320, 0.65, 0.65);
  EXPECT_EQ(name(), kNoLimiter);
  slots("pipe_busy", 30);
  EXPECT_EQ(name(), "pipe_fp32");
  Table& t = kernel.per_pc;
  t.rows = 2;
  t.texts["class"] = {"fp32", "load_shared"};
  t.texts["ptx"] = {"add", "ld"};
  t.numbers["slots_pipe_busy"] = {0, 30};
  t.numbers["ptx_line"] = {1, 2};
  t.numbers["source_line"] = {0, 0};
  EXPECT_EQ(name(), kNoLimiter) << "they wait for another pipe";
  t.numbers["slots_pipe_busy"] = {30, 0};
  kernel.units.clear();
  unit("pipe_fp32", "scheduler", 320, 0.97, 0.97);
  const auto all = limiter_candidates(kernel, machine);
  ASSERT_EQ(all.front().name, "pipe_fp32");
  EXPECT_LT(all.front().saved, 0.75 * 100'000 * 30 / 40) << "of the waits, what a faster pipe can save";
  EXPECT_GT(all.front().saved, 0.5 * 100'000 * 30 / 40);
}

/// One thread of a block keeps a pipe busy while the other warps stand at a barrier, which is the cause that
/// slots get that it loses.
TEST_F(Limiter, WhatOneThreadDoesForWarpsAtABarrierIsNamed) {
  unit("pipe_fp32", "scheduler", 320, 0.9, 0.3);
  kernel.causes.push_back({"barrier", 30});
  EXPECT_EQ(name(), kNoLimiter);
  Table& t = kernel.per_pc;
  t.rows = 2;
  t.texts["class"] = {"fp32", "barrier"};
  t.texts["ptx"] = {"mul", "bar"};
  t.numbers["slots_pipe_busy"] = {0, 0};
  t.numbers["executed"] = {900, 100};
  t.numbers["active_lanes"] = {900, 3200};
  t.numbers["ptx_line"] = {1, 2};
  t.numbers["source_line"] = {0, 0};
  EXPECT_EQ(name(), "pipe_fp32");
  kernel.units.clear();
  unit("pipe_fp32", "scheduler", 320, 0.6, 0.3);
  EXPECT_EQ(name(), "dependency") << "a chain that leaves the pipe time";
  EXPECT_THAT(limiter_text(kernel, machine),
              HasSubstr("of single threads, for which the warps of their blocks"));
  t.numbers["active_lanes"] = {900 * 32, 3200};
  EXPECT_EQ(name(), kNoLimiter) << "whole warps work, and wait for nothing";
}

/// Warps that wait at fences: for the fence on an H200, whose fences take longer than a store, and for their
/// stores on a V100. A warp loses the slots at the operation behind a fence, and where it sleeps.
TEST_F(Limiter, FencesAreNamedWhereTheyTakeLongerThanStores) {
  unit("issue", "scheduler", 320, 0.1, 0.1);
  kernel.causes.push_back({"fence", 90});
  Table& t = kernel.per_pc;
  t.rows = 4;
  t.texts["class"] = {"store_global", "fence", "int", "nop"};
  t.texts["ptx"] = {"st.global.u32 [%rd1], %r1", "membar.gl", "add.s32 %r1, %r1, 1", "nanosleep.u32 %r2"};
  t.numbers["slots_fence"] = {0, 0, 90, 0};
  t.numbers["ptx_line"] = {5, 6, 7, 8};
  t.numbers["source_line"] = {0, 0, 0, 0};
  EXPECT_EQ(name(), "latency") << "the stores";
  machine = core::load_machine(GPUSIM_SOURCE_DIR "/configs/h200.cfg", {}, {});
  EXPECT_EQ(name(), "fence");
  EXPECT_THAT(limiter_text(kernel, machine), HasSubstr("memory fences: 90 % of the slots"));
  EXPECT_THAT(limiter_text(kernel, machine), HasSubstr("line 6 `membar.gl`"));
  t.texts["class"][1] = "fence_block";
  EXPECT_NE(name(), "fence") << "those of a block are short";
  t.texts["class"][1] = "fence";
  t.numbers["slots_fence"] = {0, 0, 0, 90};
  EXPECT_EQ(name(), kNoLimiter) << "a sleep";
}

TEST_F(Limiter, BankConflictsAreNamedWithTheirPipe) {
  unit("pipe_lsu", "SM", 80, 0.9, 0.9);
  slots("pipe_busy", 90);
  EXPECT_THAT(limiter_text(kernel, machine), testing::Not(HasSubstr("bank conflicts")));
  unit("shared", "SM", 80, 0.8, 0.8);
  kernel.per_pc.rows = 2;
  kernel.per_pc.texts = {{"class", {"load_shared", "fp32"}}, {"ptx", {"ld", "add"}}};
  kernel.per_pc.numbers = {
      {"executed", {10, 90}}, {"replays", {31, 7}}, {"ptx_line", {1, 2}}, {"source_line", {0, 0}}};
  EXPECT_THAT(limiter_text(kernel, machine), HasSubstr("with 3.1 further steps each (bank conflicts)"));
}

/// A name such as "sfu" says nothing of conversions, which take 8 cycles of it on a V100.
TEST_F(Limiter, ConversionsAreNamedWithTheirPipe) {
  unit("pipe_sfu", "scheduler", 320, 0.9, 0.9);
  slots("pipe_busy", 90);
  kernel.per_pc.rows = 2;
  kernel.per_pc.texts = {{"class", {"cvt64", "fp32"}}, {"ptx", {"cvt.f64.f32", "add"}}};
  kernel.per_pc.numbers = {{"executed", {2'700'000, 90}}, {"ptx_line", {1, 2}}, {"source_line", {0, 0}}};
  EXPECT_THAT(limiter_text(kernel, machine), HasSubstr("75 % of that by conversions between types"));
  kernel.per_pc.numbers["executed"][0] = 1'000'000;
  EXPECT_THAT(limiter_text(kernel, machine), testing::Not(HasSubstr("conversions")));
}

/// Warps whose lanes look up a table in constant memory that the constant cache does not hold: the load/store
/// pipe repeats their loads and is half busy, but what they wait for is room among the misses.
TEST_F(Limiter, ConstantsThatTheirCacheDoesNotKeepAreNamed) {
  unit("pipe_lsu", "SM", 80, 0.5, 0.5);
  kernel.causes = {{"issued", 10}, {"no_warp", 20}, {"pipe_busy", 30}, {"memory_throttle", 70}};
  Table& t = kernel.per_pc;
  t.rows = 2;
  t.texts["class"] = {"load_global", "load_const"};
  t.texts["ptx"] = {"ld.global.u32 %r1, [%rd1]", "ld.const.f32 %f1, [%rd2]"};
  t.texts["source_file"] = t.texts["ptx_file"] = t.texts["inlined_file"] = {"", ""};
  t.numbers["ptx_line"] = {5, 7};
  t.numbers["source_line"] = t.numbers["inlined_line"] = {0, 0};
  t.numbers["slots_memory_throttle"] = {0, 70};
  EXPECT_EQ(name(), "constants");
  EXPECT_THAT(
      limiter_text(kernel, machine),
      HasSubstr("misses of the constant cache (2048 bytes), which have no room for more of them: line "
                "7 `ld.const.f32 %f1, [%rd2]`"));
  t.numbers["slots_memory_throttle"] = {70, 0};
  EXPECT_EQ(name(), "pipe_lsu") << "other loads wait for something else";
}

TEST_F(Limiter, NoLineIsNamedAmongHundredsThatAreAlike) {
  slots("alu_dependency", 400);
  unit("issue", "scheduler", 320, 0.1, 0.1);
  Table& t = kernel.per_pc;
  t.rows = 400;
  for (uint64_t pc = 0; pc < t.rows; ++pc) {
    t.texts["ptx"].push_back(fmt::format("add.f32 %f{}, %f{}, %f1", pc + 1, pc));
    t.texts["class"].emplace_back("fp32");
    t.numbers["slots_alu_dependency"].push_back(1);
    t.numbers["ptx_line"].push_back(pc + 1);
    t.numbers["source_line"].push_back(0);
  }
  EXPECT_THAT(limiter_text(kernel, machine),
              HasSubstr(": spread over 400 lines, none with more than 0.25 %"));
  t.numbers["slots_alu_dependency"][7] = 5;
  EXPECT_THAT(limiter_text(kernel, machine), HasSubstr("line 8 `add.f32"));
}

TEST_F(Limiter, KernelsOfARunAddUp) {
  unit("pipe_fp32", "scheduler", 320, 0.5, 0.5);
  slots("pipe_busy", 50);
  const auto one = limiter_candidates(kernel, machine);
  const auto two = limiter_candidates(std::vector{kernel, kernel}, machine);
  ASSERT_EQ(one[0].name, "pipe_fp32");
  EXPECT_EQ(two[0].name, "pipe_fp32");
  EXPECT_DOUBLE_EQ(two[0].saved, 2 * one[0].saved);
}

TEST(LimiterRivals, AreThoseThatSaveNearlyAsMuch) {
  EXPECT_EQ(limiter_rivals({{"pipe_lsu", 150}, {"network", 95}, {"dram", 74}}, 1000),
            "pipe_lsu 15 %, network 10 %");
  EXPECT_EQ(limiter_rivals({{"atomics", 480}, {"network", 280}}, 1000), "") << "nothing is near";
  EXPECT_EQ(limiter_rivals({{"launch", 60}, {"network", 40}}, 1000), "") << "too little to limit";
  EXPECT_EQ(limiter_rivals({}, 0), "");
}

TEST_F(Limiter, UnitsAreListedBusiestFirst) {
  unit("dram_bus", "channel", 64, 0.2, 0.1);
  unit("pipe_fp32", "scheduler", 320, 0.5, 0.5);
  unit("lsu_wait_network", "SM", 80, 0.9, 0.4);
  const std::string text = utilization_text(kernel, machine, 5);
  EXPECT_LT(text.find("fp32 pipe"), text.find("data bus of DRAM"));
  EXPECT_LT(text.find("data bus of DRAM"), text.find("waits for the interconnect"));
  EXPECT_THAT(text, HasSubstr("SM 0, scheduler 3"));
}

}  // namespace
}  // namespace gpusim::analysis
