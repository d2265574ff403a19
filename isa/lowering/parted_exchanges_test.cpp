// Machine instructions that ptxas 13.0 gives small kernels whose shuffles stand where lanes may have parted,
// and where they may not. In each, the branch of a block's first warp is followed by the block's barrier;
// ptxas then meets at it in two instructions fewer than elsewhere, which is not counted.
#include <fmt/format.h>

#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

/// `condition`: sets %p, with which the exchanges are jumped over.
std::string kernel(std::string_view condition, std::string_view exchanges) {
  return fmt::format(
      ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n)\n{{\n"
      ".reg .pred %p, %p<4>; .reg .b64 %a<9>; .reg .b32 %t, %n, %c, %v, %u, %r<40>;\nld.param.u64 %a0, [p]; "
      "ld.param.u32 %n, [n]; mov.u32 %t, %tid.x; mul.wide.u32 %a1, %t, 4; add.s64 %a2, %a0, %a1;\n"
      "ld.global.u32 %v, [%a2]; {} @%p bra ON; mul.wide.s32 %a3, %v, 4; add.s64 %a4, %a0, %a3; ld.global.u32 "
      "%u, [%a4]; mul.lo.s32 %v, %v, %u;\n{}\nON: bar.sync 0; st.global.u32 [%a2+256], %v; ret;\n}}\n",
      condition, exchanges);
}
constexpr std::string_view kFirstWarp = "setp.gt.u32 %p, %t, 31;", kSame = "setp.lt.s32 %p, %n, 5;",
                           kLoaded = "ld.global.u32 %c, [%a0+12]; setp.lt.s32 %p, %c, 5;";

std::string sums(int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += fmt::format("shfl.sync.bfly.b32 %r{0}|%p1, %v, {1}, 31, -1; add.s32 %v, %r{0}, %v;\n", i, 1 << i);
  return text;
}

int counted(const std::string& text, int capability) {
  return static_cast<int>(scheduled(text, capability).machine_instructions());
}

TEST(PartedExchanges, LanesThatMayHavePartedAreGatheredOnASecondWay) {
  EXPECT_NEAR(counted(kernel(kFirstWarp, sums(1)), 75), 24, 2);
  EXPECT_NEAR(counted(kernel(kFirstWarp, sums(2)), 75), 36, 2);
  EXPECT_NEAR(counted(kernel(kFirstWarp, sums(3)), 75), 44, 2);
  EXPECT_NEAR(counted(kernel(kFirstWarp, sums(5)), 75), 60, 2);
  EXPECT_NEAR(counted(kernel(kFirstWarp, sums(5)), 80), 62, 2);
  EXPECT_NEAR(counted(kernel(kFirstWarp, sums(1)), 90), 18, 2);
  EXPECT_NEAR(counted(kernel(kFirstWarp, sums(2)), 90), 35, 2);
  EXPECT_NEAR(counted(kernel(kFirstWarp, sums(3)), 90), 44, 2);
  EXPECT_NEAR(counted(kernel(kFirstWarp, sums(5)), 90), 62, 2);
}

TEST(PartedExchanges, TheSecondWayExchangesOnceMore) {
  const auto shuffles = [](int count, int capability) {
    return scheduled(kernel(kFirstWarp, sums(count)), capability)
        .machine_counts[static_cast<size_t>(MachineClass::kWarp)];
  };
  EXPECT_EQ(shuffles(5, 75), 6u) << "one in the routine that they share";
  EXPECT_EQ(shuffles(5, 90), 10u) << "each in place";
}

TEST(PartedExchanges, VotesAndBarriersOfTheWarpAreGatheredToo) {
  const std::string votes =
      "setp.gt.s32 %p2, %v, 3; vote.sync.ballot.b32 %r0, %p2, -1; add.s32 %v, %r0, %v;\n"
      "setp.gt.s32 %p3, %v, 9; vote.sync.ballot.b32 %r1, %p3, -1; add.s32 %v, %r1, %v;\n";
  EXPECT_NEAR(counted(kernel(kFirstWarp, votes), 75), 39, 3);
  EXPECT_NEAR(counted(kernel(kFirstWarp, "bar.warp.sync -1; ld.global.u32 %v, [%a4+4];"), 75), 24, 3);
}

TEST(PartedExchanges, WhereAllLanesDecideAlikeThereIsNone) {
  for (const int capability : {75, 80, 90}) {
    const int one = counted(kernel(kSame, sums(1)), capability);
    EXPECT_EQ(counted(kernel(kSame, sums(5)), capability), one + 8) << "a shuffle and a sum each";
  }
  // A word that all lanes load from one address is one value for ptxas, and so nothing has to meet again.
  EXPECT_NEAR(counted(kernel(kLoaded, sums(1)), 75), 17, 2);
  EXPECT_NEAR(counted(kernel(kLoaded, sums(1)), 90), 18, 2);
}

TEST(PartedExchanges, LanesThatHaveLeftAreNotWaitedFor) {
  std::string text = kernel(kFirstWarp, sums(5));
  const std::string_view jump = "@%p bra ON;";
  text.replace(text.find(jump), jump.size(), "@%p ret;");
  EXPECT_LE(counted(text, 75), counted(kernel(kFirstWarp, sums(5)), 75) - 30);
}

}  // namespace
}  // namespace gpusim::isa
