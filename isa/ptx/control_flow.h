// Control flow of one function: basic blocks, edges, dominators and post-dominators. The reconvergence point
// of a divergent branch is its block's immediate post-dominator (SIMT stack, compute capability < 7). The two
// dominator functions take plain edge lists, so that lowering can use them over its own micro-op blocks;
// build_control_flow() works on the parsed form. Graphs are Boost.Graph adjacency lists; dominators follow
// Georgiadis' semi-NCA algorithm (no recursion, so a program with any number of blocks is safe), checked in
// the tests against boost::lengauer_tarjan_dominator_tree.
#pragma once
#include <boost/graph/adjacency_list.hpp>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "isa/ptx/module.h"

namespace gpusim::isa {

/// "No block": the virtual exit (post-dominators), or a block that cannot be reached (dominators).
inline constexpr uint32_t kNoBlock = ~0u;

using BlockEdge = std::pair<uint32_t, uint32_t>;

/// Immediate dominator of each block, for control that enters at `entry`. kNoBlock for the entry itself and
/// for blocks that cannot be reached from it. Edges with an end outside 0..num_blocks-1 are ignored.
[[nodiscard]] std::vector<uint32_t> immediate_dominators(uint32_t num_blocks,
                                                         std::span<const BlockEdge> edges,
                                                         uint32_t entry = 0);

/// Immediate post-dominator of each block; `exits` are the blocks from which a thread may leave (a block may
/// be an exit and have successors, e.g. a guarded `exit`). kNoBlock: control joins only at the exit of the
/// function. A loop that no thread can leave has the last block of its strongly connected component joined to
/// the virtual exit, so its inner branches still have a reconvergence point.
[[nodiscard]] std::vector<uint32_t> immediate_post_dominators(uint32_t num_blocks,
                                                              std::span<const BlockEdge> edges,
                                                              std::span<const uint32_t> exits);

/// Statements [first, last) of Function::body.
struct BasicBlock {
  uint32_t first = 0;
  uint32_t last = 0;
  bool is_exit = false;  ///< a thread may leave the function here (ret, exit, trap, or the end of the body)
};

using FlowGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;

struct ControlFlow {
  std::vector<BasicBlock> blocks;        ///< in statement order; block 0 is the entry. Never empty
  std::vector<uint32_t> block_of;        ///< block of each statement
  std::vector<BlockEdge> edges;          ///< without duplicates, in order of their first block
  FlowGraph graph;                       ///< the edges of the blocks, vertex = block index
  std::vector<uint32_t> dominator;       ///< immediate_dominators()
  std::vector<uint32_t> post_dominator;  ///< immediate_post_dominators()
};

/// Blocks and edges of a function's body. Branches to labels that do not exist get no edge (the verifier
/// reports them); `brx.idx` has an edge to every label of its table; calls do not end a block.
[[nodiscard]] ControlFlow build_control_flow(const Function& function);

}  // namespace gpusim::isa
