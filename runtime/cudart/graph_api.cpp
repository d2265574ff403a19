// CUDA graphs and the capture of streams.
#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "runtime/cudart/graph.h"

namespace gpusim::runtime::cudart {

namespace {

struct Capture {
  std::shared_ptr<Graph> graph;
  const Stream* origin = nullptr;
  uint64_t id = 0;
  std::vector<Node*> last;  ///< what the next node of the stream comes after
};

struct Store {
  std::map<Graph*, std::shared_ptr<Graph>> graphs;
  std::map<Graph*, std::shared_ptr<Graph>> executables;
  std::map<const Stream*, Capture> captures;
  std::map<const Event*, Capture> events;  ///< recorded in streams that are captured
  uint64_t next_capture = 1;
};
Store& store() {
  static auto* const made = new Store;
  return *made;
}

Graph& graph_of(cudaGraph_t handle) {
  auto* const graph = reinterpret_cast<Graph*>(handle);
  const auto at = store().graphs.find(graph);
  require(at != store().graphs.end());
  return *graph;
}
std::shared_ptr<Graph> shared_graph(cudaGraph_t handle) {
  (void)graph_of(handle);
  return store().graphs.at(reinterpret_cast<Graph*>(handle));
}
Graph& executable_of(cudaGraphExec_t handle) {
  auto* const graph = reinterpret_cast<Graph*>(handle);
  require(store().executables.contains(graph));
  return *graph;
}
Node& node_of(cudaGraphNode_t handle) {
  auto* const node = reinterpret_cast<Node*>(handle);
  const auto owns = [node](const auto& entry) { return entry.second->has(node); };
  require(node != nullptr && std::ranges::any_of(store().graphs, owns));
  return *node;
}
cudaGraphNode_t handle_of(Node* node) { return reinterpret_cast<cudaGraphNode_t>(node); }

cudaGraph_t keep(std::shared_ptr<Graph> graph) {
  Graph* const key = graph.get();
  store().graphs[key] = std::move(graph);
  return reinterpret_cast<cudaGraph_t>(key);
}

/// The graph again, with nodes of its own.
std::shared_ptr<Graph> copy_of(const Graph& graph) {
  auto made = std::make_shared<Graph>();
  std::map<const Node*, Node*> to;
  for (const auto& node : graph.nodes) {
    auto same = std::make_unique<Node>(*node);
    same->original = node.get();
    if (node->child) same->child = copy_of(*node->child);
    to[node.get()] = same.get();
    made->nodes.push_back(std::move(same));
  }
  for (const auto& node : made->nodes)
    for (Node*& before : node->after) before = to.at(before);
  return made;
}

/// Node of an executable graph that was made from `node`.
Node& node_in(Graph& executable, cudaGraphNode_t node) {
  const auto* const wanted = reinterpret_cast<const Node*>(node);
  const auto at =
      std::ranges::find_if(executable.nodes, [wanted](const auto& n) { return n->original == wanted; });
  require(at != executable.nodes.end());
  return **at;
}

Capture* capture_of(const Stream& stream) {
  const auto at = store().captures.find(&stream);
  return at == store().captures.end() ? nullptr : &at->second;
}

/// A node of the stream that is captured.
Node& captured(Capture& capture, Node::Type type) {
  Node& node = capture.graph->add(type, nullptr, 0);
  node.after = capture.last;
  capture.last = {&node};
  return node;
}

void set_kernel(Device& device, Node& node, const void* function, Size3 grid, Size3 block, uint32_t shared,
                void** arguments, void** extra = nullptr) {
  Kernel& kernel = kernel_of(device, function);
  const isa::KernelImage& image = kernel.image();
  node.function = function;
  node.kernel = &kernel;
  node.grid = grid, node.block = block, node.shared = shared;
  node.parameters.assign(image.param_bytes, std::byte{});
  require(extra == nullptr, Code::kNotSupported);
  for (size_t i = 0; i < image.params.size(); ++i) {
    require(arguments != nullptr && arguments[i] != nullptr);
    std::memcpy(node.parameters.data() + image.params[i].offset, arguments[i], image.params[i].bytes);
  }
}

void set_kernel(Device& device, Node& node, const cudaKernelNodeParams& p) {
  set_kernel(device, node, p.func, {p.gridDim.x, p.gridDim.y, p.gridDim.z},
             {p.blockDim.x, p.blockDim.y, p.blockDim.z}, p.sharedMemBytes, p.kernelParams, p.extra);
}

void set_fill(Node& node, const cudaMemsetParams& p) {
  require(p.dst != nullptr && (p.elementSize == 1 || p.elementSize == 2 || p.elementSize == 4));
  node.fill_parameters = p;
  Fill f;
  f.to = static_cast<std::byte*>(p.dst);
  f.width = p.width * p.elementSize;
  f.height = std::max<uint64_t>(p.height, 1);
  f.pitch = p.pitch == 0 ? f.width : p.pitch;
  f.slice = f.pitch * f.height;
  f.value = p.value;
  f.value_bytes = p.elementSize;
  node.fill = f;
}

void set_host(Node& node, const cudaHostNodeParams& p) {
  require(p.fn != nullptr);
  node.host_parameters = p;
  node.host = [p] { p.fn(p.userData); };
}

void run_graph(Device& device, Graph& graph, Stream& stream) {
  for (Node* node : graph.in_order()) {
    if (!node->enabled) continue;
    switch (node->type) {
      case Node::Type::kKernel: {
        LaunchRequest r;
        r.kernel = node->kernel;
        r.grid = node->grid, r.block = node->block;
        r.dynamic_shared = node->shared;
        r.cooperative = node->cooperative;
        r.parameters = node->parameters;
        device.launch(r, stream);
        break;
      }
      case Node::Type::kCopy:
        device.copy(node->copy, stream, false);
        break;
      case Node::Type::kFill:
        device.fill(node->fill, stream, false);
        break;
      case Node::Type::kHost:
        device.host_function(node->host, stream);
        break;
      case Node::Type::kGraph:
        run_graph(device, *node->child, stream);
        break;
      case Node::Type::kWait:
        device.wait(stream, *node->event);
        break;
      case Node::Type::kRecord:
        device.record(*node->event, stream);
        break;
      // The address stays the node's: each launch of the graph has the same memory.
      case Node::Type::kFree:
      case Node::Type::kAllocate:
      case Node::Type::kEmpty:
        break;
    }
  }
}

cudaError_t launch_graph(cudaGraphExec_t executable, cudaStream_t stream, Default null) {
  return call([&](Device& device) {
    Graph& graph = executable_of(executable);
    Stream& s = stream_of(device, stream, null);
    if (Capture* capture = capture_of(s)) {
      captured(*capture, Node::Type::kGraph).child = copy_of(graph);
      return;
    }
    run_graph(device, graph, s);
  });
}

cudaError_t instantiate(cudaGraphExec_t* executable, cudaGraph_t graph) {
  return call([&](Device&) {
    require(executable != nullptr);
    std::shared_ptr<Graph> made = copy_of(graph_of(graph));
    (void)made->in_order();
    *executable = reinterpret_cast<cudaGraphExec_t>(made.get());
    Graph* const key = made.get();
    store().executables[key] = std::move(made);
  });
}

cudaError_t begin_capture(cudaStream_t stream, Default null) {
  return call([&](Device& device) {
    Stream& s = stream_of(device, stream, null);
    require(&s != &device.legacy_stream(), Code::kStreamCaptureUnsupported);
    require(capture_of(s) == nullptr, Code::kInvalidValue);
    Capture capture;
    capture.graph = std::make_shared<Graph>();
    capture.origin = &s;
    capture.id = store().next_capture++;
    store().captures[&s] = std::move(capture);
  });
}

cudaError_t finish_capture(cudaStream_t stream, cudaGraph_t* graph, Default null) {
  return call([&](Device& device) {
    Stream& s = stream_of(device, stream, null);
    require(graph != nullptr);
    *graph = nullptr;
    Capture* capture = capture_of(s);
    require(capture != nullptr, Code::kInvalidValue);
    require(capture->origin == &s, Code::kStreamCaptureUnmatched);
    const std::shared_ptr<Graph> made = capture->graph;
    // Streams that were drawn in must have come back: their last nodes are waited for.
    bool joined = true;
    for (const auto& [other, c] : store().captures) {
      if (c.graph != made || other == &s) continue;
      for (const Node* open : c.last)
        joined = joined && std::ranges::any_of(made->nodes, [&](const auto& n) {
                   return n.get() != open && std::ranges::find(n->after, open) != n->after.end();
                 });
      for (const Node* open : c.last)
        joined = joined || std::ranges::find(capture->last, open) != capture->last.end();
    }
    std::erase_if(store().captures, [&made](const auto& entry) { return entry.second.graph == made; });
    std::erase_if(store().events, [&made](const auto& entry) { return entry.second.graph == made; });
    require(joined, Code::kStreamCaptureUnjoined);
    *graph = keep(made);
  });
}

template <class Add>
cudaError_t add_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                     Node::Type type, Add add) {
  return call([&](Device& device) {
    require(node != nullptr);
    Graph& g = graph_of(graph);
    Node& made = g.add(type, after, count);
    try {
      add(device, made);
    } catch (...) {
      g.nodes.pop_back();
      throw;
    }
    *node = handle_of(&made);
  });
}

}  // namespace

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
  std::vector<Node*> order;
  std::set<const Node*> done;
  while (order.size() < nodes.size()) {
    const size_t before = order.size();
    for (const auto& node : nodes) {
      if (done.contains(node.get())) continue;
      if (!std::ranges::all_of(node->after, [&done](const Node* n) { return done.contains(n); })) continue;
      order.push_back(node.get());
      done.insert(node.get());
    }
    require(order.size() != before);
  }
  return order;
}

bool is_capturing(const Stream& stream) { return capture_of(stream) != nullptr; }
void refuse_while_capturing(const Stream& stream) {
  require(!is_capturing(stream), Code::kStreamCaptureUnsupported);
}
void end_capture(const Stream& stream) { store().captures.erase(&stream); }

void submit_copy(Device& device, Copy copy, Stream& stream, bool wait) {
  Capture* capture = capture_of(stream);
  if (capture == nullptr) return device.copy(std::move(copy), stream, wait);
  require(!wait, Code::kStreamCaptureUnsupported);
  captured(*capture, Node::Type::kCopy).copy = std::move(copy);
}

void submit_fill(Device& device, const Fill& fill, Stream& stream, bool wait) {
  Capture* capture = capture_of(stream);
  if (capture == nullptr) return device.fill(fill, stream, wait);
  require(!wait, Code::kStreamCaptureUnsupported);
  captured(*capture, Node::Type::kFill).fill = fill;
}

void submit_launch(Device& device, const LaunchRequest& r, Stream& stream) {
  Capture* capture = capture_of(stream);
  if (capture == nullptr) return device.launch(r, stream);
  Node& node = captured(*capture, Node::Type::kKernel);
  const isa::KernelImage& image = r.kernel->image();
  node.kernel = r.kernel;
  node.grid = r.grid, node.block = r.block;
  node.shared = r.dynamic_shared;
  node.cooperative = r.cooperative;
  node.parameters.assign(image.param_bytes, std::byte{});
  for (size_t i = 0; i < image.params.size(); ++i)
    std::memcpy(node.parameters.data() + image.params[i].offset, r.arguments[i], image.params[i].bytes);
}

void submit_function(Device& device, std::function<void()> function, Stream& stream, void (*fn)(void*),
                     void* data) {
  Capture* capture = capture_of(stream);
  if (capture == nullptr) return device.host_function(std::move(function), stream);
  Node& node = captured(*capture, Node::Type::kHost);
  node.host = std::move(function);
  node.host_parameters = {fn, data};
}

void submit_record(Device& device, Event& event, Stream& stream) {
  Capture* capture = capture_of(stream);
  if (capture == nullptr) {
    store().events.erase(&event);
    return device.record(event, stream);
  }
  store().events[&event] = *capture;
}

void submit_wait(Device& device, Stream& stream, Event& event) {
  const auto at = store().events.find(&event);
  if (at == store().events.end()) {
    refuse_while_capturing(stream);
    return device.wait(stream, event);
  }
  // The stream is drawn into the capture, or joins.
  Capture& capture = store().captures[&stream];
  if (capture.graph == nullptr) {
    capture = at->second;
    return;
  }
  for (Node* node : at->second.last)
    if (std::ranges::find(capture.last, node) == capture.last.end()) capture.last.push_back(node);
}

GPUSIM_EXPORT cudaError_t cudaStreamBeginCapture(cudaStream_t stream, int) {
  return begin_capture(stream, Default::kLegacy);
}
GPUSIM_EXPORT cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t stream, int) {
  return begin_capture(stream, Default::kThread);
}
GPUSIM_EXPORT cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return finish_capture(stream, graph, Default::kLegacy);
}
GPUSIM_EXPORT cudaError_t cudaStreamEndCapture_ptsz(cudaStream_t stream, cudaGraph_t* graph) {
  return finish_capture(stream, graph, Default::kThread);
}
namespace {
cudaError_t capture_info(cudaStream_t stream, int* status, unsigned long long* id, cudaGraph_t* graph) {
  return call([&](Device& device) {
    require(status != nullptr);
    const Capture* capture = capture_of(stream_of(device, stream));
    *status = capture != nullptr ? 1 : 0;
    if (capture == nullptr) return;
    if (id != nullptr) *id = capture->id;
    if (graph != nullptr) *graph = reinterpret_cast<cudaGraph_t>(capture->graph.get());
  });
}
}  // namespace
#if GPUSIM_CUDART >= 13
GPUSIM_EXPORT cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, int* status, unsigned long long* id,
                                                   cudaGraph_t* graph, const cudaGraphNode_t**, const void**,
                                                   size_t*) {
  return capture_info(stream, status, id, graph);
}
#else
GPUSIM_EXPORT cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, int* status, unsigned long long* id) {
  return capture_info(stream, status, id, nullptr);
}
GPUSIM_EXPORT cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, int* status,
                                                      unsigned long long* id, cudaGraph_t* graph,
                                                      const cudaGraphNode_t**, size_t*) {
  return capture_info(stream, status, id, graph);
}
#endif
GPUSIM_EXPORT cudaError_t cudaThreadExchangeStreamCaptureMode(int* mode) {
  return call([&](Device&) { require(mode != nullptr); });
}

GPUSIM_EXPORT cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  return call([&](Device&) {
    require(graph != nullptr && flags == 0);
    *graph = keep(std::make_shared<Graph>());
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return call([&](Device&) { store().graphs.erase(&graph_of(graph)); });
}
GPUSIM_EXPORT cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  return call([&](Device&) {
    require(clone != nullptr);
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
                                               unsigned long long) {
  return instantiate(executable, graph);
}
#else
GPUSIM_EXPORT cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                               cudaGraphNode_t*, char*, size_t) {
  return instantiate(executable, graph);
}
#endif
GPUSIM_EXPORT cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph,
                                                        unsigned long long) {
  return instantiate(executable, graph);
}
GPUSIM_EXPORT cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return call([&](Device& device) {
    Graph& graph = executable_of(executable);
    device.synchronize();
    store().executables.erase(&graph);
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
         executable.nodes[i]->kernel != graph.nodes[i]->kernel))
      return false;
  const std::shared_ptr<Graph> fresh = copy_of(graph);
  executable.nodes.swap(fresh->nodes);
  return true;
}
}  // namespace
#if GPUSIM_CUDART >= 12
struct UpdateResult {
  int result;
  cudaGraphNode_t error_node, error_from;
};
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

// Nodes

GPUSIM_EXPORT cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                 const cudaGraphNode_t* after, size_t count,
                                                 const cudaKernelNodeParams* p) {
  return add_node(node, graph, after, count, Node::Type::kKernel, [&](Device& device, Node& n) {
    require(p != nullptr);
    set_kernel(device, n, *p);
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* p) {
  return call([&](Device& device) {
    require(p != nullptr);
    set_kernel(device, node_of(node), *p);
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                           const cudaKernelNodeParams* p) {
  return call([&](Device& device) {
    require(p != nullptr);
    device.synchronize();
    set_kernel(device, node_in(executable_of(executable), node), *p);
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* p) {
  return call([&](Device&) {
    const Node& n = node_of(node);
    require(p != nullptr && n.type == Node::Type::kKernel);
    n.argument_pointers.clear();
    for (const isa::KernelParam& parameter : n.kernel->image().params)
      n.argument_pointers.push_back(const_cast<std::byte*>(n.parameters.data()) + parameter.offset);
    *p = {const_cast<void*>(n.function),     {n.grid.x, n.grid.y, n.grid.z},
          {n.block.x, n.block.y, n.block.z}, n.shared,
          n.argument_pointers.data(),        nullptr};
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                 const cudaGraphNode_t* after, size_t count,
                                                 const cudaMemcpy3DParms* p) {
  return add_node(node, graph, after, count, Node::Type::kCopy, [&](Device& device, Node& n) {
    require(p != nullptr);
    n.copy = copy_3d(device, *p);
    n.copy_parameters = *p;
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* p) {
  return call([&](Device& device) {
    require(p != nullptr);
    Node& n = node_of(node);
    n.copy = copy_3d(device, *p);
    n.copy_parameters = *p;
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* p) {
  return call([&](Device&) {
    const Node& n = node_of(node);
    require(p != nullptr && n.type == Node::Type::kCopy);
    *p = n.copy_parameters;
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                           const cudaMemcpy3DParms* p) {
  return call([&](Device& device) {
    require(p != nullptr);
    device.synchronize();
    node_in(executable_of(executable), node).copy = copy_3d(device, *p);
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                                   const cudaGraphNode_t* after, size_t count, void* to,
                                                   const void* from, size_t bytes, cudaMemcpyKind kind) {
  return add_node(node, graph, after, count, Node::Type::kCopy,
                  [&](Device& device, Node& n) { n.copy = linear_copy(device, to, from, bytes, kind); });
}
GPUSIM_EXPORT cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from,
                                                         size_t bytes, cudaMemcpyKind kind) {
  return call([&](Device& device) { node_of(node).copy = linear_copy(device, to, from, bytes, kind); });
}
GPUSIM_EXPORT cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                             void* to, const void* from, size_t bytes,
                                                             cudaMemcpyKind kind) {
  return call([&](Device& device) {
    device.synchronize();
    node_in(executable_of(executable), node).copy = linear_copy(device, to, from, bytes, kind);
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                                         const cudaGraphNode_t* after, size_t count,
                                                         const void* symbol, const void* from, size_t bytes,
                                                         size_t offset, cudaMemcpyKind kind) {
  return add_node(node, graph, after, count, Node::Type::kCopy, [&](Device& device, Node& n) {
    const Symbol s = symbol_of(device, symbol);
    require(offset <= s.bytes && bytes <= s.bytes - offset);
    n.copy = linear_copy(device, s.address + offset, from, bytes, kind);
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                                           const cudaGraphNode_t* after, size_t count,
                                                           void* to, const void* symbol, size_t bytes,
                                                           size_t offset, cudaMemcpyKind kind) {
  return add_node(node, graph, after, count, Node::Type::kCopy, [&](Device& device, Node& n) {
    const Symbol s = symbol_of(device, symbol);
    require(offset <= s.bytes && bytes <= s.bytes - offset);
    n.copy = linear_copy(device, to, s.address + offset, bytes, kind);
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                 const cudaGraphNode_t* after, size_t count,
                                                 const cudaMemsetParams* p) {
  return add_node(node, graph, after, count, Node::Type::kFill, [&](Device&, Node& n) {
    require(p != nullptr);
    set_fill(n, *p);
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* p) {
  return call([&](Device&) {
    require(p != nullptr);
    set_fill(node_of(node), *p);
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* p) {
  return call([&](Device&) {
    const Node& n = node_of(node);
    require(p != nullptr && n.type == Node::Type::kFill);
    *p = n.fill_parameters;
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                           const cudaMemsetParams* p) {
  return call([&](Device& device) {
    require(p != nullptr);
    device.synchronize();
    set_fill(node_in(executable_of(executable), node), *p);
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                               const cudaGraphNode_t* after, size_t count,
                                               const cudaHostNodeParams* p) {
  return add_node(node, graph, after, count, Node::Type::kHost, [&](Device&, Node& n) {
    require(p != nullptr);
    set_host(n, *p);
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* p) {
  return call([&](Device&) {
    require(p != nullptr);
    set_host(node_of(node), *p);
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* p) {
  return call([&](Device&) {
    const Node& n = node_of(node);
    require(p != nullptr && n.type == Node::Type::kHost);
    *p = n.host_parameters;
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                         const cudaHostNodeParams* p) {
  return call([&](Device& device) {
    require(p != nullptr);
    device.synchronize();
    set_host(node_in(executable_of(executable), node), *p);
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                const cudaGraphNode_t* after, size_t count) {
  return add_node(node, graph, after, count, Node::Type::kEmpty, [](Device&, Node&) {});
}
GPUSIM_EXPORT cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                     const cudaGraphNode_t* after, size_t count,
                                                     cudaGraph_t child) {
  return add_node(node, graph, after, count, Node::Type::kGraph,
                  [&](Device&, Node& n) { n.child = copy_of(*shared_graph(child)); });
}
GPUSIM_EXPORT cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                      const cudaGraphNode_t* after, size_t count,
                                                      cudaEvent_t event) {
  return add_node(node, graph, after, count, Node::Type::kRecord,
                  [&](Device& device, Node& n) { n.event = &event_of(device, event); });
}
GPUSIM_EXPORT cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                    const cudaGraphNode_t* after, size_t count,
                                                    cudaEvent_t event) {
  return add_node(node, graph, after, count, Node::Type::kWait,
                  [&](Device& device, Node& n) { n.event = &event_of(device, event); });
}
GPUSIM_EXPORT cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                   const cudaGraphNode_t* after, size_t count,
                                                   cudaMemAllocNodeParams* p) {
  return add_node(node, graph, after, count, Node::Type::kAllocate, [&](Device& device, Node& n) {
    require(p != nullptr && p->bytesize != 0);
    n.memory = p->dptr = device.allocate(p->bytesize);
    n.bytes = p->bytesize;
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                  const cudaGraphNode_t* after, size_t count, void* memory) {
  return add_node(node, graph, after, count, Node::Type::kFree, [&](Device&, Node& n) { n.memory = memory; });
}
GPUSIM_EXPORT cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  return call([&](Device&) {
    Node& n = node_of(node);
    for (const auto& [key, graph] : store().graphs) {
      if (!graph->has(&n)) continue;
      for (const auto& other : graph->nodes) std::erase(other->after, &n);
      std::erase_if(graph->nodes, [&n](const auto& owned) { return owned.get() == &n; });
      return;
    }
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, int* type) {
  return call([&](Device&) {
    require(type != nullptr);
    *type = static_cast<int>(node_of(node).type);
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                  unsigned enabled) {
  return call([&](Device& device) {
    device.synchronize();
    node_in(executable_of(executable), node).enabled = enabled != 0;
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                  unsigned* enabled) {
  return call([&](Device&) {
    require(enabled != nullptr);
    *enabled = node_in(executable_of(executable), node).enabled;
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
  return call([&](Device&) {
    const Node& n = node_of(node);
    require(graph != nullptr && n.child != nullptr);
    *graph = keep(n.child);
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
    require(g.has(f) && g.has(t) && f != t);
    t->after.push_back(f);
  }
}
void remove_edges(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, size_t count) {
  Graph& g = graph_of(graph);
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
  for (const auto& [key, graph] : store().graphs)
    for (const auto& other : graph->nodes)
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
