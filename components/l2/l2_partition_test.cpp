// The memory partition with a slice of the L2, between mocks. Interconnect cycles; +1 in a
// time: a message is seen at the reader's next edge.
#include "components/testing/partition_bench.h"

namespace gpusim::comp {
namespace {

using Times = std::vector<uint64_t>;
using core::CacheResult;

class PartitionL2Test : public test::PartitionBench {
 protected:
  static constexpr uint64_t kHit = 30;
  void build(const std::vector<std::string>& sets = {}, uint64_t sink_from = 0) {
    std::vector<std::string> all = {"l2.size=64K", "l2.ways=4"};
    all.insert(all.end(), sets.begin(), sets.end());
    core::MachineConfig m = test::tesla_c1060(all);
    m.l2.hit_latency_ns = kHit * 1e6 / static_cast<double>(test::kTestKhz);
    PartitionBench::build(std::move(m), 2, sink_from);
  }
  void send(uint64_t cycle, uint64_t address, RequestKind kind, uint16_t bytes = 64, uint8_t parts = 0) {
    source.send(cycle, {address, bytes, kind, parts, 2, tag_++, true});
  }
  [[nodiscard]] L2Stats stats() const { return *partition->l2_stats(); }
  uint16_t tag_ = 0;
};

TEST_F(PartitionL2Test, AMissTakesTheWayToDramAndTheNextReadHits) {
  build();
  send(10, 0x20, RequestKind::kRead);
  send(200, 0x20, RequestKind::kRead);
  run();
  // 11 at the partition, 12 at the channel, 62 back, 63 at the sink: as without a cache.
  EXPECT_EQ(dram.seen_at, Times{12});
  EXPECT_EQ(dram.seen[0].address, 0x20u);
  EXPECT_EQ(dram.seen[0].bytes, 64);
  // 201 at the partition, the hit's time, +1 to the sink.
  EXPECT_EQ(sink->taken_at, (Times{63, 201 + kHit + 1}));
  EXPECT_EQ(sink->taken[0].level, MemoryLevel::kDram);
  EXPECT_EQ(sink->taken[1].level, MemoryLevel::kL2);
  EXPECT_EQ(sink->taken[1].tag, 1);
  EXPECT_EQ(sink->taken[1].port, 2);
}

TEST_F(PartitionL2Test, AFullQueueOfRepliesHoldsBackOnlyItsOwnPorts) {
  constexpr uint64_t kFrom = 500;
  build({}, kFrom);  // the first link, for even ports, holds two replies until then
  add_reply_link();
  for (uint64_t i = 0; i < 2; ++i) send(10, 0, RequestKind::kWrite, 32);
  source.send(100, {0, 32, RequestKind::kRead, 0, 3, 7, true});
  run();
  EXPECT_EQ(other_sink->taken_at, Times{101 + kHit + 1});
  ASSERT_EQ(sink->taken_at.size(), 2u);
  EXPECT_GE(sink->taken_at[0], kFrom);
}

TEST_F(PartitionL2Test, OneHitACycle) {
  build();
  send(10, 0, RequestKind::kWrite, 32);
  for (uint64_t i = 0; i < 40; ++i) send(100, 0, RequestKind::kRead, 32);
  run();
  ASSERT_EQ(sink->taken_at.size(), 41u);
  EXPECT_EQ(sink->taken_at[0], 11 + kHit + 1) << "a store is acknowledged here";
  for (uint64_t i = 0; i < 40; ++i) EXPECT_EQ(sink->taken_at[1 + i], 101 + i + kHit + 1);
  EXPECT_TRUE(dram.seen.empty());
}

TEST_F(PartitionL2Test, MergedReadsAreAnsweredOneACycleWhenTheLineComes) {
  build();
  for (uint64_t i = 0; i < 3; ++i) send(10, uint64_t{0x100} * 8, RequestKind::kRead, 32);
  run();
  EXPECT_EQ(dram.seen.size(), 1u);
  EXPECT_EQ(sink->taken_at, (Times{63, 64, 65}));
  EXPECT_EQ(stats().merged, 2u);
}

TEST_F(PartitionL2Test, HitsPassMissesAndBothLeaveInTheOrderInWhichTheyAreReady) {
  build();
  send(10, 0, RequestKind::kWrite, 32);
  send(100, 0x1000, RequestKind::kRead, 32);
  send(101, 0, RequestKind::kRead, 32);
  run();
  EXPECT_EQ(sink->taken_at, (Times{42, 102 + kHit + 1, 101 + kDram + 2}));
  EXPECT_EQ(sink->taken[1].tag, 2);
}

TEST_F(PartitionL2Test, ClustersOfTheOtherHalfAreFar) {
  // Partition 0 is in the half of clusters 0 to 4: SMs 0 to 14, and constant caches 30 to 34.
  build({"l2.halves=2", "l2.far_latency=25ns"});
  const auto read = [&](uint64_t cycle, uint16_t port, RequestKind kind = RequestKind::kRead) {
    source.send(cycle, {0, 64, kind, 0, port, tag_++, true});
  };
  read(10, 15);  // miss, far
  uint64_t cycle = 200;
  for (const uint16_t port : {14, 15, 29, 0}) read(cycle += 100, port);
  for (const uint16_t port : {34, 35, 34, 35}) read(cycle += 100, port, RequestKind::kConstant);
  run();
  EXPECT_EQ(sink->taken_at,
            (Times{63 + 25, 301 + kHit + 1, 401 + kHit + 26, 501 + kHit + 26, 601 + kHit + 1,
                   701 + kHit + 1,  // brings the line to the third level of the constant cache
                   801 + kL3Latency + 26, 901 + kL3Latency + 1, 1001 + kL3Latency + 26}));
  EXPECT_EQ(stats().far, 5u);
}

TEST_F(PartitionL2Test, WithCopiesInEachHalfOnlyAtomicsThatReturnAValueAreFar) {
  build({"l2.halves=2", "l2.far_latency=25ns", "l2.replicated=true"});
  const auto access = [&](uint64_t cycle, uint16_t port, RequestKind kind) {
    source.send(
        cycle, {0, 64, kind, static_cast<uint8_t>(kind == RequestKind::kAtomic ? 1 : 0), port, tag_++, true});
  };
  access(10, 15, RequestKind::kRead);
  access(200, 15, RequestKind::kRead);
  access(300, 15, RequestKind::kAtomic);
  access(400, 14, RequestKind::kAtomic);
  source.send(500, {0, 64, RequestKind::kAtomic, 1, 15, tag_++, false});  // acknowledged where it comes from
  run();
  EXPECT_EQ(sink->taken_at, (Times{63, 201 + kHit + 1, 301 + kHit + 26, 401 + kHit + 1, 501 + kHit + 1}));
  EXPECT_EQ(stats().far, 1u);
}

TEST_F(PartitionL2Test, DirtyLinesGoToDramWithoutAReplyToAnyone) {
  build({"l2.size=1K", "l2.ways=1"});  // one line in each partition
  send(10, 0, RequestKind::kWrite, 64, 0b1001);
  send(100, 0x800, RequestKind::kRead, 32);
  run();
  ASSERT_EQ(dram.seen.size(), 3u);
  EXPECT_EQ(dram.seen_at, (Times{102, 103, 104}));
  EXPECT_EQ(dram.seen[0].kind, RequestKind::kWrite);
  EXPECT_EQ(dram.seen[0].address, 0u);
  EXPECT_EQ(dram.seen[1].address, 96u);
  EXPECT_EQ(dram.seen[2].kind, RequestKind::kRead);
  ASSERT_EQ(sink->taken.size(), 2u);
  EXPECT_EQ(sink->taken[1].kind, RequestKind::kRead);
  EXPECT_EQ(stats().written, 2u);
}

TEST_F(PartitionL2Test, AtomicsOfABusyWordAreSerialWhereverItIs) {
  build();
  send(10, 0, RequestKind::kAtomic, 32, 5);
  send(10, 0, RequestKind::kAtomic, 32, 1);
  send(200, 0, RequestKind::kAtomic, 32, 3);
  send(200, 0, RequestKind::kAtomic, 32, 1);
  run();
  // The second is looked at at 11 + 5 * 4 and waits for the line; the others hit 12 cycles apart.
  EXPECT_EQ(dram.seen.size(), 1u);
  EXPECT_EQ(sink->taken_at, (Times{63, 64, 201 + kHit + 1, 213 + kHit + 1}));
  EXPECT_EQ(partition->l2_dirty_sectors(), 1u);
  EXPECT_EQ(stats().no_atomic_unit, 2u);
}

TEST_F(PartitionL2Test, ConstantReadsPassTheThirdLevelThenTheCache) {
  build();
  send(10, 0x1000, RequestKind::kRead);
  send(100, 0x1000, RequestKind::kConstant);
  send(200, 0x1000, RequestKind::kConstant);
  run();
  EXPECT_EQ(dram.seen.size(), 1u);
  EXPECT_EQ(sink->taken_at, (Times{63, 101 + kHit + 1, 201 + kL3Latency + 1}));
  EXPECT_EQ(sink->taken[1].level, MemoryLevel::kL2);
  EXPECT_EQ(sink->taken[1].kind, RequestKind::kConstant);
  EXPECT_EQ(sink->taken[2].level, MemoryLevel::kConstantL3);
  EXPECT_EQ(partition->constant_misses(), 1u);
  EXPECT_EQ(partition->constant_hits(), 1u);
  EXPECT_EQ(stats().constants, 2u);
  EXPECT_EQ(stats().constant_hits, 2u);
}

TEST_F(PartitionL2Test, BlockedAnswersHoldNeitherMissesNorDramReplies) {
  build({}, 1000);
  for (uint64_t i = 0; i < 10; ++i) send(10, 0x800 * i, RequestKind::kRead);
  run();
  EXPECT_EQ(dram.seen_at.back(), 21u);
  EXPECT_EQ(stats().fills, 20u);
  EXPECT_EQ(sink->taken.size(), 10u);
  EXPECT_EQ(sink->taken_at.front(), 1000u);
}

TEST_F(PartitionL2Test, EventsTellEachLookUpOnce) {
  build({"l2.mshrs=1"});
  test::EventList<core::CacheEvent> list;
  events.cache = &list;
  send(10, 0, RequestKind::kRead);
  send(10, 0, RequestKind::kRead);
  send(10, 0x800, RequestKind::kWrite);
  send(10, 0x1000, RequestKind::kRead);  // waits for the only MSHR
  send(200, 0, RequestKind::kRead);
  run();
  std::vector<CacheResult> results;
  for (const core::CacheEvent& e : list.events) {
    EXPECT_EQ(e.cache, kL2Cache);
    results.push_back(static_cast<CacheResult>(e.result));
  }
  EXPECT_EQ(results, (std::vector{CacheResult::kMiss, CacheResult::kMissMerged, CacheResult::kWrite,
                                  CacheResult::kReservationFail, CacheResult::kMiss, CacheResult::kHit}));
}

}  // namespace
}  // namespace gpusim::comp
