// Loops of which several iterations become one: which do, at what cost, and that the values stay. Counts are
// worked out by hand from the programs.
#include <fmt/format.h>

#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

/// Sums of 3 k + 1 over the iterations of a loop whose counter starts at %r1 and ends at %r2.
std::string counted_loop(std::string_view start, std::string_view end, std::string_view step,
                         std::string_view relation, std::string_view pragma = "") {
  return thread_kernel(".reg .b32 %r<8>; .reg .pred %p0;", "mov.u32 %r0, 0; mov.u32 %r3, 0;\n" +
                                                               std::string(start) + std::string(end) +
                                                               "\nL:\n" + std::string(pragma) + R"(
    mad.lo.u32 %r0, %r1, 3, %r0;
    add.u32 %r0, %r0, 1;
    add.u32 %r3, %r3, 1;
    add.s32 %r1, %r1, )" + std::string(step) + ";\n    setp." + std::string(relation) +
                                                               R"( %p0, %r1, %r2;
    @%p0 bra L;
    st.global.u32 [%out], %r0;
    st.global.u32 [%out+4], %r3;
    st.global.u32 [%out+8], %r1;
    ret;)");
}

TEST(Unroll, EveryNumberOfRoundsIsTheSame) {
  // Lane t makes t, 3 t + 1 or (from a start beyond the end) one iteration; also close to overflow.
  const std::string_view starts[] = {"mov.u32 %r1, 5;", "sub.u32 %r1, 5, %tid0;", "mov.u32 %r1, 0x7fffffe0;",
                                     "mov.u32 %r1, 0x80000000;"};
  const std::string_view ends[] = {"add.u32 %r2, %r1, %tid0;", "mad.lo.u32 %r2, %tid0, 3, %r1;",
                                   "sub.u32 %r2, %r1, %tid0;"};
  for (const std::string_view start : starts) {
    for (const std::string_view end : ends) {
      // What goes round for ever stops at the step limit and is not compared.
      for (const std::string_view relation : {"lt.s32", "lt.u32", "le.s32", "le.u32"}) {
        const std::string text = counted_loop(start, end, "2", relation);
        const Outcome none = run_image(lower_ok(text, level(LoweringLevel::kNone)), 33);
        if (none.result.finished) expect_same_everywhere(text, 33);
      }
    }
  }
  expect_same_everywhere(
      counted_loop("mul.lo.u32 %r1, %tid0, 4; add.u32 %r1, %r1, 4;", "mov.u32 %r2, 0;", "-4", "ne.s32"), 33);
  expect_same_everywhere(counted_loop("mul.lo.u32 %r1, %tid0, 4;", "mov.u32 %r2, -9;", "-4", "gt.s32"), 33);
  expect_same_everywhere(counted_loop("mul.lo.u32 %r1, %tid0, 4;", "mov.u32 %r2, -8;", "-4", "ge.s32"), 33);
}

TEST(Unroll, RoundsAreCopiedUnlessToldNotTo) {
  // Without the wide product that makes the address of the stores.
  const auto products = [](const KernelImage& image) { return count_class(image, OpClass::kIntMul); };
  const std::string text = counted_loop("mov.u32 %r1, 0;", "mov.u32 %r2, %tid0;", "1", "lt.s32");
  EXPECT_EQ(products(scheduled(text)), 7u);  // four, two, one
  EXPECT_EQ(products(scheduled(text, 35)), 1u);
  EXPECT_EQ(products(scheduled(counted_loop("mov.u32 %r1, 0;", "mov.u32 %r2, %tid0;", "1", "lt.s32",
                                            ".pragma \"nounroll\";"))),
            1u);
  EXPECT_EQ(products(scheduled(counted_loop("mov.u32 %r1, 0;", "mov.u32 %r2, %tid0;", "%tid0", "lt.s32"))),
            1u);
}

/// Lane t makes t iterations, each with `body`, which may use %f0, %f1, %r1 (the iteration) and shared memory
/// at
/// [%r5].
std::string loop_of(std::string_view body) {
  return thread_kernel(".reg .f32 %f<40>; .reg .b32 %r<8>; .reg .pred %p<3>; .shared .align 4 .b8 s[8192];",
                       fmt::format(R"(
    ld.global.f32 %f0, [%in]; ld.global.f32 %f1, [%in+4]; mov.u32 %r1, 0; mov.u32 %r4, 0;
    mov.u32 %r5, s; mad.lo.u32 %r5, %tid0, 128, %r5;
  LOOP:
    {}
    mul.hi.u32 %r4, %r4, %r1;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p0, %r1, %tid0;
    @%p0 bra LOOP;
  OUT:
    st.global.f32 [%out], %f0; st.global.u32 [%out+4], %r4; st.global.u32 [%out+8], %r1;
    ret;)",
                                   body));
}

bool unrolled(const std::string& body) {
  const std::string text = loop_of(body);
  expect_same_everywhere(text, 32);
  const KernelImage image = scheduled(text);
  const auto copies = std::ranges::count_if(image.ops, [&](const MicroOp& op) {
    return op.op_class == OpClass::kIntMulWide && image.ptx[op.ptx_index].text.starts_with("mul.hi");
  });
  EXPECT_TRUE(copies == 1 || copies == 7) << copies;
  return copies == 7;
}

TEST(Unroll, WhatAnIterationMayCostDependsOnItsLoads) {
  const auto fma = [](int n) {
    std::string text;
    for (int i = 0; i < n; ++i) text += "fma.rn.f32 %f0, %f0, %f1, %f0; ";
    return text;
  };
  const auto loads = [](std::string_view space, std::string_view base, int n) {
    std::string text;
    for (int i = 0; i < n; ++i)
      text += fmt::format("ld.{}.f32 %f{}, [{}+{}]; fma.rn.f32 %f0, %f{}, %f1, %f0; ", space, 2 + i, base,
                          12 * i + 4, 2 + i);
    return text;
  };
  // One instruction of the budget goes to the product that loop_of() adds.
  EXPECT_TRUE(unrolled(fma(17)));
  EXPECT_FALSE(unrolled(fma(18)));
  EXPECT_TRUE(unrolled(loads("shared", "%r5", 1) + fma(19)));
  EXPECT_FALSE(unrolled(loads("shared", "%r5", 1) + fma(20)));
  // Without an offset, which is added to the address.
  EXPECT_TRUE(unrolled("ld.shared.f32 %f2, [%r5]; fma.rn.f32 %f0, %f2, %f1, %f0; " + fma(20)));
  EXPECT_FALSE(unrolled("ld.shared.f32 %f2, [%r5]; fma.rn.f32 %f0, %f2, %f1, %f0; " + fma(21)));
  EXPECT_TRUE(unrolled(loads("shared", "%r5", 8) + fma(33)));
  EXPECT_FALSE(unrolled(loads("shared", "%r5", 8) + fma(34)));
  EXPECT_TRUE(unrolled(loads("global", "%in", 1) + fma(42)));
  EXPECT_FALSE(unrolled(loads("global", "%in", 1) + fma(43)));
  EXPECT_TRUE(unrolled(loads("global", "%in", 8) + fma(21)));
  EXPECT_FALSE(unrolled(loads("global", "%in", 8) + fma(22)));
}

TEST(Unroll, CostsAreThoseBeforeInstructionsAreMade) {
  const auto fma = [](int n) {
    std::string text;
    for (int i = 0; i < n; ++i) text += "fma.rn.f32 %f0, %f0, %f1, %f0; ";
    return text;
  };
  struct Case {
    std::string_view what;
    int cost;
  };
  for (const Case& c :
       {Case{"ex2.approx.f32 %f0, %f0;", 6}, Case{"ex2.approx.ftz.f32 %f0, %f0;", 1},
        Case{"rcp.approx.f32 %f0, %f0;", 7}, Case{"cvt.rn.f32.u32 %f2, %r4; add.f32 %f0, %f0, %f2;", 2},
        Case{"neg.f32 %f2, %f0; mul.f32 %f0, %f2, %f1;", 1},
        Case{"mul.f32 %f2, %f0, %f1; add.f32 %f0, %f2, %f1;", 2},
        Case{"mul.lo.u32 %r3, %r4, %r5; add.u32 %r4, %r3, %r5;", 1},
        Case{"shl.b32 %r3, %r4, 2; add.u32 %r4, %r3, %r5;", 2},
        Case{"shl.b32 %r3, %r4, 3; shr.u32 %r6, %r4, 29; or.b32 %r4, %r3, %r6;", 3},
        Case{"and.b32 %r3, %r4, %r5; xor.b32 %r6, %r3, %tid0; xor.b32 %r4, %r6, %r5;", 3},
        Case{"setp.lt.u32 %p1, %r4, %r5; setp.ne.u32 %p2, %r4, %tid0; and.pred %p1, %p1, %p2; selp.b32 %r4, "
             "%r4, "
             "%r5, %p1;",
             4},
        Case{"setp.lt.u32 %p1, %r4, %r5; @%p1 bra NEXT; add.u32 %r4, %r4, %r5; xor.b32 %r4, %r4, %tid0; "
             "NEXT: ",
             4},
        Case{"bfe.u32 %r4, %r4, 3, 9;", 1}, Case{"clz.b32 %r4, %r4;", 2},
        Case{"add.cc.u32 %r4, %r4, %r5; addc.u32 %r4, %r4, %r5;", 3},
        Case{"add.u32 %r5, %r5, 4; xor.b32 %r4, %r4, %r5;", 2},
        Case{"{ .reg .b16 %h<2>; cvt.u16.u32 %h0, %r4; cvt.u16.u32 %h1, %r5; setp.lt.s16 %p1, %h0, %h1; "
             "selp.b32 %r4, %r4, %r5, %p1; }",
             4},
        Case{"{ .reg .b16 %h<2>; cvt.u16.u32 %h0, %r4; setp.lt.u16 %p1, %h0, 9; selp.b32 %r4, %r4, %r5, %p1; "
             "}",
             3}}) {
    EXPECT_TRUE(unrolled(std::string(c.what) + fma(17 - c.cost))) << c.what;
    EXPECT_FALSE(unrolled(std::string(c.what) + fma(18 - c.cost))) << c.what;
  }
}

TEST(Unroll, LoopsThatLanesLeaveApartKeepTheOrderOfWhatTheyReadAndStore) {
  const auto loop = [](std::string_view end, std::string_view body) {
    const std::string text =
        thread_kernel(".reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p<3>; .shared .align 4 .b8 s[8192];",
                      fmt::format(R"(
    mov.u32 %r1, 0; mov.u32 %r4, 0; mov.u32 %r5, s; mad.lo.u32 %r5, %tid0, 128, %r5;
    mov.u64 %rd1, %in; mov.u64 %rd2, %out; mov.u32 %r6, %ntid.x;
  LOOP:
    {}
    mul.hi.u32 %r4, %r4, %r1;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p0, %r1, {};
    @%p0 bra LOOP;
    st.global.u32 [%out+4], %r4;
    ret;)",
                                  body, end));
    expect_same_everywhere(text, 4);
    const KernelImage image = scheduled(text);
    return std::ranges::count_if(image.ops, [&](const MicroOp& op) {
      return op.op_class == OpClass::kIntMulWide && image.ptx[op.ptx_index].text.starts_with("mul.hi");
    });
  };
  constexpr std::string_view in_place =
      "ld.global.u32 %r2, [%in]; add.u32 %r2, %r2, 3; st.global.u32 [%out], %r2;";
  EXPECT_EQ(loop("%tid0", in_place), 1);
  EXPECT_EQ(loop("%r6", in_place), 7) << "all lanes leave together";
  EXPECT_EQ(loop("%tid0", "ld.global.u32 %r2, [%in]; add.u32 %r4, %r4, %r2; st.global.u32 [%out], %r1;"), 7)
      << "what is stored was not read";
  EXPECT_EQ(loop("%tid0",
                 "ld.global.u32 %r2, [%rd1]; st.global.u32 [%rd2], %r2; add.u64 %rd1, %rd1, 0; add.u64 %rd2, "
                 "%rd2, 0;"),
            7)
      << "pointers that go on by numbers";
  EXPECT_EQ(loop("%tid0", "ld.global.u32 %r2, [%in]; st.shared.u32 [%r5], %r2;"), 7) << "of two memories";
  EXPECT_EQ(
      loop("%tid0",
           "ld.global.u32 %r2, [%in]; setp.gt.u32 %p1, %r2, 9; @%p1 bra M; st.global.u32 [%out], %r1;\nM: "),
      1)
      << "whether it is stored was read";
  EXPECT_EQ(loop("%tid0", "red.global.add.u32 [%out], 1;"), 1);
}

TEST(Unroll, CountersMayBeWide) {
  const auto loop = [](std::string_view start, std::string_view end, std::string_view step,
                       std::string_view relation) {
    return thread_kernel(".reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;",
                         fmt::format(R"(
    mov.u32 %r1, 1; mov.u64 %rd1, {};
    mov.u64 %rd2, {};
  LOOP:
    mad.lo.u32 %r1, %r1, 5, 3;
    add.s64 %rd1, %rd1, {};
    setp.{} %p0, %rd1, %rd2;
    @%p0 bra LOOP;
    st.global.u32 [%out], %r1;
    ret;)",
                                     start, end, step, relation));
  };
  const auto products = [](const KernelImage& image) { return count_class(image, OpClass::kIntMul); };
  for (const std::string& text :
       {loop("0", "9", "1", "lt.s64"), loop("0", "18", "2", "lt.u64"), loop("36", "0", "-4", "ne.s64")}) {
    expect_same_everywhere(text, 3);
    EXPECT_EQ(products(scheduled(text)), 9u) << text;
  }
  const std::string far = loop("-5000000000", "5000000000", "250000000", "lt.s64");
  expect_same_everywhere(far, 3);
  EXPECT_EQ(products(scheduled(far)), 7u) << "four, two, one";
  const std::string around = loop("0x7ffffffffffffff0", "0x7fffffffffffffff", "15", "lt.s64");
  expect_same_everywhere(around, 3);
}

TEST(Unroll, WhatIsANumberThenCostsNothing) {
  const auto loop = [](int trips, std::string_view operation) {
    std::string body;
    for (int i = 0; i < 16; ++i) body += std::string(operation) + " fma.rn.f32 %f0, %f0, %f1, %f2; ";
    const std::string text =
        thread_kernel(".reg .f32 %f<4>; .reg .b32 %r<4>; .reg .pred %p<2>;", fmt::format(R"(
    ld.global.f32 %f0, [%in]; ld.global.f32 %f1, [%in+4]; mov.f32 %f2, %f1; mov.u32 %r1, 0;
  LOOP:
    {}
    add.u32 %r1, %r1, 1;
    setp.ne.u32 %p0, %r1, {};
    @%p0 bra LOOP;
    st.global.f32 [%out], %f0;
    ret;)",
                                                                                         body, trips));
    expect_same_everywhere(text, 2);
    return std::ranges::count(scheduled(text).ops, OpKind::kBranch, &MicroOp::kind) == 0;
  };
  EXPECT_TRUE(loop(75, ""));
  EXPECT_FALSE(loop(80, ""));
  EXPECT_TRUE(loop(120, "cvt.rn.f32.u32 %f2, %r1;"));
}

TEST(Unroll, AKnownNumberOfRoundsBecomesCode) {
  struct Bounds {
    std::string_view start, end, step, relation;
    bool becomes_code;
  };
  const auto branches = [](const Bounds& b) {
    const std::string text = counted_loop(fmt::format("mov.u32 %r1, {};", b.start),
                                          fmt::format("mov.u32 %r2, {};", b.end), b.step, b.relation);
    expect_same_everywhere(text, 3);
    const KernelImage image = scheduled(text);
    uint32_t products = 0;
    for (const MicroOp& op : image.ops) products += op.op_class == OpClass::kIntMul;
    if (b.becomes_code) {
      EXPECT_EQ(products, 0u) << "each factor is a number then, and so the product\n" << text;
    }
    return std::ranges::count(image.ops, OpKind::kBranch, &MicroOp::kind);
  };
  EXPECT_EQ(branches({"0", "9", "1", "lt.s32", true}), 0);
  EXPECT_EQ(branches({"0", "9", "2", "lt.u32", true}), 0);
  EXPECT_EQ(branches({"-5", "5", "5", "ne.s32", true}), 0);
  EXPECT_EQ(branches({"7", "-7", "-3", "gt.s32", true}), 0);
  EXPECT_EQ(branches({"0x80000000", "0x80000004", "1", "lt.u32", true}), 0);
  EXPECT_EQ(branches({"0", "9", "1", "le.s32", true}), 0);
  EXPECT_EQ(branches({"7", "-8", "-3", "ge.s32", true}), 0);
  EXPECT_EQ(branches({"0x7ffffff0", "0x7fffffff", "3", "le.u32", true}), 0);
  EXPECT_GT(branches({"9", "0", "1", "lt.s32", false}), 0) << "one round, but the comparison fails at once";
  EXPECT_GT(branches({"0", "100000", "1", "lt.s32", false}), 0) << "too many";
}

TEST(Unroll, CodeWithBranchesIsCopiedAsAWhole) {
  const std::string gather =
      "and.b32 %r2, %r1, 3; setp.eq.u32 %p1, %r2, 2; @%p1 bra M; ld.global.f32 %f2, [%in+16]; "
      "fma.rn.f32 %f0, %f2, %f1, %f0;\nM: ";
  EXPECT_TRUE(unrolled(gather));
  // A loop that may be left in the middle is no loop of known length.
  EXPECT_FALSE(
      unrolled("ld.global.f32 %f2, [%in+16]; setp.eq.u32 %p1, %r1, 9; @%p1 bra OUT; fma.rn.f32 %f0, "
               "%f2, %f1, %f0;"));
}

}  // namespace
}  // namespace gpusim::isa
