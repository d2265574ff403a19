// Nodes of CUDA graphs: added, changed, asked.
#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/cudart/graph.h"

namespace gpusim::runtime::cudart {

namespace {

void set_kernel(Device& device, Node& node, const void* function, Size3 grid, Size3 block, uint32_t shared,
                void** arguments, void** extra = nullptr) {
  Kernel& kernel = kernel_of(device, function);
  const isa::KernelImage& image = kernel.image();
  node.function = function;
  node.kernel = &kernel;
  node.grid = grid, node.block = block, node.shared = shared;
  node.parameters.assign(image.param_bytes, std::byte{});
  if (extra != nullptr) {
    require(arguments == nullptr);
    std::ranges::copy(packed_parameters(kernel, extra), node.parameters.begin());
    return;
  }
  for (size_t i = 0; i < image.params.size(); ++i) {
    require(arguments != nullptr && arguments[i] != nullptr);
    std::memcpy(node.parameters.data() + image.params[i].offset, arguments[i], image.params[i].bytes);
  }
}

void set_kernel(Device& device, Node& node, const cudaKernelNodeParams& p) {
  LaunchRequest r;
  r.kernel = &kernel_of(device, p.func);
  r.grid = {p.gridDim.x, p.gridDim.y, p.gridDim.z}, r.block = {p.blockDim.x, p.blockDim.y, p.blockDim.z};
  r.dynamic_shared = p.sharedMemBytes;
  // An attribute of the node may say how large clusters are.
  r.cluster = node.cluster;
  if (!r.kernel->image().explicit_cluster || r.cluster) as_launch([&] { (void)device.check_launch(r); });
  set_kernel(device, node, p.func, {p.gridDim.x, p.gridDim.y, p.gridDim.z},
             {p.blockDim.x, p.blockDim.y, p.blockDim.z}, p.sharedMemBytes, p.kernelParams, p.extra);
}

void set_fill(const Device& device, Node& node, const cudaMemsetParams& p) {
  require(p.dst != nullptr && (p.elementSize == 1 || p.elementSize == 2 || p.elementSize == 4));
  require(p.width != 0 && p.height != 0 && reinterpret_cast<uintptr_t>(p.dst) % p.elementSize == 0);
  require(p.height == 1 || (p.pitch % p.elementSize == 0 && p.pitch >= p.width * p.elementSize));
  check_reach(device, p.dst, span_of_rows(p.width * p.elementSize, p.height, 1, p.pitch, 0), true);
  node.fill_parameters = p;
  Fill f;
  f.to = static_cast<std::byte*>(p.dst);
  f.width = p.width * p.elementSize;
  f.height = p.height;
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

void set_copy(Device& device, Node& node, const cudaMemcpy3DParms& p) {
  node.copy = copy_3d(device, p);
  node.copy_parameters = p;
}

void set_child(Node& node, cudaGraph_t child) {
  refuse_memory_nodes(graph_of(child));
  refuse_conditional_nodes(graph_of(child));
  node.child = copy_of(*shared_graph(child));
}

#if GPUSIM_CUDART >= 12
/// The child itself, which belongs to the parent from now on.
void move_child(const Graph& parent, Node& node, cudaGraph_t child) {
  Graph& graph = graph_of(child);
  require(&graph != &parent && !graph.is_body);
  refuse_conditional_nodes(graph);
  node.child = shared_graph(child);
  graph.is_body = true;
}
#endif

#if GPUSIM_CUDART >= 12
void set_conditional(Node& node, cudaConditionalNodeParams& p) {
  require(p.type >= static_cast<int>(ConditionalType::kIf) &&
          p.type <= static_cast<int>(ConditionalType::kSwitch) && p.size != 0);
  node.condition = condition_of(p.handle);
  require(node.condition != nullptr);
  node.conditional_type = static_cast<ConditionalType>(p.type);
  constexpr unsigned kIfAndElse = 2;
  require(node.conditional_type != ConditionalType::kWhile || p.size == 1);
  require(node.conditional_type != ConditionalType::kIf || p.size <= kIfAndElse);
  for (unsigned i = 0; i < p.size; ++i) {
    node.bodies.push_back(std::make_shared<Graph>());
    node.bodies.back()->is_body = true;
    node.body_handles.push_back(keep(node.bodies.back()));
  }
  p.phGraph_out = node.body_handles.data();
}

/// Parameters that a node of any graph can be given again.
void change_node(Device& device, Node& node, const cudaGraphNodeParams& p) {
  require(static_cast<int>(node.type) == p.type);
  switch (node.type) {
    case Node::Type::kKernel:
      return set_kernel(device, node, p.kernel);
    case Node::Type::kCopy:
      return set_copy(device, node, p.memcpy.copyParams);
    case Node::Type::kFill:
      return set_fill(device, node, p.memset);
    case Node::Type::kHost:
      return set_host(node, p.host);
    case Node::Type::kWait:
      node.event = &event_of(device, p.eventWait.event);
      return;
    case Node::Type::kRecord:
      node.event = &event_of(device, p.eventRecord.event);
      return;
    default:
      throw Failure(Code::kNotSupported);
  }
}

void set_node(Device& device, const Graph& graph, Node& node, cudaGraphNodeParams& p) {
  constexpr int kClones = 0, kMoves = 1;  // cudaGraphChildGraphNodeOwnership
  switch (node.type) {
    case Node::Type::kGraph:
      require(p.graph.ownership == kClones || p.graph.ownership == kMoves);
      return p.graph.ownership == kClones ? set_child(node, p.graph.graph)
                                          : move_child(graph, node, p.graph.graph);
    case Node::Type::kAllocate:
      return set_allocation(device, node, p.alloc);
    case Node::Type::kFree:
      return set_free(graph, node, p.free.dptr);
    case Node::Type::kConditional:
      return set_conditional(node, p.conditional);
    case Node::Type::kEmpty:
      return;
    default:
      return change_node(device, node, p);
  }
}

Node::Type type_of(const cudaGraphNodeParams& p) {
  constexpr int kSignal = 8, kSemaphoreWait = 9;
  require(p.type >= 0 && p.type <= static_cast<int>(Node::Type::kConditional));
  require(p.type != kSignal && p.type != kSemaphoreWait && p.type != static_cast<int>(Node::Type::kBatch),
          Code::kNotSupported);
  return static_cast<Node::Type>(p.type);
}

cudaError_t add_any_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                         cudaGraphNodeParams* p) {
  Node::Type type{};
  const cudaError_t error = call([&](Device&) {
    require(p != nullptr);
    type = type_of(*p);
  });
  if (error != 0) return error;
  return add_node(node, graph, after, count, type,
                  [&](Device& device, const Graph& g, Node& n) { set_node(device, g, n, *p); });
}
#endif

}  // namespace

void change_copy(Node& node, Copy copy) {
  require(of_type(node, Node::Type::kCopy).copy.direction == copy.direction && copy.bytes() != 0);
  node.copy = std::move(copy);
}

GPUSIM_EXPORT cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                 const cudaGraphNode_t* after, size_t count,
                                                 const cudaKernelNodeParams* p) {
  return add_node(node, graph, after, count, Node::Type::kKernel, [&](Device& device, Graph&, Node& n) {
    require(p != nullptr);
    set_kernel(device, n, *p);
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* p) {
  return call([&](Device& device) {
    require(p != nullptr);
    set_kernel(device, of_type(node_of(node), Node::Type::kKernel), *p);
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                           const cudaKernelNodeParams* p) {
  return call([&](Device& device) {
    require(p != nullptr);
    device.synchronize();
    set_kernel(device, of_type(node_in(executable_of(executable), node), Node::Type::kKernel), *p);
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
  return add_node(node, graph, after, count, Node::Type::kCopy, [&](Device& device, Graph&, Node& n) {
    require(p != nullptr);
    set_copy(device, n, *p);
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* p) {
  return call([&](Device& device) {
    require(p != nullptr);
    set_copy(device, of_type(node_of(node), Node::Type::kCopy), *p);
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* p) {
  return call([&](Device&) {
    require(p != nullptr);
    *p = copy_parameters_of(of_type(node_of(node), Node::Type::kCopy));
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                           const cudaMemcpy3DParms* p) {
  return call([&](Device& device) {
    require(p != nullptr);
    device.synchronize();
    change_copy(node_in(executable_of(executable), node), copy_3d(device, *p));
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                                   const cudaGraphNode_t* after, size_t count, void* to,
                                                   const void* from, size_t bytes, cudaMemcpyKind kind) {
  return add_node(node, graph, after, count, Node::Type::kCopy, [&](Device& device, Graph&, Node& n) {
    require(bytes != 0);
    n.copy = linear_copy(device, to, from, bytes, kind);
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from,
                                                         size_t bytes, cudaMemcpyKind kind) {
  return call([&](Device& device) {
    of_type(node_of(node), Node::Type::kCopy).copy = linear_copy(device, to, from, bytes, kind);
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                             void* to, const void* from, size_t bytes,
                                                             cudaMemcpyKind kind) {
  return call([&](Device& device) {
    device.synchronize();
    change_copy(node_in(executable_of(executable), node), linear_copy(device, to, from, bytes, kind));
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                                         const cudaGraphNode_t* after, size_t count,
                                                         const void* symbol, const void* from, size_t bytes,
                                                         size_t offset, cudaMemcpyKind kind) {
  return add_node(node, graph, after, count, Node::Type::kCopy, [&](Device& device, Graph&, Node& n) {
    n.copy = to_symbol(device, symbol, from, bytes, offset, kind);
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                                           const cudaGraphNode_t* after, size_t count,
                                                           void* to, const void* symbol, size_t bytes,
                                                           size_t offset, cudaMemcpyKind kind) {
  return add_node(node, graph, after, count, Node::Type::kCopy, [&](Device& device, Graph&, Node& n) {
    n.copy = from_symbol(device, to, symbol, bytes, offset, kind);
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol,
                                                               const void* from, size_t bytes, size_t offset,
                                                               cudaMemcpyKind kind) {
  return call([&](Device& device) {
    of_type(node_of(node), Node::Type::kCopy).copy = to_symbol(device, symbol, from, bytes, offset, kind);
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* to,
                                                                 const void* symbol, size_t bytes,
                                                                 size_t offset, cudaMemcpyKind kind) {
  return call([&](Device& device) {
    of_type(node_of(node), Node::Type::kCopy).copy = from_symbol(device, to, symbol, bytes, offset, kind);
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t executable,
                                                                   cudaGraphNode_t node, const void* symbol,
                                                                   const void* from, size_t bytes,
                                                                   size_t offset, cudaMemcpyKind kind) {
  return call([&](Device& device) {
    device.synchronize();
    change_copy(node_in(executable_of(executable), node),
                to_symbol(device, symbol, from, bytes, offset, kind));
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t executable,
                                                                     cudaGraphNode_t node, void* to,
                                                                     const void* symbol, size_t bytes,
                                                                     size_t offset, cudaMemcpyKind kind) {
  return call([&](Device& device) {
    device.synchronize();
    change_copy(node_in(executable_of(executable), node),
                from_symbol(device, to, symbol, bytes, offset, kind));
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                 const cudaGraphNode_t* after, size_t count,
                                                 const cudaMemsetParams* p) {
  return add_node(node, graph, after, count, Node::Type::kFill, [&](Device& device, Graph&, Node& n) {
    require(p != nullptr);
    set_fill(device, n, *p);
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* p) {
  return call([&](Device& device) {
    require(p != nullptr);
    set_fill(device, of_type(node_of(node), Node::Type::kFill), *p);
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
    set_fill(device, of_type(node_in(executable_of(executable), node), Node::Type::kFill), *p);
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                               const cudaGraphNode_t* after, size_t count,
                                               const cudaHostNodeParams* p) {
  return add_node(node, graph, after, count, Node::Type::kHost, [&](Device&, Graph&, Node& n) {
    require(p != nullptr);
    set_host(n, *p);
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* p) {
  return call([&](Device&) {
    require(p != nullptr);
    set_host(of_type(node_of(node), Node::Type::kHost), *p);
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
    set_host(of_type(node_in(executable_of(executable), node), Node::Type::kHost), *p);
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                const cudaGraphNode_t* after, size_t count) {
  return add_node(node, graph, after, count, Node::Type::kEmpty, [](Device&, Graph&, Node&) {});
}
GPUSIM_EXPORT cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                     const cudaGraphNode_t* after, size_t count,
                                                     cudaGraph_t child) {
  return add_node(node, graph, after, count, Node::Type::kGraph,
                  [&](Device&, Graph&, Node& n) { set_child(n, child); });
}
GPUSIM_EXPORT cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                      const cudaGraphNode_t* after, size_t count,
                                                      cudaEvent_t event) {
  return add_node(node, graph, after, count, Node::Type::kRecord, [&](Device& device, Graph&, Node& n) {
    require(event != nullptr);
    n.event = &event_of(device, event);
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                    const cudaGraphNode_t* after, size_t count,
                                                    cudaEvent_t event) {
  return add_node(node, graph, after, count, Node::Type::kWait, [&](Device& device, Graph&, Node& n) {
    require(event != nullptr);
    n.event = &event_of(device, event);
  });
}
namespace {
cudaError_t get_event(cudaGraphNode_t node, cudaEvent_t* event, Node::Type type) {
  return call([&](Device&) {
    const Node& n = node_of(node);
    require(event != nullptr && n.type == type);
    *event = reinterpret_cast<cudaEvent_t>(n.event);
  });
}
cudaError_t set_event(cudaGraphNode_t node, cudaEvent_t event, Node::Type type) {
  return call([&](Device& device) {
    Node& n = node_of(node);
    require(n.type == type);
    n.event = &event_of(device, event);
  });
}
cudaError_t set_event(cudaGraphExec_t executable, cudaGraphNode_t node, cudaEvent_t event, Node::Type type) {
  return call([&](Device& device) {
    Node& n = node_in(executable_of(executable), node);
    require(n.type == type);
    Event& e = event_of(device, event);
    device.synchronize();
    n.event = &e;
  });
}
}  // namespace
GPUSIM_EXPORT cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return get_event(node, event, Node::Type::kRecord);
}
GPUSIM_EXPORT cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return set_event(node, event, Node::Type::kRecord);
}
GPUSIM_EXPORT cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t executable,
                                                               cudaGraphNode_t node, cudaEvent_t event) {
  return set_event(executable, node, event, Node::Type::kRecord);
}
GPUSIM_EXPORT cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return get_event(node, event, Node::Type::kWait);
}
GPUSIM_EXPORT cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return set_event(node, event, Node::Type::kWait);
}
GPUSIM_EXPORT cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                             cudaEvent_t event) {
  return set_event(executable, node, event, Node::Type::kWait);
}
GPUSIM_EXPORT cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  return call([&](Device&) {
    Node& n = node_of(node);
    Graph& graph = owner_of(n);
    refuse_memory_nodes(graph);
    forget_bodies(n);
    for (const auto& other : graph.nodes) std::erase(other->after, &n);
    std::erase_if(graph.nodes, [&n](const auto& owned) { return owned.get() == &n; });
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

#if GPUSIM_CUDART >= 13
GPUSIM_EXPORT cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                           const cudaGraphNode_t* after, const void*, size_t count,
                                           cudaGraphNodeParams* p) {
  return add_any_node(node, graph, after, count, p);
}
#elif GPUSIM_CUDART == 12
GPUSIM_EXPORT cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                           const cudaGraphNode_t* after, size_t count,
                                           cudaGraphNodeParams* p) {
  return add_any_node(node, graph, after, count, p);
}
GPUSIM_EXPORT cudaError_t cudaGraphAddNode_v2(cudaGraphNode_t* node, cudaGraph_t graph,
                                              const cudaGraphNode_t* after, const void*, size_t count,
                                              cudaGraphNodeParams* p) {
  return add_any_node(node, graph, after, count, p);
}
#endif
#if GPUSIM_CUDART >= 12
GPUSIM_EXPORT cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* p) {
  return call([&](Device& device) {
    require(p != nullptr);
    change_node(device, node_of(node), *p);
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                     cudaGraphNodeParams* p) {
  return call([&](Device& device) {
    require(p != nullptr);
    device.synchronize();
    change_node(device, node_in(executable_of(executable), node), *p);
  });
}
#endif

}  // namespace gpusim::runtime::cudart
