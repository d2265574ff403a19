// Small tables: scoreboard, cache tags, timing tables.
#include <gtest/gtest.h>

#include <list>
#include <random>

#include "components/cache/tag_cache.h"
#include "components/sm/scoreboard.h"
#include "components/sm/timing.h"
#include "components/testing/mocks.h"

namespace gpusim::comp {
namespace {

isa::MicroOp operation(std::initializer_list<uint16_t> reads, std::initializer_list<uint16_t> writes) {
  isa::MicroOp op;
  for (const uint16_t r : reads) op.sb_reads[op.num_sb_reads++] = r;
  for (const uint16_t w : writes) op.sb_writes[op.num_sb_writes++] = w;
  return op;
}

TEST(Scoreboard, ReadAfterWriteAndWriteAfterWriteWait) {
  Scoreboard board;
  board.configure(2, 8);
  board.set_ready_at(1, 3, 124, StallCause::kSharedMemory);
  const Scoreboard::Wait read = board.wait_of(1, operation({3}, {5}));
  EXPECT_FALSE(read.pending);
  EXPECT_EQ(read.cycle, 124u);
  EXPECT_EQ(read.cause, StallCause::kSharedMemory);
  EXPECT_EQ(board.wait_of(1, operation({}, {3})).cycle, 124u);
  EXPECT_EQ(board.wait_of(1, operation({4}, {5})).cycle, 0u);
  EXPECT_EQ(board.wait_of(0, operation({3}, {3})).cycle, 0u) << "another warp's register";
}

TEST(Scoreboard, TheLatestOperandDecides) {
  Scoreboard board;
  board.configure(1, 8);
  board.set_ready_at(0, 1, 50, StallCause::kAluDependency);
  board.set_ready_at(0, 2, 70, StallCause::kConstantL1);
  board.set_ready_at(0, 3, 60, StallCause::kSharedMemory);
  const Scoreboard::Wait wait = board.wait_of(0, operation({1, 2}, {3}));
  EXPECT_EQ(wait.cycle, 70u);
  EXPECT_EQ(wait.cause, StallCause::kConstantL1);
}

TEST(Scoreboard, APendingLoadOutweighsAnyCycle) {
  Scoreboard board;
  board.configure(1, 8);
  board.set_ready_at(0, 1, 1'000'000'000'000, StallCause::kAluDependency);
  board.set_pending(0, 2, 17);
  const Scoreboard::Wait wait = board.wait_of(0, operation({1, 2}, {}));
  EXPECT_TRUE(wait.pending);
  EXPECT_EQ(wait.load, 17u);
  board.set_ready_at(0, 2, 40, StallCause::kDram);
  EXPECT_FALSE(board.wait_of(0, operation({2}, {})).pending);
  board.set_pending(0, 2, 3);
  board.reset_warp(0);
  EXPECT_FALSE(board.wait_of(0, operation({2}, {})).pending);
}

TEST(TagCacheTest, TheLeastRecentlyUsedLineOfTheSetGoes) {
  TagCache cache(1024, 64, 4);  // four sets: lines 256 bytes apart share one
  for (const uint64_t a : {0u, 256u, 512u, 768u}) cache.fill(a);
  EXPECT_TRUE(cache.access(0));  // now 256 is the oldest
  cache.fill(1024);
  EXPECT_FALSE(cache.access(256));
  for (const uint64_t a : {0u, 512u, 768u, 1024u}) EXPECT_TRUE(cache.access(a)) << a;
  EXPECT_FALSE(cache.access(64)) << "another set is empty";
}

TEST(TagCacheTest, BytesOfALineHitTogetherAndInvalidateForgets) {
  TagCache cache(2048, 64, 4);
  EXPECT_FALSE(cache.access(0)) << "an empty cache holds no line 0";
  cache.fill(130);
  EXPECT_TRUE(cache.access(128));
  EXPECT_TRUE(cache.access(191));
  EXPECT_FALSE(cache.access(192));
  EXPECT_EQ(cache.line_of(191), 128u);
  cache.invalidate();
  EXPECT_FALSE(cache.access(128));
}

TEST(TagCacheTest, AgreesWithListsInOrderOfUse) {
  TagCache cache(uint64_t{3} * 2 * 32, 32, 2);  // three sets: not a power of two
  std::vector<std::list<uint64_t>> sets(3);
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const uint64_t address = random() % 600;
    std::list<uint64_t>& set = sets[address / 32 % 3];
    const auto at = std::find(set.begin(), set.end(), address / 32);
    const bool held = at != set.end();
    ASSERT_EQ(cache.access(address), held) << "access " << i;
    if (held) set.erase(at);
    if (!held) cache.fill(address);
    set.push_front(address / 32);
    if (set.size() > 2) set.pop_back();
  }
}

TEST(TimingTablesTest, EveryOpClassHasTheConfigurationsName) {
  const auto names = core::op_class_names();
  ASSERT_EQ(names.size(), kNumOpClasses);
  for (size_t c = 0; c < kNumOpClasses; ++c)
    EXPECT_EQ(names[c], isa::op_class_name(static_cast<isa::OpClass>(c))) << c;
}

TEST(TimingTablesTest, PipesInTheOrderOfTheFile) {
  const core::MachineConfig machine = test::tesla_c1060();
  std::string problem;
  const TimingTables tables = build_timing(machine, problem);
  EXPECT_EQ(problem, "");
  ASSERT_EQ(tables.of_scheduler.size(), 1u);
  const ClassTiming& multiply = tables.of_scheduler[0][isa::OpClass::kFp32Mul];
  EXPECT_EQ(multiply.pipe[0], 0);  // sfu
  EXPECT_EQ(multiply.pipe[1], 1);  // sp
  EXPECT_EQ(multiply.interval[0], 8);
  EXPECT_EQ(multiply.interval[1], 4);
  EXPECT_EQ(multiply.latency, 24u);
  const ClassTiming& call = tables.of_scheduler[0][isa::OpClass::kCall];
  const ClassTiming& branch = tables.of_scheduler[0][isa::OpClass::kBranch];
  EXPECT_EQ(call.latency, branch.latency) << "a call is a branch where the machine names none";
  EXPECT_EQ(call.pipe[0], branch.pipe[0]);
  EXPECT_EQ(call.interval[0], branch.interval[0]);
  const ClassTiming& plain = tables.of_scheduler[0][isa::OpClass::kInt];
  EXPECT_EQ(plain.pipe[0], plain.pipe[1]);
}

TEST(TimingTablesTest, SubCoresHavePipesOfTheirOwnBehindTheSharedOnes) {
  core::MachineConfig machine = test::tesla_c1060();  // sfu sp lsu control
  machine.scheduler.count = 3;
  machine.pipes[0].per_scheduler = machine.pipes[1].per_scheduler = true;
  std::string problem;
  const TimingTables tables = build_timing(machine, problem);
  EXPECT_EQ(problem, "");
  EXPECT_EQ(tables.shared_pipes, 2);
  EXPECT_EQ(tables.own_pipes, 2);
  ASSERT_EQ(tables.of_scheduler.size(), 3u);
  for (size_t s = 0; s < 3; ++s) {
    const ClassTimings& classes = tables.of_scheduler[s];
    const ClassTiming& multiply = classes[isa::OpClass::kFp32Mul];
    EXPECT_EQ(multiply.pipe[0], 2 + 2 * s);
    EXPECT_EQ(multiply.pipe[1], 3 + 2 * s);
    EXPECT_EQ(classes[isa::OpClass::kFp64].pipe[0], 3 + 2 * s) << "shares the scalar processors' pipe";
    EXPECT_EQ(classes[isa::OpClass::kLoadGlobal].pipe[0], 0);
  }
}

TEST(TimingTablesTest, MissingRowsAreNamed) {
  core::MachineConfig machine = test::tesla_c1060();
  std::string problem;
  machine.latency.erase("fp64");
  (void)build_timing(machine, problem);
  EXPECT_EQ(problem, "[latency] has no 'fp64'");
  machine = test::tesla_c1060();
  problem.clear();
  for (auto& pipe : machine.pipes) pipe.interval.erase("sfu_sin");
  (void)build_timing(machine, problem);
  EXPECT_EQ(problem, "no pipe in [pipes.*] executes 'sfu_sin'");
}

}  // namespace
}  // namespace gpusim::comp
