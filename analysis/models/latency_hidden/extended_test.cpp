// Both variants on workloads small enough to compute by hand.
#include "analysis/models/latency_hidden/extended.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "analysis/models/latency_hidden/analysis.h"
#include "analysis/models/latency_hidden/estimate.h"
#include "analysis/models/latency_hidden/paper.h"
#include "analysis/models/latency_hidden/testing.h"
#include "simcore/config/load.h"
#include "simcore/text/input_error.h"

namespace gpusim::analysis::latency_hidden {
namespace {

Segment segment(double busy, double chain, double wait, Wait end) {
  Segment s;
  s.weight = s.passes = 1;
  s.busy = {busy};
  s.in_turn = busy;
  s.chain = chain;
  s.wait = wait;
  s.end = end;
  return s;
}

TEST(Extended, OneWarpExposesEverything) {
  const Estimate e =
      estimate(test::workload({segment(40, 100, 500, Wait::kData), segment(4, 30, 0, Wait::kEnd)}, 1, 1, 8),
               test::plain_machine());
  EXPECT_DOUBLE_EQ(e.cycles, 1000 + 630);
  EXPECT_DOUBLE_EQ(e.full.exposed, 630 - 44);
  EXPECT_DOUBLE_EQ(e.full.latency, 500 + 60 + 26);
  EXPECT_DOUBLE_EQ(e.factor(), 1);
}

TEST(Extended, ManyWarpsHideAllButTheFirstWait) {
  // 32 warps of 100 cycles each, dependences far below: the unit is never idle but for the wait.
  const Estimate e =
      estimate(test::workload({segment(100, 100, 0, Wait::kEnd)}, 40, 8, 4), test::plain_machine());
  EXPECT_NEAR(e.round, 3200, 1);
  EXPECT_LT(e.factor(), 0.01);
  EXPECT_NEAR(e.cycles, 1000 + 3200, 1);
}

TEST(Paper, SegmentsHaveTheirCaseAndTheFactorOfEachWarp) {
  Parameters p = test::plain_machine();  // 10 SMs of 1 GHz
  PaperParameters paper;
  paper.bytes_per_second = 1e11;  // of an SM 10 bytes a cycle
  const auto part = [](double ilp, double bytes, Wait end) {
    Segment s = segment(4, 10, 0, end);
    s.paper_ilp = ilp;
    s.requested = bytes;
    s.global = true;
    return s;
  };
  // Bandwidths of 40, 40, 40 and 40 cycles; the segment behind the last is the first.
  const Workload w = test::workload({part(50, 400, Wait::kData), part(60, 400, Wait::kData),
                                     part(10, 400, Wait::kData), part(20, 400, Wait::kBarrier)},
                                    100, 4, 2);
  const std::vector<PaperSegment> segments = paper_segments(w, p, paper, 2);
  ASSERT_EQ(segments.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    const PaperSegment& s = segments[i];
    EXPECT_EQ(s.which, (std::array{1, 2, 3, 4})[i]);
    EXPECT_DOUBLE_EQ(s.input.bandwidth, 40);
    EXPECT_EQ(s.data, 400);
    EXPECT_EQ(s.barrier, i == 3);
    ASSERT_EQ(s.warps.size(), 8u);
  }
  // By hand, warp 3 of 8: 1 - (50 * 5 + 2 * 50) / (550 + 40); 1 - (60 * 5 + 2 * 10) / 590; 1 - (10 * 5 + 2 *
  // 20) / (590 + 2 * 30).
  EXPECT_NEAR(segments[0].warps[2].factor, 1 - 350.0 / 590, 1e-12);
  EXPECT_NEAR(segments[1].warps[2].factor, 1 - 320.0 / 590, 1e-12);
  EXPECT_NEAR(segments[2].warps[2].factor, 1 - 90.0 / 650, 1e-12);
  // A barrier: no whole block before it hides, a whole block's data come before it: 1 - 20 * 5 / (590 + 4 *
  // 20).
  EXPECT_NEAR(segments[3].warps[2].factor, 1 - 100.0 / 670, 1e-12);
}

TEST(Extended, NothingIsFasterThanTheMemory) {
  Segment s = segment(4, 10, 500, Wait::kData);
  s.read = 1280;
  const Workload w = test::workload({s}, 4000, 8, 4);
  const double all = 4000.0 * 8 * 1280;
  EXPECT_GE(estimate(w, test::plain_machine()).cycles, all / 100);
  EXPECT_LE(estimate(w, test::plain_machine()).cycles, 1.1 * all / 100 + 1000);
  const auto time = [](double read, double written, double second) {
    Segment bytes;
    bytes.read = read;
    bytes.written = written;
    bytes.second = second;
    Parameters p = test::plain_machine();
    p.turns = turns_of(read, written);
    p.l2_bytes = second > 0 ? 200 : 0;
    return memory_time(bytes, p);
  };
  EXPECT_DOUBLE_EQ(time(100, 0, 0), 1);
  EXPECT_DOUBLE_EQ(time(50, 50, 0), 2);           // reads and writes in turn
  EXPECT_DOUBLE_EQ(time(80, 40, 0), 120.0 / 80);  // as in a triad
  EXPECT_DOUBLE_EQ(time(40, 80, 0), 120.0 / 80);
  EXPECT_DOUBLE_EQ(time(90, 18, 0), 108.0 / 90);  // half way from reads alone to a triad
  EXPECT_DOUBLE_EQ(time(70, 50, 0), 120.0 / 65);  // and from there to a copy
  EXPECT_DOUBLE_EQ(time(0, 0, 0), 0);
  EXPECT_DOUBLE_EQ(time(100, 0, 600), 3);  // L2 is slower
}

TEST(Extended, RequestsAndRepliesGoThroughPortsOfSmsAndOfPartitions) {
  Segment s;
  s.behind[kRequestPort] = 120;
  s.behind[kReplyPort] = 60;
  Parameters p = test::plain_machine();
  p.ports = 10;
  EXPECT_DOUBLE_EQ(way_time(s, p), 12);
  p.partitions = 8;
  p.request_queues = p.reply_queues = 1e9;  // no head waits for another
  EXPECT_DOUBLE_EQ(way_time(s, p), 15);
  p.uneven = 1.5;  // the busiest partition gets half as much more
  EXPECT_DOUBLE_EQ(way_time(s, p), 22.5);
  p.ports = 4;
  EXPECT_DOUBLE_EQ(way_time(s, p), 30);
  s.behind[kAtomics] = 200;  // partitions perform them
  p.uneven_atomics = 2;
  EXPECT_DOUBLE_EQ(way_time(s, p), 50);
}

TEST(Extended, LoadsThatWaitForDataOnTheirWayAskTheL2ForNothing) {
  const core::MachineConfig machine = core::load_machine(GPUSIM_SOURCE_DIR "/configs/gtx470.cfg", {}, {});
  const Code code =
      test::code_of(test::workload_text("matmul/naive_16x16.ptx"), [](uint32_t) { return 1.0; });
  double loaded = 0;  // sectors per warp: of lines, as the cache asks for them
  for (size_t pc = 0; pc < code.counts.size(); ++pc)
    if (code.image.ops[pc].kind == isa::OpKind::kLoad && is_long(code.image.ops[pc]))
      loaded += code.counts[pc].transactions * static_cast<double>(machine.l1.sector) / 32;
  ASSERT_GT(loaded, 0);
  const auto behind = [&](double share) {
    Code one = code;
    one.shape.blocks = 14;
    one.shape.threads_per_block = 256;
    one.shape.warps_per_block = 8;
    Counts counts;
    counts.l1_loads = 1;
    counts.l2_reads = share * loaded * 14 * 8;
    Behind sum{};
    for (const Segment& s :
         subject_of(machine, std::move(one), counts, known_data_sheet(machine.gpu.name), 14)
             .workload.segments)
      for (size_t u = 0; u < sum.size(); ++u) sum[u] += s.weight * s.behind[u];
    return sum;
  };
  const Behind all = behind(1), half = behind(0.5), more = behind(2);
  ASSERT_GT(all[kLines], 0);
  EXPECT_DOUBLE_EQ(half[kLines], all[kLines] / 2);
  EXPECT_LT(half[kReplyPort], all[kReplyPort]);
  EXPECT_GT(half[kRequestPort], all[kRequestPort] / 2);  // stores all go out
  EXPECT_LT(half[kRequestPort], all[kRequestPort]);
  EXPECT_EQ(more, all);  // constants, textures and atomics read of the L2 besides
}

TEST(Extended, RegistersLieInBanksWhereTheMachineHasThem) {
  const auto delays = [](const char* config) {
    const core::MachineConfig machine =
        core::load_machine(std::string(GPUSIM_SOURCE_DIR "/configs/") + config + ".cfg", {}, {});
    Code code = test::code_of(test::workload_text("matmul/naive_16x16.ptx"), [](uint32_t) { return 1.0; });
    code.shape.blocks = 36;
    code.shape.threads_per_block = 256;
    code.shape.warps_per_block = 8;
    return subject_of(machine, std::move(code), Counts(), known_data_sheet(machine.gpu.name), 10)
        .code.bank_delays.size();
  };
  EXPECT_GT(delays("h200"), 10u);
  EXPECT_EQ(delays("tesla_v100"), 0u);
}

TEST(Extended, NobodyWaitsForWhatAMissOfTheL2BringsBesides) {
  const core::MachineConfig machine = core::load_machine(GPUSIM_SOURCE_DIR "/configs/h200.cfg", {}, {});
  const auto waits = [&](double dram_read, double lacked) {
    Code code = test::code_of(test::workload_text("matmul/naive_16x16.ptx"),
                              [](uint32_t line) { return line >= 38 && line <= 44 ? 96.0 : 1; });
    code.shape.blocks = 36;
    code.shape.threads_per_block = 256;
    code.shape.warps_per_block = 8;
    Counts counts;
    counts.l1_loads = 100000;
    counts.l1_hits = 50000;
    counts.l2_reads = 100000;
    counts.l2_read_hits = counts.l2_reads - lacked / 32;
    counts.dram_read = dram_read;
    double sum = 0;
    for (const Segment& s :
         subject_of(machine, std::move(code), counts, known_data_sheet(machine.gpu.name), 132)
             .workload.segments)
      sum += s.weight * s.wait;
    return sum;
  };
  EXPECT_LT(waits(32e3, 64e3), waits(64e3, 64e3));
  EXPECT_DOUBLE_EQ(waits(64e3, 32e3), waits(32e3, 32e3));
}

TEST(Extended, WarpsInStepExposeNoMoreThanTheyWait) {
  // Behind each barrier eight warps use the unit in turn, and all wait for the last one's result.
  std::vector<Segment> segments;
  for (int i = 0; i < 16; ++i) {
    segments.push_back(segment(100, 102, 0, Wait::kBarrier));
    segments.back().step_chain = 8 * 100 + 150;
  }
  segments.push_back(segment(4, 4, 0, Wait::kEnd));
  const Estimate e = estimate(test::workload(segments, 10, 8, 1), test::plain_machine());
  EXPECT_EQ(e.full.beyond, 0);
  EXPECT_GT(e.factor(), 0.9);
  EXPECT_LE(e.factor(), 1);
}

TEST(Extended, AFirstRoundWaitsForPagesThatAreNewToAll) {
  const std::vector<Segment> segments{segment(10, 200, 400, Wait::kData), segment(10, 100, 0, Wait::kEnd)};
  std::vector<Segment> new_pages = segments;
  new_pages.front().pages = 300;
  const Parameters p = test::plain_machine();
  for (const uint64_t blocks : {10, 40}) {  // later rounds know the pages
    const Estimate known = estimate(test::workload(segments, blocks, 1, 1), p);
    const Estimate e = estimate(test::workload(new_pages, blocks, 1, 1), p);
    EXPECT_DOUBLE_EQ(e.cycles - known.cycles, 300);
    EXPECT_DOUBLE_EQ(e.full.latency - known.full.latency, blocks == 10 || e.rounds > 1 ? 300 : 0);
    EXPECT_EQ(e.full.beyond, 0);
  }
}

TEST(Extended, ASegmentsAccessesWaitForTheirNewPagesAtOnce) {
  const core::MachineConfig machine = core::load_machine(GPUSIM_SOURCE_DIR "/configs/h200.cfg", {}, {});
  const auto pages = [&](double missing) {
    Code code = test::code_of(test::workload_text("matmul/naive_16x16.ptx"), [](uint32_t line) {
      return line >= 38 && line <= 44 ? 96.0 : 1;  // the loop, which loads of both matrices
    });
    code.shape.blocks = 36;
    code.shape.threads_per_block = 256;
    code.shape.warps_per_block = 8;
    Counts counts;
    counts.page_misses = missing * 36;
    std::vector<double> found;
    for (const Segment& s :
         subject_of(machine, std::move(code), counts, known_data_sheet(machine.gpu.name), 132)
             .workload.segments)
      if (s.pages > 0) found.push_back(s.pages);
    return found;
  };
  const double cycles = 1.98;  // of a nanosecond
  EXPECT_TRUE(pages(0).empty());
  EXPECT_THAT(pages(0.5), testing::ElementsAre(testing::DoubleNear(0.5 * (20 + 300) * cycles, 1e-6)));
  EXPECT_THAT(pages(2), testing::ElementsAre(testing::DoubleNear((20 + 300) * cycles, 1e-6)));
  EXPECT_THAT(pages(3), testing::ElementsAre(testing::DoubleNear((20 + 300) * cycles, 1e-6),
                                             testing::DoubleNear((20 + 150) * cycles, 1e-6)));
}

TEST(Extended, AtomicsInFewWordsAreOfFewPartitions) {
  const core::MachineConfig machine = core::load_machine(GPUSIM_SOURCE_DIR "/configs/gtx470.cfg", {}, {});
  // Of each warp one atomic and one load; all loads even, all atomics in one of five partitions.
  const auto uneven = [&](double requests, double to_busiest) {
    Code code = test::code_of(test::workload_text("advice/bins.ptx"), [](uint32_t) { return 1.0; });
    for (OpCounts& c : code.counts) c.transactions /= 2;
    code.shape.blocks = 10;
    code.shape.threads_per_block = 32;
    code.shape.warps_per_block = 1;
    Counts counts;
    counts.requests = requests;
    counts.to_busiest = to_busiest;
    return subject_of(machine, std::move(code), counts, known_data_sheet(machine.gpu.name), 14).parameters;
  };
  EXPECT_NEAR(uneven(20, 10 + 2).uneven_atomics, 5, 0.2);
  EXPECT_NEAR(uneven(20, 5 + 2).uneven_atomics, 2.5, 0.2);  // in two
  EXPECT_EQ(uneven(20, 4).uneven_atomics, 1);
  EXPECT_EQ(uneven(0, 0).uneven_atomics, 1);
  // What atomics bring out of balance is no one's bytes; what is more than they could is the others'.
  EXPECT_GT(uneven(20, 10 + 2).uneven, 2.5);
  EXPECT_NEAR(uneven(20, 10 + 2).uneven_bytes, 1, 1e-9);
  EXPECT_NEAR(uneven(20, 10 + 5).uneven_bytes, 2.5, 0.2);
  EXPECT_EQ(uneven(20, 4).uneven_bytes, 1);
}

TEST(Extended, AChannelsBytesMayComeOneAfterTheOtherThoughItsPartitionsDoNot) {
  Segment s;
  s.read = 1200, s.second = 300;
  Parameters p = test::plain_machine();
  p.read_bytes = 40, p.l2_bytes = 100;
  EXPECT_DOUBLE_EQ(memory_time(s, p), 30);
  p.uneven_channels = 2;
  EXPECT_DOUBLE_EQ(memory_time(s, p), 60);
  s.read = 0;
  EXPECT_DOUBLE_EQ(memory_time(s, p), 3) << "the L2 moves its bytes as before";

  const auto uneven = [](const char* name, double requests, double to_busiest) {
    const core::MachineConfig machine =
        core::load_machine(std::string(GPUSIM_SOURCE_DIR "/configs/") + name + ".cfg", {}, {});
    Code code = test::code_of(test::workload_text("vecadd/vecadd.ptx"), [](uint32_t) { return 1.0; });
    Counts counts;
    counts.dram_requests = requests;
    counts.dram_to_busiest = to_busiest;
    return subject_of(machine, std::move(code), counts, known_data_sheet(machine.gpu.name), 14)
        .parameters.uneven_channels;
  };
  // Ten channels of a GTX 470, windows of 256 requests for each. In random order they are 10 % uneven: of ten
  // normal numbers the largest lies 1.54 deviations above the mean, by Gumbel's limit 1.63.
  EXPECT_NEAR(uneven("gtx470", 1e5, 2e4), 2 / (1 + 1.63 / 16), 0.01);
  EXPECT_EQ(uneven("gtx470", 1e5, 1e4), 1);
  EXPECT_EQ(uneven("gtx470", 1e5, 1.09e4), 1);
  EXPECT_NEAR(uneven("gtx470", 160, 32), 2 / (1 + 1.63 / 4), 0.01) << "16 for each";
  EXPECT_EQ(uneven("tesla_v100", 1e5, 5e4), 1)
      << "each partition has one channel, which its requests tell of";
}

TEST(Extended, BlocksThatAreLeftTakeARoundOfTheirOwn) {
  const std::vector<Segment> segments{segment(10, 200, 400, Wait::kData), segment(10, 100, 0, Wait::kEnd)};
  const Parameters p = test::plain_machine();
  const double one = estimate(test::workload(segments, 10, 1, 1), p).cycles - p.launch;
  EXPECT_DOUBLE_EQ(estimate(test::workload(segments, 11, 1, 1), p).cycles - p.launch, 2 * one);
  EXPECT_DOUBLE_EQ(estimate(test::workload(segments, 400, 1, 1), p).cycles - p.launch, 40 * one);
  EXPECT_DOUBLE_EQ(estimate(test::workload(segments, 11, 1, 1), p).rounds, 1.1);
  EXPECT_NEAR(estimate(test::workload(segments, 11, 1, 1), p).active, 1.1 * one, 1e-6);
  // Few blocks leave the SMs' slots empty.
  EXPECT_EQ(estimate(test::workload(segments, 15, 1, 8), p).resident, 2u);
}

TEST(Extended, BlocksBeginOneAfterTheOther) {
  const std::vector<Segment> segments{segment(1, 100, 500, Wait::kData), segment(1, 30, 0, Wait::kEnd)};
  Parameters p = test::plain_machine();
  p.block_interval = 5;
  const auto cycles = [&](uint64_t blocks) {
    return estimate(test::workload(segments, blocks, 1, 4), p).cycles - p.launch;
  };
  EXPECT_NEAR(cycles(40), 40 * 5 + 630, 6);
  // Half as many more: they take the places of those that ended first.
  EXPECT_NEAR(cycles(60), 39 * 5 + 2 * 630 - 100, 2);
  EXPECT_NEAR(cycles(80), 39 * 5 + 2 * 630, 2);
  p.block_interval = 50;  // most have ended before the last begins
  EXPECT_NEAR(cycles(400), 400 * 50 + 630, 100);
}

TEST(Extended, BlocksOfALaterRoundWaitForTheirTurnToBegin) {
  const std::vector<Segment> segments{segment(1, 100, 500, Wait::kData), segment(1, 30, 0, Wait::kEnd)};
  Parameters p = test::plain_machine();
  const auto later = [&](double interval) {
    p.block_interval = interval;
    return round_time(stages_of(test::workload(segments, 400, 1, 4), p), 4, 40, false);
  };
  // A round's 40 blocks are given out in as long as one takes that waits for nobody: both limits are felt.
  EXPECT_NEAR(later(0), 630, 1);
  EXPECT_NEAR(later(630 / 40.0), 630 * std::pow(2, 0.25), 2);
  EXPECT_NEAR(later(100), 40 * 100, 1);
}

TEST(Extended, TheFirstSmsToEndTakeMoreOfTheBlocksThatAreLeft) {
  const auto cycles = [](double memory, uint64_t blocks) {
    Segment s = segment(100, 100, 0, Wait::kEnd);
    s.read = memory;
    return estimate(test::workload({s}, blocks, 8, 4), test::plain_machine()).cycles - 1000;
  };
  // Ten blocks for ten SMs that hold four: half way from one to four of them on an SM, and not more.
  EXPECT_NEAR(cycles(0, 50), 3200 + 2 * 800, 10);
  // Where memory is the limit, blocks end as their data come, on all SMs alike.
  EXPECT_LT(cycles(2000, 50), 1.5 * cycles(2000, 40));
  // SMs differ by 2 % of a round, 64 cycles: blocks that begin farther apart end in the order in which they
  // have begun.
  const auto apart = [](double interval) {
    Parameters p = test::plain_machine();
    p.block_interval = interval;
    return estimate(test::workload({segment(100, 100, 0, Wait::kEnd)}, 50, 8, 4), p).cycles - 1000;
  };
  EXPECT_NEAR(apart(50 / 40.0), 3200 + 2 * 800, 60);
  EXPECT_NEAR(apart(80 / 40.0), 3200 + 800, 90);
}

TEST(Extended, ALongerWarpGoesRoundLoopsMoreOften) {
  Segment s = segment(10, 100, 50, Wait::kData);
  s.walked = 10;
  s.loop_walked = 8;
  s.loop_chain = 80;
  s.loop_wait = 50;
  EXPECT_DOUBLE_EQ(path_of({s}, 10), 150);
  EXPECT_DOUBLE_EQ(path_of({s}, 18), 20 + 2 * 130);
  EXPECT_DOUBLE_EQ(path_of({s}, 2), 20);
  EXPECT_DOUBLE_EQ(path_of({s}, 1), 15);  // it leaves before that
  s.shorten(50, 0);
  EXPECT_DOUBLE_EQ(path_of({s}, 18), 10 + 2 * 40);
}

TEST(Extended, NoBlockOutrunsItsOwnBarriers) {
  // Two warps of 100 cycles meet after each of ten segments, and wait 300 cycles for data.
  std::vector<Segment> segments(10, segment(100, 100, 300, Wait::kBarrier));
  segments.push_back(segment(1, 1, 0, Wait::kEnd));
  const Estimate e = estimate(test::workload(segments, 10, 2, 1), test::plain_machine());
  EXPECT_GE(e.round, 10 * (200 + 300));
  EXPECT_LE(e.round, 10 * (240 + 300) + 10);
}

TEST(Extended, WarpsThatABarrierHasBroughtTogetherUseUnitsInTurnEveryTime) {
  // Ten times four warps begin together: 100 cycles of the busiest unit, 160 of all units in turn.
  Segment start = segment(10, 10, 0, Wait::kBarrier), loop = segment(100, 100, 0, Wait::kBarrier),
          end = segment(1, 1, 0, Wait::kEnd);
  loop.weight = loop.passes = 10;
  loop.in_turn = 160;
  loop.step_chain = 4 * 160;
  const auto round = [&](Wait before) {
    start.end = before;
    return estimate(test::workload({start, loop, end}, 10, 4, 1), test::plain_machine()).round;
  };
  EXPECT_NEAR(round(Wait::kBarrier), 10 * 4 * 130 + 40, 20);
  // Warps that come one by one overlap their units, but for the first time.
  EXPECT_NEAR(round(Wait::kData), 9 * 4 * 100 + 4 * 160 + 40, 40);
}

TEST(Extended, TheLastStoresWayIsLeftWhenAllWarpsHaveEnded) {
  Parameters p = test::plain_machine();
  p.block_start = 30;
  Segment stores = segment(40, 40, 0, Wait::kData), ends = segment(10, 10, 0, Wait::kEnd);
  const auto overhead = [&] { return estimate(test::workload({stores, ends}, 10, 2, 1), p).overhead; };
  EXPECT_DOUBLE_EQ(overhead(), 1030) << "nothing is stored";
  stores.stored = 35;
  EXPECT_DOUBLE_EQ(overhead(), 1030 + 500 - 5 - 10) << "what comes after the store hides a part of it";
  p.l2_latency = 200;
  EXPECT_DOUBLE_EQ(overhead(), 1030 + 200 - 5 - 10);
  stores.wait = 150;
  EXPECT_DOUBLE_EQ(overhead(), 1030 + 200 - 5 - 150 - 10);
  stores.passes = 0.25;
  EXPECT_DOUBLE_EQ(overhead(), 1030 + 0.25 * (200 - 5 - 150 - 10));
  stores.wait = 300;
  EXPECT_DOUBLE_EQ(overhead(), 1030) << "it has arrived by then";
}

TEST(Extended, TwoBlocksStayInStepInTheirFirstRound) {
  std::vector<Segment> segments(10, segment(100, 100, 300, Wait::kData));
  for (size_t i = 1; i < segments.size(); i += 2) segments[i] = segment(100, 100, 0, Wait::kBarrier);
  const Workload pair = test::workload(segments, 20, 2, 2);
  const std::vector<Stage> stages = stages_of(pair, test::plain_machine());
  ASSERT_EQ(stages.size(), 1u);
  EXPECT_GT(stages[0].pair, stages[0].crowd / 2);
  EXPECT_GT(round_time(stages, 2, 20, true), round_time(stages, 2, 20, false) - 1e-9);
  EXPECT_DOUBLE_EQ(round_time(stages, 1, 10, true), round_time(stages, 1, 10, false));
}

TEST(Extended, WarpsThatBeginTogetherAskTogetherAndWorkAsMemoryAnswers) {
  // 4 blocks of 2 warps: 40 cycles of work each, then they ask for 1000 bytes each, then 20 cycles of work.
  Segment asks = segment(40, 40, 500, Wait::kData), uses = segment(20, 20, 0, Wait::kEnd);
  asks.in_turn = asks.asks = 40;
  uses.in_turn = 20;
  asks.read = 1000;
  const Workload w = test::workload({asks, uses}, 40, 2, 4);
  const std::vector<Stage> stages = stages_of(w, test::plain_machine());
  // Work of 8 warps, latency, 80 warps' bytes at 100 a cycle, and the last warp's work: that of the others is
  // done while memory answers.
  EXPECT_NEAR(round_time(stages, 4, 40, true), 8 * 40 + 500 + 800 + 20, 5);
  // Without bytes all 8 of them work behind the wait.
  Workload light = w;
  light.segments[0].read = 0;
  EXPECT_NEAR(round_time(stages_of(light, test::plain_machine()), 4, 40, true), 8 * 40 + 500 + 8 * 20, 5);
  // Blocks that begin one after the other hide each other's waits.
  EXPECT_LT(round_time(stages, 4, 40, false), 900);
}

TEST(Extended, MemoryAnswersTheFirstSchedulersWarpsWhileOthersWork) {
  Segment asks = segment(40, 40, 500, Wait::kData), uses = segment(20, 20, 0, Wait::kEnd);
  asks.asks = 40;
  asks.read = 1000;
  const auto time = [&](double sooner) {
    asks.sooner = sooner;
    return round_time(stages_of(test::workload({asks, uses}, 40, 2, 4), test::plain_machine()), 4, 40, true);
  };
  // The first of 8 warps ask when half of the work is done, so that answers begin as much earlier.
  EXPECT_NEAR(time(0) - time(20), 4 * 40, 5);
}

TEST(Extended, HeadsOfQueuesWaitForEachOther) {
  EXPECT_DOUBLE_EQ(busy_with_heads(1), 2 - std::sqrt(2.0));
  EXPECT_NEAR(busy_with_heads(1e6), 1, 1e-6);
  EXPECT_NEAR(busy_with_heads(1e-6), 1e-6, 1e-11);
  Segment s;
  s.behind[kRequestPort] = 40;
  Parameters p = test::plain_machine();
  p.ports = 40;
  p.partitions = 64;
  // 40 heads in front of 64 partitions: these are busy for 44.6 % of the time, and the ports for 71.3 %, if
  // packets go at random; for all of it if none waits.
  EXPECT_NEAR(way_time(s, p), (1 + 1 / 0.7132) / 2, 0.0001);
  p.request_queues = 8;
  EXPECT_DOUBLE_EQ(way_time(s, p), 1) << "320 heads: the ports are the limit";
  p.request_queues = 1;
  s.behind[kRequestPort] = 1;
  s.behind[kReplyPort] = 40;  // 64 heads in front of 40 ports
  EXPECT_NEAR(way_time(s, p), (1 + 1 / (2.6 - std::sqrt(1 + 1.6 * 1.6))) / 2, 1e-12);
  p.reply_queues = 4;
  EXPECT_NEAR(way_time(s, p), (1 + 1 / (7.4 - std::sqrt(1 + 6.4 * 6.4))) / 2, 1e-12);
}

TEST(Extended, BlocksOfLaterRoundsAreInDifferentStages) {
  Segment waits = segment(4, 4, 400, Wait::kData), works = segment(100, 100, 0, Wait::kEnd);
  works.stage = 2;
  const std::vector<Stage> stages =
      stages_of(test::workload({waits, works}, 40, 1, 4), test::plain_machine());
  ASSERT_EQ(stages.size(), 2u);
  EXPECT_GE(round_time(stages, 4, 40, true), 400 + 4 * 100);
  EXPECT_LT(round_time(stages, 4, 40, false), 1.2 * 504);
}

TEST(Extended, TheLongestWarpKeepsItsBlockAndAtTheEndTheMachine) {
  Segment round = segment(10, 100, 400, Wait::kData);
  round.operations = round.walked = 10;
  round.stage = 1;
  round.weight = round.passes = 9;
  const auto cycles = [&](double longest, double of_all, uint64_t blocks) {
    Workload w = test::workload({round}, blocks, 1, 1);
    w.longest = longest;
    w.longest_path = path_of(w.segments, of_all * 90);
    return estimate(w, test::plain_machine()).cycles - test::plain_machine().launch;
  };
  const double alike = cycles(1, 1, 10);
  EXPECT_NEAR(alike, 9 * 500, 1);
  EXPECT_NEAR(cycles(2, 2, 10), 18 * 500, 1);
  EXPECT_NEAR(cycles(1, 2, 10), 18 * 500, 1);
  // Behind nine rounds of other blocks it hides, unless it begins late.
  EXPECT_GT(cycles(1, 2, 100), 10 * alike);
  EXPECT_LT(cycles(1, 2, 100), 10 * alike + 9 * 500);
  // Others leave early: the path is that of the warp that does not.
  round.weight = 4.5;
  EXPECT_NEAR(cycles(2, 1, 10), 9 * 500, 1);
}

TEST(Extended, MemoryIsSlowerByItsBusiestPartitionAndByRows) {
  Segment s;
  s.read = 200;
  Parameters p = test::plain_machine();
  EXPECT_DOUBLE_EQ(memory_time(s, p), 2);
  p.uneven_bytes = 3;
  EXPECT_DOUBLE_EQ(memory_time(s, p), 6);
  p.rows = 1.5;
  EXPECT_DOUBLE_EQ(memory_time(s, p), 9);
}

TEST(Turns, UnitsOverlapByTheLastOperationOfARun) {
  Turns turns;
  for (int i = 0; i < 3; ++i) turns.add(0, 4);  // 12 on the first unit
  turns.add(1, 10);                             // 4 of it beside the last of them
  EXPECT_DOUBLE_EQ(turns.time(), 12 + 6);
  turns.add(1, 10);
  EXPECT_DOUBLE_EQ(turns.time(), 12 + 16);
  turns.add(0, 4);  // beside the last on the second unit
  EXPECT_DOUBLE_EQ(turns.time(), 12 + 16);
}

TEST(Paper, TimeIsThatOfThePrintedFormula) {
  // Two segments, 4 warps; times of a warp 40 and 20 cycles; the first waits for 128 bytes: 12.8 of 10 bytes
  // per cycle and SM.
  Segment load = segment(40, 40, 500, Wait::kData), rest = segment(20, 20, 0, Wait::kEnd);
  load.paper_ilp = 40;
  rest.paper_ilp = 20;
  load.global = true;
  load.requested = 128;
  PaperParameters paper;
  paper.bytes_per_second = 100e9;
  Parameters p = test::plain_machine();
  p.capability = 20;
  const Workload w = test::workload({load, rest}, 10, 4, 1);
  const double exposed[4] = {562.8 - 40 * 3, 562.8 - 40 * 2 - 20, 562.8 - 40 - 2 * 20, 562.8 - 3 * 20};
  const double compute = 4 * 60;
  EXPECT_NEAR(paper_estimate(w, p, paper, Aggregate::kLast).round, compute + exposed[3], 1e-9);
  EXPECT_NEAR(paper_estimate(w, p, paper, Aggregate::kSum).round,
              compute + exposed[0] + exposed[1] + exposed[2] + exposed[3], 1e-9);
  EXPECT_NEAR(paper_estimate(w, p, paper, Aggregate::kMean).round,
              compute + (exposed[0] + exposed[1] + exposed[2] + exposed[3]) / 4, 1e-9);
  EXPECT_DOUBLE_EQ(paper_estimate(w, p, paper, Aggregate::kLast).segments, 2);
  // A last round with fewer blocks is shorter.
  const Workload more = test::workload({load, rest}, 25, 4, 2);
  const PaperEstimate e = paper_estimate(more, p, paper, Aggregate::kLast);
  EXPECT_DOUBLE_EQ(e.rounds, 1.25);
  EXPECT_LT(e.cycles, 2 * e.round);
}

TEST(Paper, TheEndOfABlockIsABarrierOnOldMachines) {
  Segment s = segment(40, 40, 500, Wait::kEnd);
  s.paper_ilp = 40;
  s.global = true;
  s.requested = 1280;  // longer than it takes to issue: data queue
  Parameters p = test::plain_machine();
  const Workload w = test::workload({s}, 10, 3, 1);
  p.capability = 20;
  PaperParameters paper;
  paper.bytes_per_second = 100e9;
  const double plain = paper_estimate(w, p, paper, Aggregate::kSum).round;
  p.capability = 13;
  EXPECT_GT(paper_estimate(w, p, paper, Aggregate::kSum).round, plain);
}

TEST(DataSheet, SaysWhatIsWrong) {
  const auto message = [](const char* text) {
    try {
      (void)parse_data_sheet(text, "sheet.json");
    } catch (const core::InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_THAT(message("{}"), testing::HasSubstr("sheet.json:1:1: error: a data sheet has 'machine'"));
  EXPECT_THAT(message(R"({"machine": "M", "figures": [{"name": "a"}]})"), testing::HasSubstr("no 'found'"));
  EXPECT_THAT(message(R"({"machine": "M", "figures": [{"name": "a", "found": 0}]})"),
              testing::HasSubstr("above 0"));
  const DataSheet sheet = parse_data_sheet(
      R"({"machine": "M", "figures": [{"name": "a", "found": 2}, {"name": "b", "found": null}]})", "s");
  EXPECT_EQ(sheet.find("a"), 2);
  EXPECT_FALSE(sheet.find("b"));
  EXPECT_THROW((void)sheet.require("b"), core::InputError);
}

}  // namespace
}  // namespace gpusim::analysis::latency_hidden
