#include "study/study_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "study/cluster.h"

namespace gpusim::study {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kWhole = R"(
constraints = ["l1 + 32768 <= 131072"]
[study]
machines = ["tesla_v100", "h200"]
set = ["l2.mshrs=64"]
objective = "energy_j"
[[workload]]
ptx = "../w/spmv.ptx"
params = { N = 4096, RATE = 0.5 }
[[workload]]
name = "other"
ptx = "other.ptx"
launch = "big.toml"
[[axis]]
name = "l1"
of = "l1.size"
values = ["32K", "64K", 98304]
[[axis]]
name = "mshrs"
of = ["lsu.mshrs", "l1.mshrs"]
values = [[64, 32], 128]
[[axis]]
of = "param.N"
values = [256]
[[axis]]
of = "sms"
values = [20, 40]
)";

std::string problems_of(const std::string& text) {
  try {
    (void)parse_study(text, "folder/s.toml");
  } catch (const core::InputError& e) {
    return e.what();
  }
  return "";
}

TEST(StudyFile, HoldsWorkloadsMachinesAxesAndConstraints) {
  const Study s = parse_study(kWhole, "folder/s.toml");
  EXPECT_EQ(s.name, "s");
  EXPECT_THAT(s.machines, ElementsAre("tesla_v100", "h200"));
  EXPECT_THAT(s.sets, ElementsAre("l2.mshrs=64"));
  EXPECT_EQ(s.objective, "energy_j");
  ASSERT_EQ(s.workloads.size(), 2);
  EXPECT_EQ(s.workloads[0].name, "spmv") << "the file's name";
  EXPECT_EQ(s.workloads[0].ptx, "w/spmv.ptx") << "beside the study file";
  EXPECT_THAT(s.workloads[0].params, ElementsAre("N=4096", "RATE=0.5"));
  EXPECT_EQ(s.workloads[1].launch, "folder/big.toml");
  ASSERT_EQ(s.axes.size(), 4);
  EXPECT_EQ(s.axes[0].values[2].label, "98304");
  EXPECT_THAT(s.axes[1].values[0].texts, ElementsAre("64", "32"));
  EXPECT_EQ(s.axes[1].values[0].label, "64/32");
  EXPECT_THAT(s.axes[1].values[1].texts, ElementsAre("128", "128")) << "both keys get it";
  EXPECT_EQ(s.axes[2].name, "N");
  EXPECT_EQ(s.axes[2].targets[0], (Target{Target::Kind::kParam, "N"}));
  EXPECT_EQ(s.axes[3].name, "sms");
  ASSERT_EQ(s.constraints.size(), 1);
  EXPECT_EQ(s.constraints[0].relation, "<=");
}

TEST(StudyFile, ReportsEveryProblemWithItsPlace) {
  const std::string text = problems_of(R"([study]
machines = ["a", "a"]
objektive = "time_s"
[[workload]]
ptx = "w.ptx"
[[workload]]
ptx = "w.ptx"
[[axis]]
of = "l1size"
values = [1, 1]
[[axis]]
of = ["l1.size", "l2.size"]
name = "2"
values = [[1]]
)");
  EXPECT_THAT(text, HasSubstr("folder/s.toml:2:18: error: machine 'a' stands twice"));
  EXPECT_THAT(text, HasSubstr("did you mean 'objective'"));
  EXPECT_THAT(text, HasSubstr("there are two workloads 'w'"));
  EXPECT_THAT(text, HasSubstr("folder/s.toml:9:6: error: 'l1size' is nothing that an axis can change"));
  EXPECT_THAT(text, HasSubstr("the value 1 stands twice"));
  EXPECT_THAT(text, HasSubstr("'2' is no name"));
  EXPECT_THAT(text, HasSubstr("expected a value for each of the 2 targets"));
}

TEST(StudyFile, NeedsAWorkloadAMachineAndValues) {
  const std::string text = problems_of("[[axis]]\nof = \"sms\"\n");
  EXPECT_THAT(text, HasSubstr("has no [[workload]]"));
  EXPECT_THAT(text, HasSubstr("names no machine"));
  EXPECT_THAT(text, HasSubstr("an axis needs 'values'"));
}

TEST(StudyFile, ConstraintsNameAxes) {
  const std::string head =
      "[study]\nmachines = [\"m\"]\n[[workload]]\nptx = \"w.ptx\"\n[[axis]]\nof = \"l1.size\"\nvalues = "
      "[1]\n";
  EXPECT_EQ(problems_of("constraints = [\"l1_size > 0\"]\n" + head), "");
  EXPECT_EQ(problems_of("constraints = [\"1 / (l1_size - 1) > 0\"]\n" + head), "") << "another value may do";
  EXPECT_THAT(problems_of("constraints = [\"l1_sise > 0\"]\n" + head), HasSubstr("did you mean 'l1_size'"));
  EXPECT_THAT(problems_of("constraints = [\"l1_size\"]\n" + head), HasSubstr("has none of <= >="));
}

TEST(StudyFile, AxesFromOptions) {
  const Axis axis = axis_from_option("lsu.mshrs+l1.mshrs=64,128");
  EXPECT_EQ(axis.name, "lsu_mshrs");
  EXPECT_EQ(axis.targets.size(), 2);
  EXPECT_THAT(axis.values[1].texts, ElementsAre("128", "128"));
  EXPECT_THROW((void)axis_from_option("l1.size"), core::InputError);
  EXPECT_THROW((void)axis_from_option("l1.size=1,,2"), core::InputError);
  EXPECT_THROW((void)axis_from_option("l1.size=1,1"), core::InputError);
  EXPECT_THROW((void)axis_from_option("size=1"), core::InputError);
}

TEST(StudyFile, NumbersOfValues) {
  double value = 0;
  EXPECT_TRUE(numeric_value("32K", value));
  EXPECT_EQ(value, 32768);
  EXPECT_TRUE(numeric_value("1.5", value));
  EXPECT_EQ(value, 1.5);
  EXPECT_TRUE(numeric_value("705MHz", value));
  EXPECT_EQ(value, 705000);
  EXPECT_FALSE(numeric_value("gto", value));
}

TEST(StudyToml, ReadsBackAsTheSameStudy) {
  Study study;
  study.path = "x.ptx";
  study.machines = {"tesla_v100", "odd \"name\\\n"};
  study.sets = {"l2.mshrs=64"};
  study.objective = "cycles";
  study.workloads.push_back({"w", "/folder/x y.ptx", "", {"N=4", "RATE=0.5"}, {}});
  study.axes.push_back(axis_from_option("lsu.mshrs+l1.mshrs=64,128"));
  study.axes.push_back(axis_from_option("param.M=1,2"));
  const Study back = parse_study(study_toml(study), "/elsewhere/study.toml");
  EXPECT_EQ(back.machines, study.machines);
  EXPECT_EQ(back.sets, study.sets);
  EXPECT_EQ(back.objective, "cycles");
  EXPECT_EQ(back.workloads[0].ptx, "/folder/x y.ptx");
  EXPECT_EQ(back.workloads[0].params, study.workloads[0].params);
  ASSERT_EQ(back.axes.size(), 2);
  EXPECT_EQ(back.axes[0].name, study.axes[0].name);
  EXPECT_EQ(back.axes[0].values[1].texts, study.axes[0].values[1].texts);
  EXPECT_EQ(back.axes[1].targets, study.axes[1].targets);
}

TEST(ShellWord, IsOneWord) {
  EXPECT_EQ(shell_word("a/b-1.toml"), "a/b-1.toml");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(SlurmScript, RunsTheTaskOfItsNumber) {
  const ClusterJob job{"/bin/gpusim", "/s/my study.toml", "/s/points", "/s/slurm", 6, 2, {}};
  EXPECT_THAT(
      slurm_script(job),
      HasSubstr("exec /bin/gpusim study run '/s/my study.toml' --store /s/points --threads 2 --quiet --part "
                "\"$SLURM_ARRAY_TASK_ID/6\"\n"));
  EXPECT_EQ(task_command(job, 5),
            "/bin/gpusim study run '/s/my study.toml' --store /s/points --threads 2 --quiet --part 5/6");
}

}  // namespace
}  // namespace gpusim::study
