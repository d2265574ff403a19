// Capture of streams, and graphs, whose handles are those of the runtime: a graph that one library makes is
// one for the other.
#include "runtime/cudart/graph.h"
#include "runtime/driver/driver.h"

namespace gpusim::runtime::cudart {

// Functions of nodes are handles of kernels here, and there are no symbols.
Kernel& kernel_of(Device& device, const void* function) {
  Kernel* const kernel = device.kernel_at(function);
  require(kernel != nullptr, Code::kInvalidResourceHandle);
  return *kernel;
}
Symbol symbol_of(Device&, const void*) { throw Failure(Code::kInvalidSymbol); }

}  // namespace gpusim::runtime::cudart

namespace gpusim::runtime::driver {

using CUgraph = cudaGraph_t;
using CUgraphNode = cudaGraphNode_t;
using CUgraphExec = cudaGraphExec_t;

// Capture

GPUSIM_SAME(cuStreamBeginCapture_v2, cudaStreamBeginCapture, (CUstream stream, int mode), (stream, mode))
GPUSIM_SAME(cuStreamBeginCapture_v2_ptsz, cudaStreamBeginCapture_ptsz, (CUstream stream, int mode),
            (stream, mode))
GPUSIM_DRIVER cuStreamBeginCapture(CUstream stream) {
  constexpr int kGlobal = 0;
  return cudaStreamBeginCapture(stream, kGlobal);
}
GPUSIM_DRIVER cuStreamBeginCapture_ptsz(CUstream stream) { return cuStreamBeginCapture(per_thread(stream)); }
GPUSIM_SAME_STREAM(cuStreamBeginCaptureToGraph, cudaStreamBeginCaptureToGraph,
                   (CUstream stream, CUgraph graph, const CUgraphNode* after, const void* edges, size_t count,
                    int mode),
                   (stream, graph, after, edges, count, mode))
GPUSIM_SAME_STREAM(cuStreamEndCapture, cudaStreamEndCapture, (CUstream stream, CUgraph* graph),
                   (stream, graph))
GPUSIM_SAME_STREAM(cuStreamIsCapturing, cudaStreamIsCapturing, (CUstream stream, int* status),
                   (stream, status))
GPUSIM_SAME(cuStreamGetCaptureInfo_v3, cudaStreamGetCaptureInfo,
            (CUstream stream, int* status, unsigned long long* id, CUgraph* graph, const CUgraphNode** last,
             const void** edges, size_t* count),
            (stream, status, id, graph, last, edges, count))
GPUSIM_SAME(cuStreamGetCaptureInfo_v3_ptsz, cudaStreamGetCaptureInfo_ptsz,
            (CUstream stream, int* status, unsigned long long* id, CUgraph* graph, const CUgraphNode** last,
             const void** edges, size_t* count),
            (stream, status, id, graph, last, edges, count))
GPUSIM_DRIVER cuStreamGetCaptureInfo_v2(CUstream stream, int* status, unsigned long long* id, CUgraph* graph,
                                        const CUgraphNode** last, size_t* count) {
  return cudaStreamGetCaptureInfo(stream, status, id, graph, last, nullptr, count);
}
GPUSIM_DRIVER cuStreamGetCaptureInfo(CUstream stream, int* status, unsigned long long* id) {
  return cudaStreamGetCaptureInfo(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}
GPUSIM_DRIVER cuStreamGetCaptureInfo_v2_ptsz(CUstream stream, int* status, unsigned long long* id,
                                             CUgraph* graph, const CUgraphNode** last, size_t* count) {
  return cuStreamGetCaptureInfo_v2(per_thread(stream), status, id, graph, last, count);
}
GPUSIM_DRIVER cuStreamGetCaptureInfo_ptsz(CUstream stream, int* status, unsigned long long* id) {
  return cuStreamGetCaptureInfo(per_thread(stream), status, id);
}
GPUSIM_SAME(cuStreamUpdateCaptureDependencies_v2, cudaStreamUpdateCaptureDependencies,
            (CUstream stream, CUgraphNode* nodes, const void* edges, size_t count, unsigned flags),
            (stream, nodes, edges, count, flags))
GPUSIM_SAME(cuStreamUpdateCaptureDependencies_v2_ptsz, cudaStreamUpdateCaptureDependencies_ptsz,
            (CUstream stream, CUgraphNode* nodes, const void* edges, size_t count, unsigned flags),
            (stream, nodes, edges, count, flags))
GPUSIM_DRIVER cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode* nodes, size_t count,
                                                unsigned flags) {
  return cudaStreamUpdateCaptureDependencies(stream, nodes, nullptr, count, flags);
}
GPUSIM_DRIVER cuStreamUpdateCaptureDependencies_ptsz(CUstream stream, CUgraphNode* nodes, size_t count,
                                                     unsigned flags) {
  return cuStreamUpdateCaptureDependencies(per_thread(stream), nodes, count, flags);
}
GPUSIM_SAME(cuThreadExchangeStreamCaptureMode, cudaThreadExchangeStreamCaptureMode, (int* mode), (mode))

// Graphs

GPUSIM_SAME(cuGraphCreate, cudaGraphCreate, (CUgraph * graph, unsigned flags), (graph, flags))
GPUSIM_SAME(cuGraphDestroy, cudaGraphDestroy, (CUgraph graph), (graph))
GPUSIM_SAME(cuGraphClone, cudaGraphClone, (CUgraph * clone, CUgraph graph), (clone, graph))
GPUSIM_SAME(cuGraphNodeFindInClone, cudaGraphNodeFindInClone,
            (CUgraphNode * node, CUgraphNode original, CUgraph clone), (node, original, clone))
GPUSIM_SAME(cuGraphInstantiateWithFlags, cudaGraphInstantiateWithFlags,
            (CUgraphExec * executable, CUgraph graph, unsigned long long flags), (executable, graph, flags))
GPUSIM_DRIVER cuGraphInstantiate_v2(CUgraphExec* executable, CUgraph graph, CUgraphNode*, char*, size_t) {
  return cudaGraphInstantiateWithFlags(executable, graph, 0);
}
GPUSIM_DRIVER cuGraphInstantiate(CUgraphExec* executable, CUgraph graph, CUgraphNode*, char*, size_t) {
  return cudaGraphInstantiateWithFlags(executable, graph, 0);
}
GPUSIM_SAME(cuGraphExecGetFlags, cudaGraphExecGetFlags, (CUgraphExec executable, unsigned long long* flags),
            (executable, flags))
GPUSIM_SAME(cuGraphExecDestroy, cudaGraphExecDestroy, (CUgraphExec executable), (executable))
GPUSIM_SAME_STREAM(cuGraphLaunch, cudaGraphLaunch, (CUgraphExec executable, CUstream stream),
                   (executable, stream))
GPUSIM_SAME(cuGraphUpload, cudaGraphUpload, (CUgraphExec executable, CUstream stream), (executable, stream))
GPUSIM_DRIVER cuGraphUpload_ptsz(CUgraphExec executable, CUstream stream) {
  return cudaGraphUpload(executable, per_thread(stream));
}
GPUSIM_SAME(cuGraphExecUpdate_v2, cudaGraphExecUpdate,
            (CUgraphExec executable, CUgraph graph, cudart::UpdateResult* result),
            (executable, graph, result))
GPUSIM_DRIVER cuGraphExecUpdate(CUgraphExec executable, CUgraph graph, CUgraphNode* node, int* result) {
  cudart::UpdateResult r{};
  const CUresult error = cudaGraphExecUpdate(executable, graph, &r);
  if (node != nullptr) *node = r.error_node;
  if (result != nullptr) *result = r.result;
  return error;
}
GPUSIM_SAME(cuGraphGetNodes, cudaGraphGetNodes, (CUgraph graph, CUgraphNode* nodes, size_t* count),
            (graph, nodes, count))
GPUSIM_SAME(cuGraphGetRootNodes, cudaGraphGetRootNodes, (CUgraph graph, CUgraphNode* nodes, size_t* count),
            (graph, nodes, count))

GPUSIM_SAME_STREAM(cuGraphInstantiateWithParams, cudaGraphInstantiateWithParams,
                   (CUgraphExec * executable, CUgraph graph, cudart::InstantiateParameters* p),
                   (executable, graph, p))
GPUSIM_SAME(cuGraphDebugDotPrint, cudaGraphDebugDotPrint, (CUgraph graph, const char* path, unsigned flags),
            (graph, path, flags))

// Edges: since CUDA 13 with data, which all have the same.
#define GPUSIM_EDGES(name, runtime_name, first, second, first_type, second_type, data_type, count_type) \
  GPUSIM_EXPORT cudaError_t runtime_name(first_type first, second_type second, data_type edges,         \
                                         count_type count);                                             \
  GPUSIM_DRIVER name##_v2(first_type first, second_type second, data_type edges, count_type count) {    \
    return runtime_name(first, second, edges, count);                                                   \
  }                                                                                                     \
  GPUSIM_DRIVER name(first_type first, second_type second, count_type count) {                          \
    return runtime_name(first, second, nullptr, count);                                                 \
  }
GPUSIM_EDGES(cuGraphNodeGetDependencies, cudaGraphNodeGetDependencies, node, nodes, CUgraphNode, CUgraphNode*,
             void*, size_t*)
GPUSIM_EDGES(cuGraphNodeGetDependentNodes, cudaGraphNodeGetDependentNodes, node, nodes, CUgraphNode,
             CUgraphNode*, void*, size_t*)
#undef GPUSIM_EDGES
#define GPUSIM_EDGES(name, runtime_name, node_type, data_type, count_type)                                  \
  GPUSIM_EXPORT cudaError_t runtime_name(CUgraph graph, node_type from, node_type to, data_type edges,      \
                                         count_type count);                                                 \
  GPUSIM_DRIVER name##_v2(CUgraph graph, node_type from, node_type to, data_type edges, count_type count) { \
    return runtime_name(graph, from, to, edges, count);                                                     \
  }                                                                                                         \
  GPUSIM_DRIVER name(CUgraph graph, node_type from, node_type to, count_type count) {                       \
    return runtime_name(graph, from, to, nullptr, count);                                                   \
  }
GPUSIM_EDGES(cuGraphAddDependencies, cudaGraphAddDependencies, const CUgraphNode*, const void*, size_t)
GPUSIM_EDGES(cuGraphRemoveDependencies, cudaGraphRemoveDependencies, const CUgraphNode*, const void*, size_t)
GPUSIM_EDGES(cuGraphGetEdges, cudaGraphGetEdges, CUgraphNode*, void*, size_t*)
#undef GPUSIM_EDGES

// Nodes

GPUSIM_SAME(cuGraphNodeGetType, cudaGraphNodeGetType, (CUgraphNode node, int* type), (node, type))
GPUSIM_SAME(cuGraphDestroyNode, cudaGraphDestroyNode, (CUgraphNode node), (node))
GPUSIM_SAME(cuGraphNodeSetEnabled, cudaGraphNodeSetEnabled,
            (CUgraphExec executable, CUgraphNode node, unsigned enabled), (executable, node, enabled))
GPUSIM_SAME(cuGraphNodeGetEnabled, cudaGraphNodeGetEnabled,
            (CUgraphExec executable, CUgraphNode node, unsigned* enabled), (executable, node, enabled))
GPUSIM_SAME(cuGraphAddEmptyNode, cudaGraphAddEmptyNode,
            (CUgraphNode * node, CUgraph graph, const CUgraphNode* after, size_t count),
            (node, graph, after, count))
GPUSIM_SAME(cuGraphAddChildGraphNode, cudaGraphAddChildGraphNode,
            (CUgraphNode * node, CUgraph graph, const CUgraphNode* after, size_t count, CUgraph child),
            (node, graph, after, count, child))
GPUSIM_SAME(cuGraphChildGraphNodeGetGraph, cudaGraphChildGraphNodeGetGraph,
            (CUgraphNode node, CUgraph* graph), (node, graph))
GPUSIM_SAME(cuGraphAddEventRecordNode, cudaGraphAddEventRecordNode,
            (CUgraphNode * node, CUgraph graph, const CUgraphNode* after, size_t count, CUevent event),
            (node, graph, after, count, event))
GPUSIM_SAME(cuGraphAddEventWaitNode, cudaGraphAddEventWaitNode,
            (CUgraphNode * node, CUgraph graph, const CUgraphNode* after, size_t count, CUevent event),
            (node, graph, after, count, event))
GPUSIM_SAME(cuGraphEventRecordNodeGetEvent, cudaGraphEventRecordNodeGetEvent,
            (CUgraphNode node, CUevent* event), (node, event))
GPUSIM_SAME(cuGraphEventRecordNodeSetEvent, cudaGraphEventRecordNodeSetEvent,
            (CUgraphNode node, CUevent event), (node, event))
GPUSIM_SAME(cuGraphExecEventRecordNodeSetEvent, cudaGraphExecEventRecordNodeSetEvent,
            (CUgraphExec executable, CUgraphNode node, CUevent event), (executable, node, event))
GPUSIM_SAME(cuGraphEventWaitNodeGetEvent, cudaGraphEventWaitNodeGetEvent, (CUgraphNode node, CUevent* event),
            (node, event))
GPUSIM_SAME(cuGraphEventWaitNodeSetEvent, cudaGraphEventWaitNodeSetEvent, (CUgraphNode node, CUevent event),
            (node, event))
GPUSIM_SAME(cuGraphExecEventWaitNodeSetEvent, cudaGraphExecEventWaitNodeSetEvent,
            (CUgraphExec executable, CUgraphNode node, CUevent event), (executable, node, event))
GPUSIM_SAME(cuGraphKernelNodeGetAttribute, cudaGraphKernelNodeGetAttribute,
            (CUgraphNode node, int attribute, void* value), (node, attribute, value))
GPUSIM_SAME(cuGraphKernelNodeSetAttribute, cudaGraphKernelNodeSetAttribute,
            (CUgraphNode node, int attribute, const void* value), (node, attribute, value))
GPUSIM_SAME(cuGraphKernelNodeCopyAttributes, cudaGraphKernelNodeCopyAttributes,
            (CUgraphNode to, CUgraphNode from), (to, from))

// Objects of the program
GPUSIM_SAME(cuUserObjectCreate, cudaUserObjectCreate,
            (cudart::UserObject * *object, void* data, cudaHostFn_t destroy, unsigned count, unsigned flags),
            (object, data, destroy, count, flags))
GPUSIM_SAME(cuUserObjectRetain, cudaUserObjectRetain, (cudart::UserObject * object, unsigned count),
            (object, count))
GPUSIM_SAME(cuUserObjectRelease, cudaUserObjectRelease, (cudart::UserObject * object, unsigned count),
            (object, count))
GPUSIM_SAME(cuGraphRetainUserObject, cudaGraphRetainUserObject,
            (CUgraph graph, cudart::UserObject* object, unsigned count, unsigned flags),
            (graph, object, count, flags))
GPUSIM_SAME(cuGraphReleaseUserObject, cudaGraphReleaseUserObject,
            (CUgraph graph, cudart::UserObject* object, unsigned count), (graph, object, count))

GPUSIM_SAME(cuGraphAddHostNode, cudaGraphAddHostNode,
            (CUgraphNode * node, CUgraph graph, const CUgraphNode* after, size_t count,
             const cudaHostNodeParams* p),
            (node, graph, after, count, p))
GPUSIM_SAME(cuGraphHostNodeGetParams, cudaGraphHostNodeGetParams, (CUgraphNode node, cudaHostNodeParams* p),
            (node, p))
GPUSIM_SAME(cuGraphHostNodeSetParams, cudaGraphHostNodeSetParams,
            (CUgraphNode node, const cudaHostNodeParams* p), (node, p))
GPUSIM_SAME(cuGraphExecHostNodeSetParams, cudaGraphExecHostNodeSetParams,
            (CUgraphExec executable, CUgraphNode node, const cudaHostNodeParams* p), (executable, node, p))
GPUSIM_SAME(cuGraphMemsetNodeGetParams, cudaGraphMemsetNodeGetParams, (CUgraphNode node, cudaMemsetParams* p),
            (node, p))
GPUSIM_SAME(cuGraphMemsetNodeSetParams, cudaGraphMemsetNodeSetParams,
            (CUgraphNode node, const cudaMemsetParams* p), (node, p))
GPUSIM_EXPORT cudaError_t cudaGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                                 size_t count, const cudaMemsetParams* p);
GPUSIM_DRIVER cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                                   const cudaMemsetParams* p, CUcontext) {
  return cudaGraphAddMemsetNode(node, graph, after, count, p);
}
GPUSIM_EXPORT cudaError_t cudaGraphExecMemsetNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                                           const cudaMemsetParams* p);
GPUSIM_DRIVER cuGraphExecMemsetNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                             const cudaMemsetParams* p, CUcontext) {
  return cudaGraphExecMemsetNodeSetParams(executable, node, p);
}

GPUSIM_DRIVER cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                                   const Copy3d* p, CUcontext) {
  return cudart::add_node(node, graph, after, count, cudart::Node::Type::kCopy,
                          [&](Device& device, cudart::Graph&, cudart::Node& n) {
                            require(p != nullptr);
                            n.copy = described_copy(device, *p);
                            n.copy_parameters = as_runtime(device, *p);
                          });
}
GPUSIM_DRIVER cuGraphMemcpyNodeSetParams(CUgraphNode node, const Copy3d* p) {
  return call([&](Device& device) {
    require(p != nullptr);
    cudart::Node& n = of_type(cudart::node_of(node), cudart::Node::Type::kCopy);
    n.copy = described_copy(device, *p);
    n.copy_parameters = as_runtime(device, *p);
  });
}
GPUSIM_DRIVER cuGraphMemcpyNodeGetParams(CUgraphNode node, Copy3d* p) {
  return call([&](Device& device) {
    require(p != nullptr);
    const cudart::Node& n = of_type(cudart::node_of(node), cudart::Node::Type::kCopy);
    *p = as_driver(device, cudart::copy_parameters_of(n));
  });
}
GPUSIM_DRIVER cuGraphExecMemcpyNodeSetParams(CUgraphExec executable, CUgraphNode node, const Copy3d* p,
                                             CUcontext) {
  return call([&](Device& device) {
    require(p != nullptr);
    device.synchronize();
    cudart::change_copy(cudart::node_in(cudart::executable_of(executable), node), described_copy(device, *p));
  });
}

namespace {

/// CUDA_KERNEL_NODE_PARAMS_v2: those of the runtime and of the first version, and more.
struct KernelNodeParameters {
  cudaKernelNodeParams common;
  CUfunction kernel;
  CUcontext context;
};
cudaKernelNodeParams common_of(const KernelNodeParameters& p) {
  cudaKernelNodeParams common = p.common;
  if (common.func == nullptr) common.func = p.kernel;
  return common;
}

}  // namespace

GPUSIM_EXPORT cudaError_t cudaGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                                 size_t count, const cudaKernelNodeParams* p);
GPUSIM_DRIVER cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                                   const cudaKernelNodeParams* p) {
  return cudaGraphAddKernelNode(node, graph, after, count, p);
}
GPUSIM_DRIVER cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                      size_t count, const KernelNodeParameters* p) {
  if (p == nullptr) return static_cast<int>(Code::kInvalidValue);
  const cudaKernelNodeParams common = common_of(*p);
  return cudaGraphAddKernelNode(node, graph, after, count, &common);
}
GPUSIM_EXPORT cudaError_t cudaGraphKernelNodeSetParams(CUgraphNode node, const cudaKernelNodeParams* p);
GPUSIM_DRIVER cuGraphKernelNodeSetParams(CUgraphNode node, const cudaKernelNodeParams* p) {
  return cudaGraphKernelNodeSetParams(node, p);
}
GPUSIM_DRIVER cuGraphKernelNodeSetParams_v2(CUgraphNode node, const KernelNodeParameters* p) {
  if (p == nullptr) return static_cast<int>(Code::kInvalidValue);
  const cudaKernelNodeParams common = common_of(*p);
  return cudaGraphKernelNodeSetParams(node, &common);
}
GPUSIM_EXPORT cudaError_t cudaGraphExecKernelNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                                           const cudaKernelNodeParams* p);
GPUSIM_DRIVER cuGraphExecKernelNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                             const cudaKernelNodeParams* p) {
  return cudaGraphExecKernelNodeSetParams(executable, node, p);
}
GPUSIM_DRIVER cuGraphExecKernelNodeSetParams_v2(CUgraphExec executable, CUgraphNode node,
                                                const KernelNodeParameters* p) {
  if (p == nullptr) return static_cast<int>(Code::kInvalidValue);
  const cudaKernelNodeParams common = common_of(*p);
  return cudaGraphExecKernelNodeSetParams(executable, node, &common);
}
GPUSIM_EXPORT cudaError_t cudaGraphKernelNodeGetParams(CUgraphNode node, cudaKernelNodeParams* p);
GPUSIM_DRIVER cuGraphKernelNodeGetParams(CUgraphNode node, cudaKernelNodeParams* p) {
  const CUresult error = cudaGraphKernelNodeGetParams(node, p);
  // The runtime's programs know kernels by functions of their own.
  return error != 0 ? error : call([&](Device&) { p->func = cudart::node_of(node).kernel; });
}
GPUSIM_DRIVER cuGraphKernelNodeGetParams_v2(CUgraphNode node, KernelNodeParameters* p) {
  if (p == nullptr) return static_cast<int>(Code::kInvalidValue);
  *p = {};
  p->context = kPrimary;
  return cuGraphKernelNodeGetParams(node, &p->common);
}

// Nodes of any type

namespace {

/// CUgraphNodeParams: what the runtime has, but for kernels, which have two names, and copies.
struct NodeParameters {
  cudaGraphNodeParams common;
  [[nodiscard]] bool is_copy() const { return common.type == static_cast<int>(cudart::Node::Type::kCopy); }
  [[nodiscard]] const Copy3d& copy() const {
    constexpr size_t kBehind = 2 * sizeof(int) + sizeof(CUcontext);
    return *reinterpret_cast<const Copy3d*>(reinterpret_cast<const std::byte*>(common.reserved1) + kBehind);
  }
};
/// With the kernel by its first name.
cudaGraphNodeParams as_runtime(const NodeParameters& p) {
  cudaGraphNodeParams common = p.common;
  if (common.type == static_cast<int>(cudart::Node::Type::kKernel))
    common.kernel = common_of(*reinterpret_cast<const KernelNodeParameters*>(p.common.reserved1));
  return common;
}

}  // namespace

GPUSIM_EXPORT cudaError_t cudaGraphAddNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                           const void* edges, size_t count, cudaGraphNodeParams* p);
GPUSIM_DRIVER cuGraphAddNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, const void* edges,
                                size_t count, NodeParameters* p) {
  if (p == nullptr) return static_cast<int>(Code::kInvalidValue);
  if (p->is_copy()) return cuGraphAddMemcpyNode(node, graph, after, count, &p->copy(), nullptr);
  cudaGraphNodeParams common = as_runtime(*p);
  const CUresult error = cudaGraphAddNode(node, graph, after, edges, count, &common);
  // What the call gives back
  if (common.type == static_cast<int>(cudart::Node::Type::kAllocate))
    p->common.alloc.dptr = common.alloc.dptr;
  if (common.type == static_cast<int>(cudart::Node::Type::kConditional))
    p->common.conditional.phGraph_out = common.conditional.phGraph_out;
  return error;
}
GPUSIM_DRIVER cuGraphAddNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                             NodeParameters* p) {
  return cuGraphAddNode_v2(node, graph, after, nullptr, count, p);
}
GPUSIM_EXPORT cudaError_t cudaGraphNodeSetParams(CUgraphNode node, cudaGraphNodeParams* p);
GPUSIM_DRIVER cuGraphNodeSetParams(CUgraphNode node, const NodeParameters* p) {
  if (p == nullptr) return static_cast<int>(Code::kInvalidValue);
  if (p->is_copy()) return cuGraphMemcpyNodeSetParams(node, &p->copy());
  cudaGraphNodeParams common = as_runtime(*p);
  return cudaGraphNodeSetParams(node, &common);
}
GPUSIM_EXPORT cudaError_t cudaGraphExecNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                                     cudaGraphNodeParams* p);
GPUSIM_DRIVER cuGraphExecNodeSetParams(CUgraphExec executable, CUgraphNode node, const NodeParameters* p) {
  if (p == nullptr) return static_cast<int>(Code::kInvalidValue);
  if (p->is_copy()) return cuGraphExecMemcpyNodeSetParams(executable, node, &p->copy(), nullptr);
  cudaGraphNodeParams common = as_runtime(*p);
  return cudaGraphExecNodeSetParams(executable, node, &common);
}
GPUSIM_SAME(cuGraphExecChildGraphNodeSetParams, cudaGraphExecChildGraphNodeSetParams,
            (CUgraphExec executable, CUgraphNode node, CUgraph child), (executable, node, child))
GPUSIM_EXPORT cudaError_t cudaGraphConditionalHandleCreate(unsigned long long* handle, CUgraph graph,
                                                           unsigned default_value, unsigned flags);
GPUSIM_DRIVER cuGraphConditionalHandleCreate(unsigned long long* handle, CUgraph graph, CUcontext,
                                             unsigned default_value, unsigned flags) {
  return cudaGraphConditionalHandleCreate(handle, graph, default_value, flags);
}

// Memory of graphs
GPUSIM_SAME(cuGraphAddMemAllocNode, cudaGraphAddMemAllocNode,
            (CUgraphNode * node, CUgraph graph, const CUgraphNode* after, size_t count,
             cudaMemAllocNodeParams* p),
            (node, graph, after, count, p))
GPUSIM_SAME(cuGraphMemAllocNodeGetParams, cudaGraphMemAllocNodeGetParams,
            (CUgraphNode node, cudaMemAllocNodeParams* p), (node, p))
GPUSIM_SAME(cuGraphAddMemFreeNode, cudaGraphAddMemFreeNode,
            (CUgraphNode * node, CUgraph graph, const CUgraphNode* after, size_t count, void* memory),
            (node, graph, after, count, memory))
GPUSIM_SAME(cuGraphMemFreeNodeGetParams, cudaGraphMemFreeNodeGetParams, (CUgraphNode node, void* memory),
            (node, memory))
GPUSIM_SAME(cuDeviceGetGraphMemAttribute, cudaDeviceGetGraphMemAttribute,
            (CUdevice device, int attribute, void* value), (device, attribute, value))
GPUSIM_SAME(cuDeviceSetGraphMemAttribute, cudaDeviceSetGraphMemAttribute,
            (CUdevice device, int attribute, void* value), (device, attribute, value))
GPUSIM_SAME(cuDeviceGraphMemTrim, cudaDeviceGraphMemTrim, (CUdevice device), (device))

}  // namespace gpusim::runtime::driver
