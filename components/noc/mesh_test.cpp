// Mesh of routers between scripted senders and sinks in one domain: ways, times without load, and random
// traffic through queues of one message.
#include "components/noc/mesh.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <set>
#include <vector>

#include "components/testing/mocks.h"

namespace gpusim::comp {
namespace {

TEST(MeshGraph, WaysAreShortestAndAlongTheRowFirst) {
  const MeshGraph graph(10, 5, 0);
  ASSERT_EQ(graph.width(), 4u);
  ASSERT_EQ(graph.routers(), 16u);
  for (uint32_t from = 0; from < 16; ++from)
    for (uint32_t to = 0; to < 16; ++to) {
      const auto distance = [](uint32_t a, uint32_t b) { return a > b ? a - b : b - a; };
      const uint32_t dx = distance(from % 4, to % 4), dy = distance(from / 4, to / 4);
      EXPECT_EQ(graph.hops(from, to), dx + dy);
      uint32_t at = from, turns = 0;
      for (uint32_t hop = 0; hop < dx + dy; ++hop) {
        const uint32_t direction = graph.next(at, to);
        EXPECT_EQ(direction < 2, hop < dx) << "first along the row, then along the column";
        const uint32_t other = graph.neighbour(at, direction);
        ASSERT_NE(other, MeshGraph::kNone);
        EXPECT_EQ(graph.neighbour(other, direction ^ 1), at);
        at = other;
        ++turns;
      }
      EXPECT_EQ(at, to) << turns;
    }
}

TEST(MeshGraph, EveryClusterAndPartitionHasARouter) {
  for (const uint32_t partitions : {1u, 3u, 8u, 12u}) {
    const MeshGraph graph(10, partitions, 6);
    EXPECT_EQ(graph.width(), 6u);
    std::set<uint32_t> used(graph.clusters().begin(), graph.clusters().end());
    used.insert(graph.partitions().begin(), graph.partitions().end());
    EXPECT_EQ(used.size(), 10u + partitions);
    EXPECT_LT(*used.rbegin(), graph.routers());
    EXPECT_EQ(graph.clusters().size(), 10u);
  }
}

struct Packet {
  uint32_t to = 0, flits = 1, from = 0, number = 0;
};
struct To {
  uint32_t operator()(const Packet& p) const { return p.to; }
};
struct Length {
  uint32_t operator()(const Packet& p) const { return p.flits; }
};

class MeshTest : public testing::Test {
 protected:
  static constexpr uint32_t kClusters = 7, kPartitions = 4, kLinks = 2;  // links of a port
  void build(const MeshOptions& options, uint32_t capacity = 64, uint64_t sink_interval = 0) {
    mesh = std::make_unique<Mesh<Packet, To, Length>>("mesh", domain, graph, graph->clusters(),
                                                      graph->partitions(), options, To{}, Length{});
    for (uint32_t i = 0; i < size_t{kClusters} * kLinks; ++i) {
      sources.push_back(
          std::make_unique<test::Source<Packet>>(("source" + std::to_string(i)).c_str(), domain));
      links.push_back(std::make_unique<core::Link<Packet>>(*sources[i], *mesh, capacity));
      sources[i]->out = links.back().get();
      mesh->add_input(*links.back(), i / kLinks);
    }
    for (uint32_t o = 0; o < size_t{kPartitions} * kLinks; ++o) {
      sinks.push_back(std::make_unique<test::Sink<Packet>>(("sink" + std::to_string(o)).c_str(), domain, 0,
                                                           sink_interval));
      links.push_back(std::make_unique<core::Link<Packet>>(*mesh, *sinks[o], capacity));
      sinks[o]->in = links.back().get();
      mesh->add_output(*links.back(), o / kLinks);
    }
  }
  void run() {
    EXPECT_EQ(engine.run(), core::Engine::Outcome::kNothingScheduled);
    EXPECT_EQ(mesh->waiting_for(), "");
  }
  [[nodiscard]] uint32_t hops(uint32_t input, uint32_t output) const {
    return graph->hops(graph->clusters()[input / kLinks], graph->partitions()[output / kLinks]);
  }
  core::Engine engine;
  core::ClockDomain domain{"net", engine, test::kTestKhz};
  std::shared_ptr<const MeshGraph> graph = std::make_shared<MeshGraph>(kClusters, kPartitions, 0);
  std::unique_ptr<Mesh<Packet, To, Length>> mesh;
  std::vector<std::unique_ptr<test::Source<Packet>>> sources;
  std::vector<std::unique_ptr<test::Sink<Packet>>> sinks;
  std::vector<std::unique_ptr<core::Link<Packet>>> links;
};

TEST_F(MeshTest, WithoutLoadAMessageTakesItsHopsAndItsLength) {
  build({3, 1, Arbitration::kRoundRobin});
  uint64_t cycle = 10;
  std::vector<std::vector<uint64_t>> expected(size_t{kPartitions} * kLinks);
  for (uint32_t i = 0; i < size_t{kClusters} * kLinks; ++i)
    for (uint32_t o = 0; o < size_t{kPartitions} * kLinks; ++o, cycle += 200) {
      const uint32_t flits = 1 + (i + o) % 5;
      sources[i]->send(cycle, {o, flits, i, 0});
      // One cycle each from the sender to the mesh and from the mesh to the sink.
      expected[o].push_back(cycle + 1 + uint64_t{hops(i, o)} * 3 + flits - 1 + 1);
    }
  run();
  for (uint32_t o = 0; o < size_t{kPartitions} * kLinks; ++o) EXPECT_EQ(sinks[o]->taken_at, expected[o]) << o;
}

TEST_F(MeshTest, LinksOfOnePortShareItsWidth) {
  build({1, 4, Arbitration::kRoundRobin});
  for (uint32_t n = 0; n < 20; ++n)
    for (uint32_t i = 0; i < kLinks; ++i) sources[i]->send(10, {0, 4, i, n});
  run();
  // Forty messages of four flits through one port, back to back.
  EXPECT_EQ(sinks[0]->taken_at.back(), 11 + uint64_t{hops(0, 0)} + 160);
  for (size_t k = 2; k < 40; ++k)
    EXPECT_EQ(sinks[0]->taken[k].from, sinks[0]->taken[k - 2].from) << "in turn";
  EXPECT_EQ(mesh->flits_moved(), 160u);
}

TEST_F(MeshTest, TheOldestGoesFirst) {
  build({1, 4, Arbitration::kOldest});
  // While a long message holds the port, input 1 waits from 20 on and input 0 from 21 on.
  sources[0]->send(10, {0, 30, 0, 0});
  sources[0]->send(21, {0, 1, 0, 1});
  sources[1]->send(20, {0, 1, 1, 2});
  run();
  ASSERT_EQ(sinks[0]->taken.size(), 3u);
  EXPECT_EQ(sinks[0]->taken[1].number, 2u);
  EXPECT_EQ(sinks[0]->taken[2].number, 1u);
}

class MeshTraffic : public MeshTest, public testing::WithParamInterface<int> {};

TEST_P(MeshTraffic, NothingIsLostOrDoubledAndPairsStayInOrder) {
  const auto seed = static_cast<uint64_t>(GetParam());
  const Arbitration arbitration = seed % 2 == 0 ? Arbitration::kRoundRobin : Arbitration::kOldest;
  build({1 + seed % 3, 1 + static_cast<uint32_t>(seed % 5 == 4), arbitration}, 1, seed % 4);
  std::mt19937_64 random(seed);
  constexpr uint32_t kCount = 300;
  std::vector<std::vector<uint32_t>> sent(size_t{kClusters} * kLinks,
                                          std::vector<uint32_t>(size_t{kPartitions} * kLinks));
  for (uint32_t n = 0; n < kCount; ++n)
    for (uint32_t i = 0; i < size_t{kClusters} * kLinks; ++i) {
      const auto o = static_cast<uint32_t>(random() % (size_t{kPartitions} * kLinks));
      const auto flits = static_cast<uint32_t>(1 + random() % 5);
      sources[i]->send(10 + random() % 3 + n, {o, flits, i, sent[i][o]++});
    }
  run();
  uint64_t taken = 0;
  std::vector<std::vector<uint32_t>> next(size_t{kClusters} * kLinks,
                                          std::vector<uint32_t>(size_t{kPartitions} * kLinks));
  for (uint32_t o = 0; o < size_t{kPartitions} * kLinks; ++o)
    for (const Packet& p : sinks[o]->taken) {
      EXPECT_EQ(p.to, o);
      EXPECT_EQ(p.number, next[p.from][o]++) << "from " << p.from << " to " << o;
      ++taken;
    }
  EXPECT_EQ(taken, uint64_t{kCount} * size_t{kClusters} * kLinks);
  EXPECT_EQ(mesh->messages_moved(), taken);
  EXPECT_EQ(next, sent);
}
INSTANTIATE_TEST_SUITE_P(Seeds, MeshTraffic, testing::Range(0, 12));

}  // namespace
}  // namespace gpusim::comp
