// Calls that lowering inlines: parameters in both forms, guards, and what is refused.
#include <fmt/format.h>

#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

constexpr std::string_view kCallee = R"(
.func (.param .b32 rv) twice_plus(.param .b32 a, .param .b64 b)
{
  .reg .b32 %r<4>; .reg .b64 %rd; .reg .pred %p;
  ld.param.u32 %r0, [a];
  ld.param.u64 %rd, [b];
  cvt.u32.u64 %r1, %rd;
  setp.gt.u32 %p, %r0, 20;
  @%p bra BIG;
  mad.lo.s32 %r2, %r0, 2, %r1;
  st.param.b32 [rv], %r2;
  ret;
BIG:
  st.param.b32 [rv], %r1;
  ret;
}
)";

TEST(CallLowering, EveryInlinedCallHasItsOwnVariablesAndScope) {
  const KernelImage image = lower_ok(thread_kernel(".reg .b32 %r<4>;", R"(
    call f;
    call g;
    ret;)",
                                                   "sm_35", R"(
.func f() { .local .b32 x; .reg .b32 %a; mov.u32 %a, x; st.local.b32 [%a], %a; ret; }
.func g() { .local .b32 y; .reg .b32 %a; mov.u32 %a, y; call f; st.local.b32 [%a], %a; ret; }
)"),
                                     level(LoweringLevel::kClean));
  ASSERT_EQ(image.addressed.size(), 3u);
  ASSERT_EQ(image.scopes.size(), image.ops.size());
  ASSERT_EQ(image.literal_objects.size() * kRowBytes, image.literals.size());
  EXPECT_EQ(image.outer_scopes, (std::vector<uint32_t>{kNoTarget, 0, 0, 2}));
  for (size_t i = 0; i < image.ops.size(); ++i) {
    const MicroOp& op = image.ops[i];
    if (op.kind != OpKind::kStore || op.memory.space != Space::kLocal) continue;
    EXPECT_EQ(image.addressed.at(op.memory.object - kFirstObject).scope, image.scopes[i]) << i;
  }
}

TEST(CallLowering, InlinesParametersInParamSpace) {
  const std::string text = thread_kernel(".reg .b32 %r<4>; .reg .b64 %rd;", R"(
    mov.b64 %rd, 100;
    { .param .b32 p0; .param .b64 p1; .param .b32 q;
      st.param.b32 [p0], %tid0; st.param.b64 [p1], %rd;
      call.uni (q), twice_plus, (p0, p1);
      ld.param.b32 %r0, [q]; }
    st.global.u32 [%out], %r0;
    ret;)",
                                         "sm_35", kCallee);
  const Outcome o = run_image(lower_ok(text, level(LoweringLevel::kClean)), 32);
  ASSERT_TRUE(o.result.finished);
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(o.out[t * 64ul], t > 20 ? 100 : 2 * t + 100) << t;
  expect_same_everywhere(text, 40);
}

TEST(CallLowering, GuardedCallLeavesOtherLanesAlone) {
  const std::string text = thread_kernel(".reg .b32 %r<4>; .reg .b64 %rd; .reg .pred %p;", R"(
    mov.b64 %rd, 100;
    mov.u32 %r0, 7;
    setp.lt.u32 %p, %tid0, 5;
    { .param .b32 p0; .param .b64 p1; .param .b32 q;
      st.param.b32 [p0], %tid0; st.param.b64 [p1], %rd;
      @%p call (q), twice_plus, (p0, p1);
      @%p ld.param.b32 %r0, [q]; }
    st.global.u32 [%out], %r0;
    ret;)",
                                         "sm_35", kCallee);
  const Outcome o = run_image(lower_ok(text, level(LoweringLevel::kClean)), 32);
  EXPECT_EQ(o.out[4ul * 64], 108u);
  EXPECT_EQ(o.out[5ul * 64], 7u);
  expect_same_everywhere(text, 32);
}

TEST(CallLowering, OldRegisterParametersAndStructures) {
  const std::string text = thread_kernel(".reg .b32 %r<4>; .reg .f32 %f<4>;", R"(
    call (%r0), old_add, (%tid0, 5);
    { .param .align 8 .b8 s[16]; .param .align 8 .b8 t[8];
      st.param.b32 [s+0], %r0; st.param.b32 [s+4], %tid0; st.param.v2.b32 [s+8], {%r0, %r0};
      call (t), second_words, (s);
      ld.param.v2.b32 {%r1, %r2}, [t+0]; }
    st.global.u32 [%out], %r0;
    st.global.u32 [%out+4], %r1;
    st.global.u32 [%out+8], %r2;
    ret;)",
                                         "sm_35", R"(
.func (.reg .b32 %ret) old_add(.reg .b32 %x, .reg .b32 %y) { add.s32 %ret, %x, %y; ret; }
.func (.param .align 8 .b8 rv[8]) second_words(.param .align 8 .b8 a[16])
{ .reg .b32 %r<3>; ld.param.b32 %r0, [a+4]; ld.param.b32 %r1, [a+12]; st.param.v2.b32 [rv+0], {%r0, %r1}; ret; }
)");
  const Outcome o = run_image(lower_ok(text, level(LoweringLevel::kClean)), 32);
  ASSERT_TRUE(o.result.finished);
  EXPECT_EQ(o.out[3ul * 64], 8u);
  EXPECT_EQ(o.out[3 * 64 + 1], 3u);
  EXPECT_EQ(o.out[3 * 64 + 2], 8u);
  expect_same_everywhere(text, 32);
}

TEST(CallLowering, RefusesWhatItCannotInline) {
  EXPECT_THAT(lower_error(thread_kernel("", "call g;\nret;", "sm_35", ".extern .func g();\n")),
              testing::HasSubstr("'g', which is only declared"));
}

std::string call_chain(int functions) {
  std::string text = ".func f0() { ret; }\n";
  for (int i = 1; i < functions; ++i) text += fmt::format(".func f{}() {{ call f{}; ret; }}\n", i, i - 1);
  return thread_kernel("", fmt::format("call f{};\nret;", functions - 1), "sm_35", text);
}

TEST(CallLowering, RefusesDeeplyNestedCalls) {
  lower_ok(call_chain(255), level(LoweringLevel::kClean));
  EXPECT_THAT(lower_error(call_chain(256)), testing::HasSubstr("calls are nested deeper than 256"));
  EXPECT_THAT(lower_error(call_chain(12000)), testing::HasSubstr("calls are nested deeper than 256"));
}

TEST(CallLowering, RefusesWhatInliningMakesTooLarge) {
  const auto calls = [](int n, const char* call = "call f;\n") {
    std::string text;
    for (int i = 0; i < n; ++i) text += call;
    return text + "ret;";
  };
  const std::string registers = ".func f() { .reg .b32 %r<100000>; ret; }\n";
  std::string labels = ".func f() {\n";
  for (int i = 0; i < 20000; ++i) labels += fmt::format("L{}:\n", i);
  labels += "ret; }\n";
  for (const std::string& function : {registers, labels}) {
    EXPECT_THAT(lower_error(thread_kernel("", calls(1000), "sm_35", function)),
                testing::HasSubstr("the kernel is too large after inlining its calls"));
  }
  // A bit for each value and block. It cannot be called, for its argument does not lie in a frame.
  std::string values = ".func f(.reg .pred %p) { .reg .b32 %r<1000>;\n";
  for (int i = 0; i < 1000; ++i) values += fmt::format("L{0}: add.u32 %r{0}, %r{0}, 1; @%p bra L{0};\n", i);
  EXPECT_THAT(lower_error(thread_kernel(".reg .pred %q;", calls(100, "call f, (%q);\n"), "sm_35",
                                        values + "ret; }\n")),
              testing::HasSubstr("values that live across them"));
}

/// f0(x) = 3x + 1 in a long way; f1 calls it six times, and so on: inlining would make millions of
/// statements.
TEST(CallLowering, CallsWhatInliningWouldMultiply) {
  constexpr int kDepth = 5, kCalls = 6, kLength = 40;
  std::string functions =
      ".func (.param .b32 r) f0(.param .b32 x) {\n.reg .b32 %r<4>; ld.param.b32 %r0, [x];\n";
  for (int i = 0; i < kLength; ++i) functions += "xor.b32 %r0, %r0, 21;\n";
  functions += "mad.lo.u32 %r1, %r0, 3, 1; st.param.b32 [r], %r1; ret; }\n";
  const auto calls = [](int of) {
    std::string text;
    for (int i = 0; i < kCalls; ++i)
      text += fmt::format(
          "{{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r0; call (b), f{}, (a); ld.param.b32 %r0, "
          "[b]; }}\n",
          of);
    return text;
  };
  for (int i = 1; i < kDepth; ++i)
    functions += fmt::format(
        ".func (.param .b32 r) f{}(.param .b32 x) {{ .reg .b32 %r0; ld.param.b32 %r0, [x];\n{}"
        "st.param.b32 [r], %r0; ret; }}\n",
        i, calls(i - 1));
  const std::string text = thread_kernel(
      ".reg .b32 %r0;", "mov.u32 %r0, %tid0;\n" + calls(kDepth - 1) + "st.global.b32 [%out], %r0; ret;",
      "sm_35", functions);
  const KernelImage image = lower_ok(text, level(LoweringLevel::kClean));
  EXPECT_LT(image.ops.size(), 300'000u);
  const Outcome o = run_image(image, 2);
  ASSERT_TRUE(o.result.finished);
  uint64_t steps = 1;
  for (int i = 0; i < kDepth; ++i) steps *= kCalls;
  for (uint32_t lane = 0; lane < 2; ++lane) {
    uint32_t x = lane;
    for (uint64_t i = 0; i < steps; ++i) x = 3 * x + 1;
    EXPECT_EQ(o.out.at(lane * 64), x);
  }
}

}  // namespace
}  // namespace gpusim::isa
