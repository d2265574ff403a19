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

}  // namespace
}  // namespace gpusim::isa
