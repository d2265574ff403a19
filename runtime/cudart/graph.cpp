// CUDA graphs: handles, copies, and what a launch of one submits.
#include "runtime/cudart/graph.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace gpusim::runtime::cudart {

namespace {

using Graphs = std::map<Graph*, std::shared_ptr<Graph>>;
Graphs& graphs() {
  static auto& all = common_state<Graphs>("graphs");
  return all;
}
Graphs& executables() {
  static auto& all = common_state<Graphs>("executable graphs");
  return all;
}

}  // namespace

Graph& graph_of(cudaGraph_t handle) {
  auto* const graph = reinterpret_cast<Graph*>(handle);
  const auto at = graphs().find(graph);
  require(at != graphs().end());
  return *graph;
}
std::shared_ptr<Graph> shared_graph(cudaGraph_t handle) {
  (void)graph_of(handle);
  return graphs().at(reinterpret_cast<Graph*>(handle));
}
Graph& executable_of(cudaGraphExec_t handle) {
  auto* const graph = reinterpret_cast<Graph*>(handle);
  require(executables().contains(graph));
  return *graph;
}
Node& node_of(cudaGraphNode_t handle) {
  auto* const node = reinterpret_cast<Node*>(handle);
  const auto owns = [node](const auto& entry) { return entry.second->has(node); };
  require(node != nullptr && std::ranges::any_of(graphs(), owns));
  return *node;
}
cudaMemcpy3DParms copy_parameters_of(const Node& node) {
  cudaMemcpy3DParms p = node.copy_parameters;
  if (p.extent.width != 0) return p;
  const Copy& c = node.copy;
  const auto end = [&c](const std::byte* pointer, uint64_t pitch, uint64_t slice) {
    const uint64_t rows = pitch == 0 ? c.height : std::max<uint64_t>(slice / pitch, c.height);
    return cudaPitchedPtr{const_cast<std::byte*>(pointer), std::max<size_t>(pitch, c.width), c.width, rows};
  };
  p.srcPtr = end(c.from, c.from_pitch, c.from_slice);
  p.dstPtr = end(c.to, c.to_pitch, c.to_slice);
  p.extent = {c.width, c.height, c.depth};
  p.kind = static_cast<cudaMemcpyKind>(c.direction);
  return p;
}

Graph& owner_of(const Node& node) {
  const auto owns = [&node](const auto& entry) { return entry.second->has(&node); };
  return *std::ranges::find_if(graphs(), owns)->second;
}

cudaGraph_t keep(std::shared_ptr<Graph> graph) {
  Graph* const key = graph.get();
  graphs()[key] = std::move(graph);
  return reinterpret_cast<cudaGraph_t>(key);
}

cudaGraphExec_t keep_executable(std::shared_ptr<Graph> graph) {
  Graph* const key = graph.get();
  executables()[key] = std::move(graph);
  return reinterpret_cast<cudaGraphExec_t>(key);
}

bool has_executable(const Graph& graph) {
  return std::ranges::any_of(
      executables(), [&graph](const auto& entry) { return entry.second->source.lock().get() == &graph; });
}

std::shared_ptr<Condition> condition_of(uint64_t handle) {
  for (const auto& [key, graph] : graphs())
    for (const auto& condition : graph->conditions)
      if (condition->handle() == handle) return condition;
  return nullptr;
}

void forget(cudaGraph_t graph) { discard(graph_of(graph)); }

void discard(const Graph& graph) {
  for (const auto& node : graph.nodes) forget_bodies(*node);
  graphs().erase(const_cast<Graph*>(&graph));
}

void forget_bodies(const Node& node) {
  for (const auto& body : node.bodies) discard(*body);
  if (node.child != nullptr && node.child->is_body) discard(*node.child);
}

void forget(cudaGraphExec_t executable) { executables().erase(&executable_of(executable)); }

std::shared_ptr<Graph> copy_of(const Graph& graph) {
  auto made = std::make_shared<Graph>();
  made->conditions = graph.conditions;
  made->user_objects = graph.user_objects;
  std::map<const Node*, Node*> to;
  for (const auto& node : graph.nodes) {
    auto same = std::make_unique<Node>(*node);
    same->original = node.get();
    if (node->child) same->child = copy_of(*node->child);
    for (auto& body : same->bodies) body = copy_of(*body);
    to[node.get()] = same.get();
    made->nodes.push_back(std::move(same));
  }
  for (const auto& node : made->nodes)
    for (Node*& before : node->after) before = to.at(before);
  return made;
}

namespace {
Node* made_from(const Graph& graph, const Node* wanted) {
  for (const auto& node : graph.nodes) {
    if (node->original == wanted) return node.get();
    Node* inner = node->child == nullptr ? nullptr : made_from(*node->child, wanted);
    for (auto body = node->bodies.begin(); inner == nullptr && body != node->bodies.end(); ++body)
      inner = made_from(**body, wanted);
    if (inner != nullptr) return inner;
  }
  return nullptr;
}
}  // namespace
Node& node_in(Graph& made, cudaGraphNode_t node) {
  Node* const found = made_from(made, reinterpret_cast<const Node*>(node));
  require(found != nullptr);
  return *found;
}

Node& Graph::add(Node::Type type, const cudaGraphNode_t* after, size_t count) {
  std::vector<Node*> before;
  for (size_t i = 0; i < count; ++i) {
    require(after != nullptr);
    auto* const node = reinterpret_cast<Node*>(after[i]);
    require(has(node));
    before.push_back(node);
  }
  nodes.push_back(std::make_unique<Node>());
  nodes.back()->type = type;
  nodes.back()->after = std::move(before);
  return *nodes.back();
}

bool Graph::has(const Node* node) const {
  return std::ranges::any_of(nodes, [node](const auto& n) { return n.get() == node; });
}

std::vector<Node*> Graph::in_order() const {
  std::map<const Node*, std::pair<size_t, std::vector<Node*>>> open;  // what it waits for, who waits for it
  for (const auto& node : nodes) open[node.get()].first = node->after.size();
  for (const auto& node : nodes)
    for (const Node* before : node->after) open[before].second.push_back(node.get());
  std::vector<Node*> order;
  for (const auto& node : nodes)
    if (node->after.empty()) order.push_back(node.get());
  for (size_t i = 0; i < order.size(); ++i)
    for (Node* next : open[order[i]].second)
      if (--open[next].first == 0) order.push_back(next);
  require(order.size() == nodes.size());
  return order;
}

namespace {

/// Of a graph that is being launched: what has to be done before what comes after a node.
using Works = std::vector<uint64_t>;

/// Streams of branches: those that wait for the legacy default stream and those that do not.
Stream& branch_stream(Device& device, bool blocking, size_t number) {
  static auto& all = common_state<std::map<bool, std::vector<Stream*>>>("streams of branches");
  std::vector<Stream*>& streams = all[blocking];
  std::erase_if(streams, [&device](Stream* s) { return !device.is_stream(s); });
  while (streams.size() <= number) streams.push_back(&device.add_stream(blocking, 0, blocking ? 0 : 1));
  return *streams[number];
}

class GraphLaunch {
 public:
  GraphLaunch(Device& device, Stream& stream) : device_(device), stream_(stream) {}

  void run(const Graph& graph) {
    // Work of the legacy stream would wait for all branches.
    const bool legacy = &stream_ == &device_.legacy_stream();
    if (!legacy) lanes_.push_back(&stream_);
    Works before = std::move(stream_.waits);
    stream_.waits.clear();
    if (stream_.last_work != 0) before.push_back(stream_.last_work);
    const Works last = run(graph, before);
    stream_.waits = last;
  }

 private:
  /// Returns what has to be done before what comes after the graph.
  Works run(const Graph& graph, Works before) {
    for (const auto& condition : graph.conditions)
      if (condition->assigns_default())
        before =
            submit(std::move(before), [&](Stream& s) { device_.fill(condition->assignment(), s, false); });
    std::map<const Node*, Works> done;
    std::set<const Node*> inner;
    Works last = before;
    for (Node* node : graph.in_order()) {
      Works after;
      for (const Node* n : node->after) {
        const Works& w = done.at(n);
        after.insert(after.end(), w.begin(), w.end());
        inner.insert(n);
      }
      if (node->after.empty()) after = before;
      done[node] = node->enabled ? run(*node, std::move(after)) : std::move(after);
    }
    if (!done.empty()) last.clear();
    for (const auto& [node, works] : done)
      if (!inner.contains(node)) last.insert(last.end(), works.begin(), works.end());
    std::ranges::sort(last);
    last.erase(std::unique(last.begin(), last.end()), last.end());
    return last;
  }

  Works run(Node& node, Works after) {
    switch (node.type) {
      case Node::Type::kKernel: {
        LaunchRequest r;
        r.kernel = node.kernel;
        r.grid = node.grid, r.block = node.block;
        r.dynamic_shared = node.shared;
        r.cooperative = node.cooperative;
        r.cluster = node.cluster;
        r.parameters = node.parameters;
        return submit(std::move(after), [&](Stream& s) { device_.launch(r, s); });
      }
      case Node::Type::kCopy:
        return submit(std::move(after), [&](Stream& s) { device_.copy(node.copy, s, false); });
      case Node::Type::kFill:
        return submit(std::move(after), [&](Stream& s) { device_.fill(node.fill, s, false); });
      case Node::Type::kHost:
        return submit(std::move(after), [&](Stream& s) { device_.host_function(node.host, s); });
      case Node::Type::kBatch:
        return submit(std::move(after), [&](Stream& s) { node.run_operations(device_, s); });
      case Node::Type::kRecord:
        return submit(std::move(after), [&](Stream& s) { device_.record(event_of(node), s); });
      case Node::Type::kGraph:
        return run(*node.child, after);
      case Node::Type::kConditional:
        return run_conditional(node, std::move(after));
      case Node::Type::kWait:
        if (event_of(node).recorded && !event_of(node).reached) after.push_back(event_of(node).work);
        return after;
      // take_memory_of_launch() has done it.
      case Node::Type::kFree:
      case Node::Type::kAllocate:
      case Node::Type::kEmpty:
        break;
    }
    return after;
  }

  /// The program may have destroyed it.
  Event& event_of(const Node& node) {
    require(device_.is_event(node.event), Code::kInvalidResourceHandle);
    return *node.event;
  }

  /// The value decides what is submitted, so all that comes before is carried out first.
  Works run_conditional(const Node& node, Works after) {
    const auto value = [&] {
      device_.synchronize();
      return node.condition->value();
    };
    if (node.conditional_type == ConditionalType::kWhile) {
      while (value() != 0) after = run(*node.bodies.front(), std::move(after));
      return after;
    }
    const uint32_t v = value();
    const size_t body = node.conditional_type == ConditionalType::kSwitch ? v : v != 0 ? 0 : 1;
    return body < node.bodies.size() ? run(*node.bodies[body], std::move(after)) : after;
  }

  /// In the stream that has done last what it waits for; a further branch has one of its own.
  template <class Action>
  Works submit(Works after, Action action) {
    auto lane = std::ranges::find_if(lanes_, [&after](const Stream* s) {
      return s->last_work == 0 || std::ranges::find(after, s->last_work) != after.end();
    });
    if (lane == lanes_.end()) {
      const bool blocking = stream_.blocking;
      lane = lanes_.insert(lanes_.end(), &branch_stream(device_, blocking, branches_++));
    }
    Stream& s = **lane;
    const uint64_t earlier = s.last_work;
    std::erase(after, earlier);
    s.waits.insert(s.waits.end(), after.begin(), after.end());
    action(s);
    // A launch that is not timed has been carried out.
    return s.last_work == earlier ? Works{} : Works{s.last_work};
  }

  Device& device_;
  Stream& stream_;
  std::vector<Stream*> lanes_;
  size_t branches_ = 0;
};

}  // namespace

void run_graph(Device& device, const Graph& graph, Stream& stream) { GraphLaunch(device, stream).run(graph); }

}  // namespace gpusim::runtime::cudart
