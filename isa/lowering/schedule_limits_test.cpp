// How far the schedule of level `schedule` looks ahead, and how many registers it takes.
#include <fmt/format.h>

#include <set>

#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

TEST(Schedule, KeepsToTheRegistersThatAFullSmHasForEachThread) {
  std::string body, sum;
  for (int i = 0; i < 60; ++i) {
    body += "ld.global.u32 %r" + std::to_string(i) + ", [%in+" + std::to_string(4 * i) + "];\n";
    sum += "add.u32 %s, %s, %r" + std::to_string(i) + ";\n";
    body += "xor.b32 %s, %s, %r" + std::to_string(i) + ";\n";
  }
  const std::string text =
      thread_kernel(".reg .b32 %r<60>, %s;", "mov.u32 %s, 0;\n" + body + "st.global.u32 [%out], %s; ret;");
  LoweringOptions options = level(LoweringLevel::kSchedule, 0, 75);
  options.threads_per_sm = 1024;
  const uint32_t wide = lower_ok(text, options).registers;
  EXPECT_GT(wide, 40u);  // all loads at once
  EXPECT_LE(wide, 64u);
  options.threads_per_sm = 2048;
  const uint32_t narrow = lower_ok(text, options).registers;
  EXPECT_GT(narrow, 16u);
  EXPECT_LE(narrow, 32u);
  expect_same_everywhere(text, 32);
}

TEST(Schedule, TakesTheNextStepOfOccupancyWhereNoOrderKeepsToTheLast) {
  // 80 sums live all the time, so the least that they need is 96 registers, for 20 warps an SM. What these
  // leave is used for loads that start early. A kernel for blocks of 1024 threads has to save.
  constexpr int kSums = 80, kLoads = 40;
  const auto n = [](int i) { return std::to_string(i); };
  std::string body;
  for (int i = 0; i < kSums; ++i) body += "ld.global.u32 %a" + n(i) + ", [%in+" + n(4 * (i % 60)) + "];\n";
  body += "bar.sync 0;\n";
  for (int i = 0; i < kLoads; ++i)
    body += "ld.global.u32 %x" + n(i) + ", [%in+" + n(4 * i) + "]; mad.lo.u32 %a" + n(i) + ", %x" + n(i) +
            ", %a" + n(i + 1) + ", %a" + n(i) + ";\n";
  body += "bar.sync 0;\n";
  for (int i = 1; i < kSums; ++i) body += "xor.b32 %a0, %a0, %a" + n(i) + ";\n";
  const std::string text =
      thread_kernel(".reg .b32 %a<80>, %x<40>;", body + "st.global.u32 [%out], %a0; ret;");
  std::string bounded = text;
  bounded.insert(bounded.find('{'), ".maxntid 1024, 1, 1\n");
  EXPECT_GT(scheduled(text).registers, kSums + 8);
  EXPECT_LE(scheduled(text).registers, 96u);
  EXPECT_EQ(scheduled(text).spilled_registers, 0u);
  EXPECT_EQ(scheduled(bounded).registers, 64u);
  EXPECT_GT(scheduled(bounded).spilled_registers, 0u);
  expect_same_everywhere(text, 32);
}

TEST(Schedule, ATileIsLoadedBeforeItIsStoredEvenIfNoFullScheduleFits) {
  // Eight words of a tile go through registers to shared memory; then come products that no order found
  // within the limit would start early. 20 values live all the time.
  constexpr int kTile = 8, kSide = 4, kHeld = 20, kSteps = 8;
  const auto n = [](int i) { return std::to_string(i); };
  std::string body;
  for (int i = 0; i < kSide * kSide; ++i) body += "mov.f32 %a" + n(i) + ", 0f00000000;\n";
  for (int i = 0; i < kHeld; ++i) body += "ld.global.f32 %h" + n(i) + ", [%in+" + n(128 + 4 * i) + "];\n";
  body += "bar.sync 0;\n";
  for (int i = 0; i < kTile; ++i)
    body += "ld.global.f32 %x" + n(i) + ", [%in+" + n(4 * i) + "]; st.shared.f32 [%r0+" + n(256 * i) +
            "], %x" + n(i) + ";\n";
  body += "bar.sync 0;\n";
  for (int k = 0, x = kTile; k < kSteps; ++k, x += 2 * kSide) {
    for (int i = 0; i < 2 * kSide; ++i)
      body += "ld.shared.f32 %x" + n(x + i) + ", [%r0+" + n(128 * (k + i)) + "];\n";
    for (int i = 0; i < kSide * kSide; ++i)
      body += "fma.rn.f32 %a" + n(i) + ", %x" + n(x + i / kSide) + ", %x" + n(x + kSide + i % kSide) +
              ", %a" + n(i) + ";\n";
  }
  body += "bar.sync 0;\n";
  for (int i = 1; i < kSide * kSide; ++i) body += "add.f32 %a0, %a0, %a" + n(i) + ";\n";
  for (int i = 0; i < kHeld; ++i) body += "add.f32 %a0, %a0, %h" + n(i) + ";\n";
  const std::string text =
      thread_kernel(".reg .f32 %a<16>, %h<20>, %x<80>; .reg .b32 %r<2>; .shared .align 16 .b8 s[4096];",
                    "shl.b32 %r0, %tid0, 2; mov.u32 %r1, s; add.u32 %r0, %r0, %r1;\n" + body +
                        "st.global.f32 [%out], %a0; ret;");
  for (const int capability : {60, 75}) {
    const KernelImage image = scheduled(text, capability);
    EXPECT_LE(image.registers, 64u);
    EXPECT_LT(position(image, "ld.global.f32 %x7, [%in+28]"), position(image, "st.shared.f32 [%r0+0], %x0"));
  }
  expect_same_everywhere(text, 32);
}

TEST(Schedule, LooksFartherAheadThanACoupleOfHundredOperations) {
  // The load's address is there from the start; before it stand 900 operations, each of which needs the last.
  std::string body;
  for (int i = 0; i < 900; ++i) body += "mad.lo.u32 %r0, %r0, %r0, %r1;\n";
  const std::string text =
      thread_kernel(".reg .b32 %r<3>;",
                    "mov.u32 %r0, %tid0; mov.u32 %r1, %tid0;\n" + body +
                        "ld.global.u32 %r2, [%in]; add.u32 %r0, %r0, %r2; st.global.u32 [%out], %r0; ret;");
  for (const int capability : {60, 75}) {
    const KernelImage image = scheduled(text, capability);
    EXPECT_LT(position(image, "ld.global.u32 %r2, [%in]"), 20u) << capability;
  }
  expect_same_everywhere(text, 32);
}

/// How often an operation waits for loads that are on their way, if each takes longer than all else.
size_t round_trips(const KernelImage& image) {
  std::set<uint16_t> on_their_way;
  size_t trips = 0;
  for (const MicroOp& op : image.ops) {
    for (uint32_t i = 0; i < op.num_sb_reads; ++i) {
      if (!on_their_way.contains(op.sb_reads[i])) continue;
      ++trips;
      on_their_way.clear();
    }
    if (op.op_class != OpClass::kLoadGlobal) continue;
    for (uint32_t i = 0; i < op.num_sb_writes; ++i) on_their_way.insert(op.sb_writes[i]);
  }
  return trips;
}

/// A sum of differences of two arrays: the words of one lie side by side, those of the other have addresses
/// that each thread clamps. Who loads all of the first at once has no registers for the addresses of the
/// others. 14 values live all the time. `before` and `behind` stand around it, `variables` are theirs.
std::string kernel_of_differences(const std::string& variables, const std::string& before,
                                  const std::string& behind) {
  constexpr int kWords = 32, kHeld = 14;
  std::string body = "mov.u32 %s, 0;\n" + before;
  for (int i = 0; i < kHeld; ++i) body += fmt::format("ld.global.u32 %h{}, [%in+{}];\n", i, 4 * i);
  body += "bar.sync 0;\n";
  for (int i = 0; i < kWords; ++i)
    body += fmt::format(
        "ld.global.u16 %a{0}, [%in+{1}]; add.s32 %x{0}, %tid0, {0}; min.s32 %y{0}, %x{0}, 40;"
        " max.s32 %z{0}, %y{0}, 3; mul.wide.s32 %p{0}, %z{0}, 2; add.s64 %q{0}, %in, %p{0};"
        " ld.global.u16 %b{0}, [%q{0}]; sub.s32 %d{0}, %a{0}, %b{0}; abs.s32 %e{0}, %d{0};"
        " add.s32 %s, %s, %e{0};\n",
        i, 4 * i);
  body += "bar.sync 0;\n" + behind;
  for (int i = 0; i < kHeld; ++i) body += fmt::format("add.u32 %s, %s, %h{};\n", i);
  return thread_kernel(
      ".reg .b32 %s, %a<32>, %b<32>, %x<32>, %y<32>, %z<32>, %d<32>, %e<32>, %h<14>;"
      " .reg .b64 %p<32>, %q<32>;" +
          variables,
      body + "st.global.u32 [%out], %s; ret;");
}

TEST(Schedule, LooksLessFarAheadWhereRegistersAreShort) {
  const std::string text = kernel_of_differences("", "", "");
  LoweringOptions options = level(LoweringLevel::kSchedule, 0, 90);
  options.threads_per_sm = 2048;
  const KernelImage image = lower_ok(text, options);
  EXPECT_LE(image.registers, 32u);
  EXPECT_LE(round_trips(image), 8u) << "14 by who looks as far as there is code";
  expect_same_everywhere(text, 32);
}

TEST(Schedule, ABlockThatLacksRegistersLeavesOthersTheirs) {
  // No order of the differences keeps to the limit at once. Behind them a loop multiplies words of shared
  // memory, for which it needs twelve registers if all are loaded first.
  constexpr int kProducts = 6;
  std::string loop = "mov.u32 %i, 0;\nNEXT:\n";
  for (int i = 0; i < kProducts; ++i)
    loop += fmt::format(
        "ld.shared.u32 %v{0}, [%t+{1}]; ld.shared.u32 %w{0}, [%t+{2}]; mad.lo.u32 %s, %v{0}, %w{0}, %s;\n", i,
        128 * i, 128 * i + 4096);
  loop += "add.u32 %i, %i, 1; setp.lt.u32 %c, %i, %ntid0; @%c bra NEXT;\n";
  const std::string text = kernel_of_differences(
      " .reg .b32 %t, %u, %i, %ntid0, %v<6>, %w<6>; .reg .pred %c; .shared .align 4 .b8 tile[8192];",
      "mov.u32 %ntid0, %ntid.x; shl.b32 %t, %tid0, 2; mov.u32 %u, tile; add.u32 %t, %t, %u;\n", loop);
  LoweringOptions options = level(LoweringLevel::kSchedule, 0, 90);
  options.threads_per_sm = 2048;
  const KernelImage image = lower_ok(text, options);
  EXPECT_LE(image.registers, 32u);
  EXPECT_LT(position(image, "ld.shared.u32 %w5, [%t+4736]"), position(image, "mad.lo.u32 %s, %v1, %w1, %s"));
}

TEST(Schedule, MayUseWhatARealCompilersCodeTakes) {
  // All of 40 words are there at once only with more registers than a full SM has for each thread.
  constexpr int kWords = 40;
  std::string body = "mov.u32 %s, 0;\n";
  for (int i = 0; i < kWords; ++i)
    body += fmt::format("ld.global.u32 %a{0}, [%in+{1}]; mad.lo.u32 %s, %s, %s, %a{0};\n", i, 4 * i);
  const std::string text = thread_kernel(".reg .b32 %s, %a<40>;", body + "st.global.u32 [%out], %s; ret;");
  LoweringOptions options = level(LoweringLevel::kSchedule, 0, 90);
  options.threads_per_sm = 2048;
  EXPECT_GT(round_trips(lower_ok(text, options)), 1u);
  options.registers_taken = 64;
  EXPECT_EQ(round_trips(lower_ok(text, options)), 1u);
  options.registers_taken = 24;  // fewer than it would have anyway
  EXPECT_GT(round_trips(lower_ok(text, options)), 1u);
  options.registers_taken = 64, options.machine_capability = 60;
  EXPECT_EQ(lower_ok(text, options).ops.size(),
            lower_ok(text, level(LoweringLevel::kSchedule, 0, 60)).ops.size());
}

}  // namespace
}  // namespace gpusim::isa
