#include "analysis/profile/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "analysis/report/reports.h"
#include "analysis/report/text.h"
#include "analysis/source/source_lines.h"
#include "analysis/testing/small_recording.h"
#include "simcore/text/json_text.h"

namespace gpusim::analysis {
namespace {

using test::SmallRecording;
using testing::HasSubstr;

class Explain : public testing::Test {
 protected:
  [[nodiscard]] KernelRecord kernel() const {
    return Recording(small.write(test::temp_path("r.h5"))).kernel(0);
  }
  SmallRecording small;
};

TEST_F(Explain, SpillsAreCalledSpills) {
  const auto text = [this] {
    const KernelRecord k = kernel();
    return explanation_text(k, small.machine, explain(k, 10));
  };
  const auto json = [this] {
    const KernelRecord k = kernel();
    return explanation_json(k, small.machine, explain(k, 10));
  };
  EXPECT_THAT(text(), testing::Not(HasSubstr("spill")));
  EXPECT_THAT(json(), HasSubstr("\"spills\": {\"registers\": 0, \"loads\": 0, "));
  small.operations[0].op_class = "load_local";
  small.operations[0].ptx = "ld.local.f32 %f1, [%r1+0]";
  EXPECT_THAT(text(), testing::Not(HasSubstr("spill"))) << "an array of the program";
  small.operations[0].ptx = "add.f32 %f2, %f1, %f1";
  small.operations[0].values["ptx_line"] = 11;
  EXPECT_THAT(text(),
              testing::AllOf(HasSubstr("spills: 2 loads and 0 stores by warps"),
                             HasSubstr("15.00 % of the slots at them, 20.00 % waited for their data"),
                             HasSubstr("for data of line 11 `add.f32 %f2, %f1, %f1` (k.cu:3) (load of a "
                                       "spilled register)")));
  EXPECT_THAT(text(), HasSubstr("at line 11 `add.f32 %f2, %f1, %f1` (k.cu:4)\n"))
      << "the statement itself, on the same line, is told apart";
  EXPECT_THAT(json(),
              HasSubstr("\"loads\": 2, \"stores\": 0, \"bytes\": 256, \"slots\": 3, \"awaited_slots\": 4}"));
}

TEST_F(Explain, TheStackSumsExactly) {
  const Explanation e = explain(kernel(), 10);
  EXPECT_EQ(e.slots, 20u);
  uint64_t groups = 0;
  std::vector<std::pair<std::string, uint64_t>> slots;
  for (const CauseGroup& group : e.groups) {
    groups += group.slots;
    slots.emplace_back(group.name, group.slots);
    uint64_t causes = 0;
    for (const CauseSlots& cause : group.causes) causes += cause.slots;
    EXPECT_EQ(causes, group.slots);
  }
  EXPECT_EQ(groups, 20u);
  EXPECT_THAT(slots,
              testing::ElementsAre(std::pair{"issued", 6}, std::pair{"no warp", 6},
                                   std::pair{"memory dependency", 4}, std::pair{"execution dependency", 2},
                                   std::pair{"synchronisation", 1}, std::pair{"pipe busy", 1}));
}

TEST_F(Explain, NamesTheStatementThatWaitsAndTheOneThatItWaitsFor) {
  const Explanation e = explain(kernel(), 2);
  ASSERT_EQ(e.top.size(), 2u);
  EXPECT_EQ(e.top[0].name, "no_warp");
  EXPECT_TRUE(e.top[0].at.empty());
  const TopCause& memory = e.top[1];
  EXPECT_EQ(memory.name, "memory_dram");
  ASSERT_EQ(memory.at.size(), 1u);
  EXPECT_EQ(memory.at[0].pc, 1u);
  EXPECT_EQ(memory.at[0].count, 4u);
  ASSERT_EQ(memory.awaiting.size(), 1u);
  EXPECT_EQ(memory.awaiting[0].pc, 0u);
}

TEST_F(Explain, EachLevelNamesTheAccessesThatItServed) {
  small.causes[5] = "memory_l2";
  small.totals["memory_l2"] = 1;
  small.sms[0]["slots_memory_l2"] = small.operations[1].values["slots_memory_l2"] = 1;
  small.pc_columns.emplace_back("awaited_memory_l2");
  small.operations[2].values["awaited_memory_l2"] = 1;
  const KernelRecord k = kernel();
  for (const TopCause& cause : explain(k, 10).top) {
    if (cause.name != "memory_l2" && cause.name != "memory_dram") continue;
    ASSERT_EQ(cause.awaiting.size(), 1u) << cause.name;
    EXPECT_EQ(cause.awaiting[0].pc, cause.name == "memory_l2" ? 2u : 0u);
    EXPECT_EQ(cause.awaiting[0].count, cause.slots);
  }
}

TEST_F(Explain, OperationsOfOneStatementCountTogether) {
  small.operations[1].ptx = small.operations[0].ptx;
  small.operations[1].values["ptx_line"] = 10;
  small.operations[0].values["slots_alu_dependency"] = 1;
  small.operations[1].values["slots_alu_dependency"] = 1;
  for (const TopCause& cause : explain(kernel(), 10).top) {
    if (cause.name != "alu_dependency") continue;
    ASSERT_EQ(cause.at.size(), 1u);
    EXPECT_EQ(cause.at[0].count, 2u);
  }
}

TEST_F(Explain, StatementsOfOneSourceLineCountTogether) {
  // Copies of an unrolled loop: none of them has more than another line's only statement.
  small.totals["alu_dependency"] = 5;
  small.totals["no_warp"] = 3;
  small.sms[1]["slots_alu_dependency"] = 4;
  small.sms[1]["slots_no_warp"] = 2;
  small.operations[2].source_file = "k.cu";
  for (const size_t pc : {0, 2}) {
    small.operations[pc].values["source_line"] = 7;
    small.operations[pc].values["slots_alu_dependency"] = pc == 0 ? 1 : 2;
  }
  small.operations[1].values["source_line"] = 8;
  small.operations[1].values["slots_alu_dependency"] = 2;
  const auto of_alu = [this] {
    const KernelRecord k = kernel();
    const std::vector<TopCause> top = explain(k, 10).top;
    return *std::ranges::find(top, "alu_dependency", &TopCause::name);
  };
  const TopCause cause = of_alu();
  ASSERT_EQ(cause.at.size(), 2u);
  EXPECT_EQ(cause.at[0].count, 3u);
  EXPECT_EQ(cause.at[0].statements, 2u);
  EXPECT_EQ(cause.at[0].pc, 2u) << "the statement that has most";
  EXPECT_EQ(cause.at[1].pc, 1u);
  EXPECT_THAT(explanation_text(kernel(), small.machine, explain(kernel(), 10)),
              HasSubstr("(k.cu:7), and 1 more of this source line\n"));
  for (const size_t pc : {0, 1, 2}) small.operations[pc].values["source_line"] = 0;
  EXPECT_EQ(of_alu().at.size(), 3u) << "without .loc each statement is for itself";
}

TEST_F(Explain, HotOperationsAddUp) {
  const Explanation e = explain(kernel(), 10);
  ASSERT_EQ(e.hot.size(), 4u);
  EXPECT_EQ(e.hot[0].pc, 1u);
  EXPECT_EQ(e.hot[0].slots, 8u);
  ASSERT_EQ(e.hot[0].causes.size(), 3u);
  EXPECT_EQ(e.hot[0].causes[0].name, "memory_dram");
  uint64_t sum = 0;
  for (const HotOperation& hot : e.hot) sum += hot.slots;
  EXPECT_EQ(sum, 20u - 6);  // without no_warp
  EXPECT_EQ(explain(kernel(), 1).hot.size(), 1u);
}

TEST_F(Explain, ReportNamesLinesSourceAndMeaning) {
  const KernelRecord k = kernel();
  const std::string text = explanation_text(k, small.machine, explain(k, 5));
  EXPECT_THAT(text, HasSubstr("20 cycles, 2 SMs x 1 scheduler, an issue slot every 2 cycles: 20 slots"));
  EXPECT_THAT(text, HasSubstr("6 operations: 6.667 cycles per operation"));
  EXPECT_THAT(text, HasSubstr("20.00 %  at line 11 `add.f32 %f2, %f1, %f1` (k.cu:4)"));
  EXPECT_THAT(text, HasSubstr("20.00 %  for data of line 10 `ld.global.f32 %f1, [%r1+0]` (k.cu:3)"));
  EXPECT_THAT(text, HasSubstr("at line 12 `st.shared.f32 [%r2+0], %f2`\n"));
  EXPECT_THAT(text, HasSubstr(std::string(cause_info("no_warp").meaning.substr(0, 40))));
  const std::string json = explanation_json(k, small.machine, explain(k, 5));
  EXPECT_THAT(json, HasSubstr("\"group\": \"issued\", \"slots\": 6, \"share\": 30, \"cpi\": 2"));
}

/// What was inlined from a header stands at the line of the user's file that calls it, and a library's kernel
/// at that of the user's function in it: places, limiter and JSON.
TEST_F(Explain, InlinedCodeLeadsToTheFileOfTheUser) {
  const char* header = "/usr/local/cuda-13.0/targets/x86_64-linux/include/cuda_fp16.hpp";
  small.pc_columns.emplace_back("inlined_line");
  small.operations[1].source_file = header;
  small.operations[1].inlined_file = "k.cu";
  small.operations[1].values["inlined_line"] = 7;
  small.operations[0].inlined_file = "/opt/nvidia/include/thrust/for_each.h";
  small.operations[0].values["inlined_line"] = 99;
  const KernelRecord k = kernel();
  const std::string text = explanation_text(k, small.machine, explain(k, 5));
  EXPECT_THAT(text, HasSubstr("at line 11 `add.f32 %f2, %f1, %f1` (k.cu:7, inlined from cuda_fp16.hpp:4)"));
  EXPECT_THAT(text, HasSubstr("for data of line 10 `ld.global.f32 %f1, [%r1+0]` (k.cu:3)"));
  EXPECT_THAT(explanation_json(k, small.machine, explain(k, 5)),
              HasSubstr("cuda_fp16.hpp\", \"source_line\": 4, \"user_file\": \"k.cu\", \"user_line\": 7"));
}

TEST(SourceLines, HeadersOfTheToolkitAreKnownByTheirFolders) {
  for (const char* library : {"/usr/local/cuda/bin/../targets/x86_64-linux/include/thrust/x.h",
                              "/usr/include/c++/12/cmath", "/home/me/cuda-12.4/include/cub/cub.cuh",
                              "/home/me/conda/targets/x86_64-linux/include/cuda_fp16.hpp"})
    EXPECT_TRUE(is_library_header(library)) << library;
  for (const char* own : {"k.cu", "/home/me/project/include/k.cuh", "include/k.cuh", "/usr/src/k.cu",
                          "/home/me/targets/k.cu", "", "/"})
    EXPECT_FALSE(is_library_header(own)) << own;
}

TEST_F(Explain, OlderFilesHaveNoProducersAndUnknownCausesKeepTheirName) {
  std::erase(small.pc_columns, "awaited_memory_dram");
  small.causes[5] = "replay_trap";
  small.totals["replay_trap"] = 1;
  small.sms[0]["slots_replay_trap"] = small.operations[0].values["slots_replay_trap"] = 1;
  const KernelRecord k = kernel();
  const Explanation e = explain(k, 9);
  for (const TopCause& cause : e.top) EXPECT_TRUE(cause.awaiting.empty());
  EXPECT_EQ(e.groups.back().name, "other");
  EXPECT_THAT(explanation_text(k, small.machine, e), HasSubstr("replay_trap"));
}

TEST_F(Explain, TextOfTheFileCannotDisturbTheOutput) {
  small.operations[1].ptx = "add \"\\ \x1b[2J \xff";
  const KernelRecord k = kernel();
  const Explanation e = explain(k, 5);
  EXPECT_THAT(explanation_text(k, small.machine, e), HasSubstr("`add \"\\ ?[2J ?`"));
  EXPECT_THAT(explanation_json(k, small.machine, e), HasSubstr(R"("ptx": "add \"\\ \u001b[2J �")"));
}

TEST(Text, WrapsWords) {
  const std::string text = indented(std::string(60, 'a') + " " + std::string(60, 'b') + " c");
  EXPECT_EQ(text, "    " + std::string(60, 'a') + "\n    " + std::string(60, 'b') + " c\n");
}

TEST(Text, PathsBelowThePresentFolderAreShownFromIt) {
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(from_here(here + "/src/k.cu"), "src/k.cu");
  EXPECT_EQ(from_here(here + "2/k.cu"), here + "2/k.cu");
  EXPECT_EQ(from_here("k.cu"), "k.cu");
}

TEST(Text, NumbersAreExactWhereTheyCanBe) {
  EXPECT_EQ(number_text(9007199254740991), "9007199254740991");
  EXPECT_EQ(number_text(0.123456789), "0.123457");
  EXPECT_EQ(core::json_number(std::numeric_limits<double>::infinity()), "null");
}

}  // namespace
}  // namespace gpusim::analysis
