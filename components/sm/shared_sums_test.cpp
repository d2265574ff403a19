// Atomic sums of floating-point numbers in shared memory, which are loops.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "components/testing/recorded_run.h"
#include "simcore/config/load.h"

namespace gpusim::comp {
namespace {

/// When a warp of an H200 whose lanes add to `words` words, by the operation `sum`, stores `stored`.
uint64_t cycles_of(const char* type, const char* width, int words, const char* sum = "atom.shared.add.{} %v,",
                   const char* stored = "%v") {
  SimulationOptions o = test::program(
      fmt::format(
          ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() {{\n"
          ".shared .align 8 .b8 s[512]; .reg .b32 %r<5>; .reg .b{1} %v, %w;\n"
          "mov.u32 %r0, %tid.x; and.b32 %r0, %r0, {2}; shl.b32 %r0, %r0, 3; mov.u32 %r1, s; add.u32 %r1, "
          "%r1, %r0;\nmov.b{1} %v, 0; mov.b{1} %w, 0; {3} [%r1], %v; st.shared.b{1} [%r1+256], {4};\n"
          "mov.u32 %r2, %clock; st.shared.u32 [%r1], %r2; ret; }}\n",
          type, width, words - 1, fmt::format(fmt::runtime(sum), type), stored),
      "[[launch]]\nkernel = \"k\"\ngrid = [1]\nblock = [32]\nargs = []\n");
  o.machine = core::load_machine("h200", std::vector<std::string>{},
                                 std::vector<std::string>{GPUSIM_SOURCE_DIR "/configs"});
  o.sms = 1;  // the others would only have to be built
  const std::vector<test::RecordedKernel> run = test::record_run(std::move(o));
  EXPECT_EQ(run.size(), 1u);
  return run.empty() ? 0 : run[0].cycles_of("store_shared").at(0);
}

TEST(SharedSums, EachRoundIsALoadASumASwapAndABranch) {
  const core::MachineConfig h200 = core::load_machine("h200", std::vector<std::string>{},
                                                      std::vector<std::string>{GPUSIM_SOURCE_DIR "/configs"});
  const auto latency = [&](const char* op_class) { return static_cast<uint64_t>(h200.latency.at(op_class)); };
  const auto round = [&](const char* sum) {
    return latency("load_shared") + latency(sum) + latency("atom_shared") + latency("int") +
           latency("branch");
  };
  EXPECT_EQ(cycles_of("f32", "32", 1) - cycles_of("f32", "32", 2), 16 * (round("fp32") + 2));
}

// ptxas 13 puts BSSY in front of the loop and BSYNC behind it, for 7.5 and 9.0, and whatever else the warp
// does behind that, whether it uses the sum or not.
TEST(SharedSums, TheWarpGoesOnBehindTheLoop) {
  const uint64_t with_results = cycles_of("f32", "32", 1) - cycles_of("f32", "32", 2);
  for (const char* sum : {"atom.shared.add.{} %v,", "red.shared.add.{}"}) {
    SCOPED_TRACE(sum);
    EXPECT_EQ(cycles_of("f32", "32", 1, sum, "%w") - cycles_of("f32", "32", 2, sum, "%w"), with_results);
  }
}

TEST(SharedSums, NobodyWaitsBehindAnIntegerThatNobodyReads) {
  EXPECT_LE(cycles_of("u32", "32", 1, "red.shared.add.{}", "%w"),
            cycles_of("u32", "32", 2, "red.shared.add.{}", "%w") + 32 * 2);
}

}  // namespace
}  // namespace gpusim::comp
