#include "isa/ptx/control_flow.h"

#include <gtest/gtest.h>

#include <boost/graph/dominator_tree.hpp>
#include <random>

#include "isa/tests/ptx_test_util.h"

namespace gpusim::isa {
namespace {

using Edges = std::vector<BlockEdge>;
using Exits = std::vector<uint32_t>;
using Blocks = std::vector<uint32_t>;
constexpr uint32_t kNo = kNoBlock;

TEST(PostDominators, IfElse) {
  EXPECT_EQ(immediate_post_dominators(4, Edges{{0, 1}, {0, 2}, {1, 3}, {2, 3}}, Exits{3}),
            (Blocks{3, 3, 3, kNo}));
}

TEST(PostDominators, Loop) {
  // 0 -> 1 (header) -> 2 -> 1, 1 -> 3
  EXPECT_EQ(immediate_post_dominators(4, Edges{{0, 1}, {1, 2}, {2, 1}, {1, 3}}, Exits{3}),
            (Blocks{1, 3, 1, kNo}));
}

TEST(PostDominators, LoopWithBreak) {
  // header 1 -> 2 -> 3 -> 1; 2 breaks to 4; 1 leaves to 4
  EXPECT_EQ(immediate_post_dominators(5, Edges{{0, 1}, {1, 2}, {2, 3}, {3, 1}, {2, 4}, {1, 4}}, Exits{4}),
            (Blocks{1, 4, 4, 1, kNo}));
}

TEST(PostDominators, SeveralExits) {
  // 1 and 2 both leave: they join only at the virtual exit
  EXPECT_EQ(immediate_post_dominators(3, Edges{{0, 1}, {0, 2}}, Exits{1, 2}), (Blocks{kNo, kNo, kNo}));
}

TEST(PostDominators, GuardedExitInTheMiddle) {
  EXPECT_EQ(immediate_post_dominators(3, Edges{{0, 1}, {1, 2}}, Exits{1, 2}), (Blocks{1, kNo, kNo}));
}

TEST(PostDominators, InfiniteLoopHasAReconvergencePoint) {
  // 0 -> 1; 1 -> 2 or 3; 2 -> 4; 3 -> 4; 4 -> 1 for ever: the branch in 1 joins at 4
  const Blocks p =
      immediate_post_dominators(5, Edges{{0, 1}, {1, 2}, {1, 3}, {2, 4}, {3, 4}, {4, 1}}, Exits{});
  EXPECT_EQ(p, (Blocks{1, 4, 4, 4, kNo}));
}

TEST(PostDominators, InfiniteLoopBesideAnExit) {
  const Blocks p = immediate_post_dominators(4, Edges{{0, 1}, {0, 2}, {2, 3}, {3, 2}}, Exits{1});
  EXPECT_EQ(p, (Blocks{kNo, kNo, 3, kNo}));
}

TEST(PostDominators, IgnoreBadEdgesAndEmptyGraphs) {
  EXPECT_TRUE(immediate_post_dominators(0, Edges{{0, 1}}, Exits{0}).empty());
  EXPECT_EQ(immediate_post_dominators(1, Edges{{0, 7}, {9, 0}}, Exits{5}), (Blocks{kNo}));
}

TEST(Dominators, DiamondAndUnreachable) {
  EXPECT_EQ(immediate_dominators(5, Edges{{0, 1}, {0, 2}, {1, 3}, {2, 3}, {4, 3}}),
            (Blocks{kNo, 0, 0, 0, kNo}));
}

std::vector<bool> reachable(uint32_t n, const Edges& edges, uint32_t without) {
  std::vector<bool> seen(n, false);
  if (without != 0) seen[0] = true;
  for (uint32_t round = 0; round < n; ++round) {
    for (const auto& [from, to] : edges) {
      if (seen[from] && to != without) seen[to] = true;
    }
  }
  return seen;
}

/// By definition: u dominates v if v cannot be reached without u; the immediate one is dominated by all
/// others.
Blocks dominators_by_definition(uint32_t n, const Edges& edges) {
  const std::vector<bool> all = reachable(n, edges, kNo);
  std::vector<std::vector<bool>> without;
  for (uint32_t u = 0; u < n; ++u) without.push_back(reachable(n, edges, u));
  const auto dominates = [&](uint32_t u, uint32_t v) { return u == v || !without[u][v]; };
  Blocks result(n, kNo);
  for (uint32_t v = 1; v < n; ++v) {
    for (uint32_t u = 0; u < n && all[v]; ++u) {
      if (u == v || !all[u] || !dominates(u, v)) continue;
      if (result[v] == kNo || dominates(result[v], u)) result[v] = u;
    }
  }
  return result;
}

TEST(Dominators, MatchTheDefinitionOnRandomGraphs) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    const uint32_t n = 2 + random() % 20;
    Edges edges;
    for (uint32_t e = random() % (3ul * n); e > 0; --e) edges.emplace_back(random() % n, random() % n);
    ASSERT_EQ(immediate_dominators(n, edges), dominators_by_definition(n, edges)) << "round " << round;
  }
}

// Only graphs whose vertices can all be reached: Boost 1.74 leaves some dominators out when there are others.
TEST(Dominators, AgreeWithBoost) {
  std::mt19937 random(2);
  for (int round = 0; round < 500; ++round) {
    const uint32_t n = 2 + random() % 60;
    Edges edges;
    for (uint32_t v = 1; v < n; ++v) edges.emplace_back(random() % v, v);
    for (uint32_t e = random() % (2ul * n); e > 0; --e) edges.emplace_back(random() % n, random() % n);
    FlowGraph graph(edges.begin(), edges.end(), n);
    const size_t none = FlowGraph::null_vertex();
    std::vector<size_t> found(n, none);
    boost::lengauer_tarjan_dominator_tree(
        graph, 0u, boost::make_iterator_property_map(found.begin(), get(boost::vertex_index, graph)));
    Blocks expected;
    for (const size_t d : found) expected.push_back(d == none ? kNo : static_cast<uint32_t>(d));
    ASSERT_EQ(immediate_dominators(n, edges), expected) << "round " << round;
  }
}

TEST(Dominators, LongChainsNeedNoStack) {
  constexpr uint32_t kBlocks = 300000;
  Edges edges;
  for (uint32_t i = 0; i + 1 < kBlocks; ++i) edges.emplace_back(i, i + 1);
  for (uint32_t i = 0; i + 1 < kBlocks; i += 3) edges.emplace_back(kBlocks - 1, i);
  const Blocks d = immediate_dominators(kBlocks, edges);
  EXPECT_EQ(d[kBlocks - 1], kBlocks - 2);
  const Blocks p = immediate_post_dominators(kBlocks, edges, Exits{kBlocks - 1});
  EXPECT_EQ(p[0], 1u);
}

TEST(ControlFlow, CutsAFunctionIntoBlocks) {
  const Module m = test::kernel_ok(R"(
    .reg .pred %p<3>; .reg .b32 %r<4>;
    mov.u32 %r1, 0;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra ELSE;
    mov.u32 %r2, 1;
    bra.uni JOIN;
  ELSE:
    mov.u32 %r2, 2;
  JOIN:
    @%p1 exit;
    mov.u32 %r3, 3;
    ret;)");
  const ControlFlow flow = build_control_flow(m.functions[0]);
  ASSERT_EQ(flow.blocks.size(), 5u);
  EXPECT_EQ(flow.edges, (Edges{{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}}));
  EXPECT_EQ(flow.post_dominator, (Blocks{3, 3, 3, kNo, kNo}));
  EXPECT_EQ(flow.dominator, (Blocks{kNo, 0, 0, 0, 3}));
  EXPECT_EQ(flow.block_of[3], 1u);
  EXPECT_TRUE(flow.blocks[3].is_exit);
  EXPECT_FALSE(flow.blocks[0].is_exit);
  EXPECT_EQ(boost::num_edges(flow.graph), 5u);
}

TEST(ControlFlow, FollowsBranchTables) {
  const Module m = test::kernel_ok(R"(
    .reg .b32 %r<2>;
    mov.u32 %r1, 0;
    tab: .branchtargets A, B, A;
    brx.idx %r1, tab;
  A: ret;
  B: ret;)");
  const ControlFlow flow = build_control_flow(m.functions[0]);
  EXPECT_EQ(flow.edges, (Edges{{0, 1}, {0, 2}}));
}

TEST(ControlFlow, EmptyBodyAndLabelAtTheEnd) {
  EXPECT_EQ(build_control_flow(Function{}).blocks.size(), 1u);
  const Module m = test::kernel_ok(".reg .pred %p; setp.eq.u32 %p, 1, 2; @%p bra END; trap; END:");
  const ControlFlow flow = build_control_flow(m.functions[0]);
  ASSERT_EQ(flow.blocks.size(), 2u);
  EXPECT_TRUE(flow.blocks[0].is_exit);
  EXPECT_TRUE(flow.blocks[1].is_exit);
}

}  // namespace
}  // namespace gpusim::isa
