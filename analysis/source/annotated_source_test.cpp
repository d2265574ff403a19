#include "analysis/source/annotated_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "analysis/testing/small_recording.h"

namespace gpusim::analysis {
namespace {

using test::SmallRecording;
using test::temp_path;
using testing::HasSubstr;
using testing::Not;

class Annotated : public testing::Test {
 protected:
  KernelRecord kernel() { return Recording(small.write(temp_path("r.h5"))).kernel(0); }
  SmallRecording small;
};

TEST_F(Annotated, LinesAndStatementsAddUp) {
  const AnnotatedSource s = annotate(kernel());
  EXPECT_EQ(s.slots, 20u);
  EXPECT_EQ(s.nowhere, 6u);
  uint64_t of_lines = 0, of_statements = 0, causes = 0;
  for (const AnnotatedLine& l : s.lines) of_lines += l.counts.slots;
  for (const AnnotatedLine& l : s.statements) {
    of_statements += l.counts.slots;
    for (const CauseSlots& c : l.counts.causes) causes += c.slots;
  }
  EXPECT_EQ(of_lines, 14u);
  EXPECT_EQ(of_statements, 14u);
  EXPECT_EQ(causes, 14u);
}

TEST_F(Annotated, LinesHaveWhatTheirOperationsMoved) {
  const AnnotatedSource s = annotate(kernel());
  ASSERT_EQ(s.lines.size(), 3u);  // no line, k.cu:3, k.cu:4
  const LineCounts& load = s.lines[1].counts;
  EXPECT_EQ(s.lines[1].place.line, 3u);
  EXPECT_EQ(load.requests, 2u);
  EXPECT_EQ(load.asked_bytes, 192u);
  EXPECT_EQ(load.moved_bytes, 256u);
  EXPECT_EQ(load.sectors, 8u);
  EXPECT_EQ(load.awaited, 4u);
  EXPECT_EQ(s.lines[2].counts.causes.at(0).name, "memory_dram");
  EXPECT_EQ(s.statements[2].counts.bank_conflicts, 2u);
  EXPECT_EQ(s.statements[2].counts.other_replays, 0u);
}

/// Code of a header that was inlined counts at the line that calls it.
TEST_F(Annotated, InlinedCodeLeadsToTheCall) {
  small.pc_columns.emplace_back("inlined_line");
  small.operations[1].values["inlined_line"] = 3;
  const KernelRecord k = kernel();
  EXPECT_EQ(user_line(k.per_pc, 0).line, 3u);
  EXPECT_EQ(user_line(k.per_pc, 0).file, "k.cu");
  EXPECT_EQ(user_line(k.per_pc, 1).line, 3u);
  EXPECT_EQ(user_line(k.per_pc, 1).file, "");  // the recording does not name it
}

TEST_F(Annotated, TextOfTheSourceIsShownWhereItIsFound) {
  const std::string folder = temp_path("source");
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/k.cu") << "// k\n\n  x = a[i];\n  y = x + x;\n";
  const KernelRecord k = kernel();
  const AnnotatedSource s = annotate(k);
  const std::string text = annotated_text(k, s, SourceTexts({folder}));
  EXPECT_THAT(text, HasSubstr("     3    x = a[i];\n"));
  EXPECT_THAT(text, HasSubstr("its data was awaited for 20.00 %"));
  const std::string without = annotated_text(k, s, SourceTexts({folder + "/none"}));
  EXPECT_THAT(without, HasSubstr("k.cu (text not found: --source-path FOLDER)"));
  EXPECT_THAT(without, Not(HasSubstr("x = a[i]")));
  EXPECT_THAT(without, HasSubstr("add.f32 %f2, %f1, %f1"));
  EXPECT_THAT(annotated_json(k, s), HasSubstr("\"bank_conflicts\": 2"));
}

TEST_F(Annotated, WithoutDebugLinesThereIsThePtx) {
  for (SmallRecording::Operation& operation : small.operations) operation.values.erase("source_line");
  const AnnotatedSource s = annotate(kernel());
  EXPECT_TRUE(s.lines.empty());
  EXPECT_EQ(s.statements.size(), 4u);
}

}  // namespace
}  // namespace gpusim::analysis
