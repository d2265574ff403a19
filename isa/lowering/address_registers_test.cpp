// Address registers, addresses of global memory without a constant, and instructions that 1.x lacks.
#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

constexpr std::string_view kDeclarations =
    ".reg .b64 %rd<8>; .reg .b32 %r<16>; .reg .f32 %f<16>; .reg .pred %p<4>; .shared .align 4 .b8 s[1024];";

KernelImage lowered_addresses(const std::string& body, int capability = 13) {
  return lower_ok(thread_kernel(kDeclarations, body), level(LoweringLevel::kSchedule, 0, capability));
}

/// Operations without a PTX instruction of their own that machines below 2.0 add to `body`.
size_t address_registers(const std::string& body) {
  const std::string whole = body + " ret;";
  const auto count = [&](LoweringLevel l) {
    const KernelImage image = lower_ok(thread_kernel(kDeclarations, whole), level(l));
    return static_cast<size_t>(std::ranges::count_if(
        image.ops, [](const MicroOp& op) { return op.kind == OpKind::kAlu && op.ptx_count == 0; }));
  };
  expect_same_everywhere(thread_kernel(kDeclarations, whole), 40);
  return count(LoweringLevel::kSchedule) - count(LoweringLevel::kClean);
}

/// Two indices below 32 that are no shifts.
const std::string kIndices =
    "ld.global.u32 %r1, [%in]; and.b32 %r1, %r1, 124; xor.b32 %r2, %r1, 64; xor.b32 %r3, %r1, 32; "
    "xor.b32 %r4, %r1, 16; xor.b32 %r5, %r1, 8; ";
const std::string kUse = "st.global.u32 [%out], %r9; ";

TEST(AddressRegisters, ABaseInAGeneralRegisterTakesAnInstruction) {
  EXPECT_EQ(address_registers(kIndices + "st.shared.u32 [%r1], %tid0; mov.u32 %r9, %r1; " + kUse), 1u);
  // Accesses with the same base share it, whatever their offsets.
  EXPECT_EQ(
      address_registers(
          kIndices + "st.shared.u32 [%r1], %tid0; st.shared.u32 [%r1+512], %r1; mov.u32 %r9, %r1; " + kUse),
      1u);
  // A base that is written again is another one.
  EXPECT_EQ(address_registers(kIndices +
                              "st.shared.u32 [%r1], %tid0; xor.b32 %r1, %r1, 4; st.shared.u32 [%r1], %tid0; "
                              "mov.u32 %r9, %r1; " +
                              kUse),
            2u);
  EXPECT_EQ(address_registers("st.shared.u32 [s], %tid0; mov.u32 %r9, %tid0; " + kUse), 0u);
}

TEST(AddressRegisters, AShiftWritesOne) {
  const std::string index = "ld.global.u32 %r0, [%in]; and.b32 %r0, %r0, 31; shl.b32 %r1, %r0, 2; ";
  EXPECT_EQ(
      address_registers(
          index + "st.shared.u32 [%r1], %tid0; st.shared.u32 [%r1+4], %tid0; mov.u32 %r9, %r0; " + kUse),
      0u);
  // Its value is used as well.
  EXPECT_EQ(address_registers(index + "st.shared.u32 [%r1], %tid0; mov.u32 %r9, %r1; " + kUse), 1u);
}

TEST(AddressRegisters, ThereAreFour) {
  const auto stores = [](std::initializer_list<int> bases) {
    std::string text = kIndices;
    for (const int base : bases) text += "st.shared.u32 [%r" + std::to_string(base) + "], %tid0; ";
    return text +
           "xor.b32 %r9, %r1, %r2; xor.b32 %r9, %r9, %r3; xor.b32 %r9, %r9, %r4; xor.b32 %r9, %r9, %r5; " +
           kUse;
  };
  EXPECT_EQ(address_registers(stores({1, 2, 3, 4, 1, 2, 3, 4})), 4u);
  EXPECT_EQ(address_registers(stores({1, 2, 3, 4, 5, 1, 2, 3, 5})), 5u);  // %r4 is not needed again
  EXPECT_EQ(address_registers(stores({1, 2, 3, 4, 5, 1, 2, 3, 4, 5})),
            6u);  // the one that is needed last comes again
}

TEST(AddressRegisters, LoopsKeepThem) {
  const std::string loop =
      "mov.u32 %r8, 0; L: st.shared.u32 [%r1], %r8; add.u32 %r8, %r8, 1; "
      "setp.lt.u32 %p0, %r8, 5; @%p0 bra L; mov.u32 %r9, %r1; " +
      kUse;
  const auto in_loop = [](const std::string& body) {
    const KernelImage image = lowered_addresses(body + " ret;");
    const auto branch =
        std::ranges::find_if(image.ops, [](const MicroOp& op) { return op.kind == OpKind::kBranch; });
    return static_cast<size_t>(branch - image.ops.begin()) + 1 - branch->target;
  };
  EXPECT_EQ(in_loop(kIndices + loop), 4u);
  expect_same_everywhere(thread_kernel(kDeclarations, kIndices + loop + " ret;"), 40);
  // A base that a constant is address_registers to, and nothing else, stays in one.
  const std::string walk =
      "mov.u32 %r8, 0; L: st.shared.u32 [%r1], %r8; add.u32 %r1, %r1, 4; add.u32 %r8, %r8, 1; "
      "setp.lt.u32 %p0, %r8, 5; @%p0 bra L; mov.u32 %r9, %r8; " +
      kUse;
  EXPECT_EQ(in_loop(kIndices + walk), 5u);
  EXPECT_EQ(address_registers(kIndices + walk), 1u);
}

TEST(AddressRegisters, NoRegistersAndNothingLater) {
  const std::string body = kIndices + "st.shared.u32 [%r1], %tid0; mov.u32 %r9, %r1; " + kUse + "ret;";
  const KernelImage clean = lower_ok(thread_kernel(kDeclarations, body), level(LoweringLevel::kClean));
  // Pointers of 64 bits take one register each: the one to results, and the sum that makes it.
  EXPECT_LT(lowered_addresses(body).registers, clean.registers);
  EXPECT_EQ(lowered_addresses(body).registers,
            lowered_addresses("mov.u32 %r9, %tid0; " + kUse + "ret;").registers + 1);
  EXPECT_EQ(lowered_addresses(body).ops.size(), clean.ops.size() + 1);
  EXPECT_EQ(lowered_addresses(body, 20).ops.size() + 2, clean.ops.size());  // parameters are operands
}

TEST(AddressRegisters, AKernelThatReadsTheClockMeasuresWhatItSays) {
  const std::string body =
      kIndices + "mov.u32 %r7, %clock; st.shared.u32 [%r1], %tid0; xor.b32 %r9, %r1, %r7; " + kUse + "ret;";
  EXPECT_EQ(lowered_addresses(body).ops.size(),
            lower_ok(thread_kernel(kDeclarations, body), level(LoweringLevel::kClean)).ops.size());
}

TEST(AddressRegisters, GlobalMemoryTakesNoConstant) {
  EXPECT_EQ(address_registers("ld.global.u32 %r9, [%in]; " + kUse), 0u);
  EXPECT_EQ(address_registers("ld.global.u32 %r9, [%in+4]; " + kUse), 1u);
  EXPECT_EQ(address_registers(
                "ld.global.u32 %r8, [%in+4]; ld.global.u32 %r9, [%in+8]; add.u32 %r9, %r8, %r9; " + kUse),
            2u);
  // The same sum once.
  EXPECT_EQ(address_registers("ld.global.u32 %r8, [%out+4]; ld.global.u32 %r9, [%in]; xor.b32 %r9, %r9, 1; "
                              "st.global.u32 [%out+4], %r9; " +
                              kUse),
            1u);
  const KernelImage image = lowered_addresses("ld.global.u32 %r9, [%in+4]; " + kUse + "ret;");
  EXPECT_EQ(count_class(image, OpClass::kInt64), 0u) << "addresses have 32 bits";
}

TEST(MissingInstructions, SelectionMovesTwice) {
  const std::string test = "ld.global.u32 %r1, [%in]; ld.global.u32 %r2, [%out]; setp.gt.u32 %p0, %r1, %r2; ";
  EXPECT_EQ(address_registers(test + "selp.u32 %r9, 7, 9, %p0; " + kUse), 1u);
  // The result takes the register of a value that is not read again.
  EXPECT_EQ(address_registers("ld.global.u32 %r3, [%in]; xor.b32 %r3, %r3, 5; setp.gt.u32 %p0, %tid0, 3; "
                              "selp.u32 %r9, %r3, 9, %p0; " +
                              kUse),
            0u);
}

TEST(MissingInstructions, SineOfAPreparedArgument) {
  EXPECT_EQ(
      address_registers("ld.global.f32 %f1, [%in]; sin.approx.f32 %f2, %f1; st.global.f32 [%out], %f2;"), 1u);
}

}  // namespace
}  // namespace gpusim::isa
