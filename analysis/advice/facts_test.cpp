// What a kernel did, as the rules look at it: places of its accesses and waits of its warps.
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/advice/rules_fixture.h"

namespace gpusim::analysis::advice {
namespace {

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

TEST_F(RulesTest, SlotsOfABusyPipeAreNoQueueOfMemory) {
  kernel.causes = {{"issued", 100}, {"pipe_busy", 900}, {"memory_dram", 75}, {"alu_dependency", 25}};
  EXPECT_DOUBLE_EQ(facts().estimator().recorded().memory_share, 0.75);
}

/// Where blocks start one after the other, an SM has places that none has come for yet.
TEST_F(RulesTest, PlacesAreEmptyWhileBlocksAreStarted) {
  for (uint64_t& cycles : kernel.per_sm.numbers["active_warp_cycles"]) cycles = kCycles * 16;
  unit("dispatcher", "GPU", 1, 0.51);
  EXPECT_DOUBLE_EQ(facts().estimator().recorded().rounds, 400 / 64.0);
  kernel.units.back().busy = kernel.units.back().most = 49'000;
  EXPECT_DOUBLE_EQ(facts().estimator().recorded().rounds, 400 / 16.0);
}

TEST_F(RulesTest, WaitsForTheInterconnectAreForDramAsFarAsTheyArePassedOn) {
  unit("l2_wait_dram_queue", "partition", 64, 0.005);
  unit("lsu_wait_network", "SM", 80, 0.02);
  EXPECT_NEAR(facts().estimator().recorded().behind_dram, 0.25, 1e-9);
  kernel.units.back().busy = 900 * 80;
  kernel.units.back().most = 900;
  EXPECT_EQ(facts().estimator().recorded().behind_dram, 1) << "too few to say";
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

/// All SMs wait for it before they have anything to do; later pages come beside the work of others.
TEST_F(RulesTest, TheFirstPageIsPartOfTheStart) {
  const double start = facts().estimator().recorded().start;
  machine.tlb.l2_latency_ns = 20;
  machine.tlb.walk_latency_ns = 300;
  const double walk = 320e-6 * static_cast<double>(machine.clocks.core_khz);
  unit("lsu_wait_page", "SM", kSms, 0.02);
  EXPECT_NEAR(facts().estimator().recorded().start, start + walk, 1);
  kernel.units.clear();
  unit("lsu_wait_page", "SM", kSms, 0.001);
  EXPECT_NEAR(facts().estimator().recorded().start, start + 0.001 * kCycles, 1)
      << "of a launch that finds its pages";
}

/// A chain that a loop hands on from a remainder to the next turn's product, with other operations behind it.
TEST_F(RulesTest, AResultIsAwaitedFromTheOperationThatGivesIt) {
  operation("int_div_u32", "div.u32 %r9, %r8, %r7", 1);
  operation("int_mul", "mad.lo.s32 %r2, %r1, 7, %r9", 4);
  operation("int_div_u32", "rem.u32 %r1, %r2, %r7", 4);
  operation("int", "and.b32 %r3, %r1, 1", 4);
  operation("int", "add.s32 %r4, %r4, 5", 4);
  operation("int", "add.s32 %r5, %r3, %r4", 4);
  kernel.per_pc.numbers["slots_alu_dependency"] = {0, 400, 400, 400, 0, 400};
  const auto chain = [this] { return facts().estimator().recorded().chain; };
  const double remainder = machine.latency.at("int_div_u32"), product = machine.latency.at("int_mul"),
               sum = machine.latency.at("int");
  ASSERT_GT(remainder, 2 * sum);
  EXPECT_NEAR(chain()[1], 4 * remainder, 1e-9) << "of the turn before; the quotient has been there for long";
  EXPECT_NEAR(chain()[2], 4 * product, 1e-9);
  EXPECT_NEAR(chain()[3], 4 * remainder, 1e-9);
  EXPECT_NEAR(chain()[5], 4 * sum, 1e-9);
  kernel.per_pc.texts["ptx"][5] = "add.s32 %r5, %r3, 5";
  EXPECT_NEAR(chain()[5], 4 * (sum - machine.scheduler.issue_cycles), 1e-9) << "one operation is between";
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

}  // namespace
}  // namespace gpusim::analysis::advice
