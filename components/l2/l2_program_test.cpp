// Whole programs on a machine with both data caches: the numbers of SMs, L2 and DRAM agree.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "components/testing/run_program.h"

namespace gpusim::comp {
namespace {

using test::counter;

/// b[i] = a[i] + a[i], then atomic additions to a few words.
constexpr const char* kPtx = R"(
.version 2.3
.target sm_20
.address_size 64
.visible .entry twice(.param .u64 a, .param .u64 b, .param .u64 sums)
{
  .reg .u32 %r<8>;
  .reg .u64 %rd<10>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  ld.param.u64 %rd3, [sums];
  mul.wide.u32 %rd4, %r4, 4;
  add.u64 %rd5, %rd1, %rd4;
  ld.global.u32 %r5, [%rd5];
  add.u32 %r5, %r5, %r5;
  add.u64 %rd6, %rd2, %rd4;
  st.global.u32 [%rd6], %r5;
  and.b32 %r6, %r4, 15;
  mul.wide.u32 %rd7, %r6, 64;
  add.u64 %rd8, %rd3, %rd7;
  red.global.add.u32 [%rd8], %r5;
  ret;
}
)";
constexpr const char* kLaunch = R"toml(
[[buffer]]
name = "a"
type = "u32"
count = 16384
init = "iota(0, 1)"
[[buffer]]
name = "b"
type = "u32"
count = 16384
[[buffer]]
name = "sums"
type = "u32"
count = 256
[[launch]]
kernel = "twice"
grid = [64]
block = [256]
args = ["a", "b", "sums"]
[[launch]]
kernel = "twice"
grid = [3]
block = [256]
args = ["a", "b", "sums"]
)toml";

class L2Program : public testing::TestWithParam<const char*> {
 protected:
  static test::Outcome run(bool direct, const std::string& more = "") {
    std::istringstream words(std::string("coalescer.rule=cc20 l1.size=16K ") + GetParam() + " " + more);
    SimulationOptions o =
        test::program(kPtx, kLaunch, std::vector<std::string>{std::istream_iterator<std::string>(words), {}});
    o.machine.gpu.compute_capability = 20;
    o.direct_driver = direct;
    o.out.clear();
    return test::run_apart(o);
  }
};

TEST_P(L2Program, SectorsAgreeBetweenLevelsAndRunsAreEqual) {
  const test::Outcome o = run(true);
  ASSERT_EQ(o.status, "complete") << o.reason;
  EXPECT_EQ(o, run(false)) << "called directly, or by SystemC";
  uint64_t on_the_way = 0;
  // The second launch has blocks for three SMs only.
  for (const int launch : {0, 1}) {
    const auto count = [&](const char* name) { return counter(o, name, launch); };
    const uint64_t words = launch == 0 ? 16384 : 768;
    EXPECT_EQ(count("l2_read_sectors"), words / 8);
    EXPECT_EQ(count("l2_write_sectors"), words / 8);
    EXPECT_EQ(count("l2_atomic_sectors"), words / 32 * 16) << "16 sums in sectors of their own";
    EXPECT_EQ(count("l2_read_sectors"), count("l1_fill_sectors") + count("l1_bypass_sectors"));
    EXPECT_EQ(count("l2_write_sectors"), count("l1_store_sectors") + count("l1_writeback_sectors"));
    EXPECT_EQ(count("l2_atomic_sectors"), count("l1_atomic_sectors"));
    EXPECT_EQ(count("l2_fill_sectors"), count("dram_read_transactions"));
    // What is on its way at the kernel's end may or may not have reached the memory.
    const uint64_t sent = count("l2_writeback_sectors"), written = count("dram_write_transactions");
    EXPECT_LE(written, sent + on_the_way);
    on_the_way = count("l2_writeback_sectors_on_the_way");
    EXPECT_GE(written + on_the_way, sent);
  }
  // The first launch writes each sector of b once: it was written back, or is dirty; sums may go more often.
  EXPECT_GE(counter(o, "l2_writeback_sectors") + counter(o, "l2_dirty_sectors"), 16384u / 8 + 16);
}

TEST_P(L2Program, ValuesDoNotDependOnCaches) {
  const test::Outcome with = run(true), without = run(true, "l2.size=0");
  EXPECT_EQ(with.status, "complete") << with.reason;
  EXPECT_EQ(with.values, without.values);
  EXPECT_EQ(with.counts, without.counts);
  EXPECT_EQ(without.timing.find("  l2_"), std::string::npos) << "no counters of what is not there";
}

INSTANTIATE_TEST_SUITE_P(Machines, L2Program,
                         testing::Values("l2.size=512K", "l2.size=16K", "l2.size=16K l2.hash=polynomial",
                                         "l2.size=1K l2.ways=1 l2.mshrs=1 l2.merges=1 l2.queue=1 "
                                         "interconnect.queue=1 dram.queue=1 dram.reply_queue=1 "
                                         "dram.write_high=1 dram.write_low=0",
                                         "l2.size=64K l2.line=256 l1.line=256 l2.sector=64 l2.ways=4"));

}  // namespace
}  // namespace gpusim::comp
