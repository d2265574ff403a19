// What ptxas takes and refuses, line by line, as recorded in isa/tests/ptxas_verdicts.txt. "Not supported
// yet" is no refusal.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "isa/ptx/parser/parser.h"
#include "isa/ptx/verifier/verifier.h"
#include "isa/tests/ptx_test_util.h"

namespace gpusim::isa {
namespace {

/// As in regress/ptxas_verdicts.py.
std::string text_of(std::string line) {
  std::string version = "7.0", target = "sm_75";
  if (line.starts_with('[')) {  // [version target]
    const size_t space = line.find(' '), end = line.find("] ");
    version = line.substr(1, space - 1);
    target = line.substr(space + 1, end - space - 1);
    line.erase(0, end + 2);
  }
  std::string header = ".version " + version + "\n.target " + target + "\n";
  if (std::stod(version) >= 2.3) header += ".address_size 64\n";
  const std::string module = "module ";
  if (line.starts_with(module)) return header + line.substr(module.size()) + "\n";
  return header + R"(.global .align 16 .b8 zg[64]; .shared .align 16 .b8 zs[64];
.visible .entry k(.param .u64 p)
{
.reg .u64 %d, %e; .reg .u32 %r<4>; .reg .b32 %b; .reg .f32 %f; .reg .f64 %g; .reg .f16x2 %h2; .reg .f16 %h;
.reg .b16 %s; .reg .pred %p; .reg .v2 .u32 %v2, %w2; .reg .v4 .u32 %v4;
)" + line +
         "\nexit;\n}\n";
}

TEST(Verdicts, AreThoseOfPtxas) {
  std::ifstream table(GPUSIM_SOURCE_DIR "/isa/tests/ptxas_verdicts.txt");
  size_t lines = 0;
  for (std::string line; std::getline(table, line);) {
    if (line.starts_with('#')) continue;
    ++lines;
    ParseResult parsed = parse_module(text_of(line.substr(2)));
    Diagnostics found = std::move(parsed.diagnostics);
    if (found.empty()) found = verify_module(parsed.module);
    const bool good = std::ranges::none_of(
        found, [](const Diagnostic& d) { return d.severity == Diagnostic::Severity::kError; });
    EXPECT_EQ(good, line[0] == '+') << line << "\n" << test::messages(found);
  }
  EXPECT_GT(lines, 50u);
}

}  // namespace
}  // namespace gpusim::isa
