// Constant cache of a cluster and memory partition between mocks. +1 in a time: a message is seen at
// the reader's next edge.
#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "components/lsu/cluster_cache.h"
#include "components/testing/partition_bench.h"

namespace gpusim::comp {
namespace {

using Times = std::vector<uint64_t>;

// ---- cluster cache
// -------------------------------------------------------------------------------------------------------

class ClusterCacheTest : public testing::Test {
 protected:
  static constexpr uint64_t kNetwork = 100;  // mock network: cycles from request to reply
  static constexpr uint64_t kLatency = 60;
  ClusterCacheTest() {
    core::MachineConfig m = test::tesla_c1060();
    m.constant.l2_latency_ns = kLatency * 1e6 / static_cast<double>(test::kTestKhz);
    cluster = std::make_unique<ClusterCache>("cluster", domain, constant_shape(m, domain), uint16_t{30});
    for (int i = 0; i < 3; ++i) {
      sources.push_back(
          std::make_unique<test::Source<MemoryRequest>>(("sm" + std::to_string(i)).c_str(), domain));
      sinks.push_back(
          std::make_unique<test::Sink<MemoryReply>>(("reply" + std::to_string(i)).c_str(), domain));
      requests.push_back(std::make_unique<core::Link<MemoryRequest>>(*sources[i], *cluster, 8));
      replies.push_back(std::make_unique<core::Link<MemoryReply>>(*cluster, *sinks[i], 8 + 60));
      sources[i]->out = requests[i].get();
      sinks[i]->in = replies[i].get();
      cluster->connect_sm(*requests[i], *replies[i]);
    }
    requests.push_back(std::make_unique<core::Link<MemoryRequest>>(*cluster, network, 8));
    replies.push_back(std::make_unique<core::Link<MemoryReply>>(network, *cluster, 256));
    network.in = requests.back().get();
    network.out = replies.back().get();
    cluster->connect_network(*requests.back(), *replies.back());
  }
  void read(int sm, uint64_t cycle, uint64_t line, uint16_t tag = 0) {
    sources[sm]->send(cycle, {line, 64, RequestKind::kConstant, 1, static_cast<uint16_t>(sm), tag, true});
  }
  void run() { EXPECT_EQ(engine.run(), core::Engine::Outcome::kNothingScheduled); }
  core::Engine engine;
  core::ClockDomain domain{"core", engine, test::kTestKhz};
  test::FixedMemory network{"network", domain, kNetwork, MemoryLevel::kConstantL3};
  std::unique_ptr<ClusterCache> cluster;
  std::vector<std::unique_ptr<test::Source<MemoryRequest>>> sources;
  std::vector<std::unique_ptr<test::Sink<MemoryReply>>> sinks;
  std::vector<std::unique_ptr<core::Link<MemoryRequest>>> requests;
  std::vector<std::unique_ptr<core::Link<MemoryReply>>> replies;
};

TEST_F(ClusterCacheTest, MissCrossesTheNetworkAndTheNextReadHits) {
  read(0, 10, 0x40, 5);
  read(1, 300, 0x40, 6);
  run();
  // 10 sent, 11 at the cluster, 12 at the network, 112 back, 113 at the SM.
  EXPECT_EQ(sinks[0]->taken_at, Times{113});
  EXPECT_EQ(sinks[0]->taken[0].tag, 5);
  EXPECT_EQ(sinks[0]->taken[0].level, MemoryLevel::kConstantL3);
  EXPECT_EQ(network.seen.at(0).port, 30) << "the reply must come back to the cluster";
  // Hit: 301 at the cluster, +1 and the configured latency to the SM.
  EXPECT_EQ(sinks[1]->taken_at, Times{301 + 1 + kLatency});
  EXPECT_EQ(sinks[1]->taken[0].level, MemoryLevel::kConstantL2);
  EXPECT_EQ(cluster->stats().hits, 1u);
  EXPECT_EQ(cluster->stats().misses, 1u);
}

TEST_F(ClusterCacheTest, MissesOfOneLineAreMerged) {
  for (int sm = 0; sm < 3; ++sm) read(sm, 10, 0x80, static_cast<uint16_t>(sm + 1));
  run();
  EXPECT_EQ(network.seen.size(), 1u);
  for (int sm = 0; sm < 3; ++sm) {
    ASSERT_EQ(sinks[sm]->taken.size(), 1u);
    EXPECT_EQ(sinks[sm]->taken[0].tag, sm + 1);
    EXPECT_EQ(sinks[sm]->taken_at[0], 113u) << "all are answered when the line comes";
  }
}

TEST_F(ClusterCacheTest, OneRequestACycleInTurn) {
  // Twelve different lines at once from three SMs: one leaves each cycle.
  for (int sm = 0; sm < 3; ++sm)
    for (uint16_t i = 0; i < 4; ++i) read(sm, 10 + i, 64 * static_cast<uint64_t>(sm * 4 + i), i);
  run();
  ASSERT_EQ(network.seen.size(), 12u);
  for (size_t i = 1; i < 12; ++i) EXPECT_EQ(network.seen_at[i], network.seen_at[i - 1] + 1) << i;
  for (int sm = 0; sm < 3; ++sm) EXPECT_EQ(sinks[sm]->taken.size(), 4u);
}

// ---- memory partition
// -------------------------------------------------------------------------------------------------------

class PartitionTest : public test::PartitionBench {
 protected:
  void build(uint32_t reply_capacity = 64, uint64_t sink_from = 0) {
    PartitionBench::build(test::tesla_c1060(), reply_capacity, sink_from);
  }
  void send(uint64_t cycle, uint64_t address, RequestKind kind, uint8_t operations = 1) {
    source.send(cycle, {address, 64, kind, operations, 2, 9, true});
  }
};

TEST_F(PartitionTest, ReadsPassThrough) {
  build();
  send(10, 0x100, RequestKind::kRead);
  run();
  // 11 at the partition, 12 at the channel, 62 back, 63 at the sink.
  EXPECT_EQ(dram.seen_at, Times{12});
  EXPECT_EQ(sink->taken_at, Times{63});
  EXPECT_EQ(sink->taken[0].tag, 9);
  EXPECT_EQ(sink->taken[0].port, 2);
}

TEST_F(PartitionTest, ConstantLineIsKeptInTheThirdLevel) {
  build();
  send(10, 0x1000, RequestKind::kConstant);
  send(200, 0x1000, RequestKind::kConstant);
  run();
  EXPECT_EQ(dram.seen.size(), 1u);
  EXPECT_EQ(sink->taken_at, (Times{63, 201 + 1 + kL3Latency}));
  EXPECT_EQ(sink->taken[1].level, MemoryLevel::kConstantL3);
  EXPECT_EQ(partition->constant_hits(), 1u);
  EXPECT_EQ(partition->constant_misses(), 1u);
}

TEST_F(PartitionTest, AtomicsOfABusyWordAreSerial) {
  build();
  send(10, 0x100, RequestKind::kAtomic, 5);  // 5 updates of 4 cycles: the next one may go 20 cycles later
  send(10, 0x200, RequestKind::kAtomic, 1);
  send(10, 0x300, RequestKind::kAtomic, 1);
  run();
  EXPECT_EQ(dram.seen_at, (Times{12, 32, 36}));
}

TEST_F(PartitionTest, OneRequestACycle) {
  build();
  for (uint64_t i = 0; i < 10; ++i) send(10, 256 * i, RequestKind::kRead);
  run();
  for (size_t i = 0; i < 10; ++i) EXPECT_EQ(dram.seen_at[i], 12 + i);
}

TEST_F(PartitionTest, BlockedRepliesDoNotHoldRequests) {
  build(1, 1000);
  for (uint64_t i = 0; i < 10; ++i) send(10, 256 * i, RequestKind::kRead);
  run();
  EXPECT_EQ(dram.seen_at.back(), 21u) << "requests go on while the network refuses replies";
  EXPECT_EQ(sink->taken.size(), 10u);
}

}  // namespace
}  // namespace gpusim::comp
