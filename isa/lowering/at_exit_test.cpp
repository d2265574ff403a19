// The runtime libraries load and lower kernels until the program's very end, when what was made before has
// been destroyed: threads that nobody has joined go on, and launches that nobody has waited for are done
// then.
#include <gtest/gtest.h>

#include <cstdlib>

#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa::test {
namespace {

constexpr std::string_view kText =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n  .reg .u64 %a;\n  "
    ".reg .u32 %r;\n"
    "  ld.param.u64 %a, [p];\n  mov.u32 %r, %tid.x;\n  add.s32 %r, %r, 1;\n  st.global.u32 [%a], %r;\n  "
    "ret;\n}\n";

bool lowers() {
  const ParseResult parsed = parse_module(kText);
  if (has_errors(parsed.diagnostics)) return false;
  const auto lowered = lower_kernel(parsed.module, *parsed.module.entries().at(0), LoweringOptions{});
  return std::holds_alternative<KernelImage>(lowered);
}

void end_of_program() {
  if (!lowers()) std::_Exit(2);
}

TEST(AtExit, KernelsAreStillLowered) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a new process, in which no kernel has been lowered
  EXPECT_EXIT(
      {
        std::atexit(end_of_program);
        std::exit(lowers() ? 0 : 3);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace gpusim::isa::test
