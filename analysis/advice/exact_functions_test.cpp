#include "analysis/advice/exact_functions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/advice/rules.h"
#include "analysis/advice/rules_fixture.h"

namespace gpusim::analysis::advice {
namespace {

using testing::ElementsAre;

/// A loop that adds up expf(x * i), as nvcc writes it: constants have registers, and the last product of expf
/// is one with the sum.
class ExactFunctions : public RulesTest {
 protected:
  ExactFunctions() {
    kernel.name = "k";
    unit("pipe_fp32", "scheduler", 320, 0.9);
    unit("pipe_int", "scheduler", 320, 0.2);
    unit("pipe_sfu", "scheduler", 320, 0.2);
    unit("issue", "scheduler", 320, 0.9);
    add("", "mov.f32 %f3, 0f3F000000");
    add("", "mov.f32 %f4, 0f3BBB989D");
    add("fp32_mul", "mul.f32 %f2, %f1, %f90");  // the argument, which is no part of it
    add("fp32", "fma.rn.f32 %f5, %f2, %f4, %f3");
    add("fp32", "cvt.sat.f32.f32 %f6, %f5");
    add("fp32", "fma.rm.f32 %f9, %f6, %f8, %f7");
    add("int", "add.s32 %r1, %r1, 1");  // the loop's
    add("fp32", "add.f32 %f10, %f9, 0fCB40007F");
    add("fp32", "fma.rn.f32 %f15, %f2, 0f32A57060, %f10");
    add("int", "shl.b32 %r7, %r6, 23", "mov.b32 %r6, %f9");
    add("sfu_sin", "ex2.approx.ftz.f32 %f17, %f15");
    add("fp32", "fma.rn.f32 %f18, %f17, %f16, %f18", "mov.b32 %f16, %r7");
    program = ".visible .entry k () {\n" + program + "ret;\n}";
  }
  /// A statement, and the operation that all warps execute 16 times for it. `before`: one that is no
  /// operation.
  void add(const char* op_class, const std::string& ptx, const std::string& before = {}) {
    if (!before.empty()) program += before + ";\n";
    program += ptx + ";\n";
    if (*op_class != '\0') operation(op_class, ptx.c_str(), 16, {{"slots_issued", 16}});
  }
};

TEST_F(ExactFunctions, AreKnownByTheirConstants) {
  const std::vector<ExactFunction> found = exact_functions(facts());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].name, "__expf");
  EXPECT_EQ(found[0].executed, 16 * kWarps);
  EXPECT_THAT(found[0].operations, ElementsAre(1, 2, 3, 5, 6, 7, 8))
      << "neither the argument's nor the loop's";
  EXPECT_THAT(found[0].instead, ElementsAre("fp32_mul", "sfu_sin"));
}

TEST_F(ExactFunctions, AnotherConstantIsAnotherFunction) {
  program.replace(program.find("0f32A57060"), 10, "0f32A57061");
  EXPECT_TRUE(exact_functions(facts()).empty());
  EXPECT_FALSE(fast_math(facts()));
}

TEST_F(ExactFunctions, ARegisterThatChangesIsNoConstant) {
  program.replace(program.find("ret;"), 0, "mov.f32 %f4, 0f3F000000;\n");
  EXPECT_TRUE(exact_functions(facts()).empty());
}

TEST_F(ExactFunctions, TheirOperationsGoAndOneOfTheSpecialFunctionUnitComes) {
  const Facts f = facts();
  const auto p = fast_math(f);
  ASSERT_TRUE(p);
  EXPECT_EQ(p->pc, 1u);
  EXPECT_EQ(p->value, 7 * 16 * kWarps);
  EXPECT_EQ(p->what, "use __expf or -use_fast_math, if a few units in the last place do not matter");
  const double each = 16 * kWarps / 320.0;
  const auto less = [&](const char* unit) {
    return f.estimator().recorded().units.at(unit) - p->after.units.at(unit);
  };
  EXPECT_NEAR(less("pipe_fp32"), each * f.pipe_cycles("fp32") * (5 - 1), 1) << "a product comes";
  EXPECT_NEAR(less("pipe_int"), each * f.pipe_cycles("int"), 1);
  EXPECT_NEAR(less("pipe_sfu"), 0, 1) << "one for one";
  // Seven waits for results, of which those for a product and for the special-function unit are left.
  machine.latency["fp32"] = 8;
  kernel.per_pc.numbers["slots_alu_dependency"].assign(kernel.per_pc.rows, 100);
  const Facts waits = facts();
  const double gone = waits.estimator().recorded().chain_sum() - fast_math(waits)->after.chain_sum();
  const std::vector<ExactFunction> found = exact_functions(waits);
  double all = 0;
  for (const uint64_t pc : found[0].operations) all += waits.estimator().recorded().chain[pc];
  EXPECT_NEAR(gone, std::max(0.0, all - 16 * (waits.latency("fp32_mul") + waits.latency("sfu_sin"))), 1e-6);
  EXPECT_GT(gone, 0);
}

TEST_F(ExactFunctions, ASlotTakesAsLongAsTheSchedulerNeedsForIt) {
  const auto less = [this] {
    const Facts f = facts();
    return f.estimator().recorded().units.at("issue") - fast_math(f)->after.units.at("issue");
  };
  EXPECT_NEAR(less(), (7 - 2) * 16 * kWarps / 320.0, 1);
  machine.scheduler.issue_cycles = 2;
  EXPECT_NEAR(less(), (7 - 2) * 16 * kWarps / 320.0 * 2, 1);
}

/// cosf(x) as nvcc writes it, shortened: a test of the argument leads around the reduction of large ones.
TEST_F(RulesTest, WhatATestOfTheArgumentLeadsAroundIsTheFunctions) {
  kernel.name = "k";
  unit("pipe_fp32", "scheduler", 320, 0.2);
  unit("pipe_int", "scheduler", 320, 0.9);
  unit("issue", "scheduler", 320, 0.9);
  const auto add = [&](const char* op_class, const std::string& ptx, uint64_t times) {
    program += ptx + ";\n";
    operation(op_class, ptx.c_str(), times, {{"slots_issued", times}});
  };
  add("fp32_mul", "mul.f32 %f44, %f98, 0f3F22F983", 16);
  add("fp32", "fma.rn.f32 %f47, %f44, 0fBFC90FDA, %f98", 16);
  add("fp32", "setp.ltu.f32 %p3, %f98, 0f47CE4780", 16);
  add("branch", "@%p3 bra $L11", 16);
  program += "$L6:\n";
  add("load_global", "ld.global.nc.u32 %r50, [%rd51]", 96);  // of the digits, by no value of the argument
  add("int", "add.s64 %rd51, %rd51, 4", 96);
  add("int", "setp.ne.s32 %p5, %rd51, 24", 96);
  add("branch", "@%p5 bra $L6", 96);
  program += "$L11:\n";
  add("fp32", "fma.rn.f32 %f60, %f47, %f47, 0fBE2AAAA8", 16);
  add("fp32", "fma.rn.f32 %f61, %f60, 0fBF800000, %f60", 16);
  add("int", "add.s32 %r9, %r9, 1", 16);  // the caller's
  program = ".visible .entry k () {\n" + program + "ret;\n}";
  const std::vector<ExactFunction> found = exact_functions(facts());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].operations, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_TRUE(found[0].far);
  const Facts f = facts();
  EXPECT_THAT(fast_math(f)->what, testing::HasSubstr("bring them into one turn first"));
  EXPECT_NEAR(f.estimator().recorded().units.at("pipe_int") - fast_math(f)->after.units.at("pipe_int"),
              (2 * 96 + 1) * f.pipe_cycles("int") * kWarps / 320.0, 200);
  for (size_t pc = 4; pc < 8; ++pc) kernel.per_pc.numbers["executed"][pc] = 0;
  EXPECT_FALSE(exact_functions(facts())[0].far) << "no argument was so large";
}

}  // namespace
}  // namespace gpusim::analysis::advice
