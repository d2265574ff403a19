#include "isa/ptx/diagnostics.h"

#include <gtest/gtest.h>

#include "isa/ptx/opcodes.h"

namespace gpusim::isa {
namespace {

TEST(FormatDiagnostic, ShowsPositionSeverityAndHint) {
  const Diagnostic d{
      Diagnostic::Severity::kError, {12, 3}, "unknown instruction 'ad'", "did you mean 'add'?"};
  EXPECT_EQ(format_diagnostic("a.ptx", d),
            "a.ptx:12:3: error: unknown instruction 'ad'\n  hint: did you mean 'add'?");
}

TEST(FormatDiagnostic, LeavesOutWhatIsUnknown) {
  const Diagnostic d{Diagnostic::Severity::kWarning, {}, "text", ""};
  EXPECT_EQ(format_diagnostic("a.ptx", d), "a.ptx: warning: text");
}

TEST(NearestName, FindsTheNearestAndNothingFar) {
  NearestName nearest("globl");
  for (const char* n : {"local", "global", "shared"}) nearest.consider(n);
  EXPECT_EQ(nearest.best(), "global");
  NearestName far("xyzzy");
  far.consider("add");
  EXPECT_EQ(far.best(), "");
  EXPECT_EQ(far.hint(), "");
}

TEST(NearestName, FindsOpcodes) {
  EXPECT_EQ(nearest_opcode("selpp"), "selp");
  EXPECT_EQ(nearest_opcode("mvo"), "mov");
  EXPECT_EQ(nearest_opcode("qqqqqqqq"), "");
}

TEST(HasErrors, IgnoresWarnings) {
  EXPECT_FALSE(has_errors({{Diagnostic::Severity::kWarning, {}, "w", ""}}));
  EXPECT_TRUE(has_errors(
      {{Diagnostic::Severity::kWarning, {}, "w", ""}, {Diagnostic::Severity::kError, {}, "e", ""}}));
}

}  // namespace
}  // namespace gpusim::isa
