// What the launch gives as operands: parameters, sizes, and constant memory at addresses that are known.
#include "isa/lowering/launch_constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

TEST(LaunchConstants, ValuesOfTheLaunch) {
  const std::string text = R"(.version 4.2
.target sm_35
.address_size 64
.visible .entry k(.param .u64 pin, .param .u64 pout, .param .u32 a, .param .f64 d)
{ .reg .b64 %out, %off; .reg .b32 %r<6>; .reg .f64 %fd<3>;
  mov.u32 %r0, %tid.x; mul.wide.u32 %off, %r0, 256; ld.param.u64 %out, [pout]; add.s64 %out, %out, %off;
  ld.param.u32 %r1, [a]; mad.lo.u32 %r2, %r0, %r1, %r0;
  mov.u32 %r3, %ntid.x; add.u32 %r2, %r2, %r3;
  ld.param.f64 %fd0, [d]; cvt.rn.f64.u32 %fd1, %r0; add.f64 %fd2, %fd1, %fd0;
  st.global.u32 [%out], %r2; st.global.u32 [%out+4], %r1; st.global.f64 [%out+8], %fd2; ret; })";
  for (const int capability : {13, 20, 75}) {
    const KernelImage image = lower_ok(text, level(LoweringLevel::kSchedule, 0, capability));
    EXPECT_EQ(image.launch_constants.empty(), capability < 20);
    TestMemory memory;
    const uint64_t out = memory.add(64ul * 256);
    const double d = 2.5;
    uint64_t bits = 0;
    std::memcpy(&bits, &d, sizeof d);
    BlockRunner runner(image, memory, pack_params({0, out, 1000, bits}), 64);
    ASSERT_TRUE(runner.run().finished);
    for (uint32_t t : {0u, 1u, 63u}) {
      const std::vector<uint32_t> words = memory.read<uint32_t>(out + t * 256ul, 2);
      EXPECT_EQ(words[0], t * 1000 + t + 64);
      EXPECT_EQ(words[1], 1000u);
      EXPECT_EQ(memory.read<double>(out + t * 256ul + 8, 1)[0], t + 2.5);
    }
  }
}

/// A kernel that adds constants of `.const .align 16 .b8 taps[32]` to its thread's number.
std::string constant_kernel(std::string_view body) {
  return fmt::format(R"(.version 7.0
.target sm_75
.address_size 64
.const .align 16 .b8 taps[32] = {{1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0}};
.visible .entry k(.param .u64 pin, .param .u64 pout)
{{ .reg .b64 %out, %off, %rd<4>; .reg .b32 %r<12>; .reg .pred %p0;
  mov.u32 %r0, %tid.x; mul.wide.u32 %off, %r0, 256; ld.param.u64 %out, [pout]; add.s64 %out, %out, %off;
  {}
  st.global.u32 [%out], %r0; ret; }})",
                     body);
}

TEST(LaunchConstants, ConstantMemoryAtKnownAddressesIsAnOperand) {
  struct Case {
    std::string_view body;
    size_t constants, loads;  // of constant memory
    uint32_t first;           // what thread 0 stores
  };
  for (const Case& c : {
           Case{"ld.const.u32 %r1, [taps+4]; add.u32 %r0, %r0, %r1;", 1, 0, 2},
           // One for an instruction: the other is in a register.
           Case{"ld.const.u32 %r1, [taps]; ld.const.u32 %r2, [taps+8]; mad.lo.u32 %r0, %r1, %r2, %r0;", 1, 1,
                3},
           Case{"mov.u64 %rd0, taps; ld.const.u32 %r1, [%rd0+12]; add.u32 %r0, %r0, %r1;", 1, 0, 4},
           Case{"ld.const.v4.u32 {%r1, %r2, %r3, %r4}, [taps]; add.u32 %r0, %r0, %r1; add.u32 %r0, %r0, %r2; "
                "xor.b32 %r0, %r0, %r3; sub.u32 %r0, %r0, %r4;",
                4, 0, (3 ^ 3) - 4u},
           // Part of a word, an address that varies, and what lies behind the variable.
           Case{"ld.const.u8 %r1, [taps+4]; add.u32 %r0, %r0, %r1;", 0, 1, 2},
           Case{"and.b32 %r1, %r0, 4; cvt.u64.u32 %rd1, %r1; mov.u64 %rd0, taps; add.u64 %rd0, %rd0, %rd1; "
                "ld.const.u32 %r1, [%rd0]; add.u32 %r0, %r0, %r1;",
                0, 1, 1},
       }) {
    SCOPED_TRACE(c.body);
    const std::string text = constant_kernel(c.body);
    TestMemory memory;
    const Module module = parse_ok(text);
    const uint64_t taps = memory.add_values(std::vector<uint32_t>{1, 2, 3, 4, 5, 6, 0, 0});
    LoweringOptions options = level(LoweringLevel::kSchedule);
    options.machine_capability = 75;
    options.address_of = [taps](const Variable&) { return taps; };
    const auto lowered = lower_kernel(module, *module.entries().front(), options);
    const auto& image = std::get<KernelImage>(lowered);
    const auto reads_memory = [](const LaunchConstant& k) {
      return k.source == LaunchConstant::Source::kConstantMemory;
    };
    EXPECT_EQ(static_cast<size_t>(std::ranges::count_if(image.launch_constants, reads_memory)), c.constants);
    EXPECT_EQ(static_cast<size_t>(std::ranges::count_if(
                  image.ops, [](const MicroOp& op) { return op.memory.space == Space::kConst; })),
              c.loads);
    options.level = LoweringLevel::kNone;
    const auto as_written = lower_kernel(module, *module.entries().front(), options);
    EXPECT_EQ(total_ptx(image), total_ptx(std::get<KernelImage>(as_written)));
    const uint64_t out = memory.add(32ul * 256);
    BlockRunner runner(image, memory, pack_params({0, out}), 32);
    ASSERT_TRUE(runner.run().finished);
    EXPECT_EQ(memory.read<uint32_t>(out, 1)[0], c.first);
  }
}

TEST(LaunchConstants, WordsSideBySideAreInRegistersUnlessAnEarlierBlockReadsOneAlone) {
  // ptxas 13 for 9.0: of fma x, x, a, b in a loop, the source that is a uniform register (-1: none).
  const std::string leaves = " setp.gt.f32 %q, %x, 0f40000000; @%q bra END;\n";
  const std::string conditional =
      "setp.lt.s32 %q, %n, 9; @%q bra BEHIND;\n"
      "ld.volatile.global.f32 %y, [%p]; add.f32 %x, %x, %b; st.volatile.global.f32 [%p+8], %x;\n"
      "ld.volatile.global.f32 %y, [%p+4]; st.volatile.global.f32 [%p+8], %y;\nBEHIND:\n";
  const struct {
    const char* parameters;
    std::string before;
    int operand;
  } cases[] = {
      {".param .u64 p, .param .f32 a, .param .f32 b, .param .u32 n", "", -1},
      {".param .u64 p, .param .u32 n, .param .f32 a, .param .f32 b", "", 1},
      {".param .u64 p, .param .f32 a, .param .f32 b, .param .u32 n", "add.f32 %x, %x, %b;" + leaves, 2},
      {".param .u64 p, .param .f32 a, .param .f32 b, .param .u32 n", "mul.f32 %x, %x, %a;" + leaves, 1},
      {".param .u64 p, .param .f32 a, .param .f32 b, .param .u32 n",
       "mul.f32 %x, %x, %a; add.f32 %x, %x, %b;" + leaves, -1},
      {".param .u64 p, .param .f32 a, .param .f32 b, .param .u32 n", "st.global.f32 [%p+8], %b;" + leaves, 1},
      {".param .u64 p, .param .f32 a, .param .f32 b, .param .u32 n",
       "fma.rn.f32 %x, %x, 0f4048F5C3, %b;" + leaves, 1},
      {".param .u64 p, .param .f32 a, .param .f32 b, .param .u32 n", conditional, -1},
  };
  for (const auto& c : cases) {
    const KernelImage image = lower_ok(
        fmt::format(
            ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k({}) {{\n"
            ".reg .b64 %p; .reg .f32 %a, %b, %x, %y; .reg .b32 %n, %i; .reg .pred %q;\n"
            "ld.param.u64 %p, [p]; ld.param.f32 %a, [a]; ld.param.f32 %b, [b]; ld.param.u32 %n, [n];\n"
            "ld.global.f32 %x, [%p]; mov.u32 %i, 0;\n{}"
            "LOOP: .pragma \"nounroll\";\nfma.rn.f32 %x, %x, %a, %b;\n"
            "add.s32 %i, %i, 1; setp.lt.s32 %q, %i, %n; @%q bra LOOP;\nEND: st.global.f32 [%p], %x; ret; "
            "}}\n",
            c.parameters, c.before),
        level(LoweringLevel::kSchedule, 0, 90));
    // The last one is that of the loop.
    const auto fma = std::find_if(image.ops.rbegin(), image.ops.rend(), [](const MicroOp& op) {
      return op.kind == OpKind::kAlu && op.num_src == 3 && op.flops == 2;
    });
    ASSERT_NE(fma, image.ops.rend());
    int operand = -1;
    for (int i = 0; i < 3; ++i)
      if (fma->src[i].bank == Bank::kConstant) operand = i;
    EXPECT_EQ(operand, c.operand) << c.parameters << "\n" << c.before;
  }
}

TEST(LaunchConstants, AddressesOfGlobalVariablesAreAdded) {
  // An access adds 24 bits; ptxas 13 adds each array's address (c[4][...]) to the index, in one instruction.
  const Module module = parse_ok(R"(.version 7.0
.target sm_75
.address_size 64
.global .align 4 .b8 one[4096];
.global .align 4 .b8 two[4096];
.visible .entry k()
{ .reg .b64 %d<4>; .reg .b32 %r<2>;
  mov.u32 %r0, %tid.x; mul.wide.u32 %d0, %r0, 4; mov.u64 %d1, one; add.s64 %d1, %d1, %d0; mov.u64 %d2, two;
  add.s64 %d2, %d2, %d0; st.global.u32 [%d1+8], %r0; st.global.u32 [%d2], %r0; ret; })");
  LoweringOptions options = level(LoweringLevel::kSchedule);
  options.machine_capability = 75;
  TestMemory memory;
  const uint64_t one = memory.add(4096), two = memory.add(4096);
  options.address_of = [&](const Variable& v) { return v.name == "one" ? one : two; };
  const auto lowered = lower_kernel(module, *module.entries().front(), options);
  const auto& image = std::get<KernelImage>(lowered);
  EXPECT_EQ(count_class(image, OpClass::kIntMulWide), 2u);
  BlockRunner runner(image, memory, {}, 32);
  ASSERT_TRUE(runner.run().finished);
  EXPECT_EQ(memory.read<uint32_t>(one + 8, 32)[31], 31u);
  EXPECT_EQ(memory.read<uint32_t>(two, 32)[5], 5u);
}

TEST(LaunchConstants, ALoadBehindTheVariableStaysAndFails) {
  const Module module = parse_ok(constant_kernel("ld.const.u32 %r1, [taps+32]; add.u32 %r0, %r0, %r1;"));
  TestMemory memory;
  const uint64_t taps = memory.add(32);
  LoweringOptions options = level(LoweringLevel::kSchedule);
  options.machine_capability = 75;
  options.address_of = [taps](const Variable&) { return taps; };
  const auto lowered = lower_kernel(module, *module.entries().front(), options);
  const uint64_t out = memory.add(32ul * 256);
  BlockRunner runner(std::get<KernelImage>(lowered), memory, pack_params({0, out}), 32);
  EXPECT_EQ(runner.run().fault, FaultKind::kOutOfBounds);
}

}  // namespace
}  // namespace gpusim::isa
