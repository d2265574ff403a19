// What caches hold when a kernel begins: cold, warm, flushed.
#include <gtest/gtest.h>

#include "components/testing/run_program.h"

namespace gpusim::comp {
namespace {

using test::counter;
using test::Outcome;
using test::run_apart;

/// Adds one to each word, through constants and a buffer of 256 KB.
constexpr const char* kIncrement = R"(
.version 6.0
.target sm_70
.address_size 64
.const .align 4 .u32 one = 1;
.visible .entry increment(.param .u64 p)
{
  .reg .u32 %r<8>;
  .reg .u64 %d<4>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  ld.param.u64 %d1, [p];
  mul.wide.u32 %d2, %r1, 4;
  add.u64 %d1, %d1, %d2;
  ld.global.u32 %r4, [%d1];
  ld.const.u32 %r5, [one];
  add.u32 %r4, %r4, %r5;
  st.global.u32 [%d1], %r4;
  exit;
}
)";
constexpr const char* kLaunch = R"toml(
[[buffer]]
name = "p"
type = "u32"
count = 65536
[[launch]]
kernel = "increment"
grid = [256]
block = [256]
args = ["p"]
repeat = 3
)toml";

Outcome run_with(CacheState caches) {
  SimulationOptions o;
  const std::vector<std::string> folders = {std::string(GPUSIM_SOURCE_DIR) + "/configs"};
  o.machine = core::load_machine("tesla_v100", {}, folders);
  o.ptx_name = "test.ptx";
  o.ptx_text = kIncrement;
  o.launch = core::parse_launch(kLaunch, "test.toml", {}, 1, false);
  o.caches = caches;
  return run_apart(o);
}

double cycles(const Outcome& o, int launch) {
  size_t at = 0;
  for (int i = 0; i <= launch; ++i) at = o.timing.find("increment: ", at) + 11;
  return std::stod(o.timing.substr(at));
}

constexpr double kSectors = 65536.0 * 4 / 32;

TEST(CacheStates, AColdRunReadsDramOnce) {
  const Outcome o = run_with(CacheState::kCold);
  ASSERT_EQ(o.status, "complete") << o.reason;
  EXPECT_GE(counter(o, "dram_read_transactions", 0), kSectors);
  EXPECT_EQ(counter(o, "dram_read_transactions", 1), 0);
  EXPECT_LT(cycles(o, 1), cycles(o, 0));
}

TEST(CacheStates, AWarmRunReadsNothingAndComputesOnTheFirstContents) {
  const Outcome cold = run_with(CacheState::kCold), warm = run_with(CacheState::kWarm);
  ASSERT_EQ(warm.status, "complete") << warm.reason;
  EXPECT_EQ(warm.values, cold.values) << "buffers begin again as they were";
  EXPECT_EQ(warm.counts, cold.counts) << "the launches that warm the caches are not counted";
  for (int launch = 0; launch < 3; ++launch) EXPECT_EQ(counter(warm, "dram_read_transactions", launch), 0);
  EXPECT_LT(cycles(warm, 0), cycles(cold, 0));
}

TEST(CacheStates, EveryLaunchOfAFlushedRunIsTheFirst) {
  const Outcome cold = run_with(CacheState::kCold), flushed = run_with(CacheState::kFlushed);
  ASSERT_EQ(flushed.status, "complete") << flushed.reason;
  EXPECT_EQ(flushed.values, cold.values);
  for (int launch = 0; launch < 3; ++launch) {
    EXPECT_EQ(counter(flushed, "l2_read_hit_sectors", launch), 0);
    EXPECT_GE(counter(flushed, "dram_read_transactions", launch), kSectors);
    EXPECT_NEAR(cycles(flushed, launch) / cycles(cold, 0), 1, 0.05) << "rows of DRAM stay open";
  }
}

}  // namespace
}  // namespace gpusim::comp
