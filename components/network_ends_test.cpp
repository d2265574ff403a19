// Constant cache of a cluster, memory partition and block dispatcher between mocks. +1 in a time: a message
// is seen at the reader's next edge.
#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "components/block_dispatcher.h"
#include "components/cluster_cache.h"
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

// ---- block dispatcher
// -------------------------------------------------------------------------------------------------------

/// An SM that keeps each block for a fixed time and reports its end.
class MockSm : public core::Clocked {
 public:
  MockSm(const char* name, core::ClockDomain& domain, uint16_t index, uint64_t duration)
      : Clocked(name, domain), index_(index), duration_(duration) {}
  core::Link<BlockStart>* in = nullptr;
  core::Link<SmReport>* out = nullptr;
  std::vector<uint64_t> blocks, started_at;
  size_t most_resident = 0;

 protected:
  core::Cycle tick(core::Cycle now) override {
    while (!ends_.empty() && ends_.front() <= now.count() && out->can_push()) {
      ends_.erase(ends_.begin());
      out->push({index_, 1, ends_.empty()});
    }
    while (in->front() != nullptr) {
      const BlockStart start = in->pop();
      blocks.push_back(start.block);
      started_at.push_back(now.count());
      ends_.push_back(now.count() + duration_);
      most_resident = std::max(most_resident, ends_.size());
    }
    const core::Cycle end =
        ends_.empty() ? core::kNever : core::Cycle(std::max(ends_.front(), now.count() + 1));
    return std::min(end, in->next_visible());
  }

 private:
  uint16_t index_;
  uint64_t duration_;
  std::vector<uint64_t> ends_;
};

class DispatcherTest : public testing::Test {
 protected:
  void build(uint32_t sms, uint64_t duration) {
    for (uint32_t i = 0; i < sms; ++i) {
      mocks.push_back(std::make_unique<MockSm>(("sm" + std::to_string(i)).c_str(), domain,
                                               static_cast<uint16_t>(i), duration));
      starts.push_back(std::make_unique<core::Link<BlockStart>>(dispatcher, *mocks[i], 8));
      reports.push_back(std::make_unique<core::Link<SmReport>>(*mocks[i], dispatcher, 8));
      mocks[i]->in = starts[i].get();
      mocks[i]->out = reports[i].get();
      dispatcher.connect_sm(i, *starts[i], *reports[i]);
    }
    dispatcher.set_hooks({[this](KernelRun& r) { log += "begin" + std::to_string(r.id) + " "; },
                          [this](KernelRun& r) { log += "end" + std::to_string(r.id) + " "; },
                          [this] {
                            log += "done";
                            engine.stop();
                          }});
  }
  KernelRun& launch(uint64_t blocks, uint32_t per_sm) {
    runs.push_back(std::make_unique<KernelRun>());
    runs.back()->id = static_cast<uint32_t>(runs.size() - 1);
    runs.back()->num_blocks = blocks;
    runs.back()->blocks_per_sm = per_sm;
    dispatcher.enqueue(*runs.back());
    return *runs.back();
  }
  core::Engine engine;
  core::ClockDomain domain{"core", engine, test::kTestKhz};
  BlockDispatcher dispatcher{"dispatcher", domain, 100, 2};
  std::vector<std::unique_ptr<MockSm>> mocks;
  std::vector<std::unique_ptr<core::Link<BlockStart>>> starts;
  std::vector<std::unique_ptr<core::Link<SmReport>>> reports;
  std::vector<std::unique_ptr<KernelRun>> runs;
  std::string log;
};

TEST_F(DispatcherTest, OneBlockACycleToTheNextSm) {
  build(3, 1000);
  const KernelRun& run = launch(6, 4);
  EXPECT_EQ(engine.run(), core::Engine::Outcome::kStopped);
  // The kernel begins at the first issue slot, 2; blocks leave from 102 on and are seen one cycle later.
  EXPECT_EQ(run.start.count(), 2u);
  for (uint64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(mocks[i]->blocks, (Times{i, i + 3}));
    EXPECT_EQ(mocks[i]->started_at, (Times{103 + i, 106 + i}));
  }
  // The last block ends at 108 + 1000, is reported one cycle later; rounded up to an issue slot.
  EXPECT_EQ(run.end.count(), 1110u);
  EXPECT_EQ(log, "begin0 end0 done");
}

TEST_F(DispatcherTest, OccupancyLimitsAndFreedSlotsAreRefilled) {
  build(2, 50);
  launch(20, 3);
  EXPECT_EQ(engine.run(), core::Engine::Outcome::kStopped);
  EXPECT_EQ(mocks[0]->blocks.size() + mocks[1]->blocks.size(), 20u);
  EXPECT_EQ(mocks[0]->most_resident, 3u);
  EXPECT_EQ(mocks[1]->most_resident, 3u);
  // Block 0 started at 103 and ends at 153; the report is read at 154, the next block is seen at 155.
  EXPECT_EQ(mocks[0]->started_at.at(3), 155u);
}

TEST_F(DispatcherTest, LaunchesRunOneAfterAnother) {
  build(2, 50);
  const KernelRun& first = launch(3, 8);
  const KernelRun& second = launch(2, 8);
  EXPECT_EQ(engine.run(), core::Engine::Outcome::kStopped);
  EXPECT_EQ(log, "begin0 end0 begin1 end1 done");
  EXPECT_EQ(second.start, first.end);
  EXPECT_EQ(mocks[0]->started_at.back(), second.start.count() + 100 + 1)
      << "launch_cycles count for each launch";
}

}  // namespace
}  // namespace gpusim::comp
