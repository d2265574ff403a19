// Capture of streams: what is submitted to them becomes nodes of a graph.
#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "runtime/cudart/graph.h"

namespace gpusim::runtime::cudart {

namespace {

struct Captures {
  std::map<const Stream*, Capture> streams;
  std::map<const Event*, Capture> events;  ///< recorded in streams that are captured
  uint64_t next = 1;
};
Captures& captures() {
  static auto& all = common_state<Captures>("captures");
  return all;
}

}  // namespace

Capture* capture_of(const Stream& stream) {
  const auto at = captures().streams.find(&stream);
  return at == captures().streams.end() ? nullptr : &at->second;
}

Node& captured(Capture& capture, Node::Type type) {
  Node& node = capture.graph->add(type, nullptr, 0);
  node.after = capture.last;
  capture.last = {&node};
  return node;
}

bool is_capturing(const Stream& stream) { return capture_of(stream) != nullptr; }
void refuse_while_capturing(const Stream& stream) {
  require(!is_capturing(stream), Code::kStreamCaptureUnsupported);
}
void end_capture(const Stream& stream) { captures().streams.erase(&stream); }

namespace {
std::vector<Node*> nodes_in(const Graph& graph, const cudaGraphNode_t* nodes, size_t count) {
  std::vector<Node*> all;
  for (size_t i = 0; i < count; ++i) {
    require(nodes != nullptr);
    all.push_back(reinterpret_cast<Node*>(nodes[i]));
    require(graph.has(all.back()));
  }
  return all;
}
}  // namespace

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

void submit_launch(Device& device, const LaunchRequest& r, Stream& stream, const void* function) {
  Capture* capture = capture_of(stream);
  if (capture == nullptr) return device.launch(r, stream);
  Node& node = captured(*capture, Node::Type::kKernel);
  const isa::KernelImage& image = r.kernel->image();
  node.function = function;
  node.kernel = r.kernel;
  node.grid = r.grid, node.block = r.block;
  node.shared = r.dynamic_shared;
  node.cooperative = r.cooperative;
  node.cluster = r.cluster;
  node.parameters.assign(image.param_bytes, std::byte{});
  if (r.arguments == nullptr) {
    std::copy_n(r.parameters.begin(), std::min(r.parameters.size(), node.parameters.size()),
                node.parameters.begin());
    return;
  }
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
    captures().events.erase(&event);
    return device.record(event, stream);
  }
  captures().events[&event] = *capture;
}

void submit_wait(Device& device, Stream& stream, Event& event) {
  const auto at = captures().events.find(&event);
  if (at == captures().events.end()) {
    refuse_while_capturing(stream);
    return device.wait(stream, event);
  }
  // The stream is drawn into the capture, or joins.
  Capture& capture = captures().streams[&stream];
  if (capture.graph == nullptr) {
    capture = at->second;
    return;
  }
  for (Node* node : at->second.last)
    if (std::ranges::find(capture.last, node) == capture.last.end()) capture.last.push_back(node);
}

namespace {

cudaError_t begin_capture(cudaStream_t stream, Default null, cudaGraph_t into = nullptr,
                          const cudaGraphNode_t* after = nullptr, size_t count = 0) {
  return call([&](Device& device) {
    Stream& s = stream_of(device, stream, null);
    require(&s != &device.legacy_stream(), Code::kStreamCaptureUnsupported);
    require(capture_of(s) == nullptr, Code::kInvalidValue);
    Capture capture;
    capture.into_graph = into != nullptr;
    capture.graph = into == nullptr ? std::make_shared<Graph>() : shared_graph(into);
    capture.last = nodes_in(*capture.graph, after, count);
    capture.origin = &s;
    capture.id = captures().next++;
    captures().streams[&s] = std::move(capture);
  });
}

cudaError_t finish_capture(cudaStream_t stream, cudaGraph_t* graph, Default null) {
  return call([&](Device& device) {
    Stream& s = stream_of(device, stream, null);
    Capture* capture = capture_of(s);
    require(graph != nullptr || (capture != nullptr && capture->into_graph));
    if (graph != nullptr) *graph = nullptr;
    require(capture != nullptr, Code::kInvalidValue);
    require(capture->origin == &s, Code::kStreamCaptureUnmatched);
    const std::shared_ptr<Graph> made = capture->graph;
    const bool into_graph = capture->into_graph;
    // Streams that were drawn in must have come back: their last nodes are waited for.
    bool joined = true;
    for (const auto& [other, c] : captures().streams) {
      if (c.graph != made || other == &s) continue;
      for (const Node* open : c.last)
        joined = joined && std::ranges::any_of(made->nodes, [&](const auto& n) {
                   return n.get() != open && std::ranges::find(n->after, open) != n->after.end();
                 });
      for (const Node* open : c.last)
        joined = joined || std::ranges::find(capture->last, open) != capture->last.end();
    }
    std::erase_if(captures().streams, [&made](const auto& entry) { return entry.second.graph == made; });
    std::erase_if(captures().events, [&made](const auto& entry) { return entry.second.graph == made; });
    if (!joined) {
      if (!into_graph) discard(*made);
      throw Failure(Code::kStreamCaptureUnjoined);
    }
    const cudaGraph_t handle = into_graph ? reinterpret_cast<cudaGraph_t>(made.get()) : keep(made);
    if (graph != nullptr) *graph = handle;
  });
}

}  // namespace

GPUSIM_EXPORT cudaError_t cudaStreamBeginCapture(cudaStream_t stream, int) {
  return begin_capture(stream, Default::kLegacy);
}
#if GPUSIM_CUDART >= 12
GPUSIM_EXPORT cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                                        const cudaGraphNode_t* after, const void*,
                                                        size_t count, int) {
  if (graph == nullptr) return call([](Device&) { require(false); });
  return begin_capture(stream, Default::kLegacy, graph, after, count);
}
GPUSIM_EXPORT cudaError_t cudaStreamBeginCaptureToGraph_ptsz(cudaStream_t stream, cudaGraph_t graph,
                                                             const cudaGraphNode_t* after, const void*,
                                                             size_t count, int) {
  if (graph == nullptr) return call([](Device&) { require(false); });
  return begin_capture(stream, Default::kThread, graph, after, count);
}
#endif
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

struct CaptureInfo {
  int* status = nullptr;
  unsigned long long* id = nullptr;
  cudaGraph_t* graph = nullptr;
  const cudaGraphNode_t** last = nullptr;
  const void** edges = nullptr;
  size_t* count = nullptr;
};

cudaError_t capture_info(cudaStream_t stream, const CaptureInfo& to, Default null = Default::kLegacy) {
  return call([&](Device& device) {
    require(to.status != nullptr);
    Capture* capture = capture_of(stream_of(device, stream, null));
    *to.status = capture != nullptr ? 1 : 0;
    if (capture == nullptr) return;
    if (to.id != nullptr) *to.id = capture->id;
    // The program may add nodes to the graph.
    if (to.graph != nullptr) *to.graph = keep(capture->graph);
    if (to.last != nullptr) *to.last = reinterpret_cast<const cudaGraphNode_t*>(capture->last.data());
    if (to.edges != nullptr) *to.edges = nullptr;
    if (to.count != nullptr) *to.count = capture->last.size();
  });
}

/// What the next node of the stream comes after, as the program wants it.
cudaError_t update_dependencies(cudaStream_t stream, const cudaGraphNode_t* nodes, size_t count,
                                unsigned flags, Default null) {
  return call([&](Device& device) {
    constexpr unsigned kAdd = 0, kSet = 1;
    require(flags == kAdd || flags == kSet);
    Capture* capture = capture_of(stream_of(device, stream, null));
    require(capture != nullptr, Code::kIllegalState);
    std::vector<Node*> last = nodes_in(*capture->graph, nodes, count);
    if (flags == kSet) {
      capture->last = std::move(last);
      return;
    }
    for (Node* node : last)
      if (std::ranges::find(capture->last, node) == capture->last.end()) capture->last.push_back(node);
  });
}

}  // namespace
#if GPUSIM_CUDART >= 13
GPUSIM_EXPORT cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, int* status, unsigned long long* id,
                                                   cudaGraph_t* graph, const cudaGraphNode_t** last,
                                                   const void** edges, size_t* count) {
  return capture_info(stream, {status, id, graph, last, edges, count});
}
GPUSIM_EXPORT cudaError_t cudaStreamGetCaptureInfo_ptsz(cudaStream_t stream, int* status,
                                                        unsigned long long* id, cudaGraph_t* graph,
                                                        const cudaGraphNode_t** last, const void** edges,
                                                        size_t* count) {
  return capture_info(stream, {status, id, graph, last, edges, count}, Default::kThread);
}
GPUSIM_EXPORT cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* nodes,
                                                              const void*, size_t count, unsigned flags) {
  return update_dependencies(stream, nodes, count, flags, Default::kLegacy);
}
GPUSIM_EXPORT cudaError_t cudaStreamUpdateCaptureDependencies_ptsz(cudaStream_t stream,
                                                                   cudaGraphNode_t* nodes, const void*,
                                                                   size_t count, unsigned flags) {
  return update_dependencies(stream, nodes, count, flags, Default::kThread);
}
#else
GPUSIM_EXPORT cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, int* status, unsigned long long* id) {
  return capture_info(stream, {status, id});
}
GPUSIM_EXPORT cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, int* status,
                                                      unsigned long long* id, cudaGraph_t* graph,
                                                      const cudaGraphNode_t** last, size_t* count) {
  return capture_info(stream, {status, id, graph, last, nullptr, count});
}
GPUSIM_EXPORT cudaError_t cudaStreamGetCaptureInfo_v3(cudaStream_t stream, int* status,
                                                      unsigned long long* id, cudaGraph_t* graph,
                                                      const cudaGraphNode_t** last, const void** edges,
                                                      size_t* count) {
  return capture_info(stream, {status, id, graph, last, edges, count});
}
GPUSIM_EXPORT cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* nodes,
                                                              size_t count, unsigned flags) {
  return update_dependencies(stream, nodes, count, flags, Default::kLegacy);
}
GPUSIM_EXPORT cudaError_t cudaStreamUpdateCaptureDependencies_v2(cudaStream_t stream, cudaGraphNode_t* nodes,
                                                                 const void*, size_t count, unsigned flags) {
  return update_dependencies(stream, nodes, count, flags, Default::kLegacy);
}
#endif
GPUSIM_EXPORT cudaError_t cudaThreadExchangeStreamCaptureMode(int* mode) {
  return call([&](Device&) { require(mode != nullptr); });
}

}  // namespace gpusim::runtime::cudart
