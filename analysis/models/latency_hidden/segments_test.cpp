// Segments of kernels whose structure the paper gives, and loops as the counts say.
#include "analysis/models/latency_hidden/segments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/models/latency_hidden/path.h"
#include "analysis/models/latency_hidden/testing.h"

namespace gpusim::analysis::latency_hidden {
namespace {

const LoadLevels kMemory{0, 0, 0, 0, 560};

/// Every operation of the path is counted as often as the run counted it.
void expect_all_counted(const Code& code, const std::vector<Segment>& segments) {
  std::vector<double> found(code.counts.size());
  for (const Segment& s : segments)
    for (const auto& [pc, n] : s.executed) found[pc] += s.weight * n;
  for (size_t pc = 0; pc < found.size(); ++pc)
    EXPECT_NEAR(found[pc], code.counts[pc].executed, 1e-6 * code.counts[pc].executed) << "operation " << pc;
}

TEST(Segments, NaiveMultiplicationHasThePapersStructure) {
  for (const double n : {1.0, 2.0, 3.0, 5.0, 96.0, 1056.0}) {
    const Code code = test::code_of(test::workload_text("matmul/naive_16x16.ptx"),
                                    [n](uint32_t line) { return line >= 38 && line <= 44 ? n : 1; });
    const auto segments = find_segments(code, test::c1060(), kMemory, 8);
    expect_all_counted(code, segments);
    EXPECT_DOUBLE_EQ(count_of(segments), n + 2);  // NBB = WA + 2
    if (n < 4) continue;
    const Segment& loop = segments[segments.size() - 3];
    EXPECT_EQ(loop.end, Wait::kData);
    EXPECT_DOUBLE_EQ(loop.weight, n - 3);
    EXPECT_DOUBLE_EQ(loop.requested, 256);       // two words a thread
    EXPECT_DOUBLE_EQ(loop.paper_ilp, 4 * 7);     // MAD, two loads, two additions, a comparison, a branch
    EXPECT_EQ(segments.back().end, Wait::kEnd);  // the store alone
    EXPECT_DOUBLE_EQ(segments.back().requested, 128);
  }
}

TEST(Segments, TiledMultiplicationWaitsForItsTilesAndAtItsBarriers) {
  const double tiles = 6;
  // As printed: 3 for each tile and one more, in the 13 registers of the paper too.
  constexpr double of_tile = 3;
  for (const uint32_t registers : {0u, 13u}) {
    const Code code = test::code_of(
        test::workload_text("matmul/tiled_16x16.ptx"),
        [&](uint32_t line) { return line >= 49 && line <= 106 ? tiles : 1; }, registers);
    const auto segments = find_segments(code, test::c1060(), kMemory, 8);
    expect_all_counted(code, segments);
    EXPECT_DOUBLE_EQ(count_of(segments), of_tile * tiles + 1);
    double barriers = 0;
    for (const Segment& s : segments) barriers += s.end == Wait::kBarrier ? s.weight : 0;
    EXPECT_DOUBLE_EQ(barriers, 2 * tiles);
  }
}

const char* const kNested = R"(
.version 1.4
.target sm_13
.entry k (.param .u32 p, .param .u32 n)
{
.reg .u32 %r<9>;
.reg .f32 %f<4>;
.reg .pred %p<3>;
ld.param.u32 %r1, [p];
ld.param.u32 %r2, [n];
mov.f32 %f1, 0f00000000;
OUTER:
ld.global.f32 %f2, [%r1+0];
mov.u32 %r3, %r2;
INNER:
mad.f32 %f1, %f2, %f2, %f1;
sub.u32 %r3, %r3, 1;
setp.ne.u32 %p1, %r3, 0;
@%p1 bra INNER;
add.u32 %r1, %r1, 128;
setp.ne.u32 %p2, %r1, 4096;
@%p2 bra OUTER;
st.global.f32 [%r1+0], %f1;
exit;
}
)";

TEST(Segments, RoundsWithoutAWaitBelongToTheSegmentBeforeThem) {
  // The wait is in the first iteration of the inner loop: the iterations behind it are the segment's.
  for (const double inner : {1.0, 2.0, 4.0, 16.0}) {
    const Code code = test::code_of(kNested, [&](uint32_t line) {
      return line >= 16 && line <= 19 ? 10 * inner : line >= 13 && line <= 22 ? 10 : 1;
    });
    const auto segments = find_segments(code, test::c1060(), kMemory, 8);
    expect_all_counted(code, segments);
    EXPECT_DOUBLE_EQ(count_of(segments), 10 + 2) << inner;
    const Segment& round = segments[segments.size() - 4];
    EXPECT_NEAR(round.operations, 4 * inner + 5, 1e-9);
    // One after another: every iteration's branch takes a latency of 24.
    EXPECT_GT(round.chain, 24 * inner);
  }
}

TEST(Segments, TheFirstSchedulersWarpsHaveSharedUnitsFirst) {
  const Code code = test::code_of(R"(
.version 1.4
.target sm_13
.entry k (.param .u32 p)
{
.reg .u32 %r<9>;
.reg .f32 %f<9>;
ld.param.u32 %r1, [p];
cvt.rn.f32.u32 %f1, %r1;
cvt.rzi.u32.f32 %r2, %f1;
cvt.rn.f32.u32 %f2, %r2;
cvt.rzi.u32.f32 %r3, %f2;
add.u32 %r4, %r3, %r1;
add.u32 %r5, %r4, %r3;
st.global.u32 [%r1+0], %r5;
exit;
}
)",
                                  [](uint32_t) { return 1; });
  Parameters p = test::c1060();
  const auto first = [&] { return find_segments(code, p, kMemory, 8).front(); };
  EXPECT_EQ(first().sooner, 0) << "one scheduler";
  p.in_order = 2;
  p.issue = p.warp_issue / 2;
  for (ClassCost& c : p.classes) c.busy = p.issue, c.unit = 0;
  p.classes[static_cast<size_t>(isa::OpClass::kCvt)].busy = p.warp_issue;
  // Conversions keep the unit for a whole slot of a scheduler: the first one's warps have it as long as they
  // want, half of the time. Sums leave room for both.
  EXPECT_DOUBLE_EQ(first().sooner, 4 * p.warp_issue / 2);
  p.copies[0] = 2;
  EXPECT_EQ(first().sooner, 0) << "each scheduler has a unit of its own";
}

TEST(Segments, WhatFewWarpsDoCountsForWhatItIs) {
  for (const double share : {0.5, 0.001}) {
    const Code code = test::code_of(kNested, [&](uint32_t line) {
      return line >= 16 && line <= 19 ? 5 * share : line >= 13 && line <= 22 ? share : 1;
    });
    expect_all_counted(code, find_segments(code, test::c1060(), kMemory, 8));
  }
}

std::string straight(const std::string& body) {
  return R"(
.version 1.4
.target sm_13
.entry k (.param .u32 p, .param .u32 q, .param .u32 r)
{
.reg .u32 %r<9>;
.reg .f32 %f<9>;
.reg .pred %p<3>;
.shared .f32 s[64];
ld.param.u32 %r1, [p];
ld.param.u32 %r2, [q];
ld.param.u32 %r3, [r];
)" + body +
         "exit;\n}\n";
}

TEST(Segments, ASegmentEndsWhereManyMoreWarpsJoinIn) {
  const auto joins = [](double share) {
    const Code code =
        test::code_of(straight("ld.global.f32 %f1, [%r1+0];\nadd.f32 %f2, %f1, %f1;\nmul.f32 %f3, %f2, %f2;\n"
                               "st.shared.f32 [s+0], %f3;\n"),
                      [&](uint32_t line) { return line == 14 ? share : 1; });
    const auto segments = find_segments(code, test::c1060(), kMemory, 8);
    return std::ranges::count(segments, Wait::kJoin, &Segment::end);
  };
  EXPECT_EQ(joins(0.7), 0);
  EXPECT_EQ(joins(0.6), 1);
}

/// The operation in front of which a warp waits for data for the first time.
const isa::MicroOp& first_wait(const Code& code, const Parameters& p) {
  const auto segments = find_segments(code, p, kMemory, 8);
  const auto wait = std::ranges::find(segments, Wait::kData, &Segment::end);
  return code.image.ops.at(wait == segments.end() ? code.image.ops.size() - 1 : wait->last);
}

TEST(Segments, AWarpHasOnlySoManyLoadsOnTheirWay) {
  const Code code = test::code_of(straight("ld.global.f32 %f1, [%r1+0];\nld.global.f32 %f2, [%r2+0];\n"
                                           "ld.global.f32 %f3, [%r3+0];\nadd.f32 %f4, %f1, %f2;\n"
                                           "add.f32 %f4, %f4, %f3;\nst.global.f32 [%r1+0], %f4;\n"),
                                  [](uint32_t) { return 1; });
  Parameters p = test::c1060();
  EXPECT_EQ(first_wait(code, p).op_class, isa::OpClass::kFp32);
  p.warp_loads = 2;
  EXPECT_EQ(first_wait(code, p).op_class, isa::OpClass::kLoadGlobal);
}

TEST(Segments, DataThatComeMuchLaterAreWaitedForAgain) {
  const auto waits = [](int operations) {
    std::string between = "xor.b32 %r4, %r2, %r3;\n";
    for (int i = 0; i < operations; ++i)
      between += i % 2 == 0 ? "add.u32 %r4, %r4, %r2;\n" : "xor.b32 %r4, %r4, %r3;\n";
    const Code code = test::code_of(
        straight("ld.global.f32 %f1, [%r1+0];\n" + between +
                 "ld.global.f32 %f2, [%r4+0];\nst.global.f32 [%r3+0], %f1;\nst.global.f32 [%r3+4], %f2;\n"),
        [](uint32_t) { return 1; });
    const auto segments = find_segments(code, test::c1060(), kMemory, 8);
    return std::ranges::count(segments, Wait::kData, &Segment::end);
  };
  EXPECT_EQ(waits(0), 1) << "a tenth of the latency are 56 cycles, and an operation has its result after 24";
  EXPECT_EQ(waits(4), 2);
}

TEST(Segments, ResultsThatShareADependencyBarrierAreWaitedForTogether) {
  Code code = test::code_of(straight("ld.global.f32 %f1, [%r1+0];\nld.shared.f32 %f2, [s+0];\n"
                                     "add.f32 %f3, %f2, %f2;\nst.shared.f32 [s+4], %f3;\n"
                                     "st.global.f32 [%r2+0], %f1;\n"),
                            [](uint32_t) { return 1; });
  EXPECT_EQ(first_wait(code, test::c1060()).op_class, isa::OpClass::kStoreGlobal);
  code.codes.resize(code.image.ops.size());
  for (size_t pc = 0; pc < code.image.ops.size(); ++pc) {
    const isa::MicroOp& op = code.image.ops[pc];
    if (op.op_class == isa::OpClass::kLoadGlobal || op.op_class == isa::OpClass::kLoadShared)
      code.codes[pc].sets = 3;
    if (op.op_class == isa::OpClass::kFp32) code.codes[pc].waits = 1U << 3;
  }
  EXPECT_EQ(first_wait(code, test::c1060()).op_class, isa::OpClass::kFp32);
}

TEST(Segments, WarpsInStepIssueOneAfterTheOtherAndWaitForEachLatency) {
  Code code = test::code_of(kNested, [&](uint32_t line) {
    return line >= 16 && line <= 19 ? 40 : line >= 13 && line <= 22 ? 10 : 1;
  });
  const auto round = [&](uint32_t warps) {
    code.shape.warps_per_block = warps;
    const auto segments = find_segments(code, test::c1060(), kMemory, 8);
    return segments[segments.size() - 4];
  };
  EXPECT_DOUBLE_EQ(round(1).step_chain, round(1).chain);
  EXPECT_DOUBLE_EQ(round(1).step_wait, round(1).wait);
  // Six warps of four cycles each are done with an operation when its result is there.
  EXPECT_LE(round(4).step_chain, 1.2 * round(4).chain);
  EXPECT_GE(round(16).step_chain, 16 * round(16).compute());
}

TEST(Path, LongerWarpsGrowByLaterRoundsButNotOfALoopThatCountsARemainder) {
  const auto loop = [](const std::string& begin, double rounds = 2) {
    return test::code_of(straight(begin + "mov.f32 %f1, 0f00000000;\nAGAIN:\nadd.f32 %f1, %f1, %f1;\n"
                                          "add.u32 %r4, %r4, -1;\nsetp.ne.u32 %p1, %r4, 0;\n"
                                          "@%p1 bra AGAIN;\nst.global.f32 [%r1+0], %f1;\n"),
                         [=](uint32_t line) { return line >= 14 && line <= 18 ? rounds : 1; });
  };
  const Code remainder = loop("and.b32 %r4, %r2, 3;\n"), all = loop("mov.u32 %r4, %r2;\n");
  ASSERT_EQ(find_loops(remainder).size(), 1u);
  EXPECT_TRUE(find_loops(remainder).front().bounded);
  EXPECT_FALSE(find_loops(all).front().bounded);
  const auto in_loops = [](const Code& code) {
    double walked = 0;
    for (const Segment& s : find_segments(code, test::c1060(), kMemory, 8))
      walked += s.passes * s.loop_walked;
    return walked;
  };
  EXPECT_DOUBLE_EQ(in_loops(remainder), 0);
  // The first round comes once, however long a warp is, unless there is no other.
  EXPECT_DOUBLE_EQ(in_loops(all), 4);
  EXPECT_DOUBLE_EQ(in_loops(loop("mov.u32 %r4, %r2;\n", 1)), 4);
  EXPECT_DOUBLE_EQ(in_loops(loop("mov.u32 %r4, %r2;\n", 6)), 5 * 4);
}

/// Cycles of a warp alone from its begin to its first wait for a barrier.
double until_barrier(const std::string& body, const std::function<void(const isa::MicroOp&, OpCounts&)>& set,
                     bool awaits_stores) {
  Code code = test::code_of(straight(body), [](uint32_t) { return 1; });
  for (size_t pc = 0; pc < code.counts.size(); ++pc) set(code.image.ops[pc], code.counts[pc]);
  Parameters p = test::c1060();
  p.barrier_awaits_stores = awaits_stores;
  for (const Segment& s : find_segments(code, p, kMemory, 8))
    if (s.end == Wait::kBarrier) return s.chain;
  return 0;
}

void set_steps(const isa::MicroOp& op, OpCounts& c, double steps) {
  if (!is_shared(op)) return;
  c.transactions = steps;
  c.replays = steps - test::c1060().shared_steps;
}

TEST(Segments, AnAccessWhoseGuardNoLanePassesDoesNotHideConflictsOfOthers) {
  // Of two executions one has no lane, and one so many steps: both take the time of one without conflicts,
  // and in the mean half of what is more.
  const auto busy = [](double steps) {
    Code code = test::code_of(straight("ld.shared.f32 %f1, [s+0];\nst.global.f32 [%r1+0], %f1;\n"),
                              [](uint32_t) { return 2.0; });
    size_t unit = 0;
    const Parameters p = test::c1060();
    for (size_t pc = 0; pc < code.counts.size(); ++pc)
      if (is_shared(code.image.ops[pc]) && code.image.ops[pc].kind == isa::OpKind::kLoad) {
        set_steps(code.image.ops[pc], code.counts[pc], steps);
        unit = p.of(code.image.ops[pc].op_class).unit;
      }
    double sum = 0;
    for (const Segment& s : find_segments(code, p, kMemory, 8)) sum += s.weight * s.busy[unit];
    return sum;
  };
  const Parameters p = test::c1060();
  EXPECT_DOUBLE_EQ(busy(p.shared_steps + 6) - busy(p.shared_steps), 6 / 2 * p.shared_step);
}

TEST(Segments, WhoNeedsWhatSharedMemoryHasWaitsForAllItsSteps) {
  const auto loads = [](double steps) {
    return until_barrier(
        "ld.shared.f32 %f1, [s+0];\nadd.f32 %f2, %f1, %f1;\nbar.sync 0;\n"
        "st.global.f32 [%r1+0], %f2;\n",
        [&](const isa::MicroOp& op, OpCounts& c) { set_steps(op, c, steps); }, false);
  };
  const Parameters p = test::c1060();
  EXPECT_DOUBLE_EQ(loads(p.shared_steps + 10) - loads(p.shared_steps), 10 * p.shared_step);
  const auto rounds = [](double n) {
    return until_barrier(
        "mov.u32 %r4, 5;\natom.shared.add.u32 %r5, [s+0], %r4;\nadd.u32 %r6, %r5, %r4;\n"
        "bar.sync 0;\nst.global.u32 [%r1+0], %r6;\n",
        [&](const isa::MicroOp& op, OpCounts& c) {
          if (is_shared(op)) c.rounds = n;
        },
        false);
  };
  double round = 0;
  for (const isa::OpClass c : {isa::OpClass::kLoadShared, isa::OpClass::kFp32, isa::OpClass::kAtomShared,
                               isa::OpClass::kInt, isa::OpClass::kBranch})
    round += p.of(c).latency;
  EXPECT_DOUBLE_EQ(rounds(7) - rounds(2), 5 * round);
  // The warp is in the loop until it ends, whoever needs the sum.
  const auto unread = [](double n) {
    return until_barrier(
        "mov.u32 %r4, 5;\nred.shared.add.u32 [s+0], %r4;\nadd.u32 %r6, %r4, %r1;\n"
        "bar.sync 0;\nst.global.u32 [%r1+0], %r6;\n",
        [&](const isa::MicroOp& op, OpCounts& c) {
          if (is_shared(op)) c.rounds = n;
        },
        false);
  };
  EXPECT_DOUBLE_EQ(unread(7) - unread(2), 5 * round);
}

TEST(Segments, ABarrierAwaitsStoresToSharedMemoryIfTheMachineSaysSo) {
  const auto stores = [](double steps, bool awaits) {
    return until_barrier(
        "mov.f32 %f1, 0f00000000;\nst.shared.f32 [s+0], %f1;\nbar.sync 0;\n"
        "st.global.f32 [%r1+0], %f1;\n",
        [&](const isa::MicroOp& op, OpCounts& c) { set_steps(op, c, steps); }, awaits);
  };
  EXPECT_DOUBLE_EQ(stores(2, false), stores(22, false));
  const Parameters p = test::c1060();
  EXPECT_DOUBLE_EQ(stores(22, true) - stores(2, true), 20 * p.shared_step);
  EXPECT_GT(stores(2, true), stores(2, false));
}

TEST(Segments, PartitionsTakeTimeForAtomicsAndForTheirWords) {
  const auto atomics = [](const char* workload) {
    Code code = test::code_of(test::workload_text(workload), [](uint32_t) { return 1.0; });
    for (OpCounts& c : code.counts) c.words = 7;
    Parameters p = test::c1060();
    p.atomic_access = 10;
    p.atomic_word = 100;
    p.atomic_float = 1000;
    double sum = 0;
    for (const Segment& s : find_segments(code, p, kMemory, 8)) sum += s.weight * s.behind[kAtomics];
    return sum;
  };
  EXPECT_DOUBLE_EQ(atomics("advice/bins.ptx"), 2 * 10 + 7 * 100);  // one of integers, in two transactions
  EXPECT_DOUBLE_EQ(atomics("advice/moments.ptx"), 2 * (2 * 10 + 7 * 1000.0));  // two of floats
  EXPECT_DOUBLE_EQ(atomics("matmul/naive_16x16.ptx"), 0);
}

TEST(LoadLevels, ALoadWaitsForTheSlowestOfItsTransactions) {
  const LoadLevels levels{0.5, 0.25, 40, 200, 600};
  EXPECT_DOUBLE_EQ(levels.latency(1), 0.5 * 40 + 0.25 * 200 + 0.25 * 600);
  // Of two, both in L1: 1/4; none from memory: 9/16.
  EXPECT_DOUBLE_EQ(levels.latency(2), 0.25 * 40 + 0.3125 * 200 + 0.4375 * 600);
  EXPECT_DOUBLE_EQ(kMemory.latency(4), 560);
}

TEST(Segments, OperationsWhoseRegistersLieInOneBankKeepTheirUnit) {
  Code code = test::code_of(test::workload_text("matmul/naive_16x16.ptx"), [](uint32_t) { return 1.0; });
  const Parameters p = test::c1060();
  const auto busy = [&] {
    double sum = 0;
    for (const Segment& s : find_segments(code, p, kMemory, 8))
      for (const double b : s.busy) sum += s.weight * b;
    return sum;
  };
  const double without = busy();
  double delayed = 0;
  code.bank_delays.assign(code.image.ops.size(), 3);
  for (const isa::MicroOp& op : code.image.ops)
    if (op.kind == isa::OpKind::kAlu) delayed += 3 / p.copies[p.of(op.op_class).unit];
  ASSERT_GT(delayed, 0);
  EXPECT_NEAR(busy() - without, delayed, 1e-9) << "of arithmetic alone";
}

/// Waits of a warp for what `access` gives, on a machine whose L2 has so much of atomics.
double waits_for(const char* access, double transactions, double l2_share_of_atomics) {
  Code code =
      test::code_of(std::string(".version 1.4\n.target sm_13\n.entry k(.param .u32 p)\n{\n.reg .u32 %r<9>;\n"
                                "ld.param.u32 %r1, [p];\nmov.u32 %r2, 1;\n") +
                        access + "\nadd.u32 %r4, %r3, %r2;\nst.global.u32 [%r1], %r4;\nexit;\n}\n",
                    [](uint32_t) { return 1.0; });
  for (size_t pc = 0; pc < code.counts.size(); ++pc)
    if (is_long(code.image.ops[pc])) code.counts[pc].transactions = transactions;
  LoadLevels levels{0, 0, 0, 200, 600};
  levels.l2_share_of_atomics = l2_share_of_atomics;
  Parameters p = test::c1060();
  p.refresh = 100;
  p.refreshed = 0.1;
  double sum = 0;
  for (const Segment& s : find_segments(code, p, levels, 8)) sum += s.wait;
  return sum;
}

TEST(LoadLevels, AnAtomicFindsInTheL2WhatAtomicsDo) {
  constexpr const char* kAtomic = "atom.global.add.u32 %r3, [%r1], %r2;";
  constexpr const char* kLoad = "ld.global.u32 %r3, [%r1];";
  const double memory = waits_for(kAtomic, 1, 0);
  EXPECT_NEAR(memory - waits_for(kAtomic, 1, 1), 600 - 200, 1e-9);
  EXPECT_NEAR(memory - waits_for(kAtomic, 1, 0.75), 0.75 * (600 - 200), 1e-9);
  EXPECT_EQ(waits_for(kLoad, 1, 1), waits_for(kLoad, 1, 0)) << "of all that is loaded it has nothing";
}

TEST(LoadLevels, TheSlowestTransactionMayWaitForARefresh) {
  // By hand: a refresh of 100 cycles in 1000, so that one access waits for 5 cycles in the mean. Of two, one
  // meets a refresh with probability 0.18, both with 0.01: the longer wait is 0.18 * 50 + 0.01 * 200 / 3.
  EXPECT_DOUBLE_EQ(wait_for_refresh(1, 100, 0.1), 0);
  EXPECT_NEAR(wait_for_refresh(2, 100, 0.1), 0.18 * 50 + 0.01 * 200 / 3 - 5, 1e-9);
  EXPECT_NEAR(wait_for_refresh(1e6, 100, 0.1), 100 - 5, 0.01);
  EXPECT_EQ(wait_for_refresh(32, 100, 0), 0) << "memory without refreshes";
  constexpr const char* kLoad = "ld.global.u32 %r3, [%r1];";
  EXPECT_NEAR(waits_for(kLoad, 32, 0) - waits_for(kLoad, 1, 0), wait_for_refresh(32, 100, 0.1), 1e-9);
  // Half of the words are in the L2: of 32 some 16 are not.
  constexpr const char* kAtomic = "atom.global.add.u32 %r3, [%r1], %r2;";
  EXPECT_NEAR(waits_for(kAtomic, 32, 0.5) - waits_for(kAtomic, 1, 0), wait_for_refresh(16, 100, 0.1), 0.1);
}

TEST(Path, LoopsAreFoundWithTheirRounds) {
  const Code code = test::code_of(kNested, [&](uint32_t line) {
    return line >= 16 && line <= 19 ? 40 : line >= 13 && line <= 22 ? 10 : 1;
  });
  const std::vector<Loop> loops = find_loops(code);
  ASSERT_EQ(loops.size(), 2u);
  EXPECT_EQ(loops[0].rounds, 10);
  EXPECT_EQ(loops[1].rounds, 40);
  EXPECT_LT(loops[0].first, loops[1].first);
  EXPECT_GT(loops[0].last, loops[1].last);
}

}  // namespace
}  // namespace gpusim::analysis::latency_hidden
