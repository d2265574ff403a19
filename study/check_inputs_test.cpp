#include "study/check_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpusim::study {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::vector<std::string> kConfigFolders = {GPUSIM_SOURCE_DIR "/configs"};

/// What is wrong with this study; empty if nothing is.
std::string problems(const std::string& axes, const std::string& machines = R"("tesla_c1060")",
                     const std::string& params = "") {
  const std::string text = "[study]\nmachines = [" + machines +
                           "]\n[[workload]]\nptx = \"" GPUSIM_SOURCE_DIR "/workloads/vecadd/vecadd.ptx\"\n" +
                           params + axes;
  try {
    const Study study = parse_study(text, "s.toml");
    check_study(study);
    check_inputs(study, points_of(study), kConfigFolders);
  } catch (const core::InputError& e) {
    return e.what();
  }
  return "";
}

TEST(CheckInputs, GoodAxesPass) {
  EXPECT_EQ(problems(R"([[axis]]
of = "lsu.mshrs"
values = [32, 64]
[[axis]]
of = "param.N"
values = [1024, "2 * 1024"]
[[axis]]
of = "core_clock"
values = ["1296MHz", "1GHz"]
[[axis]]
of = "cache"
values = ["cold", "warm"]
)"),
            "");
}

TEST(CheckInputs, AValueThatItsKeyRefusesIsNamedWithItsPlace) {
  EXPECT_THAT(problems(R"([[axis]]
of = "lsu.mshrs"
values = [32,
          "many"]
[[axis]]
of = "scheduler.policy"
values = ["lrr", "gtoo"]
[[axis]]
of = "sm.max_warps"
values = [32, -1]
)"),
              AllOf(HasSubstr("s.toml:8:11: error: lsu.mshrs = \"many\" is not an integer"),
                    HasSubstr("s.toml:11:18: error: scheduler.policy = \"gtoo\""),
                    HasSubstr("did you mean 'gto'"), HasSubstr("s.toml:14:15: error: sm.max_warps = -1")));
}

TEST(CheckInputs, AMachineThatDoesNotExistHasItsPlace) {
  EXPECT_THAT(problems("", R"("tesla_c1060", "tesla_v10")"),
              AllOf(HasSubstr("s.toml:2:28: error: no machine configuration 'tesla_v10'"),
                    HasSubstr("did you mean 'tesla_v100'")));
}

TEST(CheckInputs, AParameterThatTheLaunchFileDoesNotHaveIsRefused) {
  EXPECT_THAT(problems("[[axis]]\nof = \"param.M\"\nvalues = [1024]\n"),
              AllOf(HasSubstr("s.toml:5:1: error: the launch file of workload 'vecadd'"),
                    HasSubstr("has no parameter 'M'"), HasSubstr("hint: valid: N")));
  EXPECT_THAT(problems("", R"("tesla_c1060")", "params = { NN = 1 }\n"), HasSubstr("has no parameter 'NN'"));
  EXPECT_THAT(problems("[[axis]]\nof = \"param.N\"\nvalues = [1024, \"lots\"]\n"),
              HasSubstr("s.toml:7:17: error: 'lots' is no number for the parameter 'N'"));
}

TEST(CheckInputs, WhatIsNoKeyIsSetByAnAxis) {
  const auto with_set = [](const std::string& set) {
    return problems("", R"("tesla_c1060"]
set = [")" + set + "\"");
  };
  EXPECT_THAT(with_set("sms=20"), HasSubstr("s.toml:3:8: error: sms is no key of a configuration\n  hint: an "
                                            "axis with one value: --axis sms=20"));
  EXPECT_THAT(with_set("param.N=20"),
              HasSubstr("--axis param.N=20, or in a study file an [[axis]]; or --param, params"));
}

TEST(CheckInputs, WordsAndClocksAreChecked) {
  EXPECT_THAT(problems("[[axis]]\nof = \"lowering\"\nvalues = [\"none\", \"shedule\"]\n"),
              HasSubstr("did you mean 'schedule'"));
  EXPECT_THAT(problems("[[axis]]\nof = \"cache\"\nvalues = [\"cold\", \"hot\"]\n"),
              HasSubstr("there is no cache state 'hot'"));
  EXPECT_THAT(problems("[[axis]]\nof = \"core_clock\"\nvalues = [\"1GHz\", \"fast\"]\n"),
              HasSubstr("core_clock: 'fast' is no clock"));
}

TEST(CheckInputs, AValueThatNoMachineCanHaveIsRefusedButNotOneThatSomeCan) {
  const char* sms = "[[axis]]\nof = \"sms\"\nvalues = [5, 31]\n";
  EXPECT_THAT(problems(sms), AllOf(HasSubstr("s.toml:7:14: error: sms=31 is possible at no point"),
                                   HasSubstr("has 30 SMs, the point asks for 31")));
  EXPECT_EQ(problems(sms, R"("tesla_c1060", "tesla_v100")"), "");
}

TEST(CheckInputs, ValuesThatOnlyTogetherAreWrongAreNoProblemOfTheStudy) {
  // Shared memory is taken from the L1 there: 64K of it do not fit in 32K.
  const char* axes = R"([[axis]]
of = "l1.size"
values = ["32K", "128K"]
[[axis]]
of = "shared.size"
values = ["8K", "64K"]
)";
  EXPECT_EQ(problems(axes, R"("tesla_v100")"), "");
}

}  // namespace
}  // namespace gpusim::study
