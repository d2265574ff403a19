#include "analysis/compare/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "analysis/compare/align.h"
#include "analysis/testing/small_recording.h"

namespace gpusim::analysis {
namespace {

using test::SmallRecording;
using test::temp_path;
using testing::ElementsAre;
using testing::HasSubstr;

CycleParts sum_of(const std::vector<LineTerm>& lines) {
  CycleParts sum = 0;
  for (const LineTerm& l : lines) {
    CycleParts of_causes = 0;
    for (const CauseTerm& c : l.causes) of_causes += c.term.change();
    EXPECT_TRUE(of_causes == l.term.change()) << l.ptx;
    sum += l.term.change();
  }
  return sum;
}

void expect_exact(const Comparison& c) {
  for (const KernelComparison& k : c.kernels) {
    const auto cycles = static_cast<CycleParts>(k.b.cycles) - static_cast<CycleParts>(k.a.cycles);
    EXPECT_TRUE(k.total.change() == cycles * c.denominator);
    CycleParts causes = 0;
    for (const CauseTerm& t : k.causes) causes += t.term.change();
    EXPECT_TRUE(causes == k.total.change());
    EXPECT_TRUE(sum_of(k.statements) + k.nowhere.change() == k.total.change());
    if (!k.lines.empty()) {
      EXPECT_TRUE(sum_of(k.lines) + k.nowhere.change() == k.total.change());
    }
  }
}

class Compare : public testing::Test {
 protected:
  Comparison run(const std::string& kernel = "") {
    const Recording x(a.write(temp_path("a.h5"))), y(b.write(temp_path("b.h5")));
    return compare(x, y, kernel);
  }
  SmallRecording a, b;
};

/// What gpusim run recorded of a program, with one file of PTX.
void make_program(SmallRecording& r, const std::string& command, const std::string& text) {
  r.command = command;
  r.ptx.clear();
  r.events = [text](core::Recorder& recorder) {
    const core::TableSchema schema{"program_ptx/0",
                                   "test",
                                   0,
                                   {{"file", core::ColumnType::kString, 0, "", "file"},
                                    {"text", core::ColumnType::kString, 0, "", "text"}}};
    recorder.write_run_table(schema, {}, 1, std::vector<std::vector<std::string>>{{"PTX of k.cu"}, {text}});
  };
}

TEST_F(Compare, ProgramsAreTheSameIfTheirPtxIs) {
  make_program(a, "run ./one", "first text");
  make_program(b, "run ./one", "first text");
  const auto program = [this] {
    const std::string text = comparison_text(run(), 5);
    const size_t at = text.find("program: ");
    return text.substr(at, text.find('\n', at) - at);
  };
  EXPECT_EQ(program(), "program: the same PTX, both run ./one");
  make_program(b, "run ./two", "second text");
  EXPECT_EQ(program(), "program: different PTX, run ./one and run ./two");
  // Statements of another text are paired by what they say.
  for (auto& operation : b.operations) operation.values["ptx_line"] += 7;
  for (const LineTerm& line : run().kernels.at(0).statements) EXPECT_TRUE(line.in_a && line.in_b) << line.ptx;
  make_program(b, "gpusim --config tesla_c1060 k.ptx", "");
  b.events = {};
  b.ptx = "first text";
  EXPECT_EQ(program(), "program: the same PTX, run ./one and a launch file") << "that was exported";
  make_program(b, "run ./two", "");
  b.events = {};
  EXPECT_EQ(program(), "program: PTX that was not recorded with it, run ./one and run ./two");
  EXPECT_EQ(run().same_ptx, std::nullopt);
}

TEST_F(Compare, EqualRunsHaveNoDifference) {
  const Comparison c = run();
  ASSERT_EQ(c.kernels.size(), 1u);
  expect_exact(c);
  EXPECT_TRUE(c.total.change() == 0);
  EXPECT_TRUE(c.kernels[0].counters.empty());
  EXPECT_TRUE(c.keys.empty());
  EXPECT_EQ(c.same_ptx, true);
  EXPECT_EQ(c.results, Comparison::Results::kUnknown);
  EXPECT_THAT(c.results_why, HasSubstr("a.h5 holds no fingerprints"));
}

/// One more wait of 2 slots in each SM: 2 cycles, of memory_dram at line 11.
TEST_F(Compare, ALongerWaitIsFoundWhereItIs) {
  b.cycles += 4;
  b.totals["memory_dram"] += 4;
  for (SmallRecording::Row& sm : b.sms) sm["slots_memory_dram"] += 2;
  b.operations[1].values["slots_memory_dram"] += 4;
  const Comparison c = run();
  expect_exact(c);
  const KernelComparison& k = c.kernels.at(0);
  EXPECT_TRUE(k.total.change() == 4 * static_cast<CycleParts>(c.denominator));
  EXPECT_EQ(k.causes[0].cause, "memory_dram");
  EXPECT_TRUE(k.causes[0].term.change() == k.total.change());
  EXPECT_EQ(k.statements[0].ptx, "add.f32 %f2, %f1, %f1");
  EXPECT_EQ(k.lines[0].line, 4u);
  const std::string text = comparison_text(c, 5);
  EXPECT_THAT(text, HasSubstr("20 -> 24 cycles: +4 (+20.00 %)"));
  EXPECT_THAT(text, HasSubstr("k.cu:4"));
  EXPECT_THAT(comparison_json(c), HasSubstr("\"change\": 4, \"change_numerator\": "));
}

/// The same source, compiled in two folders, as for two versions of a program.
TEST_F(Compare, FilesOfAnotherFolderAreTheSameIfTheyHaveOneName) {
  const auto of_folder = [](SmallRecording& r, const std::string& folder) {
    for (auto& operation : r.operations)
      if (!operation.source_file.empty()) operation.source_file = folder + "/k.cu";
  };
  of_folder(a, "old");
  of_folder(b, "new");
  const Comparison c = run();
  expect_exact(c);
  ASSERT_FALSE(c.kernels[0].lines.empty());
  for (const LineTerm& line : c.kernels[0].lines) {
    EXPECT_TRUE(line.in_a && line.in_b) << line.file << ":" << line.line;
    EXPECT_TRUE(line.term.change() == 0);
  }
  // Two files of one name are not to be told apart.
  a.operations[0].source_file = "other/k.cu";
  const Comparison two = run();
  expect_exact(two);
  EXPECT_TRUE(std::ranges::any_of(two.kernels[0].lines, [](const LineTerm& l) { return !l.in_a; }));
}

/// Slots of one SM are a larger part of a cycle than those of two.
TEST_F(Compare, MachinesOfOtherSizesAreComparedByCycles) {
  b.sms.pop_back();
  for (const std::string& cause : b.causes) {
    const uint64_t of_sm = b.sms[0]["slots_" + cause], before = b.totals[cause];
    b.totals[cause] = of_sm;
    uint64_t left = before - of_sm;  // of the other SM
    for (SmallRecording::Operation& operation : b.operations) {
      uint64_t& slots = operation.values["slots_" + cause];
      const uint64_t less = std::min(left, slots);
      slots -= less, left -= less;
    }
  }
  b.counters["inst_executed"] = 4, b.counters["inst_issued"] = 6;
  uint64_t more = 2;
  for (SmallRecording::Operation& operation : b.operations) {
    const uint64_t less = std::min(more, operation.values["executed"]);
    operation.values["executed"] -= less, more -= less;
  }
  const Comparison c = run();
  expect_exact(c);
  EXPECT_TRUE(c.kernels.at(0).total.change() == 0);
  bool moved = false;
  for (const CauseTerm& t : c.kernels[0].causes) moved |= t.term.change() != 0;
  EXPECT_TRUE(moved);
}

TEST_F(Compare, LaunchesAreMatchedByNameAndOrder) {
  a.kernels = a.finished_kernels = 2;
  b.kernels = b.finished_kernels = 1;
  Comparison c = run();
  ASSERT_EQ(c.kernels.size(), 1u);
  ASSERT_EQ(c.only_a.size(), 1u);
  EXPECT_EQ(c.only_a[0].name, "second");
  EXPECT_TRUE(c.total.change() == -20 * static_cast<CycleParts>(c.denominator));
  EXPECT_THAT(comparison_text(c, 3), HasSubstr("only in a: kernel 1 second"));
  std::swap(a, b);
  c = run();
  ASSERT_EQ(c.only_b.size(), 1u);
  c = run("first");
  EXPECT_EQ(c.kernels.size(), 1u);
  EXPECT_TRUE(c.only_b.empty());
  EXPECT_THROW(run("third"), core::RecordError);
}

TEST_F(Compare, OfARunThatDidNotEndWhatEndedIsCompared) {
  a.kernels = b.kernels = 2;
  a.finished_kernels = 2, b.finished_kernels = 1;
  b.status = "partial", b.reason = "interrupted";
  const Comparison c = run();
  ASSERT_EQ(c.kernels.size(), 1u);
  EXPECT_THAT(c.b.note, HasSubstr("the run is partial (interrupted)"));
  ASSERT_EQ(c.not_compared.size(), 1u);
  EXPECT_THAT(c.not_compared[0], HasSubstr("kernel 1 second did not end in "));
}

TEST_F(Compare, CountersThatMovedComeWithTheirUnits) {
  b.counters["load_transactions_test"] = 3;
  const Comparison c = run();
  ASSERT_EQ(c.kernels[0].counters.size(), 1u);
  EXPECT_EQ(c.kernels[0].counters[0].name, "load_transactions_test");
  EXPECT_EQ(c.kernels[0].counters[0].relative(), 1);
  EXPECT_THAT(comparison_csv(c), HasSubstr("add.f32 %f2, %f1, %f1"));
}

TEST(WholeCycles, AddUpAndLieNear) {
  EXPECT_THAT(whole_cycles({1, 1, 1}, 3), ElementsAre(1, 0, 0));
  EXPECT_THAT(whole_cycles({-1, -1, -1}, 3), ElementsAre(0, 0, -1));
  EXPECT_THAT(whole_cycles({5, -2, 6}, 9), ElementsAre(0, 0, 1));
  EXPECT_THAT(whole_cycles({}, 7), ElementsAre());
  for (int shift = -40; shift < 40; ++shift) {
    const std::vector<CycleParts> parts{17 + shift, -23, 5 * shift, 100, 1 - 6 * shift};
    const auto whole = whole_cycles(parts, 19);
    const auto sum = std::accumulate(whole.begin(), whole.end(), int64_t{0});
    EXPECT_EQ(sum, 5) << shift;  // 95 / 19
    for (size_t i = 0; i < parts.size(); ++i) {
      const CycleParts off = static_cast<CycleParts>(whole[i]) * 19 - parts[i];
      EXPECT_TRUE(off > -19 && off < 19);
    }
  }
}

TEST(Align, FindsStatementsWhateverTheirRegisters) {
  const std::vector<std::string> a{"ld.global.f32 %f1, [%rd4]", "add.f32 %f2, %f1, %f1", "bar.sync 0",
                                   "@%p1 bra $L__BB0_2", "ret"};
  const std::vector<std::string> b{"mov.u32 %r9, 1",        "ld.global.f32 %f3, [%rd7]", "bar.sync 0",
                                   "mul.f32 %f2, %f1, %f1", "@%p2 bra $L__BB0_3",        "ret"};
  EXPECT_THAT(align_statements(a, b), ElementsAre(kNoPartner, 0, 2, kNoPartner, 3, 4));
  EXPECT_THAT(align_statements(a, a), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(align_statements({}, b), testing::Each(kNoPartner));
  EXPECT_THAT(align_statements({"add %r1, 1"}, {"add %r1, 2"}), ElementsAre(kNoPartner));
}

}  // namespace
}  // namespace gpusim::analysis
