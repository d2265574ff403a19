#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/advice/rules.h"
#include "analysis/advice/rules_fixture.h"

namespace gpusim::analysis::advice {
namespace {

/// Sums of blocks of 1024 threads, in a tree whose loop is unrolled.
class Trees : public RulesTest {
 protected:
  Trees() {
    resources.threads = 1024;
    unit("issue", "scheduler", 4 * kSms, 0.5);
    unit("pipe_lsu", "SM", kSms, 0.6);
    operation("store_shared", "st.shared.f32 [%r3], %f1", 1);
    operation("barrier", "bar.sync 0", 1);
    for (int step = 512, f = 2; step > 0; step /= 2, f += 3) {
      operation("load_shared", fmt::format("ld.shared.f32 %f{}, [%r3+{}]", f, 4 * step).c_str(), 1);
      operation("load_shared", fmt::format("ld.shared.f32 %f{}, [%r3]", f + 1).c_str(), 1);
      operation("fp32", fmt::format("add.f32 %f{}, %f{}, %f{}", f + 2, f, f + 1).c_str(), 1);
      operation("store_shared", fmt::format("st.shared.f32 [%r3], %f{}", f + 2).c_str(), 1);
      operation("barrier", "bar.sync 0", 1);
    }
  }
};

TEST_F(Trees, AreShuffledUpWithOneBarrier) {
  const Facts f = facts();
  const auto p = trees(f);
  ASSERT_TRUE(p);
  EXPECT_EQ(p->value, 10);
  EXPECT_THAT(p->what, testing::HasSubstr("what the 32 warps have: a barrier instead of 10"));
  EXPECT_LT(p->after.units.at("pipe_lsu"), f.estimator().recorded().units.at("pipe_lsu"))
      << "shuffles take this pipe too, but a third as often";
  EXPECT_GT(p->after.units.at("pipe_lsu"), 0);
  EXPECT_GT(gain(f, *p), 1.2);
}

TEST_F(Trees, OfLanesThatMeetInBanksStayUntilTheyDoNot) {
  for (uint64_t& replays : kernel.per_pc.numbers["replays"]) replays = kWarps;
  EXPECT_FALSE(trees(facts()));
}

/// Each thread exchanges with another one, and the tree is gone down again.
TEST_F(Trees, OfAScanAreNoSums) {
  for (int step = 0; step < 10; ++step) {
    operation("load_shared", "ld.shared.f32 %f90, [%r4]", 1);
    operation("store_shared", "st.shared.f32 [%r5], %f90", 1);
    operation("barrier", "bar.sync 0", 1);
  }
  EXPECT_FALSE(trees(facts()));
}

TEST_F(Trees, StayWhereAMachineHasNoShuffles) {
  machine = core::load_machine(GPUSIM_SOURCE_DIR "/configs/gtx470.cfg", {}, {});
  EXPECT_FALSE(trees(facts()));
}

TEST_F(Trees, AreThoseThatAddToTheirOwnPlace) {
  for (std::string& text : kernel.per_pc.texts["ptx"])
    if (text.starts_with("st.shared")) text.replace(text.find("[%r3]"), 5, "[%r9]");
  EXPECT_FALSE(trees(facts())) << "a stencil, say";
}

/// A sum in global memory, as the compiler leaves it if the arrays could overlap.
class KeptValues : public RulesTest {
 protected:
  static constexpr uint64_t kTurns = 16;
  KeptValues() {
    machine = core::load_machine(GPUSIM_SOURCE_DIR "/configs/h200.cfg", {}, {});
    unit("issue", "scheduler", 4 * kSms, 0.2);
    operation("int", "add.s64 %rd5, %rd1, %rd2", 1);
    for (int copy = 0; copy < 4; ++copy) {
      operation(
          "load_global", fmt::format("ld.global.f32 %f1, [%rd7+{}]", 4 * copy).c_str(), kTurns,
          {{"awaited_memory_dram", 100}, {"transactions", kTurns}, {"transferred_bytes", 128 * kTurns}});
      operation("load_global", "ld.global.f32 %f2, [%rd5]", kTurns, {{"transactions", kTurns}});
      operation("fp32", "add.f32 %f3, %f1, %f2", kTurns);
      operation("store_global", "st.global.f32 [%rd5], %f3", kTurns, {{"transactions", kTurns}});
    }
    operation("int", "add.s64 %rd7, %rd7, 16", kTurns);
    operation("branch", "@%p1 bra $L1", kTurns);
  }
};

TEST_F(KeptValues, AreStoredOnceBehindTheLoop) {
  const Facts f = facts();
  const auto p = kept_values(f);
  ASSERT_TRUE(p);
  EXPECT_EQ(p->value, 4 * kTurns);
  EXPECT_EQ(f.op_class(p->pc), "store_global");
  double waiting = 0;
  for (uint64_t pc = 1; pc < 17; pc += 4)
    waiting += p->after.chain[pc] > f.estimator().recorded().chain[pc] / 2;
  EXPECT_EQ(waiting, 1) << "loads that stood behind stores wait together";
  EXPECT_THAT(named(), testing::Contains("kept_values"));
}

TEST_F(KeptValues, AtPlacesThatALoopCountsUpAreAnArray) {
  for (std::string& text : kernel.per_pc.texts["ptx"])
    if (text.starts_with("st.global")) text = "st.global.f32 [%rd7], %f3";
  EXPECT_FALSE(kept_values(facts()));
}

TEST_F(KeptValues, ThatOthersAreToldStayInMemory) {
  operation("barrier", "bar.sync 0", kTurns);
  EXPECT_FALSE(kept_values(facts()));
  kernel.per_pc.texts["class"].back() = "fence";
  EXPECT_FALSE(kept_values(facts()));
  kernel.per_pc.texts["class"].back() = "int";
  ASSERT_TRUE(kept_values(facts()));
  for (std::string& text : kernel.per_pc.texts["ptx"])
    if (text.starts_with("st.global")) text = "st.volatile.global.f32 [%rd5], %f3";
  EXPECT_FALSE(kept_values(facts()));
}

}  // namespace
}  // namespace gpusim::analysis::advice
