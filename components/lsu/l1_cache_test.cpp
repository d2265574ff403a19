// The L1 alone, then inside a load/store unit over a memory of fixed latency.
#include "components/lsu/l1_cache.h"

#include <gtest/gtest.h>

#include "components/launch/occupancy_limits.h"
#include "components/testing/mocks.h"

namespace gpusim::comp {
namespace {

using Answer = L1Cache::Answer;
using Stored = L1Cache::Stored;

core::MachineConfig::FirstLevel small() {
  core::MachineConfig::FirstLevel c;
  c.bytes = 1024;  // two sets of four lines
  c.latency = 20;
  c.mshrs = 3;
  c.merges = 2;
  c.index = core::SetIndexKind::kModulo;
  c.replacement = "lru";
  c.allocate = core::AllocateOn::kMiss;
  c.write_global = core::WriteHit::kEvict;
  c.write_local = core::WriteHit::kBack;
  return c;
}

L1Cache::Access access(uint64_t line, SectorMask sectors, uint32_t record = 0, bool local = false,
                       uint32_t warp = 0) {
  return {line * 128, sectors, warp, record, local, false};
}

/// A load that misses and is answered at once.
void bring(L1Cache& l1, uint64_t line, SectorMask sectors, bool local = false) {
  const L1Cache::Result r = l1.load(access(line, sectors, 99, local), true);
  ASSERT_EQ(r.answer, Answer::kWait);
  std::vector<uint32_t> done;
  l1.fill(r.entry, r.request, [&](uint32_t record) { done.push_back(record); });
  ASSERT_EQ(done, std::vector<uint32_t>{99});
}

TEST(L1Cache, OnlyMissingSectorsAreAskedForAndOnlyOnce) {
  L1Cache l1("l1", small(), 4);
  bring(l1, 5, 0b0001);
  EXPECT_EQ(l1.load(access(5, 0b0001), true).answer, Answer::kHit);
  const L1Cache::Result first = l1.load(access(5, 0b0111, 1), true);
  EXPECT_EQ(first.answer, Answer::kWait);
  EXPECT_EQ(first.request, 0b0110u);
  const L1Cache::Result merged = l1.load(access(5, 0b1100, 2), true);
  EXPECT_EQ(merged.request, 0b1000u);
  EXPECT_EQ(merged.entry, first.entry);
  std::vector<uint32_t> done;
  const auto note = [&](uint32_t record) { done.push_back(record); };
  l1.fill(first.entry, 0b1000, note);
  EXPECT_TRUE(done.empty());
  EXPECT_EQ(l1.mshrs_in_use(), 1u);
  l1.fill(first.entry, 0b0110, note);
  EXPECT_EQ(done, (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(l1.mshrs_in_use(), 0u);
  EXPECT_EQ(l1.load(access(5, 0b1111), true).answer, Answer::kHit);
  EXPECT_EQ(l1.stats().load_misses, 3u);
  EXPECT_EQ(l1.stats().merged, 1u);
  EXPECT_EQ(l1.stats().load_hits, 2u);
  EXPECT_EQ(l1.stats().fill_sectors, 4u);
}

TEST(L1Cache, AWholeLineIsFetchedIfThatIsItsSector) {
  core::MachineConfig::FirstLevel c = small();
  c.sector = 128;
  L1Cache l1("l1", c, 4);
  EXPECT_EQ(l1.load(access(5, 0b0100), true).request, 0b1111u);
}

TEST(L1Cache, EachRefusalHasItsCauseAndChangesNothing) {
  core::MachineConfig::FirstLevel c = small();
  c.warp_mshrs = 2;
  L1Cache l1("l1", c, 4);
  EXPECT_EQ(l1.load(access(0, 1, 0), false).answer, Answer::kRefused) << "nothing can leave";
  EXPECT_EQ(l1.mshrs_in_use(), 0u);
  l1.load(access(0, 1, 0), true);
  EXPECT_EQ(l1.load(access(0, 1, 1), false).answer, Answer::kWait) << "nothing has to leave";
  EXPECT_EQ(l1.load(access(0, 1, 2), true).answer, Answer::kRefused);
  EXPECT_EQ(l1.stats().no_merge, 1u);
  l1.load(access(2, 1, 3), true);
  EXPECT_EQ(l1.load(access(4, 1, 4), true).answer, Answer::kRefused);
  EXPECT_EQ(l1.stats().no_warp_mshr, 1u);
  l1.load(access(4, 1, 5, false, 1), true);
  L1Cache::Access late = access(6, 1, 6, false, 2);
  EXPECT_EQ(l1.load(late, true).answer, Answer::kRefused);
  late.again = true;
  EXPECT_EQ(l1.load(late, true).answer, Answer::kRefused);
  EXPECT_EQ(l1.stats().no_mshr, 1u) << "counted when it came";
  EXPECT_EQ(l1.mshrs_in_use(), 3u);
  EXPECT_EQ(l1.stats().load_misses, 4u);
}

TEST(L1Cache, AFullSetOfLinesOnTheirWayRefusesUnlessLinesTakeTheirPlaceWhenTheyCome) {
  for (const bool on_fill : {false, true}) {
    core::MachineConfig::FirstLevel c = small();
    c.mshrs = 8;
    c.allocate = on_fill ? core::AllocateOn::kFill : core::AllocateOn::kMiss;
    L1Cache l1("l1", c, 4);
    std::vector<uint32_t> entries;
    for (uint32_t i = 0; i < 4; ++i) entries.push_back(l1.load(access(uint64_t{2} * i, 1, i), true).entry);
    const L1Cache::Result fifth = l1.load(access(8, 1, 4), true);
    EXPECT_EQ(fifth.answer, on_fill ? Answer::kWait : Answer::kRefused);
    EXPECT_EQ(l1.stats().no_way, on_fill ? 0u : 1u);
    for (const uint32_t e : entries) l1.fill(e, 1, [](uint32_t) {});
    EXPECT_EQ(l1.load(access(0, 1), true).answer, Answer::kHit);
  }
}

TEST(L1Cache, AFullSetOfLinesOnTheirWayNeedNotHoldOthersUpIfTheirLinesAreNotKept) {
  core::MachineConfig::FirstLevel c = small();
  c.mshrs = 8;
  c.allocate = core::AllocateOn::kMissOrPass;
  L1Cache l1("l1", c, 4);
  std::vector<uint32_t> entries;
  for (uint32_t i = 0; i < 4; ++i) entries.push_back(l1.load(access(uint64_t{2} * i, 1, i), true).entry);
  const L1Cache::Result fifth = l1.load(access(8, 1, 4), true);
  EXPECT_EQ(fifth.answer, Answer::kWait);
  EXPECT_EQ(l1.load(access(8, 1, 5), true).request, 0u) << "it is on its way";
  EXPECT_EQ(l1.stats().no_way, 0u);
  std::vector<uint32_t> done;
  l1.fill(fifth.entry, 1, [&](uint32_t record) { done.push_back(record); });
  EXPECT_EQ(done, (std::vector<uint32_t>{4, 5})) << "both have their data";
  for (const uint32_t e : entries) l1.fill(e, 1, [](uint32_t) {});
  EXPECT_EQ(l1.load(access(8, 1), true).answer, Answer::kWait) << "it was not kept";
  EXPECT_EQ(l1.load(access(2, 1), true).answer, Answer::kHit);
}

TEST(L1Cache, WritePolicies) {
  core::MachineConfig::FirstLevel c = small();
  for (const core::WriteHit policy : {core::WriteHit::kEvict, core::WriteHit::kThrough}) {
    c.write_global = policy;
    L1Cache l1("l1", c, 4);
    bring(l1, 7, 0b0011);
    EXPECT_EQ(l1.store(access(7, 0b0001), false), Stored::kRefused);
    EXPECT_EQ(l1.store(access(7, 0b0001), true), Stored::kGoesOn);
    const bool kept = policy == core::WriteHit::kThrough;
    EXPECT_EQ(l1.load(access(7, 0b0001), true).answer, kept ? Answer::kHit : Answer::kWait);
    EXPECT_EQ(l1.load(access(7, 0b0010), true).answer, Answer::kHit) << "its neighbour stays";
    EXPECT_EQ(l1.store(access(9, 1), true), Stored::kGoesOn);
    EXPECT_EQ(l1.load(access(9, 1), true).answer, Answer::kWait) << "stores allocate nothing";
  }
}

TEST(L1Cache, LocalStoresThatGoOnMayLeaveACopy) {
  core::MachineConfig::FirstLevel c = small();
  c.write_local = core::WriteHit::kBoth;
  L1Cache l1("l1", c, 4);
  EXPECT_EQ(l1.store(access(0, 0b0110, 0, true), false), Stored::kRefused) << "it has to go on";
  for (uint64_t line : {0, 2, 4, 6})
    EXPECT_EQ(l1.store(access(line, 0b0110, 0, true), true), Stored::kGoesOn);
  EXPECT_EQ(l1.store(access(0, 0b1000, 0, true), true), Stored::kGoesOn);
  EXPECT_EQ(l1.stats().local_store_misses, 4u);
  EXPECT_EQ(l1.stats().local_store_hits, 1u);
  EXPECT_EQ(l1.stats().store_sectors, 9u);
  EXPECT_EQ(l1.load(access(0, 0b1110, 0, true), true).answer, Answer::kHit);
  EXPECT_EQ(l1.load(access(2, 0b0001, 0, true), true).answer, Answer::kWait) << "not written yet";
  EXPECT_EQ(l1.load(access(8, 1, 1), true).answer, Answer::kWait)
      << "over the line that was used least lately";
  EXPECT_FALSE(l1.has_writeback()) << "the L2 has it already";
  EXPECT_EQ(l1.load(access(4, 0b0110, 0, true), true).answer, Answer::kWait);
}

TEST(L1Cache, LocalStoresStayUntilTheirLineIsReplaced) {
  L1Cache l1("l1", small(), 4);
  for (uint64_t line : {0, 2, 4, 6}) EXPECT_EQ(l1.store(access(line, 0b0110, 0, true), false), Stored::kKept);
  EXPECT_EQ(l1.store(access(0, 0b1000, 0, true), false), Stored::kKept);
  EXPECT_EQ(l1.stats().local_store_misses, 4u);
  EXPECT_EQ(l1.stats().local_store_hits, 1u);
  EXPECT_EQ(l1.load(access(2, 0b0010, 0, true), true).answer, Answer::kHit);
  EXPECT_EQ(l1.load(access(2, 0b0001, 0, true), true).answer, Answer::kWait) << "not written yet";
  EXPECT_FALSE(l1.has_writeback());
  EXPECT_EQ(l1.load(access(8, 1, 1), true).answer, Answer::kWait);
  L1Cache::Writeback w;
  ASSERT_TRUE(l1.take_writeback(w));
  EXPECT_EQ(w.address, 4u * 128) << "0 and 2 were used later";
  EXPECT_EQ(w.sectors, 0b0110u);
  EXPECT_FALSE(l1.take_writeback(w));
  l1.invalidate(~0u);
  EXPECT_FALSE(l1.has_writeback()) << "local memory ends with its kernel";
}

TEST(L1Cache, AKernelThatNeedsSharedMemoryLeavesFewerWays) {
  L1Cache l1("l1", small(), 4);
  const auto kept = [&](uint32_t ways) {  // of four lines of one set
    l1.invalidate(ways);
    for (uint64_t line : {0, 2, 4, 6}) bring(l1, line, 1);
    int hits = 0;
    for (uint64_t line : {6, 4, 2, 0}) {
      const L1Cache::Result r = l1.load(access(line, 1), true);
      hits += r.answer == Answer::kHit;
      if (r.answer == Answer::kWait) l1.fill(r.entry, r.request, [](uint32_t) {});
    }
    return hits;
  };
  EXPECT_EQ(kept(~0u), 4);
  EXPECT_EQ(kept(3), 3);
  EXPECT_EQ(kept(1), 1);
  EXPECT_EQ(kept(4), 4) << "the next kernel may have it back";
}

TEST(L1Cache, WaysBesideSharedMemoryAreRoundedDown) {
  core::MachineConfig m = test::tesla_c1060(
      {"coalescer.rule=cc20", "l1.size=128K", "l1.ways=32", "shared.carveout=8K", "shared.size=96K"});
  EXPECT_EQ(core::l1_ways_beside(m, 0), 32u);
  EXPECT_EQ(core::l1_ways_beside(m, 1), 30u);
  EXPECT_EQ(core::l1_ways_beside(m, 8192), 30u);
  EXPECT_EQ(core::l1_ways_beside(m, 8193), 28u);
  EXPECT_EQ(core::l1_ways_beside(m, uint64_t{96} * 1024), 8u);
  m.shared.carveout = 0;
  EXPECT_EQ(core::l1_ways_beside(m, uint64_t{96} * 1024), 32u);
}

TEST(L1Cache, WhatIsWrittenWhileOnItsWayIsNotKept) {
  for (const core::AllocateOn allocate : {core::AllocateOn::kMiss, core::AllocateOn::kFill}) {
    core::MachineConfig::FirstLevel c = small();
    c.allocate = allocate;
    L1Cache l1("l1", c, 4);
    const L1Cache::Result r = l1.load(access(7, 0b0111, 1), true);
    EXPECT_EQ(l1.store(access(7, 0b0001), true), Stored::kGoesOn);
    l1.drop(access(7, 0b0010));
    std::vector<uint32_t> done;
    l1.fill(r.entry, r.request, [&](uint32_t record) { done.push_back(record); });
    EXPECT_EQ(done, std::vector<uint32_t>{1}) << "who asked before has its data";
    EXPECT_EQ(l1.load(access(7, 0b0100), true).answer, Answer::kHit);
    EXPECT_EQ(l1.load(access(7, 0b0111), true).request, 0b0011u) << core::word(allocate);
  }
}

TEST(L1Cache, AtomicsDropTheirLine) {
  L1Cache l1("l1", small(), 4);
  bring(l1, 3, 0b0011);
  l1.drop(access(3, 0b0001));
  EXPECT_EQ(l1.load(access(3, 0b0001), true).answer, Answer::kWait);
}

}  // namespace
}  // namespace gpusim::comp
