// Graphs as text for Graphviz (cudaGraphDebugDotPrint).
#include <fmt/format.h>

#include <fstream>

#include "runtime/cudart/graph.h"
#include "simcore/text/kernel_name.h"

namespace gpusim::runtime::cudart {

namespace {

std::string label_of(const Node& node) {
  switch (node.type) {
    case Node::Type::kKernel:
      return fmt::format("KERNEL\\n{}\\ngrid {},{},{} block {},{},{} shared {}",
                         core::demangled(node.kernel->name()), node.grid.x, node.grid.y, node.grid.z,
                         node.block.x, node.block.y, node.block.z, node.shared);
    case Node::Type::kCopy:
      return fmt::format("MEMCPY\\n{} bytes", node.copy.bytes());
    case Node::Type::kFill:
      return fmt::format("MEMSET\\n{} bytes", node.fill.bytes());
    case Node::Type::kHost:
      return "HOST";
    case Node::Type::kGraph:
      return "GRAPH";
    case Node::Type::kWait:
      return "EVENT_WAIT";
    case Node::Type::kRecord:
      return "EVENT_RECORD";
    case Node::Type::kAllocate:
      return "MEM_ALLOC";
    case Node::Type::kFree:
      return "MEM_FREE";
    case Node::Type::kBatch:
      return "BATCH_MEM_OP";
    case Node::Type::kConditional:
      return "CONDITIONAL";
    case Node::Type::kEmpty:
      break;
  }
  return "EMPTY";
}

/// Each graph is a cluster; `number` counts graphs.
void print(std::ostream& out, const Graph& graph, unsigned& number) {
  const unsigned mine = number++;
  out << fmt::format("subgraph cluster_{} {{\nlabel=\"graph_{}\"\n", mine, mine);
  const auto name_of = [&](const Node* node) {
    const auto at = std::ranges::find_if(graph.nodes, [node](const auto& n) { return n.get() == node; });
    return fmt::format("graph_{}_node_{}", mine, at - graph.nodes.begin());
  };
  for (const auto& node : graph.nodes) {
    out << fmt::format("\"{}\" [shape=box label=\"{}\"]\n", name_of(node.get()), label_of(*node));
    for (const Node* before : node->after)
      out << fmt::format("\"{}\" -> \"{}\"\n", name_of(before), name_of(node.get()));
  }
  for (const auto& node : graph.nodes) {
    if (node->child != nullptr) print(out, *node->child, number);
    for (const auto& body : node->bodies) print(out, *body, number);
  }
  out << "}\n";
}

}  // namespace

/// Flags ask for more about each node, and change nothing.
GPUSIM_EXPORT cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned) {
  return call([&](Device&) {
    require(path != nullptr);
    const Graph& g = graph_of(graph);
    std::ofstream out(path);
    out << "digraph dot {\n";
    unsigned number = 0;
    print(out, g, number);
    out << "}\n";
    out.flush();
    require(static_cast<bool>(out), Code::kOperatingSystem);
  });
}

}  // namespace gpusim::runtime::cudart
