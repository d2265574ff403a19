// Registers: the estimate, coalescing, spilling, parameters read where they are used, and the time it takes.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

TEST(Registers, EstimateIsTheMostAliveAtOnce) {
  std::string body, sum = "mov.u32 %r20, 0;\n";
  for (int i = 0; i < 16; ++i) {
    body += fmt::format("ld.global.u32 %r{}, [%in+{}];\n", i, 4 * i);
    sum += fmt::format("add.u32 %r20, %r20, %r{};\n", i);
  }
  const std::string text =
      thread_kernel(".reg .b32 %r<24>;", body + sum + "st.global.u32 [%out], %r20;\nret;");
  const KernelImage image = lower_ok(text, level(LoweringLevel::kClean));
  EXPECT_GE(image.registers, 18u);  // sixteen values and the output address
  EXPECT_LE(image.registers, 21u);
  EXPECT_EQ(image.spilled_registers, 0u);
  const KernelImage small = lower_ok(text, level(LoweringLevel::kClean, 10));
  EXPECT_EQ(small.registers, 10u);
  EXPECT_GE(small.spilled_registers, 8u);
  EXPECT_GT(small.local_bytes, 0u);
  EXPECT_GT(count_class(small, OpClass::kLoadLocal), 0u);
  EXPECT_GT(count_class(small, OpClass::kStoreLocal), 0u);
  EXPECT_GT(run_image(small, 32).result.local_accesses, 0u);
  expect_same_everywhere(text, 32, 8);
}

std::string accumulator_loop(int count) {
  std::string body = "mov.u32 %n, 0;\n";
  for (int i = 0; i < count; ++i) body += fmt::format("ld.global.f32 %f{}, [%in+{}];\n", i, 4 * i);
  body += "LOOP:\n";
  for (int round = 0; round < 3; ++round) {
    body += fmt::format("ld.global.f32 %a, [%in+{}];\n", 128 + 4 * round);
    for (int i = 0; i < count; ++i) body += fmt::format("fma.rn.f32 %f{0}, %a, 0f3F000000, %f{0};\n", i);
  }
  body += "add.u32 %n, %n, 1;\nsetp.lt.u32 %p, %n, 4;\n@%p bra LOOP;\n";
  for (int i = 0; i < count; ++i) body += fmt::format("st.global.f32 [%out+{}], %f{};\n", 4 * i, i);
  return thread_kernel(".reg .f32 %f<32>, %a; .reg .b32 %n; .reg .pred %p;", body + "ret;");
}

TEST(Registers, AccumulatorsOfALoopAreNotCountedTwice) {
  const std::string text = accumulator_loop(16);
  const KernelImage image = lower_ok(text, level(LoweringLevel::kClean));
  EXPECT_EQ(image.registers, 16u + 2 * 2 + 2);  // sums, two addresses, the counter and one factor
  EXPECT_LE(image.num_rows, image.registers + 2) << "rows of the two widths are not shared";
  expect_same_everywhere(text, 32);
}

/// Warps that take over registers of others (setmaxnreg) need not spill, and the block has no more at its
/// launch.
TEST(Registers, WarpsTakeOverThoseOfOthers) {
  const auto lowered = [](const std::string& first) {
    constexpr int kValues = 200;
    std::string body = first, sum = "mov.u32 %r0, 0;\n";
    for (int i = 1; i <= kValues; ++i) {
      body += fmt::format("ld.volatile.global.u32 %r{}, [%in+{}];\n", i, 4 * (i % 64));
      sum += fmt::format("mad.lo.u32 %r0, %r0, 3, %r{};\n", kValues + 1 - i);
    }
    std::string text =
        thread_kernel(".reg .b32 %r<201>;", body + sum + "st.global.u32 [%out], %r0;\nret;", "sm_90a");
    text.insert(text.find('{'), ".maxntid 384, 1, 1\n");
    LoweringOptions options = level(LoweringLevel::kSchedule, 0, 90);
    options.max_registers = 255;
    return lower_ok(text, options);
  };
  const KernelImage plain = lowered(""), more = lowered("setmaxnreg.inc.sync.aligned.u32 240;\n"),
                    fewer = lowered("setmaxnreg.dec.sync.aligned.u32 40;\n");
  constexpr uint32_t kAtLaunch = 65536 / 384;
  EXPECT_GT(plain.spilled_registers, 0u);
  EXPECT_LE(plain.registers, kAtLaunch);
  EXPECT_EQ(more.spilled_registers, 0u);
  EXPECT_LE(more.registers, kAtLaunch);
  EXPECT_GT(fewer.spilled_registers, 0u);
}

TEST(Registers, DirectivesOfTheKernelLimitThemAsPtxasDoes) {
  const std::string plain = accumulator_loop(32);
  const auto lowered = [&](std::string_view directives, LoweringLevel l = LoweringLevel::kSchedule) {
    std::string text = plain;
    text.insert(text.find("\n{"), fmt::format("\n{}", directives));
    return lower_ok(text, level(l, 0, 80));
  };
  const uint32_t free = lowered("").registers;
  ASSERT_GT(free, 36u);
  EXPECT_EQ(lowered(".maxnreg 36").registers, 36u);
  EXPECT_GT(lowered(".maxnreg 30").spilled_registers, 0u);
  EXPECT_EQ(lowered(".maxnreg 30").registers, 30u);
  EXPECT_EQ(lowered(".maxnreg 21").registers, 24u) << "ptxas adjusts it to its lower bound";
  EXPECT_EQ(lowered(".maxnreg 200").registers, free);
  // 7 blocks of 256 threads leave 36.6 registers, which come by eight.
  EXPECT_EQ(lowered(".maxntid 256, 1, 1\n.minnctapersm 7").registers, 32u);
  EXPECT_EQ(lowered(".reqntid 128, 2, 1\n.minnctapersm 7\n.maxnreg 30").registers, 30u);
  EXPECT_EQ(lowered(".maxntid 256, 1, 1\n.minnctapersm 9").registers, free) << "an SM has 2048 threads";
  EXPECT_EQ(lowered(".minnctapersm 7").registers, free) << "blocks of no known size";
  EXPECT_EQ(lowered(".maxnreg 30", LoweringLevel::kClean).spilled_registers, 0u);
  std::string text = plain;
  text.insert(text.find("\n{"), "\n.maxnreg 30");
  expect_same_everywhere(text, 32);
}

TEST(Registers, AValueThatIsOverwrittenLeavesAGap) {
  std::string body = "ld.global.u32 %v, [%in];\nadd.u32 %s, %v, 1;\n";
  for (int i = 0; i < 6; ++i) body += fmt::format("ld.global.u32 %r{}, [%in+{}];\n", i, 4 * i);
  for (int i = 0; i < 6; ++i) body += fmt::format("add.u32 %s, %s, %r{};\n", i);
  body += "mov.u32 %v, %s;\n@%p bra END;\nadd.u32 %v, %v, 1;\nEND:\nst.global.u32 [%out], %v;\nret;";
  const std::string text =
      thread_kernel(".reg .b32 %v, %s, %r<8>; .reg .pred %p;", "setp.gt.u32 %p, %tid0, 4;\n" + body);
  EXPECT_EQ(lower_ok(text, level(LoweringLevel::kClean)).registers, 2 * 2 + 1 + 6u);
  expect_same_everywhere(text, 32);
}

TEST(Registers, FoldedSharedLoadsTakeNoneAndAreUnknownToTheScoreboard) {
  std::string body = "mov.f32 %f3, %f0;\n";
  for (int i = 0; i < 4; ++i) {
    body += fmt::format("ld.shared.f32 %g{0}, [s+{1}];\nfma.rn.f32 %f3, %f0, %g{0}, %f3;\n", i, 4 * i);
  }
  const std::string text = shared_kernel(".reg .f32 %g<4>;\n" + body);
  const KernelImage folded = lower_ok(text, level(LoweringLevel::kClean));
  const KernelImage apart = lower_ok(text, level(LoweringLevel::kClean, 0, 20));
  ASSERT_EQ(folded.folded_loads.size(), 4u);
  EXPECT_LE(folded.registers, apart.registers);
  for (const MicroOp& op : folded.ops) {
    if (op.folded_load == kNoTarget) continue;
    const uint32_t row = folded.folded_loads[op.folded_load].dst[0].offset / kRowBytes;
    EXPECT_EQ(op.num_sb_writes, 1);
    EXPECT_NE(op.sb_writes[0], row);
    for (int i = 0; i < op.num_sb_reads; ++i) EXPECT_NE(op.sb_reads[i], row);
  }
  expect_same_everywhere(text, 32);
}

TEST(Registers, CopiesAtTheEndOfALoopVanish) {
  const std::string text = thread_kernel(".reg .b32 %r<8>; .reg .pred %p;", R"(
    mov.u32 %r0, %tid0;
    mov.u32 %r1, 0;
  LOOP:
    mad.lo.s32 %r2, %r0, 3, 1;
    add.u32 %r3, %r1, 1;
    mov.u32 %r0, %r2;
    mov.u32 %r1, %r3;
    setp.lt.u32 %p, %r1, 5;
    @%p bra LOOP;
    st.global.u32 [%out], %r0;
    ret;)");
  const KernelImage none = lower_ok(text, level(LoweringLevel::kNone)),
                    clean = lower_ok(text, level(LoweringLevel::kClean));
  EXPECT_EQ(total_ptx(clean), total_ptx(none));
  EXPECT_LE(clean.ops.size(), none.ops.size() - 3);  // both copies of the loop and the one before it
  expect_same_everywhere(text, 32);
}

/// Twelve parameters are read at the start; each is needed only at the end.
std::string parameters_first(std::string_view loop) {
  std::string before =
                  ".version 4.2\n.target sm_35\n.address_size 64\n.visible .entry k(.param .u64 pin, .param "
                  ".u64 pout",
              body, sum;
  for (int i = 0; i < 2; ++i) before += fmt::format(", .param .u32 q{}", i);
  for (int i = 0; i < 12; ++i) {
    body += fmt::format("ld.param.u32 %q{}, [{}];\n", i, i % 2 == 0 ? "q0" : "q1");
    sum += fmt::format("mad.lo.u32 %s, %s, 3, %q{};\n", i);
  }
  return before + ")\n{ .reg .b64 %in, %out; .reg .b32 %q<12>, %s, %n, %v<8>; .reg .pred %p;\n" +
         "ld.param.u64 %out, [pout];\nld.param.u64 %in, [pin];\n" + body + std::string(loop) + sum +
         "st.global.u32 [%out], %s;\nret;\n}\n";
}

TEST(Registers, ParametersMoveToTheirOnlyUse) {
  const std::string text = parameters_first("mov.u32 %s, 5;\n");
  const KernelImage none = lower_ok(text, level(LoweringLevel::kNone)),
                    clean = lower_ok(text, level(LoweringLevel::kClean));
  EXPECT_GE(none.registers, 14u);
  EXPECT_LE(clean.registers, 4u);  // the address, the sum and one parameter
  EXPECT_EQ(total_ptx(clean), total_ptx(none));
  EXPECT_EQ(count_class(clean, OpClass::kLoadParam), count_class(none, OpClass::kLoadParam));
}

TEST(Registers, ParametersDoNotMoveIntoALoop) {
  const std::string text = parameters_first(R"(mov.u32 %s, 5; mov.u32 %n, 0;
  LOOP: add.u32 %s, %s, %q3; add.u32 %n, %n, 1; setp.lt.u32 %p, %n, 9; @%p bra LOOP;
)");
  const KernelImage clean = lower_ok(text, level(LoweringLevel::kClean));
  size_t branch = 0;
  while (clean.ops[branch].kind != OpKind::kBranch) ++branch;
  for (size_t i = clean.ops[branch].target; i < branch; ++i)
    EXPECT_NE(clean.ops[i].op_class, OpClass::kLoadParam);
}

TEST(Registers, AboveTheLimitParametersAreReadAgainBeforeAnythingSpills) {
  const std::string text = parameters_first(R"(mov.u32 %s, 5; mov.u32 %n, 0;
  LOOP: ld.global.u32 %v0, [%in]; ld.global.u32 %v1, [%in+4]; ld.global.u32 %v2, [%in+8];
  add.u32 %v0, %v0, %v1; add.u32 %v0, %v0, %v2; add.u32 %s, %s, %v0; add.u32 %s, %s, %q0;
  add.u32 %n, %n, 1; setp.lt.u32 %p, %n, %q1; @%p bra LOOP;
)");
  const KernelImage free = lower_ok(text, level(LoweringLevel::kClean));
  const KernelImage small = lower_ok(text, level(LoweringLevel::kClean, free.registers - 2));
  EXPECT_EQ(small.spilled_registers, 0u);
  EXPECT_EQ(count_class(small, OpClass::kLoadLocal), 0u);
  EXPECT_GT(count_class(small, OpClass::kLoadParam), count_class(free, OpClass::kLoadParam));
  EXPECT_EQ(total_ptx(small), total_ptx(free));
}

TEST(Registers, WhatTheLoopDoesNotUseSpillsFirst) {
  std::string body;
  for (int i = 0; i < 6; ++i) body += fmt::format("ld.global.u32 %r{}, [%in+{}];\n", i, 4 * i);
  body += "mov.u32 %n, 0;\nmov.u32 %s, 0;\nLOOP:\n";
  for (int i = 0; i < 3; ++i) body += fmt::format("add.u32 %s, %s, %r{};\nxor.b32 %s, %s, %r{};\n", i, i);
  body += "add.u32 %n, %n, 1;\nsetp.lt.u32 %p, %n, 7;\n@%p bra LOOP;\n";
  for (int i = 3; i < 6; ++i) body += fmt::format("add.u32 %s, %s, %r{};\n", i);
  const std::string text =
      thread_kernel(".reg .b32 %r<8>, %n, %s; .reg .pred %p;", body + "st.global.u32 [%out], %s;\nret;");
  const KernelImage small = lower_ok(text, level(LoweringLevel::kClean, 7));
  EXPECT_GT(small.spilled_registers, 0u);
  size_t branch = 0;
  while (small.ops[branch].kind != OpKind::kBranch) ++branch;
  for (size_t i = small.ops[branch].target; i < branch; ++i) {
    EXPECT_NE(small.ops[i].op_class, OpClass::kLoadLocal) << i;
    EXPECT_NE(small.ops[i].op_class, OpClass::kStoreLocal) << i;
  }
  expect_same_everywhere(text, 32, 7);
}

/// Sums sixteen values, each of which must be there until the end, `phases` times one after another.
std::string phases_of_sixteen(int phases) {
  std::string body = "mov.u32 %s, 1;\n";
  for (int phase = 0; phase < phases; ++phase) {
    const int first = 16 * phase;
    for (int i = 0; i < 16; ++i)
      body += fmt::format("ld.global.u32 %r{}, [%in+{}];\n", first + i, 4 * ((i + 5 * phase) % 32));
    // One of them is written a second time by some of the threads, and one by a loop.
    body += fmt::format("setp.gt.u32 %p, %tid0, {};\n@%p mov.u32 %r{}, 77;\n", 3 + phase, first + 2);
    body += fmt::format(
        "mov.u32 %n, 0;\nL{0}: add.u32 %r{1}, %r{1}, %r{2}; add.u32 %n, %n, 1; setp.lt.u32 %p, "
        "%n, %tid0; @%p bra L{0};\n",
        phase, first + 4, first + 7);
    for (int i = 0; i < 16; ++i) body += fmt::format("mad.lo.u32 %s, %s, 3, %r{};\n", first + i);
    for (int i = 16; i-- > 0;)
      body += fmt::format("xor.b32 %s, %s, %r{0}; add.u32 %s, %s, %r{0};\n", first + i);
  }
  return thread_kernel(".reg .b32 %r<128>, %s, %n; .reg .pred %p;", body + "st.global.u32 [%out], %s;\nret;");
}

TEST(Registers, SpilledValuesThatAreNotWantedTogetherShareTheirPlaces) {
  const KernelImage once = lower_ok(phases_of_sixteen(1), level(LoweringLevel::kClean, 10));
  const KernelImage often = lower_ok(phases_of_sixteen(8), level(LoweringLevel::kClean, 10));
  EXPECT_GE(once.local_bytes, 32u);
  EXPECT_GE(often.spilled_registers, 6 * once.spilled_registers);
  EXPECT_LE(often.local_bytes, once.local_bytes + 16);
  expect_same_everywhere(phases_of_sixteen(8), 32, 10);
}

TEST(Registers, MatrixKernelsFitTheirLaunchFiles) {
  const std::pair<const char*, uint32_t> kernels[] = {
      {"naive_8x8", 10}, {"naive_16x16", 10}, {"tiled_8x8", 13}, {"tiled_16x16", 13}, {"volkov", 30}};
  for (const auto& [name, limit] : kernels) {
    const std::string text = read_file(fmt::format(GPUSIM_SOURCE_DIR "/workloads/matmul/{}.ptx", name));
    const KernelImage image = lower_ok(text, level(LoweringLevel::kClean, limit));
    EXPECT_LE(image.registers, limit) << name;
    EXPECT_EQ(image.spilled_registers, 0u) << name;
    EXPECT_EQ(count_class(image, OpClass::kLoadLocal), 0u) << name;
    EXPECT_EQ(total_ptx(image), total_ptx(lower_ok(text, level(LoweringLevel::kNone)))) << name;
  }
}

/// CPU seconds to lower a kernel of `blocks` basic blocks of 46 operations, with one long dependence chain.
double seconds_to_lower(int blocks) {
  std::string body = "mov.u32 %r0, %tid0;\n";
  int next = 1;
  for (int block = 0; block < blocks; ++block) {
    for (int i = 0; i < 44; ++i, ++next)
      body += fmt::format("mad.lo.s32 %r{}, %r{}, 3, %r{};\n", next, next - 1, (next - 1) / 2);
    body += fmt::format("setp.eq.u32 %p{0}, %r{1}, 5;\n@%p{0} bra L{0};\nadd.s32 %r0, %r0, 1;\nL{0}:\n",
                        block, next - 1);
  }
  const std::string text = thread_kernel(".reg .b32 %r<34902>; .reg .pred %p<800>;",
                                         body + fmt::format("st.global.u32 [%out], %r{};\nret;", next - 1));
  const Module module = parse_ok(text);
  LoweringOptions options = level(LoweringLevel::kClean);
  options.max_registers = 1u << 20;
  const std::clock_t start = std::clock();
  const auto lowered = lower_kernel(module, *module.entries().at(0), options);
  const std::clock_t end = std::clock();
  EXPECT_TRUE(std::holds_alternative<KernelImage>(lowered));
  return static_cast<double>(end - start) / CLOCKS_PER_SEC;
}

/// Liveness is one bit per value and block, so this chain of long-lived values costs about the square.
TEST(Registers, LoweringTimeGrowsNoFasterThanTheSquareOfTheKernel) {
  seconds_to_lower(195);  // warms up
  const double small = std::min(seconds_to_lower(195), seconds_to_lower(195));
  EXPECT_LT(seconds_to_lower(780), 32 * small) << "16 would be quadratic, 64 cubic";
}

/// Registers for `statements`, which may use the parameters %a, %o and %n, and %t.
uint32_t registers_at(int capability, std::string_view statements) {
  const std::string text = fmt::format(
      ".version 9.0\n.target sm_{}\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 o, .param "
      ".u32 n)\n{{\n.reg .b64 %a, %o, %d<8>; .reg .b32 %n, %t, %r<16>; .reg .pred %p;\n"
      "ld.param.u64 %a, [a]; ld.param.u64 %o, [o]; ld.param.u32 %n, [n]; mov.u32 %t, %tid.x;\n"
      "cvta.to.global.u64 %a, %a; cvta.to.global.u64 %o, %o;\n{}\nret;\n}}\n",
      capability, statements);
  return lower_ok(text, level(LoweringLevel::kSchedule, 0, capability)).registers;
}

TEST(UniformRegisters, HaveTheWholeAddressOfAnAccessOn75) {
  // ptxas 13 gives 4 registers for 7.5 and 8 for 8.0, with the number of the block as with a parameter.
  for (const std::string_view index : {"mov.u32 %r0, %n;", "mov.u32 %r0, %ctaid.x;"}) {
    const std::string store =
        std::string(index) + "mul.wide.s32 %d0, %r0, 4; add.s64 %d1, %a, %d0; st.global.u32 [%d1], %t;";
    EXPECT_LE(registers_at(75, store), 6u) << index;
    EXPECT_GE(registers_at(80, store), 8u) << index;
  }
  EXPECT_LE(registers_at(75, "st.global.u32 [%a], 7;"), 4u);
}

TEST(UniformRegisters, HavePointersThatALoopMovesOnOn75) {
  // The pointer only: the counter is compared in a thread's register. ptxas gives 5, and 10 if the number of
  // rounds differs between threads.
  const auto loop = [](std::string_view rounds) {
    return fmt::format(
        "mov.u32 %r1, 0; mov.u64 %d0, %a;\nL: .pragma \"nounroll\";\nst.global.u32 [%d0], %t;\nadd.s64 %d0, "
        "%d0, 4; add.u32 %r1, %r1, 1; setp.lt.u32 %p, %r1, {}; @%p bra L;",
        rounds);
  };
  EXPECT_LE(registers_at(75, loop("%n")), 6u);
  EXPECT_GE(registers_at(75, loop("%t")), registers_at(75, loop("%n")) + 1);
}

TEST(UniformRegisters, DoNotHaveAProductWhoseFactorAThreadsRegisterHas) {
  // The 4 stands in a register for %t's product, so that of %n is made by the thread. Of three loads ptxas 13
  // makes 12 registers then, and 10 where the factors differ.
  const auto copy = [](int factor) {
    std::string load, sum;
    for (int i = 0; i < 16; ++i) load += fmt::format("ld.global.u32 %r{}, [%d3+{}];\n", i, 4 * i);
    for (int i = 1; i < 16; ++i) sum += fmt::format("mad.lo.u32 %r0, %r0, %r0, %r{};\n", i);
    return fmt::format(
        "mul.wide.u32 %d0, %t, {}; add.s64 %d1, %o, %d0; mul.wide.s32 %d2, %n, 4; add.s64 %d3, %a, %d2;\n"
        "{}{}st.global.u32 [%d1], %r0;",
        factor, load, sum);
  };
  EXPECT_GT(registers_at(75, copy(4)), registers_at(75, copy(8)));
}

}  // namespace
}  // namespace gpusim::isa
