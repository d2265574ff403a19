// One thread of each block that does something for all of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/advice/rules_fixture.h"

namespace gpusim::analysis::advice {
namespace {

using testing::HasSubstr;

/// Blocks of eight warps, of whose threads the first goes through a loop of 64 turns.
class SerialPart : public RulesTest {
 protected:
  static constexpr uint64_t kWarpsOfBlock = 8, kTurns = 64;
  SerialPart() {
    resources.threads = 32 * kWarpsOfBlock;
    kernel.name = "k";
    kernel.counters["divergent_branch"] = kWarps;
    unit("issue", "scheduler", 320, 0.2);
    alone("mov.u32 %r2, 0", 1);
    alone("cvt.rn.f32.s32 %f1, %r2", kTurns);
    alone("st.shared.f32 [%r3], %f1", kTurns);
    kernel.per_pc.texts["class"].back() = "store_shared";
    alone("add.s32 %r2, %r2, 1", kTurns);
    operation("barrier", "bar.sync 0", 1);
    kernel.per_pc.numbers["slots_alu_dependency"].assign(kernel.per_pc.rows, 100 * kWarps);
  }
  /// By one thread of each block.
  void alone(const char* ptx, uint64_t turns) {
    operation("int", ptx, 1);
    kernel.per_pc.numbers["executed"].back() = kernel.per_pc.numbers["active_lanes"].back() =
        turns * kWarps / kWarpsOfBlock;
  }
  void loop(const std::string& turn) {
    program =
        ".visible .entry k(\n)\n{\nmov.u32 %r1, %tid.x;\nsetp.ne.s32 %p1, %r1, 0;\n@%p1 bra $L2;\nmov.u32 "
        "%r2, 0;\nmov.f32 %f1, %f3;\n$L1:\n" +
        turn +
        "st.shared.f32 [%r3], %f1;\nadd.s32 %r2, %r2, 1;\nsetp.lt.s32 %p2, %r2, 64;\n@%p2 bra $L1;\n$L2:\n"
        "bar.sync 0;\nret;\n}";
  }
};

TEST_F(SerialPart, HoldsUpAllWarpsOfTheBlock) {
  loop("cvt.rn.f32.s32 %f1, %r2;\n");
  const Facts f = facts();
  EXPECT_TRUE(f.holds_up_block(1));
  EXPECT_FALSE(f.holds_up_block(4)) << "the barrier is for all";
  EXPECT_TRUE(f.can_be_shared_out());
  // The chain of a warp has all turns, and not an eighth of them.
  const std::vector<double>& chain = f.estimator().recorded().chain;
  EXPECT_NEAR(chain[1] / chain[0], kTurns, 1e-6);
  const auto p = divergence(f);
  ASSERT_TRUE(p);
  EXPECT_THAT(p->what, HasSubstr("let all threads of a block take part"));
  EXPECT_NEAR(p->after.chain[1], chain[1] / kTurns, 1e-6);
  EXPECT_FALSE(more_warps(f)) << "more threads do none of these turns";
}

TEST_F(SerialPart, TurnsThatTheCompilerMadeOneAreSeveral) {
  for (const char* store :
       {"st.shared.f32 [%r3+4], %f1", "st.shared.f32 [%r3+8], %f1", "st.shared.f32 [%r3+12], %f1"}) {
    alone(store, kTurns);
    kernel.per_pc.texts["class"].back() = "store_shared";
  }
  loop("cvt.rn.f32.s32 %f1, %r2;\n");
  const Facts f = facts();
  EXPECT_NEAR(divergence(f)->after.chain[1], f.estimator().recorded().chain[1] / 256, 1e-6)
      << "of four turns each, for 256 threads";
}

TEST_F(SerialPart, WhatNeedsTheTurnBeforeStaysWithOneThread) {
  loop("mul.f32 %f1, %f1, %f2;\n");
  kernel.per_pc.texts["ptx"][1] = "mul.f32 %f1, %f1, %f2";
  const Facts f = facts();
  EXPECT_TRUE(f.holds_up_block(1));
  EXPECT_FALSE(f.can_be_shared_out());
}

TEST_F(SerialPart, OneLaneOfEachWarpHoldsUpNothing) {
  loop("cvt.rn.f32.s32 %f1, %r2;\n");
  for (size_t pc = 0; pc < 4; ++pc)
    for (const char* column : {"executed", "active_lanes"})
      kernel.per_pc.numbers[column][pc] *= kWarpsOfBlock;
  EXPECT_FALSE(facts().holds_up_block(1));
}

}  // namespace
}  // namespace gpusim::analysis::advice
