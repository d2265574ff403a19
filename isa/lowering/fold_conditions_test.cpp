// Conditions that are numbers, and what becomes of the code that they decide. As ptxas 13.0 has it.
#include <fmt/format.h>

#include <random>

#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

std::string deciding(std::string_view body) {
  return thread_kernel(".reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .pred %p<5>;", fmt::format(R"(
    ld.global.u32 %r1, [%in]; mov.u32 %r2, 0; mov.u32 %r3, 1; mov.u64 %rd1, 0;
{}
    st.global.u32 [%out], %r1; st.global.u32 [%out+4], %r2; st.global.u32 [%out+8], %r3;
    ret;)",
                                                                                           body));
}

size_t branches_left(const KernelImage& image) {
  return static_cast<size_t>(std::ranges::count(image.ops, OpKind::kBranch, &MicroOp::kind));
}
size_t made_of(const KernelImage& image, std::string_view statement) {
  return static_cast<size_t>(std::ranges::count_if(image.ops, [&](const MicroOp& op) {
    return op.kind != OpKind::kNop && image.ptx[op.ptx_index].text.starts_with(statement);
  }));
}

/// Long enough to stay behind its branch.
constexpr std::string_view kLong =
    "mul.hi.u32 %r2, %r2, %r1; add.u32 %r2, %r2, %r1; mul.hi.u32 %r2, %r2, %r1; add.u32 %r2, %r2, 3; "
    "mul.hi.u32 "
    "%r2, %r2, %r1; add.u32 %r2, %r2, %r1; mul.hi.u32 %r2, %r2, %r1; add.u32 %r2, %r2, 5; mul.hi.u32 %r2, "
    "%r2, "
    "%r1; add.u32 %r2, %r2, %r1;";

TEST(FoldConditions, CodeThatIsNeverReachedGoes) {
  const auto guarded_by = [](std::string_view condition, std::string_view branch) {
    return deciding(fmt::format("{}\n@{} bra L;\n{}\nL:", condition, branch, kLong));
  };
  struct Case {
    std::string_view condition, branch;
    bool reached;
  };
  for (const Case& c :
       {Case{"mov.u32 %r4, WARP_SZ; shr.u32 %r4, %r4, 3; setp.eq.s32 %p1, %r4, 0;", "%p1", true},
        Case{"mov.u32 %r4, WARP_SZ; shr.u32 %r4, %r4, 6; setp.eq.s32 %p1, %r4, 0;", "%p1", false},
        Case{"mov.u32 %r4, WARP_SZ; setp.ge.u32 %p1, %r4, 33;", "!%p1", false},
        Case{"setp.lt.s32 %p1, -1, 0;", "%p1", false}, Case{"setp.lt.u32 %p1, -1, 0;", "%p1", true},
        Case{"setp.gt.s64 %p1, %rd1, -1;", "%p1", false},
        Case{"setp.gt.u32 %p2, %r1, 7; setp.ne.and.s32 %p1, 1, 1, %p2;", "%p1", true},
        Case{"setp.gt.u32 %p2, %r1, 7; setp.ne.s32 %p3, 1, 2; or.pred %p1, %p2, %p3;", "%p1", false},
        Case{"setp.ne.s32 %p3, 1, 2; not.pred %p1, %p3;", "%p1", true},
        Case{"setp.ne.s32 %p3, 1, 2; setp.eq.s32 %p2, 1, 2; xor.pred %p1, %p3, %p2;", "%p1", false}}) {
    const std::string text = guarded_by(c.condition, c.branch);
    expect_same_everywhere(text, 40);
    const KernelImage image = scheduled(text);
    EXPECT_EQ(branches_left(image), 0u) << text;
    EXPECT_EQ(made_of(image, "mul.hi"), c.reached ? 5u : 0u) << text;
  }
  // Unknown, and it stays.
  for (const std::string_view condition :
       {"setp.gt.u32 %p1, %r1, 7;", "setp.gt.u32 %p2, %r1, 7; setp.ne.or.s32 %p1, 1, 1, %p2;",
        "setp.gt.u32 %p2, %r1, 7; setp.eq.s32 %p3, 1, 1; and.pred %p1, %p2, %p3;"}) {
    const std::string text = guarded_by(condition, "%p1");
    expect_same_everywhere(text, 40);
    EXPECT_EQ(branches_left(scheduled(text)), 1u) << text;
  }
}

TEST(FoldConditions, SelectionsAndPredicatedOperationsAreDecided) {
  const std::string text = deciding(R"(
    setp.lt.s32 %p1, 3, 4;
    selp.b32 %r4, %r1, 77, %p1;
    selp.b32 %r5, %r1, 78, !%p1;
    @%p1 add.u32 %r2, %r4, %r5;
    @!%p1 mul.hi.u32 %r2, %r4, %r5;
    @!%p1 st.global.u32 [%out+12], %r5;)");
  expect_same_everywhere(text, 40);
  const KernelImage image = scheduled(text);
  EXPECT_EQ(made_of(image, "selp"), 0u);
  EXPECT_EQ(made_of(image, "@!%p1"), 0u);
  EXPECT_EQ(made_of(image, "setp"), 0u);
}

TEST(FoldConditions, ConditionsOnTheIterationGoWithTheLoop) {
  const std::string text = deciding(R"(
    mov.u32 %r4, 0;
  LOOP:
    mad.lo.u32 %r3, %r3, 5, %r1;
    setp.ne.s32 %p1, %r4, 2;
    @!%p1 mul.hi.u32 %r3, %r3, %r1;
    @%p1 add.u32 %r2, %r2, %r3;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p2, %r4, 4;
    @%p2 bra LOOP;)");
  expect_same_everywhere(text, 40);
  const KernelImage image = scheduled(text);
  EXPECT_EQ(branches_left(image), 0u);
  EXPECT_EQ(made_of(image, "@!%p1 mul.hi"), 1u) << "in one of four iterations";
  EXPECT_EQ(made_of(image, "@%p1 add"), 3u) << "in the others";
}

TEST(FoldConditions, APredicateThatIsWrittenAgainIsKnownUntilThen) {
  const std::string text = deciding(R"(
    setp.lt.s32 %p1, 3, 4;
    @%p1 add.u32 %r2, %r2, 1;
    setp.gt.u32 %p1, %r1, 7;
    @%p1 add.u32 %r2, %r2, 2;
    @%p1 bra L;
    setp.lt.s32 %p1, 4, 3;
    @%p1 add.u32 %r2, %r2, 4;
  L:
    @!%p1 add.u32 %r3, %r3, 8;)");
  expect_same_everywhere(text, 40);
  EXPECT_EQ(made_of(scheduled(text), "@!%p1 add.u32 %r3"), 1u);
}

TEST(FoldConditions, BlocksThatBecameEmptyKeepValuesApart) {
  // %r1 is a copy of %r4 until the end, where %r4 has another value.
  for (int blocks = 1; blocks <= 24; ++blocks) {
    std::string never;
    for (int i = 0; i < blocks; ++i) never += fmt::format("@%p3 bra NEVER{}; NEVER{}: ", (7 * i) % blocks, i);
    const std::string text = deciding(fmt::format(R"(
    and.b32 %r5, %tid0, 3; add.u32 %r4, %tid0, 5; mov.u32 %r1, %r4;
    setp.ne.u32 %p2, %r5, %r5; setp.eq.s32 %p1, %r5, 3; setp.le.s32 %p3, %r5, 2; setp.lt.s32 %p4, -1, -1;
    @%p4 bra NEVER;
  SELF:
    @%p2 bra SELF;
    bra END;
  NEVER:
    {}
  END:
    selp.u32 %r4, 1, 0, %p1;
    add.u32 %r2, %r2, %r4; add.u32 %r2, %r2, %r1;)",
                                                  never));
    expect_same_everywhere(text, 40);
  }
}

/// Branches ahead on comparisons of numbers and of what was read.
TEST(FoldConditions, RandomBranchesGiveTheSameValues) {
  std::mt19937 random(7);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  constexpr std::string_view relations[] = {"eq.s32", "ne.u32", "lt.s32", "le.u32", "gt.u32", "ge.s32"};
  for (int round = 0; round < 60; ++round) {
    std::string body;
    const uint32_t pieces = 3 + below(5);
    for (uint32_t i = 0; i < pieces; ++i) {
      const auto number = [&] { return static_cast<int>(below(5)) - 2; };
      const std::string a = below(3) == 0 ? "%r1" : std::to_string(number());
      body += fmt::format("L{}: setp.{} %p{}, {}, {};\n", i, relations[below(6)], 1 + below(3), a, number());
      if (below(3) == 0)
        body += fmt::format("{}.pred %p{}, %p{}, !%p{};\n", below(2) == 0 ? "and" : "or", 1 + below(3),
                            1 + below(3), 1 + below(3));
      body += fmt::format("@{}%p{} bra L{};\n", below(2) == 0 ? "!" : "", 1 + below(3),
                          i + 1 + below(pieces - i));
      body += fmt::format("selp.b32 %r2, %r3, {}, %p{};\n@%p{} add.u32 %r3, %r3, {};\n", number(),
                          1 + below(3), 1 + below(3), number());
      if (below(2) == 0) body += kLong;
      body += '\n';
    }
    body += fmt::format("L{}:", pieces);
    const std::string init = "setp.eq.s32 %p1, 1, 1; setp.eq.u32 %p2, %r1, 5; setp.eq.s32 %p3, 1, 2;\n";
    expect_same_everywhere(deciding(init + body), 40);
  }
}

}  // namespace
}  // namespace gpusim::isa
