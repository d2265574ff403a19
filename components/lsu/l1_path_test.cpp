// The load/store unit with an L1 data cache: times of hits and misses, and random traffic through
// queues of the smallest sizes.
#include <random>
#include <set>

#include "components/testing/load_store_host.h"

namespace gpusim::comp {
namespace {

class LoadStoreL1Test : public test::LoadStoreUnitTest {
 protected:
  void build_l1(std::vector<std::string> sets = {}) {
    std::vector<std::string> all = {"coalescer.rule=cc20", "l1.size=1K", "l1.latency=20"};
    all.insert(all.end(), sets.begin(), sets.end());
    build(all);
  }
  static isa::MemoryAccess local_words(uint64_t base) {
    isa::MemoryAccess a = words(base);
    a.space = isa::Space::kLocal;
    return a;
  }
};

TEST_F(LoadStoreL1Test, AHitTakesTheHitLatencyAndSendsNothing) {
  build_l1();
  at(10, [&](uint64_t now) { submit(load, words(0x1000), now); });
  at(200, [&](uint64_t now) { submit(load, words(0x1000), now); });
  run();
  ASSERT_EQ(memory.seen.size(), 1u);
  EXPECT_EQ(memory.seen[0].bytes, 128);
  EXPECT_EQ(memory.seen[0].parts, 0xf);
  ASSERT_EQ(host.done.size(), 2u);
  EXPECT_EQ(host.done[0].first, 11 + kMemory);
  EXPECT_EQ(host.done[0].second.level, MemoryLevel::kDram);
  EXPECT_EQ(host.done[1].first, 220u);
  EXPECT_EQ(host.done[1].second.level, MemoryLevel::kL1);
  EXPECT_EQ(unit->l1_stats()->load_hits, 1u);
}

/// Cycles from the first of two loads of words `stride` apart, which both hit, to the second.
class LoadStoreGroupsTest : public LoadStoreL1Test {
 protected:
  uint64_t cycles(uint64_t stride, uint64_t base = 0x4000) {
    build_l1({"l1.size=16K", "l1.tag_lines=4", "coalescer.cycles_per_transaction=1",
              "shared.lanes_per_access=32", "shared.banks=32"});
    const isa::MemoryAccess access = words(base, stride);
    at(10, [this, access](uint64_t now) { submit(load, access, now); });
    at(1000, [this, access](uint64_t now) {
      submit(load, access, now, 0);
      submit(load, access, now, 1);
    });
    run();
    EXPECT_EQ(host.done.size(), 3u);
    return host.done.size() < 3 ? 0 : host.done[2].first - host.done[1].first;
  }
};

TEST_F(LoadStoreGroupsTest, OneLine) { EXPECT_EQ(cycles(1), 1u); }
TEST_F(LoadStoreGroupsTest, SevenLinesAreTwoGroups) { EXPECT_EQ(cycles(7), 2u); }
TEST_F(LoadStoreGroupsTest, ThreeWhenTheyBeginInTheMiddleOfOne) { EXPECT_EQ(cycles(7, 0x4000 + 256), 3u); }
TEST_F(LoadStoreGroupsTest, EightWordsOfABank) { EXPECT_EQ(cycles(8), 8u); }

TEST_F(LoadStoreL1Test, MissesOfOneLineShareARequest) {
  build_l1();
  at(10, [&](uint64_t now) {
    submit(load, words(0x1000), now, 0);
    submit(load, words(0x1000), now, 1);
  });
  run();
  EXPECT_EQ(memory.seen.size(), 1u);
  ASSERT_EQ(host.done.size(), 2u);
  EXPECT_EQ(host.done[1].first, 11 + kMemory);
  EXPECT_EQ(unit->l1_stats()->merged, 1u);
}

TEST_F(LoadStoreL1Test, HitsBehindAMissDoNotWaitForIt) {
  build_l1();
  at(10, [&](uint64_t now) { submit(load, words(0x1000), now); });
  at(200, [&](uint64_t now) {
    submit(load, words(0x2000), now, 0);
    submit(load, words(0x1000), now, 1);
  });
  run();
  ASSERT_EQ(host.done.size(), 3u);
  EXPECT_EQ(host.done[1].second.warp, 1);
  EXPECT_EQ(host.done[1].first, 202u + 20);
  EXPECT_EQ(host.done[2].first, 201 + kMemory);
}

TEST_F(LoadStoreL1Test, WhatBypassesAsksForItsSectors) {
  build_l1();
  load.memory.bypasses_l1 = true;
  at(10, [&](uint64_t now) { submit(load, words(0x1000, 16), now); });  // a word of every other sector
  run();
  ASSERT_EQ(memory.seen.size(), 16u);
  EXPECT_EQ(memory.seen[3].address, 0x1000u + 3 * 128);
  EXPECT_EQ(memory.seen[3].bytes, 64);
  EXPECT_EQ(memory.seen[3].parts, 0b0101);
  EXPECT_EQ(unit->l1_stats()->load_misses, 0u);
}

TEST_F(LoadStoreL1Test, StoresAndAtomicsGoOnAndLocalStoresStay) {
  build_l1();
  at(10, [&](uint64_t now) { submit(load, words(0x1000), now); });
  at(200, [&](uint64_t now) {
    submit(store, words(0x1000), now, 1);
    submit(atomic, words(0x3000, 0), now, 2);
    submit(store, local_words(0x5000), now, 3);
  });
  at(400, [&](uint64_t now) {
    EXPECT_EQ(unit->outstanding_stores(3), 0u);
    submit(load, words(0x1000), now);
  });
  run();
  ASSERT_EQ(memory.seen.size(), 4u);
  EXPECT_EQ(memory.seen[1].kind, RequestKind::kWrite);
  EXPECT_EQ(memory.seen[2].kind, RequestKind::kAtomic);
  EXPECT_EQ(memory.seen[2].parts, 32) << "updates of one word";
  EXPECT_EQ(memory.seen[3].kind, RequestKind::kRead) << "the store dropped the line";
}

TEST_F(LoadStoreL1Test, AtomicsGoToTheirSectors) {
  build_l1();
  at(10, [&](uint64_t now) { submit(atomic, words(0x1040, 16), now); });  // sectors 2 and 0 in turn
  run();
  ASSERT_EQ(memory.seen.size(), 32u);
  std::set<uint64_t> addresses;
  for (const MemoryRequest& r : memory.seen) {
    EXPECT_EQ(r.bytes, 32);
    addresses.insert(r.address);
  }
  EXPECT_EQ(addresses.size(), 32u);
  EXPECT_EQ(*addresses.begin(), 0x1040u);
  EXPECT_EQ(*addresses.rbegin(), 0x1040u + 31 * 64);
}

TEST_F(LoadStoreL1Test, DirtyLinesLeaveBeforeTheirPlaceIsTakenAgain) {
  build_l1({"l1.ways=1", "l1.size=128"});
  at(10, [&](uint64_t now) {
    submit(store, local_words(0x1000), now);
    submit(load, words(0x2000), now);
    submit(load, words(0x4000), now);
  });
  run();
  ASSERT_EQ(memory.seen.size(), 3u);
  EXPECT_EQ(memory.seen[0].address, 0x2000u);
  EXPECT_EQ(memory.seen[1].kind, RequestKind::kWrite);
  EXPECT_EQ(memory.seen[1].address, 0x1000u);
  EXPECT_EQ(memory.seen[2].address, 0x4000u);
  EXPECT_EQ(unit->l1_stats()->writebacks, 1u);
}

struct Traffic {
  const char* name;
  std::vector<std::string> sets;
};

class LoadStoreL1Traffic : public LoadStoreL1Test, public testing::WithParamInterface<Traffic> {};

/// Random accesses to a few lines: each completes once, whatever is small.
TEST_P(LoadStoreL1Traffic, EveryAccessCompletesOnce) {
  build_l1(GetParam().sets);
  std::mt19937 random(5);
  std::vector<uint32_t> submitted, completed;
  isa::MicroOp bypass = load;
  bypass.memory.bypasses_l1 = true;
  uint32_t most = 0;
  for (uint64_t cycle = 10; cycle < 40000; cycle += 1 + random() % 40) {
    at(cycle, [&](uint64_t now) {
      if (!unit->can_accept()) return;
      isa::MemoryAccess a = words(random() % 24 * 128 + random() % 4 * 32, 1u << random() % 6);
      a.lanes = isa::LaneMask(static_cast<uint32_t>(random() | 1));
      if (random() % 3 == 0) a.space = isa::Space::kLocal;
      const isa::MicroOp* const ops[] = {&load, &load, &bypass, &store, &atomic, &reduction};
      const isa::MicroOp& op = *ops[a.space == isa::Space::kLocal ? random() % 4 : random() % 6];
      submit(op, a, now, static_cast<uint32_t>(submitted.size()) % 32);
      submitted.push_back(static_cast<uint32_t>(submitted.size()));
      most = std::max(most, unit->queued());
    });
  }
  run();
  EXPECT_GT(submitted.size(), 50u);
  EXPECT_EQ(host.done.size(), submitted.size());
  uint64_t transactions = 0;
  for (const auto& [cycle, record] : host.done) {
    EXPECT_EQ(record.remaining, 0);
    transactions += record.transactions;
  }
  const L1Stats& l1 = *unit->l1_stats();
  const uint64_t answered_here =
      l1.load_hits + l1.local_load_hits + l1.local_store_hits + l1.local_store_misses;
  EXPECT_GE(memory.seen.size() + answered_here + l1.merged, transactions + l1.writebacks);
  EXPECT_LE(memory.seen.size() + answered_here, transactions + l1.writebacks);
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, LoadStoreL1Traffic,
    testing::Values(Traffic{"Plain", {}},
                    Traffic{"OneOfEach",
                            {"lsu.queue=1", "lsu.mshrs=1", "lsu.store_buffer=1", "l1.size=128", "l1.ways=1",
                             "l1.mshrs=1", "l1.merges=1"}},
                    Traffic{"WholeLines", {"l1.sector=128", "l1.warp_mshrs=1", "l1.merges=1"}},
                    Traffic{"Streaming", {"l1.allocate=fill", "l1.mshrs=2", "lsu.store_buffer=1"}},
                    Traffic{"WideLines", {"l1.line=256", "l1.sector=64", "l1.replacement=plru"}},
                    Traffic{"NarrowLines", {"l1.line=32", "l1.replacement=random", "l1.write_local=evict"}},
                    Traffic{"LocalOnly", {"l1.cache_global=false", "l1.ways=2", "l1.size=256"}}),
    [](const auto& traffic) { return std::string(traffic.param.name); });

}  // namespace
}  // namespace gpusim::comp
