#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/advice/rules.h"
#include "analysis/advice/rules_fixture.h"

namespace gpusim::analysis::advice {
namespace {

class Fences : public RulesTest {
 protected:
  static constexpr uint64_t kTurns = 32, kWaited = 100;
  Fences() {
    machine = core::load_machine(GPUSIM_SOURCE_DIR "/configs/h200.cfg", {}, {});
    kernel.causes = {{"issued", 4 * kWarps}, {"no_warp", 0}, {"fence", kWaited * kWarps}};
    unit("issue", "scheduler", 4 * kSms, 0.1);
    operation("store_global", "st.global.f32 [%rd1], %f1", kTurns);
    operation("fence", "membar.gl", kTurns);
    operation("int", "add.s32 %r1, %r1, 1", kTurns);
    operation("branch", "@%p1 bra $L1", kTurns);
    kernel.per_pc.numbers["slots_fence"] = {0, 0, kWaited * kWarps, 0};
  }
};

TEST_F(Fences, OneBehindTheLoopTakesTheTimeOfOne) {
  const Facts f = facts();
  EXPECT_DOUBLE_EQ(f.fence_before(2), f.latency("fence")) << "longer than a store";
  EXPECT_EQ(f.fence_before(3), 0);
  const auto p = fences(f);
  ASSERT_TRUE(p);
  EXPECT_EQ(p->pc, 1);
  EXPECT_NEAR(p->value, 100.0 * kWaited / (kWaited + 4), 0.01);
  const double before = f.estimator().recorded().chain[2], after = p->after.chain[2];
  EXPECT_NEAR(before - after, f.latency("fence") * (kTurns - 1), 1e-6);
  EXPECT_THAT(named(), testing::Contains("fences"));
}

TEST_F(Fences, OneThatIsPassedOnceStays) {
  for (uint64_t& executed : kernel.per_pc.numbers["executed"]) executed = kWarps;
  EXPECT_FALSE(fences(facts()));
}

/// What is told to other blocks in each turn needs its fence in each turn.
TEST_F(Fences, OneInFrontOfAFlagStays) {
  operation("atom_global", "atom.global.add.u32 %r2, [%rd2], 1", kTurns);
  kernel.per_pc.numbers["slots_fence"].push_back(0);
  EXPECT_FALSE(fences(facts()));
}

TEST_F(Fences, ThoseOfABlockAreShort) {
  kernel.per_pc.texts["class"][1] = "fence_block";
  EXPECT_FALSE(fences(facts()));
}

}  // namespace
}  // namespace gpusim::analysis::advice
