// Instruction caches in whole programs: look-ups against a cache of the test's own, exact times of misses,
// and the accounting of the slots that they cost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <list>

#include "components/testing/recorded_run.h"

namespace gpusim::comp {
namespace {

using test::RecordedKernel;
using Sets = std::vector<std::string>;

/// `laps` times over `length` multiply-adds, `length2` of which only odd laps do; twice launched.
std::string loop(int length, int length2, int laps) {
  std::string ptx = R"(
.version 1.4
.target sm_13
.entry k(.param .u64 out)
{
  .reg .u32 %r<8>;
  .reg .u64 %d<4>;
  .reg .f32 %f<8>;
  .reg .pred %p<4>;
  mov.f32 %f1, 0f3f800000;
  mov.u32 %r1, 0;
LAP:
)";
  for (int i = 0; i < length; ++i) ptx += "  mad.f32 %f1, %f1, %f1, %f1;\n";
  ptx += "  and.b32 %r2, %r1, 1;\n  setp.eq.u32 %p2, %r2, 0;\n  @%p2 bra NEXT;\n";
  for (int i = 0; i < length2; ++i) ptx += "  mad.f32 %f1, %f1, %f1, %f1;\n";
  return ptx + fmt::format(R"(
NEXT:
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p1, %r1, {};
  @%p1 bra LAP;
  ld.param.u64 %d1, [out];
  st.global.f32 [%d1], %f1;
  exit;
}}
)",
                           laps);
}

std::string launches(int threads, int blocks = 1, int count = 2) {
  std::string text = "[[buffer]]\nname = \"out\"\ntype = \"f32\"\ncount = 4\n";
  for (int i = 0; i < count; ++i)
    text += fmt::format("[[launch]]\nkernel = \"k\"\ngrid = [{}]\nblock = [{}]\nargs = [\"out\"]\n", blocks,
                        threads);
  return text;
}

/// Least recently used lines of sets, as lists: what the model under test does with ages.
class ReferenceCache {
 public:
  ReferenceCache(uint64_t bytes, uint64_t line, uint64_t ways)
      : line_(line), ways_(ways), sets_(bytes / line / ways) {}
  bool access(uint64_t address) {
    const uint64_t line = address / line_;
    std::list<uint64_t>& set = sets_[line % sets_.size()];
    const auto at = std::find(set.begin(), set.end(), line);
    const bool hit = at != set.end();
    if (hit) set.erase(at);
    set.push_front(line);
    if (set.size() > ways_) set.pop_back();
    return hit;
  }

 private:
  uint64_t line_, ways_;
  std::vector<std::list<uint64_t>> sets_;
};

struct Shape {
  uint64_t bytes, size, line, ways;
};

class FetchShapes : public testing::TestWithParam<Shape> {};

TEST_P(FetchShapes, ALineIsLookedUpWhenAWarpComesToIt) {
  const Shape& s = GetParam();
  const auto kernels = test::record_run(test::program(
      loop(90, 40, 5), launches(32),
      {fmt::format("instruction.bytes={}", s.bytes), fmt::format("instruction.l1_size={}", s.size),
       fmt::format("instruction.l1_line={}", s.line), fmt::format("instruction.l1_ways={}", s.ways),
       "instruction.prefetch=0", "constant.l2_line=256", "constant.l3_line=256"}));
  ASSERT_EQ(kernels.size(), 2u);
  ReferenceCache cache(s.size, s.line, s.ways);
  for (const RecordedKernel& k : kernels) {
    uint64_t hits = 0, misses = 0, last = ~0ull;
    for (const RecordedKernel::Issue& i : k.issues) {
      const uint64_t line = i.pc * s.bytes / s.line;
      if (line == last) continue;
      ++(cache.access(i.pc * s.bytes) ? hits : misses);
      last = line;
    }
    EXPECT_GT(hits + misses, 20u);
    EXPECT_EQ(k.counters.at("inst_cache_hit"), hits);
    EXPECT_EQ(k.counters.at("inst_cache_miss"), misses);
    EXPECT_EQ(k.all_slots(), k.cycles / 2) << "each slot has one cause";
    EXPECT_EQ(misses == 0, k.slots.at("inst_fetch") == 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, FetchShapes,
                         testing::Values(Shape{8, 4096, 64, 4}, Shape{8, 1024, 64, 4}, Shape{8, 512, 64, 1},
                                         Shape{16, 2048, 128, 2}, Shape{16, 1536, 64, 3}, Shape{8, 64, 64, 1},
                                         Shape{8, 1024, 256, 4}));

TEST(Fetch, WhatIsInTheCacheCostsNothing) {
  const auto ptx = loop(60, 20, 3);
  // One clock and no refreshes: when the first launch ends makes no difference to the second.
  Sets sets = {"clocks.core=1GHz", "clocks.interconnect=1GHz", "clocks.dram=1GHz", "dram.refi=0ns"};
  const auto without = test::record_run(test::program(ptx, launches(96, 4), sets));
  sets.emplace_back("instruction.l1_size=4K");
  const auto with = test::record_run(test::program(ptx, launches(96, 4), sets));
  ASSERT_EQ(with.size(), 2u);
  ASSERT_EQ(without.size(), 2u);
  EXPECT_GT(with[0].cycles, without[0].cycles);
  EXPECT_GT(with[0].slots.at("inst_fetch"), 0u);
  EXPECT_EQ(with[1].cycles, without[1].cycles) << "the second launch finds its code";
  EXPECT_EQ(with[1].slots, without[1].slots);
  EXPECT_EQ(without[0].counters.count("inst_cache_hit"), 0u);
}

TEST(Fetch, AMissTakesTheSecondLevelsLatency) {
  // One line of eight operations; the second launch finds all lines in the cluster's cache, 100 cycles away.
  const auto kernels = test::record_run(
      test::program(loop(64, 0, 1), launches(32),
                    {"instruction.l1_size=64", "instruction.l1_ways=1", "instruction.prefetch=0",
                     "clocks.core=1GHz", "constant.l2_latency=100ns"}));
  ASSERT_EQ(kernels.size(), 2u);
  const RecordedKernel& k = kernels[1];
  uint64_t waited = 0;
  for (size_t i = 1; i < k.issues.size(); ++i) {
    if (k.issues[i].pc / 8 == k.issues[i - 1].pc / 8 || k.op_class[k.issues[i - 1].pc] == "branch") continue;
    // Asked for a cycle after the operation before, a cycle to the cluster, a cycle and 100 back; issue slots
    // are two cycles long. The dependent multiply-add alone would wait 24.
    EXPECT_EQ(k.issues[i].cycle - k.issues[i - 1].cycle, 104u) << k.issues[i].pc;
    waited += 104 / 2 - 1;
  }
  EXPECT_GT(waited, 7u * 51);
  EXPECT_GE(k.slots.at("inst_fetch"), waited);
  EXPECT_LE(k.slots.at("inst_fetch"), waited + 104) << "the first line, and one behind a branch";
}

TEST(Fetch, LinesAheadAreAskedForWithAMissingOne) {
  const auto run = [](const char* prefetch) {
    return test::record_run(test::program(loop(128, 0, 1), launches(32, 1, 1),
                                          {"instruction.l1_size=4K", "dram.refi=0ns", prefetch}))
        .at(0);
  };
  const RecordedKernel none = run("instruction.prefetch=0"), three = run("instruction.prefetch=3");
  const double lines = none.counters.at("inst_cache_miss");
  EXPECT_EQ(none.counters.at("inst_cache_hit"), 0);
  EXPECT_EQ(three.counters.at("inst_cache_hit") + three.counters.at("inst_cache_miss"), lines);
  EXPECT_LE(three.counters.at("inst_cache_miss"), lines / 4 + 1)
      << "those ahead come while the first is executed";
  EXPECT_LT(three.slots.at("inst_fetch"), none.slots.at("inst_fetch") / 2);
}

TEST(Fetch, SchedulersWithCachesOfTheirOwnMissForThemselves) {
  // One warp of each scheduler; the code is straight, so that each line is looked up once by each warp.
  const auto run = [](const char* own) {
    return test::record_run(
        test::program(loop(200, 0, 1), launches(64),
                      {"instruction.l1_size=4K", "scheduler.count=2", "instruction.prefetch=0", own}));
  };
  for (const RecordedKernel& k : {run("instruction.per_scheduler=true").at(0)})
    EXPECT_EQ(k.counters.at("inst_cache_miss"), 2 * ((k.op_class.size() + 7) / 8));
  const auto shared = run("instruction.per_scheduler=false");
  EXPECT_EQ(shared.at(0).counters.at("inst_cache_hit") + shared.at(0).counters.at("inst_cache_miss"),
            2 * ((shared.at(0).op_class.size() + 7) / 8));
  EXPECT_EQ(shared.at(1).counters.at("inst_cache_miss"), 0);
}

/// Warps in all states at once: one activation per cycle, and SMs that run ahead, agree.
class FetchDrivers : public testing::TestWithParam<const char*> {};

TEST_P(FetchDrivers, RunningAheadChangesNothing) {
  std::istringstream words(GetParam());
  SimulationOptions o =
      test::program(loop(70, 50, 4), launches(96, 70), Sets{std::istream_iterator<std::string>(words), {}});
  const test::Outcome direct = test::run_apart(o);
  o.direct_driver = false;
  const test::Outcome ahead = test::run_apart(o);
  EXPECT_EQ(direct.status, "complete") << direct.reason;
  EXPECT_EQ(direct.timing, ahead.timing);
  EXPECT_EQ(direct.values, ahead.values);
  EXPECT_THAT(direct.timing, testing::HasSubstr("inst_cache_miss"));
}

INSTANTIATE_TEST_SUITE_P(Machines, FetchDrivers,
                         testing::Values("instruction.l1_size=512 instruction.prefetch=2",
                                         "instruction.l1_size=64 instruction.l1_ways=1 instruction.mshrs=1 "
                                         "interconnect.queue=1 constant.mshrs=1",
                                         "instruction.l1_size=1K scheduler.count=2 "
                                         "instruction.per_scheduler=true scheduler.policy=gto",
                                         "instruction.l1_size=512 scheduler.issue_width=2"));

}  // namespace
}  // namespace gpusim::comp
