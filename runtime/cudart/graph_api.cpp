// CUDA graphs as a whole: made, copied, instantiated, launched, updated; their nodes and edges.
#include <algorithm>
#include <cstring>
#include <map>
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
    require(!source->is_body);
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

/// An upload needs the stream that only cudaGraphInstantiateWithParams has.
cudaError_t instantiate_without_upload(cudaGraphExec_t* executable, cudaGraph_t graph,
                                       unsigned long long flags) {
  constexpr unsigned long long kUpload = 2;
  if ((flags & kUpload) != 0) return returned(Failure(Code::kInvalidValue));
  return instantiate(executable, graph, flags);
}

#if GPUSIM_CUDART >= 12
cudaError_t instantiate_with(cudaGraphExec_t* executable, cudaGraph_t graph, InstantiateParameters* p) {
  // cudaGraphInstantiateResult
  constexpr int kDone = 0, kError = 1, kInvalidStructure = 2;
  if (p == nullptr) return returned(Failure(Code::kInvalidValue));
  p->error_node = nullptr;
  p->result = kInvalidStructure;
  cudaError_t error = call([&](Device&) { (void)graph_of(graph).in_order(); });
  if (error != 0) return error;
  error = instantiate(executable, graph, p->flags);
  p->result = error == 0 ? kDone : kError;
  return error;
}
#endif

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
  return instantiate_without_upload(executable, graph, flags);
}
#else
GPUSIM_EXPORT cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                               cudaGraphNode_t*, char*, size_t) {
  return instantiate(executable, graph);
}
#endif
GPUSIM_EXPORT cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph,
                                                        unsigned long long flags) {
  return instantiate_without_upload(executable, graph, flags);
}
#if GPUSIM_CUDART >= 12
GPUSIM_EXPORT cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* executable, cudaGraph_t graph,
                                                         InstantiateParameters* p) {
  return instantiate_with(executable, graph, p);
}
GPUSIM_EXPORT cudaError_t cudaGraphInstantiateWithParams_ptsz(cudaGraphExec_t* executable, cudaGraph_t graph,
                                                              InstantiateParameters* p) {
  return instantiate_with(executable, graph, p);
}
#endif
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

GPUSIM_EXPORT cudaError_t cudaGraphUpload_ptsz(cudaGraphExec_t executable, cudaStream_t stream) {
  return cudaGraphUpload(executable, stream);
}

namespace {

// cudaGraphExecUpdateResult
constexpr int kUpdated = 0, kUpdateError = 1, kTopologyChanged = 2, kTypeChanged = 3, kParametersChanged = 5,
              kUpdateNotSupported = 6, kAttributesChanged = 8;

std::map<const Node*, size_t> places_of(const Graph& graph) {
  std::map<const Node*, size_t> places;
  for (const auto& node : graph.nodes) places.emplace(node.get(), places.size());
  return places;
}

/// Nodes are paired in the order in which they were made.
UpdateResult compare(const Graph& executable, const Graph& graph) {
  if (executable.nodes.size() != graph.nodes.size()) return {kTopologyChanged, nullptr, nullptr};
  const auto old_places = places_of(executable), places = places_of(graph);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node &old = *executable.nodes[i], &node = *graph.nodes[i];
    const auto result = [&node](int what, Node* from = nullptr) {
      return UpdateResult{what, handle_of(const_cast<Node*>(&node)),
                          from == nullptr ? nullptr : handle_of(from)};
    };
    if (old.type != node.type) return result(kTypeChanged);
    if (old.after.size() != node.after.size()) return result(kTopologyChanged);
    for (Node* before : node.after)
      if (std::ranges::none_of(old.after,
                               [&](const Node* b) { return old_places.at(b) == places.at(before); }))
        return result(kTopologyChanged, before);
    if (old.memory != node.memory) return result(kUpdateNotSupported);
    if (old.condition != node.condition) return result(kParametersChanged);
    if (old.type == Node::Type::kCopy && old.copy.direction != node.copy.direction)
      return result(kParametersChanged);
    if (old.cooperative != node.cooperative) return result(kAttributesChanged);
    if (old.child != nullptr) {
      const UpdateResult inner = compare(*old.child, *node.child);
      if (inner.result != kUpdated) return inner;
    }
  }
  return {kUpdated, nullptr, nullptr};
}

/// The nodes of an executable graph become those of another. The program knows them by the graph that the
/// executable one was made from.
void take_over(Graph& executable, Graph&& fresh) {
  for (size_t i = 0; i < fresh.nodes.size(); ++i) {
    Node &old = *executable.nodes[i], &node = *fresh.nodes[i];
    node.original = old.original;
    if (old.child == nullptr) continue;
    take_over(*old.child, std::move(*node.child));
    node.child = old.child;
  }
  executable.nodes = std::move(fresh.nodes);
}

cudaError_t update(cudaGraphExec_t executable, cudaGraph_t graph, UpdateResult& result) {
  result = {kUpdateError, nullptr, nullptr};
  return call([&](Device& device) {
    device.synchronize();
    Graph& old = executable_of(executable);
    const Graph& fresh = graph_of(graph);
    result = compare(old, fresh);
    require(result.result == kUpdated, Code::kGraphExecUpdateFailure);
    take_over(old, std::move(*copy_of(fresh)));
  });
}

}  // namespace
#if GPUSIM_CUDART >= 12
GPUSIM_EXPORT cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                              UpdateResult* to) {
  UpdateResult result{};
  const cudaError_t error = update(executable, graph, result);
  if (to != nullptr) *to = result;
  return error;
}
#else
GPUSIM_EXPORT cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                              cudaGraphNode_t* node, int* to) {
  UpdateResult result{};
  const cudaError_t error = update(executable, graph, result);
  if (node != nullptr) *node = result.error_node;
  if (to != nullptr) *to = result.result;
  return error;
}
#endif

GPUSIM_EXPORT cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t executable,
                                                               cudaGraphNode_t node, cudaGraph_t child) {
  return call([&](Device& device) {
    device.synchronize();
    Node& n = node_in(executable_of(executable), node);
    const Graph& fresh = graph_of(child);
    require(n.child != nullptr && compare(*n.child, fresh).result == kUpdated);
    take_over(*n.child, std::move(*copy_of(fresh)));
  });
}

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
    require(g.has(f) && g.has(t) && f != t && std::ranges::find(t->after, f) == t->after.end());
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
/// cudaGraphEdgeData of `count` edges, if the program asks: all wait for the whole node.
void give_edge_data(void* data, size_t count) {
  constexpr size_t kBytes = 8;
  if (data != nullptr) std::memset(data, 0, count * kBytes);
}
void edges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, void* data, size_t* count) {
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
  give_edge_data(data, *count);
}
void dependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes, void* data, size_t* count) {
  give(node_of(node).after, nodes, count);
  if (nodes != nullptr) give_edge_data(data, *count);
}
void dependents(cudaGraphNode_t node, cudaGraphNode_t* nodes, void* data, size_t* count) {
  Node& n = node_of(node);
  std::vector<Node*> all;
  for (const auto& other : owner_of(n).nodes)
    if (std::ranges::find(other->after, &n) != other->after.end()) all.push_back(other.get());
  give(all, nodes, count);
  if (nodes != nullptr) give_edge_data(data, *count);
}
}  // namespace
#if GPUSIM_CUDART >= 13
#define GPUSIM_EDGE_DATA_CONST , const void*
#define GPUSIM_EDGE_DATA , void* data
#define GPUSIM_EDGE_DATA_GIVEN data
#else
#define GPUSIM_EDGE_DATA_CONST
#define GPUSIM_EDGE_DATA
#define GPUSIM_EDGE_DATA_GIVEN nullptr
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
  return call([&](Device&) { edges(graph, from, to, GPUSIM_EDGE_DATA_GIVEN, count); });
}
GPUSIM_EXPORT cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node,
                                                       cudaGraphNode_t* nodes GPUSIM_EDGE_DATA,
                                                       size_t* count) {
  return call([&](Device&) { dependencies(node, nodes, GPUSIM_EDGE_DATA_GIVEN, count); });
}
GPUSIM_EXPORT cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node,
                                                         cudaGraphNode_t* nodes GPUSIM_EDGE_DATA,
                                                         size_t* count) {
  return call([&](Device&) { dependents(node, nodes, GPUSIM_EDGE_DATA_GIVEN, count); });
}

}  // namespace gpusim::runtime::cudart
