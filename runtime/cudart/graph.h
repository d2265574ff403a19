// CUDA graphs: nodes that were added or captured, and what a launch of them submits.
#pragma once
#include <memory>
#include <vector>

#include "runtime/cudart/api.h"

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
    kFree = 11
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
  void* memory = nullptr;
  uint64_t bytes = 0;
};

struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;
  Node& add(Node::Type type, const cudaGraphNode_t* after, size_t count);
  [[nodiscard]] bool has(const Node* node) const;
  /// Nodes so that each comes after those that it waits for. Throws if they wait for each other.
  [[nodiscard]] std::vector<Node*> in_order() const;
};

/// The stream is captured no more; what was captured is lost.
void end_capture(const Stream& stream);

}  // namespace gpusim::runtime::cudart
