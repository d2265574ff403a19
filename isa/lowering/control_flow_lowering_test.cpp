// Lowering of branches, loops, exits and barriers: where lanes join, and what they compute.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

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
  EXPECT_EQ(o.out[6ul * 64], 2u);
  EXPECT_EQ(o.out[7ul * 64], 1u);
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
  EXPECT_EQ(o.out[2ul * 64], 1u);
  EXPECT_EQ(o.out[3ul * 64], 2u);
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
      EXPECT_EQ(o.out[t * 64ul] | uint64_t{o.out[t * 64 + 1]} << 32, x) << t;
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
  for (uint32_t t = 0; t < 128; ++t) EXPECT_EQ(o.out[t * 64ul], t ^ 127) << t;
  expect_same_everywhere(text, 128);
}

TEST(WaitingLoops, AreThoseWithAtomicsAndVolatileLoads) {
  const auto may_wait = [](std::string_view body) {
    const KernelImage image = lower_ok(
        thread_kernel(
            ".reg .b32 %r<9>; .reg .pred %p<3>; .shared .align 4 .b8 s[512];",
            fmt::format("mov.u32 %r1, 0; ld.volatile.global.u32 %r5, [%in+64];\nL: {} add.u32 %r1, %r1, 1; "
                        "setp.lt.u32 %p0, %r1, %tid0; @%p0 bra L; @%p0 bra M;\nM: st.global.u32 [%out], "
                        "%r1; atom.global.add.u32 %r5, [%in], 1; ret;",
                        body)),
        level(LoweringLevel::kClean));
    bool waits = false;
    for (size_t i = 0; i < image.ops.size(); ++i) {
      const MicroOp& op = image.ops[i];
      if (op.kind == OpKind::kBranch && op.target > i) {
        EXPECT_FALSE(op.may_wait) << "no way back";
      }
      waits = waits || op.may_wait;
    }
    return waits;
  };
  EXPECT_FALSE(may_wait(""));
  EXPECT_FALSE(may_wait("ld.global.u32 %r2, [%in]; st.volatile.global.u32 [%out], %r2;"));
  EXPECT_TRUE(may_wait("ld.volatile.global.u32 %r2, [%in]; add.u32 %r1, %r1, %r2;"));
  EXPECT_TRUE(may_wait("ld.volatile.shared.u32 %r2, [s]; add.u32 %r1, %r1, %r2;"));
  EXPECT_TRUE(may_wait("red.global.add.u32 [%out], 1;"));
}

TEST(ForeignStores, AreToArraysThatTheKernelReadsElsewhere) {
  const auto marked = [](std::string_view body, LoweringLevel at = LoweringLevel::kClean) {
    LoweringOptions options = level(at);
    options.address_of = [](const Variable& v) { return kDeviceMemoryBase + (v.name == "g" ? 0 : 4096); };
    const KernelImage image = lower_ok(
        thread_kernel(
            ".reg .b32 %r<4>; .reg .b64 %d<4>; .reg .pred %p; .shared .align 4 .b8 s[512];",
            std::string(body) + " ret;", "sm_35",
            ".global .align 8 .b8 g[4096]; .global .align 4 .b8 h[4096]; .const .align 8 .b8 c[64];"),
        options);
    const auto of_kind = [&](OpKind kind) {
      return std::ranges::count_if(image.ops,
                                   [kind](const MicroOp& op) { return op.kind == kind && op.others_access; });
    };
    EXPECT_EQ(image.has_foreign_stores, of_kind(OpKind::kStore) != 0) << body;
    return std::pair(of_kind(OpKind::kLoad), of_kind(OpKind::kStore));
  };
  const auto pair = [](long loads, long stores) { return std::pair<long, long>(loads, stores); };
  EXPECT_EQ(marked("ld.global.u32 %r0, [%in]; st.global.u32 [%in+4], %r0;"), pair(1, 1));
  EXPECT_EQ(marked("ld.global.u32 %r0, [%in]; mul.wide.u32 %d0, %r0, 4; add.s64 %d1, %in, %d0; "
                   "st.global.u32 [%d1], 1; st.global.u32 [%in], 0; ld.global.u32 %r1, [%out]; "
                   "st.global.u32 [%out], %r1;"),
            pair(1, 1))
      << "through what is in the array";
  EXPECT_EQ(marked("ld.global.u32 %r0, [%in]; st.global.u32 [%in], %r0;"), pair(0, 0)) << "its own place";
  EXPECT_EQ(marked("ld.global.u32 %r0, [%in]; st.global.u32 [%out+4], %r0;"), pair(0, 0)) << "another array";
  EXPECT_EQ(marked("ld.global.nc.u32 %r0, [%in]; st.global.u32 [%in+4], %r0;"), pair(0, 0)) << "read only";
  const std::string of_g = "mov.u64 %d0, g; add.s64 %d1, %d0, %off; ld.global.u32 %r0, [%d1+4]; ";
  EXPECT_EQ(marked(of_g + "st.global.u32 [%d1], %r0;"), pair(1, 1)) << "a variable";
  EXPECT_EQ(marked(of_g + "st.global.u32 [%d1], %r0;", LoweringLevel::kNone), pair(1, 1));
  EXPECT_EQ(marked(of_g + "mov.u64 %d2, h; add.s64 %d3, %d2, %off; st.global.u32 [%d3], %r0;"), pair(0, 0))
      << "another variable";
  EXPECT_EQ(marked("add.s64 %d0, %in, -256; ld.global.u32 %r0, [%d0]; add.s64 %d1, %out, -256; "
                   "st.global.u32 [%d1+4], %r0;"),
            pair(0, 0))
      << "a distance that two arrays have in common";
  EXPECT_EQ(marked("ld.shared.u32 %r0, [s]; st.shared.u32 [s+4], %r0; st.global.u32 [%out], %r0;"),
            pair(0, 0));
  const std::string of_pointer = "ld.global.u64 %d0, [%in+8]; ld.global.u32 %r0, [%d0]; ";
  const std::string pointer_again = "st.global.u32 [%out], %r0; ld.global.u64 %d1, [%in+8]; ";
  EXPECT_EQ(marked(of_pointer + "st.global.u32 [%d0+4], %r0;"), pair(1, 1)) << "a pointer in memory";
  EXPECT_EQ(marked(of_pointer + pointer_again + "st.global.u32 [%d1+4], %r0;"), pair(1, 1))
      << "that is loaded again";
  EXPECT_EQ(marked("ld.global.v2.u64 {%d0, %d1}, [%in]; ld.global.u32 %r0, [%d1]; " + pointer_again +
                   "st.global.u32 [%d1+4], %r0;"),
            pair(1, 1))
      << "with others";
  EXPECT_EQ(marked(of_pointer + "st.global.u32 [%d0], %r0;"), pair(0, 0)) << "its own place";
  EXPECT_EQ(marked(of_pointer + "ld.global.u64 %d1, [%in+16]; st.global.u32 [%d1+4], %r0;"), pair(0, 0))
      << "another pointer";
  EXPECT_EQ(marked("mov.u64 %d2, g; ld.global.u64 %d0, [%d2]; ld.global.u32 %r0, [%d0+4]; "
                   "ld.global.u64 %d1, [%d2]; st.global.u32 [%d1], %r0;"),
            pair(1, 1))
      << "a variable that is a pointer";
  EXPECT_EQ(marked("ld.const.u64 %d0, [c+8]; ld.global.u32 %r0, [%d0+4]; st.global.u32 [%out], %r0; "
                   "ld.const.u64 %d1, [c+8]; st.global.u32 [%d1], %r0;"),
            pair(1, 1))
      << "a pointer in constant memory";
  EXPECT_EQ(marked("mov.u64 %d0, %in; L: ld.global.u32 %r0, [%d0]; st.global.u32 [%d0+4], %r0; "
                   "ld.global.u64 %d0, [%d0+8]; setp.ne.s64 %p, %d0, 0; @%p bra L;"),
            pair(2, 1))
      << "a list";
}

LoweringOptions meeting() {
  LoweringOptions o = level(LoweringLevel::kSchedule, 0, 90);
  o.reconverge_operations = true;
  return o;
}

/// A loop of as many rounds as %n says.
std::string counted_rounds(std::string_view n) {
  return thread_kernel(
      ".reg .pred %p; .reg .b32 %r<4>, %n;",
      fmt::format(
          "{}\nmov.u32 %r0, 0; mov.u32 %r1, 1;\nLOOP: .pragma \"nounroll\"; mad.lo.u32 %r1, %r1, 3, %tid0; "
          "add.u32 %r0, %r0, 1;\nsetp.lt.u32 %p, %r0, %n; @%p bra LOOP;\n"
          "st.global.u32 [%out], %r1; ret;",
          n),
      "sm_75");
}

TEST(ReconvergeOperations, EachGroupOfLanesExecutesItWhereItComesThere) {
  const std::string text = counted_rounds("add.u32 %n, %tid0, 1;");
  const KernelImage image = lower_ok(text, meeting());
  ASSERT_EQ(count_class(image, OpClass::kReconverge), 1u);
  const auto at = static_cast<uint32_t>(
      std::ranges::find(image.ops, OpClass::kReconverge, &MicroOp::op_class) - image.ops.begin());
  for (const MicroOp& op : image.ops) {
    if (op.kind == OpKind::kBranch && op.guard != kNoPredicate) {
      EXPECT_EQ(op.reconverge, at + 1) << "lanes meet behind it";
    }
  }
  const Outcome without = run_image(lower_ok(text, level(LoweringLevel::kSchedule, 0, 90)), 32);
  const Outcome with = run_image(image, 32);
  ASSERT_TRUE(with.result.finished);
  EXPECT_EQ(with.out, without.out);
  EXPECT_EQ(with.result.ptx_instructions, without.result.ptx_instructions);
  EXPECT_EQ(with.result.micro_ops, without.result.micro_ops + 32) << "every lane leaves the loop alone";
}

TEST(ReconvergeOperations, BranchesThatPartNobodyNeedNone) {
  EXPECT_EQ(count_class(lower_ok(counted_rounds("ld.param.u32 %n, [pin];"), meeting()), OpClass::kReconverge),
            0u);
  LoweringOptions clean = meeting();
  clean.level = LoweringLevel::kClean;
  EXPECT_EQ(count_class(lower_ok(counted_rounds("add.u32 %n, %tid0, 1;"), clean), OpClass::kReconverge), 0u)
      << "PTX as it stands has none";
}

TEST(ReconvergeOperations, TablesOfBranchesMeetAtOne) {
  const std::string text = thread_kernel(".reg .b32 %r<4>;", R"(
    and.b32 %r0, %tid0, 1;
    mov.u32 %r1, %tid0;
    TARGETS: .branchtargets ONE, TWO;
    brx.idx %r0, TARGETS;
  ONE:
    mul.lo.u32 %r1, %r1, %r1;
    bra JOIN;
  TWO:
    add.u32 %r1, %r1, 5;
  JOIN:
    st.global.u32 [%out], %r1;
    ret;)",
                                         "sm_75");
  const KernelImage image = lower_ok(text, meeting());
  EXPECT_EQ(count_class(image, OpClass::kReconverge), 1u);
  const Outcome o = run_image(image, 32);
  ASSERT_TRUE(o.result.finished);
  EXPECT_EQ(o.out[3ul * 64], 8u);
  EXPECT_EQ(o.out[4ul * 64], 16u);
}

}  // namespace
}  // namespace gpusim::isa
