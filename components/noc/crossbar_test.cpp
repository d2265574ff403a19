// Crossbar between scripted senders and sinks in one domain. In every expected time: +1 from sender to
// crossbar, +1 from crossbar to sink; a message of n flits arrives n - 1 cycles later than its first flit.
#include "components/noc/crossbar.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "components/testing/mocks.h"

namespace gpusim::comp {
namespace {

struct Packet {
  uint32_t to = 0, flits = 1, id = 0;
};
using Times = std::vector<uint64_t>;

class CrossbarTest : public testing::Test {
 protected:
  /// `input_ports[i]`: port of input link i; `outputs` output links, each with a port of its own.
  void build(const std::vector<uint32_t>& input_ports, uint32_t outputs, uint32_t capacity = 64,
             uint64_t sink_interval = 0, uint64_t sink_from = 0,
             Arbitration arbitration = Arbitration::kRoundRobin, uint32_t queues = 1,
             uint32_t queue_messages = 1) {
    const uint32_t ports = *std::max_element(input_ports.begin(), input_ports.end()) + 1;
    crossbar = std::make_unique<Crossbar<Packet>>(
        "crossbar", domain, ports, outputs, [](const Packet& p) { return p.to; },
        [](const Packet& p) { return p.flits; }, arbitration, queues, queue_messages);
    for (size_t i = 0; i < input_ports.size(); ++i) {
      sources.push_back(
          std::make_unique<test::Source<Packet>>(("source" + std::to_string(i)).c_str(), domain));
      links.push_back(std::make_unique<core::Link<Packet>>(*sources[i], *crossbar, 1024, 0, 1024));
      sources[i]->out = links.back().get();
      crossbar->add_input(*links.back(), input_ports[i]);
    }
    for (uint32_t o = 0; o < outputs; ++o) {
      sinks.push_back(std::make_unique<test::Sink<Packet>>(("sink" + std::to_string(o)).c_str(), domain,
                                                           o == 0 ? sink_from : 0, sink_interval));
      links.push_back(std::make_unique<core::Link<Packet>>(*crossbar, *sinks[o], capacity));
      sinks[o]->in = links.back().get();
      crossbar->add_output(*links.back(), o);
    }
  }
  void run() { EXPECT_EQ(engine.run(), core::Engine::Outcome::kNothingScheduled); }
  [[nodiscard]] std::vector<uint32_t> ids(size_t sink) const {
    std::vector<uint32_t> v;
    for (const Packet& p : sinks[sink]->taken) v.push_back(p.id);
    return v;
  }
  core::Engine engine;
  core::ClockDomain domain{"net", engine, test::kTestKhz};
  std::unique_ptr<Crossbar<Packet>> crossbar;
  std::vector<std::unique_ptr<test::Source<Packet>>> sources;
  std::vector<std::unique_ptr<test::Sink<Packet>>> sinks;
  std::vector<std::unique_ptr<core::Link<Packet>>> links;
};

TEST_F(CrossbarTest, OneFlitCrossesInACycle) {
  build({0}, 1);
  sources[0]->send(10, {0, 1, 0});
  run();
  EXPECT_EQ(sinks[0]->taken_at, Times{12});
  EXPECT_EQ(crossbar->flits_moved(), 1u);
}

TEST_F(CrossbarTest, LongMessagesHoldTheirPort) {
  build({0}, 1);
  for (uint32_t i = 0; i < 3; ++i) sources[0]->send(10, {0, 4, i});
  run();
  // Moved at 11, 15, 19; the last flit leaves 3 cycles later.
  EXPECT_EQ(sinks[0]->taken_at, (Times{15, 19, 23}));
  EXPECT_EQ(crossbar->flits_moved(), 12u);
  EXPECT_EQ(crossbar->messages_moved(), 3u);
}

TEST_F(CrossbarTest, DifferentPortsWorkInParallel) {
  build({0, 1}, 2);
  sources[0]->send(10, {0, 4, 0});
  sources[1]->send(10, {1, 4, 1});
  run();
  EXPECT_EQ(sinks[0]->taken_at, Times{15});
  EXPECT_EQ(sinks[1]->taken_at, Times{15});
}

TEST_F(CrossbarTest, LinksOfOneInputPortTakeTurns) {
  build({0, 0}, 2);
  sources[0]->send(10, {0, 4, 0});
  sources[1]->send(10, {1, 4, 1});
  run();
  EXPECT_EQ(sinks[0]->taken_at, Times{15});
  EXPECT_EQ(sinks[1]->taken_at, Times{19}) << "the shared port is busy for four cycles";
}

TEST_F(CrossbarTest, OutputPortServesItsInputsRoundRobin) {
  build({0, 1, 2}, 1);
  for (uint32_t round = 0; round < 50; ++round)
    for (uint32_t i = 0; i < 3; ++i) sources[i]->send(10, {0, 2, i});
  run();
  const auto order = ids(0);
  ASSERT_EQ(order.size(), 150u);
  for (size_t k = 3; k < order.size(); ++k) EXPECT_EQ(order[k], order[k - 3]) << k;
  EXPECT_NE(order[0], order[1]);
  // Closed formula: 150 messages of two flits through one port, back to back.
  EXPECT_EQ(sinks[0]->taken_at.back(), 11 + 150 * 2);
}

TEST_F(CrossbarTest, OldestMessageGoesFirst) {
  build({0, 1, 2}, 1, 64, 0, 0, Arbitration::kOldest);
  // While a long message holds the output, the others come in the order 2, 0, 1.
  sources[0]->send(10, {0, 30, 0});
  sources[2]->send(20, {0, 1, 1});
  sources[0]->send(21, {0, 1, 2});
  sources[1]->send(22, {0, 1, 3});
  run();
  EXPECT_EQ(ids(0), (std::vector<uint32_t>{0, 1, 2, 3}));
  EXPECT_EQ(sinks[0]->taken_at.back(), 11 + 30 + 2 + 1u);
}

TEST_F(CrossbarTest, OldestWithoutRoomBehindItLetsOthersPass) {
  build({0, 1}, 2, 1, 0, 1000, Arbitration::kOldest);  // sink 0 takes nothing before 1000
  for (uint32_t i = 0; i < 3; ++i) sources[0]->send(10, {0, 1, i});
  for (uint32_t i = 0; i < 3; ++i) sources[1]->send(11, {1, 1, i});
  run();
  EXPECT_LT(sinks[1]->taken_at.back(), 30u);
  EXPECT_EQ(ids(0), (std::vector<uint32_t>{0, 1, 2}));
}

TEST_F(CrossbarTest, BlockedHeadDoesNotHoldOtherPorts) {
  build({0, 1}, 2, 2, 0, 1000);  // sink 0 takes nothing before 1000
  for (uint32_t i = 0; i < 5; ++i) sources[0]->send(10, {0, 1, i});
  for (uint32_t i = 0; i < 5; ++i) sources[1]->send(10, {1, 1, i});
  run();
  EXPECT_EQ(sinks[1]->taken_at.back(), 16u);
  EXPECT_EQ(ids(0), (std::vector<uint32_t>{0, 1, 2, 3, 4})) << "in order, none lost";
  EXPECT_EQ(sinks[0]->taken_at.front(), 1000u);
}

TEST_F(CrossbarTest, OneSlotBehindTheCrossbarStillDrains) {
  build({0, 0, 1, 1}, 2, 1, 3);
  for (uint32_t i = 0; i < 200; ++i) sources[i % 4]->send(10 + i / 8, {(i * 7 / 3) % 2, 1 + i % 5, i});
  run();
  EXPECT_EQ(sinks[0]->taken.size() + sinks[1]->taken.size(), 200u);
  EXPECT_EQ(crossbar->waiting_for(), "");
}

TEST_F(CrossbarTest, QueueOfItsOwnLetsMessagesPass) {
  build({0}, 3, 1, 0, 1000, Arbitration::kRoundRobin, 3, 2);  // sink 0 takes nothing before 1000
  // One message fills the link to sink 0 and two the queue, which is full with them: the fourth holds back 9.
  const std::vector<Packet> sent = {{0, 1, 0}, {1, 1, 1}, {0, 1, 2}, {0, 1, 3}, {2, 1, 4},
                                    {1, 1, 5}, {2, 1, 6}, {0, 1, 7}, {0, 1, 8}, {1, 1, 9}};
  for (const Packet& p : sent) sources[0]->send(10, p);
  run();
  EXPECT_EQ(ids(0), (std::vector<uint32_t>{0, 2, 3, 7, 8})) << "in order, none lost";
  EXPECT_EQ(ids(1), (std::vector<uint32_t>{1, 5, 9}));
  EXPECT_EQ(ids(2), (std::vector<uint32_t>{4, 6}));
  EXPECT_LE(sinks[1]->taken_at[1], 17u) << "in turn with the messages to sink 2";
  EXPECT_LE(sinks[2]->taken_at[1], 17u);
  EXPECT_GT(sinks[1]->taken_at[2], 1000u);
  EXPECT_EQ(crossbar->waiting_for(), "");
}

TEST_F(CrossbarTest, SeveralQueuesDrainThroughOneSlot) {
  build({0, 0, 1, 1}, 3, 1, 3, 0, Arbitration::kRoundRobin, 2, 3);
  for (uint32_t i = 0; i < 300; ++i) sources[i % 4]->send(10 + i / 8, {(i * 7 / 3) % 3, 1 + i % 5, i});
  run();
  EXPECT_EQ(sinks[0]->taken.size() + sinks[1]->taken.size() + sinks[2]->taken.size(), 300u);
  EXPECT_EQ(crossbar->waiting_for(), "");
}

TEST_F(CrossbarTest, AQueuesNextMessageLeavesInTheNextCycle) {
  // Ports 2 and 0 have a queue in common. Nothing else wakes the crossbar for the second message.
  build({0}, 3, 64, 0, 0, Arbitration::kRoundRobin, 2, 4);
  sources[0]->send(10, {2, 1, 0});
  sources[0]->send(10, {0, 1, 1});
  run();
  EXPECT_EQ(sinks[2]->taken_at, Times{12});
  EXPECT_EQ(sinks[0]->taken_at, Times{13});
}

TEST_F(CrossbarTest, SeveralQueuesTakeNoTime) {
  build({0, 0}, 2, 64, 0, 0, Arbitration::kOldest, 2, 4);
  sources[0]->send(10, {0, 4, 0});
  sources[1]->send(10, {1, 4, 1});
  run();
  EXPECT_EQ(sinks[0]->taken_at, Times{15}) << "as with one queue";
  EXPECT_EQ(sinks[1]->taken_at, Times{19}) << "the shared port is busy for four cycles";
}

TEST_F(CrossbarTest, MoreThanSixtyFourInputs) {
  std::vector<uint32_t> ports(130);
  for (uint32_t i = 0; i < 130; ++i) ports[i] = i;
  build(ports, 1, 256);
  for (uint32_t i = 0; i < 130; ++i) sources[i]->send(10, {0, 1, i});
  run();
  auto order = ids(0);
  ASSERT_EQ(order.size(), 130u);
  for (size_t k = 1; k < order.size(); ++k)
    EXPECT_EQ(order[k], (order[k - 1] + 1) % 130) << "in turn over all words";
}

}  // namespace
}  // namespace gpusim::comp
