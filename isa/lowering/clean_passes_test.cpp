// The passes of level `clean`: copies, constants, address sums, shared operands of capability 1.x.
#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

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

TEST(CleanPasses, AtomicsWhoseResultNobodyReadsHaveNone) {
  const auto results = [](const std::string& statement, const std::string& behind = "") {
    const KernelImage image = lower_ok(
        thread_kernel(
            ".reg .b32 %r<6>; .reg .f32 %f<4>; .reg .f64 %d<4>; .shared .align 8 .b8 s[64];",
            "mov.f32 %f0, 0f3F800000; mov.f64 %d0, 0d3FF0000000000000; " + statement + behind + " ret;"),
        level(LoweringLevel::kClean));
    for (const MicroOp& op : image.ops)
      if (op.kind == OpKind::kAtomic) return int{op.num_dst};
    return -1;
  };
  for (const char* statement :
       {"atom.global.add.f32 %f1, [%out], %f0;", "atom.global.add.f64 %d1, [%out], %d0;",
        "atom.global.add.u32 %r1, [%out], %tid0;", "atom.global.add.noftz.f16x2 %r1, [%out], %tid0;",
        "atom.shared.max.s32 %r1, [s], %tid0;"})
    EXPECT_EQ(results(statement), 0) << statement;
  EXPECT_EQ(results("atom.global.add.f32 %f1, [%out], %f0;", "st.global.f32 [%out+4], %f1;"), 1)
      << "it is read";
  // Of these there is no form without a result, or ptxas does not choose it.
  for (const char* statement :
       {"atom.add.u32 %r1, [%out], %tid0;", "atom.add.f32 %f1, [%out], %f0;",
        "atom.shared.add.f32 %f1, [s], %f0;", "atom.global.exch.b32 %r1, [%out], %tid0;",
        "atom.global.cas.b32 %r1, [%out], %tid0, 5;"})
    EXPECT_EQ(results(statement), 1) << statement;
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

/// A load's variable: of its offset, or of the constant that is its base.
std::string object_name(const KernelImage& image, const MicroOp& op) {
  const ObjectId object = op.memory.object;
  if (object == kMixedObjects) return "mixed";
  return object == kNoObject ? "" : image.addressed.at(object - kFirstObject).name;
}

TEST(CleanPasses, FoldedAddressesKeepTheirVariable) {
  const std::string text = thread_kernel(".reg .b32 %r<12>; .shared .b32 a[8], b[8]; .local .b32 own[2];", R"(
    mov.u32 %r0, b;
    shl.b32 %r1, %tid0, 2;
    add.s32 %r2, %r1, %r0;
    ld.shared.u32 %r3, [%r2+4];
    mov.u32 %r4, a;
    sub.s32 %r5, %r2, %r4;
    ld.shared.u32 %r6, [%r5];
    ld.shared.u32 %r7, [a+4];
    ld.shared.u32 %r8, [%r1];
    ld.local.u32 %r9, [own+4];
    ret;)");
  const KernelImage image = lower_ok(text, level(LoweringLevel::kClean));
  std::vector<std::string> names;
  for (const MicroOp& op : image.ops)
    if (op.kind == OpKind::kLoad && op.memory.space != Space::kParam) names.push_back(object_name(image, op));
  EXPECT_EQ(names, (std::vector<std::string>{"b", "mixed", "a", "", "own"}));
  for (const AddressedVariable& v : image.addressed) {
    if (v.name != "b") continue;
    EXPECT_EQ(v.offset, 32u);
    EXPECT_EQ(v.bytes, 32u);
    EXPECT_EQ(v.space, Space::kShared);
  }
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

size_t folds(std::string_view body, int capability = 13) {
  const std::string text = shared_kernel(body);
  expect_same_everywhere(text, 32);
  const KernelImage image = lower_ok(text, level(LoweringLevel::kClean, 0, capability));
  EXPECT_EQ(image.folded_loads.size(), count_class(image, OpClass::kSharedOperand));
  EXPECT_EQ(total_ptx(image), total_ptx(lower_ok(text, level(LoweringLevel::kNone))));
  return image.folded_loads.size();
}

TEST(SharedOperands, FoldIntoArithmetic) {
  EXPECT_EQ(folds("ld.shared.f32 %f1, [%r1]; fma.rn.f32 %f3, %f1, %f0, %f0;"), 1u);
  EXPECT_EQ(folds("ld.shared.f32 %f1, [%r1+64]; mul.f32 %f3, %f0, %f1;"), 1u);
  EXPECT_EQ(folds("ld.shared.f32 %f1, [%r1]; ld.shared.f32 %f2, [%r1+64]; add.f32 %f3, %f1, %f2;"), 1u);
  EXPECT_EQ(folds("ld.shared.f32 %f1, [%r1]; max.f32 %f3, %f1, %f0;"), 1u);
  EXPECT_EQ(folds("ld.shared.u32 %r2, [%r1]; and.b32 %r2, %tid0, %r2; cvt.rn.f32.u32 %f3, %r2;"), 1u);
  EXPECT_EQ(folds("ld.shared.u32 %r2, [%r1]; shr.u32 %r2, %r2, 4; cvt.rn.f32.u32 %f3, %r2;"), 1u);
  EXPECT_EQ(folds("ld.shared.f32 %f1, [%r1]; add.f32 %f3, %f1, %f0;", 20), 0u);
}
TEST(SharedOperands, ShareNoRowWithLoadsThatStay) {
  // Old PTX loads into one register again and again; what lies far behind its base is no operand. The far
  // load may move up between the near ones.
  const std::string text = shared_kernel(R"(
    mov.f32 %f3, 0f00000000;
    ld.shared.f32 %f1, [%r1];     mad.f32 %f3, %f0, %f1, %f3;
    ld.shared.f32 %f1, [%r1+4];   mad.f32 %f3, %f0, %f1, %f3;
    ld.shared.f32 %f1, [%r1+240]; mad.f32 %f3, %f0, %f1, %f3;)");
  const KernelImage image = lower_ok(text, level(LoweringLevel::kSchedule, 0, 13));
  ASSERT_EQ(image.folded_loads.size(), 2u);
  size_t loads = 0;
  for (const MicroOp& op : image.ops) {
    if (op.kind != OpKind::kLoad || op.memory.space != Space::kShared) continue;
    ++loads;
    EXPECT_NE(op.dst[0].offset, image.folded_loads[0].dst[0].offset);
  }
  EXPECT_EQ(loads, 1u);
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
            0u);                                                                     // two uses
  EXPECT_EQ(folds("ld.shared.f32 %f1, [%r1]; fma.rn.f32 %f3, %f0, %f0, %f1;"), 0u);  // the addend
  EXPECT_EQ(
      folds("ld.shared.u32 %r2, [%r1]; and.b32 %r2, %r2, 31; shl.b32 %r3, %tid0, %r2; cvt.rn.f32.u32 %f3, "
            "%r3;"),
      1u);  // the value to be shifted could be one, the count could not
  EXPECT_EQ(folds("ld.shared.u32 %r2, [%r1]; shl.b32 %r3, %tid0, %r2; cvt.rn.f32.u32 %f3, %r3;"), 0u);
  EXPECT_EQ(folds("ld.shared.u32 %r2, [%r1]; mul.lo.u32 %r3, %tid0, %r2; cvt.rn.f32.u32 %f3, %r3;"), 0u);
  EXPECT_EQ(folds("ld.shared.f32 %f1, [%r1+128]; add.f32 %f3, %f1, %f0;"), 0u);        // too far away
  EXPECT_EQ(folds("ld.shared.f32 %f1, [%r1]; bra L; L: add.f32 %f3, %f1, %f0;"), 0u);  // another block
  EXPECT_EQ(folds(".reg .pred %p; setp.gt.u32 %p, %tid0, 9; xor.b32 %r3, %r1, 0; ld.shared.f32 %f1, [%r3]; "
                  "@%p mov.u32 %r3, %r0; add.f32 %f3, %f1, %f0; st.global.u32 [%out+8], %r3;"),
            0u);  // address overwritten
}

TEST(DeadCode, PredicatesOfShufflesThatNobodyReadsAreNotWritten) {
  const std::string text = thread_kernel(".reg .b32 %r<4>; .reg .pred %p<3>;", R"(
    shfl.sync.bfly.b32 %r0|%p0, %tid0, 1, 31, -1;
    shfl.sync.bfly.b32 %r1|%p1, %tid0, 2, 31, -1;
    selp.u32 %r2, %r1, 7, %p1;
    add.u32 %r2, %r2, %r0;
    st.global.u32 [%out], %r2;
    ret;)");
  const KernelImage image = lower_ok(text, level(LoweringLevel::kClean, 0, 75));
  std::vector<uint32_t> written;
  for (const MicroOp& op : image.ops)
    if (op.op_class == OpClass::kWarp) written.push_back(op.num_sb_writes);
  EXPECT_EQ(written, (std::vector<uint32_t>{1, 2}));
  expect_same_everywhere(text, 64);
}

}  // namespace
}  // namespace gpusim::isa
