// Loops that ask for what another block is to write.
#include "analysis/profile/polling.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "analysis/profile/limiter_fixture.h"

namespace gpusim::analysis {
namespace {

using testing::HasSubstr;

/// Blocks that take turns: a warp of each asks for the flag of the one before, and the others of its block
/// wait at a barrier.
class BlocksInTurn : public Limiter {
 protected:
  static constexpr uint64_t kBlocks = 1000, kAsks = 1'000'000;
  BlocksInTurn() {
    unit("issue", "scheduler", 320, 0.01, 0.01);
    kernel.cycles = 1'000'000;
    kernel.causes = {{"issued", 10}, {"no_warp", 0}, {"barrier", 90}, {"memory_l2", 0}, {"control", 0}};
    kernel.per_sm.rows = 1;
    kernel.per_sm.numbers = {
        {"active_warp_cycles", {8 * kAsks * 200}}, {"blocks", {kBlocks}}, {"warps", {8 * kBlocks}}};
    for (const char* text : {"ptx", "class"}) kernel.per_pc.texts[text];
    operation("int_mul_wide", "add.s64 %rd5, %rd2, %rd14", kBlocks);
    operation("load_global", "ld.volatile.global.u32 %r33, [%rd5]", kAsks);
    operation("int", "setp.eq.s32 %p16, %r33, 0", kAsks);
    operation("branch", "@%p16 bra $L__BB0_9", kAsks);
    operation("fence", "membar.gl", kBlocks);
    operation("barrier", "bar.sync 0", 9 * kBlocks, 90);
  }
  void operation(const char* op_class, const char* ptx, uint64_t executed, uint64_t barrier = 0) {
    Table& t = kernel.per_pc;
    t.texts["ptx"].emplace_back(ptx);
    t.texts["class"].emplace_back(op_class);
    t.numbers["executed"].push_back(executed);
    t.numbers["slots_barrier"].push_back(barrier);
    t.numbers["ptx_line"].push_back(++t.rows);
    t.numbers["source_line"].push_back(0);
  }
};

TEST_F(BlocksInTurn, AreWaitsForOtherBlocks) {
  EXPECT_EQ(name(), "other_blocks");
  EXPECT_THAT(limiter_text(kernel, machine), HasSubstr("waiting for other blocks: 90 % of the slots"));
  EXPECT_THAT(limiter_text(kernel, machine), HasSubstr("1000 times each wait"));
  EXPECT_THAT(limiter_text(kernel, machine), HasSubstr("a turn takes 998 cycles: line 2 `ld.volatile"));
}

TEST_F(BlocksInTurn, AWordThatChangesEachTimeIsNotAskedForAgain) {
  kernel.per_pc.numbers["executed"][0] = kAsks;
  EXPECT_EQ(name(), kNoLimiter) << "a list that is walked";
  kernel.per_pc.numbers["executed"][0] = kBlocks;
  kernel.per_pc.texts["ptx"][1] = "ld.global.u32 %r33, [%rd5]";
  EXPECT_EQ(name(), kNoLimiter) << "a load that need not see what others write";
}

TEST_F(BlocksInTurn, AtomicsAskIfTheyLeaveTheWordAsItIs) {
  std::string& asks = kernel.per_pc.texts["ptx"][1];
  kernel.per_pc.texts["class"][1] = "atom_global";
  asks = "atom.global.add.u32 %r33, [%rd5], 0";
  EXPECT_EQ(name(), "other_blocks");
  asks = "atom.global.add.u32 %r33, [%rd5], 1";
  EXPECT_EQ(name(), kNoLimiter) << "a counter";
  asks = "atom.global.cas.b32 %r33, [%rd5], 0, 1";
  EXPECT_EQ(name(), "other_blocks") << "a lock";
  asks = "atom.global.cas.b32 %r33, [%rd5], %r40, %r41";
  kernel.per_pc.texts["ptx"][2] = "add.s32 %r41, %r33, 1";
  EXPECT_EQ(name(), kNoLimiter) << "an operation that is tried again with the value that was found";
}

TEST_F(BlocksInTurn, ABarrierOfTheLoopIsNoneThatWaitsForIt) {
  kernel.per_pc.numbers["executed"][5] = 8 * kAsks;
  EXPECT_EQ(name(), kNoLimiter);
}

TEST_F(BlocksInTurn, AFewRepeatsAreNoLongWait) {
  for (const uint64_t pc : {1, 2, 3}) kernel.per_pc.numbers["executed"][pc] = kBlocks + 100;
  EXPECT_EQ(name(), kNoLimiter) << "blocks wait at the barrier for another reason";
}

/// One block makes what all others wait for: its SM issues most, and waits for its own arithmetic.
TEST_F(BlocksInTurn, WaitForTheWorkOfAnSmThatWorksAlone) {
  kernel.per_sm.rows = 4;
  kernel.per_sm.numbers = {{"active_warp_cycles", {8 * kAsks * 200, 0, 0, 0}},
                           {"blocks", {kBlocks, 0, 0, 0}},
                           {"warps", {8 * kBlocks, 0, 0, 0}},
                           {"slots_issued", {3, 3, 2, 2}},
                           {"slots_alu_dependency", {20, 0, 0, 0}},
                           {"slots_pipe_busy", {0, 0, 0, 0}}};
  EXPECT_EQ(name(), "other_blocks") << "all work as much";
  kernel.per_sm.numbers["slots_issued"] = {9, 1, 0, 0};
  EXPECT_EQ(name(), "dependency");
}

/// Loads that see what others write, each at an address of its own or all at one.
uint64_t looks_at(uint64_t loads, bool one_address) {
  KernelRecord kernel;
  Table& t = kernel.per_pc;
  for (uint64_t i = 0; i < loads; ++i) {
    const uint64_t address = one_address ? 1 : i + 1;
    t.texts["ptx"].push_back(fmt::format("add.s64 %rd{}, %rd0, {}", address, 4 * i));
    t.texts["ptx"].push_back(fmt::format("ld.volatile.global.u32 %r{}, [%rd{}]", i, address));
    t.texts["ptx"].push_back(fmt::format("@%p{} bra $L{}", i, i));
    for (const char* op_class : {"int_mul_wide", "load_global", "branch"})
      t.texts["class"].emplace_back(op_class);
    // Of one address the sum over all statements is how often it was computed.
    const uint64_t asked = one_address ? 30 * loads : 30;
    for (const uint64_t executed : {uint64_t{10}, asked, asked}) t.numbers["executed"].push_back(executed);
  }
  t.rows = 3 * loads;
  uint64_t looks = 0;
  EXPECT_EQ(polling_loops(kernel, &looks).size(), loads);
  return looks;
}

TEST(PollingLoops, OfAProgramFourTimesAsLongTakeFourTimesAsManyLooks) {
  for (const bool one_address : {false, true}) {
    const uint64_t few = looks_at(1000, one_address);
    EXPECT_GE(few, 3 * 1000) << "each operation once at least";
    // 16 would be quadratic; the places of one register are searched by halves.
    EXPECT_LE(looks_at(4000, one_address), 5 * few) << (one_address ? "one address" : "many addresses");
  }
}

}  // namespace
}  // namespace gpusim::analysis
