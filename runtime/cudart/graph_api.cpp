// CUDA graphs as a whole: made, copied, instantiated, launched, updated; their nodes and edges.
#include <algorithm>
#include <memory>
#include <utility>

#include "runtime/cudart/graph.h"

namespace gpusim::runtime::cudart {

namespace {

cudaError_t launch_graph(cudaGraphExec_t executable, cudaStream_t stream, Default null) {
  return call([&](Device& device) {
    Graph& graph = executable_of(executable);
    Stream& s = stream_of(device, stream, null);
    if (Capture* capture = capture_of(device, s)) {
      refuse_memory_nodes(graph);
      refuse_conditional_nodes(graph);
      captured(*capture, Node::Type::kGraph).child = copy_of(graph);
      return;
    }
    take_memory_of_launch(graph);
    run_graph(device, graph, s);
  });
}

cudaError_t instantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags = 0) {
  return call([&](Device&) {
    constexpr unsigned long long kAllFlags = 15;
    require(executable != nullptr && (flags & ~kAllFlags) == 0);
    const std::shared_ptr<Graph> source = shared_graph(graph);
    if (has_memory_nodes(*source) && has_executable(*source))
      throw Failure(Code::kNotSupported,
                    "a graph that allocates or frees memory is instantiated a second time");
    check_conditional_nodes(*source);
    std::shared_ptr<Graph> made = copy_of(*source);
    made->flags = flags;
    made->source = source;
    (void)made->in_order();
    *executable = keep_executable(std::move(made));
  });
}

}  // namespace

GPUSIM_EXPORT cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  return call([&](Device&) {
    require(graph != nullptr && flags == 0);
    *graph = keep(std::make_shared<Graph>());
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return call([&](Device&) {
    require(!graph_of(graph).is_body);
    forget(graph);
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  return call([&](Device&) {
    require(clone != nullptr);
    refuse_memory_nodes(graph_of(graph));
    refuse_conditional_nodes(graph_of(graph));
    *clone = keep(copy_of(graph_of(graph)));
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original,
                                                   cudaGraph_t clone) {
  return call([&](Device&) {
    require(node != nullptr);
    *node = handle_of(&node_in(graph_of(clone), original));
  });
}

#if GPUSIM_CUDART >= 12
GPUSIM_EXPORT cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                               unsigned long long flags) {
  return instantiate(executable, graph, flags);
}
#else
GPUSIM_EXPORT cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                               cudaGraphNode_t*, char*, size_t) {
  return instantiate(executable, graph);
}
#endif
GPUSIM_EXPORT cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph,
                                                        unsigned long long flags) {
  return instantiate(executable, graph, flags);
}
GPUSIM_EXPORT cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t executable, unsigned long long* flags) {
  return call([&](Device&) {
    require(flags != nullptr);
    *flags = executable_of(executable).flags;
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return call([&](Device& device) {
    (void)executable_of(executable);
    device.synchronize();
    forget(executable);
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  return launch_graph(executable, stream, Default::kLegacy);
}
GPUSIM_EXPORT cudaError_t cudaGraphLaunch_ptsz(cudaGraphExec_t executable, cudaStream_t stream) {
  return launch_graph(executable, stream, Default::kThread);
}
GPUSIM_EXPORT cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream) {
  return call([&](Device& device) {
    (void)executable_of(executable);
    (void)stream_of(device, stream);
  });
}

namespace {
/// The same nodes in the same order, with the new parameters; false if the graphs differ.
bool take_over(Graph& executable, const Graph& graph) {
  if (executable.nodes.size() != graph.nodes.size()) return false;
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    if (executable.nodes[i]->type != graph.nodes[i]->type ||
        executable.nodes[i]->after.size() != graph.nodes[i]->after.size() ||
        (graph.nodes[i]->type == Node::Type::kKernel &&
         executable.nodes[i]->kernel != graph.nodes[i]->kernel) ||
        executable.nodes[i]->memory != graph.nodes[i]->memory ||
        executable.nodes[i]->condition != graph.nodes[i]->condition)
      return false;
  const std::shared_ptr<Graph> fresh = copy_of(graph);
  executable.nodes.swap(fresh->nodes);
  return true;
}
}  // namespace
#if GPUSIM_CUDART >= 12
GPUSIM_EXPORT cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                              UpdateResult* result) {
  return call([&](Device& device) {
    device.synchronize();
    const bool same = take_over(executable_of(executable), graph_of(graph));
    if (result != nullptr) *result = {same ? 0 : 1, nullptr, nullptr};
    require(same, Code::kGraphExecUpdateFailure);
  });
}
#else
GPUSIM_EXPORT cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                              cudaGraphNode_t* node, int* result) {
  return call([&](Device& device) {
    device.synchronize();
    const bool same = take_over(executable_of(executable), graph_of(graph));
    if (node != nullptr) *node = nullptr;
    if (result != nullptr) *result = same ? 0 : 1;
    require(same, Code::kGraphExecUpdateFailure);
  });
}
#endif

namespace {
/// Fills a caller's array, or says how many there are.
void give(const std::vector<Node*>& all, cudaGraphNode_t* nodes, size_t* count) {
  require(count != nullptr);
  if (nodes == nullptr) {
    *count = all.size();
    return;
  }
  for (size_t i = 0; i < *count; ++i) nodes[i] = i < all.size() ? handle_of(all[i]) : nullptr;
  *count = std::min(*count, all.size());
}
}  // namespace
GPUSIM_EXPORT cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return call([&](Device&) {
    std::vector<Node*> all;
    for (const auto& n : graph_of(graph).nodes) all.push_back(n.get());
    give(all, nodes, count);
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return call([&](Device&) {
    std::vector<Node*> all;
    for (const auto& n : graph_of(graph).nodes)
      if (n->after.empty()) all.push_back(n.get());
    give(all, nodes, count);
  });
}
namespace {
void add_edges(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, size_t count) {
  Graph& g = graph_of(graph);
  for (size_t i = 0; i < count; ++i) {
    require(from != nullptr && to != nullptr);
    auto *f = reinterpret_cast<Node*>(from[i]), *t = reinterpret_cast<Node*>(to[i]);
    require(g.has(f) && g.has(t) && f != t);
    t->after.push_back(f);
  }
}
void remove_edges(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, size_t count) {
  Graph& g = graph_of(graph);
  refuse_memory_nodes(g);
  for (size_t i = 0; i < count; ++i) {
    require(from != nullptr && to != nullptr);
    auto *f = reinterpret_cast<Node*>(from[i]), *t = reinterpret_cast<Node*>(to[i]);
    require(g.has(f) && g.has(t) && std::erase(t->after, f) != 0);
  }
}
void edges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, size_t* count) {
  require(count != nullptr);
  std::vector<Node*> f, t;
  for (const auto& n : graph_of(graph).nodes)
    for (Node* before : n->after) f.push_back(before), t.push_back(n.get());
  size_t same = *count;
  if (from == nullptr || to == nullptr) {
    *count = f.size();
    return;
  }
  give(f, from, count);
  give(t, to, &same);
}
void dependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes, size_t* count) {
  give(node_of(node).after, nodes, count);
}
void dependents(cudaGraphNode_t node, cudaGraphNode_t* nodes, size_t* count) {
  Node& n = node_of(node);
  std::vector<Node*> all;
  for (const auto& other : owner_of(n).nodes)
    if (std::ranges::find(other->after, &n) != other->after.end()) all.push_back(other.get());
  give(all, nodes, count);
}
}  // namespace
#if GPUSIM_CUDART >= 13
#define GPUSIM_EDGE_DATA_CONST , const void*
#define GPUSIM_EDGE_DATA , void*
#else
#define GPUSIM_EDGE_DATA_CONST
#define GPUSIM_EDGE_DATA
#endif
GPUSIM_EXPORT cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                   const cudaGraphNode_t* to GPUSIM_EDGE_DATA_CONST,
                                                   size_t count) {
  return call([&](Device&) { add_edges(graph, from, to, count); });
}
GPUSIM_EXPORT cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                      const cudaGraphNode_t* to GPUSIM_EDGE_DATA_CONST,
                                                      size_t count) {
  return call([&](Device&) { remove_edges(graph, from, to, count); });
}
GPUSIM_EXPORT cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from,
                                            cudaGraphNode_t* to GPUSIM_EDGE_DATA, size_t* count) {
  return call([&](Device&) { edges(graph, from, to, count); });
}
GPUSIM_EXPORT cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node,
                                                       cudaGraphNode_t* nodes GPUSIM_EDGE_DATA,
                                                       size_t* count) {
  return call([&](Device&) { dependencies(node, nodes, count); });
}
GPUSIM_EXPORT cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node,
                                                         cudaGraphNode_t* nodes GPUSIM_EDGE_DATA,
                                                         size_t* count) {
  return call([&](Device&) { dependents(node, nodes, count); });
}

}  // namespace gpusim::runtime::cudart
