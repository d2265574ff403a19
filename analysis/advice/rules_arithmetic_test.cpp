// Rules of arithmetic that takes long.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/advice/rules_fixture.h"

namespace gpusim::analysis::advice {
namespace {

/// A kernel that divides indices by a parameter, by a product of two, or by what a thread has.
class IntegerDivision : public RulesTest {
 protected:
  IntegerDivision() {
    kernel.name = "k";
    program = R"(
.visible .entry k (.param .u64 k_param_0, .param .u32 k_param_1) {
	ld.param.u64 	%rd1, [k_param_0];
	ld.param.u32 	%r1, [k_param_1];
	mov.u32 	%r2, %tid.x;
	mov.u32 	%r3, %nctaid.x;
	mul.lo.s32 	%r4, %r3, %r1;
	ld.global.u32 	%r5, [%rd1];
	div.u32 	%r10, %r2, %r1;
	rem.u32 	%r11, %r2, %r4;
	div.s32 	%r12, %r2, %r5;
	div.s32 	%r13, %r2, %r2;
	ret;
})";
    unit("pipe_fp32", "scheduler", 320, 0.9);
    unit("pipe_int", "scheduler", 320, 0.1);
  }
  /// Work of the pipe of integers beyond what it is now.
  [[nodiscard]] double more_work() const {
    const auto p = integer_division(facts());
    return p ? p->after.units.at("pipe_int") - 10'000 : 0;
  }
};

TEST_F(IntegerDivision, ByWhatAllThreadsShareIsAProduct) {
  const double each = kWarps / 320.0 * facts().pipe_cycles("int");
  operation("int_div_u32", "div.u32 %r10, %r2, %r1", 4, {{"slots_issued", 4}});
  EXPECT_NEAR(more_work(), 4 * 4 * each, 1) << "a factor of 33 bits takes sums and shifts";
  const auto p = integer_division(facts());
  const double now = 90'000, division = 4 * kWarps / 320.0 * facts().pipe_cycles("int_div_u32"),
               product = 4 * kWarps / 320.0 * facts().pipe_cycles("int_mul");
  EXPECT_NEAR(p->after.units.at("pipe_fp32"), now - division + product, 1);
  EXPECT_EQ(p->pc, 0);
  operation("int_div_u32", "rem.u32 %r11, %r2, %r4", 2, {{"slots_issued", 2}});
  EXPECT_NEAR(more_work(), 6 * 4 * each, 1) << "a product of parameters is the same for all as well";
  EXPECT_NEAR(integer_division(facts())->after.units.at("pipe_fp32"),
              now - 1.5 * division + product + 2 * 2 * product / 4, 1)
      << "a remainder takes another product";
}

TEST_F(IntegerDivision, TwoPipesShareTheOperations) {
  machine = core::load_machine(GPUSIM_SOURCE_DIR "/configs/gtx480.cfg", {}, {});
  for (const char* pipe : {"pipe_lanes0", "pipe_lanes1"}) unit(pipe, "SM", 15, 0.9);
  operation("int_div_u32", "div.u32 %r10, %r2, %r1", 2, {{"slots_issued", 2}});
  const auto p = integer_division(facts());
  ASSERT_TRUE(p);
  const Facts f = facts();
  const double saved = f.pipe_cycles("int_div_u32") - f.pipe_cycles("int_mul") - 4 * f.pipe_cycles("int");
  EXPECT_NEAR(p->after.units.at("pipe_lanes0"), 90'000 - kWarps / 15.0 * saved, 1) << "one of the two each";
  EXPECT_EQ(p->after.units.at("pipe_lanes0"), p->after.units.at("pipe_lanes1"));
}

TEST_F(IntegerDivision, ByWhatAThreadHasStaysOne) {
  operation("int_div_s32", "div.s32 %r12, %r2, %r5", 4);
  operation("int_div_s32", "div.s32 %r13, %r2, %r2", 4);
  EXPECT_FALSE(integer_division(facts()));
  operation("int_div_u32", "div.u32 %r99, %r2, %r1", 4);
  EXPECT_FALSE(integer_division(facts())) << "a statement of another function, whose registers are its own";
  program.clear();
  operation("int_div_u32", "div.u32 %r10, %r2, %r1", 4);
  EXPECT_FALSE(integer_division(facts())) << "nothing says what %r1 is";
}

}  // namespace
}  // namespace gpusim::analysis::advice
