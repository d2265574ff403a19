// Load/store unit inside a host that calls it as the SM does (replies, then send), below it a memory of fixed
// latency. Core cycles; coalescer.cycles_per_transaction is 2. +1 in a time: a message is seen at the
// reader's next edge.
#include "components/load_store_unit.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>

#include "components/testing/mocks.h"

namespace gpusim::comp {
namespace {

class Host : public core::Clocked {
 public:
  Host(const char* name, core::ClockDomain& domain) : Clocked(name, domain) {}
  LoadStoreUnit* unit = nullptr;
  std::map<uint64_t, std::function<void(uint64_t)>> script;  ///< by cycle, after the replies
  std::vector<std::pair<uint64_t, AccessRecord>> done;       ///< cycle and record
  uint32_t most_mshrs = 0;

 protected:
  core::Cycle tick(core::Cycle cycle) override {
    const uint64_t now = cycle.count();
    unit->collect_replies(now, [&](uint32_t r) { done.emplace_back(now, unit->record(r)); });
    if (const auto step = script.find(now); step != script.end()) step->second(now);
    unit->send(now);
    most_mshrs = std::max(most_mshrs, unit->mshrs_in_use());
    uint64_t next = std::max(std::min(unit->next_send(), unit->next_reply().count()), now + 1);
    if (const auto later = script.upper_bound(now); later != script.end())
      next = std::min(next, later->first);
    return core::Cycle(next);
  }
};

class LoadStoreUnitTest : public testing::Test {
 protected:
  static constexpr uint64_t kMemory = 100;
  void build(const std::vector<std::string>& sets = {}) {
    machine = test::tesla_c1060(sets);
    request = std::make_unique<core::Link<MemoryRequest>>(host, memory, 8);
    reply = std::make_unique<core::Link<MemoryReply>>(memory, host, 1024);
    constant_request = std::make_unique<core::Link<MemoryRequest>>(host, cluster, 8);
    constant_reply = std::make_unique<core::Link<MemoryReply>>(cluster, host, 1024);
    memory.in = request.get();
    memory.out = reply.get();
    cluster.in = constant_request.get();
    cluster.out = constant_reply.get();
    unit = std::make_unique<LoadStoreUnit>(
        machine, uint16_t{7},
        LoadStoreUnit::Links{request.get(), reply.get(), constant_request.get(), constant_reply.get()});
    host.unit = unit.get();
    unit->prepare();
    load.kind = isa::OpKind::kLoad;
    load.num_sb_writes = 1;
    store.kind = isa::OpKind::kStore;
    atomic.kind = isa::OpKind::kAtomic;
    atomic.num_sb_writes = 1;
    reduction.kind = isa::OpKind::kAtomic;
  }
  void at(uint64_t cycle, std::function<void(uint64_t)> action) {
    host.script[cycle] = std::move(action);
    host.wake_at(core::Cycle(cycle));
  }
  void run() {
    EXPECT_EQ(engine.run(), core::Engine::Outcome::kNothingScheduled);
    EXPECT_TRUE(unit->idle());
    EXPECT_EQ(unit->mshrs_in_use(), 0u);
  }
  /// 32 words, `stride` words apart.
  static isa::MemoryAccess words(uint64_t base, uint64_t stride = 1) {
    isa::MemoryAccess a{};
    a.bytes = 4;
    a.lanes = isa::LaneMask::all();
    for (uint64_t lane = 0; lane < 32; ++lane) a.address[lane] = base + 4 * stride * lane;
    return a;
  }
  void submit(const isa::MicroOp& op, const isa::MemoryAccess& access, uint64_t now, uint32_t warp = 0) {
    ASSERT_TRUE(unit->can_accept());
    unit->await(unit->submit(op, warp, 0, access, op.kind == isa::OpKind::kAtomic, now));
  }
  core::Engine engine;
  core::ClockDomain domain{"core", engine, test::kTestKhz};
  core::MachineConfig machine;
  Host host{"host", domain};
  test::FixedMemory memory{"memory", domain, kMemory},
      cluster{"cluster", domain, 40, MemoryLevel::kConstantL2};
  std::unique_ptr<core::Link<MemoryRequest>> request, constant_request;
  std::unique_ptr<core::Link<MemoryReply>> reply, constant_reply;
  std::unique_ptr<LoadStoreUnit> unit;
  isa::MicroOp load, store, atomic, reduction;
};

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
  EXPECT_EQ(host.done.at(0).first, 10 + 7 * (kMemory + 1) + 3 * 2 + 1 + kMemory);
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
