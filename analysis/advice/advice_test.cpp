// Recordings whose advice is known by construction, on machines of this repository.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/advice/advise.h"
#include "analysis/advice/launch_order.h"
#include "analysis/testing/small_recording.h"
#include "simcore/config/load.h"
#include "simcore/launch/launch_numbers.h"

namespace gpusim::analysis::advice {
namespace {

using testing::DoubleNear;
using testing::HasSubstr;

TEST(Overlap, OneRoundAddsUpAndManyHideTheShorter) {
  EXPECT_DOUBLE_EQ(overlapped(100, 40, 1), 140);
  EXPECT_DOUBLE_EQ(overlapped(40, 100, 1), 140);
  EXPECT_NEAR(overlapped(100, 40, 1000), 100, 1);
  EXPECT_NEAR(overlapped(100, 100, 1000), 100 * std::pow(2, 0.25), 1e-9)
      << "both are felt where they are alike";
  EXPECT_EQ(overlapped(0, 0, 1), 0);
}

TEST(EstimatorTest, GivesTheRecordedCyclesForTheRecordedWork) {
  Work work;
  work.start = 1000;
  work.units = {{"dram_bus", 8000}, {"issue", 500}};
  work.chain = {300, 20};
  work.longest = 300;
  for (const double rounds : {1.0, 5.0, 60.0})
    for (const double cycles : {9500.0, 12'000.0, 40'000.0}) {
      work.rounds = rounds;
      const Estimator estimator(work, cycles);
      EXPECT_NEAR(estimator.cycles(work), cycles, 1e-6 * cycles) << rounds << " rounds";
    }
}

TEST(EstimatorTest, ItsOwnErrorIsTheOneBeforeCalibration) {
  Work work;
  work.start = 1000;
  work.units = {{"dram_bus", 3000}};
  EXPECT_NEAR(Estimator(work, 8000).own_error(), -0.5, 1e-9);
  EXPECT_NEAR(Estimator(work, 4000).own_error(), 0, 1e-9);
}

TEST(EstimatorTest, AFullUnitWithHalfTheWorkHalvesAllButTheStart) {
  Work work;
  work.start = 1000;
  work.units = {{"pipe_fp64", 20'000}, {"issue", 100}};
  const Estimator estimator(work, 22'000);
  work.scale("pipe_fp64", 0.5);
  EXPECT_NEAR(estimator.cycles(work), 11'500, 1);
  work.scale("no such unit", 0.5);
  EXPECT_NEAR(estimator.cycles(work), 11'500, 1);
}

TEST(EstimatorTest, WhatItMissesIsQueueingAsFarAsWarpsWaitForMemory) {
  Work work;
  work.units = {{"dram_bus", 4000}, {"pipe_fp32", 1000}};
  work.memory_share = 0.5;
  const Estimator estimator(work, 8000);
  EXPECT_NEAR(estimator.cycles(work), 8000, 1);
  work.scale("dram_bus", 0.5);
  EXPECT_NEAR(estimator.cycles(work), 2000 * 1.5 + 2000 / 2, 1) << "half as long queues, of 2000 cycles";
  work.scale("dram_bus", 0);
  EXPECT_NEAR(estimator.cycles(work), 1000 * 1.5, 1) << "and no queues without traffic";
}

TEST(EstimatorTest, QueuesGoWithTheBurstOfAnAccessToo) {
  Work work;
  work.units = {{"dram_bus", 4000}};
  work.memory_share = 1;
  work.burst = 32;
  const Estimator estimator(work, 8000);
  work.burst = 4;
  EXPECT_NEAR(estimator.cycles(work), 4000 + 4000 / 8.0, 1) << "as much traffic, an eighth at a time";
  work.burst = 64;
  EXPECT_NEAR(estimator.cycles(work), 8000, 1) << "no change makes them longer";
}

TEST(EstimatorTest, NothingRunsBesideTheTail) {
  Work work;
  work.units = {{"dram_bus", 4000}};
  const Estimator estimator(work, 4000);
  work.tail = 1500;
  EXPECT_NEAR(estimator.cycles(work), 5500, 1);
}

/// A V100 with a kernel of 32,000 warps, whose units a test fills.
class RulesTest : public testing::Test {
 protected:
  static constexpr uint64_t kCycles = 100'000, kWarps = 32'000, kSms = 80;

  RulesTest() {
    kernel.cycles = kCycles;
    kernel.counters = {{"warps", kWarps}, {"noc_requests", 0}, {"noc_requests_to_busiest", 0}};
    kernel.occupancy_limiter = "warps";
    kernel.per_sm.rows = kSms;
    for (uint64_t sm = 0; sm < kSms; ++sm) {
      kernel.per_sm.numbers["active_cycles"].push_back(kCycles);
      kernel.per_sm.numbers["active_warp_cycles"].push_back(kCycles * 64);
      kernel.per_sm.numbers["warps"].push_back(kWarps / kSms);
      kernel.per_sm.numbers["inst_executed"].push_back(1000);
    }
    for (const char* text : {"ptx", "class", "source_file"}) kernel.per_pc.texts[text];
  }
  void unit(const char* name, const char* place, uint64_t instances, double share) {
    const auto busy = static_cast<uint64_t>(share * kCycles);
    kernel.units.push_back({name, place, "", instances, kCycles, busy * instances, busy, 0, instances});
  }
  /// An operation that all warps execute `times` times.
  void operation(const char* op_class, const char* ptx, uint64_t times,
                 const std::map<std::string, uint64_t>& counts = {}) {
    Table& t = kernel.per_pc;
    for (const char* column :
         {"executed", "active_lanes", "transactions", "requested_bytes", "transferred_bytes", "replays",
          "divergent", "slots_issued", "awaited_memory_dram", "awaited_memory_l1", "source_line", "ptx_line",
          "atomic_words"}) {
      t.numbers[column].push_back(0);
      if (const auto at = counts.find(column); at != counts.end())
        t.numbers[column].back() = at->second * kWarps;
    }
    t.numbers["executed"].back() = times * kWarps;
    if (!counts.contains("active_lanes")) t.numbers["active_lanes"].back() = 32 * times * kWarps;
    t.texts["ptx"].emplace_back(ptx);
    t.texts["class"].emplace_back(op_class);
    t.texts["source_file"].emplace_back("k.cu");
    ++t.rows;
  }
  [[nodiscard]] Facts facts() const { return {kernel, machine, resources, program}; }
  /// Names of the rules that propose something with a gain that is worth it.
  [[nodiscard]] std::vector<std::string> named() const {
    const Facts f = facts();
    std::vector<std::string> names;
    for (const Rule& rule : rules())
      if (const auto p = rule.propose(f); p && kCycles > kLeastGain * f.estimator().cycles(p->after))
        names.emplace_back(rule.name);
    return names;
  }
  /// For each operation, whether loaded values say its place.
  [[nodiscard]] static std::vector<bool> gathers(const Facts& f) {
    std::vector<bool> found;
    for (uint64_t pc = 0; pc < f.operations(); ++pc) found.push_back(f.origin(pc).of_data);
    return found;
  }
  [[nodiscard]] static double gain(const Facts& f, const Proposal& p) {
    return kCycles / f.estimator().cycles(p.after);
  }

  core::MachineConfig machine = core::load_machine(GPUSIM_SOURCE_DIR "/configs/tesla_v100.cfg", {}, {});
  KernelRecord kernel;
  LaunchResources resources{256, 32, 0, 0};
  std::string program;  ///< its PTX
};

TEST_F(RulesTest, AKernelThatDoesAllWellGetsNoAdvice) {
  unit("dram_bus", "channel", 64, 0.9);
  operation("load_global", "ld.global.f32 %f1, [%rd1]", 4,
            {{"transactions", 4},
             {"requested_bytes", 512},
             {"transferred_bytes", 512},
             {"awaited_memory_dram", 100}});
  operation("fp32", "fma.rn.f32 %f2, %f1, %f1, %f1", 4);
  EXPECT_THAT(named(), testing::IsEmpty());
}

TEST_F(RulesTest, SectorsThatNobodyAskedForAreToBeCoalesced) {
  unit("dram_bus", "channel", 64, 0.9);
  kernel.counters["dram_read_bytes"] = 1024.0 * kWarps;
  operation("int", "mov.u32 %r1, %tid.x", 1);
  operation("load_global", "ld.global.f32 %f1, [%rd1]", 1,
            {{"transactions", 8}, {"requested_bytes", 128}, {"transferred_bytes", 1024}});
  EXPECT_THAT(named(), testing::ElementsAre("coalescing"));
  const Facts f = facts();
  const auto p = coalescing(f);
  EXPECT_EQ(p->pc, 1);
  EXPECT_EQ(p->value, 32);
  EXPECT_NEAR(p->after.units.at("dram_bus"), f.estimator().recorded().units.at("dram_bus") / 8, 1);
}

/// x[index[i]] is in the order of the data; a[start[row] + j], which a loop counts up, in that of the
/// threads.
TEST_F(RulesTest, OnlyAccessesWhoseOrderTheThreadsDecideCanBeCoalesced) {
  const std::map<std::string, uint64_t> spread{
      {"transactions", 32}, {"requested_bytes", 128}, {"transferred_bytes", 1024}};
  operation("load_global", "ld.global.u32 %r1, [%rd1]", 1,
            {{"transactions", 1}, {"requested_bytes", 128}, {"transferred_bytes", 128}});
  operation("int", "mul.wide.u32 %rd2, %r1, 4", 1);
  operation("int", "add.s64 %rd3, %rd9, %rd2", 1);
  operation("load_global", "@%p1 ld.global.v2.f32 {%f1, %f2}, [%rd3+8]", 1, spread);
  EXPECT_EQ(gathers(facts()), (std::vector<bool>{false, false, false, true}));
  EXPECT_FALSE(coalescing(facts()));
  // The same register, from two statements: a loop's.
  operation("int", "add.s64 %rd3, %rd3, 4", 1);
  EXPECT_EQ(gathers(facts()), (std::vector<bool>{false, false, false, false, false}));
  EXPECT_TRUE(coalescing(facts()));
}

/// A product and a sum are one operation, which names the sum: the program has the product that leads to it.
TEST_F(RulesTest, StatementsThatNoOperationNamesAreReadInTheProgram) {
  kernel.name = "pick";
  operation("load_global", "ld.global.u32 %r10, [%rd8]", 1);
  operation("int", "add.s64 %rd10, %rd2, %rd9", 1);
  operation("load_global", "ld.global.f32 %f1, [%rd10]", 1);
  EXPECT_EQ(gathers(facts()), (std::vector<bool>{false, false, false}));
  program = R"(
.visible .entry other(.param .u64 p) { mul.wide.s32 %rd9, %r77, 4; mov.u64 %rd10, 0; ret; }
.visible .entry pick(
	.param .u64 p
)
{
	.reg .b64 	%rd<12>;
$L__BB0_2:
	ld.global.u32 	%r10, [%rd8];  // { an index
	.loc	1 5 3
	mul.wide.s32 	%rd9, %r10, 4;
	add.s64 	%rd10, %rd2, %rd9;
	ld.global.f32 	%f1, [%rd10];
	@%p2 bra 	$L__BB0_2;
	ret;
})";
  EXPECT_EQ(gathers(facts()), (std::vector<bool>{false, false, true}));
}

TEST_F(RulesTest, ConflictsAreTakenFromTheWorkOfSharedMemory) {
  // 400 warps an SM, each with an access of 32 steps: 31 of them too many.
  unit("shared", "SM", 80, 0.128);
  unit("pipe_lsu", "SM", 80, 0.9);
  operation("load_shared", "ld.shared.f32 %f1, [%r1]", 1, {{"replays", 31}});
  const Facts f = facts();
  const auto p = bank_conflicts(f);
  ASSERT_TRUE(p);
  EXPECT_EQ(p->value, 31);
  EXPECT_NEAR(p->after.units.at("shared"), 400, 1);
}

TEST_F(RulesTest, SlotsOfABusyPipeAreNoQueueOfMemory) {
  kernel.causes = {{"issued", 100}, {"pipe_busy", 900}, {"memory_dram", 75}, {"alu_dependency", 25}};
  EXPECT_DOUBLE_EQ(facts().estimator().recorded().memory_share, 0.75);
}

TEST_F(RulesTest, AWaitIsTheMeanOfThoseForNearAndFarData) {
  const double far = facts().memory_wait(true);
  const auto near = static_cast<uint64_t>(machine.l1.latency);
  // As many executions found their data in the L1 as in DRAM.
  operation("load_global", "ld.global.f32 %f1, [%rd1]", 2,
            {{"awaited_memory_dram", static_cast<uint64_t>(far)}, {"awaited_memory_l1", near}});
  const double rest = static_cast<double>(machine.latency.at("load_global") + machine.scheduler.issue_cycles);
  EXPECT_NEAR(facts().estimator().recorded().chain[0], far + static_cast<double>(near) + 2 * rest, 2);
}

/// Lines that are in the L1 by the time they come: four loads of such lines waited as long as for memory.
TEST_F(RulesTest, ThereAreNoMoreWaitsThanExecutions) {
  const auto l1 = static_cast<uint64_t>(machine.l1.latency);
  operation("load_global", "ld.global.f32 %f1, [%rd1]", 4, {{"awaited_memory_l1", 4 * 10 * l1}});
  const double rest = static_cast<double>(machine.latency.at("load_global") + machine.scheduler.issue_cycles);
  EXPECT_NEAR(facts().estimator().recorded().chain[0], 4 * (10.0 * machine.l1.latency + rest), 2);
}

TEST_F(RulesTest, LoadsThatAreOnTheirWayTogetherWaitTogether) {
  operation("load_global", "ld.global.f32 %f1, [%rd1]", 1, {{"awaited_memory_dram", 500}});
  operation("load_global", "ld.global.f32 %f2, [%rd1+4096]", 1, {{"awaited_memory_dram", 50}});
  operation("fp32", "add.f32 %f3, %f1, %f2", 1);
  operation("load_global", "ld.global.f32 %f4, [%rd1+8192]", 1, {{"awaited_memory_dram", 400}});
  const Facts f = facts();
  EXPECT_TRUE(f.leads(0));
  EXPECT_FALSE(f.leads(1));
  EXPECT_TRUE(f.leads(3)) << "what was loaded before has been used";
  const std::vector<double>& chain = f.estimator().recorded().chain;
  EXPECT_LT(chain[1], 0.3 * chain[0]);
  const double rest = static_cast<double>(machine.latency.at("load_global"));
  const double once = f.memory_wait(true);
  EXPECT_NEAR(chain[0] + chain[1], once + 2 * (rest + machine.scheduler.issue_cycles), 1)
      << "both together wait once";
  EXPECT_NEAR(chain[3], once + rest + machine.scheduler.issue_cycles, 1);
}

/// Where an operation needs two loads, its wait is booked on both, half of it on each.
TEST_F(RulesTest, LoadsThatAreAwaitedAtOnceWaitOnce) {
  for (const char* load : {"ld.global.f32 %f1, [%rd1]", "ld.global.f32 %f2, [%rd1+4096]"})
    operation("load_global", load, 1, {{"awaited_memory_dram", 250}});
  operation("fp32", "add.f32 %f3, %f1, %f2", 1);
  const Facts f = facts();
  const std::vector<double>& chain = f.estimator().recorded().chain;
  const double rest = static_cast<double>(machine.latency.at("load_global") + machine.scheduler.issue_cycles);
  EXPECT_NEAR(chain[0] + chain[1], f.memory_wait(true) + 2 * rest, 1);
}

/// The product that makes a place of a loaded index is part of an operation that does not name it.
TEST_F(RulesTest, ALoadAtALoadedPlaceIsNotOnItsWayWithTheIndex) {
  kernel.name = "pick";
  operation("load_global", "ld.global.u32 %r10, [%rd8]", 1, {{"awaited_memory_dram", 500}});
  operation("int", "add.s64 %rd10, %rd2, %rd9", 1);
  operation("load_global", "ld.global.f32 %f1, [%rd10]", 1, {{"awaited_memory_dram", 500}});
  program = R"(
.visible .entry pick(.param .u64 p) {
	ld.global.u32 	%r10, [%rd8];
	mul.wide.s32 	%rd9, %r10, 4;
	add.s64 	%rd10, %rd2, %rd9;
	ld.global.f32 	%f1, [%rd10];
	ret;
})";
  const Facts f = facts();
  EXPECT_TRUE(f.leads(2));
  const std::vector<double>& chain = f.estimator().recorded().chain;
  EXPECT_NEAR(chain[2], chain[0], 1) << "two waits, one after the other";
}

/// A thread uses up a line, word by word. Neighbours use it up at once, so that each access waits for one.
TEST_F(RulesTest, NeighboursLeaveNothingInTheL1) {
  unit("l1_tags", "SM", 80, 0.9);
  unit("l2_requests", "partition", 64, 0.2);
  kernel.counters["l2_read_sectors"] = 32.0 * kWarps;
  kernel.counters["dram_read_bytes"] = 1024.0 * kWarps;
  kernel.counters["noc_requests"] = 32.0 * kWarps;
  operation("int", "mov.u32 %r1, %tid.x", 1);
  operation("load_global", "ld.global.f32 %f1, [%rd1]", 8,
            {{"transactions", 256},
             {"requested_bytes", 1024},
             {"transferred_bytes", 8192},
             {"awaited_memory_l1", 100}});
  const Facts f = facts();
  const auto p = coalescing(f);
  ASSERT_TRUE(p);
  EXPECT_NEAR(p->after.chain[1], 8 * f.memory_wait(true), 1);
  const Work& now = f.estimator().recorded();
  EXPECT_NEAR(p->after.units.at("l1_tags"), now.units.at("l1_tags") / 32, 1);
  EXPECT_NEAR(p->after.units.at("l2_requests"), now.units.at("l2_requests") / 4, 1)
      << "8 requests for lines instead of 32 for sectors";
}

class StoreTest : public RulesTest {
 protected:
  /// A warp loads a line and stores its words into as many lines.
  void line_to_scattered_words() {
    operation("int", "mov.u32 %r1, %tid.x", 1);
    operation("load_global", "ld.global.f32 %f1, [%rd2]", 1,
              {{"transactions", 1}, {"requested_bytes", 128}, {"transferred_bytes", 128}});
    operation("store_global", "st.global.f32 [%rd1], %f1", 1,
              {{"transactions", 32}, {"requested_bytes", 128}, {"transferred_bytes", 1024}});
  }
};

/// A machine whose messages have no header: what a store is answered with is a message all the same.
TEST_F(StoreTest, AnswersToStoresGoWithTheStores) {
  machine.interconnect.header_bytes = 0;
  unit("reply_in", "partition", 64, 0.5);
  line_to_scattered_words();
  const Facts f = facts();
  const auto p = coalescing(f);
  ASSERT_TRUE(p);
  const double data = std::ceil(128.0 / machine.interconnect.reply_flit_bytes);
  EXPECT_NEAR(p->after.units.at("reply_in") / f.estimator().recorded().units.at("reply_in"),
              (data + 1) / (data + 32), 1e-6);
}

TEST_F(StoreTest, TheDataOfTheL2TakeWhatIsMoved) {
  machine.l2.read_cycles = machine.l2.fill_cycles = 0.5, machine.l2.write_cycles = 2;
  unit("l2_data", "partition", 64, 0.5);
  line_to_scattered_words();
  const Facts f = facts();
  const auto p = coalescing(f);
  ASSERT_TRUE(p);
  EXPECT_NEAR(p->after.units.at("l2_data") / f.estimator().recorded().units.at("l2_data"),
              (128.0 + 2 * 128) / (128 + 2 * 1024), 1e-6);
}

TEST_F(RulesTest, ATileIsWaitedForOnceAndLanesThatAreAlikeLoadItTogether) {
  for (int i = 0; i < 9; ++i)
    operation("load_global", i == 0 ? "ld.global.f32 %f1, [%rd1]" : "ld.global.f32 %f2, [%rd1+4]", 1,
              {{"transactions", 1},
               {"requested_bytes", 128},
               {"transferred_bytes", 128},
               {"awaited_memory_dram", i == 0 ? 900 : 1}});
  operation("fp32", "add.f32 %f3, %f1, %f2", 1);
  const Facts straight = facts();
  const auto once = shared_reuse(straight);
  ASSERT_TRUE(once);
  EXPECT_GE(once->after.chain_sum(), straight.estimator().recorded().chain[0]);
  const auto waits = [&](uint64_t moved) {
    kernel.per_pc = {};
    for (const char* text : {"ptx", "class", "source_file"}) kernel.per_pc.texts[text];
    operation("load_global", "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1]", 64,
              {{"transactions", 64},
               {"requested_bytes", 64 * 512},
               {"transferred_bytes", moved},
               {"awaited_memory_dram", 900}});
    const Facts f = facts();
    return shared_reuse(f)->after.chain_sum() - 64 * machine.latency.at("load_shared");
  };
  EXPECT_LT(waits(64 * 32), 0.3 * waits(64 * 512));
}

/// 16 points around a thread, for 8 warps a block: each fills two of the tile's values, with 26 operations
/// each.
TEST_F(RulesTest, FillingATileWithARimTakesOperations) {
  unit("issue", "scheduler", 320, 0.2);
  unit("pipe_int", "scheduler", 320, 0.1);
  const auto added = [&](uint64_t loads, uint64_t turns) {
    kernel.per_pc = {};
    for (const char* text : {"ptx", "class", "source_file"}) kernel.per_pc.texts[text];
    for (uint64_t i = 0; i < loads; ++i)
      operation(
          "load_global", "ld.global.f32 %f1, [%rd1]", turns,
          {{"transactions", turns}, {"requested_bytes", 128 * turns}, {"transferred_bytes", 128 * turns}});
    const Facts f = facts();
    return shared_reuse(f)->after.units.at("issue") - f.estimator().recorded().units.at("issue");
  };
  EXPECT_NEAR(added(16, 1), 2 * 26 * kWarps / 320.0, 1);
  EXPECT_NEAR(added(1, 16), 0, 1) << "a loop is there already";
}

TEST_F(RulesTest, OnlyAccessesThatThePtxDoesNotMakeAreSpills) {
  operation("load_local", "ld.local.f32 %f1, [%rd1]", 8, {{"transferred_bytes", 1024}});
  EXPECT_FALSE(spills(facts()));
  operation("load_local", "add.f32 %f1, %f2, %f3", 4, {{"transferred_bytes", 512}});
  const auto p = spills(facts());
  ASSERT_TRUE(p);
  EXPECT_EQ(p->counter, "local traffic of spills");
  EXPECT_EQ(p->value, 512.0 * kWarps);
  EXPECT_EQ(p->pc, 1);
}

TEST_F(RulesTest, WarpsThatSharedMemoryKeepsOffTheSmWouldHideLatency) {
  operation("load_global", "ld.global.f32 %f1, [%rd1]", 40,
            {{"transactions", 40},
             {"requested_bytes", 5120},
             {"transferred_bytes", 5120},
             {"awaited_memory_dram", 100}});
  for (auto& cycles : kernel.per_sm.numbers["active_warp_cycles"]) cycles = kCycles * 16;
  resources.shared_bytes = 48 * 1024;
  kernel.occupancy_limiter = "shared memory";
  const Facts f = facts();
  const auto p = occupancy(f);
  ASSERT_TRUE(p);
  EXPECT_EQ(p->value, 16);
  EXPECT_THAT(p->what, HasSubstr("2 blocks of 256 threads"));
  EXPECT_NEAR(p->after.rounds, f.estimator().recorded().rounds / 4, 1e-9);
  kernel.occupancy_limiter = "warps";
  EXPECT_FALSE(occupancy(facts()));
}

TEST_F(RulesTest, FullWarpsTakeHalfTheWorkOfHalfFullOnes) {
  unit("pipe_fp32", "scheduler", 320, 0.95);
  kernel.counters["divergent_branch"] = kWarps;
  operation("branch", "@%p1 bra $L1", 1, {{"active_lanes", 16}, {"divergent", 1}});
  // 320 schedulers: 95,000 cycles are 475 operations of two cycles for each of their 100 warps.
  operation("fp32", "fma.rn.f32 %f1, %f2, %f3, %f1", 475, {{"active_lanes", 475 * 16}});
  const Facts f = facts();
  const auto p = divergence(f);
  ASSERT_TRUE(p);
  EXPECT_EQ(p->pc, 0);
  EXPECT_EQ(p->value, 16);
  EXPECT_NEAR(p->after.units.at("pipe_fp32"), 47'500, 500);
  EXPECT_THAT(gain(f, *p), DoubleNear(2, 0.1));
}

/// A loop whose lanes all stay until its end, but that does half of its work for half of them.
TEST_F(RulesTest, LanesThatAPredicateLeavesOutAreNotParted) {
  unit("pipe_fp32", "scheduler", 320, 0.95);
  kernel.counters["divergent_branch"] = 1;
  operation("int", "add.u32 %r1, %r1, 1", 475, {{"active_lanes", 475 * 32}});
  operation("fp32", "fma.rn.f32 %f1, %f2, %f3, %f1", 475, {{"active_lanes", 475 * 16}});
  operation("branch", "@%p1 bra $L1", 475, {{"active_lanes", 474 * 32}, {"divergent", 1}});
  EXPECT_FALSE(divergence(facts()));
  operation("fp32", "fma.rn.f32 %f1, %f2, %f3, %f1", 400, {{"active_lanes", 400 * 8}});
  const auto p = divergence(facts());
  ASSERT_TRUE(p) << "behind the loop they are";
  EXPECT_NEAR(p->value, 32 * (2 * 475 + 400 * 0.25) / (2 * 475 + 400), 0.01);
}

TEST_F(RulesTest, RegistersOfOneBankGoWithTheOperationsThatReadThem) {
  unit("pipe_fp32", "scheduler", 320, 0.95);
  kernel.counters["divergent_branch"] = kWarps;
  operation("branch", "@%p1 bra $L1", 1, {{"active_lanes", 16}, {"divergent", 1}});
  // Half as many operations for the same time of the pipe: each keeps it twice as long as its class does.
  operation("fp32", "fma.rn.f32 %f1, %f2, %f3, %f1", 237, {{"active_lanes", 237 * 16}});
  const Facts f = facts();
  const auto p = divergence(f);
  ASSERT_TRUE(p);
  EXPECT_NEAR(p->after.units.at("pipe_fp32"), 47'500, 500);
}

TEST_F(RulesTest, LanesThatPredicatesLeaveIdleAreDivergenceToo) {
  unit("pipe_fp32", "scheduler", 320, 0.95);
  operation("int", "setp.eq.s32 %p1, %r1, 0", 1);
  operation("fp32", "@%p1 fma.rn.f32 %f1, %f2, %f3, %f1", 400, {{"active_lanes", 400 * 8}});
  operation("fp32", "fma.rn.f32 %f1, %f2, %f3, %f1", 75);
  operation("store_global", "@%p2 st.global.f32 [%rd1], %f1", 60, {{"active_lanes", 60}});
  const Facts f = facts();
  const auto p = divergence(f);
  ASSERT_TRUE(p);
  EXPECT_EQ(p->pc, 1);
  EXPECT_NEAR(p->value, 32 * (1 - 300 / 536.0), 0.01) << "a lane that stores for its warp is not to be more";
  EXPECT_NEAR(p->after.units.at("pipe_fp32"), 95'000 * (475 - 300) / 475.0, 500);
  EXPECT_THAT(p->what, HasSubstr("under predicates"));
}

TEST_F(RulesTest, LanesWithoutAThreadAreNoDivergence) {
  unit("pipe_fp32", "scheduler", 320, 0.95);
  resources.threads = 16;
  operation("fp32", "fma.rn.f32 %f1, %f2, %f3, %f1", 475, {{"active_lanes", 475 * 16}});
  EXPECT_FALSE(divergence(facts()));
  resources.threads = 32;
  EXPECT_TRUE(divergence(facts()));
}

TEST_F(RulesTest, SingleAndDoublePrecisionDifferByTheirPipes) {
  unit("pipe_fp64", "scheduler", 320, 0.95);
  unit("pipe_fp32", "scheduler", 320, 0.0);
  operation("fp64", "fma.rn.f64 %fd1, %fd2, %fd3, %fd1", 237);
  const Facts f = facts();
  const auto p = precision(f);
  ASSERT_TRUE(p);
  EXPECT_NEAR(p->after.units.at("pipe_fp64"), 0, 300);
  EXPECT_NEAR(p->after.units.at("pipe_fp32"), 47'400, 300) << "two cycles an operation instead of four";
}

/// for (...) p = next[p], whose register has two definitions: no tile can have what it will ask for.
TEST_F(RulesTest, AChainIsLeftAloneAndSaidToBe) {
  unit("dram_bus", "channel", 64, 0.5);
  operation("int", "mov.u32 %r1, %r9", 1);
  operation("int", "mul.wide.u32 %rd2, %r1, 4", 16);
  operation("int", "add.s64 %rd3, %rd9, %rd2", 16);
  operation("load_global", "ld.global.u32 %r1, [%rd3]", 16,
            {{"transactions", 16 * 32}, {"requested_bytes", 16 * 128}, {"transferred_bytes", 16 * 1024}});
  EXPECT_THAT(named(), testing::IsEmpty());
  const auto left = left_aside(facts());
  ASSERT_TRUE(left);
  EXPECT_EQ(left->pc, 3);
  EXPECT_EQ(left->sectors, 32);
  EXPECT_EQ(left->least, 4);
}

/// Two words of records of 64 bytes, of which lines have two: packed ones of 8 bytes have four in a sector.
TEST_F(RulesTest, RecordsOfWhichFewBytesAreUsedArePacked) {
  const auto gather = [&](uint64_t lines) {
    kernel.per_pc = {};
    for (const char* text : {"ptx", "class", "source_file"}) kernel.per_pc.texts[text];
    operation("load_global", "ld.global.u32 %r1, [%rd1]", 1,
              {{"transactions", 1}, {"requested_bytes", 128}, {"transferred_bytes", 128}});
    operation("int", "mul.wide.u32 %rd2, %r1, 64", 1);
    operation("int", "add.s64 %rd3, %rd9, %rd2", 1);
    const std::map<std::string, uint64_t> spread{
        {"transactions", lines}, {"requested_bytes", 128}, {"transferred_bytes", 1024}};
    operation("load_global", "ld.global.f32 %f1, [%rd3]", 1, spread);
    operation("load_global", "ld.global.f32 %f2, [%rd3+28]", 1, spread);
  };
  unit("dram_bus", "channel", 64, 0.9);
  kernel.counters["dram_read_bytes"] = 2048.0 * kWarps;
  gather(16);
  const auto p = packing(facts());
  ASSERT_TRUE(p);
  EXPECT_EQ(p->value, 8);
  EXPECT_EQ(p->unit, "of 64");
  EXPECT_THAT(p->what, HasSubstr("8 bytes a record"));
  EXPECT_GE(p->pc, 3);
  // One access of 8 sectors instead of two of 32.
  EXPECT_NEAR(p->after.units.at("dram_bus") / (0.9 * kCycles), 8.0 / 64, 0.01);
  gather(32);
  EXPECT_NEAR(packing(facts())->after.units.at("dram_bus") / (0.9 * kCycles), 0.5, 0.01)
      << "records far apart lie in as many sectors as before";
  kernel.per_pc.texts["ptx"][1] = "mul.wide.u32 %rd2, %r1, 4";
  EXPECT_FALSE(packing(facts())) << "words";
}

/// As many atomics in one partition as others spread over all: nobody's rows begin in it.
TEST_F(RulesTest, AtomicsThatCrowdAreNoCamping) {
  unit("dram_bus", "channel", 64, 0.5);
  unit("l2_atomics", "partition", 64, 0.0);
  kernel.units.back().busy = kernel.units.back().most = 20'000;
  kernel.counters["noc_requests"] = 4.0 * kWarps + 1.0 * kWarps;
  kernel.counters["noc_requests_to_busiest"] = 1.0 * kWarps + 4.0 * kWarps / 64;
  operation("load_global", "ld.global.f32 %f1, [%rd1]", 4,
            {{"transactions", 4}, {"requested_bytes", 512}, {"transferred_bytes", 512}});
  operation("atom_global", "atom.global.add.u32 %r1, [%rd2], %r2", 1,
            {{"transactions", 1}, {"transferred_bytes", 128}, {"active_lanes", 32}, {"atomic_words", 4}});
  EXPECT_FALSE(partition_camping(facts()));
  kernel.counters["noc_requests_to_busiest"] += 1.0 * kWarps;
  const auto p = partition_camping(facts());
  ASSERT_TRUE(p) << "requests that no atomics explain";
  EXPECT_EQ(p->pc, 0);
  operation("int", "mad.lo.s32 %r3, %ctaid.x, %ntid.x, %tid.x", 1);
  operation("int", "mul.wide.s32 %rd4, %r3, 4", 1);
  operation("int", "add.s64 %rd1, %rd5, %rd4", 1);
  EXPECT_FALSE(partition_camping(facts())) << "threads of the grid go through an array";
}

TEST_F(RulesTest, OnlyWaitsForACrowdedPartitionMakeSmsUneven) {
  unit("dram_bus", "channel", 64, 0.5);
  unit("pipe_lsu", "SM", kSms, 0.5);
  kernel.units.back().most = kCycles * 8 / 10;
  kernel.counters["noc_requests"] = 4.0 * kWarps;
  kernel.counters["noc_requests_to_busiest"] = 1.0 * kWarps;
  operation("load_global", "ld.global.f32 %f1, [%rd1]", 4,
            {{"transactions", 4}, {"requested_bytes", 512}, {"transferred_bytes", 512}});
  ASSERT_TRUE(partition_camping(facts()));
  EXPECT_NEAR(partition_camping(facts())->after.units.at("pipe_lsu"), 80'000, 1) << "none waits";
  unit("lsu_wait_network", "SM", kSms, 0.4);
  EXPECT_NEAR(partition_camping(facts())->after.units.at("pipe_lsu"), 50'000, 1);
}

/// The few requests of the last warps are in few partitions, whatever the hash, and nothing waits for these.
TEST_F(RulesTest, CrowdedPartitionsThatNothingWaitsForAreNoCamping) {
  unit("dram_bus", "channel", 64, 0.5);
  kernel.counters["noc_requests"] = 4.0 * kWarps;
  kernel.counters["noc_requests_to_busiest"] = 1.0 * kWarps;
  operation("load_global", "ld.global.f32 %f1, [%rd1]", 4,
            {{"transactions", 4}, {"requested_bytes", 512}, {"transferred_bytes", 512}});
  unit("lsu_wait_network", "SM", kSms, 0.002);
  EXPECT_FALSE(partition_camping(facts()));
  kernel.units.back().busy *= 100;
  EXPECT_TRUE(partition_camping(facts()));
}

/// Rows of half a line: sectors are used whole, in twice as many transactions as they need.
TEST_F(RulesTest, WholeSectorsInManyLinesAreProvedByTheirTransactions) {
  unit("lsu_port", "SM", 80, 0.9);
  operation("int", "mov.u32 %r1, %tid.x", 1);
  operation("load_global", "ld.global.f32 %f1, [%rd1]", 1,
            {{"transactions", 2}, {"requested_bytes", 128}, {"transferred_bytes", 128}});
  const auto p = coalescing(facts());
  ASSERT_TRUE(p);
  EXPECT_EQ(p->counter, "transactions per request");
  EXPECT_EQ(p->value, 2);
  EXPECT_EQ(p->unit, "transactions (at least 1.0 needed)");
}

TEST_F(RulesTest, BanksThatLoadedValuesChooseAreLeftAside) {
  unit("shared", "SM", 80, 0.128);
  unit("pipe_lsu", "SM", 80, 0.9);
  operation("load_global", "ld.global.u32 %r1, [%rd1]", 1);
  operation("int", "shl.b32 %r2, %r1, 2", 1);
  operation("load_shared", "ld.shared.u32 %r3, [%r2]", 1, {{"replays", 2}});
  EXPECT_FALSE(bank_conflicts(facts()));
  const auto left = left_aside_banks(facts());
  ASSERT_TRUE(left);
  EXPECT_EQ(left->pc, 2);
  EXPECT_THAT(left->counter, HasSubstr("2 steps"));
  kernel.per_pc.texts["ptx"][1] = "shl.b32 %r2, %r9, 2";
  EXPECT_TRUE(bank_conflicts(facts())) << "threads choose them";
  EXPECT_FALSE(left_aside_banks(facts()));
}

/// out[i] = f(in[i]) with bytes, a thread for each.
TEST_F(RulesTest, BytesOfNeighboursAreToBeAccessedAtOnce) {
  const std::map<std::string, uint64_t> moved{
      {"transactions", 1}, {"requested_bytes", 32}, {"transferred_bytes", 32}, {"slots_issued", 1}};
  unit("dispatcher", "GPU", 1, 0.9);
  unit("issue", "scheduler", 320, 0.3);
  operation("int", "mad.lo.s32 %r3, %ctaid.x, %ntid.x, %tid.x", 1, {{"slots_issued", 1}});
  operation("int", "cvt.s64.s32 %rd4, %r3", 1, {{"slots_issued", 1}});
  operation("int", "add.s64 %rd1, %rd5, %rd4", 1, {{"slots_issued", 1}});
  operation("int", "add.s64 %rd2, %rd6, %rd4", 1, {{"slots_issued", 1}});
  operation("load_global", "ld.global.u8 %r5, [%rd1]", 1, moved);
  operation("int", "not.b32 %r6, %r5", 1, {{"slots_issued", 1}});
  operation("store_global", "st.global.u8 [%rd2], %r6", 1, moved);
  const Facts f = facts();
  EXPECT_TRUE(f.uses_data(5));
  EXPECT_FALSE(f.uses_data(3));
  const auto p = wide_accesses(f);
  ASSERT_TRUE(p);
  EXPECT_EQ(p->value, 1);
  EXPECT_THAT(p->what, HasSubstr("16 neighbouring elements at once, as one vector of 16 bytes"));
  EXPECT_NEAR(p->after.units.at("dispatcher"), 90'000 / 16.0, 1);
  // Of seven operations six are executed for all elements of an access; taking a byte out and putting one in
  // are two more for each.
  EXPECT_NEAR(p->after.units.at("issue"), 30'000 * (6 / 16.0 + 1 + 2) / 7, 1);
  operation("barrier", "bar.sync 0", 1);
  EXPECT_FALSE(wide_accesses(facts())) << "threads may hand elements to each other";
  kernel.per_pc.numbers["executed"].back() = 0;
  kernel.per_pc.texts["ptx"][4] = "ld.global.v4.u32 {%r5, %r7, %r8, %r9}, [%rd1]";
  kernel.per_pc.texts["ptx"][6] = "st.global.v4.u32 [%rd2], {%r6, %r7, %r8, %r9}";
  EXPECT_FALSE(wide_accesses(facts())) << "no wider ones are possible, and these are not of neighbours";
  kernel.per_pc.texts["ptx"][4] = "ld.global.u8 %r5, [%rd1]";
  kernel.per_pc.texts["ptx"][6] = "st.global.u8 [%rd2], %r6";
  operation("load_global", "ld.global.u8 %r7, [%rd1+1]", 1, moved);
  EXPECT_FALSE(wide_accesses(facts()))
      << "the next element is loaded as well, at a place of another alignment";
}

TEST_F(RulesTest, LaunchesThatReadWhatOneBeforeHasWrittenCannotBeOne) {
  kernel.name = "relax";
  operation("load_global", "ld.global.f32 %f1, [%rd5]", 1);
  operation("store_global", "st.global.f32 [%rd6], %f1", 1);
  program = R"(
.visible .entry relax(
	.param .u64 .ptr .align 1 from,
	.param .u64 to,
	.param .u32 n
)
{
	ld.param.u64 	%rd1, [from];
	ld.param.u64 	%rd2, [to];
	cvta.to.global.u64 	%rd3, %rd1;
	cvta.to.global.u64 	%rd4, %rd2;
	add.s64 	%rd5, %rd3, %rd9;
	add.s64 	%rd6, %rd4, %rd9;
	ld.global.f32 	%f1, [%rd5];
	st.global.f32 	[%rd6], %f1;
})";
  const auto launches = [](const std::string& text) {
    std::vector<std::vector<std::string>> arguments;
    for (const core::WrittenLaunch& l : core::written_launches(text, "k.toml"))
      arguments.push_back(l.arguments);
    return arguments;
  };
  const auto turns = launches(R"(
[[launch]]
args = ["a", "b", 3]
[[launch]]
args = ["b", "a", "N"])");
  EXPECT_EQ(turns, (std::vector<std::vector<std::string>>{{"a", "b", "3"}, {"b", "a", "N"}}));
  EXPECT_EQ(handed_on(turns, facts(), program), "b");
  EXPECT_EQ(handed_on({{"a", "b", ""}, {"a", "c", ""}}, facts(), program), "") << "both read what was there";
  EXPECT_EQ(handed_on({{"a", "b", ""}, {"c", "d", ""}, {"d", "e", ""}}, facts(), program), "d");
  const auto swapped = launches("[[launch]]\nargs = [\"a\", \"b\"]\n[[host]]\nstep = \"swap(a, b)\"");
  EXPECT_EQ(handed_on({swapped[0], swapped[0]}, facts(), program), "a") << "a loop of the host swaps them";
  kernel.per_pc.texts["ptx"][1] = "st.global.f32 [%rd5], %f1";
  EXPECT_EQ(handed_on({{"a", "", "0"}, {"a", "", "256"}}, facts(), program), "") << "perhaps pieces of it";
  EXPECT_EQ(handed_on({{"a", "", "0"}, {"a", "", "0"}}, facts(), program), "a");
  EXPECT_EQ(handed_on({{}, {"b"}}, facts(), program), "") << "not known";
}

TEST_F(RulesTest, TurnsThatNeedTheOneBeforeAreNotToBeDivided) {
  kernel.name = "k";
  const auto follow = [&](const std::string& turn) {
    program = ".visible .entry k(\n)\n{\nmov.f32 %f1, 0f00000000;\nmov.u32 %r1, 0;\n$L1:\n" + turn +
              "\nadd.s32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, %r9;\n@%p1 bra $L1;\nret;\n}";
    return facts().turns_follow();
  };
  EXPECT_FALSE(follow("ld.global.f32 %f2, [%rd1];\nadd.f32 %f1, %f1, %f2;")) << "a sum";
  EXPECT_FALSE(follow("fma.rn.f32 %f3, %f2, %f2, %f1;\nmov.f32 %f1, %f3;")) << "of products";
  EXPECT_TRUE(follow("mul.f32 %f3, %f1, %f2;\nmov.f32 %f1, %f3;")) << "a chain of products";
  EXPECT_TRUE(follow("fma.rn.f32 %f1, %f1, %f2, %f3;")) << "a polynomial by Horner's rule";
  EXPECT_TRUE(follow("ex2.approx.f32 %f3, %f1;\nadd.f32 %f1, %f1, %f3;")) << "steps of time";
  EXPECT_TRUE(follow(
      "mul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd9, %rd2;\nld.global.u32 %r2, [%rd3];\nmov.u32 %r2, %r9;"))
      << "a list that is walked";
  operation("fp32", "mul.f32 %f3, %f1, %f2", 8);
  operation("int", "mov.f32 %f1, %f3", 8);
  EXPECT_TRUE(follow("mul.f32 %f3, %f1, %f2;\nmov.f32 %f1, %f3;"));
  operation("fp32", "add.f32 %f8, %f8, %f9", 100);
  EXPECT_FALSE(follow("mul.f32 %f3, %f1, %f2;\nmov.f32 %f1, %f3;")) << "another loop is longer";
}

TEST_F(RulesTest, TheLongestBlockIsNoShorterOnAnotherSm) {
  for (uint64_t sm = 1; sm < kSms; ++sm) kernel.per_sm.numbers["inst_executed"][sm] = 100;
  unit("pipe_fp32", "SM", 80, 0.9);
  const auto gain_with = [&](BlockLives lives) {
    const Facts f(kernel, machine, resources, program, lives);
    return gain(f, *wave_quantisation(f));
  };
  EXPECT_GT(gain_with({}), 3);
  EXPECT_GT(gain_with({80'000, 80'000}), 3) << "blocks that are alike are long because of their own warps";
  EXPECT_NEAR(gain_with({5000, 80'000}), 100'000.0 / (80'000 + facts().estimator().recorded().start), 0.01);
}

TEST_F(RulesTest, NeighboursOfAStencilAreNotToBeCoalesced) {
  unit("request_in", "cluster", 40, 0.9);
  const std::map<std::string, uint64_t> shifted{
      {"transactions", 2}, {"requested_bytes", 128}, {"transferred_bytes", 160}};
  operation("int", "mul.wide.u32 %rd1, %r1, 4", 1);
  operation("int", "add.s64 %rd2, %rd9, %rd1", 1);
  operation("load_global", "ld.global.f32 %f1, [%rd2+4]", 1, shifted);
  EXPECT_TRUE(coalescing(facts())) << "the array begins within a sector";
  operation("load_global", "ld.global.f32 %f2, [%rd2]", 1,
            {{"transactions", 1}, {"requested_bytes", 128}, {"transferred_bytes", 128}});
  EXPECT_FALSE(coalescing(facts()));
}

/// A warp of a block of 16 by 16 accesses a piece in each of two rows.
TEST_F(RulesTest, NeighboursInTwoRowsAreNotToBeCoalescedEither) {
  unit("request_in", "cluster", 40, 0.9);
  operation("int", "mul.wide.u32 %rd1, %r1, 4", 1);
  operation("int", "add.s64 %rd2, %rd9, %rd1", 1);
  operation("load_global", "ld.global.f32 %f1, [%rd2+4]", 1,
            {{"transactions", 3}, {"requested_bytes", 126}, {"transferred_bytes", 192}});
  operation("load_global", "ld.global.f32 %f2, [%rd2]", 1,
            {{"transactions", 2}, {"requested_bytes", 128}, {"transferred_bytes", 128}});
  EXPECT_FALSE(coalescing(facts()));
}

/// A block's results, which it has collected: fewer blocks add fewer, and nothing else helps.
TEST_F(RulesTest, ResultsThatBlocksAddAreToBecomeFewer) {
  unit("l2_atomics", "partition", 64, 0.0);
  kernel.units.back().busy = 50'000 * 2;
  kernel.units.back().most = 50'000;
  const auto launch = [&](const char* thread, uint64_t blocks) {
    kernel.per_pc = {};
    for (const char* text : {"ptx", "class", "source_file"}) kernel.per_pc.texts[text];
    operation("int", thread, 1);
    operation("int", "mul.wide.u32 %rd1, %r1, 4", 1);
    operation("int", "add.s64 %rd2, %rd9, %rd1", 1);
    operation("load_global", "ld.global.u32 %r3, [%rd3]", 8,
              {{"transactions", 8}, {"requested_bytes", 8 * 128}, {"transferred_bytes", 8 * 128}});
    operation("atom_shared", "atom.shared.add.u32 %r4, [%r3], 1", 8);
    operation("atom_global", "atom.global.add.u32 %r5, [%rd2], %r6", 1,
              {{"transactions", 1}, {"transferred_bytes", 128}, {"active_lanes", 32}, {"atomic_words", 4}});
    for (auto& [name, column] : kernel.per_pc.numbers)
      for (uint64_t& value : column) value = value / kWarps * blocks * 8;
    kernel.counters["warps"] = static_cast<double>(blocks) * 8;
    for (uint64_t& warps : kernel.per_sm.numbers["warps"]) warps = std::max<uint64_t>(1, blocks * 8 / kSms);
  };
  launch("mov.u32 %r1, %tid.x", 640);
  const auto p = atomics(facts());
  ASSERT_TRUE(p);
  EXPECT_THAT(p->what, testing::Not(HasSubstr("collect")));
  EXPECT_THAT(p->what, HasSubstr("one large block for each of the 80 SMs"));
  EXPECT_NEAR(p->after.units.at("l2_atomics") + p->after.tail, 50'000 / 8.0, 1);
  launch("mov.u32 %r1, %tid.x", 80);
  EXPECT_FALSE(atomics(facts())) << "there are as few already";
  // All partitions have as much, and each block has words of its own.
  kernel.units.back().busy = 50'000 * 64;
  launch("add.s32 %r1, %ctaid.x, %tid.x", 640);
  EXPECT_FALSE(atomics(facts()));
}

/// Constants without a suffix: values are converted there and back around each operation.
TEST_F(RulesTest, AtomicsBesideLoadsOfOtherBlocksAreNoTail) {
  unit("l2_atomics", "partition", 64, 0.0);
  kernel.units.back().busy = kernel.units.back().most = 50'000;
  operation("load_global", "ld.global.u32 %r3, [%rd3]", 8,
            {{"transactions", 8}, {"requested_bytes", 8 * 128}, {"transferred_bytes", 8 * 128}});
  operation("atom_global", "atom.global.add.u32 %r5, [%rd2], %r6", 1,
            {{"transactions", 1}, {"transferred_bytes", 32}, {"active_lanes", 1}, {"atomic_words", 1}});
  for (uint64_t& warps : kernel.per_sm.numbers["warps"]) warps = 64;
  const double alone = facts().estimator().recorded().tail;
  EXPECT_NEAR(alone, 50'000, 1);
  kernel.causes = {{"issued", 700}, {"memory_dram", 200}, {"no_warp", 60}, {"drain", 40}};
  const Work now = facts().estimator().recorded();
  EXPECT_NEAR(now.tail, 0.1 * kCycles, 1) << "SMs had no warp for a tenth of the time";
  EXPECT_NEAR(now.tail + now.units.at("l2_atomics"), alone, 1);
  unit("lsu_wait_network", "SM", kSms, 0.2);
  EXPECT_NEAR(facts().estimator().recorded().tail, 0.3 * kCycles, 1) << "and their loads queued for a fifth";
  kernel.units.pop_back();
  unit("request_out", "partition", 64, 0.0);
  kernel.units.back().busy = kernel.units.back().most = 30'000;
  const double mean = 30'000 / 64.0;
  EXPECT_NEAR(facts().estimator().recorded().units.at("request_out"),
              30'000 - (30'000 - mean) * now.tail / alone, 1)
      << "the requests of the atomics are in the tail with them";
  const auto p = atomics(facts());
  ASSERT_TRUE(p);
  EXPECT_NEAR(p->after.tail / now.tail, p->after.units.at("l2_atomics") / now.units.at("l2_atomics"), 1e-6)
      << "as many blocks end as they did";
}

TEST_F(RulesTest, WhatAnAtomicReturnsIsAwaitedBlockByBlockToo) {
  unit("l2_atomics", "partition", 64, 0.0);
  kernel.units.back().busy = kernel.units.back().most = 50'000;
  const std::map<std::string, uint64_t> counts{
      {"transactions", 8}, {"transferred_bytes", 256}, {"active_lanes", 32}, {"atomic_words", 8}};
  operation("atom_global", "atom.global.add.u32 %r5, [%rd2], 1", 1, counts);
  ASSERT_TRUE(atomics(facts()));
  const double collected = atomics(facts())->after.chain[0];
  kernel.per_pc.numbers["awaited_memory_dram"][0] = 1000;
  EXPECT_GT(atomics(facts())->after.chain[0], collected + facts().latency("barrier"));
}

TEST_F(RulesTest, ConversionsGoWithDoublePrecision) {
  unit("pipe_fp64", "scheduler", 320, 0.25);
  unit("pipe_sfu", "scheduler", 320, 0.96);
  unit("pipe_fp32", "scheduler", 320, 0.0);
  operation("cvt64", "cvt.f64.f32 %fd1, %f1", 60);
  operation("fp64", "fma.rn.f64 %fd2, %fd1, 0d3FE0000000000000, %fd1", 60);
  operation("cvt64", "cvt.rn.f32.f64 %f2, %fd2", 60);
  const auto p = precision(facts());
  ASSERT_TRUE(p);
  EXPECT_EQ(p->pc, 1);
  EXPECT_THAT(p->counter, HasSubstr("sfu pipe, with conversions between single and double precision"));
  EXPECT_NEAR(p->after.units.at("pipe_sfu"), 0, 300);
  EXPECT_NEAR(p->after.units.at("pipe_fp32"), 60 * 100 * 2, 300);
  operation("store_global", "st.global.f64 [%rd1], %fd2", 1);
  EXPECT_NEAR(precision(facts())->after.units.at("pipe_sfu"), 48'000, 300) << "an array of doubles stays one";
  kernel.per_pc.texts["ptx"] = {"cvt.f64.f32 %wide, %x", "fma.rn.f64 %sum, %wide, 0d3FE0000000000000, %wide",
                                "cvt.rn.f32.f64 %y, %sum", "st.global.f64 [%wide+8], {%one, %sum}"};
  EXPECT_NEAR(precision(facts())->after.units.at("pipe_sfu"), 48'000, 300) << "whatever registers are called";
}

TEST_F(RulesTest, AtomicsOnOneWordAreAddedUpByTheWarp) {
  unit("l2_atomics", "partition", 64, 0.95);
  operation("atom_global", "atom.global.add.f32 %f1, [%rd1], %f2", 1,
            {{"transactions", 1}, {"requested_bytes", 128}, {"transferred_bytes", 32}});
  const Facts f = facts();
  const auto p = atomics(f);
  ASSERT_TRUE(p);
  EXPECT_THAT(p->what, HasSubstr("shuffles"));
  EXPECT_NEAR(p->after.units.at("l2_atomics"), 95'000.0 * (0.34 + 1.1) / (0.34 + 32 * 1.1), 1);
  kernel.units[0].busy = kernel.units[0].most = 1000;
  EXPECT_FALSE(atomics(facts())) << "those that wait for nothing are good as they are";
}

/// The compiler has added up the lanes that add integers to one word: shuffles would do it once more.
TEST_F(RulesTest, LanesThatAreAddedUpAlreadyAreNotToBeAddedUpAgain) {
  unit("l2_atomics", "partition", 64, 0.0);
  kernel.units.back().busy = kernel.units.back().most = 90'000;
  operation("atom_global", "atom.global.add.u32 %r1, [%rd1], %r2", 1,
            {{"transactions", 1}, {"transferred_bytes", 32}, {"active_lanes", 16}, {"atomic_words", 1}});
  const auto p = atomics(facts());
  ASSERT_TRUE(p);
  EXPECT_THAT(p->what, HasSubstr("in shared memory"));
  EXPECT_NEAR(p->after.units.at("l2_atomics") + p->after.tail, 90'000 / 8.0, 1) << "once for 8 warps";
}

/// 64 words are 8 sectors, over which 32 random lanes use nearly all: a block adds these 8 at its end,
/// instead of what its warps did one word after another.
TEST_F(RulesTest, ABlockAddsAsManyResultsAsThereAre) {
  unit("l2_atomics", "partition", 64, 0.0);
  kernel.units.back().busy = 95'000 * 2;  // two partitions have all of them
  kernel.units.back().most = 95'000;
  operation("atom_global", "atom.global.add.u32 %r1, [%rd1], 1", 1,
            {{"transactions", 8}, {"transferred_bytes", 8 * 32}, {"active_lanes", 32}, {"atomic_words", 16}});
  const auto p = atomics(facts());
  ASSERT_TRUE(p);
  EXPECT_THAT(p->what, HasSubstr("in shared memory with its atomics"));
  EXPECT_THAT(p->what, testing::Not(HasSubstr("in a loop")));
  const double blocks = kWarps / 8.0;
  EXPECT_NEAR((p->after.units.at("l2_atomics") + p->after.tail) / (95'000.0 * 8 * blocks / (16.0 * kWarps)),
              1, 0.05);
}

TEST_F(RulesTest, EachArrayHasResultsOfItsOwn) {
  unit("l2_atomics", "partition", 64, 0.0);
  kernel.units.back().busy = 95'000;
  kernel.units.back().most = 95'000;
  const auto left = [&](const char* second) {
    kernel.per_pc = {};
    for (const char* text : {"ptx", "class", "source_file"}) kernel.per_pc.texts[text];
    const std::map<std::string, uint64_t> counts{
        {"transactions", 4}, {"transferred_bytes", 4 * 32}, {"active_lanes", 32}, {"atomic_words", 20}};
    operation("load_global", "ld.global.u32 %r1, [%rd1]", 1);
    operation("int", "mul.wide.u32 %rd2, %r1, 4", 1);
    operation("int", "add.s64 %rd3, %rd8, %rd2", 1);
    operation("atom_global", "atom.global.add.u32 %r2, [%rd3], 1", 1, counts);
    operation("int", second, 1);
    operation("atom_global", "atom.global.add.u32 %r3, [%rd4], 1", 1, counts);
    const auto p = atomics(facts());
    return p ? p->after.units.at("l2_atomics") + p->after.tail : 0.0;
  };
  const double one = left("add.s64 %rd4, %rd8, %rd2"), two = left("add.s64 %rd4, %rd9, %rd2");
  EXPECT_GT(one, 0);
  EXPECT_NEAR(two, 2 * one, 0.01 * one);
}

/// Straight from what two loads gave, all lanes of a warp add to one word: no results that a block has
/// collected, but work that goes on beside everything else. In a thread's loop, or behind a barrier, they are
/// results.
TEST_F(RulesTest, LanesThatAddToOneWordAreAddedUpFirst) {
  unit("l2_atomics", "partition", 64, 0.0);
  kernel.units.back().busy = 90'000 * 64;
  kernel.units.back().most = 90'000;
  const auto kernel_of = [&](uint64_t loads, bool barrier) {
    kernel.per_pc = {};
    for (const char* text : {"ptx", "class", "source_file"}) kernel.per_pc.texts[text];
    operation("load_global", "ld.global.f32 %f1, [%rd1]", loads);
    operation("load_global", "ld.global.f32 %f2, [%rd2]", loads);
    if (barrier) operation("barrier", "bar.sync 0", 1);
    operation("atom_global", "atom.global.add.f32 %f3, [%rd3], %f1", 1,
              {{"transactions", 1}, {"transferred_bytes", 32}, {"active_lanes", 32}, {"atomic_words", 32}});
  };
  for (const auto& [loads, barrier, collected] :
       {std::tuple{1u, false, false}, std::tuple{8u, false, true}, std::tuple{1u, true, true}}) {
    kernel_of(loads, barrier);
    const Facts f = facts();
    EXPECT_EQ(f.merges(f.operations() - 1), collected) << loads << " loads, barrier " << barrier;
    kernel.per_pc.numbers["awaited_memory_dram"].back() = 1;
    EXPECT_FALSE(facts().merges(f.operations() - 1)) << "what it returns is used";
    kernel.per_pc.numbers["awaited_memory_dram"].back() = 0;
    const auto p = atomics(f);
    ASSERT_TRUE(p);
    EXPECT_THAT(p->what, HasSubstr("add up the 32 lanes of a warp first"));
    const Work& now = f.estimator().recorded();
    EXPECT_NEAR(p->after.units.at("l2_atomics") + p->after.tail,
                (now.units.at("l2_atomics") + now.tail) * (0.34 + 1.1) / (0.34 + 32 * 1.1), 1);
  }
}

/// 512 words of which a block uses nearly all: its own results are as many as its atomics, so that only few
/// blocks gain by having their own.
TEST_F(RulesTest, ManyResultsTakeFewBlocks) {
  unit("l2_atomics", "partition", 64, 0.95);
  operation(
      "atom_global", "atom.global.add.u32 %r1, [%rd1], 1", 1,
      {{"transactions", 25}, {"transferred_bytes", 25 * 32}, {"active_lanes", 32}, {"atomic_words", 26}});
  resources.threads = 32;  // a block a warp
  const auto p = atomics(facts());
  ASSERT_TRUE(p);
  EXPECT_THAT(p->what, HasSubstr("one large block for each of the 80 SMs"));
  kernel.counters["warps"] = 80;
  for (auto& [name, column] : kernel.per_pc.numbers)
    for (uint64_t& value : column) value = value * 80 / kWarps;
  EXPECT_FALSE(atomics(facts())) << "there are as few already";
}

/// An SM holds two of the largest blocks: where warps wait, half as many wait twice as long.
TEST_F(RulesTest, ManyResultsTakeAsManyLargeBlocksAsHideTheWaits) {
  unit("l2_atomics", "partition", 64, 0.6);
  const std::map<std::string, uint64_t> counts = {
      {"transactions", 8}, {"transferred_bytes", 8 * 32}, {"active_lanes", 32}, {"atomic_words", 8}};
  operation("load_global", "ld.global.f32 %f1, [%rd1]", 80, {{"awaited_memory_dram", 1000}});
  operation("atom_global", "atom.global.add.u32 %r1, [%rd1], 1", 1, counts);
  resources.threads = 32;  // a block a warp
  const auto chosen = [&] {
    const auto p = atomics(facts());
    return p ? p->what : "";
  };
  EXPECT_THAT(chosen(), HasSubstr("2 blocks of 1024 threads for each of the 80 SMs, which do the work"));
  resources.registers = 64;  // 1024 threads take all of an SM's
  EXPECT_THAT(chosen(), HasSubstr("one large block for each of the 80 SMs, which does the work"));
}

/// Of words that do not fit a block's shared memory no block can keep its own.
TEST_F(RulesTest, ResultsThatNoBlockCanKeepAreNotCollected) {
  unit("l2_atomics", "partition", 64, 0.95);
  operation(
      "atom_global", "atom.global.add.u32 %r1, [%rd1], 1", 1,
      {{"transactions", 32}, {"transferred_bytes", 32 * 32}, {"active_lanes", 32}, {"atomic_words", 32}});
  EXPECT_FALSE(atomics(facts()));
}

TEST_F(RulesTest, ManyBlocksOfAUsualSizeAreToBecomeFewer) {
  unit("dispatcher", "GPU", 1, 0.8);
  const auto p = block_size(facts());
  ASSERT_TRUE(p);
  EXPECT_THAT(p->what, HasSubstr("start 640 blocks"));
  EXPECT_NEAR(p->after.units.at("dispatcher"), 80'000.0 * 640 / (kWarps / 8.0), 1);
  kernel.units.back().busy = kernel.units.back().most = 30'000;
  EXPECT_FALSE(block_size(facts())) << "their starts take little of the time";
}

TEST_F(RulesTest, SmsWithLessWorkThanTheBusiestAreATail) {
  EXPECT_FALSE(wave_quantisation(facts()));
  for (uint64_t sm = 1; sm < kSms; ++sm) kernel.per_sm.numbers["inst_executed"][sm] = 500;
  const auto p = wave_quantisation(facts());
  ASSERT_TRUE(p);
  EXPECT_NEAR(p->value, 100 * (1000 + 79 * 500) / 80'000.0, 1e-9);
}

TEST_F(RulesTest, BlocksElsewhereAreNotShorter) {
  // One block for each of 16 SMs, that waits for its own results.
  kernel.counters["warps"] = 16 * 8;
  for (uint64_t sm = 0; sm < kSms; ++sm) {
    kernel.per_sm.numbers["warps"][sm] = sm < 16 ? 8 : 0;
    kernel.per_sm.numbers["inst_executed"][sm] = sm < 16 ? 1000 : 0;
    kernel.per_sm.numbers["active_cycles"][sm] = sm < 16 ? kCycles : 0;
    kernel.per_sm.numbers["active_warp_cycles"][sm] = sm < 16 ? 8 * kCycles : 0;
  }
  unit("issue", "scheduler", 320, 0.02);
  operation("load_global", "ld.global.f32 %f1, [%rd1]", 1, {{"awaited_memory_dram", 1000}});
  const auto p = wave_quantisation(facts());
  ASSERT_TRUE(p);
  EXPECT_EQ(p->after.rounds, 1) << "a warp takes as long on another SM";
  const Facts f = facts();
  EXPECT_LT(gain(f, *p), 1.05);
}

/// 2 blocks of a warp on 40 SMs and one on the others, all at once: none waits for another's place.
TEST_F(RulesTest, WarpsThatFitBesideEachOtherAreOneRound) {
  kernel.counters["warps"] = 120;
  for (uint64_t sm = 0; sm < kSms; ++sm) {
    const uint64_t warps = sm < 40 ? 2 : 1;
    kernel.per_sm.numbers["warps"][sm] = warps;
    kernel.per_sm.numbers["inst_executed"][sm] = 500 * warps;
    kernel.per_sm.numbers["active_warp_cycles"][sm] = warps * kCycles;
  }
  resources.threads = 32;
  operation("load_global", "ld.global.f32 %f1, [%rd1]", 1, {{"awaited_memory_dram", 1000}});
  EXPECT_EQ(facts().estimator().recorded().rounds, 1);
  unit("issue", "scheduler", 320, 0.02);
  EXPECT_THAT(named(), testing::Not(testing::Contains("wave_quantisation")));
}

/// 40 blocks of 8 warps for 80 SMs are 4 warps an SM, and no fraction of one for a scheduler.
TEST_F(RulesTest, BlocksAreDividedIntoWholeWarps) {
  const auto launch = [&](uint64_t warps) {
    kernel.counters["warps"] = static_cast<double>(warps * 40);
    for (uint64_t sm = 0; sm < kSms; ++sm) {
      kernel.per_sm.numbers["warps"][sm] = sm < 40 ? warps : 0;
      kernel.per_sm.numbers["inst_executed"][sm] = sm < 40 ? 1000 : 0;
    }
    return wave_quantisation(facts());
  };
  unit("issue", "scheduler", 320, 0.8);
  unit("lsu_port", "SM", 80, 0.8);
  unit("request_in", "cluster", 40, 0.4);
  kernel.units.back().most = 80'000;
  const auto even = launch(8);
  ASSERT_TRUE(even);
  EXPECT_NEAR(even->after.units.at("issue"), 40'000, 1);
  EXPECT_NEAR(even->after.units.at("request_in"), 40'000, 1) << "the port of SMs without a block";
  const auto rest = launch(10);
  ASSERT_TRUE(rest);
  EXPECT_NEAR(rest->after.units.at("lsu_port"), 40'000, 1) << "5 warps an SM";
  EXPECT_NEAR(rest->after.units.at("issue"), 40'000 * 2 / 1.25, 1) << "one of four schedulers has 2";
}

TEST_F(RulesTest, AnArrayThatRegistersCouldHoldIsNotToBeIndexed) {
  unit("lsu_port", "SM", 80, 0.9);
  unit("issue", "scheduler", 320, 0.1);
  unit("dram_bus", "channel", 64, 0.9);
  kernel.counters["dram_write_bytes"] = 1280.0 * kWarps;
  const std::map<std::string, uint64_t> moved{
      {"transactions", 8}, {"requested_bytes", 1024}, {"transferred_bytes", 1024}, {"slots_issued", 8}};
  operation("store_local", "st.local.f32 [%rd1], %f1", 8, moved);
  operation("store_global", "st.global.f32 [%rd2], %f1", 1,
            {{"transactions", 1}, {"requested_bytes", 128}, {"transferred_bytes", 128}});
  EXPECT_FALSE(local_arrays(facts())) << "no array is known";
  resources.local_bytes = 64;
  const auto p = local_arrays(facts());
  ASSERT_TRUE(p);
  EXPECT_EQ(p->pc, 0);
  EXPECT_THAT(p->what, HasSubstr("array of 64 bytes in registers"));
  EXPECT_NEAR(p->after.units.at("lsu_port"), 90'000 / 9.0, 1);
  EXPECT_NEAR(p->after.units.at("dram_bus"), 90'000 / 10.0, 1) << "lines of the array go to DRAM no more";
  // Each place is one of 16 words: as many operations choose it.
  operation("int", "mul.wide.u32 %rd5, %tid.x, 4", 0);
  operation("int", "add.s64 %rd1, %SPL, %rd5", 0);
  const auto chosen = local_arrays(facts());
  ASSERT_TRUE(chosen);
  EXPECT_NEAR(chosen->after.units.at("issue") - p->after.units.at("issue"), 8 * 16 * kWarps / 320.0, 1);
  resources.local_bytes = 1024;
  EXPECT_FALSE(local_arrays(facts())) << "256 words and 32 registers are more than a thread can have";
}

/// Stores to local memory stay in a write-back L1: what goes on is lines that are replaced.
TEST_F(RulesTest, LocalStoresThatStayInTheL1AreNoRequests) {
  unit("request_in", "cluster", 40, 0.9);
  operation("store_local", "st.local.f32 [%rd1], %f1", 8,
            {{"transactions", 32}, {"requested_bytes", 1024}, {"transferred_bytes", 1024}});
  operation("store_global", "st.global.f32 [%rd2], %f1", 1,
            {{"transactions", 32}, {"requested_bytes", 128}, {"transferred_bytes", 1024}});
  const double now = facts().estimator().recorded().units.at("request_in");
  const auto all = coalescing(facts());
  ASSERT_TRUE(all);
  EXPECT_LT(all->after.units.at("request_in"), 0.2 * now) << "none was replaced";
  kernel.counters["l1_writebacks"] = 32.0 * kWarps;
  kernel.counters["l1_writeback_sectors"] = 32.0 * kWarps;
  EXPECT_GT(coalescing(facts())->after.units.at("request_in"), 0.5 * now);
}

/// Blocks that add results when they are done: twice as many threads are not twice as many blocks.
TEST_F(RulesTest, MoreThreadsInLargerBlocksAddNoMoreResults) {
  const auto launch = [&](uint64_t threads) {
    kernel.per_pc = {};
    for (const char* text : {"ptx", "class", "source_file"}) kernel.per_pc.texts[text];
    resources.threads = threads;
    kernel.counters["warps"] = 16 * kSms;
    for (uint64_t sm = 0; sm < kSms; ++sm) {
      kernel.per_sm.numbers["warps"][sm] = 16;
      kernel.per_sm.numbers["active_warp_cycles"][sm] = 16 * kCycles;
    }
    kernel.causes = {{"issued", 20}, {"memory_dram", 980}};
    operation("load_global", "ld.global.u32 %r3, [%rd3]", 1);
    operation("barrier", "bar.sync 0", 0);
    operation("atom_global", "atom.global.add.u32 %r5, [%rd2], %r6", 0);
    kernel.per_pc.numbers["executed"] = {100 * 16 * kSms, 16 * kSms, 16 * kSms};
    kernel.per_pc.numbers["awaited_memory_dram"][0] = 100'000'000;
    return more_warps(facts());
  };
  unit("l2_atomics", "partition", 64, 0.1);
  const auto atomics_of = [](const Work& w) { return w.units.at("l2_atomics") + w.tail; };
  const auto fits = launch(256);
  ASSERT_TRUE(fits);
  EXPECT_THAT(fits->what, HasSubstr("launch 4 times as many threads, in blocks of 1024, which each add"));
  EXPECT_NEAR(atomics_of(fits->after), atomics_of(facts().estimator().recorded()), 1);
  const auto too_large = launch(512);
  ASSERT_TRUE(too_large);
  EXPECT_THAT(too_large->what, HasSubstr("launch 4 times as many threads, in blocks of 1024,"));
  EXPECT_NEAR(atomics_of(too_large->after), 2 * atomics_of(facts().estimator().recorded()), 1)
      << "with twice as many blocks";
}

TEST_F(RulesTest, FewWarpsThatWaitAreToBecomeMore) {
  const auto launch = [&](uint64_t warps, uint64_t turns) {
    kernel.per_pc = {};
    for (const char* text : {"ptx", "class", "source_file"}) kernel.per_pc.texts[text];
    kernel.counters["warps"] = static_cast<double>(warps * kSms);
    for (uint64_t sm = 0; sm < kSms; ++sm) {
      kernel.per_sm.numbers["warps"][sm] = warps;
      kernel.per_sm.numbers["active_warp_cycles"][sm] = warps * kCycles;
    }
    kernel.causes = {{"issued", 20}, {"memory_dram", 980}};
    operation("load_global", "ld.global.f32 %f1, [%rd1]", turns * warps * kSms / kWarps + 1);
    kernel.per_pc.numbers["executed"].back() = turns * warps * kSms;
    kernel.per_pc.numbers["awaited_memory_dram"].back() = 1000;
  };
  launch(4, 100);
  const auto p = more_warps(facts());
  ASSERT_TRUE(p);
  EXPECT_THAT(p->what, HasSubstr("launch 16 times as many threads"));
  EXPECT_THAT(p->what, HasSubstr("200 warps an SM would hide the latency, and it holds 64"));
  EXPECT_NEAR(p->after.chain_sum(), facts().estimator().recorded().chain_sum() / 16, 1e-6);
  launch(4, 1);
  EXPECT_FALSE(more_warps(facts())) << "a thread that does all once cannot do less";
  launch(4, 8);
  EXPECT_THAT(more_warps(facts())->what, HasSubstr("launch 8 times as many threads"))
      << "there are no more turns";
  launch(4, 128);
  operation("barrier", "bar.sync 0", 0);
  kernel.per_pc.numbers["executed"].back() = 16 * 4 * kSms;
  const auto in_turn = more_warps(facts());
  ASSERT_TRUE(in_turn);
  EXPECT_THAT(in_turn->what, HasSubstr("launch 8 times as many threads"))
      << "16 of 128 turns are those of all";
  launch(64, 100);
  EXPECT_FALSE(more_warps(facts())) << "no more fit";
}

TEST_F(RulesTest, ARootWhoseReciprocalIsUsedIsOneOperation) {
  unit("pipe_fp32", "scheduler", 320, 0.9);
  unit("pipe_sfu", "scheduler", 320, 0.0);
  unit("issue", "scheduler", 320, 0.5);
  operation("fp32_sqrt_rn", "sqrt.rn.f32 %f11, %f29", 28);
  operation("fp32_rcp_rn", "rcp.rn.f32 %f12, %f11", 28);
  const auto p = fast_math(facts());
  ASSERT_TRUE(p);
  // 100 warps a scheduler, eight cycles for a reciprocal root.
  EXPECT_NEAR(p->after.units.at("pipe_sfu"), 28 * 100 * 8, 1);
  kernel.per_pc.texts["ptx"][1] = "rcp.rn.f32 %f12, %f13";
  EXPECT_NEAR(fast_math(facts())->after.units.at("pipe_sfu"), 28 * 100 * (16 + 8), 1) << "of another value";
}

TEST_F(RulesTest, AQuotientByWhatStaysIsAProduct) {
  unit("pipe_fp32", "scheduler", 320, 0.9);
  unit("pipe_sfu", "scheduler", 320, 0.0);
  unit("issue", "scheduler", 320, 0.5);
  operation("load_param", "ld.param.f32 %f2, [a]", 1);
  operation("fp32_div_rn", "div.rn.f32 %f1, %f1, %f2", 28);
  const auto sfu = [&] {
    const auto p = fast_math(facts());
    return p ? p->after.units.at("pipe_sfu") : -1;
  };
  operation("fp32", "add.f32 %f22, %f22, %f1", 28);
  EXPECT_EQ(sfu(), 0);
  for (const char* const writes :
       {"add.f32 %f2, %f2, %f1", "@%p1 add.f32 %f2, %f2, %f1", "@%p1 ld.shared.v2.f32 {%f4, %f2}, [%rd1]"}) {
    kernel.per_pc.texts["ptx"].back() = writes;
    EXPECT_NEAR(sfu(), 28 * 100 * 8, 1) << "100 warps a scheduler, eight cycles for a reciprocal: " << writes;
  }
}

TEST_F(RulesTest, LoopsOfDifferentLengthLeaveSchedulersUneven) {
  unit("pipe_fp32", "scheduler", 320, 0.95);
  kernel.counters["divergent_branch"] = kWarps;
  operation("fp32", "fma.rn.f32 %f1, %f2, %f3, %f1", 475, {{"active_lanes", 475 * 16}});
  const auto loop = [&](uint64_t lanes) {
    kernel.per_pc.numbers["active_lanes"][1] = lanes * kWarps;
    return divergence(facts())->after.units.at("pipe_fp32");
  };
  operation("int", "setp.ne.s32 %p1, %r1, 0", 1);
  operation("branch", "@%p1 bra $L1", 1, {{"active_lanes", 16}, {"divergent", 1}});
  const double ways = loop(32), lengths = loop(16);
  EXPECT_GT(lengths, 1.02 * ways) << "few lanes come to the branch: the others have left the loop";
}

TEST(Advise, ARecordingOfAnOlderVersionHasNoUnitsAndGetsNoAdvice) {
  const test::SmallRecording small;
  const Recording recording(small.write(test::temp_path("a.h5")));
  const RunAdvice run = advise(recording, "");
  EXPECT_TRUE(run.advice.empty());
  EXPECT_THAT(advice_text(run, 5), HasSubstr("no rule predicts a gain of 5 % or more"));
}

TEST(Advise, AnEstimateThatIsFarOffSaysSo) {
  RunAdvice run;
  run.cycles = 1000;
  run.kernels = {{"k", 0, 1, 1000, -0.4}};
  run.advice = {{"coalescing", "k", 0, "do", "k.cu:3 `ld`", "sectors per request", "sectors", 32, 2, 2}};
  EXPECT_THAT(advice_text(run, 5), HasSubstr("take the gains of this kernel as rough"));
  EXPECT_THAT(advice_text(run, 5), HasSubstr("k.cu:3"));
  EXPECT_THAT(advice_json(run), HasSubstr("\"rough\": true"));
  run.kernels[0].own_error = 0.2;
  EXPECT_THAT(advice_text(run, 5), testing::Not(HasSubstr("rough")));
}

TEST(Advise, AGainThatCopiesHideIsSaidOfTheKernels) {
  RunAdvice run;
  run.cycles = 1000;
  run.advice = {
      {"coalescing", "k", 0, "do", "k.cu:3 `ld`", "sectors per request", "sectors", 32, 3, 1.02, 2.5}};
  EXPECT_THAT(advice_text(run, 5),
              HasSubstr("the run would be 1.02 times as fast (predicted), its kernels alone "
                        "2.50 times: the rest is copies"));
  run.advice[0].gain = 2.45;
  EXPECT_THAT(advice_text(run, 5), testing::Not(HasSubstr("copies")));
  run.selected = true;
  EXPECT_THAT(advice_text(run, 5), HasSubstr("launches of 1000 core cycles"));
  EXPECT_THAT(advice_text(run, 5), HasSubstr("these launches would be 2.45 times as fast"));
}

}  // namespace
}  // namespace gpusim::analysis::advice
