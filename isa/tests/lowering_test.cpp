// Lowering: control flow, calls, clean passes, shared operands, spilling, instruction counts.
#include "isa/lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <random>

#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

const MicroOp* find_op(const KernelImage& image, OpKind kind) {
  for (const MicroOp& op : image.ops) {
    if (op.kind == kind) return &op;
  }
  return nullptr;
}
size_t count_class(const KernelImage& image, OpClass c) {
  size_t n = 0;
  for (const MicroOp& op : image.ops) n += op.op_class == c;
  return n;
}
uint64_t total_ptx(const KernelImage& image) {
  uint64_t n = 0;
  for (const MicroOp& op : image.ops) n += op.ptx_count;
  return n;
}

TEST(ControlFlowLowering, DivergentBranchJoinsAtThePostDominator) {
  const std::string text = thread_kernel(".reg .pred %p; .reg .b32 %r<4>;", R"(
    and.b32 %r0, %tid0, 1;
    setp.eq.u32 %p, %r0, 0;
    @%p bra EVEN;
    mov.u32 %r1, 10;
    bra JOIN;
  EVEN:
    mov.u32 %r1, 20;
  JOIN:
    st.global.u32 [%out], %r1;
    ret;)");
  const KernelImage image = lower_ok(text, level(LoweringLevel::kNone));
  const MicroOp* branch = find_op(image, OpKind::kBranch);
  ASSERT_NE(branch, nullptr);
  ASSERT_LT(branch->target, image.ops.size());
  ASSERT_LT(branch->reconverge, image.ops.size());
  EXPECT_EQ(image.ptx[image.ops[branch->target].ptx_index].text, "mov.u32 %r1, 20");
  EXPECT_EQ(image.ptx[image.ops[branch->reconverge].ptx_index].text, "st.global.u32 [%out], %r1");
  const Outcome o = run_image(image, 32);
  EXPECT_EQ(o.out[0], 20u);
  EXPECT_EQ(o.out[64], 10u);
  expect_same_everywhere(text, 45);
}

TEST(ControlFlowLowering, BranchWhoseArmsExitJoinsNowhere) {
  const std::string text = thread_kernel(".reg .pred %p;", R"(
    setp.lt.u32 %p, %tid0, 7;
    @%p bra A;
    st.global.u32 [%out], 1;
    exit;
  A:
    st.global.u32 [%out], 2;
    exit;)");
  const KernelImage image = lower_ok(text, level(LoweringLevel::kClean));
  EXPECT_EQ(find_op(image, OpKind::kBranch)->reconverge, kNoTarget);
  const Outcome o = run_image(image, 32);
  EXPECT_EQ(o.out[6 * 64], 2u);
  EXPECT_EQ(o.out[7 * 64], 1u);
}

TEST(ControlFlowLowering, GuardedExitAndFallingOffTheEnd) {
  const std::string text = thread_kernel(".reg .pred %p;", R"(
    st.global.u32 [%out], 1;
    setp.lt.u32 %p, %tid0, 3;
    @%p exit;
    st.global.u32 [%out], 2;)");
  const KernelImage image = lower_ok(text, level(LoweringLevel::kClean));
  EXPECT_EQ(image.ops.back().kind, OpKind::kExit);
  const Outcome o = run_image(image, 32);
  ASSERT_TRUE(o.result.finished);
  EXPECT_EQ(o.out[2 * 64], 1u);
  EXPECT_EQ(o.out[3 * 64], 2u);
  EXPECT_EQ(o.result.ptx_instructions, 10u);  // six of the frame, four written here
}

TEST(ControlFlowLowering, LoopsWithDivergentTripCounts) {
  expect_same_everywhere(thread_kernel(".reg .pred %p, %q; .reg .b32 %r<8>; .reg .f32 %f<4>;", R"(
    mov.u32 %r0, 0;
    mov.u32 %r1, 0;
    mov.f32 %f0, 0f3F800000;
  OUTER:
    mov.u32 %r2, 0;
  INNER:
    mad.lo.s32 %r1, %r2, %r0, %r1;
    cvt.rn.f32.s32 %f1, %r1;
    fma.rn.f32 %f0, %f1, 0f3A83126F, %f0;
    and.b32 %r3, %r1, 15;
    setp.gt.u32 %q, %r3, 12;
    @%q bra NEXT;
    add.s32 %r2, %r2, 1;
    setp.lt.u32 %p, %r2, %tid0;
    @%p bra INNER;
  NEXT:
    add.s32 %r0, %r0, 1;
    setp.lt.u32 %p, %r0, 6;
    @%p bra OUTER;
    st.global.u32 [%out], %r1;
    st.global.f32 [%out+4], %f0;
    ret;)"),
                         64, 8);
}

TEST(ControlFlowLowering, LanesThatLeftALoopKeepWideValuesWhileOthersRunIt) {
  const std::string text = thread_kernel(".reg .b32 %i, %a<4>; .reg .b64 %x; .reg .pred %p;", R"(
    mov.u32 %i, 0;
  LOOP:
    mad.lo.u32 %a0, %i, 3, 7;
    xor.b32 %a1, %a0, %tid0;
    mul.lo.u32 %a2, %a1, %a0;
    add.u32 %a3, %a2, %a1;
    mul.wide.u32 %x, %a3, %a0;
    add.u32 %i, %i, 1;
    setp.lt.u32 %p, %i, %tid0;
    @%p bra LOOP;
    st.global.u64 [%out], %x;
    ret;)");
  for (const LoweringLevel l : {LoweringLevel::kNone, LoweringLevel::kClean}) {
    const Outcome o = run_image(lower_ok(text, level(l)), 32);
    ASSERT_TRUE(o.result.finished);
    for (uint32_t t = 0; t < 32; ++t) {
      const uint32_t a0 = 3 * (std::max(t, 1u) - 1) + 7, a1 = a0 ^ t, a3 = a1 * a0 + a1;
      const uint64_t x = uint64_t{a3} * a0;
      EXPECT_EQ(o.out[t * 64] | uint64_t{o.out[t * 64 + 1]} << 32, x) << t;
    }
  }
}

TEST(ControlFlowLowering, BarriersJoinTheWarpsOfABlock) {
  const std::string text = thread_kernel(".reg .b32 %r<6>; .shared .align 4 .b8 tile[512];", R"(
    mov.u32 %r0, tile;
    shl.b32 %r1, %tid0, 2;
    add.s32 %r2, %r0, %r1;
    st.shared.u32 [%r2], %tid0;
    bar.sync 0;
    xor.b32 %r3, %tid0, 127;
    shl.b32 %r3, %r3, 2;
    add.s32 %r3, %r0, %r3;
    ld.shared.u32 %r4, [%r3];
    st.global.u32 [%out], %r4;
    ret;)");
  const KernelImage image = lower_ok(text, level(LoweringLevel::kClean));
  EXPECT_EQ(image.static_shared_bytes, 512u);
  const Outcome o = run_image(image, 128);
  for (uint32_t t = 0; t < 128; ++t) EXPECT_EQ(o.out[t * 64], t ^ 127) << t;
  expect_same_everywhere(text, 128);
}

// --- calls ---

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
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(o.out[t * 64], t > 20 ? 100 : 2 * t + 100) << t;
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
  EXPECT_EQ(o.out[4 * 64], 108u);
  EXPECT_EQ(o.out[5 * 64], 7u);
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
  EXPECT_EQ(o.out[3 * 64], 8u);
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
  const auto calls = [](int n) {
    std::string text;
    for (int i = 0; i < n; ++i) text += "call f;\n";
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
}

TEST(Unsupported, StatementsAreRefusedWithTheVerifiersReasonAndTheirPosition) {
  const std::string text = thread_kernel(".reg .b32 %r<4>;", "cvt.rna.tf32.f32 %r0, %r1;\nret;", "sm_90");
  const Module module = parse_ok(text);
  const auto lowered = lower_kernel(module, *module.entries().at(0), LoweringOptions{});
  const auto* errors = std::get_if<Diagnostics>(&lowered);
  ASSERT_NE(errors, nullptr);
  ASSERT_EQ(errors->size(), 1u);
  EXPECT_EQ(errors->front().message, "'cvt.rna.tf32.f32' is not supported yet");
  const size_t at = text.find("cvt.rna.tf32.f32");
  EXPECT_EQ(errors->front().loc.line,
            1 + std::count(text.begin(), text.begin() + static_cast<long>(at), '\n'));
}

TEST(Unsupported, CompiledFilesLowerOrSaySo) {
  size_t lowered = 0;
  for (const auto& e : std::filesystem::directory_iterator(GPUSIM_SOURCE_DIR "/isa/tests/nvcc")) {
    if (e.path().extension() != ".ptx") continue;
    const Module module = parse_ok(read_file(e.path().string()));
    for (const Function* entry : module.entries()) {
      LoweringOptions options;
      options.max_registers = 255;
      options.address_of = [](const Variable&) { return kDeviceMemoryBase; };
      const auto image = lower_kernel(module, *entry, options);
      const auto* errors = std::get_if<Diagnostics>(&image);
      lowered += errors == nullptr;
      for (size_t i = 0; errors != nullptr && i < errors->size(); ++i)
        EXPECT_THAT((*errors)[i].message, testing::HasSubstr("not supported yet")) << e.path();
    }
  }
  EXPECT_GT(lowered, 0u);
}

// --- clean passes ---

TEST(CleanPasses, CopiesAndConstantsDisappear) {
  const std::string text = thread_kernel(".reg .b32 %r<6>;", R"(
    mov.u32 %r0, 3;
    mov.u32 %r1, %r0;
    add.s32 %r2, %tid0, %r1;
    mov.b32 %r3, %r2;
    mul.lo.s32 %r4, %r3, %r3;
    st.global.u32 [%out], %r3;
    ret;)");
  const KernelImage none = lower_ok(text, level(LoweringLevel::kNone)),
                    clean = lower_ok(text, level(LoweringLevel::kClean));
  EXPECT_EQ(none.ops.size(), 13u);
  EXPECT_EQ(clean.ops.size(), 8u);  // three moves, the unused product and the input address are gone
  EXPECT_EQ(total_ptx(clean), total_ptx(none));
  EXPECT_EQ(total_ptx(none), 13u);
  expect_same_everywhere(text, 32);
}

TEST(CleanPasses, GuardedOrRepeatedCopiesStay) {
  expect_same_everywhere(thread_kernel(".reg .b32 %r<6>; .reg .pred %p;", R"(
    mov.u32 %r0, %tid0;
    mov.u32 %r1, %r0;
    add.s32 %r0, %r0, 1;
    setp.gt.u32 %p, %tid0, 9;
    @%p mov.u32 %r1, %r0;
    mov.u32 %r2, %r1;
    @%p mov.u32 %r1, 77;
    st.global.u32 [%out], %r1;
    st.global.u32 [%out+4], %r2;
    ret;)"),
                         32);
}

TEST(CleanPasses, AddressSumsFoldIntoTheAccess) {
  const std::string text = thread_kernel(".reg .b64 %rd<4>; .reg .b32 %r<2>;", R"(
    add.s64 %rd0, %in, 8;
    add.s64 %rd1, %rd0, 4;
    ld.global.u32 %r0, [%rd1+-8];
    sub.s64 %rd2, %out, 16;
    st.global.u32 [%rd2+16], %r0;
    ret;)");
  const KernelImage clean = lower_ok(text, level(LoweringLevel::kClean));
  const MicroOp* load = nullptr;
  for (const MicroOp& op : clean.ops) {
    if (op.op_class == OpClass::kLoadGlobal) load = &op;
  }
  ASSERT_NE(load, nullptr);
  EXPECT_EQ(load->memory.offset, 4);
  EXPECT_EQ(clean.ops.size(), 9u);
  expect_same_everywhere(text, 32);
}

TEST(CleanPasses, ABlockThatVanishesKeepsItsCount) {
  const std::string text = thread_kernel(".reg .b32 %r<4>; .reg .pred %p;", R"(
    setp.gt.u32 %p, %tid0, 3;
    @%p bra END;
    mov.u32 %r0, 1;
    add.s32 %r1, %r0, 2;
  END:
    ret;)");
  const KernelImage clean = lower_ok(text, level(LoweringLevel::kClean));
  const MicroOp* nop = find_op(clean, OpKind::kNop);
  ASSERT_NE(nop, nullptr);
  EXPECT_EQ(nop->ptx_count, 2);
  expect_same_everywhere(text, 32);
}

// --- shared operands of capability 1.x ---

std::string shared_kernel(std::string_view body) {
  return thread_kernel(".reg .f32 %f<8>; .reg .b32 %r<8>; .shared .align 4 .b8 s[512];", std::string(R"(
    shl.b32 %r0, %tid0, 2;
    mov.u32 %r1, s;
    add.s32 %r1, %r1, %r0;
    cvt.rn.f32.u32 %f0, %tid0;
    st.shared.f32 [%r1], %f0;
    st.shared.f32 [%r1+128], %f0;
    bar.sync 0;)") + std::string(body) + "\nst.global.f32 [%out], %f3;\nret;");
}
size_t folds(std::string_view body, int capability = 13) {
  const std::string text = shared_kernel(body);
  expect_same_everywhere(text, 32);
  const KernelImage image = lower_ok(text, level(LoweringLevel::kClean, 0, capability));
  EXPECT_EQ(image.folded_loads.size(), count_class(image, OpClass::kSharedOperand));
  EXPECT_EQ(total_ptx(image), total_ptx(lower_ok(text, level(LoweringLevel::kNone))));
  return image.folded_loads.size();
}

TEST(SharedOperands, FoldIntoMadMulAdd) {
  EXPECT_EQ(folds("ld.shared.f32 %f1, [%r1]; fma.rn.f32 %f3, %f1, %f0, %f0;"), 1u);
  EXPECT_EQ(folds("ld.shared.f32 %f1, [%r1+128]; mul.f32 %f3, %f0, %f1;"), 1u);
  EXPECT_EQ(folds("ld.shared.f32 %f1, [%r1]; ld.shared.f32 %f2, [%r1+128]; add.f32 %f3, %f1, %f2;"), 1u);
  EXPECT_EQ(folds("ld.shared.f32 %f1, [%r1]; add.f32 %f3, %f1, %f0;", 20), 0u);
}
TEST(SharedOperands, DoNotFoldAcrossWhatCouldChangeThem) {
  EXPECT_EQ(folds("ld.shared.f32 %f1, [%r1]; bar.sync 0; add.f32 %f3, %f1, %f0;"), 0u);
  EXPECT_EQ(folds("ld.shared.f32 %f1, [%r1]; st.shared.f32 [%r1], %f0; add.f32 %f3, %f1, %f0;"), 0u);
  EXPECT_EQ(folds("ld.volatile.shared.f32 %f1, [%r1]; add.f32 %f3, %f1, %f0;"), 0u);
  EXPECT_EQ(folds("ld.shared.f32 %f1, [%r1]; ld.volatile.shared.f32 %f2, [%r1]; add.f32 %f3, %f1, %f2;"), 0u);
  EXPECT_EQ(folds("ld.shared.f32 %f1, [%r1]; atom.shared.add.u32 %r2, [%r1], 0; add.f32 %f3, %f1, %f0;"), 0u);
}
TEST(SharedOperands, DoNotFoldOtherUses) {
  EXPECT_EQ(folds("ld.shared.f32 %f1, [%r1]; add.f32 %f2, %f1, %f0; add.f32 %f3, %f1, %f2;"),
            0u);                                                                       // two uses
  EXPECT_EQ(folds("ld.shared.f32 %f1, [%r1]; max.f32 %f3, %f1, %f0;"), 0u);            // not add, mul, mad
  EXPECT_EQ(folds("ld.shared.f32 %f1, [%r1]; bra L; L: add.f32 %f3, %f1, %f0;"), 0u);  // another block
  EXPECT_EQ(folds(".reg .pred %p; setp.gt.u32 %p, %tid0, 9; xor.b32 %r3, %r1, 0; ld.shared.f32 %f1, [%r3]; "
                  "@%p mov.u32 %r3, %r0; add.f32 %f3, %f1, %f0; st.global.u32 [%out+8], %r3;"),
            0u);  // address overwritten
}

// --- registers ---

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

// --- random programs ---

class ProgramGenerator {
 public:
  explicit ProgramGenerator(uint32_t seed) : random_(seed) {}

  std::string text() {
    std::string body;
    for (int i = 0; i < 8; ++i)
      body += fmt::format("ld.global.b32 %r{0}, [%in+{1}];\nld.global.f32 %f{0}, [%in+{2}];\n", i, 4 * i,
                          32 + 4 * i);
    for (int i = 0; i < 4; ++i) {
      body += fmt::format("cvt.u64.u32 %d{0}, %r{0};\nsetp.lt.s32 %p{0}, %r{0}, %r{1};\n", i, i + 1);
    }
    body += "mov.u32 %n, 0;\nLOOP:\n";
    for (int part = 0; part < 4; ++part) {
      for (int i = 0; i < 12; ++i) body += statement();
      body += fmt::format("@{}%p{} bra SKIP{};\n", pick(2) ? "!" : "", pick(4), part);
      for (int i = 0; i < 6; ++i) body += statement();
      body += fmt::format("SKIP{}:\n", part);
    }
    body += "add.u32 %n, %n, 1;\nsetp.lt.u32 %q, %n, 3;\n@%q bra LOOP;\n";
    for (int i = 0; i < 8; ++i) {
      body += fmt::format("st.global.b32 [%out+{}], %r{};\n", 4 * i, i);
      body += fmt::format("st.global.f32 [%out+{}], %f{};\n", 32 + 4 * i, i);
      if (i < 4) body += fmt::format("st.global.b64 [%out+{}], %d{};\n", 64 + 8 * i, i);
    }
    return thread_kernel(
        ".reg .b32 %r<8>, %n, %c<4>; .reg .f32 %f<8>; .reg .b64 %d<4>, %a; .reg .pred %p<4>, %q; "
        ".local .align 8 .b8 store[64];",
        body + "ret;");
  }

 private:
  uint32_t pick(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  std::string r() {
    return pick(6) == 0 ? std::to_string(static_cast<int>(pick(200)) - 100) : fmt::format("%r{}", pick(8));
  }
  std::string f() { return pick(6) == 0 ? "0f40490FDB" : fmt::format("%f{}", pick(8)); }
  std::string statement() {
    const std::string guard = pick(4) == 0 ? fmt::format("@{}%p{} ", pick(2) ? "!" : "", pick(4)) : "";
    const uint32_t d = pick(8), w = pick(4);
    switch (pick(16)) {
      case 0:
        return guard + fmt::format("add.s32 %r{}, {}, {};\n", d, r(), r());
      case 1:
        return guard + fmt::format("mul.lo.s32 %r{}, {}, {};\n", d, r(), r());
      case 2:
        return guard + fmt::format("mad.lo.s32 %r{}, {}, {}, {};\n", d, r(), r(), r());
      case 3:
        return guard + fmt::format("shl.b32 %r{}, {}, {};\n", d, r(), pick(40));
      case 4:
        return guard + fmt::format("mov.u32 %r{}, {};\n", d, r());
      case 5:
        return guard + fmt::format("setp.gt.s32 %p{}, {}, {};\n", w, r(), r());
      case 6:
        return guard + fmt::format("selp.b32 %r{}, {}, {}, %p{};\n", d, r(), r(), w);
      case 7:
        return guard + fmt::format("fma.rn.f32 %f{}, {}, {}, {};\n", d, f(), f(), f());
      case 8:
        return guard + fmt::format("mov.f32 %f{}, {};\n", d, f());
      case 9:
        return guard + fmt::format("cvt.rn.f32.s32 %f{}, %r{};\n", d, pick(8));
      case 10:
        return guard + fmt::format("mul.wide.u32 %d{}, %r{}, %r{};\n", w, pick(8), pick(8));
      case 11:
        return guard + fmt::format("add.s64 %d{}, %d{}, %d{};\n", w, pick(4), pick(4));
      case 12:
        return guard + fmt::format("cvt.u32.u64 %r{}, %d{};\n", d, w);
      case 13:
        return guard + fmt::format("mov.b64 {{%r{}, %c0}}, %d{};\n", d, w);
      case 14:
        return guard + fmt::format("st.local.b32 [store+{}], %r{};\n", 4 * pick(4), pick(8)) +
               fmt::format("mov.u64 %a, store;\nadd.s64 %a, %a, {};\nld.local.b32 %r{}, [%a];\n", 4 * w, d);
      default:
        return guard + fmt::format("xor.pred %p{}, %p{}, !%p{};\n", w, pick(4), pick(4));
    }
  }
  std::mt19937 random_;
};

TEST(RandomPrograms, EveryLoweringGivesTheSameResultsAndCounts) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    expect_same_everywhere(ProgramGenerator(seed).text(), 40, 14);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace gpusim::isa
