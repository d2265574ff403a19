// Conflicts at the banks of the register file, worked out by hand.
#include "components/sm/register_banks.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "components/testing/recorded_run.h"
#include "isa/lowering/lowering.h"
#include "isa/ptx/parser/parser.h"

namespace gpusim::comp {
namespace {

using testing::ElementsAre;
using Delays = std::vector<int>;

/// A machine like Hopper in what matters here: a multiply-add each cycle, integers every other.
core::MachineConfig hopper() {
  return test::tesla_c1060({"gpu.compute_capability=9.0", "scheduler.issue_cycles=1",
                            "scheduler.dependences=control_codes", "latency.fp32=4", "latency.int=4",
                            "latency.load_param=4", "latency.int64=4", "pipes.other.half=2", "latency.half=6",
                            "pipes.sp.int=2", "pipes.sp.fp32=1", "pipes.sp.load_param=1", "pipes.sp.int64=1",
                            "pipes.lsu.load_global=1", "coalescer.rule=cc20", "l1.size=16K", "lsu.queue=16"});
}

/// Delays of the operations of class `of` of a kernel with these parameters.
Delays delays(const std::string& body, const RegisterFile& file, isa::OpClass of = isa::OpClass::kFp32,
              const std::string& parameters = ".param .u64 out",
              isa::LoweringLevel level = isa::LoweringLevel::kNone) {
  const core::MachineConfig machine = hopper();
  std::string problem;
  const TimingTables timing = build_timing(machine, problem);
  EXPECT_EQ(problem, "");
  isa::ParseResult parsed =
      isa::parse_module(".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k(" + parameters +
                        ")\n{\n.reg .b32 %r<16>;\n.reg .f32 %f<16>, %a, %b;\n.reg .b64 %out;\n"
                        "ld.param.u64 %out, [out];\n" +
                        body + "ret;\n}\n");
  EXPECT_TRUE(parsed.ok());
  isa::LoweringOptions options;
  options.level = level;
  options.machine_capability = 90;
  auto lowered = isa::lower_kernel(parsed.module, *parsed.module.entries().at(0), options);
  EXPECT_TRUE(std::holds_alternative<isa::KernelImage>(lowered));
  const auto& image = std::get<isa::KernelImage>(lowered);
  const auto codes = control_codes(image, timing.of_scheduler[0], machine.scheduler);
  const auto all = register_bank_delays(image, file, timing.of_scheduler[0], codes);
  Delays list;
  for (size_t i = 0; i < image.ops.size(); ++i)
    if (image.ops[i].op_class == of && image.ops[i].num_src == 3) list.push_back(all[i]);
  return list;
}

constexpr RegisterFile kTwoBanks{2, 1};

/// Eight values that are alive before and behind it, so that each has a register of its own.
std::string among_eight(const std::string& body) {
  std::string before, after;
  for (int i = 1; i <= 8; ++i) {
    before += fmt::format("ld.global.f32 %f{0}, [%out+{1}];\n", i, 4 * i);
    after += fmt::format("st.global.f32 [%out+{1}], %f{0};\n", i, 4 * i);
  }
  return before + body + after;
}

TEST(RegisterBanks, AMultiplyAddOfThreeRegistersTakesTwoCycles) {
  // Each needs the one before, so nothing that it reads is still there.
  const std::string chain = "fma.rn.f32 %f1, %f1, %f2, %f3;\nfma.rn.f32 %f1, %f1, %f2, %f3;\n";
  EXPECT_THAT(delays(chain, kTwoBanks), ElementsAre(1, 1));
  EXPECT_THAT(delays(chain, {1, 1}), ElementsAre(2, 2));
  EXPECT_THAT(delays(chain, {1, 3}), ElementsAre(0, 0));
  EXPECT_THAT(delays(chain, {3, 1}), ElementsAre(0, 0));
}

TEST(RegisterBanks, RegistersThatAreReadTogetherLieApart) {
  EXPECT_THAT(delays("fma.rn.f32 %f1, %f1, %f2, %f2;\nfma.rn.f32 %f3, %f3, 0f3F000000, %f1;\n"
                     "fma.rn.f32 %f4, %f4, %f4, %f3;\nfma.rn.f32 %f5, %f5, 0f3F000000, 0f3F000000;\n",
                     kTwoBanks),
              ElementsAre(0, 0, 0, 0));
}

TEST(RegisterBanks, OperationsInALoopAreKeptApartFirst) {
  // Three registers of which each two are read together: one pair shares a bank, and it is not one of the
  // loop.
  const std::string before = "fma.rn.f32 %f4, %f1, %f1, %f3;\nadd.u32 %r1, %r1, 1;\nadd.u32 %r1, %r1, 1;\n";
  const std::string loop =
      "loop:\nfma.rn.f32 %f5, %f1, %f1, %f2;\nadd.u32 %r1, %r1, 1;\nfma.rn.f32 %f6, %f2, %f2, %f3;\n"
      "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 9;\n@%p1 bra loop;\n";
  EXPECT_THAT(delays(".reg .pred %p<2>;\n" + before + loop, kTwoBanks), ElementsAre(1, 0, 0));
}

TEST(RegisterBanks, WhatTheOperationBeforeReadInTheSamePlaceIsStillThere) {
  EXPECT_THAT(delays(among_eight("fma.rn.f32 %f1, %f2, %f3, %f1;\nfma.rn.f32 %f4, %f3, %f5, %f4;\n"
                                 "fma.rn.f32 %f6, %f7, %f8, %f3;\n"),
                     kTwoBanks),
              ElementsAre(1, 0, 1))
      << "the factors may change places, the summand may not";
  EXPECT_THAT(delays(among_eight("fma.rn.f32 %f1, %f2, %f3, %f1;\nadd.u32 %r1, %r1, 1;\n"
                                 "fma.rn.f32 %f4, %f3, %f5, %f4;\n"),
                     kTwoBanks),
              ElementsAre(1, 1))
      << "not right before";
  EXPECT_THAT(
      delays(among_eight("fma.rn.f32 %f3, %f2, %f3, %f1;\nfma.rn.f32 %f4, %f7, %f3, %f4;\n"), kTwoBanks),
      ElementsAre(1, 1))
      << "another value";
}

TEST(RegisterBanks, APipeThatIsBusyForLongerWaitsForNoRegister) {
  EXPECT_THAT(delays("lop3.b32 %r1, %r1, %r2, %r3, 0x96;\n", kTwoBanks, isa::OpClass::kInt), ElementsAre(0));
  EXPECT_THAT(delays("lop3.b32 %r1, %r1, %r2, %r3, 0x96;\n", {1, 1}, isa::OpClass::kInt), ElementsAre(1));
}

TEST(RegisterBanks, ParametersOfTheSameEightBytesLieInRegisters) {
  const std::string body =
      "ld.param.f32 %a, [a];\nld.param.f32 %b, [b];\nld.global.f32 %f1, [%out];\n"
      "fma.rn.f32 %f1, %f1, %a, %b;\nst.global.f32 [%out], %f1;\n";
  const auto of = [&](const std::string& parameters) {
    return delays(body, kTwoBanks, isa::OpClass::kFp32, parameters, isa::LoweringLevel::kSchedule);
  };
  EXPECT_THAT(of(".param .u64 out, .param .f32 a, .param .f32 b"), ElementsAre(1));
  EXPECT_THAT(of(".param .u64 out, .param .f32 a, .param .u32 n, .param .f32 b"), ElementsAre(0));
}

TEST(RegisterBanks, NumbersOfRegistersThatAreKnownDecide) {
  const core::MachineConfig machine = hopper();
  std::string problem;
  const TimingTables timing = build_timing(machine, problem);
  const isa::ParseResult parsed = isa::parse_module(
      ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
      ".reg .f32 %f<4>;\nfma.rn.f32 %f1, %f1, %f2, %f3;\nret;\n}\n");
  isa::LoweringOptions options;
  options.level = isa::LoweringLevel::kNone;
  options.machine_capability = 90;
  auto lowered = isa::lower_kernel(parsed.module, *parsed.module.entries().at(0), options);
  auto& image = std::get<isa::KernelImage>(lowered);
  const auto delay = [&](uint8_t a, uint8_t b, uint8_t c, const RegisterFile& file) {
    constexpr uint8_t kNone = isa::kInNoRegister;
    image.source_registers.assign(image.ops.size(), {kNone, kNone, kNone, kNone});
    image.source_registers.front() = {a, b, c, kNone};
    return int{register_bank_delays(image, file, timing.of_scheduler[0], {}).front()};
  };
  EXPECT_EQ(delay(2, 4, 6, kTwoBanks), 2);
  EXPECT_EQ(delay(2, 4, 7, kTwoBanks), 1);
  EXPECT_EQ(delay(2, 4, isa::kInNoRegister, kTwoBanks), 1);
  EXPECT_EQ(delay(2, 5, isa::kInNoRegister, kTwoBanks), 0);
  EXPECT_EQ(delay(2, 2, 7, kTwoBanks), 0) << "one register is read once";
  EXPECT_EQ(delay(2, 6, 10, {4, 1}), 2);
  EXPECT_EQ(delay(2, 4, 7, {4, 1}), 0);
}

}  // namespace
}  // namespace gpusim::comp
