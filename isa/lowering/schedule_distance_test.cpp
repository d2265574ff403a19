// How far ahead of their use the schedule starts loads and shuffles, and how many predicates it needs.
#include <fmt/format.h>

#include <map>

#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

KernelImage in_order(const std::string& text, int capability) {
  LoweringOptions options = level(LoweringLevel::kSchedule, 0, capability);
  options.max_registers = 255;
  options.threads_per_sm = threads_per_sm(capability);
  return lower_ok(text, options);
}

/// Operations of a class that have started, at most, before as many of those that read them.
size_t on_their_way(const KernelImage& image, OpClass started, OpClass reader) {
  size_t now = 0, most = 0;
  for (const MicroOp& op : image.ops) {
    if (op.op_class == started) most = std::max(most, ++now);
    if (op.op_class == reader && now > 0) --now;
  }
  return most;
}

/// A sum of 32 values that `each` makes of {0} and {1}, some bytes more, and adds to %f or %d.
std::string sum_of(std::string_view each) {
  std::string body;
  for (int i = 0; i < 32; ++i) body += fmt::format(fmt::runtime(each), i, 136 * i);
  return thread_kernel(".reg .b32 %r<8>; .reg .f32 %x, %f; .reg .f64 %y, %d; .shared .align 8 .b8 s[8192];",
                       "mov.u32 %r1, s; mad.lo.u32 %r1, %tid0, 8, %r1; mov.f32 %f, 0f00000000; mov.f64 %d, "
                       "0d0000000000000000; bar.sync 0;\n" +
                           body + "st.global.f32 [%out], %f; st.global.f64 [%out+8], %d; ret;",
                       "sm_75");
}

TEST(ScheduleDistance, LoadsOfSharedMemoryAreTakenAsFarAheadAsTheyTake) {
  const std::string shared = sum_of("ld.shared.f64 %y, [%r1+{1}]; add.f64 %d, %d, %y;\n");
  const std::string global = sum_of("ld.global.f64 %y, [%in+{1}]; add.f64 %d, %d, %y;\n");
  // ptxas 13 takes 16, 20 and 18 registers for the first; loads of global memory all start.
  EXPECT_NEAR(in_order(shared, 75).registers, 16, 4);
  EXPECT_NEAR(in_order(shared, 80).registers, 20, 3);
  EXPECT_NEAR(in_order(shared, 90).registers, 18, 3);
  EXPECT_LE(on_their_way(in_order(shared, 75), OpClass::kLoadShared, OpClass::kFp64), 10u);
  EXPECT_GE(on_their_way(in_order(shared, 75), OpClass::kLoadShared, OpClass::kFp64), 4u);
  EXPECT_GE(on_their_way(in_order(global, 75), OpClass::kLoadGlobal, OpClass::kFp64), 20u);
}

TEST(ScheduleDistance, AccessesStandFourCyclesApart) {
  // The address of %b is there four cycles after that of %a, when the next load may start: it is the one that
  // the first multiply-add waits for. ptxas 13 has four cycles between accesses (for 7.5, 8.0 and 9.0).
  const std::string text = thread_kernel(
      ".reg .b32 %r<4>; .reg .f32 %a<3>, %b<3>, %f<5>; .shared .align 16 .b8 s[4096];",
      "mov.u32 %r0, s; mad.lo.u32 %r1, %tid0, 12, %r0; and.b32 %r2, %tid0, 24; mad.lo.u32 %r2, %r2, 12, "
      "%r0;\n"
      "ld.shared.f32 %a0, [%r1]; ld.shared.f32 %b0, [%r2]; ld.shared.f32 %a1, [%r1+516];\n"
      "ld.shared.f32 %b1, [%r2+516];\n"
      "mov.f32 %f0, 0f00000000; fma.rn.f32 %f0, %a0, %b0, %f0; fma.rn.f32 %f1, %a1, %b0, %f0;\n"
      "fma.rn.f32 %f2, %a0, %b1, %f1; fma.rn.f32 %f3, %a1, %b1, %f2; st.global.f32 [%out], %f3; ret;",
      "sm_90");
  const auto loads = [&](int capability) {
    std::string order;
    const KernelImage image = in_order(text, capability);
    for (const MicroOp& op : image.ops) {
      if (op.op_class == OpClass::kLoadShared) order += image.ptx[op.ptx_index].text.substr(14, 4);
    }
    return order;
  };
  EXPECT_EQ(loads(80), "%a0,%b0,%a1,%b1,");
  EXPECT_EQ(loads(90), "%a0,%b0,%a1,%b1,");
}

TEST(ScheduleDistance, ShufflesAreTakenAsFarAheadAsTheyTake) {
  // ptxas 13 takes 19, 18 and 20 registers, where 36 are what all of them need at once.
  const std::string shuffles =
      sum_of("shfl.sync.bfly.b32 %r2, %r1, {0}, 31, -1; mov.b32 %x, %r2; add.f32 %f, %f, %x;\n");
  EXPECT_NEAR(in_order(shuffles, 75).registers, 18, 3);
  EXPECT_NEAR(in_order(shuffles, 80).registers, 18, 3);
  EXPECT_NEAR(in_order(shuffles, 90).registers, 20, 3);
}

TEST(ScheduleDistance, PredicatesAreFew) {
  // 20 loads under conditions of their own, which one instruction makes seven at a time, start seven at a
  // time in code of ptxas. Here a few that were taken first wait until the sum comes to them; 20 would be
  // all.
  std::string body;
  for (int i = 0; i < 20; ++i)
    body += fmt::format(
        "and.b32 %r1, %r0, {1}; setp.ne.u32 %p{0}, %r1, 0;\n@%p{0} ld.global.u32 %x{0}, [%in+{2}];\n@%p{0} "
        "xor.b32 %r3, %r3, %x{0};\n",
        i, 1 << i, 4 * i + 4);
  const std::string text =
      thread_kernel(".reg .b32 %r<8>, %x<20>; .reg .pred %p<20>;",
                    "mov.u32 %r3, 0; ld.global.u32 %r0, [%in];\n" + body + "st.global.u32 [%out], %r3; ret;");
  for (const int capability : {75, 90}) {
    const KernelImage image = in_order(text, capability);
    std::map<std::string, std::pair<size_t, size_t>> life;  // of each condition
    for (size_t i = 0; i < image.ops.size(); ++i) {
      const std::string& statement = image.ptx[image.ops[i].ptx_index].text;
      const size_t at = statement.find("%p");
      if (at == std::string::npos) continue;
      const std::string name = statement.substr(at, statement.find_first_of(", ", at) - at);
      life.emplace(name, std::pair{i, i}).first->second.second = i;
    }
    ASSERT_EQ(life.size(), 20u);
    size_t most = 0;
    for (size_t i = 0; i < image.ops.size(); ++i) {
      most = std::max(most, static_cast<size_t>(std::ranges::count_if(life, [&](const auto& p) {
                        return p.second.first <= i && i < p.second.second;
                      })));
    }
    EXPECT_LE(most, 12u) << capability;
    EXPECT_GE(most, 7u) << capability;
  }
  expect_same_everywhere(text, 32);
}

}  // namespace
}  // namespace gpusim::isa
