// Registers and machine instructions against what ptxas 13.0 gives the same kernels (small ones, compiled
// once).
#include <fmt/format.h>

#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

KernelImage scheduled_for(const std::string& text, int capability) {
  return lower_ok(text, level(LoweringLevel::kSchedule, 0, capability));
}

/// With the pointer p and the words a, b, c; %t is the thread's number and [%at] its word at p.
std::string kernel(std::string_view body) {
  return ".version 9.0\n.target sm_75\n.address_size 64\n"
         ".visible .entry k(.param .u64 p, .param .u32 a, .param .u32 b, .param .u32 c) {\n"
         ".reg .b32 %a, %b, %c, %t, %r<64>; .reg .b64 %p, %o, %at; .reg .pred %q;\n"
         "ld.param.u64 %p, [p]; ld.param.u32 %a, [a]; ld.param.u32 %b, [b]; ld.param.u32 %c, [c];\n"
         "mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 4; add.s64 %at, %p, %o;\n" +
         std::string(body) + "st.global.u32 [%at], %r0; ret; }\n";
}

TEST(MachineCount, ADescriptorOfGlobalMemoryIsLoadedFrom80On) {
  const std::string text = kernel("xor.b32 %r0, %t, 5;");
  EXPECT_EQ(scheduled_for(text, 80).machine_instructions(),
            scheduled_for(text, 75).machine_instructions() + 1);
  const std::string shared =
      ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k() { .reg .b32 %r<2>;\n"
      ".shared .b32 s[64]; mov.u32 %r0, %tid.x; mov.u32 %r1, s; st.shared.u32 [%r1], %r0; ret; }\n";
  EXPECT_EQ(scheduled_for(shared, 80).machine_instructions(),
            scheduled_for(shared, 75).machine_instructions());
}

TEST(MachineCount, AddressesOfSharedVariablesAreMadeInEachBlockThatNamesOneFrom90On) {
  const auto at = [](const std::string& body, int sm) {
    return scheduled_for(kernel(".shared .align 4 .b8 s[64], t[64]; .reg .b32 %x, %y;\n" + body), sm)
        .machine_instructions();
  };
  const auto more = [&](const std::string& body) { return at(body, 90) - at(body, 80); };
  const std::string one = "mov.u32 %x, s; add.u32 %x, %x, %t; st.shared.u32 [%x], %a; bar.sync 0;\n",
                    two = one + "mov.u32 %y, t; add.u32 %y, %y, %t; st.shared.u32 [%y], %a; bar.sync 0;\n";
  EXPECT_EQ(more(one + "mov.u32 %r0, 5;"), more("bar.sync 0; mov.u32 %r0, 5;") + 3);
  EXPECT_EQ(more(two + "mov.u32 %r0, 5;"), more(one + "mov.u32 %r0, 5;") + 2);
  // A load that stays a block of its own, with and without a name of its own.
  const auto later = [&](const std::string& name) {
    std::string body = one + "ld.global.u32 %r1, [%at+4]; setp.gt.s32 %q, %r1, 9; @%q bra END;\n";
    for (int i = 0; i < 6; ++i) body += "rem.u32 %r1, %r1, %b; st.global.u32 [%at+8], %r1; bar.sync 0;\n";
    return body + name + "ld.shared.u32 %r0, [%x+4]; st.global.u32 [%at+16], %r0;\nEND: mov.u32 %r0, 5;";
  };
  EXPECT_EQ(more(later("mov.u32 %x, s; add.u32 %x, %x, %t;")), more(later("")) + 3);
}

TEST(MachineCount, ABlockThatTakesAnothersCodeNamesItsVariablesToo) {
  // A loop of four iterations that becomes code, and code that becomes predicated: the address is made once
  // for all of it (ptxas 13 for 9.0).
  const auto more = [](const std::string& body) {
    const std::string text =
        kernel(".shared .align 4 .b8 s[4096]; .reg .b32 %x, %i; mov.u32 %r0, %a;\n" + body);
    return static_cast<int>(scheduled_for(text, 90).machine_instructions()) -
           static_cast<int>(scheduled_for(text, 80).machine_instructions());
  };
  // The address is made here and in another block, or in another block alone.
  const std::string name = "mov.u32 %x, s; add.u32 %x, %x, %t;", other = "mov.u32 %x, %t;";
  const auto loop = [](const std::string& address) {
    return "mov.u32 %i, 0;\nLOOP: " + address +
           "ld.shared.u32 %r1, [%x]; xor.b32 %r0, %r0, %r1; bar.sync 0; add.u32 %i, %i, 1;"
           "setp.lt.u32 %q, %i, 4; @%q bra LOOP;\n";
  };
  EXPECT_EQ(more(loop(name)), more(loop(other)) + 3);
  const auto guarded = [](const std::string& address) {
    return "setp.gt.s32 %q, %b, 9; @%q bra OVER;\n" + address + "ld.shared.u32 %r0, [%x];\nOVER:\n";
  };
  EXPECT_EQ(more(guarded(name)), more(guarded(other)) + 3);
}

TEST(MachineCount, ConstantsOfTheLaunchAreLoadedOnceFrom90On) {
  // ptxas for sm_90: 9 instructions, and 11 and 12 where another operation reads the word beside it, which is
  // loaded with it, or one that is further away.
  const std::string one = kernel("xor.b32 %r0, %t, %a;"),
                    twice = kernel("xor.b32 %r0, %t, %a; popc.b32 %r0, %r0; xor.b32 %r0, %r0, %a;"),
                    beside = kernel("xor.b32 %r0, %t, %a; popc.b32 %r0, %r0; xor.b32 %r0, %r0, %b;"),
                    two = kernel("xor.b32 %r0, %t, %a; popc.b32 %r0, %r0; xor.b32 %r0, %r0, %c;");
  const auto at = [](const std::string& text, int sm) {
    return scheduled_for(text, sm).machine_instructions();
  };
  EXPECT_EQ(at(twice, 90), at(one, 90) + 2) << "the population count and the second operation";
  EXPECT_EQ(at(beside, 90), at(one, 90) + 2);
  EXPECT_EQ(at(two, 90), at(one, 90) + 3);
  EXPECT_EQ(at(two, 75), at(one, 75) + 2);
  // One operation that reads two words: side by side they are loaded together, for a thread's registers.
  EXPECT_EQ(at(kernel("mad.lo.u32 %r0, %t, %a, %c;"), 90), at(kernel("mad.lo.u32 %r0, %t, %a, %b;"), 90) + 1);
}

TEST(MachineCount, ABlockLoadsAgainWhatIsNotThereOnEachWayToIt) {
  // %c is loaded in a block that is jumped over, and again behind it; %b before the jump.
  const auto text = [](std::string_view last) {
    std::string body =
        "ld.global.u32 %r1, [%at+4]; xor.b32 %r0, %t, %b; setp.gt.s32 %q, %r1, 9; @%q bra END;\n";
    for (int i = 0; i < 6; ++i) body += "ld.global.u32 %r1, [%at+8]; rem.u32 %r0, %r1, %r0;\n";
    return kernel(body + "xor.b32 %r0, %r0, %c;\nEND: xor.b32 %r0, %r0, " + std::string(last) + ";");
  };
  EXPECT_EQ(scheduled_for(text("%c"), 90).machine_instructions(),
            scheduled_for(text("%b"), 90).machine_instructions() + 1);
}

TEST(MachineCount, DivisionsShareTheReciprocalOfTheSameDivisorOnly) {
  const std::string_view by_a = "div.u32 %r1, %t, %a; ", also_by_a = "div.u32 %r2, %o32, %a; ",
                         by_b = "div.u32 %r2, %o32, %b; ";
  const auto instructions = [](std::string_view first, std::string_view second) {
    return scheduled_for(kernel(".reg .b32 %o32; xor.b32 %o32, %t, 77; " + std::string(first) +
                                std::string(second) + "xor.b32 %r0, %r1, %r2; "),
                         75)
        .machine_instructions();
  };
  // ptxas: 26 instructions for a quotient, 10 more for another one by the same parameter, 18 by another one.
  EXPECT_EQ(instructions(by_a, by_b), instructions(by_a, also_by_a) + 8);
}

TEST(MachineCount, ApproximateDivisionsShareTheReciprocalOfTheSameDivisor) {
  // ptxas, for 7.5 and 9.0: the second quotient by the same divisor is a product, and its scaling without
  // ftz.
  const auto instructions = [](std::string_view form, std::string_view second) {
    return scheduled_for(
               kernel(fmt::format(".reg .f32 %f<6>; cvt.rn.f32.u32 %f0, %t; cvt.rn.f32.u32 %f1, %a; "
                                  "cvt.rn.f32.u32 %f2, %b; {0} %f3, %f0, %f1; {0} %f4, %f3, {1}; "
                                  "add.f32 %f4, %f4, %f2; cvt.rzi.u32.f32 %r0, %f4; ",
                                  form, second)),
               75)
        .machine_instructions();
  };
  EXPECT_EQ(instructions("div.approx.f32", "%f1"), instructions("div.approx.f32", "%f2") - 3);
  EXPECT_EQ(instructions("div.approx.ftz.f32", "%f1"), instructions("div.approx.ftz.f32", "%f2") - 1);
  EXPECT_EQ(instructions("div.full.f32", "%f1"), instructions("div.full.f32", "%f2") - 5);
}

TEST(MachineCount, AConstantThatIsStoredIsMovedOnce) {
  // ptxas: a store more of the same 64 bits is one instruction more, of others three.
  const auto instructions = [](std::string_view second) {
    return scheduled_for(kernel("mov.u32 %r0, 1; st.global.u64 [%at+8], 0x3ff0000040000000; st.global.u64 "
                                "[%at+16], " +
                                std::string(second) + "; "),
                         75)
        .machine_instructions();
  };
  EXPECT_EQ(instructions("0x3ff0000050000000"), instructions("0x3ff0000040000000") + 2);
}

TEST(MachineCount, FencesForOtherBlocksAreSeveralInstructions) {
  const auto instructions = [](std::string_view fence, int capability) {
    return scheduled_for(kernel(fmt::format("mov.u32 %r0, %t; st.global.u32 [%at+8], %t; {} ", fence)),
                         capability)
        .machine_instructions();
  };
  for (const auto& [capability, device] : {std::pair{75, 3u}, {80, 3u}, {90, 4u}}) {
    EXPECT_EQ(instructions("membar.gl;", capability), instructions("", capability) + device);
    EXPECT_EQ(instructions("membar.cta;", capability), instructions("", capability) + 1);
  }
}

TEST(MachineCount, CallsOfTheSystemTakeTheirArgumentsInRegisters) {
  const std::string printf_call =
      "{ .param .b64 f; st.param.b64 [f], 0; .param .b64 v; st.param.b64 [v], 0; .param .b32 n;\n"
      "call.uni (n), vprintf, (f, v); ld.param.b32 %r1, [n]; }\n";
  const auto with = [&](int calls, int capability) {
    std::string text = kernel("mov.u32 %r0, %t; ");
    for (int i = 0; i < calls; ++i) text.insert(text.find("mov.u32 %r0"), printf_call);
    text.insert(text.find(".visible"),
                ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);\n");
    return scheduled_for(text, capability);
  };
  for (const int capability : {75, 80, 90}) {
    EXPECT_LT(with(0, capability).registers, 24u);
    EXPECT_EQ(with(1, capability).registers, 24u) << capability;
    EXPECT_EQ(with(2, capability).machine_instructions() - with(1, capability).machine_instructions(),
              capability < 90 ? 12u : 8u);
  }
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

TEST(Registers, AKernelThatDoesNothingHasFour) {
  const std::string text = ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n";
  EXPECT_EQ(scheduled_for(text, 75).registers, 4u);
  EXPECT_EQ(scheduled_for(text, 80).registers, 4u);
}

TEST(Registers, FewValuesTakeAFewMoreThanTheyNeed) {
  // ptxas gives each of these kernels 8 for sm_75; numbers are even here.
  for (const char* body : {"xor.b32 %r0, %t, %a;", "add.s32 %r0, %a, 77; xor.b32 %r0, %t, %r0;"}) {
    const uint32_t registers = scheduled_for(kernel(body), 75).registers;
    EXPECT_GE(registers, 7u) << body;
    EXPECT_LE(registers, 10u) << body;
    EXPECT_EQ(registers % 2, 0u) << body;
  }
}

/// Many values that are made of `first` and each used late.
std::string rounds(std::string_view first) {
  std::string body;
  for (int i = 1; i < 40; ++i) body += fmt::format("add.s32 %r{}, {}, {};\n", i, first, 1000 * i);
  body += "mov.u32 %r0, %t;\n";
  for (int i = 1; i < 40; ++i)
    body += fmt::format("xor.b32 %r0, %r0, %r{0}; shr.u32 %r40, %r0, 3; add.s32 %r0, %r0, %r40;\n", i);
  return kernel(body);
}

TEST(Registers, WhatAWarpHasOnceTakesNone) {
  // Sums of a parameter and a number, used with registers of threads: from 7.5 on a warp has them once.
  EXPECT_LE(scheduled_for(rounds("%a"), 75).registers, 16u);
  EXPECT_LE(scheduled_for(rounds("%a"), 80).registers, 16u);
  // The others are made up to the latency of a global load before they are used.
  EXPECT_GT(scheduled_for(rounds("%a"), 70).registers, 18u);
  EXPECT_GT(scheduled_for(rounds("%t"), 75).registers, 18u)
      << "of the thread's number, every thread has its own";
}

TEST(Registers, WhatIsStoredIsTheThreadsOwn) {
  const auto stored = [](std::string_view from) {
    std::string body;
    for (int i = 1; i < 30; ++i) body += fmt::format("add.s32 %r{}, {}, {};\n", i, from, 1000 * i);
    body += "bar.sync 0;\n";
    for (int i = 1; i < 30; ++i) body += fmt::format("st.global.u32 [%at+{}], %r{};\n", 4 * i, i);
    return kernel(body + "mov.u32 %r0, 1;");
  };
  EXPECT_GE(scheduled_for(stored("%a"), 75).registers, 29u);
}

TEST(Registers, TwoConstantsOfOneOperationKeepAThreadsRegister) {
  // The operation takes one operand that is no register of the thread.
  const auto values = [](std::string_view factor) {
    std::string body;
    for (int i = 1; i < 30; ++i) body += fmt::format("xor.b32 %r{}, %a, {};\n", i, 1000 * i);
    body += "bar.sync 0;\nmov.u32 %r0, %t;\n";
    for (int i = 1; i < 30; ++i) body += fmt::format("mad.lo.s32 %r0, %r0, {}, %r{};\n", factor, i);
    return kernel(body);
  };
  EXPECT_LE(scheduled_for(values("%t"), 75).registers, 16u);
  EXPECT_GE(scheduled_for(values("12"), 75).registers, 29u);
}

}  // namespace
}  // namespace gpusim::isa
