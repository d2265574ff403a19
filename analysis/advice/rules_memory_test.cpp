// Rules of memory: coalescing, tiles, partitions and banks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/advice/rules_fixture.h"
#include "analysis/advice/traffic.h"

namespace gpusim::analysis::advice {
namespace {

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

/// Neither lanes in another order nor a copy in shared memory change how often a word is asked for that
/// another block has still to write.
TEST_F(RulesTest, LoopsThatWaitForOtherBlocksAreNoTrafficOfThisOne) {
  unit("request_out", "partition", 64, 0.9);
  operation("int", "add.s64 %rd7, %rd1, %rd6", 1);
  operation(
      "load_global", "ld.global.u32 %r15, [%rd7]", 60,
      {{"transactions", 120}, {"requested_bytes", 1920}, {"transferred_bytes", 3840}, {"active_lanes", 240}});
  operation("int", "setp.eq.s32 %p3, %r15, 0", 60, {{"active_lanes", 240}});
  operation("branch", "@%p3 bra $L1", 60, {{"active_lanes", 120}, {"divergent", 20}});
  kernel.counters["divergent_branch"] = 20.0 * kWarps;
  EXPECT_TRUE(coalescing(facts()));
  EXPECT_TRUE(shared_reuse(facts()));
  ASSERT_TRUE(divergence(facts()));
  kernel.per_pc.texts["ptx"][1] = "ld.volatile.global.u32 %r15, [%rd7]";
  EXPECT_FALSE(coalescing(facts()));
  EXPECT_FALSE(shared_reuse(facts()));
  EXPECT_FALSE(divergence(facts()));
  program = ".visible .entry k() {\nld.global.u32 %rd6, [%rd5];\nadd.s64 %rd7, %rd1, %rd6;\n}";
  kernel.name = "k";
  EXPECT_FALSE(left_aside(facts())) << "wherever loaded values say that the word is";
  kernel.per_pc.texts["ptx"][1] = "ld.global.u32 %r15, [%rd7]";
  EXPECT_TRUE(left_aside(facts()));
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

/// Lanes that are added up first leave no steps, but finding those of one word takes six operations.
TEST_F(RulesTest, AddingUpLanesTakesOperations) {
  unit("shared", "SM", 80, 0.128);
  unit("pipe_lsu", "SM", 80, 0.9);
  unit("issue", "scheduler", 320, 0.5);
  operation("atom_shared", "atom.shared.add.u32 %r1, [%r2], 1", 1, {{"replays", 31}});
  const Facts before = facts();
  const auto p = bank_conflicts(before);
  ASSERT_TRUE(p);
  EXPECT_THAT(p->what, testing::HasSubstr("first, by shuffles, that change the same word"));
  EXPECT_NEAR(p->after.units.at("issue") - before.estimator().recorded().units.at("issue"),
              6.0 * kWarps / 320, 1);
  EXPECT_GT(p->after.chain[0], before.estimator().recorded().chain[0]);
  kernel.per_pc.texts["class"][0] = "load_shared";
  const Facts loads = facts();
  EXPECT_EQ(bank_conflicts(loads)->after.units.at("issue"), loads.estimator().recorded().units.at("issue"))
      << "nothing to add up";
}

/// A square block writes two short rows of whole sectors a warp, and reads a texture, which squares suit.
TEST_F(RulesTest, SquareBlocksThatReadTexturesAreLeftAlone) {
  unit("lsu_port", "SM", 80, 0.9);
  operation("int", "mov.u32 %r1, %tid.x", 1);
  operation("texture", "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}]", 1);
  operation("store_global", "st.global.f32 [%rd2], %f1", 1,
            {{"transactions", 2}, {"requested_bytes", 128}, {"transferred_bytes", 128}});
  EXPECT_FALSE(coalescing(facts()));
  kernel.per_pc.texts["class"][1] = "fp32";
  EXPECT_TRUE(coalescing(facts())) << "without the texture one row is better";
}

/// A tile of 16 x 16 halves, row by row of a large matrix: eight pieces of rows an access, half of a sector
/// each, whose other half is another register's. Packed, it is as many sectors of two lines.
TEST_F(RulesTest, LanesOfATensorOperationHaveTheirOrder) {
  unit("lsu_port", "SM", 80, 0.9);
  operation("int", "mov.u32 %r1, %tid.x", 1);
  operation("load_global", "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r2, %r3}, [%rd1], %r4", 4,
            {{"transactions", 32}, {"requested_bytes", 512}, {"transferred_bytes", 1024}});
  const auto p = coalescing(facts());
  ASSERT_TRUE(p);
  EXPECT_EQ(p->counter, "transactions per request");
  EXPECT_EQ(p->value, 8);
  EXPECT_NEAR(p->after.units.at("lsu_port"), 90'000 / 4.0, 1) << "two lines instead of eight";
  for (auto& [column, cells] : kernel.per_pc.numbers) cells[1] *= 4;  // 16 loads a warp
  EXPECT_THAT(shared_reuse(facts())->what, testing::HasSubstr("a value can serve 3 warps"))
      << "each row and column of eight warps";
  kernel.per_pc.texts["ptx"][1] = "ld.global.f32 %f1, [%rd1]";
  EXPECT_NEAR(coalescing(facts())->after.units.at("lsu_port"), 90'000 / 8.0, 1);
  EXPECT_THAT(shared_reuse(facts())->what, testing::HasSubstr("a value can serve 8 warps"));
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

/// Threads that look at the records behind their own: those of a warp begin anywhere in a line, where each
/// field is an array.
TEST_F(RulesTest, NeighbouringRecordsBeginWithinALine) {
  kernel.name = "k";
  const auto least = [&](const std::string& step, const std::string& load) {
    kernel.per_pc = {};
    for (const char* text : {"ptx", "class", "source_file"}) kernel.per_pc.texts[text];
    program =
        ".visible .entry k()\n{\nmov.u32 %r1, %tid.x;\nld.param.u64 %rd1, [p];\nmul.wide.s32 %rd2, %r1, 24;\n"
        "add.s64 %rd3, %rd1, %rd2;\nmov.u64 %rd4, %rd3;\n" +
        load + ";\n" + step + ";\n}\n";
    operation("load_global", load.c_str(), 8,
              {{"transactions", 8 * 6}, {"requested_bytes", 8 * 128}, {"transferred_bytes", 8 * 24 * 32}});
    operation("int", step.c_str(), 8);
    Least of_all = least_of(facts(), 0);
    return std::pair(of_all.transactions / (8 * kWarps), of_all.bytes / kSector / (8 * kWarps));
  };
  using testing::Pair;
  EXPECT_THAT(least("add.s64 %rd4, %rd4, 24", "ld.global.f32 %f1, [%rd4+24]"), Pair(1 + 31.0 / 32, 4.875));
  EXPECT_THAT(least("add.s64 %rd4, %rd4, 192", "ld.global.f32 %f1, [%rd4+192]"), Pair(1.75, 4))
      << "every eighth record, so that each piece begins with a sector";
  EXPECT_THAT(least("add.s64 %rd4, %rd4, 192", "ld.global.f32 %f1, [%rd4+24]"), Pair(2, 5))
      << "and of an unrolled loop the others, which never do";
  EXPECT_THAT(least("add.s64 %rd4, %rd4, 768", "ld.global.f32 %f1, [%rd4+4]"), Pair(1, 4))
      << "whole lines on";
  EXPECT_THAT(least("mov.u64 %rd5, %rd4", "ld.global.f32 %f1, [%rd3+52]"), Pair(2, 5)) << "without a loop";
  EXPECT_THAT(least("mov.u64 %rd5, %rd4", "ld.global.f32 %f1, [%rd3+20]"), Pair(1, 4)) << "its own";
}

/// Weights that all blocks go through, a row for each lane: every warp waits for the lines as they come.
TEST_F(RulesTest, BlocksThatWalkAlongTheSameLinesWaitForEachOfThem) {
  unit("lsu_port", "SM", 80, 0.9);
  kernel.name = "k";
  kernel.block = "32,8,1";
  constexpr double kLines = 40;  // that come to an SM
  kernel.counters["l2_read_sectors"] = kLines * 4 * kSms;
  kernel.counters["dram_read_bytes"] = kLines * kLine;
  const auto waits = [&](const std::string& row, const std::vector<std::string>& loads) {
    kernel.per_pc = {};
    for (const char* text : {"ptx", "class", "source_file"}) kernel.per_pc.texts[text];
    program = ".visible .entry k()\n{\nld.param.u64 %rd1, [w];\n" + row +
              ";\nmul.wide.s32 %rd2, %r1, 1152;\nadd.s64 %rd3, %rd1, %rd2;\nmov.u64 %rd4, %rd3;\n"
              "add.s64 %rd4, %rd4, 16;\n}\n";
    for (const std::string& load : loads)
      operation("load_global", load.c_str(), 32,
                {{"transactions", 32 * 32}, {"requested_bytes", 32 * 128}, {"transferred_bytes", 32 * 1024}});
    operation("int", "add.s64 %rd4, %rd4, 16", 32);
    const Facts f = facts();
    const auto p = coalescing(f);
    EXPECT_TRUE(p);
    double all = 0;
    for (size_t pc = 0; p && pc < loads.size(); ++pc) all += p->after.chain[pc];
    return all / f.memory_wait(true);
  };
  const double rounds = facts().estimator().recorded().rounds;
  const std::string of_lane = "mov.u32 %r1, %tid.x", load = "ld.global.f32 %f1, [%rd4]";
  EXPECT_NEAR(waits(of_lane, {load}), kLines / rounds, 0.01) << "as many as come to an SM";
  EXPECT_NEAR(waits("mov.u32 %r1, %tid.y", {load}), kLines / 8 / rounds, 0.01)
      << "each warp of a block has its own";
  EXPECT_LT(waits("mov.u32 %r1, %ctaid.x", {load}), 1) << "each block has";
  EXPECT_NEAR(waits(of_lane, {load, "ld.global.f32 %f2, [%rd4+4]"}), kLines / 2 / rounds, 0.01)
      << "two of a turn come together";
  kernel.counters["l2_read_sectors"] = kLines * 4 * kSms * 1000;
  kernel.counters["dram_read_bytes"] *= 1000;
  EXPECT_NEAR(waits(of_lane, {load}), 32, 0.01) << "no more than there are loads";
}

/// A transposition, of which a tile parts the loads from the stores.
TEST_F(RulesTest, LoadsWaitForNoStoreInFrontOfThemWhereATileIsBetween) {
  unit("request_out", "partition", 64, 0.2);
  const auto after = [&](bool load_scattered, bool store_scattered, bool store_between) {
    kernel.per_pc = {};
    for (const char* text : {"ptx", "class", "source_file"}) kernel.per_pc.texts[text];
    const auto access = [&](const char* op_class, const char* ptx, bool scattered) {
      operation(op_class, ptx, 1,
                {{"transactions", scattered ? 32 : 1},
                 {"requested_bytes", 128},
                 {"transferred_bytes", scattered ? 1024 : 128},
                 {"awaited_memory_dram", op_class[0] == 'l' ? 100 : 0}});
    };
    access("load_global", "ld.global.f32 %f1, [%rd1]", load_scattered);
    if (store_between) access("store_global", "st.global.f32 [%rd2], %f1", store_scattered);
    operation("fp32", "add.f32 %f3, %f1, %f1", 1);
    access("load_global", "ld.global.f32 %f2, [%rd1+4096]", load_scattered);
    access("store_global", "st.global.f32 [%rd2+4096], %f2", store_scattered);
    const Facts f = facts();
    const auto p = coalescing(f);
    EXPECT_TRUE(p);
    const auto share = [&](uint64_t pc) { return p->after.chain[pc] / f.estimator().recorded().chain[pc]; };
    return p ? share(0) + share(store_between ? 3 : 2) : 0;
  };
  EXPECT_LT(after(false, true, true), 1.1) << "one wait is left";
  EXPECT_LT(after(true, false, true), 1.1);
  EXPECT_GT(after(true, true, true), 1.9) << "records, which become arrays";
  EXPECT_GT(after(true, false, false), 1.9) << "what they wait for is no store";
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

TEST_F(RulesTest, ThreadsThatLoadLittleHaveNoNeighboursThatLoadTheSame) {
  operation("load_global", "ld.global.f32 %f1, [%rd1]", 7,
            {{"transactions", 7}, {"requested_bytes", 7 * 128}, {"transferred_bytes", 7 * 128}});
  EXPECT_FALSE(shared_reuse(facts()));
  operation("load_global", "ld.global.f32 %f2, [%rd1+4]", 1,
            {{"transactions", 1}, {"requested_bytes", 128}, {"transferred_bytes", 128}});
  EXPECT_TRUE(shared_reuse(facts()));
}

/// As many atomics in one partition as others spread over all: nobody's rows begin in it.
TEST_F(RulesTest, AtomicsThatCrowdAreNoCamping) {
  machine.l2.hash = core::PartitionHash::kModulo;
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
  machine.l2.hash = core::PartitionHash::kModulo;
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
  machine.l2.hash = core::PartitionHash::kScatter;
  EXPECT_FALSE(partition_camping(facts())) << "wherever rows begin, all partitions have as many";
  machine.l2.hash_bits = 2;
  EXPECT_TRUE(partition_camping(facts())) << "but not with a hash of some bits";
}

/// The few requests of the last warps are in few partitions, whatever the hash, and nothing waits for these.
TEST_F(RulesTest, CrowdedPartitionsThatNothingWaitsForAreNoCamping) {
  machine.l2.hash = core::PartitionHash::kModulo;
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

}  // namespace
}  // namespace gpusim::analysis::advice
