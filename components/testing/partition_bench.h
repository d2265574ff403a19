// A memory partition between mocks: a script of requests, a DRAM of fixed latency, a sink of replies.
// Interconnect cycles.
#pragma once
#include <gtest/gtest.h>

#include <memory>

#include "components/l2/memory_partition.h"
#include "components/testing/mocks.h"

namespace gpusim::comp::test {

class PartitionBench : public testing::Test {
 protected:
  static constexpr uint64_t kL3Latency = 20, kDram = 50;
  /// `reply_capacity`: of the link to the sink, which takes nothing before `sink_from`.
  void build(core::MachineConfig machine, uint32_t reply_capacity = 64, uint64_t sink_from = 0) {
    machine.constant.l3_latency_ns = kL3Latency * 1e6 / static_cast<double>(kTestKhz);
    partition = make_partition("partition", domain, machine, 0, &events);
    sink = std::make_unique<Sink<MemoryReply>>("sink", domain, sink_from);
    requests = std::make_unique<core::Link<MemoryRequest>>(source, *partition, 64, 0, 64);
    to_dram = std::make_unique<core::Link<MemoryRequest>>(*partition, dram, 16);
    from_dram = std::make_unique<core::Link<MemoryReply>>(dram, *partition, 64);
    replies = std::make_unique<core::Link<MemoryReply>>(*partition, *sink, reply_capacity);
    source.out = requests.get();
    dram.in = to_dram.get();
    dram.out = from_dram.get();
    sink->in = replies.get();
    partition->connect(*requests, *replies);
    partition->connect_channel(*to_dram, *from_dram);
  }
  /// A second link for replies, to odd ports, with a sink of its own.
  void add_reply_link() {
    other_sink = std::make_unique<Sink<MemoryReply>>("other_sink", domain, 0);
    other_replies = std::make_unique<core::Link<MemoryReply>>(*partition, *other_sink, 64);
    other_sink->in = other_replies.get();
    partition->add_reply_link(*other_replies);
  }
  void run() {
    EXPECT_EQ(engine.run(), core::Engine::Outcome::kNothingScheduled);
    EXPECT_TRUE(engine.waiting().empty());
  }
  core::Engine engine;
  core::ClockDomain domain{"net", engine, kTestKhz};
  EventSink events;
  Source<MemoryRequest> source{"source", domain};
  FixedMemory dram{"dram", domain, kDram};
  std::unique_ptr<MemoryPartition> partition;
  std::unique_ptr<Sink<MemoryReply>> sink, other_sink;
  std::unique_ptr<core::Link<MemoryRequest>> requests, to_dram;
  std::unique_ptr<core::Link<MemoryReply>> from_dram, replies, other_replies;
};

}  // namespace gpusim::comp::test
