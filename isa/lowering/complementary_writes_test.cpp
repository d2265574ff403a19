#include <fmt/format.h>

#include <random>

#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

/// Registers of a loop in which 20 loaded words are alive at once, behind `inner`; before the loop six values
/// are written.
uint32_t registers_behind(std::string_view inner) {
  std::string before, sums, out;
  for (int i = 0; i < 6; ++i) before += fmt::format("mul.lo.u32 %v{0}, %tid0, 3{0}; ", i);
  for (int i = 0; i < 20; ++i) sums += fmt::format("ld.global.u32 %s{}, [%in+{}]; ", i, 4 * i);
  for (int i = 0; i < 20; ++i) out += fmt::format("xor.b32 %r2, %r2, %s{}; ", i);
  const std::string text = thread_kernel(
      ".reg .b32 %r<8>, %v<8>, %s<20>, %i; .reg .pred %p<9>;",
      fmt::format(
          "mov.u32 %i, 0; mov.u32 %r2, 0; {}\nLOOP: {}\nmembar.cta; {} {} membar.cta; add.u32 %i, %i, 1; "
          "setp.lt.u32 %p8, %i, 7; @%p8 bra LOOP; st.global.u32 [%out], %r2; ret;",
          before, inner, sums, out));
  expect_same_everywhere(text, 32);
  return lower_ok(text, level(LoweringLevel::kSchedule, 0, 75)).registers;
}

/// Six values, each by an if with an else; `otherwise` is what else begins with.
std::string conditions(std::string_view otherwise) {
  std::string text;
  for (int i = 0; i < 6; ++i)
    text += fmt::format(
        "setp.gt.u32 %p{0}, %tid0, %i; @!%p{0} bra E{0}; mul.lo.u32 %v{0}, %i, 77{0}; bra.uni J{0};\nE{0}: "
        "{1} "
        "add.u32 %v{0}, %i, {0};\nJ{0}: xor.b32 %r2, %r2, %v{0};\n",
        i, otherwise);
  return text;
}

TEST(ComplementaryWrites, AValueThatBothWaysWriteNeedsNoRegisterAround) {
  const uint32_t without = registers_behind("xor.b32 %r2, %r2, %i;");
  EXPECT_LE(registers_behind(conditions("")), without + 3);
  // The else stays a block of its own, which lanes of the if branch over.
  std::string_view longer =
      "mul.lo.u32 %r3, %i, %i; mul.lo.u32 %r4, %r3, %i; mul.lo.u32 %r3, %r4, %r3; mul.lo.u32 %r4, %r3, %r4; "
      "mul.lo.u32 %r3, %r4, %r3; mul.lo.u32 %r4, %r3, %r4; mul.lo.u32 %r3, %r4, %r3; mul.lo.u32 %r4, %r3, "
      "%r4; mul.lo.u32 %r3, %r4, %r3; xor.b32 %r2, %r2, %r3;";
  EXPECT_LE(registers_behind(conditions(longer)), without + 4);
}

TEST(ComplementaryWrites, AValueThatOneWayKeepsNeedsOne) {
  const auto with = [](std::string_view guards) {
    std::string text;
    for (int i = 0; i < 6; ++i)
      text += fmt::format("setp.gt.u32 %p{0}, %tid0, %i; {1} xor.b32 %r2, %r2, %v{0};\n", i,
                          fmt::format(fmt::runtime(guards), i));
    return registers_behind("setp.lt.u32 %p7, %tid0, 9;\n" + text);
  };
  const uint32_t whole = with("@%p{0} mul.lo.u32 %v{0}, %i, 77{0}; @!%p{0} add.u32 %v{0}, %i, 5;");
  EXPECT_GE(with("@%p{0} mul.lo.u32 %v{0}, %i, 77{0};"), whole + 4);
  // The other way reads it, or the condition is another one by then.
  EXPECT_GE(with("@%p{0} mul.lo.u32 %v{0}, %i, 77{0}; @!%p{0} add.u32 %v{0}, %v{0}, 5;"), whole + 4);
  EXPECT_GE(
      with(
          "@%p{0} mul.lo.u32 %v{0}, %i, 77{0}; @%p7 setp.gt.u32 %p{0}, %i, 3; @!%p{0} add.u32 %v{0}, %i, 5;"),
      whole + 4);
}

TEST(ComplementaryWrites, WhatWaitsForAnotherConditionIsNoneOfTheBranch) {
  // %v is written where %p0 holds, read, and written where %p1 holds; of the lanes that stay, those without
  // %p1 want what it had, across the call.
  const std::string body = R"(
    and.b32 %r1, %tid0, 1; setp.ne.u32 %p0, %r1, 0; and.b32 %r1, %tid0, 2; setp.ne.u32 %p1, %r1, 0;
    add.u32 %v, %tid0, 5;
    @%p0 mov.u32 %v, 100;
    mul.lo.u32 %s, %v, 3;
    { .param .b32 a; .param .b32 b;
      st.param.b32 [a], %s;
      mov.u64 %f, fn; call (b), %f, (a), PROTOTYPE;
      ld.param.b32 %s, [b]; }
    @%p1 mov.u32 %v, 200;
    @%p0 bra OTHER;
    st.global.u32 [%out], %v;
    LONGER
    bra END;
  OTHER:
    mov.u32 %v, %s;
    LONGER
  END:
    xor.b32 %s, %s, %v;
    st.global.u32 [%out+4], %s;
    ret;
    PROTOTYPE: .callprototype (.param .b32 _) _ (.param .b32 _);)";
  std::string longer;  // than what becomes predicated code
  for (int i = 0; i < 12; ++i) longer += "mul.hi.u32 %s, %s, %v; ";
  std::string text =
      thread_kernel(".reg .b32 %r<2>, %v, %s; .reg .b64 %f; .reg .pred %p<2>;", body, "sm_75", R"(
    .func (.param .b32 b) fn(.param .b32 a) {
      .reg .b32 %r<5>; ld.param.b32 %r0, [a];
      add.u32 %r1, %r0, 9; mul.lo.u32 %r2, %r1, %r0; xor.b32 %r3, %r2, %r1; add.u32 %r4, %r3, %r2;
      st.param.b32 [b], %r4; ret; }
  )");
  for (size_t at; (at = text.find("LONGER")) != std::string::npos;) text.replace(at, 6, longer);
  expect_same_everywhere(text, 32);
}

/// Values written under conditions that change, in loops, with code for either way.
class RandomGuards {
 public:
  explicit RandomGuards(uint32_t seed) : draw_(seed) {}

  std::string text() {
    std::string body = "ld.global.u32 %d, [%in]; mov.u32 %i, 0;\n";
    for (int v = 0; v < kValues; ++v) body += fmt::format("ld.global.u32 %v{0}, [%in+{1}];\n", v, 4 * v + 4);
    for (int p = 0; p < kConditions; ++p) body += condition(p);
    body += "LOOP:\n" + statements(14);
    body += "add.u32 %i, %i, 1; setp.lt.u32 %q, %i, 3; @%q bra LOOP;\n" + statements(4);
    for (int v = 0; v < kValues; ++v) body += fmt::format("st.global.u32 [%out+{0}], %v{1};\n", 4 * v, v);
    return thread_kernel(".reg .b32 %v<4>, %t<400>, %d, %i, %b; .reg .pred %p<3>, %q;", body + "ret;");
  }

 private:
  static constexpr int kValues = 4, kConditions = 3;
  int below(int n) { return static_cast<int>(draw_() % static_cast<uint32_t>(n)); }
  std::string condition(int p) {
    return fmt::format("add.u32 %b, %d, %i; bfe.u32 %b, %b, {}, 1; setp.ne.u32 %p{}, %b, 0;\n", below(20), p);
  }
  std::string statements(int n) {
    std::string text;
    for (int i = 0; i < n; ++i) text += statement();
    return text;
  }
  /// Temporaries take the registers that others leave.
  std::string write(std::string_view guard) {
    const int v = below(kValues);
    switch (below(4)) {
      case 3: {
        const int t = temporaries_++, u = below(kValues);
        return fmt::format(
            "mul.lo.u32 %t{0}, %v{1}, %d; xor.b32 %t{0}, %t{0}, %v{2}; {3} add.u32 %v{4}, %t{0}, 3;\n", t, u,
            below(kValues), guard, v);
      }
      case 0:
        return fmt::format("{} add.u32 %v{}, %d, {};\n", guard, v, below(99));
      case 1:
        return fmt::format("{} add.u32 %v{}, %v{}, {};\n", guard, v, below(kValues), below(99));
      default:
        return fmt::format("{} mul.lo.u32 %v{}, %v{}, %d;\n", guard, v, below(kValues));
    }
  }
  std::string statement() {
    const int p = below(kConditions);
    switch (below(6)) {
      case 0:
        return condition(p);
      case 1:
        return write("");
      case 2: {  // an if with an else
        const int l = labels_++;
        std::string text = fmt::format("@{}%p{} bra E{};\n", below(2) == 0 ? "!" : "", p, l);
        for (int i = below(3); i >= 0; --i) text += write("");
        text += fmt::format("bra.uni J{0};\nE{0}:\n", l);
        for (int i = below(12); i >= 0; --i) text += write("");
        return text + fmt::format("J{}:\n", l);
      }
      default:
        return write(fmt::format("@{}%p{}", below(2) == 0 ? "!" : "", p));
    }
  }

  std::mt19937 draw_;
  int labels_ = 0, temporaries_ = 0;
};

TEST(ComplementaryWrites, RandomGuardsGiveTheSameValues) {
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    expect_same_everywhere(RandomGuards(seed).text(), 32);
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

}  // namespace
}  // namespace gpusim::isa
