// Rules of accesses that go with data, of records, of the width of accesses and of local arrays.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/advice/rules_fixture.h"
#include "analysis/advice/rules_rows.h"

namespace gpusim::analysis::advice {
namespace {

using testing::HasSubstr;

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

/// Points of a picture that is turned lie in no line, whatever the order of the lanes.
TEST_F(RulesTest, PlacesThatFollowFromFractionsAreLeftAlone) {
  unit("dram_bus", "channel", 64, 0.5);
  operation("cvt", "cvt.rzi.s32.f32 %r1, %f9", 1);
  operation("int", "mul.wide.s32 %rd2, %r1, 4", 1);
  operation("int", "add.s64 %rd3, %rd9, %rd2", 1);
  operation("load_global", "ld.global.f32 %f1, [%rd3]", 1,
            {{"transactions", 32}, {"requested_bytes", 128}, {"transferred_bytes", 1024}});
  program =
      ".entry pick(.param .u64 p) { mov.u32 %r2, %tid.x; cvt.rn.f32.s32 %f9, %r2; "
      "cvt.rzi.s32.f32 %r1, %f9; mul.wide.s32 %rd2, %r1, 4; add.s64 %rd3, %rd9, %rd2; "
      "ld.global.f32 %f1, [%rd3]; ret; }";
  kernel.name = "pick";
  EXPECT_FALSE(coalescing(facts()));
  const auto left = left_aside(facts());
  ASSERT_TRUE(left);
  EXPECT_THAT(left->what, HasSubstr("from numbers with fractions"));
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

/// 32 bytes of a record are two accesses of a thread, not one for each word: of eight with 32 transactions
/// two are left. One more transaction reads which record.
TEST_F(RulesTest, WhatIsPackedIsReadSixteenBytesAtATime) {
  unit("dram_bus", "channel", 64, 0.9);
  unit("lsu_port", "SM", kSms, 0.5);
  operation("load_global", "ld.global.u32 %r1, [%rd1]", 1,
            {{"transactions", 1}, {"requested_bytes", 128}, {"transferred_bytes", 128}});
  operation("int", "mul.wide.u32 %rd2, %r1, 128", 1);
  operation("int", "add.s64 %rd3, %rd9, %rd2", 1);
  for (int word = 0; word < 8; ++word) {
    const std::string load =
        "ld.global.f32 %f" + std::to_string(word) + ", [%rd3+" + std::to_string(4 * word) + "]";
    operation("load_global", load.c_str(), 1,
              {{"transactions", 32}, {"requested_bytes", 128}, {"transferred_bytes", 1024}});
  }
  const auto p = packing(facts());
  ASSERT_TRUE(p);
  EXPECT_EQ(p->value, 32);
  EXPECT_NEAR(p->after.units.at("lsu_port"), 0.5 * kCycles * (2 * 32 + 1) / (8 * 32 + 1), 1);
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
  operation("load_global", "ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd9]", 1);
  EXPECT_FALSE(wide_accesses(facts())) << "other accesses matter as much";
  kernel.per_pc.numbers["executed"].back() = kWarps / 5;
  EXPECT_TRUE(wide_accesses(facts())) << "one in eleven is another";
  kernel.per_pc.numbers["executed"].back() = 0;
  operation("barrier", "bar.sync 0", 1);
  EXPECT_FALSE(wide_accesses(facts())) << "threads may hand elements to each other";
  kernel.per_pc.numbers["executed"].back() = 0;
  kernel.per_pc.texts["ptx"][4] = "ld.global.v4.u32 {%r5, %r7, %r8, %r9}, [%rd1]";
  kernel.per_pc.texts["ptx"][6] = "st.global.v4.u32 [%rd2], {%r6, %r7, %r8, %r9}";
  EXPECT_FALSE(wide_accesses(facts())) << "no wider ones are possible, and these are not of neighbours";
  kernel.per_pc.texts["ptx"][4] = "ld.global.u8 %r5, [%rd1]";
  kernel.per_pc.texts["ptx"][6] = "st.global.u8 [%rd2], %r6";
  operation("load_global", "ld.global.u8 %r7, [%rd1+1]", 1, moved);
  const auto words = wide_accesses(facts());
  ASSERT_TRUE(words) << "the next element is loaded as well, at a place of another alignment";
  EXPECT_THAT(words->what, HasSubstr("load and store words of 4 bytes"));
  EXPECT_THAT(words->what, HasSubstr("the work of 4 of the present threads"));
  EXPECT_NEAR(words->after.units.at("dispatcher"), 90'000 / 4.0, 1);
  kernel.per_pc.numbers["transferred_bytes"].back() = 32 * 32 * kWarps;
  EXPECT_FALSE(wide_accesses(facts())) << "places that are far from each other";
  kernel.per_pc.numbers["transferred_bytes"].back() = 32 * kWarps;
  kernel.per_pc.texts["ptx"][0] = "mad.lo.s32 %r3, %ctaid.x, %ntid.x, %tid.y";
  EXPECT_FALSE(wide_accesses(facts())) << "lanes access one byte";
  kernel.per_pc.texts["ptx"][0] = "mad.lo.s32 %r3, %ctaid.x, %ntid.x, %tid.x";
  for (const size_t pc : {4, 6, static_cast<int>(kernel.per_pc.rows) - 1}) {
    std::string& text = kernel.per_pc.texts["ptx"][pc];
    text.replace(text.find(".u8"), 3, ".u32");
  }
  EXPECT_FALSE(wide_accesses(facts())) << "elements that are words";
}

/// Three bytes of a pixel are in the words of four pixels; one of them alone is not.
TEST_F(RulesTest, FieldsOfRecordsAreInWordsIfAllAreUsed) {
  unit("dispatcher", "GPU", 1, 0.9);
  unit("issue", "scheduler", 320, 0.3);
  operation("int", "mad.lo.s32 %r3, %ctaid.x, %ntid.x, %tid.x", 1);
  operation("int", "mul.wide.s32 %rd4, %r3, 3", 1);
  operation("int", "add.s64 %rd1, %rd5, %rd4", 1);
  for (const char* load : {"ld.global.u8 %r5, [%rd1]", "ld.global.u8 %r6, [%rd1+1]"})
    operation("load_global", load, 1,
              {{"transactions", 1}, {"requested_bytes", 32}, {"transferred_bytes", 96}});
  EXPECT_FALSE(wide_accesses(facts())) << "two of three";
  operation("load_global", "ld.global.u8 %r7, [%rd1+2]", 1,
            {{"transactions", 1}, {"requested_bytes", 32}, {"transferred_bytes", 96}});
  const auto p = wide_accesses(facts());
  ASSERT_TRUE(p);
  EXPECT_THAT(p->what, HasSubstr("words of 4 bytes"));
}

/// Of two elements of 16 bits in a register, arithmetic on pairs takes one operation, and none takes them
/// out.
TEST_F(RulesTest, PairsOfHalvesTakeHalfTheArithmetic) {
  const std::map<std::string, uint64_t> moved{
      {"transactions", 2}, {"requested_bytes", 64}, {"transferred_bytes", 64}, {"slots_issued", 1}};
  unit("issue", "scheduler", 320, 0.3);
  unit("pipe_half", "scheduler", 320, 0.6);
  operation("int", "mad.lo.s32 %r3, %ctaid.x, %ntid.x, %tid.x", 1, {{"slots_issued", 1}});
  operation("int", "mul.wide.s32 %rd4, %r3, 2", 1, {{"slots_issued", 1}});
  operation("int", "add.s64 %rd1, %rd5, %rd4", 1, {{"slots_issued", 1}});
  operation("int", "add.s64 %rd2, %rd6, %rd4", 1, {{"slots_issued", 1}});
  operation("load_global", "ld.global.u16 %rs4, [%rd1]", 1, moved);
  operation("half", "fma.rn.f16 %rs5,%rs4,%rs4,%rs4", 1, {{"slots_issued", 1}});
  operation("store_global", "st.global.u16 [%rd2], %rs5", 1, moved);
  const auto p = wide_accesses(facts());
  ASSERT_TRUE(p);
  EXPECT_THAT(p->what, HasSubstr("with arithmetic on pairs (__half2"));
  EXPECT_NEAR(p->after.units.at("pipe_half"), 60'000 / 2.0, 1);
  EXPECT_NEAR(p->after.units.at("issue"), 30'000 * (6 / 2.0 + 0.5) / 7, 1) << "two elements an access";
  kernel.per_pc.texts["ptx"][5] = "fma.rn.f16x2 %r5,%rs4,%rs4,%rs4";
  EXPECT_NEAR(wide_accesses(facts())->after.units.at("pipe_half"), 60'000, 1) << "these are pairs";
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
  // An operation that only finds the element goes with the access.
  operation("int", "add.s64 %rd1, %SPL, %rd6", 8, {{"slots_issued", 8}});
  const double with_index = local_arrays(facts())->after.units.at("issue");
  kernel.name = "k";
  program = ".visible .entry k()\n{\nadd.s64 %rd1, %SPL, %rd6;\nst.local.f32 [%rd1], %f1;\n}\n";
  EXPECT_NEAR(with_index - local_arrays(facts())->after.units.at("issue"), 8 * kWarps / 320.0, 1);
  resources.local_bytes = 1024;
  EXPECT_FALSE(local_arrays(facts())) << "256 words and 32 registers are more than a thread can have";
}

/// What is chosen by conditions is chosen by one operation after another, which a warp waits for.
TEST_F(RulesTest, ChoosingAnElementOfAStackTakesAsManyWaitsAsItHasElements) {
  unit("lsu_port", "SM", 80, 0.2);
  unit("issue", "scheduler", 320, 0.1);
  const std::map<std::string, uint64_t> moved{{"transactions", 8},
                                              {"requested_bytes", 1024},
                                              {"transferred_bytes", 1024},
                                              {"slots_issued", 8},
                                              {"awaited_memory_l1", 8 * 30}};
  operation("load_local", "ld.local.f32 %f1, [%rd5]", 8, moved);
  resources.local_bytes = 64;
  kernel.name = "k";
  program =
      ".visible .entry k()\n{\nmul.wide.s32 %rd4, %r44, 4;\nadd.s64 %rd5, %rd1, %rd4;\n"
      "ld.local.f32 %f1, [%rd5];\nadd.s32 %r44, %r44, -1;\nadd.s32 %r44, %r44, 1;\n}\n";
  const Facts f = facts();
  const auto p = local_arrays(f);
  ASSERT_TRUE(p);
  EXPECT_NEAR(p->after.chain[0], 8 * 16 * f.latency("int"), 1e-6);
  EXPECT_GT(p->after.chain[0], f.estimator().recorded().chain[0]);
  program.replace(program.find("add.s32 %r44, %r44, -1"), 22, "mov.u32 %r44, 0       ");
  EXPECT_EQ(local_arrays(facts())->after.chain[0], 0) << "a loop that counts the index is unrolled";
}

/// Sums of rows by one thread each: few warps, which wait for each turn.
class RowsOfThreads : public RulesTest {
 protected:
  static constexpr uint64_t kTurns = 128;
  RowsOfThreads() {
    unit("lsu_port", "SM", 80, 0.2);
    unit("issue", "scheduler", 320, 0.1);
    for (uint64_t& warps : kernel.per_sm.numbers["active_warp_cycles"]) warps = kCycles * 2;
    kernel.name = "k";
    program =
        ".visible .entry k()\n{\nmov.u32 %r1, %tid.x;\nld.param.u32 %r2, [columns];\n"
        "ld.param.u64 %rd1, [x];\nmul.lo.s32 %r3, %r1, %r2;\nmul.wide.s32 %rd2, %r3, 4;\n"
        "add.s64 %rd3, %rd1, %rd2;\nmov.u64 %rd4, %rd3;\nmov.f32 %f2, 0f00000000;\n$L1:\n"
        "ld.global.f32 %f1, [%rd4];\nadd.f32 %f2, %f2, %f1;\nadd.s64 %rd4, %rd4, 4;\n@%p1 bra $L1;\n}\n";
    operation("load_global", "ld.global.f32 %f1, [%rd4]", kTurns,
              {{"transactions", 32 * kTurns},
               {"requested_bytes", 128 * kTurns},
               {"transferred_bytes", 32 * 32 * kTurns},
               {"slots_issued", kTurns},
               {"awaited_memory_l1", 30 * kTurns}});
    operation("fp32", "add.f32 %f2, %f2, %f1", kTurns, {{"slots_issued", kTurns}});
    operation("int", "add.s64 %rd4, %rd4, 4", kTurns, {{"slots_issued", kTurns}});
  }
  void replace(const std::string& from, const std::string& to) {
    program.replace(program.find(from), from.size(), to);
  }
};

TEST_F(RowsOfThreads, AWarpTakesARowInAsManyTimesFewerTurns) {
  const Facts f = facts();
  const auto p = coalescing(f);
  ASSERT_TRUE(p);
  EXPECT_THAT(p->what, HasSubstr("let a warp take each row that one thread walks along now"));
  EXPECT_NEAR(p->after.chain[1], f.estimator().recorded().chain[1] / 32, 1e-6);
  EXPECT_NEAR(p->after.rounds, std::max(1.0, 32.0 * kWarps / kSms / 64), 1e-6);
  // Five steps of shuffles and sums for each of the 32 times as many warps, and the loop as before.
  EXPECT_NEAR(p->after.units.at("issue") - f.estimator().recorded().units.at("issue"),
              2 * 5 * 32 * kWarps / 320.0, 1);
}

TEST_F(RowsOfThreads, OfAShortRowFewLanesTakeAPart) {
  for (uint64_t& times : kernel.per_pc.numbers["executed"]) times = 10 * kWarps;
  const auto rows = rows_of_threads(facts());
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->lanes, 8);
  EXPECT_EQ(rows->bytes, 40);
}

TEST_F(RowsOfThreads, StepsThatLeaveBytesOutAreNoRow) {
  replace("add.s64 %rd4, %rd4, 4", "add.s64 %rd4, %rd4, 48");
  kernel.per_pc.texts["ptx"][2] = "add.s64 %rd4, %rd4, 48";
  EXPECT_FALSE(rows_of_threads(facts()));
}

/// A row of 32 words whose loop is unrolled, and a record of 8.
TEST_F(RulesTest, ARowWithoutALoopIsOneIfItIsLong) {
  const auto rows_of = [&](uint64_t elements) {
    kernel.per_pc = {};
    for (const char* text : {"ptx", "class", "source_file"}) kernel.per_pc.texts[text];
    const std::string bytes = std::to_string(4 * elements);
    kernel.name = "k";
    program =
        ".visible .entry k()\n{\nmov.u32 %r1, %tid.x;\nld.param.u64 %rd1, [x];\nmul.wide.s32 %rd2, %r1, " +
        bytes + ";\nadd.s64 %rd3, %rd1, %rd2;\n";
    operation("int", "add.s64 %rd3, %rd1, %rd2", 1);
    for (uint64_t i = 0; i < elements; ++i) {
      const std::string load =
          "ld.global.f32 %f" + std::to_string(i) + ", [%rd3+" + std::to_string(4 * i) + "]";
      program += load + ";\n";
      operation("load_global", load.c_str(), 1,
                {{"transactions", 32}, {"requested_bytes", 128}, {"transferred_bytes", 1024}});
    }
    program += "}\n";
    return rows_of_threads(facts());
  };
  const auto row = rows_of(32);
  ASSERT_TRUE(row);
  EXPECT_EQ(row->lanes, 32);
  EXPECT_EQ(row->bytes, 128);
  EXPECT_EQ(row->turns[0], 1) << "before the row";
  EXPECT_EQ(row->turns[5], 32) << "a lane has one of its 32 accesses";
  EXPECT_FALSE(rows_of(8));
}

TEST_F(RowsOfThreads, TurnsOfWhichEachNeedsTheOneBeforeAreNotDivided) {
  replace("add.f32 %f2, %f2, %f1", "mul.f32 %f2, %f2, %f1");
  kernel.per_pc.texts["ptx"][1] = "mul.f32 %f2, %f2, %f1";
  EXPECT_FALSE(rows_of_threads(facts()));
}

/// Stores to local memory stay in a write-back L1: what goes on is lines that are replaced. Of one that lets
/// them go on, too, all are requests.
TEST_F(RulesTest, LocalStoresThatStayInTheL1AreNoRequests) {
  machine.l1.write_local = core::WriteHit::kBack;
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
  kernel.counters["l1_writebacks"] = kernel.counters["l1_writeback_sectors"] = 0;
  machine.l1.write_local = core::WriteHit::kBoth;
  EXPECT_GT(coalescing(facts())->after.units.at("request_in"), 0.5 * now);
}

}  // namespace
}  // namespace gpusim::analysis::advice
