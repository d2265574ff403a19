// Advice about whole recordings, and what is printed of it.
#include "analysis/advice/advise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/advice/launch_order.h"
#include "analysis/advice/rules_fixture.h"
#include "analysis/testing/small_recording.h"
#include "simcore/launch/launch_numbers.h"

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
  run.selected = true;
  EXPECT_THAT(advice_text(run, 5), HasSubstr("launches of 1000 core cycles"));
  EXPECT_THAT(advice_text(run, 5), HasSubstr("these launches would be 2.45 times as fast"));
}

}  // namespace
}  // namespace gpusim::analysis::advice
