// The rule of tables in constant memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/advice/rules_fixture.h"

namespace gpusim::analysis::advice {
namespace {

/// A table of 4 KB that loaded values index: a warp's load takes 32 steps.
class ConstantTable : public RulesTest {
 protected:
  ConstantTable() {
    kernel.name = "k";
    kernel.causes = {{"issued", 0}, {"no_warp", 0}, {"memory_throttle", 100 * kWarps}};
    program = R"(
.const .align 4 .b8 table[4096];
.visible .entry k (.param .u64 k_param_0) {
	ld.param.u64 	%rd1, [k_param_0];
	mov.u64 	%rd2, table;
	ld.global.u32 	%r1, [%rd1];
	mul.wide.u32 	%rd3, %r1, 4;
	add.s64 	%rd4, %rd2, %rd3;
	ld.const.f32 	%f1, [%rd4];
	ld.const.f32 	%f2, [table];
	ret;
})";
    unit("pipe_lsu", "SM", 80, 0.6);
    kernel.per_pc.numbers["slots_memory_throttle"];
  }
  void load(const char* ptx, uint64_t replays, uint64_t throttled) {
    operation("load_const", ptx, 1, {{"replays", replays}});
    kernel.per_pc.numbers["slots_memory_throttle"].push_back(throttled * kWarps);
  }
};

TEST_F(ConstantTable, WordsOneAfterAnotherAreToBeLookedUpInSharedMemory) {
  load("ld.const.f32 %f1, [%rd4]", 31, 90);
  const Facts f = facts();
  EXPECT_NEAR(f.estimator().recorded().units.at("constant_misses"),
              0.9 * (kCycles - f.estimator().recorded().start), 1)
      << "nothing else goes on while there is no room for misses";
  const auto p = constant_tables(f);
  ASSERT_TRUE(p);
  EXPECT_EQ(p->value, 32);
  EXPECT_EQ(p->after.units.at("constant_misses"), 0);
  // 400 warps an SM, with 32 steps of two cycles now, and three and a half of one then.
  EXPECT_NEAR(p->after.units.at("pipe_lsu"), 60'000 * (1 - 400 * (64 - 3.5) / 60'000), 1);
  EXPECT_NEAR(p->after.units.at("shared"), 400 * 3.5 * machine.shared.cycles_per_access, 1);
  EXPECT_EQ(p->after.rounds, f.estimator().recorded().rounds) << "room for as many blocks";
}

TEST_F(ConstantTable, ATableHasToFit) {
  load("ld.const.f32 %f1, [%rd4]", 31, 90);
  resources.shared_bytes = machine.shared.bytes - 2048;
  EXPECT_FALSE(constant_tables(facts()));
  resources.shared_bytes = machine.shared.bytes / 4 - 1024;
  EXPECT_GT(constant_tables(facts())->after.rounds, 1.3 * facts().estimator().recorded().rounds)
      << "three blocks instead of four";
}

TEST_F(ConstantTable, AWordThatAllLanesLoadIsAlone) {
  load("ld.const.f32 %f2, [table]", 0, 0);
  EXPECT_FALSE(constant_tables(facts()));
  EXPECT_FALSE(facts().estimator().recorded().units.contains("constant_misses"));
}

}  // namespace
}  // namespace gpusim::analysis::advice
