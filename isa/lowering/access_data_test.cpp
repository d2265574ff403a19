// Registers that ptxas 13.0 gives kernels of a statement or two for sm_75, sm_80 and sm_90: what an access
// reads besides variables (access_data.h) decides about them.
#include "isa/lowering/access_data.h"

#include <fmt/format.h>

#include <array>

#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

constexpr std::array kAccessCapabilities = {75, 80, 90};

uint32_t registers_with(std::string_view body, int capability) {
  const std::string text = fmt::format(
      ".version 7.8\n.target sm_{}\n.address_size 64\n"
      ".global .align 8 .b8 va[4096]; .global .align 8 .b8 vb[4096]; .global .align 8 .b8 vc[4096];\n"
      ".visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n)\n{{\n.reg .pred %p<3>;\n"
      ".reg .b64 %a<9>, %d<3>; .reg .b32 %t, %r<20>;\n"
      "ld.param.u64 %a0, [p]; ld.param.u64 %a1, [q]; ld.param.u32 %r0, [n];\nmov.u32 %t, %tid.x;\n"
      "mul.wide.u32 %a2, %t, 4; mul.wide.u32 %a3, %t, 8; add.s64 %a4, %a0, %a2; add.s64 %a5, %a0, %a3;\n"
      "{}\nret;\n}}\n",
      capability, body);
  LoweringOptions options = level(LoweringLevel::kSchedule, 0, capability);
  options.max_registers = 255;
  options.address_of = stand_in_addresses();
  options.threads_per_sm = threads_per_sm(capability);
  return lower_ok(text, options).registers;
}

struct Probe {
  std::string_view body;
  std::array<uint32_t, 3> registers;  ///< of ptxas, by kAccessCapabilities
};

void expect_registers(std::initializer_list<Probe> probes) {
  for (const Probe& probe : probes)
    for (size_t i = 0; i < kAccessCapabilities.size(); ++i)
      EXPECT_EQ(registers_with(probe.body, kAccessCapabilities[i]), probe.registers[i])
          << kAccessCapabilities[i] << ": " << probe.body;
}

TEST(AccessData, FromEightOnAnAddressThatIsANumberHasAPairOfRegisters) {
  expect_registers({
      {"st.global.u32 [va], %t;", {4, 8, 8}},
      {"st.global.u32 [va], %t; st.global.u32 [vb], %t;", {4, 10, 10}},
      {"st.global.u32 [va], %t; st.global.u32 [vb], %t; st.global.u32 [vc], %t;", {4, 12, 12}},
      {"ld.global.u32 %r1, [va]; ld.global.u32 %r2, [vb]; add.u32 %r3, %r1, %r2; st.global.u32 [vc], %r3;",
       {6, 12, 12}},
      {"setp.ne.u32 %p1, %t, 0; @%p1 bra E; st.global.u32 [va], %r0; st.global.u32 [vb], 0; E:", {4, 10, 10}},
  });
  // One pair for all of a variable, and in the constant bank also for what is added to its address.
  EXPECT_EQ(
      registers_with("st.global.u32 [va], %t; st.global.u32 [va+4], %t; st.global.u32 [va+8], %r0;", 90),
      10u);
  EXPECT_EQ(registers_with("mov.u64 %a6, va; add.s64 %a7, %a6, %a2; st.global.u32 [%a7], 1;", 90), 10u);
}

TEST(AccessData, NumbersThatAreStoredAreReadLate) {
  expect_registers({
      {"st.global.u32 [%a4], 1; st.global.u32 [%a4+4], 2; st.global.u32 [%a4+8], 3;", {12, 12, 12}},
      {"st.global.u32 [%a0], 1; st.global.u32 [%a1], 2; st.global.u32 [%a0+8], 3;", {6, 14, 14}},
  });
}

TEST(AccessData, SixtyFourBitsAreAPairThoughTheyAreANumber) {
  expect_registers({
      {"st.global.f64 [%a5], 0d3FF0000000000000;", {8, 8, 10}},
      {"st.global.f64 [%a5], 0d0000000000000000;", {6, 6, 8}},
      {"red.global.add.u64 [%a5], 7;", {8, 8, 10}},
      {"add.s64 %a6, %a1, %a3; st.global.u64 [%a5], 7; st.global.u64 [%a6], 9;", {12, 12, 12}},
  });
}

TEST(AccessData, WordsOfAVectorStandSideBySideThoughTheyAreNumbers) {
  EXPECT_EQ(registers_with("mov.u32 %r9, 5; st.global.v4.u32 [%a0], {%r9, %r9, %r9, %r9};", 80), 10u);
  expect_registers({
      {"mov.u32 %r9, 5; st.global.v2.u32 [%a5], {%t, %r9};", {8, 8, 8}},
      {"mov.u32 %r9, 0; st.global.v2.u32 [%a5], {%r9, %r9};", {6, 6, 8}},
  });
}

TEST(AccessData, WhatIsComparedAndWhatIsSwappedStandSideBySideAndTheResultInTheirPlace) {
  expect_registers({
      {"atom.global.cas.b32 %r1, [%a4], %r0, %t; st.global.u32 [%a4+4], %r1;", {8, 8, 8}},
      {"cvt.u64.u32 %d1, %t; atom.global.cas.b64 %d2, [%a5], %a1, %d1; st.global.u64 [%a5+8], %d2;",
       {10, 10, 10}},
      {"atom.global.exch.b32 %r1, [%a4], 1; st.global.u32 [%a4+4], %r1;", {8, 8, 10}},
  });
}

TEST(AccessData, OneLaneOfAWarpHasTheSumAlone) {
  expect_registers({
      {"ld.global.u32 %r2, [%a4]; red.global.max.u32 [%a1], %r2;", {10, 10, 10}},
      {"ld.global.u32 %r2, [%a4]; setp.gt.s32 %p1, %r2, 0; @!%p1 bra E; st.global.u32 [%a4+4], 1;\n"
       "red.global.add.u32 [%a1], 1; E:",
       {8, 12, 12}},
  });
  EXPECT_EQ(registers_with("red.global.add.u32 [%a0], 1;", 80), 8u);
  EXPECT_EQ(registers_with("red.global.add.u32 [%a0], 1;", 90), 8u);
}

TEST(AccessData, NamesWhatIsInRegistersOfTheThread) {
  lir::Op store;
  store.kind = OpKind::kStore;
  store.memory.element_bytes = 8;
  store.memory.has_base = true;
  store.num_src = 2;
  store.src[0] = lir::Value{0, true, 0};
  store.src[1] = lir::Value{lir::kNoVar, true, 5};
  EXPECT_EQ(lir::access_data(store).values.size(), 1u);
  EXPECT_EQ(lir::access_data(store).width, 2u);
  store.src[1].bits = 0;
  EXPECT_TRUE(lir::access_data(store).values.empty());
  lir::Op swap = store;
  swap.kind = OpKind::kAtomic;
  swap.num_src = 3;
  swap.src[2] = lir::Value{lir::kNoVar, true, 0};
  EXPECT_EQ(lir::access_data(swap).values.size(), 2u) << "a zero that is compared with has a register";
  EXPECT_TRUE(lir::access_data(swap).side_by_side);
  swap.memory.aggregation = MemoryOperand::Aggregation::kAlways;
  swap.src[1] = lir::Value{1, false, 0};
  ASSERT_EQ(lir::access_data(swap).values.size(), 1u);
  EXPECT_EQ(lir::access_data(swap).values.front().var, 1u);
}

}  // namespace
}  // namespace gpusim::isa
