// Loops with a known number of iterations, and what may stand in them. The numbers are those of ptxas 13.0.
#include <fmt/format.h>

#include <random>

#include "isa/lowering/unroll_cost.h"
#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

KernelImage unrolled_for(const std::string& text, int capability = 75) {
  return lower_ok(text, level(LoweringLevel::kSchedule, 0, capability));
}

size_t operations_of(const KernelImage& image, std::string_view statement) {
  return static_cast<size_t>(std::ranges::count_if(image.ops, [&](const MicroOp& op) {
    return op.op_class != OpClass::kBranch && op.kind != OpKind::kNop &&
           image.ptx[op.ptx_index].text.starts_with(statement);
  }));
}
size_t branches_of(const KernelImage& image) {
  return static_cast<size_t>(std::ranges::count(image.ops, OpKind::kBranch, &MicroOp::kind));
}

std::string products(int n) {
  std::string text;
  for (int i = 0; i < n; ++i) text += "fma.rn.f32 %f0, %f0, %f1, %f2; ";
  return text;
}

/// Iterations with `body` while %r1 is less than `end`.
std::string rounds_of(std::string_view body, std::string_view end) {
  return thread_kernel(".reg .f32 %f<40>; .reg .b32 %r<8>; .reg .pred %p<3>; .shared .align 16 .b8 s[8192];",
                       fmt::format(R"(
    ld.global.f32 %f0, [%in]; ld.global.f32 %f1, [%in+4]; ld.global.f32 %f2, [%in+8];
    mov.u32 %r1, 0; mov.u32 %r4, 0; mov.u32 %r5, s; mad.lo.u32 %r5, %tid0, 128, %r5; mov.u32 %r6, %ntid.x;
  LOOP:
    {}
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p0, %r1, {};
    @%p0 bra LOOP;
  OUT:
    st.global.f32 [%out], %f0; st.global.u32 [%out+4], %r4; st.global.u32 [%out+8], %r1;
    ret;)",
                                   body, end));
}

TEST(Unroll, ManyKnownIterationsBecomeALoopOfSeveral) {
  using lir::iterations_together;
  EXPECT_EQ(iterations_together(14, 40), 7u) << "two rounds of seven";
  EXPECT_EQ(iterations_together(15, 40), 7u) << "and one";
  EXPECT_EQ(iterations_together(17, 40), 5u) << "six leave five, seven three: too much code";
  EXPECT_EQ(iterations_together(25, 40), 6u);
  EXPECT_EQ(iterations_together(100, 40), 5u);
  EXPECT_EQ(iterations_together(64, 20), 16u);
  EXPECT_EQ(iterations_together(9, 72), 3u);
  EXPECT_EQ(iterations_together(9, 73), 1u) << "too large an iteration";
  for (const int trips : {14, 15, 17, 18, 25, 97}) {
    const std::string text = rounds_of(products(40), std::to_string(trips));
    expect_same_everywhere(text, 3);
    const auto trip_count = static_cast<uint32_t>(trips);
    const uint32_t together = iterations_together(trip_count, 40);
    const KernelImage image = unrolled_for(text);
    EXPECT_EQ(operations_of(image, "fma"), 40 * (together + trip_count % together)) << trips;
    EXPECT_EQ(branches_of(image), 1u) << trips;
  }
  // A branch inside, and it stays.
  const std::string branch =
      "setp.gt.f32 %p1, %f0, %f2; @%p1 bra NEXT; st.global.f32 [%out+12], %f0;\nNEXT: ";
  EXPECT_EQ(operations_of(unrolled_for(rounds_of(branch + products(40), "100")), "fma"), 40u);
}

TEST(Unroll, AKnownNumberOfIterationsIsNeverTakenFourAtATime) {
  // Loads from shared memory give a loop of an unknown number of iterations room for 80 operations.
  std::string loads;
  for (int i = 0; i < 16; ++i)
    loads += fmt::format("ld.shared.f32 %f3, [%r5+{}]; fma.rn.f32 %f0, %f3, %f1, %f0; ", 8 * i + 4);
  const std::string body = loads + products(30);
  expect_same_everywhere(rounds_of(body, "%r6"), 3);
  EXPECT_EQ(operations_of(unrolled_for(rounds_of(body, "%r6")), "fma"), 7 * 46u);
  EXPECT_EQ(operations_of(unrolled_for(rounds_of(body, "100")), "fma"), 46u);
  const std::string branch =
      "setp.gt.f32 %p1, %f0, %f2; @%p1 bra NEXT; st.global.f32 [%out+12], %f0;\nNEXT: ";
  EXPECT_EQ(operations_of(unrolled_for(rounds_of(branch + products(20), "100")), "fma"), 20u);
}

TEST(Unroll, AStartIsKnownInTheBlockBeforeTheLoop) {
  const auto kernel = [](std::string_view first, std::string_view before_loop) {
    return thread_kernel(".reg .f32 %f<4>; .reg .b32 %r<4>; .reg .pred %p<3>;",
                         fmt::format(R"(
    ld.global.f32 %f0, [%in]; ld.global.f32 %f1, [%in+4]; ld.global.f32 %f2, [%in+8];
    {}
    setp.gt.u32 %p1, %tid0, 29;
    @%p1 bra OUT;
    {}
  LOOP:
    {}
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p0, %r1, 9;
    @%p0 bra LOOP;
  OUT:
    st.global.f32 [%out], %f0;
    ret;)",
                                     first, before_loop, products(2)));
  };
  constexpr std::string_view start = "mov.u32 %r1, 0;", store = "st.global.f32 [%out+4], %f1;";
  const auto copies = [](const std::string& text) {
    expect_same_everywhere(text, 32);
    return operations_of(unrolled_for(text), "fma") / 2;
  };
  EXPECT_EQ(copies(kernel(start, "")), 9u) << "nothing stands in between";
  EXPECT_EQ(copies(kernel("", start)), 9u);
  EXPECT_EQ(copies(kernel("", std::string(store) + std::string(start))), 9u);
  EXPECT_EQ(copies(kernel(start, store)), 7u) << "four, two, one";
}

TEST(Unroll, KernelsWithSeveralLoopsLeaveLessOfEach) {
  // Iterations of which less goes than stays.
  const auto sums = [](int trips, bool another) {
    std::string body = "shl.b32 %r3, %r1, 6; ";
    for (int i = 0; i < 16; ++i)
      body += fmt::format("ld.shared.f32 %f3, [%r3+{}]; add.f32 %f0, %f0, %f3; ", 4 * i);
    std::string text = rounds_of(body, std::to_string(trips));
    if (another) {
      constexpr std::string_view start = "    mov.u32 %r1, 0; mov.u32 %r4, 0;";
      text.insert(
          text.find(start),
          "    mov.u32 %r2, 0;\n  FIRST:\n    xor.b32 %r2, %r2, %tid0; add.u32 %r2, %r2, 9;\n    setp.lt.u32 "
          "%p1, %r2, %tid0;\n    @%p1 bra FIRST;\n    st.global.u32 [%out+12], %r2;\n");
    }
    return text;
  };
  const auto copies = [](const std::string& text) {
    return operations_of(unrolled_for(text), "add.f32") / 16;
  };
  expect_same_everywhere(sums(20, true), 3);
  EXPECT_EQ(copies(sums(200, true)), 200u);
  EXPECT_EQ(copies(sums(300, false)), 300u);
  EXPECT_LT(copies(sums(300, true)), 20u) << "ptxas: up to 241";
}

/// In each of four iterations %p1 decides anew whether a piece of code counts.
std::string counted_under_a_predicate(std::string_view piece) {
  return thread_kernel(".reg .b32 %r<6>; .reg .pred %p<6>;", fmt::format(R"(
    mov.u32 %r1, 0; mov.u32 %r2, 0; and.b32 %r3, %tid0, 3;
    setp.lt.s32 %p2, %tid0, 1; setp.le.s32 %p1, %r3, 0; setp.gt.u32 %p3, %tid0, 70; setp.lt.u32 %p5, %r3, 2;
  LOOP:
    {}
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p4, %r1, 4;
    @%p4 bra LOOP;
    selp.u32 %r4, 2, %r2, %p5;
    st.global.u32 [%out], %r2; st.global.u32 [%out+4], %r4;
    ret;)",
                                                                         piece));
}

TEST(Unroll, CountsUnderAPredicateStayUnderIt) {
  for (const std::string_view piece :
       {// joined with the comparison before it
        "@!%p1 bra OVER; or.pred %p5, %p2, %p1; OVER: setp.le.u32 %p2, %r1, 3;",
        // goes, and its predicate is not wanted for anything else
        "@%p1 bra OVER; mov.u32 %r2, 2; OVER: mov.u32 %r2, %r1; and.pred %p1, %p3, %p2;",
        // goes, while what comes next under the predicate is under another value of it
        "@%p1 bra OVER; mov.u32 %r2, 2; OVER: mov.u32 %r2, %r1; setp.gt.u32 %p1, %r3, %r1; @%p1 bra NEXT; "
        "add.u32 %r2, %r2, 7; NEXT:"})
    expect_same_everywhere(counted_under_a_predicate(piece), 64);
}

TEST(Unroll, KnownLoopsMayBeEnteredAtTheirTest) {
  // Three products before the test, and two behind it, which the last iteration leaves out.
  const auto loop = [](std::string_view step_before, std::string_view step_behind, int end) {
    return thread_kernel(".reg .f32 %f<4>; .reg .b32 %r<4>; .reg .pred %p<2>;",
                         fmt::format(R"(
    ld.global.f32 %f0, [%in]; ld.global.f32 %f1, [%in+4]; ld.global.f32 %f2, [%in+8]; mov.u32 %r1, 0;
    bra.uni TEST;
  AGAIN:
    fma.rn.f32 %f0, %f0, %f1, %f2; fma.rn.f32 %f0, %f0, %f1, %f2; {}
  TEST:
    {} fma.rn.f32 %f0, %f0, %f1, %f2; fma.rn.f32 %f0, %f0, %f1, %f2; fma.rn.f32 %f0, %f0, %f1, %f2;
    setp.eq.s32 %p0, %r1, {};
    @%p0 bra END;
    bra.uni AGAIN;
  END:
    st.global.f32 [%out], %f0; st.global.u32 [%out+4], %r1;
    ret;)",
                                     step_behind, step_before, end));
  };
  const std::string step = "add.s32 %r1, %r1, 2; ";
  for (const std::string& text : {loop("", step, 6), loop(step, "", 8)}) {
    expect_same_everywhere(text, 3);
    const KernelImage image = unrolled_for(text);
    EXPECT_EQ(operations_of(image, "fma"), 4u * 3 + 3 * 2);
    EXPECT_EQ(branches_of(image), 0u);
  }
  for (const std::string& text : {loop("", step, 6000), loop(step, "", 6002)}) {
    expect_same_everywhere(text, 3);
    // 3000 iterations of five products behind the first three, 60 at a time.
    EXPECT_EQ(operations_of(unrolled_for(text), "fma"), 3u + 60 * 5);
  }
}

TEST(Unroll, KnownLoopsMayHaveOtherExits) {
  const std::string leaves = "setp.gt.f32 %p1, %f0, %f2; @%p1 bra OUT; " + products(3);
  const std::string known = rounds_of(leaves, "6"), unknown = rounds_of(leaves, "%r6");
  expect_same_everywhere(known, 33);
  EXPECT_EQ(operations_of(unrolled_for(known), "fma"), 18u);
  expect_same_everywhere(unknown, 33);
  EXPECT_EQ(operations_of(unrolled_for(unknown), "fma"), 3u);
}

TEST(Unroll, TablesOfBranchesLeadIntoNoLoop) {
  // The table leads into the loop from in front of it, and from within.
  for (const std::string_view before : {"bra.uni L;", ""}) {
    const std::string text = thread_kernel(".reg .b32 %r<5>; .reg .pred %p<2>;", fmt::format(R"(
    mov.u32 %r2, 0; mov.u32 %r3, 0; and.b32 %r1, %tid0, 1;
    {}
  JUMP:
  targets: .branchtargets A, B;
    brx.idx %r1, targets;
  L:
    add.u32 %r2, %r2, 5;
  A:
    add.u32 %r2, %r2, 1;
  B:
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p0, %r3, 4;
    @%p0 bra L;
    setp.lt.u32 %p1, %r3, 6;
    @%p1 bra JUMP;
    st.global.u32 [%out], %r2;
    ret;)",
                                                                                             before));
    expect_same_everywhere(text, 4);
  }
}

TEST(Unroll, NestedLoopsBecomeCodeFromTheInside) {
  const auto nest = [](int inner, std::string_view outer) {
    return rounds_of(fmt::format("mov.u32 %r2, 0;\nIN: {} add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, {}; "
                                 "@%p1 bra IN; mul.f32 %f1, %f1, %f0;",
                                 products(4), inner),
                     outer);
  };
  for (const int inner : {4, 8}) {
    expect_same_everywhere(nest(inner, "16"), 3);
    EXPECT_EQ(operations_of(unrolled_for(nest(inner, "16")), "fma"), size_t(4 * inner * 16));
  }
  expect_same_everywhere(nest(2, "%r6"), 5);
  EXPECT_EQ(operations_of(unrolled_for(nest(2, "%r6")), "fma"), 8u * 7) << "four, two, one";
  EXPECT_EQ(operations_of(unrolled_for(nest(4, "%r6")), "fma"), 16u)
      << "the counter of the inner loop still counts";
}

TEST(Unroll, WhatLanesDoTogetherStandsInLoopsThatCountToAParameter) {
  const auto to_parameter = [](std::string_view body) {
    std::string text = rounds_of(body, "%r7");
    return text.insert(text.find("ld.global.f32 %f0"), "ld.param.u32 %r7, [pin]; ");
  };
  const std::string barrier = "bar.sync 0; " + products(4);
  const std::string shuffle = "shfl.sync.bfly.b32 %r4, %r4, 1, 31, -1; " + products(4);
  EXPECT_EQ(operations_of(unrolled_for(to_parameter(barrier)), "bar"), 7u) << "four, two, one";
  EXPECT_EQ(operations_of(unrolled_for(to_parameter(shuffle)), "shfl"), 1u);
  EXPECT_EQ(operations_of(unrolled_for(to_parameter(shuffle), 90), "shfl"), 7u);
  // %r6 is the block's size.
  EXPECT_EQ(operations_of(unrolled_for(rounds_of(barrier, "%r6")), "bar"), 1u);
  EXPECT_EQ(operations_of(unrolled_for(rounds_of(shuffle, "%r6"), 90), "shfl"), 1u);
  EXPECT_EQ(operations_of(unrolled_for(rounds_of("atom.shared.add.u32 %r4, [%r5], 1; ", "%r6")), "atom"), 1u);
  std::string down = rounds_of(barrier, "0");  // from any number that all lanes have
  down.insert(down.find("  LOOP:"), "mov.u32 %r1, %r6; ");
  down.replace(down.find("setp.lt.u32 %p0"), 11, "setp.ne.u32");
  down.replace(down.find("add.u32 %r1, %r1, 1"), 19, "add.u32 %r1, %r1, -1");
  EXPECT_EQ(operations_of(unrolled_for(down), "bar"), 7u);
  expect_same_everywhere(down, 33);
  for (const std::string& body : {barrier, shuffle}) {
    expect_same_everywhere(rounds_of(body, "%r6"), 32);
    expect_same_everywhere(rounds_of(body, "9"), 32);
    EXPECT_EQ(branches_of(unrolled_for(rounds_of(body, "9"), 90)), 0u) << "a known number";
  }
  const std::string guarded =
      "setp.gt.f32 %p1, %f0, %f2; @%p1 bra NEXT; st.shared.f32 [%r5], %f0;\nNEXT: bar.sync 0; ";
  EXPECT_EQ(operations_of(unrolled_for(to_parameter(guarded)), "bar"), 1u);
  // Lanes that jump over it.
  std::string jumped = to_parameter(barrier);
  jumped.insert(jumped.find("  LOOP:"), "setp.gt.u32 %p1, %tid0, 5; @%p1 bra OUT;\n");
  EXPECT_EQ(operations_of(unrolled_for(jumped), "bar"), 1u);
  EXPECT_EQ(operations_of(unrolled_for(rounds_of("membar.gl; " + products(4), "9")), "membar"), 1u);
}

/// Iterations by the thread's number up to %r6, of words that the thread adds to %f0.
std::string strided(std::string_view body) {
  return thread_kernel(".reg .f32 %f<8>; .reg .b32 %r<8>; .reg .b64 %a<4>; .reg .pred %p<4>;",
                       fmt::format(R"(
    mov.f32 %f0, 0f00000000; mov.u32 %r1, %tid0; mov.u32 %r6, %ntid.x; ld.global.u32 %r7, [%in];
    mov.u64 %a0, %in; mov.u64 %a1, %out;
  LOOP:
    {}
  NEXT:
    add.u64 %a0, %a0, 4; add.u64 %a1, %a1, 4; add.u32 %r1, %r1, 16;
    setp.lt.u32 %p0, %r1, %r6;
    @%p0 bra LOOP;
    st.global.f32 [%out+128], %f0; ret;)",
                                   body));
}

TEST(Unroll, ALoopOfAnUnknownNumberHasNoNestedBranches) {
  // By ptxas 13: two conditions beside each other become predicates, and the loop has four iterations.
  const std::string beside =
      "setp.ge.u32 %p1, %r1, %r7; @%p1 bra A; ld.global.f32 %f1, [%a0]; add.f32 %f0, %f0, %f1;\nA: "
      "mul.lo.u32 %r2, %r1, 3; setp.ge.u32 %p2, %r2, %r7; @%p2 bra B; ld.global.f32 %f2, [%a0+64]; "
      "mul.f32 %f0, %f0, %f2;\nB:";
  const std::string nested =
      "setp.ge.u32 %p1, %r1, %r7; @%p1 bra NEXT; ld.global.f32 %f1, [%a0]; add.f32 %f0, %f0, %f1; "
      "mul.lo.u32 %r2, %r1, 3; setp.ge.u32 %p2, %r2, %r7; @%p2 bra NEXT; ld.global.f32 %f2, [%a0+64]; "
      "mul.f32 %f0, %f0, %f2;";
  EXPECT_EQ(operations_of(unrolled_for(strided(beside)), "mul.f32"), 7u) << "four, two, one";
  EXPECT_EQ(operations_of(unrolled_for(strided(nested)), "mul.f32"), 1u);
  expect_same_everywhere(strided(beside), 40);
  expect_same_everywhere(strided(nested), 40);
}

TEST(Unroll, WhatWasReadIsNotStoredUnderAConditionBesideOtherIterations) {
  const std::string copy = "ld.global.f32 %f1, [%a0]; ", test = "setp.ge.u32 %p1, %r1, %r7; @%p1 bra NEXT; ",
                    store = "st.global.f32 [%a1], %f1;";
  const auto stores = [](const std::string& body) {
    return operations_of(unrolled_for(strided(body)), "st.global.f32 [%a1]");
  };
  EXPECT_EQ(stores(copy + store), 7u);
  EXPECT_EQ(stores(copy + test + store), 1u);
  EXPECT_EQ(stores("mov.f32 %f1, 0f3f800000; " + test + store), 7u) << "a number";
}

/// Loops of all kinds, one inside another: `next` draws what they are.
class RandomLoops {
 public:
  explicit RandomLoops(uint32_t seed) : draw_(seed) {}

  std::string text() {
    std::string body;
    for (int i = 0; i < 2; ++i) body += loop(0);
    return thread_kernel(
        ".reg .f32 %f<4>; .reg .b32 %r<4>, %c<8>, %n, %s, %t; .reg .b64 %a<8>; .reg .pred %p<3>; .shared "
        ".align 16 .b8 "
        "s[16384];",
        "ld.global.f32 %f0, [%in]; ld.global.f32 %f1, [%in+4]; mov.f32 %f2, 0f3f000000; mov.u32 %r0, %tid0; "
        "mov.u32 %r1, 1; mov.u32 %n, %ntid.x; mov.u32 %s, s; mad.lo.u32 %s, %tid0, 512, %s; mov.u32 %t, "
        "0;\n" +
            body +
            "st.global.f32 [%out], %f0; st.global.u32 [%out+4], %r0; st.global.u32 [%out+8], %r1; "
            "st.global.u32 [%out+12], %t; ret;");
  }

 private:
  uint32_t below(uint32_t n) { return draw_() % n; }
  std::string statement(const std::string& c, const std::string& a) {
    switch (below(9)) {
      case 0:
        return fmt::format("mad.lo.u32 %r0, %r0, 3, {};\n", c);
      case 1:
        return fmt::format("st.shared.u32 [{0}], %r0; ld.shared.u32 %r1, [{0}+4];\n", a);
      case 2:
        return fmt::format("setp.gt.u32 %p1, {}, %r1; @%p1 add.u32 %r1, %r1, 7;\n", c);
      case 3: {
        const int label = labels_++;
        return fmt::format(
            "and.b32 %r2, {}, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra S{}; xor.b32 %r0, %r0, %r1;\nS{}:\n", c,
            label, label);
      }
      case 4:
        return fmt::format("add.u32 %t, %t, {};\n", c);
      case 5:
        return "shr.u32 %r2, %r0, 3; add.u32 %r1, %r1, %r2;\n";
      default:
        return "fma.rn.f32 %f0, %f0, %f2, %f1;\n";
    }
  }
  std::string loop(uint32_t depth) {
    const int number = labels_++;
    const std::string c = fmt::format("%c{}", depth), a = fmt::format("%c{}", depth + 4);
    const int step = static_cast<int>(below(3)) + 1;
    const uint32_t trips = below(3) == 0 ? below(60) + 1 : below(9) + 1;
    const bool known = below(4) != 0, in_middle = known && below(3) == 0;
    std::string text = fmt::format("mov.u32 {}, {}; mov.u32 {}, %s;\n", c, below(5), a), before, behind;
    const uint32_t length = below(6) + 1;
    for (uint32_t i = 0; i < length; ++i) (below(2) == 0 ? before : behind) += statement(c, a);
    if (depth < 2 && below(3) == 0) behind += loop(depth + 1);
    if (below(5) == 0) behind += fmt::format("setp.gt.u32 %p1, %r1, 400; @%p1 bra E{};\n", number);
    const std::string steps = fmt::format("add.u32 {0}, {0}, {1}; add.u32 {2}, {2}, 4;\n", c, step, a);
    const std::string end = known ? std::to_string(4 + trips * static_cast<uint32_t>(step)) : "%n";
    if (in_middle)
      text += fmt::format(
          "bra.uni T{0};\nL{0}:\n{1}{2}T{0}:\n{3}setp.ge.u32 %p0, {4}, {5}; @%p0 bra E{0}; bra.uni "
          "L{0};\nE{0}:\n",
          number, behind, steps, before, c, end);
    else
      text += fmt::format("L{0}:\n{1}{2}{3}setp.lt.u32 %p0, {4}, {5}; @%p0 bra L{0};\nE{0}:\n", number,
                          before, behind, steps, c, end);
    return text;
  }

  std::mt19937 draw_;
  int labels_ = 0;
};

TEST(Unroll, RandomLoopsGiveTheSameValues) {
  for (uint32_t seed = 1; seed <= 150; ++seed) {
    expect_same_everywhere(RandomLoops(seed).text(), 5);
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST(Unroll, SharedMemoryAtANumberIsAtNoNumberInACluster) {
  // Four iterations of 40 FMA and 32 loads of shared memory at numbers: ptxas unrolls them on 7.5 and 8.0
  // only. Fifteen of the loads' words are merged with others; each load counts.
  std::string loads;
  for (int i = 0; i < 32; ++i) loads += fmt::format("ld.shared.f32 %f{}, [%r7+{}];\n", 3 + i, 4 * i);
  std::string fmas;
  for (int i = 0; i < 40; ++i)
    fmas += fmt::format("fma.rn.f32 %f0, %f0, %f{}, %f{};\n", 3 + i % 32, 3 + (i + 1) % 32);
  const auto with = [&](int n, const std::string& products) {
    std::string some;
    for (size_t i = 0, line = 0; line < static_cast<size_t>(n); ++line) {
      const size_t end = loads.find('\n', i) + 1;
      some += loads.substr(i, end - i);
      i = end;
    }
    return rounds_of("shl.b32 %r2, %r1, 7; mov.u32 %r3, s; add.u32 %r7, %r2, %r3;\n" + some + products, "4");
  };
  const std::string many = with(32, fmas);
  EXPECT_EQ(branches_of(unrolled_for(many, 75)), 0u);
  EXPECT_EQ(branches_of(unrolled_for(many, 80)), 0u);
  EXPECT_EQ(branches_of(unrolled_for(many, 90)), 1u);
  EXPECT_EQ(branches_of(unrolled_for(with(8, fmas), 90)), 0u) << "8 loads of 2 and 40 FMA are 56, of 97";
}

TEST(Unroll, ConstantMemoryAtANumberIsAnOperand) {
  // What its addresses need goes, as for shared memory, on 9.0 too: of 2, 4 and 8 loads and 8 to 60 FMA in up
  // to 100 iterations ptxas 13 makes code.
  const auto with = [](int loads, int fmas, int trips) {
    std::string body;
    for (int i = 0; i < loads; ++i)
      body += fmt::format("ld.const.f32 %x, [%c+{}]; fma.rn.f32 %s, %s, %x, %s;\n", 4 * i);
    for (int i = 0; i < fmas; ++i) body += "fma.rn.f32 %s, %s, %s, %s;\n";
    return thread_kernel(
        ".reg .f32 %s, %x; .reg .b32 %i; .reg .b64 %c; .reg .pred %p;",
        fmt::format(
            "cvt.rn.f32.u32 %s, %tid0; mov.u64 %c, cc; mov.u32 %i, 0;\nL: {}add.u32 %i, %i, 1; add.u64 "
            "%c, %c, {}; setp.ne.u32 %p, %i, {}; @%p bra L; st.global.f32 [%out], %s; ret;",
            body, 4 * loads, trips),
        "sm_75", ".const .align 4 .b8 cc[16384];\n");
  };
  for (const int capability : {75, 90}) {
    LoweringOptions options = level(LoweringLevel::kSchedule, 0, capability);
    options.address_of = [](const Variable&) { return uint64_t{0x10000}; };
    EXPECT_EQ(branches_of(lower_ok(with(2, 24, 48), options)), 0u);
    EXPECT_EQ(branches_of(lower_ok(with(4, 8, 100), options)), 0u);
    EXPECT_EQ(branches_of(lower_ok(with(8, 60, 8), options)), 0u);
  }
}

TEST(JoinSteps, AddressesOfIterationsAreOneAndAConstant) {
  const std::string text =
      rounds_of("ld.shared.f32 %f3, [%r5]; fma.rn.f32 %f0, %f3, %f1, %f0; add.u32 %r5, %r5, 4;", "16");
  expect_same_everywhere(text, 3);
  const KernelImage image = unrolled_for(text);
  EXPECT_EQ(operations_of(image, "add.u32 %r5"), 0u);
  EXPECT_EQ(operations_of(image, "ld.shared"), 4u) << "words side by side are one load of four";
  // What is read behind the loop has gone on by all steps.
  const std::string behind = rounds_of(
      "ld.shared.f32 %f3, [%r4]; fma.rn.f32 %f0, %f3, %f1, %f0; "
      "add.u32 %r4, %r4, 8;",
      "10");
  expect_same_everywhere(behind, 3);
  EXPECT_EQ(operations_of(unrolled_for(behind), "add.u32 %r4"), 1u) << "what is stored at the end";
  const std::string unknown =
      rounds_of("ld.shared.f32 %f3, [%r5]; fma.rn.f32 %f0, %f3, %f1, %f0; add.u32 %r5, %r5, 4;", "%r6");
  expect_same_everywhere(unknown, 5);
  EXPECT_EQ(operations_of(unrolled_for(unknown), "add.u32 %r5"), 3u) << "one for four, two, one iterations";
}

}  // namespace
}  // namespace gpusim::isa
