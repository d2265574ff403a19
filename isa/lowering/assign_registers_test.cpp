// Registers that ptxas 13.0 gives small kernels for sm_80 (some for sm_75), and what the assignment gives
// them, at most one less: kernels for the rules of assign_registers.cpp. The accesses are volatile, so that
// both keep their order.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

/// `statements` with this thread's 256 bytes at [%in] and [%out], and `count` of each kind of register.
uint32_t registers_of(std::string_view statements, int count, int capability = 80) {
  const std::string text = fmt::format(
      ".version 9.0\n.target sm_{}\n.address_size 64\n"
      ".visible .entry k(.param .u64 pin, .param .u64 pout)\n{{\n.reg .b64 %in, %out, %off, %d<{}>; .reg "
      ".b32 "
      "%t, %r<{}>;\nmov.u32 %t, %tid.x; ld.param.u64 %in, [pin]; ld.param.u64 %out, [pout];\n"
      "mul.wide.u32 %off, %t, 256; add.s64 %in, %in, %off; add.s64 %out, %out, %off;\n{}ret;\n}}\n",
      capability, count, 4 * count, statements);
  LoweringOptions options = level(LoweringLevel::kSchedule, 0, capability);
  options.max_registers = 255;
  options.threads_per_sm = threads_per_sm(capability);
  return lower_ok(text, options).registers;
}

/// Loads `count` values of a kind, then stores them in the opposite order: all are alive at once.
std::string reversal(std::string_view type, char letter, int count) {
  std::string load, store;
  for (int i = 0; i < count; ++i) {
    load += fmt::format("ld.volatile.global.{} %{}{}, [%in+{}];\n", type, letter, i, 8 * i);
    store += fmt::format("st.volatile.global.{} [%out+{}], %{}{};\n", type, 8 * i, letter, count - 1 - i);
  }
  return load + store;
}

TEST(AssignRegisters, PairsStandAtEvenRegisters) {
  EXPECT_NEAR(registers_of(reversal("u64", 'd', 5), 5), 18, 1);
  EXPECT_NEAR(registers_of(reversal("u64", 'd', 8), 8), 24, 1);
  EXPECT_NEAR(registers_of(reversal("u64", 'd', 12), 12), 32, 1);
}

TEST(AssignRegisters, WordsThatAreStoredToGlobalMemoryStandAtOddRegisters) {
  // As many as pairs take, though they are half as wide.
  EXPECT_NEAR(registers_of(reversal("u32", 'r', 5), 5), 18, 1);
  EXPECT_NEAR(registers_of(reversal("u32", 'r', 8), 8), 24, 1);
  EXPECT_NEAR(registers_of(reversal("u32", 'r', 12), 12), 32, 1);
  EXPECT_NEAR(registers_of(reversal("u16", 'r', 5), 5), 18, 1) << "parts of words, too";
}

TEST(AssignRegisters, WordsDoNotStandBetweenPairsThatTheyAreStoredBeside) {
  std::string load, store;
  for (int i = 0; i < 4; ++i) {
    load +=
        fmt::format("ld.volatile.global.u32 %r{0}, [%in+{1}];\nld.volatile.global.u64 %d{0}, [%in+{2}];\n", i,
                    4 * i, 128 + 8 * i);
    store +=
        fmt::format("st.volatile.global.u32 [%out+{1}], %r{0};\nst.volatile.global.u64 [%out+{2}], %d{0};\n",
                    i, 4 * i, 128 + 8 * i);
  }
  EXPECT_NEAR(registers_of(load + store, 4), 24, 1);
}

TEST(AssignRegisters, WhereTheyMustWordsStandAnywhere) {
  // 20 words at odd registers would be 44, with which not all threads of an SM fit on 8.0; ptxas gives 32.
  EXPECT_NEAR(registers_of(reversal("u32", 'r', 20), 20), 32, 1);
}

TEST(AssignRegisters, AResultStandsWhereItsNarrowSourcesWere) {
  std::string load, multiply, store;
  for (int i = 0; i < 6; ++i) {
    load += fmt::format("ld.volatile.global.u32 %r{}, [%in+{}];\nld.volatile.global.u32 %r{}, [%in+{}];\n",
                        2 * i, 8 * i, 2 * i + 1, 8 * i + 4);
    multiply += fmt::format("mul.wide.u32 %d{}, %r{}, %r{};\n", i, 2 * i, 2 * i + 1);
    store += fmt::format("st.volatile.global.u64 [%out+{}], %d{};\n", 8 * i, i);
  }
  EXPECT_NEAR(registers_of(load + multiply + store, 6), 20, 1);
}

TEST(AssignRegisters, WhatAnAccessReadsIsNotGivenAgainBeforeItWasRead) {
  const auto copies = [](int count) {
    std::string body;
    for (int i = 0; i < count; ++i)
      body += fmt::format(
          "ld.volatile.global.u32 %r{0}, [%in+{1}];\nst.volatile.global.u32 [%out+{1}], %r{0};\n", i, 4 * i);
    return registers_of(body, count);
  };
  // One value is alive at a time.
  EXPECT_NEAR(copies(2), 12, 1);
  EXPECT_NEAR(copies(4), 16, 1);
  EXPECT_GE(copies(8), 19u);
  EXPECT_LE(copies(30), copies(12)) << "ptxas gives 20 to eight and to thirty: the first have been read";
}

/// A thread's word at [%a] becomes one at [%b]; ptxas' numbers are for exactly this.
uint32_t copy_of(std::string_view between, std::string_view load, std::string_view store, int capability) {
  const std::string text = fmt::format(
      ".version 9.0\n.target sm_75\n.address_size 64\n"
      ".visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)\n{{\n.reg .b64 %a, %b, %d<4>; .reg "
      ".b32 %r<8>; .reg .f32 %f<4>; .reg .pred %p;\n"
      "ld.param.u64 %d0, [out]; ld.param.u64 %d1, [in]; ld.param.u32 %r3, [n];\n"
      "mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x; mad.lo.s32 %r4, %r0, %r1, %r2;\n"
      "setp.ge.s32 %p, %r4, %r3; @%p bra END;\n"
      "mul.wide.s32 %d2, %r4, 4; add.s64 %a, %d1, %d2; {1}; {0} add.s64 %b, %d0, %d2; {2};\nEND: ret;\n}}\n",
      between, load, store);
  LoweringOptions options = level(LoweringLevel::kSchedule, 0, capability);
  options.max_registers = 255;
  options.threads_per_sm = threads_per_sm(capability);
  return lower_ok(text, options).registers;
}

TEST(AssignRegisters, SmallKernelsAreAsPtxasHasThem) {
  // What the only load of an address brings may stand where the address was; what is made of it may not.
  for (const int capability : {75, 80}) {
    EXPECT_EQ(copy_of("", "ld.global.u32 %r5, [%a]", "st.global.u32 [%b], %r5", capability), 8u);
    EXPECT_EQ(copy_of("cvt.rzi.s32.f32 %r5, %f0;", "ld.global.f32 %f0, [%a]", "st.global.u32 [%b], %r5",
                      capability),
              10u);
  }
}

/// A kernel of up to four pointers and a word, and ptxas' registers of it for sm_90.
uint32_t of_pointers(std::string_view body, int capability) {
  const std::string text = fmt::format(
      ".version 9.0\n.target sm_75\n.address_size 64\n"
      ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, .param .u32 n, .param "
      ".u32 m)\n{{\n"
      ".reg .b64 %a, %b, %c, %d, %x<8>; .reg .b32 %t, %n, %m, %r<12>; .reg .pred %p<6>;\n"
      "ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; ld.param.u64 %c, [c]; ld.param.u64 %d, [d];\n"
      "ld.param.u32 %n, [n]; ld.param.u32 %m, [m]; mov.u32 %t, %tid.x;\n{}\nret;\n}}\n",
      body);
  LoweringOptions options = level(LoweringLevel::kSchedule, 0, capability);
  options.max_registers = 255;
  options.threads_per_sm = threads_per_sm(capability);
  return lower_ok(text, options).registers;
}

TEST(AssignRegisters, ConstantsAreLoadedBeforeTheyAreNeeded) {
  // The two bases are there before the first address, and the index is at an odd register: 10 for 8.
  constexpr std::string_view kCopy =
      "mul.wide.s32 %x0, %t, 4; add.s64 %x1, %b, %x0; ld.global.u32 %r0, [%x1];\n"
      "add.s64 %x2, %a, %x0; st.global.u32 [%x2], %r0;";
  EXPECT_EQ(of_pointers(kCopy, 80), 8u);
  EXPECT_EQ(of_pointers(kCopy, 90), 10u);
  // With a factor and a summand, which are loaded at once: 12 for 10.
  constexpr std::string_view kScaled =
      "mul.wide.s32 %x0, %t, 4; add.s64 %x1, %b, %x0; ld.global.u32 %r0, [%x1];\n"
      "mad.lo.s32 %r1, %r0, %n, %m; add.s64 %x2, %a, %x0; st.global.u32 [%x2], %r1;";
  EXPECT_EQ(of_pointers(kScaled, 80), 10u);
  EXPECT_EQ(of_pointers(kScaled, 90), 12u);
  // Three loads and a store: the last base is loaded while the first addresses are made.
  EXPECT_EQ(of_pointers("mul.wide.s32 %x0, %t, 4; add.s64 %x1, %a, %x0; ld.global.u32 %r0, [%x1];\n"
                        "add.s64 %x2, %b, %x0; ld.global.u32 %r1, [%x2]; add.s64 %x3, %c, %x0;\n"
                        "ld.global.u32 %r2, [%x3]; mad.lo.s32 %r3, %r1, %r2, %r0; add.s64 %x4, %d, %x0;\n"
                        "st.global.u32 [%x4], %r3;",
                        90),
            14u);
}

TEST(AssignRegisters, BasesOfAddressesInLoopsStayInRegisters) {
  // ptxas has the same: three pairs with the address, and four.
  constexpr std::string_view kLoop =
      "setp.ge.s32 %p0, %t, %m; @%p0 bra END; mov.u32 %n, %ntid.x;\n"
      "LOOP: mul.wide.s32 %x0, %t, 4; add.s64 %x1, %a, %x0; ld.global.u32 %r0, [%x1];\n"
      "setp.lt.s32 %p1, %r0, 1; @%p1 bra NEXT;\n";
  constexpr std::string_view kNext =
      "NEXT: add.s32 %t, %t, %n; setp.lt.s32 %p5, %t, %m; @%p5 bra LOOP;\nEND:";
  constexpr std::string_view kCount =
      "mul.wide.s32 %x2, {0}, 4; add.s64 %x3, {1}, %x2; atom.global.add.u32 %r1, [%x3], 1;\n";
  constexpr std::string_view kPlace =
      "mul.wide.s32 %x4, %r1, 4; add.s64 %x5, {0}, %x4; st.global.u32 [%x5], %t;\n";
  const auto with = [&](const std::string& between) {
    return of_pointers(std::string(kLoop) + between + std::string(kNext), 90);
  };
  EXPECT_EQ(with(fmt::format(kCount, "%r0", "%b")), 14u);
  EXPECT_EQ(with(fmt::format(kCount, "%r0", "%b") + fmt::format(kPlace, "%c")), 18u);
}

TEST(AssignRegisters, ManyBasesInALoopTakeNoTime) {
  // They do not stay in registers there, and are not tried one after the other.
  const auto seconds = [](int count) {
    std::string params = ".param .u32 m", body = "ld.param.u32 %m, [m]; mov.u32 %t, %tid.x;\n",
                loop = "LOOP:\n";
    for (int i = 0; i < count; ++i) {
      params += fmt::format(", .param .u64 a{}", i);
      body += fmt::format("ld.param.u64 %a{0}, [a{0}];\n", i);
      loop += fmt::format(
          "mul.wide.s32 %x{0}, %t, {1}; add.s64 %y{0}, %a{0}, %x{0}; ld.global.u32 %r{0}, [%y{0}]; xor.b32 "
          "%t, %t, %r{0};\n",
          i, 4 + 4 * (i % 3));
    }
    LoweringOptions options = level(LoweringLevel::kSchedule, 0, 90);
    options.max_registers = 255;
    options.threads_per_sm = threads_per_sm(90);
    const std::string text = fmt::format(
        ".version 8.1\n.target sm_90\n.address_size 64\n.visible .entry k({0}) {{\n"
        ".reg .b64 %a<{1}>, %x<{1}>, %y<{1}>; .reg .b32 %r<{1}>, %t, %m; .reg .pred %p;\n{2}{3}"
        "setp.lt.s32 %p, %t, %m; @%p bra LOOP; st.global.u32 [%a0], %t; ret;\n}}\n",
        params, count, body, loop);
    const std::clock_t begin = std::clock();
    (void)lower_ok(text, options);
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  seconds(1000);  // warms up
  const double few = std::min(seconds(1000), seconds(1000));
  EXPECT_LT(seconds(4000), 10 * few) << "16 would be quadratic";
}

TEST(AssignRegisters, WordsAtAnAddressOfTheWarpStandAnywhere) {
  // ptxas: 5 for 7.5, whose addresses are in uniform registers, and 14 for 8.0, where they are in pairs of a
  // thread's and the words at odd registers.
  const std::string text = R"(.version 9.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c)
{ .reg .b64 %d<3>; .reg .b32 %r<3>;
  ld.param.u64 %d0, [a]; ld.param.u64 %d1, [b]; ld.param.u64 %d2, [c];
  mov.u32 %r0, 0; st.global.u32 [%d0], %r0;
  mov.u32 %r1, %ntid.x; st.global.u32 [%d1], %r1;
  mov.u32 %r2, %nctaid.x; st.global.u32 [%d2], %r2; ret; })";
  const auto registers = [&text](int capability) {
    return lower_ok(text, level(LoweringLevel::kSchedule, 0, capability)).registers;
  };
  EXPECT_LE(registers(75), 6u);
  EXPECT_GE(registers(80), 8u);
}

}  // namespace
}  // namespace gpusim::isa
