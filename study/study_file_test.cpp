#include "study/study_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "study/cluster.h"

namespace gpusim::study {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

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

/// A study of these lines behind [study].
TEST(StudyFile, AKeyIsSetOnce) {
  EXPECT_THAT(problems_of(R"([study]
machines = ["a"]
set = ["l1.size=16K", "l1.mshrs=8", "l1.size=32K", "l1.size=64K"]
)"),
              AllOf(HasSubstr("folder/s.toml:3:37: error: 'l1.size' is set twice"),
                    Not(HasSubstr("folder/s.toml:3:52"))));
}

std::string study_with(const std::string& head, const std::string& axes) {
  return "[study]\nmachines = [\"m\"]\n" + head + "[[workload]]\nptx = \"w.ptx\"\n" + axes;
}
std::string axis_of(const std::string& lines) { return "[[axis]]\nvalues = [1, 2]\n" + lines; }

TEST(StudyFile, AxesHaveNoNameOfAColumn) {
  for (const char* name : {"time_s", "reason", "ipc", "slots_issued", "energy_dram_read"})
    EXPECT_THAT(problems_of(study_with("", axis_of(fmt::format("of = \"l1.size\"\nname = \"{}\"\n", name)))),
                HasSubstr("s.toml:8:8: error: an axis cannot be called '" + std::string(name) + "'"));
  EXPECT_THAT(problems_of(study_with("", axis_of("of = \"l1.size\"\nname = \"\"\n"))),
              HasSubstr("'' is no name"));
  EXPECT_EQ(axis_from_option("param.grid=1,2").name, "param_grid") << "it has no other name to be given";
}

TEST(StudyFile, ATargetIsChangedAtOnePlace) {
  const std::string l1 = axis_of("of = \"l1.size\"\n"), other = axis_of("name = \"b\"\nof = \"l1.size\"\n");
  EXPECT_THAT(problems_of(study_with("", l1 + other)),
              HasSubstr("axis 'b' changes l1.size, which axis 'l1_size' (folder/s.toml:5:1) changes too"));
  EXPECT_THAT(problems_of(study_with("", axis_of("of = [\"l1.size\", \"l1.size\"]\n"))),
              HasSubstr("changes l1.size twice"));
  EXPECT_THAT(problems_of(study_with("set = [\"l1.size=8K\"]\n", l1)),
              HasSubstr("set to one value at all points (l1.size=8K)"));
  EXPECT_EQ(problems_of(study_with("set = [\"l1.ways=8\"]\n", l1)), "");
}

TEST(StudyFile, KeysAreKnownBeforeAnythingIsSimulated) {
  EXPECT_THAT(
      problems_of(study_with("", axis_of("of = \"l1.sise\"\n"))),
      HasSubstr("folder/s.toml:5:1: error: there is no key 'l1.sise'\n  hint: did you mean 'l1.size'?"));
  EXPECT_THAT(problems_of(study_with("", axis_of("name = \"a\"\nof = \"11.size\"\n"))),
              HasSubstr("unknown section [11]"));
  for (const char* key : {"latency.fp32", "pipes.sp.fp32", "scheduler.policy", "dram.rc"})
    EXPECT_EQ(problems_of(study_with("", axis_of(fmt::format("name = \"a\"\nof = \"{}\"\n", key)))), "")
        << key;
}

TEST(StudyFile, NumbersOfSmsAreNatural) {
  for (const char* values : {"[0]", "[4097]", "[\"all\"]", "[1.5]"})
    EXPECT_THAT(problems_of(study_with("", fmt::format("[[axis]]\nof = \"sms\"\nvalues = {}\n", values))),
                HasSubstr("is no number of SMs from 1 to 4096"))
        << values;
}

TEST(StudyFile, ObjectivesAreKnownBeforeAnythingIsSimulated) {
  EXPECT_THAT(problems_of(study_with("objective = \"cicles\"\n", "")), HasSubstr("did you mean 'cycles'"));
  for (const char* name : {"energy_delay", "dram_read_bytes", "slots_memory_dram", "energy"})
    EXPECT_EQ(problems_of(study_with(fmt::format("objective = \"{}\"\n", name), "")), "") << name;
}

TEST(StudyFile, AMachineIsCalledByItsFile) {
  Study study;
  study.machines = {"tesla_v100", "/a/small.cfg", "/a/x.cfg", "/b/x.cfg", "here.cfg"};
  EXPECT_EQ(machine_name(study, 0), "tesla_v100");
  EXPECT_EQ(machine_name(study, 1), "small");
  EXPECT_EQ(machine_name(study, 2), "/a/x.cfg") << "there are two";
  EXPECT_EQ(machine_name(study, 4), "here");
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
  const Axis with_blanks = axis_from_option("lsu.mshrs + l1.mshrs = 64, 128");
  EXPECT_EQ(with_blanks.targets, axis.targets);
  EXPECT_EQ(with_blanks.values.at(1).label, "128");
  EXPECT_EQ(with_blanks.values.at(1).texts, axis.values.at(1).texts);
  EXPECT_THROW((void)axis_from_option("l1.size"), core::InputError);
  EXPECT_THROW((void)axis_from_option("l1.size=1, ,2"), core::InputError);
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

TEST(StudyFile, ANameIsPartOfAPath) {
  EXPECT_THAT(problems_of("[study]\nname = \"a/b\"\nmachines = [\"tesla_v100\"]\n"),
              HasSubstr("s.toml:2:8: error: 'a/b' is no name of a study"));
}

TEST(StudyToml, ReadsBackAsTheSameStudy) {
  Study study;
  study.path = "x.ptx";
  study.name = "a study-1";
  study.machines = {"tesla_v100", "odd \"name\\\n", "/folder/my.cfg", "here/my.cfg"};
  study.sets = {"l2.mshrs=64"};
  study.objective = "cycles";
  study.workloads.push_back({"w", "/folder/x y.ptx", "", {"N=4", "RATE=0.5"}, {}});
  study.axes.push_back(axis_from_option("lsu.mshrs+l1.mshrs=64,128"));
  study.axes.push_back(axis_from_option("param.M=1,2"));
  study.constraints.push_back({"lsu_mshrs > M", "lsu_mshrs ", ">", " M", {}});
  study.maximise = true;
  study.max_cycles = 1234;
  const Study back = parse_study(study_toml(study), "/elsewhere/study.toml");
  EXPECT_EQ(back.name, "a study-1");
  EXPECT_THAT(back.machines, ElementsAre("tesla_v100", "odd \"name\\\n", "/folder/my.cfg",
                                         (std::filesystem::current_path() / "here/my.cfg").string()));
  EXPECT_EQ(back.sets, study.sets);
  EXPECT_TRUE(back.maximise);
  EXPECT_EQ(back.max_cycles, 1234);
  ASSERT_EQ(back.constraints.size(), 1);
  EXPECT_EQ(back.constraints[0].text, "lsu_mshrs > M");
  EXPECT_EQ(back.objective, "cycles");
  EXPECT_EQ(back.workloads[0].ptx, "/folder/x y.ptx");
  EXPECT_EQ(back.workloads[0].params, study.workloads[0].params);
  ASSERT_EQ(back.axes.size(), 2);
  EXPECT_EQ(back.axes[0].name, study.axes[0].name);
  EXPECT_EQ(back.axes[0].values[1].texts, study.axes[0].values[1].texts);
  EXPECT_EQ(back.axes[0].values[1].label, "128");
  EXPECT_EQ(study_toml(back), study_toml(study));
  EXPECT_EQ(back.axes[1].targets, study.axes[1].targets);
}

TEST(ShellWord, IsOneWord) {
  EXPECT_EQ(shell_word("a/b-1.toml"), "a/b-1.toml");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(RunCommand, IsTheSingleRunOfAPoint) {
  Study study;
  study.machines = {"tesla_v100"};
  study.sets = {"shared.size=8K"};
  study.workloads.push_back({"w", "my kernels/w.ptx", "w.toml", {"N=64"}, {}});
  study.axes = {axis_from_option("lsu.mshrs+l1.mshrs=64,128"), axis_from_option("sms=1,2"),
                axis_from_option("param.M=3"), axis_from_option("core_clock=1GHz")};
  EXPECT_EQ(run_command(study, {0, 0, {1, 0, 0, 0}}, "best.h5"),
            "gpusim --config tesla_v100 --set shared.size=8K --param N=64 --set lsu.mshrs=128 --set "
            "l1.mshrs=128 --sms 1 "
            "--param M=3 --core-clock 1GHz --launch w.toml --out best.h5 'my kernels/w.ptx'");
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
