// CUDA graphs: nodes that were added or captured, and what a launch of them submits.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/cudart/api.h"
#include "runtime/cudart/graph_condition.h"
#include "runtime/cudart/graph_memory.h"

namespace gpusim::runtime::cudart {

struct Graph;

struct Node {
  /// As cudaGraphNodeType numbers them.
  enum class Type : int {
    kKernel = 0,
    kCopy = 1,
    kFill = 2,
    kHost = 3,
    kGraph = 4,
    kEmpty = 5,
    kWait = 6,
    kRecord = 7,
    kAllocate = 10,
    kFree = 11,
    kBatch = 12,
    kConditional = 13
  };
  Type type = Type::kEmpty;
  std::vector<Node*> after;
  bool enabled = true;
  const Node* original = nullptr;  ///< of a node of a clone or an executable graph
  // kKernel
  const void* function = nullptr;  ///< of the host program
  Kernel* kernel = nullptr;
  Size3 grid, block;
  uint32_t shared = 0;
  bool cooperative = false;
  std::optional<Size3> cluster;
  AttributeValues attributes;  ///< that change nothing
  std::vector<std::byte> parameters;
  mutable std::vector<void*> argument_pointers;  ///< into `parameters`, for who asks
  // Others
  Copy copy;
  cudaMemcpy3DParms copy_parameters{};
  Fill fill;
  cudaMemsetParams fill_parameters{};
  std::function<void()> host;
  cudaHostNodeParams host_parameters{};
  Event* event = nullptr;
  std::shared_ptr<Graph> child;
  std::shared_ptr<GraphMemory> memory;  ///< that the node allocates or frees
  cudaMemAllocNodeParams memory_parameters{};
  // kBatch: values that are written and waited for, as the program gave them and as a stream does them
  std::vector<std::byte> operations;
  std::function<void(Device&, Stream&)> run_operations;
  // kConditional
  std::shared_ptr<Condition> condition;
  ConditionalType conditional_type = ConditionalType::kIf;
  std::vector<std::shared_ptr<Graph>> bodies;
  mutable std::vector<cudaGraph_t> body_handles;  ///< for who asks
};

/// Something of the program's that is destroyed when nobody refers to it any more.
class UserObject {
 public:
  UserObject(void* data, cudaHostFn_t destroy) : data_(data), destroy_(destroy) {}
  ~UserObject() { destroy_(data_); }
  UserObject(const UserObject&) = delete;
  UserObject& operator=(const UserObject&) = delete;

 private:
  void* data_;
  cudaHostFn_t destroy_;
};

struct Graph {
  // Of one that can be launched
  unsigned long long flags = 0;
  std::weak_ptr<const Graph> source;
  std::vector<std::unique_ptr<Node>> nodes;
  std::vector<std::shared_ptr<Condition>> conditions;            ///< whose handles were made for this graph
  std::map<std::shared_ptr<UserObject>, uint64_t> user_objects;  ///< and how often the graph refers to each
  bool is_body = false;  ///< of a conditional node, or a child that belongs to its parent
  Node& add(Node::Type type, const cudaGraphNode_t* after, size_t count);
  [[nodiscard]] bool has(const Node* node) const;
  /// Nodes so that each comes after those that it waits for. Throws if they wait for each other.
  [[nodiscard]] std::vector<Node*> in_order() const;
};

// Handles. Those that take one throw Failure for what is none.
[[nodiscard]] Graph& graph_of(cudaGraph_t handle);
[[nodiscard]] std::shared_ptr<Graph> shared_graph(cudaGraph_t handle);
/// Null if no graph has a condition with that handle.
[[nodiscard]] std::shared_ptr<Condition> condition_of(uint64_t handle);
[[nodiscard]] Graph& executable_of(cudaGraphExec_t handle);
[[nodiscard]] Node& node_of(cudaGraphNode_t handle);
/// Throws if the node is of another type.
inline Node& of_type(Node& node, Node::Type type) {
  require(node.type == type);
  return node;
}
/// What a node that copies was given, or, if that was no copy of three dimensions, such a copy.
[[nodiscard]] cudaMemcpy3DParms copy_parameters_of(const Node& node);
/// The graph of a node that node_of() has returned.
[[nodiscard]] Graph& owner_of(const Node& node);
[[nodiscard]] inline cudaGraphNode_t handle_of(Node* node) { return reinterpret_cast<cudaGraphNode_t>(node); }
/// Node of a clone or an executable graph that was made from `node`.
[[nodiscard]] Node& node_in(Graph& made, cudaGraphNode_t node);
/// Gives a node of an executable graph another copy, which may be neither of nothing nor between other kinds
/// of memory than before.
void change_copy(Node& node, Copy copy);
cudaGraph_t keep(std::shared_ptr<Graph> graph);
cudaGraphExec_t keep_executable(std::shared_ptr<Graph> graph);
[[nodiscard]] bool has_executable(const Graph& graph);
/// With what conditional nodes in it may run.
void forget(cudaGraph_t graph);
void forget_bodies(const Node& node);
/// The same where the program may not have a handle of the graph.
void discard(const Graph& graph);
void forget(cudaGraphExec_t executable);
/// The graph again, with nodes of its own.
[[nodiscard]] std::shared_ptr<Graph> copy_of(const Graph& graph);
/// What a launch of the graph in the stream does: branches run beside each other, in streams of their own.
void run_graph(Device& device, const Graph& graph, Stream& stream);

/// Adds a node that `add(device, graph, node)` fills; none is left if that throws.
template <class Add>
cudaError_t add_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                     Node::Type type, Add add) {
  return call([&](Device& device) {
    require(node != nullptr);
    Graph& g = graph_of(graph);
    Node& made = g.add(type, after, count);
    try {
      add(device, g, made);
    } catch (...) {
      g.nodes.pop_back();
      throw;
    }
    *node = handle_of(&made);
  });
}

/// cudaGraphExecUpdateResultInfo
struct UpdateResult {
  int result;
  cudaGraphNode_t error_node, error_from;
};

/// cudaGraphInstantiateParams
struct InstantiateParameters {
  unsigned long long flags;
  cudaStream_t upload_stream;
  cudaGraphNode_t error_node;
  int result;
};

// Capture
/// As cudaStreamCaptureMode numbers them.
enum class CaptureMode : int { kGlobal = 0, kThreadLocal = 1, kRelaxed = 2 };
/// What the streams have in common that are captured into one graph.
struct CaptureSequence {
  std::shared_ptr<Graph> graph;
  const Stream* origin = nullptr;
  uint64_t id = 0;
  bool into_graph = false;  ///< the graph is the program's, and stays when the capture fails
  CaptureMode mode = CaptureMode::kGlobal;
  std::thread::id thread;    ///< that has begun it
  bool invalidated = false;  ///< by a call that cannot be captured
};
/// Of one stream, or at the time when an event was recorded.
struct Capture {
  std::shared_ptr<CaptureSequence> sequence;
  std::vector<Node*> last;  ///< what the next node of the stream comes after
};
/// Null if the stream is not captured. Throws if the capture has been invalidated, or if the stream is the
/// legacy default stream and would wait for one that is captured.
[[nodiscard]] Capture* capture_of(Device& device, const Stream& stream);
/// A node of the stream that is captured.
Node& captured(Capture& capture, Node::Type type);
/// The event is about to be destroyed.
void forget_captured(const Event& event);
[[nodiscard]] bool is_captured(const Event& event);
/// The stream is captured no more; what was captured is lost.
void end_capture(const Stream& stream);

}  // namespace gpusim::runtime::cudart
