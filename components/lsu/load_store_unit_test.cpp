// The load/store unit over a memory of fixed latency. Core cycles; coalescer.cycles_per_transaction is 2. +1
// in a time: a message is seen at the reader's next edge.
#include "components/testing/load_store_host.h"

namespace gpusim::comp {
namespace {

using test::LoadStoreUnitTest;

TEST_F(LoadStoreUnitTest, TransactionsLeaveOneEveryTwoCycles) {
  build();
  at(10, [&](uint64_t now) { submit(load, words(0x1000), now); });
  run();
  // Two 64-byte transactions at 10 and 12, seen one cycle later.
  EXPECT_EQ(memory.seen_at, (std::vector<uint64_t>{11, 13}));
  ASSERT_EQ(host.done.size(), 1u);
  EXPECT_EQ(host.done[0].first, 13 + kMemory) << "complete with the last reply";
  EXPECT_EQ(host.done[0].second.transactions, 2u);
  EXPECT_EQ(host.done[0].second.bytes, 128u);
  EXPECT_EQ(host.done[0].second.level, MemoryLevel::kDram);
  EXPECT_EQ(memory.seen[0].port, 7);
}

TEST_F(LoadStoreUnitTest, MshrsBoundOutstandingReads) {
  build({"lsu.mshrs=4"});
  at(10, [&](uint64_t now) { submit(load, words(0x1000, 32), now); });  // 32 transactions
  run();
  EXPECT_EQ(host.most_mshrs, 4u);
  // Four leave at 10, 12, 14, 16; the fifth when the first is answered at 111, seen at 112.
  EXPECT_EQ(memory.seen_at.at(3), 17u);
  EXPECT_EQ(memory.seen_at.at(4), 11 + kMemory + 1);
  // Closed formula: four transactions for each time around (send to answer 101 cycles).
  EXPECT_EQ(host.done.at(0).first, 10 + 7 * (kMemory + 1) + 6 + 1 + kMemory);
}

TEST_F(LoadStoreUnitTest, StoreBufferBoundsOutstandingWrites) {
  build({"lsu.store_buffer=2"});
  at(10, [&](uint64_t now) { submit(store, words(0x1000, 32), now, 3); });
  at(20, [&](uint64_t) { EXPECT_EQ(unit->outstanding_stores(3), 1u); });
  run();
  EXPECT_EQ(memory.seen.size(), 32u);
  EXPECT_EQ(memory.seen_at.at(2), 11 + kMemory + 1);
  EXPECT_EQ(unit->outstanding_stores(3), 0u);
  EXPECT_TRUE(host.done.at(0).second.is_store);
}

TEST_F(LoadStoreUnitTest, QueueRefusesBeyondItsSize) {
  build({"lsu.queue=2"});
  at(10, [&](uint64_t now) {
    submit(load, words(0x1000), now);
    submit(load, words(0x2000), now);
    EXPECT_FALSE(unit->can_accept());
  });
  // Both transactions of the first access have left at 12.
  at(13, [&](uint64_t) { EXPECT_TRUE(unit->can_accept()); });
  run();
  EXPECT_EQ(host.done.size(), 2u);
}

TEST_F(LoadStoreUnitTest, AtomicWithoutDestinationIsAcknowledgedOnly) {
  build();
  at(10, [&](uint64_t now) {
    submit(atomic, words(0x1000, 0), now);
    submit(reduction, words(0x1000, 0), now, 1);
  });
  run();
  ASSERT_EQ(memory.seen.size(), 4u);
  for (const MemoryRequest& r : memory.seen) EXPECT_EQ(r.kind, RequestKind::kAtomic);
  EXPECT_TRUE(memory.seen[0].wants_data);
  EXPECT_FALSE(memory.seen[2].wants_data);
  EXPECT_TRUE(host.done.at(1).second.is_store);
}

TEST_F(LoadStoreUnitTest, ConstantMissFillsTheLineForLaterHits) {
  build();
  uint32_t distinct = 0;
  at(10, [&](uint64_t now) {
    EXPECT_NE(unit->submit_constant(load, 0, 0, words(0x100, 0), distinct, now), LoadStoreUnit::kHit);
    EXPECT_EQ(distinct, 1u);
  });
  at(100, [&](uint64_t now) {
    EXPECT_EQ(unit->submit_constant(load, 0, 0, words(0x104, 0), distinct, now), LoadStoreUnit::kHit);
  });
  run();
  EXPECT_EQ(cluster.seen.size(), 1u);
  EXPECT_EQ(host.done.at(0).first, 11u + 40u);
  EXPECT_EQ(host.done[0].second.level, MemoryLevel::kConstantL2);
}

TEST_F(LoadStoreUnitTest, ConstantMissesOfOneLineAreMerged) {
  build();
  uint32_t distinct = 0;
  at(10, [&](uint64_t now) {
    for (uint32_t warp = 0; warp < 5; ++warp)
      (void)unit->submit_constant(load, warp, 0, words(0x100, 0), distinct, now);
  });
  run();
  EXPECT_EQ(cluster.seen.size(), 1u);
  ASSERT_EQ(host.done.size(), 5u);
  for (const auto& [cycle, record] : host.done) EXPECT_EQ(cycle, 51u);
}

TEST_F(LoadStoreUnitTest, ConstantMissesBeyondTheTableAreDeferred) {
  build({"constant.mshrs=2"});
  uint32_t distinct = 0;
  at(10, [&](uint64_t now) {
    (void)unit->submit_constant(load, 0, 0, words(0, 16), distinct, now);  // 32 lines
    EXPECT_EQ(distinct, 32u);
    EXPECT_FALSE(unit->can_accept_constant());
  });
  run();
  EXPECT_TRUE(unit->can_accept_constant());
  EXPECT_EQ(cluster.seen.size(), 32u);
  ASSERT_EQ(host.done.size(), 1u);
  EXPECT_EQ(host.done[0].second.transactions, 32u);
}

TEST_F(LoadStoreUnitTest, AConstantAccessToFewLinesAsksForEachOnce) {
  build();
  uint32_t distinct = 0;
  at(10, [&](uint64_t now) {
    auto access = words(0);
    // Lanes alternate between two lines: A B A B ...
    for (uint64_t lane = 0; lane < 32; ++lane) access.address[lane] = lane % 2 * 256 + lane / 2 * 4;
    (void)unit->submit_constant(load, 0, 0, access, distinct, now);
    EXPECT_EQ(distinct, 32u);
  });
  run();
  EXPECT_EQ(cluster.seen.size(), 2u);
  ASSERT_EQ(host.done.size(), 1u);
  EXPECT_EQ(host.done[0].second.transactions, 2u) << "two lines";
}

TEST_F(LoadStoreUnitTest, OneSlotEverywhereStillDrains) {
  build({"lsu.queue=1", "lsu.mshrs=1", "lsu.store_buffer=1", "constant.mshrs=1"});
  uint32_t submitted = 0;
  for (uint64_t c = 10; c < 12000; ++c)
    at(c, [&](uint64_t now) {
      if (!unit->can_accept() || submitted >= 30) return;
      submit(submitted % 3 == 0   ? store
             : submitted % 3 == 1 ? load
                                  : atomic,
             words(0x1000, submitted % 2), now);
      ++submitted;
    });
  run();
  EXPECT_EQ(submitted, 30u);
  EXPECT_EQ(host.done.size(), 30u);
  EXPECT_EQ(host.most_mshrs, 1u);
}

}  // namespace
}  // namespace gpusim::comp
