// Counters of a kernel that no timing decides: its longest warps, and how evenly it asks the partitions.
#include "components/simulation/kernel_counters.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "components/testing/run_program.h"

namespace gpusim::comp {
namespace {

using test::counter;

/// `rounds`: warp w of block b goes w * (b + 1) + 1 times round a loop. `touch`: each warp reads one word.
constexpr const char* kPtx = R"(
.version 1.4
.target sm_13
.entry rounds
{
  .reg .u32 %r<6>;
  .reg .pred %p<2>;
  cvt.u32.u16 %r1, %tid.x;
  shr.u32 %r1, %r1, 5;
  cvt.u32.u16 %r2, %ctaid.x;
  add.u32 %r2, %r2, 1;
  mul.lo.u32 %r3, %r1, %r2;
LOOP:
  sub.u32 %r3, %r3, 1;
  setp.ne.u32 %p1, %r3, 0xffffffff;
  @%p1 bra LOOP;
  exit;
}
.entry touch (.param .u32 words, .param .u32 pitch)
{
  .reg .u32 %r<8>;
  cvt.u32.u16 %r1, %tid.x;
  shr.u32 %r1, %r1, 5;
  cvt.u32.u16 %r2, %ctaid.x;
  shl.b32 %r2, %r2, 3;
  add.u32 %r1, %r1, %r2;
  ld.param.u32 %r3, [pitch];
  mul.lo.u32 %r4, %r1, %r3;
  ld.param.u32 %r5, [words];
  add.u32 %r5, %r5, %r4;
  ld.global.u32 %r6, [%r5];
  exit;
}
)";
constexpr double kBlocks = 24, kWarps = 4;

TEST(KernelCounters, TheLongestWarpOfEachBlockAndOfAll) {
  SimulationOptions o = test::program(kPtx, R"toml(
[[launch]]
kernel = "rounds"
grid = [24]
block = [128]
args = []
)toml");
  o.sms = 1;  // warps and blocks follow each other in their slots
  const test::Outcome run = test::run_apart(o);
  ASSERT_EQ(run.status, "complete") << run.reason;
  const double all = counter(run, "inst_executed"), blocks = counter(run, "longest_warp_of_blocks"),
               longest = counter(run, "longest_warp");
  // In n iterations a warp executes c + k n operations; the last warp of block b does 3 (b + 1) + 1.
  const double sum = kBlocks * (kBlocks + 1) / 2;
  const double k = (kWarps * blocks - all) / (kWarps * 3 * sum - 6 * sum);
  EXPECT_GE(k, 2);
  EXPECT_DOUBLE_EQ(k, std::round(k));
  EXPECT_DOUBLE_EQ(kBlocks * longest - blocks, k * 3 * (kBlocks * kBlocks - sum));
}

TEST(KernelCounters, RequestsThatGoToOnePartitionAtATimeAreTold) {
  const auto share = [](const std::string& pitch) {
    SimulationOptions o = test::program(kPtx, R"toml(
[[buffer]]
name = "words"
type = "u32"
count = 8388608
[[launch]]
kernel = "touch"
grid = [512]
block = [256]
args = ["words", )toml" + pitch + "]\n");
    const test::Outcome run = test::run_apart(o);
    EXPECT_EQ(run.status, "complete") << run.reason;
    EXPECT_GE(counter(run, "noc_requests"), 4096);
    return counter(run, "noc_requests_to_busiest") / counter(run, "noc_requests");
  };
  // Eight partitions in turn every 256 bytes, and a hash of the two address bits above them.
  EXPECT_NEAR(share("256"), 1.0 / 8, 0.02);
  EXPECT_NEAR(share("2048"), 1.0 / 4, 0.02);
  EXPECT_GT(share("8192"), 0.98);
}

TEST(KernelCounters, InstructionsAreThoseThatAProfilerCounts) {
  // The sum of `saxpy 262144` in regress/hardware/measured/h100.json, of which each warp of an H100
  // executes 21.
  const char* const ptx = R"(.version 9.0
.target sm_75
.address_size 64
.visible .entry sum(.param .f32 a, .param .u64 x, .param .u64 y, .param .u64 z, .param .u32 n)
{
  .reg .pred %p;
  .reg .f32 %f<5>;
  .reg .b32 %r<6>;
  .reg .b64 %x, %y, %z, %o;
  ld.param.f32 %f1, [a]; ld.param.u64 %x, [x]; ld.param.u64 %y, [y]; ld.param.u64 %z, [z]; ld.param.u32 %r2, [n];
  mov.u32 %r3, %tid.x; mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ntid.x; mad.lo.s32 %r1, %r5, %r4, %r3;
  setp.ge.s32 %p, %r1, %r2;
  @%p bra END;
  mul.wide.s32 %o, %r1, 4;
  add.s64 %x, %x, %o; ld.global.nc.f32 %f2, [%x];
  add.s64 %y, %y, %o; ld.global.nc.f32 %f3, [%y];
  fma.rn.f32 %f4, %f2, %f1, %f3;
  add.s64 %z, %z, %o; st.global.f32 [%z], %f4;
END:
  ret;
}
)";
  SimulationOptions o = test::program(ptx, R"toml(
[[buffer]]
name = "x"
type = "f32"
count = 192
[[buffer]]
name = "z"
type = "f32"
count = 192
[[launch]]
kernel = "sum"
grid = [3]
block = [64]
args = [2.0, "x", "x", "z", 192]
)toml",
                                      {"gpu.compute_capability=9.0"});
  o.functional = true;
  EXPECT_EQ(counter(test::run_apart(o), "machine_instructions"), -1) << "operations are those of the PTX";
  o.lowering = isa::LoweringLevel::kSchedule;
  const test::Outcome run = test::run_apart(o);
  ASSERT_EQ(run.status, "complete") << run.reason;
  EXPECT_EQ(counter(run, "machine_instructions"), 21 * counter(run, "warps"));
  EXPECT_LT(counter(run, "inst_executed"), 21 * counter(run, "warps"));
}

TEST(KernelCounters, InstructionsOfSubroutinesCountWhereTheyTakeTime) {
  const auto instructions = [](const char* dividend, bool functional) {
    SimulationOptions o = test::program(
        std::string(
            ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry quotients(.param .u64 out)\n"
            "{\n  .reg .f32 %f<4>;\n  .reg .b32 %r;\n  .reg .b64 %x<3>;\n  ld.param.u64 %x1, [out];\n"
            "  mov.u32 %r, %tid.x;\n  cvt.rn.f32.u32 %f1, %r;\n  add.f32 %f2, %f1, ") +
            dividend +
            ";\n  add.f32 %f1, %f1, 0f3F800000;\n  div.rn.f32 %f3, %f2, %f1;\n  mul.wide.u32 %x2, %r, 4;\n"
            "  add.s64 %x1, %x1, %x2;\n  st.global.f32 [%x1], %f3;\n  ret;\n}\n",
        "[[buffer]]\nname = \"out\"\ntype = \"f32\"\ncount = 64\n"
        "[[launch]]\nkernel = \"quotients\"\ngrid = [1]\nblock = [64]\nargs = [\"out\"]\n",
        {"gpu.compute_capability=9.0", "scheduler.special_operands=true"});
    o.lowering = isa::LoweringLevel::kSchedule;
    o.functional = functional;
    const test::Outcome run = test::run_apart(o);
    EXPECT_EQ(run.status, "complete") << run.reason;
    return counter(run, "machine_instructions");
  };
  constexpr const char* kOne = "0f3F800000";
  constexpr const char* kZero = "0f00000000";
  // Of the first of two warps a lane divides zero, which takes 37 instructions more.
  EXPECT_EQ(instructions(kZero, false), instructions(kOne, false) + 37);
  EXPECT_EQ(instructions(kZero, true), instructions(kOne, true));
  EXPECT_EQ(instructions(kOne, true), instructions(kOne, false));
}

TEST(KernelCounters, RatesAndGreatestValuesDoNotAddUp) {
  for (const char* name : {"ipc", "dram_throughput", "achieved_occupancy", "longest_warp", "l2_dirty_sectors",
                           "average_power", "energy_delay_product"}) {
    EXPECT_TRUE(is_counter(name)) << name;
    EXPECT_FALSE(adds_up(name)) << name;
  }
  for (const char* name : {"blocks", "dram_read_bytes", "dram_read_transactions", "energy", "energy_fp32"}) {
    EXPECT_TRUE(is_counter(name)) << name;
    EXPECT_TRUE(adds_up(name)) << name;
  }
  EXPECT_FALSE(is_counter("time_s"));
}

/// Each counter of a run is described, and docs/counters.md holds what `gpusim metrics --counters` prints.
TEST(KernelCounters, AreWhatTheDocumentationSays) {
  std::ostringstream document;
  document << std::ifstream(GPUSIM_SOURCE_DIR "/docs/counters.md").rdbuf();
  EXPECT_NE(document.str().find("```\n" + describe_counters() + "```\n"), std::string::npos)
      << "run gpusim metrics --counters";
}

}  // namespace
}  // namespace gpusim::comp
