// Advice about whole recordings, and what is printed of it.
#include "analysis/advice/advise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/advice/launch_order.h"
#include "analysis/advice/rules_fixture.h"
#include "analysis/testing/small_recording.h"
#include "simcore/launch/launch_numbers.h"
#include "simcore/record/event_schema.h"

namespace gpusim::analysis::advice {
namespace {

using testing::HasSubstr;

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

/// Levels of a triangular solve: each launch writes a piece of its own and reads where columns say.
TEST_F(RulesTest, WhatDataChooseIsNoPieceOfALaunch) {
  kernel.name = "level";
  const auto needed = [&](const std::string& stored_at) {
    program =
        ".visible .entry level(\n.param .u64 x,\n.param .u64 column,\n.param .u32 first\n)\n{\n"
        "ld.param.u64 %rd1, [x];\nld.param.u64 %rd2, [column];\nld.param.u32 %r9, [first];\n"
        "mov.u32 %r1, %tid.x;\nadd.s32 %r2, %r1, %r9;\nmul.wide.s32 %rd3, %r2, 4;\nadd.s64 %rd4, %rd2, "
        "%rd3;\n"
        "add.s64 %rd5, %rd1, %rd3;\nld.global.u32 %r3, [%rd4];\nmul.wide.s32 %rd6, %r3, 4;\n"
        "add.s64 %rd7, %rd1, %rd6;\nld.global.f32 %f1, [%rd7];\nst.global.f32 [" +
        stored_at + "], %f1;\nret;\n}\n";
    kernel.per_pc = {};
    for (const char* text : {"ptx", "class", "source_file"}) kernel.per_pc.texts[text];
    operation("load_global", "ld.global.u32 %r3, [%rd4]", 1);
    operation("load_global", "ld.global.f32 %f1, [%rd7]", 1);
    operation("store_global", ("st.global.f32 [" + stored_at + "], %f1").c_str(), 1);
    return handed_on({{"x", "c", "0"}, {"x", "c", "256"}}, facts(), program);
  };
  EXPECT_EQ(needed("%rd5"), "x");
  EXPECT_EQ(needed("%rd7"), "") << "changed in place, perhaps each by one launch";
}

TEST(Advise, ARecordingOfAnOlderVersionHasNoUnitsAndGetsNoAdvice) {
  const test::SmallRecording small;
  const Recording recording(small.write(test::temp_path("a.h5")));
  const RunAdvice run = advise(recording, "");
  EXPECT_TRUE(run.advice.empty());
  EXPECT_THAT(advice_text(run, 5), HasSubstr("no rule predicts a gain of 5 % or more"));
}

/// 20,000 cycles of two SMs, which have no warp for `idle` of 20 slots, and three blocks, of which one is 2.5
/// times as long as the mean.
std::string uneven_blocks(uint64_t idle) {
  test::SmallRecording small;
  small.cycles = 20'000;
  const uint64_t moved = 6 - idle;  // slots of the second SM in which its warp waits instead
  small.totals["no_warp"] -= moved, small.totals["memory_dram"] += moved;
  small.sms[1]["slots_no_warp"] -= moved, small.sms[1]["slots_memory_dram"] += moved;
  small.operations[1].values["slots_memory_dram"] += moved;
  const auto longer = [](test::SmallRecording::Row& row, std::string_view columns) {
    for (auto& [column, value] : row)
      if (column.starts_with(columns)) value *= 1000;
  };
  longer(small.totals, "");
  for (test::SmallRecording::Row& sm : small.sms) longer(sm, "slots_");
  for (test::SmallRecording::Operation& operation : small.operations) longer(operation.values, "slots_");
  small.attributes = {{"threads_per_block", "", 32, false}, {"registers", "", 10, false}};
  small.events = [](core::Recorder& recorder) {
    auto* const blocks = recorder.table<core::BlockEvent>();
    for (const auto& [block, end] : {std::pair{0u, 1000u}, {1u, 1000u}, {2u, 10'000u}})
      blocks->append({.start = 0, .end = end, .block = block, .sm = block % 2, .slot = block / 2});
    core::TableSchema units{"units", "test", 0, {}};
    for (const char* name : {"instances", "capacity", "busy", "most", "busiest", "near"}) {
      units.columns.push_back({name, core::ColumnType::kU64, units.record_bytes, "1", "test"});
      units.record_bytes += 8;
    }
    for (const char* name : {"unit", "place", "meaning"})
      units.columns.push_back({name, core::ColumnType::kString, 0, "", "test"});
    const uint64_t row[] = {2, 20'000, 8000, 4000, 0, 2};
    const std::vector<std::string> texts[] = {{"issue"}, {"scheduler"}, {"test"}};
    recorder.write_table(units, std::as_bytes(std::span(row)), 1, texts);
  };
  return small.write(test::temp_path(std::to_string(idle) + ".h5"));
}

TEST(Advise, LongBlocksAreWorthAWordIfSmsHaveNoWarpForAFifthOfTheTime) {
  const auto advised = [](uint64_t idle) {
    std::vector<std::string> rules;
    for (const Advice& a : advise(Recording(uneven_blocks(idle)), "").advice) rules.push_back(a.rule);
    return rules;
  };
  EXPECT_THAT(advised(6), testing::Contains("uneven_work")) << "0.3 of it";
  EXPECT_THAT(advised(3), testing::Not(testing::Contains("uneven_work"))) << "0.15 of it";
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
  run.kernels[0].own_error = 0.0051;
  EXPECT_THAT(advice_text(run, 5), HasSubstr("was 1 % too large"));
  run.kernels[0].own_error = -0.0049;
  EXPECT_THAT(advice_text(run, 5), HasSubstr("was right within 0.5 %"));
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
  run.advice[0].gain = 1.003;
  run.advice[0].kernels_gain = 1.07;
  EXPECT_THAT(advice_text(run, 5), HasSubstr("its kernels alone 1.07 times"))
      << "the run gains nothing to speak of";
  run.advice[0].gain = 2.45;
  run.selected = true;
  EXPECT_THAT(advice_text(run, 5), HasSubstr("launches of 1000 core cycles"));
  EXPECT_THAT(advice_text(run, 5), HasSubstr("these launches would be 2.45 times as fast"));
}

}  // namespace
}  // namespace gpusim::analysis::advice
