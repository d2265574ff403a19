// Instructions that warps execute in ptxas' code, operation by operation.
#include <numeric>

#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

KernelImage lowered_for(const std::string& text, int capability) {
  KernelImage image = lower_ok(text, level(LoweringLevel::kSchedule, 0, capability));
  EXPECT_TRUE(image.instructions.empty() || image.instructions.size() == image.ops.size());
  return image;
}

uint32_t instructions(const KernelImage& image) {
  return std::accumulate(image.instructions.begin(), image.instructions.end(), image.executed_once);
}

TEST(ExecutedInstructions, AScaledSumIssuesWhatTheProfilerOfAnH100Counts) {
  // `saxpy 262144` of regress/hardware/measured/h100.json: 8,192 warps execute 172,032 instructions, 21 each.
  const std::string text = R"(.version 9.0
.target sm_75
.address_size 64
.visible .entry k(.param .f32 a, .param .u64 x, .param .u64 y, .param .u64 z, .param .u32 n) {
.reg .pred %p; .reg .f32 %f<5>; .reg .b32 %r<6>; .reg .b64 %x, %y, %z, %o;
ld.param.f32 %f1, [a]; ld.param.u64 %x, [x]; ld.param.u64 %y, [y]; ld.param.u64 %z, [z]; ld.param.u32 %r2, [n];
mov.u32 %r3, %tid.x; mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ntid.x; mad.lo.s32 %r1, %r5, %r4, %r3;
setp.ge.s32 %p, %r1, %r2; @%p bra END;
mul.wide.s32 %o, %r1, 4; add.s64 %x, %x, %o; ld.global.nc.f32 %f2, [%x];
add.s64 %y, %y, %o; ld.global.nc.f32 %f3, [%y]; fma.rn.f32 %f4, %f2, %f1, %f3;
add.s64 %z, %z, %o; st.global.f32 [%z], %f4;
END: ret; })";
  const KernelImage image = lowered_for(text, 90);
  EXPECT_EQ(instructions(image), 21u);
  EXPECT_LT(image.ops.size(), 21u) << "constants, descriptor and stack pointer are no operations";
  EXPECT_EQ(instructions(image), image.machine_instructions()) << "every block is executed once";
}

/// Goes round as often as the word at p says, which all threads read; `body` is in the loop.
std::string loop_with(std::string_view body, std::string_view behind = "") {
  return ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
         ".reg .b32 %i, %n, %t; .reg .f32 %f; .reg .b64 %p; .reg .pred %q, %d;\n"
         "ld.param.u64 %p, [p]; ld.global.u32 %n, [%p]; ld.global.f32 %f, [%p+4]; mov.u32 %i, 0;\n"
         "mov.u32 %t, %tid.x;\nLOOP: .pragma \"nounroll\";\n" +
         std::string(body) + "add.s32 %i, %i, 1; setp.lt.s32 %q, %i, %n; @%q bra LOOP;\n" +
         std::string(behind) + "st.global.f32 [%p+8], %f; st.global.u32 [%p+12], %t; ret; }\n";
}

/// Of the statement whose text begins so.
uint32_t of(const KernelImage& image, std::string_view statement) {
  for (size_t i = 0; i < image.ops.size(); ++i)
    if (image.ptx[image.ops[i].ptx_index].text.starts_with(statement)) return image.instructions[i];
  ADD_FAILURE() << statement;
  return 0;
}

TEST(ExecutedInstructions, ASharedAddressOfALoopIsMadeBeforeTheLoop) {
  // From 9.0 on it takes three instructions, once for all iterations (ptxas 13: S2UR, UMOV and ULEA stand
  // before the loop), but in each iteration that comes past a block that not all do.
  const std::string named =
      ".shared .align 4 .b8 s[4096]; .reg .b32 %x; mov.u32 %x, s; add.u32 %x, %x, %t;"
      "ld.shared.u32 %t, [%x]; bar.sync 0;\n";
  const auto in_loop = [](const KernelImage& image) {
    size_t last = image.ops.size() - 1;
    while (image.ops[last].kind != OpKind::kBranch || image.ops[last].target > last) --last;
    const auto first = image.instructions.begin() + image.ops[last].target;
    return std::accumulate(first, image.instructions.begin() + static_cast<ptrdiff_t>(last) + 1, 0u);
  };
  const std::string without = loop_with("bar.sync 0;");
  const KernelImage old = lowered_for(loop_with(named), 80), now = lowered_for(loop_with(named), 90);
  EXPECT_EQ(in_loop(now) - in_loop(lowered_for(without, 90)),
            in_loop(old) - in_loop(lowered_for(without, 80)));
  EXPECT_EQ(instructions(now) - instructions(lowered_for(without, 90)),
            instructions(old) - instructions(lowered_for(without, 80)) + 3);
  const std::string some = "setp.gt.s32 %d, %t, 9; @%d bra OVER;" + named + "OVER: bar.sync 0;\n";
  const KernelImage some_old = lowered_for(loop_with(some), 80), some_now = lowered_for(loop_with(some), 90);
  EXPECT_EQ(in_loop(some_now), in_loop(some_old) + 3);
}

TEST(ExecutedInstructions, AConstantOfALoopIsInItsRegisterBeforeTheLoop) {
  const std::string none = loop_with("fma.rn.f32 %f, %f, 0f3FC00000, %f;"),
                    two = loop_with("fma.rn.f32 %f, %f, 0f3FC00000, 0f40200000;");
  EXPECT_EQ(of(lowered_for(two, 80), "fma"), 1u) << "an instruction takes one number";
  EXPECT_EQ(instructions(lowered_for(two, 80)), instructions(lowered_for(none, 80)) + 1);
}

TEST(ExecutedInstructions, LanesThatPartNameWhereTheyMeetAndMeetThere) {
  // The branch is left alone: what stands behind it is too long for a predicate.
  std::string apart = "setp.lt.u32 %d, %t, 7; @%d bra JOIN;\n";
  for (int i = 0; i < 12; ++i) apart += "ld.volatile.global.f32 %f, [%p+4];\n";
  apart += "JOIN: mul.f32 %f, %f, %f;\n";
  const std::string alike = "setp.lt.u32 %d, %n, 7; " + apart.substr(apart.find('@'));
  for (const auto& [capability, names] : {std::pair{75, 2u}, {80, 1u}}) {
    const KernelImage image = lowered_for(loop_with(apart), capability);
    EXPECT_EQ(of(image, "@%d bra JOIN"), 1 + names) << "bssy, on 7.5 with bmov";
    EXPECT_EQ(instructions(image), instructions(lowered_for(loop_with(alike), capability)) + names + 1)
        << "and bsync";
    EXPECT_EQ(of(image, "@%q bra LOOP"), 1u) << "all lanes go round alike";
  }
}

TEST(ExecutedInstructions, ThePlaceBehindALoopIsNamedOnce) {
  const auto leaving_at = [](std::string_view last) {
    return lowered_for(loop_with("setp.ge.s32 %d, %i, " + std::string(last) +
                                     "; @%d bra OUT; ld.volatile.global.f32 %f, [%p+4];\n",
                                 "OUT:\n"),
                       80);
  };
  const KernelImage apart = leaving_at("%t"), alike = leaving_at("%n");
  EXPECT_EQ(of(apart, "@%d bra OUT"), 1u);
  EXPECT_EQ(apart.executed_once, alike.executed_once + 1) << "bssy";
}

TEST(ExecutedInstructions, AWarpDoesSomethingEvenIfTheFirstBlockIsEmptyOrALoop) {
  const auto kernel = [](std::string_view body) {
    return lowered_for(
        ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
        ".reg .b32 %i; .reg .b64 %p; .reg .pred %q;\n" +
            std::string(body) + " ret; }\n",
        90);
  };
  EXPECT_EQ(kernel("A: B:").executed_once, 1u) << "the stack pointer";
  const KernelImage loop = kernel(
      "LOOP: .pragma \"nounroll\"; ld.param.u64 %p, [p]; ld.volatile.global.u32 %i, [%p];\n"
      "setp.ne.s32 %q, %i, 0; @%q bra LOOP;");
  EXPECT_EQ(loop.executed_once, 2u) << "and the descriptor of global memory";
}

TEST(ExecutedInstructions, OperationsOfThePtxAreNoInstructions) {
  const std::string text =
      ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
      ".reg .b32 %x; .reg .b64 %p; ld.param.u64 %p, [p]; mov.u32 %x, {}; st.global.u32 [%p], %x; ret; }\n";
  const auto reading = [&](std::string_view value) {
    return lowered_for(std::string(text).replace(text.find("{};"), 2, value), 75);
  };
  EXPECT_TRUE(reading("%clock").instructions.empty());
  EXPECT_FALSE(reading("%laneid").instructions.empty());
  EXPECT_TRUE(lower_ok(std::string(text).replace(text.find("{};"), 2, "%laneid"),
                       level(LoweringLevel::kSchedule, 0, 35))
                  .instructions.empty());
}

TEST(ExecutedInstructions, BlocksOfALoopHaveANumberTogether) {
  const std::string blocks =
      "fma.rn.f32 %f, %f, 0f3FC00000, 0f40200000; setp.lt.u32 %d, %t, 7; @%d bra A;\n"
      "ld.volatile.global.f32 %f, [%p+4]; st.volatile.global.f32 [%p+16], %f;\n"
      "A: fma.rn.f32 %f, %f, 0f3FC00000, 0f40200000;\n";
  const std::string without = blocks.substr(0, blocks.rfind("fma")) + "fma.rn.f32 %f, %f, 0f3FC00000, %f;\n";
  EXPECT_EQ(instructions(lowered_for(loop_with(blocks), 80)),
            instructions(lowered_for(loop_with(without), 80)));
}

TEST(ExecutedInstructions, FunctionsThatAreCalledHaveTheirs) {
  const std::string text = R"(.version 9.0
.target sm_75
.address_size 64
.func (.param .b32 result) twice(.param .b32 value) {
.reg .b32 %v; ld.param.b32 %v, [value]; add.s32 %v, %v, %v; st.param.b32 [result], %v; ret; }
.visible .entry k(.param .u64 p) {
.reg .b32 %v; .reg .b64 %p, %f; ld.param.u64 %p, [p]; ld.global.u32 %v, [%p]; mov.u64 %f, twice;
{ .param .b32 value; st.param.b32 [value], %v; .param .b32 result;
P: .callprototype (.param .b32 _) _ (.param .b32 _);
call (result), %f, (value), P; ld.param.b32 %v, [result]; }
st.global.u32 [%p], %v; ret; })";
  const KernelImage image = lowered_for(text, 75);
  EXPECT_EQ(of(image, "add.s32"), 1u);
}

}  // namespace
}  // namespace gpusim::isa
