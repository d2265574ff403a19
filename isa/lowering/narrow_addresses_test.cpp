// What 64-bit addresses cost on machines whose pointers have 32 bits.
#include <fmt/format.h>

#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

size_t wide(const std::string& body, int capability = 13) {
  const KernelImage image =
      lower_ok(thread_kernel(".reg .b64 %rd<8>; .reg .b32 %r<8>; .reg .pred %p0;", body + "ret;"),
               level(LoweringLevel::kSchedule, 0, capability));
  return count_class(image, OpClass::kInt64) + count_class(image, OpClass::kIntMul64) +
         count_class(image, OpClass::kCvt64);
}

TEST(NarrowAddresses, WhatOnlyAddressesAreMadeOf) {
  const std::string store = "st.global.u32 [%out], %tid0;";
  EXPECT_EQ(wide(store), 0u);
  EXPECT_GT(wide(store, 20), 0u);
  const std::string index = "ld.global.u32 %r0, [%in]; and.b32 %r0, %r0, 15; ";
  EXPECT_EQ(wide(index +
                 "cvt.u64.u32 %rd0, %r0; shl.b64 %rd1, %rd0, 2; add.s64 %rd2, %in, %rd1; ld.global.u32 %r1, "
                 "[%rd2]; st.global.u32 [%out], %r1;"),
            0u);
  EXPECT_EQ(wide(index + "mul.wide.s32 %rd1, %r0, 12; add.s64 %rd2, %in, %rd1; ld.global.u32 %r1, [%rd2]; "
                         "st.global.u32 [%out], %r1;"),
            0u);
  // In a loop, the address of the next round is one, too.
  EXPECT_EQ(wide("mov.u64 %rd0, %in; mov.u32 %r0, 0; L: ld.global.u32 %r1, [%rd0]; add.u32 %r0, %r0, %r1; "
                 "add.s64 %rd0, "
                 "%rd0, 4; setp.lt.u32 %p0, %r0, 9; @%p0 bra L; st.global.u32 [%out], %r0;"),
            0u);
}

TEST(NarrowAddresses, OtherValuesKeepTheirWidth) {
  EXPECT_EQ(wide("add.s64 %rd0, %in, 64; mul.wide.u32 %rd1, %tid0, %tid0; st.global.u64 [%out], %rd1;"), 1u);
  EXPECT_EQ(wide("ld.global.u64 %rd0, [%in]; add.s64 %rd1, %rd0, %rd0; st.global.u64 [%out], %rd1;"), 1u);
  // An address and a value.
  EXPECT_EQ(
      wide("mul.wide.u32 %rd0, %tid0, 4; add.s64 %rd1, %in, %rd0; ld.global.u32 %r1, [%rd1]; st.global.u64 "
           "[%out], %rd1; st.global.u32 [%out+8], %r1;"),
      4u);  // and what gives %in
}

uint32_t registers(const std::string& body, int capability) {
  return lower_ok(thread_kernel(".reg .b64 %rd<16>; .reg .b32 %r<16>;", body + "ret;"),
                  level(LoweringLevel::kSchedule, 0, capability))
      .registers;
}

TEST(NarrowAddresses, TakeOneRegister) {
  // Six pointers that are alive at once: loaded, so that they are no sums that the accesses make.
  std::string loads, stores;
  for (int i = 0; i < 6; ++i) {
    loads += "ld.global.u64 %rd" + std::to_string(i) + ", [%in+" + std::to_string(8 * i) + "]; ";
    stores += "st.global.u32 [%rd" + std::to_string(5 - i) + "], %tid0; ";
  }
  const uint32_t pointers = registers(loads + stores, 13);
  EXPECT_GE(pointers, 6u);
  EXPECT_LE(pointers, 9u);
  // The same values, stored: they keep both halves.
  std::string values;
  for (int i = 0; i < 6; ++i)
    values += "st.global.u64 [%out+" + std::to_string(8 * i) + "], %rd" + std::to_string(5 - i) + "; ";
  EXPECT_GE(registers(loads + values, 13), 12u);
  // Names that stand for pointers first and for values later take the registers of values.
  EXPECT_GE(registers(loads + stores + loads + values, 13), 12u);
  EXPECT_GE(registers(loads + stores, 20), 12u);
}

/// A kernel with 16 values of 64 bits that `value` makes of %r{0}, alive at once: all are made in one block
/// and read in another.
KernelImage image_of(std::string_view value, std::string_view use, int capability) {
  std::string body, uses;
  for (int i = 0; i < 16; ++i) body += fmt::format("ld.volatile.global.u32 %r{}, [%in+{}];\n", i, 4 * i);
  for (int i = 0; i < 16; ++i) body += fmt::format(fmt::runtime(value), i) + "\n";
  for (int i = 15; i >= 0; --i) uses += fmt::format(fmt::runtime(use), i) + "\n";
  const std::string text = thread_kernel(
      ".reg .b64 %rd<16>, %s; .reg .b32 %r<16>, %i; .reg .pred %p; .local .align 8 .b8 l[256];",
      "mov.u64 %s, 0; mov.u32 %i, 0;\n" + body + "LOOP: membar.cta;\n" + uses +
          "add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %tid0; @%p bra LOOP; st.global.u64 [%out], %s; ret;",
      "sm_75");
  LoweringOptions options = level(LoweringLevel::kSchedule, 0, capability);
  options.max_registers = 255;
  return lower_ok(text, options);
}
uint32_t with_values(std::string_view value, std::string_view use, int capability) {
  return image_of(value, use, capability).registers;
}

TEST(NarrowAddresses, ValuesWhoseUpperHalfIsZeroTakeOneRegister) {
  // Sums take them as they are: ptxas 13 reads the zero register for the upper half.
  for (const int capability : {75, 80, 90}) {
    const uint32_t both = with_values("cvt.s64.s32 %rd{0}, %r{0};", "add.s64 %s, %s, %rd{0};", capability);
    EXPECT_LE(with_values("cvt.u64.u32 %rd{0}, %r{0};", "add.s64 %s, %s, %rd{0};", capability) + 12, both);
    // What is stored needs both.
    EXPECT_GE(with_values("cvt.u64.u32 %rd{0}, %r{0};", "st.global.u64 [%out+8], %rd{0};", capability) + 4,
              both);
  }
  EXPECT_EQ(with_values("cvt.u64.u32 %rd{0}, %r{0};", "add.s64 %s, %s, %rd{0};", 35),
            with_values("cvt.s64.s32 %rd{0}, %r{0};", "add.s64 %s, %s, %rd{0};", 35));
}

TEST(NarrowAddresses, AddressesOfLocalMemoryHave32Bits) {
  const std::string_view address =
      "and.b32 %r{0}, %r{0}, 60; cvt.u64.u32 %rd{0}, %r{0}; mov.u64 %s, l; add.s64 %rd{0}, %rd{0}, %s; "
      "add.s64 %rd{0}, %rd{0}, %rd{0};";
  const std::string_view global =
      "and.b32 %r{0}, %r{0}, 60; cvt.u64.u32 %rd{0}, %r{0}; add.s64 %rd{0}, %rd{0}, %out; add.s64 "
      "%rd{0}, %rd{0}, %rd{0};";
  for (const int capability : {75, 80, 90}) {
    const uint32_t local = with_values(address, "st.local.u32 [%rd{0}], %i;", capability);
    EXPECT_LE(local + 10, with_values(global, "st.global.u32 [%rd{0}], %i;", capability)) << capability;
    // Each is two sums, which are one operation and not two.
    EXPECT_LE(image_of(address, "st.local.u32 [%rd{0}], %i;", capability).machine_instructions() + 16,
              image_of(global, "st.global.u32 [%rd{0}], %i;", capability).machine_instructions());
  }
}

TEST(NarrowAddresses, MultiplicationsByAPowerOfTwoAreShifts) {
  const auto products = [](const std::string& factor) {
    const KernelImage image =
        lower_ok(thread_kernel(".reg .b64 %rd<8>; .reg .b32 %r<8>;",
                               "ld.global.u32 %r0, [%in]; and.b32 %r0, %r0, 3; mul.wide.u32 %rd0, %r0, " +
                                   factor + "; add.s64 %rd1, %out, %rd0; st.global.u32 [%rd1], %r0; ret;"),
                 level(LoweringLevel::kSchedule));
    return count_class(image, OpClass::kIntMul);
  };
  EXPECT_EQ(products("4"), 0u);
  EXPECT_EQ(products("12"), 1u);
}

}  // namespace
}  // namespace gpusim::isa
