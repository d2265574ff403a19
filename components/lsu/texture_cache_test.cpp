// Texture caches in whole programs: a warp reads columns of a texture, whose lines are counted by hand, row
// by row and in tiles; read-only loads on that path; latencies of the levels; queues of the smallest sizes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "components/testing/partition_bench.h"
#include "components/testing/recorded_run.h"

namespace gpusim::comp {
namespace {

using test::RecordedKernel;
using Sets = std::vector<std::string>;

/// The block's lane l reads texel (8 * block + x, l) of a texture of 64 x 32 words for x from 0 to 7, and
/// adds them up.
constexpr const char* kColumns = R"(
.version 1.4
.target sm_13
.tex .u64 grid;
.entry columns(.param .u64 out)
{
  .reg .u32 %r<12>;
  .reg .u16 %h<4>;
  .reg .u64 %d<4>;
  .reg .pred %p<2>;
  cvt.u32.u16 %r1, %tid.x;
  cvt.u32.u16 %r8, %ctaid.x;
  shl.b32 %r2, %r8, 3;
  mov.u32 %r3, 0;
  mov.u32 %r9, 0;
LOOP:
  tex.2d.v4.u32.s32 {%r4,%r5,%r6,%r7}, [grid, {%r2,%r1,%r3,%r3}];
  add.u32 %r9, %r9, %r4;
  add.u32 %r2, %r2, 1;
  and.b32 %r10, %r2, 7;
  setp.ne.u32 %p1, %r10, 0;
  @%p1 bra LOOP;
  shl.b32 %r8, %r8, 5;
  add.u32 %r1, %r1, %r8;
  mul.wide.u32 %d1, %r1, 4;
  ld.param.u64 %d2, [out];
  add.u64 %d2, %d2, %d1;
  st.global.u32 [%d2], %r9;
  exit;
}
)";
std::string columns_launch(int blocks, int count = 1) {
  std::string text = R"toml(
[[buffer]]
name = "cells"
type = "u32"
count = 2048
init = "iota(5, 3)"
[[buffer]]
name = "sums"
type = "u32"
count = 256
[[texture]]
name = "grid"
buffer = "cells"
width = 64
height = 32
)toml";
  for (int i = 0; i < count; ++i)
    text += fmt::format("[[launch]]\nkernel = \"columns\"\ngrid = [{}]\nblock = [32]\nargs = [\"sums\"]\n",
                        blocks);
  return text;
}

/// A texture cache of 4 KB in one set.
Sets with(const Sets& more) {
  Sets all{"texture.cache=own",  "texture.scope=sm",   "texture.tiled=false", "texture.l2_size=0",
           "texture.l1_size=4K", "texture.l1_line=32", "texture.l1_ways=128"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}
RecordedKernel columns(const Sets& sets) {
  return test::record_run(test::program(kColumns, columns_launch(1), sets)).at(0);
}

TEST(TextureCache, AColumnOfRowsMissesEachRowOnce) {
  // Words 0 to 7 of a row share a line of 32 bytes: 32 lines at first, then hits.
  const RecordedKernel k = columns(with({}));
  EXPECT_EQ(k.counters.at("tex_request"), 8);
  EXPECT_EQ(k.counters.at("tex_transactions"), 8 * 32);
  EXPECT_EQ(k.counters.at("tex_cache_miss"), 32);
  EXPECT_EQ(k.counters.at("tex_cache_hit"), 7 * 32);
  EXPECT_EQ(k.counters.at("tex_fill_sectors"), 32);
  EXPECT_EQ(k.counters.at("dram_read_transactions"), 32);
  EXPECT_EQ(k.all_slots(), k.cycles / 2);
  EXPECT_GT(k.slots.at("memory_tex_l1"), 0u);
  EXPECT_GT(k.slots.at("memory_dram"), 0u);
}

TEST(TextureCache, TilesHoldNeighboursOfBothDirections) {
  // A sector is four words by two rows: 16 lines for each four columns.
  const RecordedKernel k = columns(with({"texture.tiled=true"}));
  EXPECT_EQ(k.counters.at("tex_transactions"), 8 * 16);
  EXPECT_EQ(k.counters.at("tex_cache_miss"), 2 * 16);
  EXPECT_EQ(k.counters.at("tex_cache_hit"), 6 * 16);
  // A line of 128 bytes is eight words by four rows.
  const RecordedKernel wide =
      columns(with({"texture.tiled=true", "texture.l1_line=128", "texture.l1_ways=32"}));
  EXPECT_EQ(wide.counters.at("tex_transactions"), 8 * 8);
  EXPECT_EQ(wide.counters.at("tex_cache_miss"), 8);
  EXPECT_EQ(wide.counters.at("tex_fill_sectors"), 32);
}

TEST(TextureCache, ALineTakesItsPlaceWhenItComes) {
  // 16 lines in one set, and 32 read in turn: the last 16 of a column are still there when the next one is
  // read, because those that are missing come after all have been looked up.
  const RecordedKernel k = columns(with({"texture.l1_size=512", "texture.l1_ways=16"}));
  EXPECT_EQ(k.counters.at("tex_cache_hit"), 7 * 16);
  EXPECT_EQ(k.counters.at("tex_cache_miss"), 32 + 7 * 16);
  EXPECT_EQ(k.counters.at("tex_fill_sectors"), 32 + 7 * 16);
}

TEST(TextureCache, ReadsTakeTheLatencyOfTheirLevel) {
  const auto latency = [](const RecordedKernel& k, core::MemoryLevel level) {
    std::set<uint64_t> times;
    for (const RecordedKernel::Read& r : k.memory)
      if (k.op_class[r.pc] == "texture" && r.level == static_cast<uint64_t>(level))
        times.insert(r.complete - r.issue);
    return times;
  };
  // 32 lines leave one a cycle from the cycle after the issue on; a cycle to the cache; a cycle and 150 back.
  const RecordedKernel k = columns(with({"texture.l1_latency=150"}));
  EXPECT_THAT(latency(k, core::MemoryLevel::kTextureL1), testing::ElementsAre(32 + 1 + 1 + 150));
  const RecordedKernel slow = columns(with({"texture.l1_latency=250"}));
  EXPECT_THAT(latency(slow, core::MemoryLevel::kTextureL1), testing::ElementsAre(32 + 1 + 1 + 250));
  EXPECT_EQ(latency(k, core::MemoryLevel::kDram).size(), 1u);
  EXPECT_GT(*latency(k, core::MemoryLevel::kDram).begin(), 400u);
}

TEST(TextureCache, TheSecondLevelKeepsWhatTheFirstLost) {
  const Sets sets = with({"texture.l1_size=512", "texture.l1_ways=16", "texture.l2_size=64K"});
  const RecordedKernel k = columns(sets);
  EXPECT_EQ(k.counters.at("tex_cache_miss"), 32 + 7 * 16);
  EXPECT_EQ(k.counters.at("tex_l2_miss"), 32);
  EXPECT_EQ(k.counters.at("tex_l2_hit"), 7 * 16);
  EXPECT_EQ(k.counters.at("dram_read_transactions"), 32);
  EXPECT_GT(k.slots.at("memory_tex_l2"), 0u);
}

TEST(TextureCache, ALaterCacheAsksTheSecondLevelOfAll) {
  const RecordedKernel k = columns(with(
      {"coalescer.rule=cc20", "l1.size=16K", "l2.size=512K", "texture.l1_line=128", "texture.l1_ways=32"}));
  EXPECT_EQ(k.counters.at("l2_texture_sectors"), k.counters.at("tex_fill_sectors"));
  EXPECT_EQ(k.counters.at("l2_texture_sectors"), 32 * 4) << "whole lines";
  EXPECT_EQ(k.counters.at("l2_read_sectors"), 0);
}

TEST(TextureCache, AUnifiedCacheHoldsTextures) {
  const RecordedKernel k = columns({"coalescer.rule=cc20", "l1.size=16K", "l1.cache_global=false",
                                    "texture.cache=l1", "texture.tiled=false"});
  EXPECT_EQ(k.counters.at("l1_global_load_hit") + k.counters.at("l1_global_load_miss"),
            k.counters.at("tex_transactions"));
  EXPECT_EQ(k.counters.at("l1_global_load_hit"), 7 * 32);
  EXPECT_EQ(k.counters.at("l1_bypass_sectors"), 0);
}

TEST(TextureCache, AFullPathIsAStallOfItsOwn) {
  // The oldest warp is the candidate of each empty slot.
  const auto many = [](Sets sets) {
    sets.push_back("scheduler.policy=oldest");
    return test::record_run(test::program(kColumns, columns_launch(8), sets)).at(0);
  };
  const RecordedKernel one = many(with({"texture.queue=1"})), enough = many(with({"texture.queue=32"}));
  EXPECT_GT(one.slots.at("texture_throttle"), 100u);
  EXPECT_EQ(enough.slots.at("texture_throttle"), 0u);
  EXPECT_LT(enough.cycles, one.cycles);
}

/// Whatever is small, values and look-ups are the same, and so are all drivers.
class TextureTraffic : public testing::TestWithParam<const char*> {};

TEST_P(TextureTraffic, ValuesDoNotDependOnTheCache) {
  std::istringstream words(GetParam());
  SimulationOptions o = test::program(kColumns, columns_launch(8, 2),
                                      with(Sets{std::istream_iterator<std::string>(words), {}}));
  const test::Outcome direct = test::run_apart(o);
  o.direct_driver = false;
  const test::Outcome ahead = test::run_apart(o);
  const test::Outcome none =
      test::run_apart(test::program(kColumns, columns_launch(8, 2), {"texture.cache=none"}));
  EXPECT_EQ(direct.status, "complete") << direct.reason;
  EXPECT_EQ(direct.values, none.values);
  EXPECT_EQ(direct.timing, ahead.timing);
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, TextureTraffic,
    testing::Values(
        "texture.scope=cluster", "texture.scope=cluster texture.tiled=true texture.l2_size=64K",
        "texture.queue=1 texture.fetches=1 texture.mshrs=1 texture.merges=1 texture.l1_size=32 "
        "texture.l1_ways=1 interconnect.queue=1",
        "texture.scope=cluster texture.mshrs=1 texture.merges=1 texture.l2_size=2K "
        "texture.l2_ways=1 texture.l1_size=64 texture.l1_ways=1 interconnect.queue=1 dram.queue=1 "
        "dram.reply_queue=1 dram.write_high=1 dram.write_low=0 l2.queue=1"));

// ---- read-only loads

/// Lane l reads word l of four lines, twice.
std::string read_only(const char* nc) {
  return fmt::format(R"(
.version 3.1
.target sm_35
.address_size 64
.visible .entry twice(.param .u64 in, .param .u64 out)
{{
  .reg .u32 %r<8>;
  .reg .u64 %rd<8>;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd1, %r1, 4;
  ld.param.u64 %rd2, [in];
  add.u64 %rd2, %rd2, %rd1;
  ld.global{0}.u32 %r2, [%rd2];
  ld.global{0}.u32 %r3, [%rd2+128];
  add.u32 %r3, %r3, %r2;
  bar.sync 0;
  ld.global{0}.u32 %r4, [%rd2];
  ld.global{0}.u32 %r5, [%rd2+128];
  add.u32 %r3, %r3, %r4;
  add.u32 %r3, %r3, %r5;
  ld.param.u64 %rd3, [out];
  add.u64 %rd3, %rd3, %rd1;
  st.global.u32 [%rd3], %r3;
  ret;
}}
)",
                     nc);
}
constexpr const char* kReadOnlyLaunch = R"toml(
[[buffer]]
name = "in"
type = "u32"
count = 64
init = "iota(1, 1)"
[[buffer]]
name = "out"
type = "u32"
count = 32
[[launch]]
kernel = "twice"
grid = [1]
block = [32]
args = ["in", "out"]
)toml";
/// Compute capability 3.5: a first level for local memory, read-only loads through the texture path.
RecordedKernel kepler(const char* nc, const Sets& more = {}) {
  Sets sets{"gpu.compute_capability=3.5",
            "coalescer.rule=cc20",
            "l1.size=16K",
            "l2.size=512K",
            "l1.cache_global=false",
            "texture.cache=own",
            "texture.scope=sm",
            "texture.l1_size=12K",
            "texture.l1_line=128",
            "texture.l1_ways=24",
            "texture.read_only_loads=true"};
  sets.insert(sets.end(), more.begin(), more.end());
  return test::record_run(test::program(read_only(nc), kReadOnlyLaunch, sets)).at(0);
}

TEST(CachingRules, KeplerCachesReadOnlyLoadsOnTheTexturePath) {
  const RecordedKernel k = kepler(".nc");
  EXPECT_EQ(k.counters.at("tex_cache_miss"), 2);
  EXPECT_EQ(k.counters.at("tex_cache_hit"), 2);
  EXPECT_EQ(k.counters.at("gld_request"), 4) << "still loads of global memory";
  EXPECT_EQ(k.counters.at("load_transactions"), 4);
  EXPECT_EQ(k.counters.at("l1_global_load_hit") + k.counters.at("l1_global_load_miss"), 0);
  EXPECT_EQ(k.counters.at("l1_bypass_sectors"), 0);
  EXPECT_EQ(k.counters.at("l2_texture_sectors"), 8);
}

TEST(CachingRules, KeplerCachesOtherGlobalLoadsInTheSecondLevelOnly) {
  const RecordedKernel k = kepler("");
  EXPECT_EQ(k.counters.at("tex_cache_miss") + k.counters.at("tex_cache_hit"), 0);
  EXPECT_EQ(k.counters.at("l1_global_load_hit") + k.counters.at("l1_global_load_miss"), 0);
  EXPECT_EQ(k.counters.at("l1_bypass_sectors"), 16) << "32-byte sectors";
  EXPECT_EQ(k.counters.at("l2_read_sectors"), 16);
  EXPECT_EQ(k.counters.at("l2_read_hit_sectors"), 8);
}

TEST(CachingRules, WithoutTheKeyReadOnlyLoadsAreLoads) {
  const RecordedKernel k = kepler(".nc", {"texture.read_only_loads=false"});
  EXPECT_EQ(k.counters.at("tex_cache_miss") + k.counters.at("tex_cache_hit"), 0);
  EXPECT_EQ(k.counters.at("l1_bypass_sectors"), 16);
}

TEST(CachingRules, MaxwellCachesReadOnlyLoadsInItsUnifiedCache) {
  const Sets maxwell{"gpu.compute_capability=5.0", "texture.cache=l1"};
  const RecordedKernel k = kepler(".nc", maxwell), plain = kepler("", maxwell);
  EXPECT_EQ(k.counters.at("l1_global_load_hit"), 2);
  EXPECT_EQ(k.counters.at("l1_global_load_miss"), 2);
  EXPECT_EQ(k.counters.at("l1_bypass_sectors"), 0);
  EXPECT_EQ(plain.counters.at("l1_global_load_hit"), 0);
  EXPECT_EQ(plain.counters.at("l1_bypass_sectors"), 16);
}

TEST(CachingRules, FermiFetchesLinesAndBypassesInSectors) {
  const Sets fermi{"gpu.compute_capability=2.0", "l1.cache_global=true", "l1.sector=128",
                   "texture.cache=none"};
  const RecordedKernel cached = kepler("", fermi), bypassed = kepler(".cg", fermi);
  EXPECT_EQ(cached.counters.at("l1_global_load_hit"), 2);
  EXPECT_EQ(cached.counters.at("l1_fill_sectors"), 8) << "two whole lines";
  EXPECT_EQ(bypassed.counters.at("l1_global_load_hit") + bypassed.counters.at("l1_global_load_miss"), 0);
  EXPECT_EQ(bypassed.counters.at("l1_bypass_sectors"), 16) << "what is asked for, each time";
}

// ---- second level in a partition

class TextureL2Test : public test::PartitionBench {
 protected:
  static constexpr uint64_t kLatency = 30;
  void build_textures() {
    core::MachineConfig m = test::tesla_c1060(
        {"texture.cache=own", "texture.l1_line=32", "texture.l1_size=512", "texture.l1_ways=16",
         "texture.l2_size=16K", "texture.l2_line=256", "texture.l2_ways=2"});
    m.texture.l2_latency_ns = kLatency * 1e6 / static_cast<double>(test::kTestKhz);
    build(m);
  }
  void read(uint64_t cycle, uint64_t address) {
    source.send(cycle, {address, 32, RequestKind::kTexture, 0, 2, 9, true});
  }
};

TEST_F(TextureL2Test, SectorsOfALineAreFetchedAlone) {
  build_textures();
  read(10, 0x20);
  read(100, 0x20);
  read(200, 0x40);
  run();
  ASSERT_EQ(dram.seen.size(), 2u);
  EXPECT_EQ(dram.seen[1].address, 0x40u);
  ASSERT_EQ(sink->taken.size(), 3u);
  EXPECT_EQ(sink->taken[0].level, MemoryLevel::kDram);
  EXPECT_EQ(sink->taken[1].level, MemoryLevel::kTextureL2);
  EXPECT_EQ(sink->taken_at[1], 101u + kLatency + 1) << "at the partition, latency, at the sink";
  EXPECT_EQ(partition->texture_stats().hits, 1u);
  EXPECT_EQ(partition->texture_stats().misses, 2u);
}

TEST_F(TextureL2Test, TheLeastRecentlyUsedLineGoes) {
  // 2 KB in each partition, two ways of 256 bytes: four sets; a partition has every eighth block of 256
  // bytes.
  build_textures();
  const uint64_t stride = uint64_t{4} * 8 * 256;
  read(10, 0), read(100, stride), read(200, 0), read(300, 2 * stride), read(400, 0), read(500, stride);
  run();
  EXPECT_EQ(partition->texture_stats().hits, 2u);
  EXPECT_EQ(dram.seen.size(), 4u);
}

TEST_F(TextureL2Test, DataBehindAHitDoesNotWaitForIt) {
  build_textures();
  read(10, 0);
  read(100, 0);
  source.send(101, {0x1000, 32, RequestKind::kRead, 0, 2, 8, true});
  const uint64_t back = 102 + 1 + kDram + 1;
  run();
  ASSERT_EQ(sink->taken.size(), 3u);
  EXPECT_EQ(sink->taken[1].tag, 9);
  EXPECT_EQ(sink->taken_at[1], 101 + kLatency + 1);
  EXPECT_EQ(sink->taken_at[2], back);
}

}  // namespace
}  // namespace gpusim::comp
