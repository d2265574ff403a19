// The rule of atomics, and that of their results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "analysis/advice/rules_fixture.h"

namespace gpusim::analysis::advice {
namespace {

using testing::HasSubstr;

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
  kernel.units.back().busy = 50'000 * 33;
  EXPECT_FALSE(atomics(facts()));
  kernel.units.back().busy = 50'000 * 31;
  EXPECT_TRUE(atomics(facts())) << "most partitions have less: blocks meet at words of the others";
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
  EXPECT_THAT(atomics(facts())->what, HasSubstr("collect each block's results in shared memory"));
  kernel.per_pc.numbers["awaited_memory_dram"][0] = 1000;
  EXPECT_GT(atomics(facts())->after.chain[0], collected + facts().latency("barrier"));
  EXPECT_THAT(atomics(facts())->what, HasSubstr("let a block take places for all of its warps at once"))
      << "what is waited for is no sum";
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
  unit("shared", "SM", kSms, 0.1);
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
  // Of 32 random words in 32 banks, three share a bank with another one: so many steps of an SM's 400 warps.
  EXPECT_NEAR(p->after.units.at("shared"), 0.1 * kCycles + 3 * 400, 1);
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

/// Unrolled turns of a loop add to the fields of a record that the data choose: all of them to the same few.
TEST_F(RulesTest, FieldsOfARecordThatDataChooseAreNoResultsOfTheirOwn) {
  unit("l2_atomics", "partition", 64, 0.0);
  kernel.units.back().busy = kernel.units.back().most = 95'000;
  const auto left = [&](const char* start) {
    kernel.per_pc = {};
    for (const char* text : {"ptx", "class", "source_file"}) kernel.per_pc.texts[text];
    operation("load_global", "ld.global.u32 %r1, [%rd1]", 1);
    operation("int", start, 1);
    operation("int", "mul.wide.u32 %rd2, %r2, 4", 1);
    operation("int", "add.s64 %rd3, %rd8, %rd2", 1);
    operation("int", "add.s64 %rd4, %rd8, %rd2", 1);
    for (const char* text :
         {"atom.global.add.f32 %f3, [%rd3], %f1", "atom.global.add.f32 %f4, [%rd4+4], %f2"})
      operation(
          "atom_global", text, 4,
          {{"transactions", 8}, {"transferred_bytes", 8 * 32}, {"active_lanes", 128}, {"atomic_words", 128}});
    operation("int", "add.s64 %rd3, %rd3, 8", 4);
    operation("int", "add.s64 %rd4, %rd4, 8", 4);
    const auto p = atomics(facts());
    return p ? p->after.units.at("l2_atomics") + p->after.tail : HUGE_VAL;
  };
  const double of_data = left("mul.lo.u32 %r2, %r1, %r9"), of_threads = left("mul.lo.u32 %r2, %tid.x, %r9");
  EXPECT_LT(4 * of_data, of_threads);
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

/// table[index[block] * width + lane] += x: gradients of an embedding.
TEST_F(RulesTest, ABlockThatAddsARowOnceHasNothingToCollect) {
  unit("l2_atomics", "partition", 64, 0.0);
  kernel.units.back().busy = 90'000 * 2;
  kernel.units.back().most = 90'000;
  operation("load_global", "ld.global.u32 %r1, [%rd1]", 1);
  operation("int", "mad.lo.s32 %r2, %r1, %r9, %tid.x", 1);
  operation("int", "mul.wide.s32 %rd2, %r2, 4", 1);
  operation("int", "add.s64 %rd3, %rd9, %rd2", 1);
  operation("atom_global", "atom.global.add.f32 %f3, [%rd3], %f1", 1,
            {{"transactions", 1}, {"transferred_bytes", 128}, {"active_lanes", 32}, {"atomic_words", 4}});
  EXPECT_FALSE(atomics(facts()));
  const auto l = left_aside_atomics(facts());
  ASSERT_TRUE(l);
  EXPECT_EQ(l->pc, 4);
  kernel.per_pc.numbers["atomic_words"].back() = 20 * kWarps;
  EXPECT_TRUE(atomics(facts())) << "lanes meet at words, as of a histogram";
  EXPECT_FALSE(left_aside_atomics(facts()));
}

/// Sums under a lock, which each lane tries to take until it has it.
TEST_F(RulesTest, WhoWaitsForALockIsToldToAddWithoutOne) {
  constexpr uint64_t kTries = 50;
  kernel.causes = {{"issued", 10}, {"no_warp", 0}, {"memory_l2", 90}};
  kernel.per_sm.numbers["blocks"].assign(kSms, kWarps / 8 / kSms);
  unit("issue", "scheduler", 4 * kSms, 0.1);
  unit("l2_atomics", "partition", 64, 0.8);
  operation("int_mul_wide", "mul.wide.s32 %rd1, %r1, 4", 1);
  operation("atom_global", "atom.global.cas.b32 %r9, [%rd1], 0, 1", kTries, {{"active_lanes", 32 * kTries}});
  operation("int", "setp.ne.s32 %p1, %r9, 0", kTries);
  operation("branch", "@%p1 bra $L1", kTries, {{"divergent", 1}});
  kernel.per_pc.numbers["slots_memory_l2"] = {0, 0, 90, 0};
  kernel.counters["divergent_branch"] = kWarps;
  const Facts f = facts();
  ASSERT_TRUE(tries_to_lock(f, 1));
  EXPECT_FALSE(atomics(f));
  EXPECT_FALSE(divergence(f));
  EXPECT_FALSE(more_warps(f));
  const auto left = left_aside_blocks(f);
  ASSERT_TRUE(left);
  EXPECT_EQ(left->what, "threads that wait for a lock");
  kernel.per_pc.texts["ptx"][1] = "atom.global.add.u32 %r9, [%rd1], 0";
  EXPECT_FALSE(tries_to_lock(facts(), 1)) << "it reads a flag";
}

}  // namespace
}  // namespace gpusim::analysis::advice
