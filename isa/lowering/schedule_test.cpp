// The passes of level `schedule`: what is fused, bound to the launch, unrolled and reordered, and that the
// values stay. Counts are worked out by hand from the programs.
#include <fmt/format.h>

#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

TEST(Fuse, AddressesBecomeOneMultiplyAdd) {
  // %in and %out: tid * 256 + parameter, each one mad.wide that reads the parameter from the constant bank.
  const std::string text = thread_kernel(".reg .b32 %r0;", R"(
    ld.global.u32 %r0, [%in];
    st.global.u32 [%out], %r0;
    ret;)");
  const KernelImage image = scheduled(text);
  ASSERT_EQ(image.ops.size(), 6u);  // tid, two addresses, load, store, exit
  EXPECT_EQ(count_class(image, OpClass::kIntMulWide), 2u);
  EXPECT_EQ(count_class(image, OpClass::kLoadParam), 0u);
  EXPECT_EQ(image.launch_constants.size(), 2u);
  EXPECT_EQ(total_ptx(image), total_ptx(lower_ok(text, level(LoweringLevel::kNone))));
  expect_same_everywhere(text, 64);
}

TEST(WideProducts, AreOneInstructionFromVoltaOn) {
  const std::string text = thread_kernel(".reg .b32 %r<4>; .reg .b64 %rd<8>;", R"(
    ld.global.u32 %r0, [%in];
    mul.wide.u32 %rd0, %r0, %r0;
    mad.wide.s32 %rd1, %r0, %r0, %rd0;
    mul.lo.u64 %rd2, %rd0, %rd1;
    cvt.u32.u64 %r1, %rd2;
    mul.hi.u32 %r2, %r1, %r0;
    mul.lo.u32 %r3, %r2, %r0;
    st.global.u32 [%out], %r3;
    ret;)");
  for (const LoweringLevel at : {LoweringLevel::kNone, LoweringLevel::kClean, LoweringLevel::kSchedule}) {
    const KernelImage volta = lower_ok(text, level(at, 0, 70)), fermi = lower_ok(text, level(at, 0, 20));
    // The products of 64 bits stay what they are; before Volta the wide ones are counted with them.
    EXPECT_EQ(count_class(volta, OpClass::kIntMul64), 1u);
    EXPECT_GE(count_class(fermi, OpClass::kIntMul64), 3u);
    // Those that keep the upper half occupy the multipliers for longer.
    EXPECT_GE(count_class(volta, OpClass::kIntMulWide), 3u);
    EXPECT_EQ(count_class(volta, OpClass::kIntMul), 1u);
    EXPECT_EQ(count_class(fermi, OpClass::kIntMulWide), 0u);
    EXPECT_EQ(count_class(fermi, OpClass::kIntMul), 2u);
  }
  expect_same_everywhere(text, 64);
}

TEST(Fuse, LogicAndComparisons) {
  const std::string text = thread_kernel(".reg .b32 %r<8>; .reg .pred %p<6>;", R"(
    ld.global.u32 %r0, [%in];
    ld.global.u32 %r1, [%in+4];
    ld.global.u32 %r2, [%in+8];
    not.b32 %r3, %r0;
    and.b32 %r4, %r3, %r1;
    xor.b32 %r5, %r2, %r4;
    setp.lt.s32 %p0, %r0, %r1;
    setp.gt.u32 %p1, %r1, %r2;
    and.pred %p2, %p0, %p1;
    not.pred %p3, %p2;
    setp.eq.u32 %p4, %r2, 7;
    or.pred %p5, %p3, %p4;
    selp.u32 %r6, %r5, %r4, %p5;
    @%p3 add.u32 %r6, %r6, 3;
    st.global.u32 [%out], %r5;
    st.global.u32 [%out+4], %r6;
    ret;)");
  const KernelImage image = scheduled(text);
  size_t predicate_logic = 0, combined = 0;
  for (const MicroOp& op : image.ops) {
    if (op.kind == OpKind::kAlu && op.num_src == 0 && op.pred_dst[0] != kNoPredicate) ++predicate_logic;
    if (op.num_src == 2 && op.pred_dst[0] != kNoPredicate && op.pred_src[0] != kNoPredicate) ++combined;
  }
  EXPECT_EQ(predicate_logic, 0u);
  EXPECT_EQ(combined, 2u);
  EXPECT_LT(image.ops.size(), lower_ok(text, level(LoweringLevel::kClean, 0, 75)).ops.size());
  expect_same_everywhere(text, 64);
}

TEST(Fuse, ASourceThatChangesMeanwhileIsNotReadLater) {
  expect_same_everywhere(thread_kernel(".reg .b32 %r<8>; .reg .pred %p<4>;", R"(
    ld.global.u32 %r0, [%in];
    shl.b32 %r1, %r0, 3;
    mov.u32 %r0, 11;
    add.u32 %r2, %r1, %r0;
    setp.lt.u32 %p0, %r2, 400;
    and.b32 %r3, %r2, 12;
    add.u32 %r2, %r2, 77;
    setp.gt.u32 %p1, %r2, 100;
    xor.pred %p2, %p0, %p1;
    or.b32 %r3, %r3, %r2;
    @%p2 add.u32 %r3, %r3, 1;
    st.global.u32 [%out], %r3;
    ret;)"),
                         64);
}

TEST(Fuse, MasksAndTheirComparisonsBecomeTestsOfBits) {
  const auto tests_of = [](std::string_view statements) {
    const std::string text = thread_kernel(".reg .b32 %r<9>; .reg .pred %p<9>;", fmt::format(R"(
    ld.global.u32 %r0, [%in];
    ld.global.u32 %r1, [%in+4];
    {}
    selp.u32 %r3, %r0, 3, %p0;
    @%p1 add.u32 %r3, %r3, 100;
    @!%p2 xor.b32 %r3, %r3, %r1;
    st.global.u32 [%out], %r3;
    ret;)",
                                                                                             statements));
    expect_same_everywhere(text, 64);
    const KernelImage image = scheduled(text);
    std::array<size_t, 3> n{};  // operations that write one predicate, two, and masks that are left
    for (const MicroOp& op : image.ops) {
      if (op.pred_dst[0] != kNoPredicate) ++n[op.pred_dst[1] != kNoPredicate ? 1 : 0];
      if (op.kind == OpKind::kAlu && op.op_class == OpClass::kInt && op.pred_dst[0] == kNoPredicate &&
          op.pred_src[0] == kNoPredicate && op.guard == kNoPredicate && op.num_src == 2)
        ++n[2];
    }
    return n;
  };
  using Counts = std::array<size_t, 3>;
  // Two bits of one byte together, in either sense; a bit of another byte, and the eighth, alone.
  EXPECT_EQ(
      tests_of("and.b32 %r4, %r0, 4; setp.ne.u32 %p0, %r4, 0; and.b32 %r5, %r0, 2; setp.eq.s32 %p1, %r5, 0;"
               "and.b32 %r6, %r0, 1024; setp.eq.u32 %p2, %r6, 1024;"),
      (Counts{1, 1, 0}));
  EXPECT_EQ(
      tests_of("and.b32 %r4, %r0, 128; setp.ne.u32 %p0, %r4, 0; and.b32 %r5, %r0, 64; setp.eq.b32 %p1, %r5, "
               "64; and.b32 %r6, %r1, 32; setp.ne.u32 %p2, %r6, 0;"),
      (Counts{3, 0, 0}));
  // Masks of several bits, and of a register, alone; what is compared with another number stays.
  EXPECT_EQ(
      tests_of("and.b32 %r4, %r0, 12; setp.ne.u32 %p0, %r4, 0; and.b32 %r5, %r0, %r1; setp.eq.b32 %p1, %r5, "
               "0; and.b32 %r6, %r0, 48; setp.eq.u32 %p2, %r6, 16;"),
      (Counts{3, 0, 1}));
  // The word changes between the tests.
  EXPECT_EQ(
      tests_of("and.b32 %r4, %r0, 4; setp.ne.u32 %p0, %r4, 0; add.u32 %r0, %r0, 5; and.b32 %r5, %r0, 2; "
               "setp.eq.s32 %p1, %r5, 0; setp.lt.u32 %p2, %r0, %r1;"),
      (Counts{3, 0, 1}));
  // A test takes the logic on its predicate.
  EXPECT_EQ(
      tests_of("and.b32 %r4, %r0, 4; setp.lt.u32 %p1, %r0, %r1; setp.eq.u32 %p4, %r4, 0; or.pred %p0, %p4, "
               "%p1; setp.gt.u32 %p2, %r1, 9;"),
      (Counts{3, 0, 0}));
}

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

TEST(Schedule, LoadsStartEarlyAndStoresKeepTheirPlace) {
  const std::string text = thread_kernel(".reg .b32 %r<9>;", R"(
    ld.global.u32 %r0, [%in];
    add.u32 %r1, %r0, 5;
    mul.lo.u32 %r2, %r1, %r1;
    ld.global.u32 %r3, [%in+4];
    add.u32 %r4, %r3, %r2;
    st.global.u32 [%out], %r4;
    ld.global.u32 %r5, [%in+8];
    add.u32 %r6, %r5, %r4;
    st.global.u32 [%out+4], %r6;
    ret;)");
  for (const int capability : {13, 20, 75}) {
    const KernelImage image = scheduled(text, capability);
    EXPECT_LT(position(image, "ld.global.u32 %r3, [%in+4]"), position(image, "add.u32 %r1, %r0, 5"));
    // [%in+8] may be [%out]: the load stays behind the store.
    EXPECT_GT(position(image, "ld.global.u32 %r5, [%in+8]"), position(image, "st.global.u32 [%out], %r4"));
  }
  expect_same_everywhere(text, 64);
}

TEST(Schedule, AddressesOfAccessesBehindAStoreAreMadeWhenTheyAreNeeded) {
  // A sum that stands in memory: each load waits for the store before it, and its address is the one before
  // and a stride of 64 bits. Two registers for each address that is made early.
  constexpr int kRounds = 12;
  const auto n = [](int i) { return std::to_string(i); };
  const auto text = [&](const char* output) {
    std::string body =
        "ld.global.u64 %rd20, [%in]; and.b64 %rd20, %rd20, 4; mov.u64 %rd0, %in; mov.u32 %r50, 0;\n";
    for (int i = 0; i < kRounds; ++i)
      body += "add.s64 %rd" + n(i + 1) + ", %rd" + n(i) + ", %rd20; ld.global.u32 %r" + n(i) + ", [%rd" +
              n(i + 1) + "]; add.u32 %r50, %r50, %r" + n(i) + "; " + output + "\n";
    return thread_kernel(
        ".reg .b32 %r<60>; .reg .b64 %rd<30>;",
        body + "st.global.u64 [%out+8], %rd" + n(kRounds) + "; st.global.u32 [%out], %r50; ret;");
  };
  const std::string stores = text("st.global.u32 [%out], %r50;"), sums = text("xor.b32 %r50, %r50, 7;");
  const KernelImage image = scheduled(stores);
  EXPECT_LE(image.registers, 22u);
  // Without stores all loads start at once, and their addresses are made for it.
  EXPECT_LT(position(scheduled(sums), "ld.global.u32 %r11, [%rd12]"),
            position(scheduled(sums), "add.u32 %r50, %r50, %r0"));
  // During the wait for a load, the address of the next one is made, and of no other.
  for (int i = 0; i + 3 < kRounds; ++i)
    EXPECT_GT(position(image, "add.s64 %rd" + n(i + 3) + ", %rd" + n(i + 2) + ", %rd20"),
              position(image, "ld.global.u32 %r" + n(i) + ", [%rd" + n(i + 1) + "]"));
  expect_same_everywhere(stores, 64);
}

TEST(Schedule, WhatOnlyLaterCodeNeedsIsMadeDuringAWait) {
  // The loads come one behind the other, for each address is of the data before. The product is for code
  // behind the fence: it takes its register while the warp waits, which costs no time.
  const KernelImage image = scheduled(thread_kernel(".reg .b32 %r<9>; .reg .b64 %rd<9>;", R"(
    ld.global.u32 %r0, [%in];
    and.b32 %r1, %r0, 4;
    cvt.u64.u32 %rd1, %r1;
    add.s64 %rd2, %in, %rd1;
    ld.global.u32 %r2, [%rd2];
    add.u32 %r3, %r2, 1;
    st.global.u32 [%out], %r3;
    mul.lo.u32 %r4, %tid0, 77;
    membar.cta;
    st.global.u32 [%out+4], %r4;
    ret;)"));
  EXPECT_LT(position(image, "mul.lo.u32 %r4, %tid0, 77"), position(image, "ld.global.u32 %r2, [%rd2]"));
}

TEST(Schedule, NoLoadPassesADivisionWithASubroutine) {
  // ptxas 13 ends its basic block there, for 7.5, 8.0 and 9.0.
  const auto loads_before = [](std::string_view first, std::string_view divides, std::string_view then) {
    const std::string text =
        thread_kernel(".reg .f32 %f<6>; .reg .f64 %d<2>; .reg .b64 %q<2>;",
                      fmt::format("ld.global.f32 %f0, [%in];\n{}\n{};\n{}\nld.global.f32 %f3, [%in+8];\n"
                                  "mul.f32 %f4, %f1, %f3;\nst.global.f32 [%out], %f4;\nret;",
                                  first, divides, then));
    expect_same_everywhere(text, 64);
    std::string before;
    for (const int capability : {70, 75, 80, 90}) {
      const KernelImage image = scheduled(text, capability);
      before += position(image, "ld.global.f32 %f3, [%in+8]") < position(image, divides) ? 'y' : 'n';
    }
    return before;
  };
  EXPECT_EQ(loads_before("", "div.full.f32 %f1, %f0, 0f40400000", ""), "yyyy");
  EXPECT_EQ(loads_before("", "sqrt.approx.f32 %f1, %f0", ""), "yyyy");
  EXPECT_EQ(loads_before("", "div.rn.f32 %f1, %f0, 0f40400000", ""), "nnnn");
  EXPECT_EQ(loads_before("", "rcp.rn.f32 %f1, %f0", ""), "nnnn");
  EXPECT_EQ(loads_before("", "sqrt.rn.f32 %f1, %f0", ""), "nnnn");
  const std::string_view widen = "cvt.f64.f32 %d0, %f0;", narrow = "cvt.rn.f32.f64 %f1, %d1;";
  EXPECT_EQ(loads_before(widen, "sqrt.rn.f64 %d1, %d0", narrow), "nnnn");
  EXPECT_EQ(loads_before(widen, "div.rn.f64 %d1, %d0, 0d4008000000000000", narrow), "nnnn");
  EXPECT_EQ(loads_before(widen, "rcp.approx.ftz.f64 %d1, %d0", narrow), "yyyy");
  EXPECT_EQ(loads_before("cvt.rzi.s64.f32 %q0, %f0;", "div.s64 %q1, %q0, 10", "cvt.rn.f32.s64 %f1, %q1;"),
            "nnnn");
}

TEST(Schedule, WhatStandsBeforeADivisionMayComeBehindIt) {
  // ptxas starts the reciprocal of %f1 before the comparison and the sum, and the second load after them all.
  const std::string text = thread_kernel(
      ".reg .f32 %f<6>; .reg .b32 %r<4>; .reg .pred %p;",
      "ld.global.f32 %f0, [%in];\nadd.f32 %f1, %f0, 0f3F800000;\nsetp.lt.f32 %p, %f1, 0f00000000;\n"
      "selp.u32 %r1, 1, 2, %p;\ndiv.rn.f32 %f2, 0f40400000, %f1;\nld.global.f32 %f3, [%in+8];\n"
      "mul.f32 %f4, %f2, %f3;\ncvt.rn.f32.u32 %f5, %r1;\nadd.f32 %f4, %f4, %f5;\nst.global.f32 [%out], "
      "%f4;\nret;");
  expect_same_everywhere(text, 64);
  for (const int capability : {70, 80, 90}) {
    const KernelImage image = scheduled(text, capability);
    const size_t division = position(image, "div.rn.f32 %f2, 0f40400000, %f1");
    EXPECT_LT(division, position(image, "selp.u32 %r1, 1, 2, %p")) << capability;
    EXPECT_LT(division, position(image, "ld.global.f32 %f3, [%in+8]")) << capability;
  }
}

TEST(Schedule, TwoSumsThatAreOneInstructionTakeTheTimeOfOne) {
  // The bits of a word, added one by one: shifts and masks are taken forward to fill the latency of a sum of
  // three, not that of two sums. ptxas takes 13 registers.
  std::string body = "ld.global.u32 %r0, [%in];\nand.b32 %s0, %r0, 1;\n";
  for (int i = 1; i < 32; ++i)
    body += fmt::format("shr.u32 %h{0}, %r0, {0};\nand.b32 %m{0}, %h{0}, 1;\nadd.u32 %s{0}, %m{0}, %s{1};\n",
                        i, i - 1);
  const std::string text =
      thread_kernel(".reg .b32 %r0, %s<32>, %h<32>, %m<32>;", body + "st.global.u32 [%out], %s31;\nret;");
  EXPECT_LE(scheduled(text).registers, 20u);
  expect_same_everywhere(text, 64);
}

TEST(Schedule, NothingPassesAClockOrAVolatileAccess) {
  const std::string text = thread_kernel(".reg .b32 %r<9>; .shared .align 4 .b8 s[256];", R"(
    ld.global.u32 %r0, [%in];
    mov.u32 %r1, %clock;
    add.u32 %r2, %r0, 1;
    mul.lo.u32 %r2, %r2, %r2;
    mov.u32 %r3, %clock;
    ld.volatile.global.u32 %r4, [%in+4];
    ld.global.u32 %r5, [%in+8];
    ld.volatile.global.u32 %r6, [%in+12];
    bar.sync 0;
    ld.global.u32 %r7, [%in+16];
    add.u32 %r4, %r4, %r5;
    add.u32 %r4, %r4, %r6;
    add.u32 %r4, %r4, %r7;
    add.u32 %r4, %r4, %r2;
    sub.u32 %r3, %r3, %r1;
    st.global.u32 [%out], %r4;
    st.global.u32 [%out+4], %r3;
    ret;)");
  const KernelImage image = scheduled(text);
  const size_t first = position(image, "mov.u32 %r1, %clock"),
               second = position(image, "mov.u32 %r3, %clock");
  EXPECT_LT(position(image, "ld.global.u32 %r0, [%in]"), first);
  EXPECT_LT(first, position(image, "add.u32 %r2, %r0, 1"));
  EXPECT_LT(position(image, "mul.lo.u32 %r2, %r2, %r2"), second);
  EXPECT_LT(second, position(image, "ld.volatile.global.u32 %r4, [%in+4]"));
  EXPECT_LT(position(image, "ld.volatile.global.u32 %r4, [%in+4]"),
            position(image, "ld.global.u32 %r5, [%in+8]"));
  EXPECT_LT(position(image, "ld.global.u32 %r5, [%in+8]"),
            position(image, "ld.volatile.global.u32 %r6, [%in+12]"));
  EXPECT_LT(position(image, "bar.sync 0"), position(image, "ld.global.u32 %r7, [%in+16]"));
}

TEST(MachineCount, OperationsOfSeveralInstructionsTakeAsManyIssueSlots) {
  const auto further = [](const std::string& statement, int capability) {
    const KernelImage image =
        scheduled(thread_kernel(".reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .f32 %f<4>;",
                                R"(
      ld.global.u32 %r0, [%in]; ld.global.u64 %rd0, [%in+8]; ld.global.u64 %rd1, [%in+16]; ld.global.f32 %f0, [%in+24];
      )" + statement +
                                    "st.global.u32 [%out], %r2; st.global.u64 [%out+8], %rd2; st.global.f32 "
                                    "[%out+16], %f2; ret;"),
                  capability);
    return uint32_t{image.ops[position(image, statement.substr(0, statement.size() - 2))].further_slots};
  };
  EXPECT_EQ(further("add.u32 %r2, %r0, 5; ", 75), 0u);
  EXPECT_EQ(further("mul.hi.u64 %rd2, %rd0, %rd1; ", 75), 6u);
  EXPECT_EQ(further("div.rn.f32 %f2, %f0, 0f40400000; ", 75),
            10u);                                               // without the way to the subroutine and back
  EXPECT_GT(further("div.u64 %rd2, %rd0, %rd1; ", 75), 60u);    // with the subroutine
  EXPECT_EQ(further("mul.hi.u64 %rd2, %rd0, %rd1; ", 35), 0u);  // known from 7.0 on
}

TEST(MachineCount, WideSumsAreTwoAndDivisionsSequences) {
  const auto instructions = [](const std::string& statement) {
    const std::string text = thread_kernel(".reg .b32 %r<4>; .reg .b64 %rd<4>;", R"(
      ld.global.u32 %r0, [%in]; ld.global.u32 %r1, [%in+4]; ld.global.u64 %rd0, [%in+8]; ld.global.u64 %rd1, [%in+16];
      )" + statement + "st.global.u32 [%out], %r2; st.global.u64 [%out+8], %rd2; ret;");
    return scheduled(text).machine_instructions();
  };
  const uint32_t plain = instructions("add.u32 %r2, %r0, %r1; xor.b64 %rd2, %rd0, %rd1;");
  EXPECT_EQ(instructions("xor.b32 %r2, %r0, %r1; add.u64 %rd2, %rd0, %rd1;"), plain);
  EXPECT_EQ(instructions("div.u32 %r2, %r0, %r1; xor.b64 %rd2, %rd0, %rd1;"), plain + 17);
  // Of two remainders by one divisor, the second takes its reciprocal from the first.
  EXPECT_EQ(instructions("rem.u32 %r2, %r0, %r1; rem.u32 %r3, %r2, %r1; xor.b32 %r2, %r2, %r3; "
                         "xor.b64 %rd2, %rd0, %rd1;"),
            plain + 16 + 9 + 1);
  // Where a constant clears or keeps a half, that half costs nothing.
  EXPECT_EQ(instructions("add.u32 %r2, %r0, %r1; and.b64 %rd2, %rd0, 0xffffffff;"), plain - 2);
  EXPECT_EQ(instructions("add.u32 %r2, %r0, %r1; or.b64 %rd2, %rd0, 0x100000000;"), plain - 1);
  EXPECT_EQ(instructions("add.u32 %r2, %r0, %r1; shr.u64 %rd2, %rd0, 32;"), plain - 2);
  EXPECT_EQ(instructions("add.u32 %r2, %r0, %r1; shr.u64 %rd2, %rd0, 40;"), plain - 1);
  // ptxas 13.0 for sm_75: a kernel that only adds two loaded words and stores the sum has 7 instructions.
  EXPECT_EQ(
      scheduled(".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
                ".reg .b64 %a; .reg .b32 %r<3>; ld.param.u64 %a, [p]; ld.global.u32 %r0, [%a]; "
                "ld.global.u32 %r1, [%a+8]; add.u32 %r2, %r0, %r1; st.global.u32 [%a+64], %r2; ret; }\n")
          .machine_instructions(),
      8u);  // the address comes as one pair: two moves
}

TEST(MachineCount, AFunctionIsThereOnceHoweverOftenItIsCalled) {
  const auto instructions = [](int calls) {
    std::string text =
        ".version 9.0\n.target sm_75\n.address_size 64\n"
        ".func (.param .b32 r) f(.param .b32 a) { .reg .f32 %f; ld.param.f32 %f, [a];\n";
    for (int i = 0; i < 50; ++i) text += "fma.rn.f32 %f, %f, %f, 0f3F800000;\n";
    text +=
        "st.param.f32 [r], %f; ret; }\n.visible .entry k(.param .u64 p) { .reg .b64 %a; .reg .f32 %f;\n"
        "ld.param.u64 %a, [p]; ld.global.f32 %f, [%a];\n";
    for (int i = 0; i < calls; ++i) {
      text +=
          "{ .param .b32 x; .param .b32 y; st.param.f32 [x], %f; call (y), f, (x); "
          "ld.param.f32 %f, [y]; }\n";
    }
    return scheduled(text + "st.global.f32 [%a], %f; ret; }\n").machine_instructions();
  };
  EXPECT_GT(instructions(1), 50u);
  EXPECT_LT(instructions(4), instructions(1) + 20);
}

}  // namespace
}  // namespace gpusim::isa
