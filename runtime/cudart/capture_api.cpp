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
  std::map<const Event*, Capture> events;        ///< recorded in streams that are captured
  std::map<std::thread::id, CaptureMode> modes;  ///< of threads that have exchanged theirs
  uint64_t next = 1;
  /// What programs were told the last nodes of a stream are: some read it when the capture has ended.
  std::map<const Stream*, std::vector<Node*>> told;
};
Captures& captures() {
  static auto& all = common_state<Captures>("captures");
  return all;
}

}  // namespace

namespace {

CaptureMode& mode_of_thread() {
  return captures().modes.try_emplace(std::this_thread::get_id(), CaptureMode::kGlobal).first->second;
}

/// Whatever has become of the capture; null if the stream is not captured.
Capture* any_capture_of(const Stream& stream) {
  const auto at = captures().streams.find(&stream);
  return at == captures().streams.end() ? nullptr : &at->second;
}

[[noreturn]] void invalidate(CaptureSequence& sequence, Code code) {
  sequence.invalidated = true;
  throw Failure(code);
}

}  // namespace

Capture* capture_of(Device& device, const Stream& stream) {
  Capture* const capture = any_capture_of(stream);
  if (capture != nullptr) require(!capture->sequence->invalidated, Code::kStreamCaptureInvalidated);
  if (&stream == &device.legacy_stream())
    for (const auto& [other, c] : captures().streams)
      if (other->blocking) invalidate(*c.sequence, Code::kStreamCaptureImplicit);
  return capture;
}

Node& captured(Capture& capture, Node::Type type) {
  Node& node = capture.sequence->graph->add(type, nullptr, 0);
  node.after = capture.last;
  capture.last = {&node};
  return node;
}

void refuse_while_capturing(Device& device, const Stream& stream) {
  if (const Capture* capture = capture_of(device, stream))
    invalidate(*capture->sequence, Code::kStreamCaptureUnsupported);
}

void refuse_captured(const Event& event) {
  const auto at = captures().events.find(&event);
  if (at != captures().events.end()) invalidate(*at->second.sequence, Code::kCapturedEvent);
}

void refuse_while_anything_is_captured() {
  if (captures().streams.empty()) return;
  for (const auto& [stream, capture] : captures().streams) capture.sequence->invalidated = true;
  throw Failure(Code::kStreamCaptureUnsupported);
}

void refuse_if_unsafe() {
  if (captures().streams.empty()) return;
  const CaptureMode mode = mode_of_thread();
  if (mode == CaptureMode::kRelaxed) return;
  bool refused = false;
  for (const auto& [stream, capture] : captures().streams) {
    CaptureSequence& s = *capture.sequence;
    const bool own = s.thread == std::this_thread::get_id();
    const bool disturbed = own ? s.mode != CaptureMode::kRelaxed
                               : s.mode == CaptureMode::kGlobal && mode == CaptureMode::kGlobal;
    if (disturbed) s.invalidated = refused = true;
  }
  require(!refused, Code::kStreamCaptureUnsupported);
}

bool is_captured(const Event& event) { return captures().events.contains(&event); }

void forget_captured(const Event& event) { captures().events.erase(&event); }

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
  Capture* capture = capture_of(device, stream);
  if (capture == nullptr) {
    wait = wait || device.always_waits(copy);
    return device.copy(std::move(copy), stream, wait);
  }
  if (wait) invalidate(*capture->sequence, Code::kStreamCaptureUnsupported);
  captured(*capture, Node::Type::kCopy).copy = std::move(copy);
}

void submit_fill(Device& device, const Fill& fill, Stream& stream, bool wait) {
  Capture* capture = capture_of(device, stream);
  if (capture == nullptr) return device.fill(fill, stream, wait);
  if (wait) invalidate(*capture->sequence, Code::kStreamCaptureUnsupported);
  captured(*capture, Node::Type::kFill).fill = fill;
}

std::vector<std::byte> packed_parameters(Kernel& kernel, void* const* extra) {
  constexpr uintptr_t kBuffer = 1, kBytes = 2;
  const std::byte* buffer = nullptr;
  size_t bytes = 0;
  for (; *extra != nullptr; extra += 2) {
    const auto what = reinterpret_cast<uintptr_t>(*extra);
    require(what == kBuffer || what == kBytes);
    if (what == kBuffer) buffer = static_cast<const std::byte*>(extra[1]);
    if (what == kBytes) bytes = *static_cast<const size_t*>(extra[1]);
  }
  require(buffer != nullptr);
  require(bytes <= kernel.image().param_bytes, Code::kLaunchOutOfResources);
  return {buffer, buffer + bytes};
}

namespace {
void capture_launch(Device& device, const LaunchRequest& r, Capture& capture, const void* function) {
  try {
    device.check_launch(r);
  } catch (const Failure&) {
    capture.sequence->invalidated = true;
    throw;
  }
  Node& node = captured(capture, Node::Type::kKernel);
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
}  // namespace

void submit_launch(Device& device, const LaunchRequest& r, Stream& stream, const void* function) {
  if (Capture* capture = capture_of(device, stream); capture != nullptr)
    capture_launch(device, r, *capture, function);
  else
    device.launch(r, stream);
  for (const LaunchRequest::Record& record : r.records)
    submit_record(device, *record.event, stream, record.external);
}

void submit_function(Device& device, std::function<void()> function, Stream& stream, void (*fn)(void*),
                     void* data, std::function<void(Code)> after_failure) {
  Capture* capture = capture_of(device, stream);
  if (capture == nullptr) return device.host_function(std::move(function), stream, std::move(after_failure));
  Node& node = captured(*capture, Node::Type::kHost);
  node.host = std::move(function);
  node.host_parameters = {fn, data};
}

void submit_record(Device& device, Event& event, Stream& stream, bool external) {
  Capture* capture = capture_of(device, stream);
  require(capture != nullptr || !external, Code::kIllegalState);
  if (capture == nullptr) {
    captures().events.erase(&event);
    return device.record(event, stream);
  }
  if (external)
    captured(*capture, Node::Type::kRecord).event = &event;
  else
    captures().events[&event] = *capture;
}

void submit_wait(Device& device, Stream& stream, Event& event, bool external) {
  Capture* capture = capture_of(device, stream);
  require(capture != nullptr || !external);
  if (external) {
    captured(*capture, Node::Type::kWait).event = &event;
    return;
  }
  const auto at = captures().events.find(&event);
  if (at == captures().events.end()) {
    if (capture != nullptr && event.recorded) invalidate(*capture->sequence, Code::kStreamCaptureIsolation);
    return device.wait(stream, event);
  }
  require(!at->second.sequence->invalidated, Code::kStreamCaptureInvalidated);
  // The stream is drawn into the capture, or joins.
  if (capture == nullptr) {
    if (&stream == &device.legacy_stream()) invalidate(*at->second.sequence, Code::kStreamCaptureImplicit);
    captures().streams[&stream] = at->second;
    return;
  }
  if (capture->sequence != at->second.sequence) {
    at->second.sequence->invalidated = true;
    invalidate(*capture->sequence, Code::kStreamCaptureMerge);
  }
  for (Node* node : at->second.last)
    if (std::ranges::find(capture->last, node) == capture->last.end()) capture->last.push_back(node);
}

namespace {

cudaError_t begin_capture(cudaStream_t stream, int mode, Default null, cudaGraph_t into = nullptr,
                          const cudaGraphNode_t* after = nullptr, size_t count = 0) {
  return call([&](Device& device) {
    require(mode >= static_cast<int>(CaptureMode::kGlobal) &&
            mode <= static_cast<int>(CaptureMode::kRelaxed));
    Stream& s = stream_of(device, stream, null);
    require(&s != &device.legacy_stream(), Code::kStreamCaptureUnsupported);
    require(any_capture_of(s) == nullptr, Code::kIllegalState);
    Capture capture;
    capture.sequence = std::make_shared<CaptureSequence>();
    CaptureSequence& q = *capture.sequence;
    q.into_graph = into != nullptr;
    q.graph = into == nullptr ? std::make_shared<Graph>() : shared_graph(into);
    q.origin = &s;
    q.id = captures().next++;
    q.mode = static_cast<CaptureMode>(mode);
    q.thread = std::this_thread::get_id();
    capture.last = nodes_in(*q.graph, after, count);
    captures().streams[&s] = std::move(capture);
  });
}

cudaError_t finish_capture(cudaStream_t stream, cudaGraph_t* graph, Default null) {
  return call([&](Device& device) {
    Stream& s = stream_of(device, stream, null);
    const Capture* capture = any_capture_of(s);
    require(graph != nullptr || (capture != nullptr && capture->sequence->into_graph));
    if (graph != nullptr) *graph = nullptr;
    require(capture != nullptr, Code::kIllegalState);
    const std::shared_ptr<CaptureSequence> sequence = capture->sequence;
    require(sequence->origin == &s, Code::kStreamCaptureUnmatched);
    require(sequence->mode == CaptureMode::kRelaxed || sequence->thread == std::this_thread::get_id(),
            Code::kStreamCaptureWrongThread);
    const std::shared_ptr<Graph> made = sequence->graph;
    // Streams that were drawn in must have come back: their last nodes are waited for.
    bool joined = true;
    for (const auto& [other, c] : captures().streams) {
      if (c.sequence != sequence || other == &s) continue;
      for (const Node* open : c.last)
        joined = joined && std::ranges::any_of(made->nodes, [&](const auto& n) {
                   return n.get() != open && std::ranges::find(n->after, open) != n->after.end();
                 });
      for (const Node* open : c.last)
        joined = joined || std::ranges::find(capture->last, open) != capture->last.end();
    }
    std::erase_if(captures().streams, [&](const auto& entry) { return entry.second.sequence == sequence; });
    std::erase_if(captures().events, [&](const auto& entry) { return entry.second.sequence == sequence; });
    if (sequence->invalidated || !joined) {
      if (!sequence->into_graph) discard(*made);
      throw Failure(sequence->invalidated ? Code::kStreamCaptureInvalidated : Code::kStreamCaptureUnjoined);
    }
    const cudaGraph_t handle = sequence->into_graph ? reinterpret_cast<cudaGraph_t>(made.get()) : keep(made);
    if (graph != nullptr) *graph = handle;
  });
}

}  // namespace

GPUSIM_EXPORT cudaError_t cudaStreamBeginCapture(cudaStream_t stream, int mode) {
  return begin_capture(stream, mode, Default::kLegacy);
}
#if GPUSIM_CUDART >= 12
GPUSIM_EXPORT cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                                        const cudaGraphNode_t* after, const void*,
                                                        size_t count, int mode) {
  if (graph == nullptr) return call([](Device&) { require(false); });
  return begin_capture(stream, mode, Default::kLegacy, graph, after, count);
}
GPUSIM_EXPORT cudaError_t cudaStreamBeginCaptureToGraph_ptsz(cudaStream_t stream, cudaGraph_t graph,
                                                             const cudaGraphNode_t* after, const void*,
                                                             size_t count, int mode) {
  if (graph == nullptr) return call([](Device&) { require(false); });
  return begin_capture(stream, mode, Default::kThread, graph, after, count);
}
#endif
GPUSIM_EXPORT cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t stream, int mode) {
  return begin_capture(stream, mode, Default::kThread);
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

/// cudaStreamCaptureStatus
int status_of(const Capture* capture) {
  constexpr int kNone = 0, kActive = 1, kInvalidated = 2;
  return capture == nullptr ? kNone : capture->sequence->invalidated ? kInvalidated : kActive;
}

cudaError_t capture_info(cudaStream_t stream, const CaptureInfo& to, Default null = Default::kLegacy) {
  return call([&](Device& device) {
    require(to.status != nullptr);
    const Stream& s = stream_of(device, stream, null);
    Capture* capture = any_capture_of(s);
    *to.status = status_of(capture);
    if (capture == nullptr || capture->sequence->invalidated) return;
    if (to.id != nullptr) *to.id = capture->sequence->id;
    // The program may add nodes to the graph.
    if (to.graph != nullptr) *to.graph = keep(capture->sequence->graph);
    std::vector<Node*>& told = captures().told[&s];
    told = capture->last;
    if (to.last != nullptr) *to.last = reinterpret_cast<const cudaGraphNode_t*>(told.data());
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
    Capture* capture = capture_of(device, stream_of(device, stream, null));
    require(capture != nullptr, Code::kIllegalState);
    std::vector<Node*> last = nodes_in(*capture->sequence->graph, nodes, count);
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
GPUSIM_EXPORT cudaError_t cudaStreamIsCapturing(cudaStream_t stream, int* status) {
  return capture_info(stream, {status});
}
GPUSIM_EXPORT cudaError_t cudaStreamIsCapturing_ptsz(cudaStream_t stream, int* status) {
  return capture_info(stream, {status}, Default::kThread);
}
GPUSIM_EXPORT cudaError_t cudaThreadExchangeStreamCaptureMode(int* mode) {
  return call([&](Device&) {
    require(mode != nullptr && *mode >= static_cast<int>(CaptureMode::kGlobal) &&
            *mode <= static_cast<int>(CaptureMode::kRelaxed));
    *mode = static_cast<int>(std::exchange(mode_of_thread(), static_cast<CaptureMode>(*mode)));
  });
}

}  // namespace gpusim::runtime::cudart
