// Operations that machines do elsewhere than their PTX says.
#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

TEST(MachineClasses, ConstantsAtKnownAddressesAndConversionsGoWhereTheMachineHasThem) {
  const std::string text = thread_kernel(".reg .b32 %r<4>; .reg .f32 %f<3>; .reg .b64 %rd<3>;",
                                         R"(
    ld.const.u32 %r0, [numbers+4];
    mul.wide.u32 %rd0, %tid0, 4; mov.u64 %rd1, numbers; add.u64 %rd1, %rd1, %rd0;
    ld.const.u32 %r1, [%rd1];
    cvt.rn.f32.s32 %f0, %r0; cvt.rn.f32.u32 %f1, %r1; cvt.rzi.s32.f32 %r2, %f1;
    add.f32 %f0, %f0, %f1; st.global.f32 [%out], %f0; st.global.u32 [%out+4], %r2; ret;)");
  std::string with_table = text;
  with_table.insert(with_table.find(".visible"), ".const .align 4 .u32 numbers[32] = {1, 2, 3};\n");
  const auto made_for = [&](int capability) {
    LoweringOptions options = level(LoweringLevel::kClean, 0, capability);
    options.address_of = [](const Variable&) { return kDeviceMemoryBase; };
    return lower_ok(with_table, options);
  };
  EXPECT_EQ(count_class(made_for(60), OpClass::kLoadConst), 2u);
  for (const int capability : {70, 75, 80, 86, 90}) {
    const KernelImage image = made_for(capability);
    EXPECT_EQ(count_class(image, OpClass::kLoadConst), 1u) << capability;
    EXPECT_EQ(count_class(image, OpClass::kCvt), capability < 86 ? 3u : 1u) << capability;
  }
}

/// The class of the operation that a statement becomes for a machine of this compute capability.
OpClass class_of(const std::string& statement, int capability) {
  const std::string text = thread_kernel(
      ".reg .b16 %h<3>; .reg .b32 %r<4>; .reg .b64 %rd<3>; .reg .f32 %f<3>; .reg .f64 %d<3>;",
      "ld.global.b16 %h0, [%in]; ld.global.b32 %r0, [%in+4]; ld.global.b32 %r1, [%in+8]; ld.global.b32 %r2, "
      "[%in+12]; ld.global.b64 %rd0, [%in+16]; ld.global.f32 %f0, [%in+24]; ld.global.f64 %d0, [%in+32];\n"
      "mov.b16 %h1, %h0; mov.b32 %r3, %r0; mov.b64 %rd1, %rd0; mov.f32 %f1, %f0; mov.f64 %d1, %d0;\n" +
          statement +
          "; // this one\nst.global.b16 [%out], %h1; st.global.b32 [%out+4], %r3; st.global.b64 [%out+8], "
          "%rd1; st.global.f32 [%out+16], %f1; st.global.f64 [%out+24], %d1; ret;",
      "sm_90");
  const KernelImage image = lower_ok(text, level(LoweringLevel::kClean, 0, capability));
  const std::string_view name = std::string_view(statement).substr(0, statement.find(' '));
  for (const MicroOp& op : image.ops) {
    if (image.ptx[op.ptx_index].text.starts_with(name)) return op.op_class;
  }
  ADD_FAILURE() << statement;
  return OpClass::kNop;
}

TEST(MachineClasses, FewConversionsAreTheSpecialFunctions) {
  struct Case {
    std::string statement;
    OpClass before, at_70, at_80, at_90;
  };
  using enum OpClass;
  // What ptxas 13 makes of each for sm_75, sm_80 and sm_90; with a star, who needs the result waits at a
  // barrier.
  const std::vector<Case> cases{
      {"cvt.u64.u32 %rd1, %r0", kCvt64, kInt, kInt, kInt},         // nothing
      {"cvt.s64.s32 %rd1, %r0", kCvt64, kInt, kInt, kInt},         // SHF
      {"cvt.s16.s32 %h1, %r0", kCvt, kInt, kInt, kInt},            // PRMT
      {"cvt.sat.u8.s32 %r3, %r0", kCvt, kCvt, kCvt, kCvt},         // I2I
      {"cvt.f32.f16 %f1, %h0", kCvt, kHalf, kHalf, kHalf},         // HADD2
      {"cvt.f32.bf16 %f1, %h0", kCvt, kInt, kInt, kInt},           // SHF
      {"cvt.rn.f16.f32 %h1, %f0", kCvt, kCvt, kInt, kInt},         // F2F*, F2FP
      {"cvt.rn.f16x2.f32 %r3, %f0, %f0", kCvt, kCvt, kInt, kInt},  // F2FP
      {"cvt.rn.satfinite.e4m3x2.f32 %h1, %f0, %f0", kCvt, kCvt, kInt, kInt},
      {"cvt.rn.f16x2.e4m3x2 %r3, %h0", kCvt, kCvt, kInt, kInt},
      {"cvt.sat.f32.f32 %f1, %f0", kCvt, kFp32, kFp32, kFp32},         // FADD
      {"cvt.rni.f32.f32 %f1, %f0", kCvt, kCvt, kCvt, kCvt},            // FRND*
      {"cvt.rn.f32.s32 %f1, %r0", kCvt, kCvt, kCvt, kInt},             // I2F*, I2FP
      {"cvt.rn.f32.u16 %f1, %h0", kCvt, kCvt, kCvt, kInt},             // I2F*, I2FP
      {"cvt.rn.f32.s16 %f1, %h0", kCvt, kCvt, kCvt, kCvt},             // I2F*
      {"cvt.rn.f32.s64 %f1, %rd0", kCvt64, kCvt64, kCvt64, kCvt64},    // I2F*
      {"cvt.rzi.s32.f32 %r3, %f0", kCvt, kCvt, kCvt, kCvt},            // F2I*
      {"cvt.f64.f32 %d1, %f0", kCvt64, kCvt64, kCvt64, kCvt64},        // F2F*
      {"cvt.rn.f16.s32 %h1, %r0", kCvt, kCvt, kCvt, kCvt},             // I2F*
      {"cvt.pack.sat.s16.s32 %r3, %r0, %r1", kCvt, kInt, kInt, kInt},  // I2IP
      {"bfe.u32 %r3, %r0, %r1, %r2", kBitCount, kInt, kInt, kInt},     // SHF, SGXT
      {"bfe.s64 %rd1, %rd0, %r1, %r2", kBitCount, kInt64, kInt64, kInt64},
      {"bfi.b32 %r3, %r0, %r1, %r2, %r2", kBitCount, kInt, kInt, kInt},  // SHF, BMSK, LOP3
      {"szext.wrap.u32 %r3, %r0, %r1", kBitCount, kInt, kInt, kInt},     // SGXT
      {"bmsk.clamp.b32 %r3, %r0, %r1", kBitCount, kInt, kInt, kInt},     // BMSK
      {"popc.b32 %r3, %r0", kBitCount, kBitCount, kBitCount, kBitCount}  // POPC*
  };
  for (const Case& c : cases) {
    EXPECT_EQ(class_of(c.statement, 60), c.before) << c.statement;
    EXPECT_EQ(class_of(c.statement, 70), c.at_70) << c.statement;
    EXPECT_EQ(class_of(c.statement, 75), c.at_70) << c.statement;
    EXPECT_EQ(class_of(c.statement, 80), c.at_80) << c.statement;
    EXPECT_EQ(class_of(c.statement, 90), c.at_90) << c.statement;
  }
}

}  // namespace
}  // namespace gpusim::isa
