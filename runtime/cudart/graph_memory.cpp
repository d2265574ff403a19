#include "runtime/cudart/graph_memory.h"

#include <algorithm>
#include <map>

#include "runtime/cudart/graph.h"

namespace gpusim::runtime::cudart {

namespace {

struct GraphAllocation {
  GraphMemory* memory = nullptr;  ///< null once no graph names it
  uint64_t bytes = 0;
  bool live = false;  ///< a launch has allocated it, and nothing has freed it
};
struct GraphMemories {
  std::map<const void*, GraphAllocation> all;
  // As cudaDeviceGetGraphMemAttribute has them: of allocations that live, and the most that lived at a time
  // since the memory was trimmed.
  uint64_t used = 0, used_high = 0, reserved = 0, reserved_high = 0;

  void allocate(GraphAllocation& a) {
    a.live = true;
    used += a.bytes;
    used_high = std::max(used_high, used);
    reserved = std::max(reserved, used);
    reserved_high = std::max(reserved_high, reserved);
  }
  void free(GraphAllocation& a) {
    a.live = false;
    used -= a.bytes;
  }
};
GraphMemories& memories() {
  static auto& all = common_state<GraphMemories>("memory of graphs");
  return all;
}

bool allocates(const Graph& graph, const GraphMemory& memory) {
  return std::ranges::any_of(graph.nodes, [&memory](const auto& n) {
    return n->type == Node::Type::kAllocate && n->memory.get() == &memory;
  });
}

std::shared_ptr<GraphMemory> shared_memory_at(const void* pointer) {
  const auto at = memories().all.find(pointer);
  require(at != memories().all.end() && at->second.memory != nullptr);
  return at->second.memory->shared_from_this();
}

constexpr int kUsed = 0, kUsedHigh = 1, kReserved = 2, kReservedHigh = 3;

}  // namespace

GraphMemory::GraphMemory(Device& device, uint64_t bytes)
    : address_(device.allocate(bytes, "memory of a graph")), bytes_(bytes) {
  memories().all[address_] = {this, bytes, false};
}

GraphMemory::~GraphMemory() {
  const auto at = memories().all.find(address_);
  at->second.memory = nullptr;
  if (at->second.live) return;
  memories().all.erase(at);
  if (Device* device = existing_device()) device->release(address_);
}

void set_allocation(Device& device, Node& node, cudaMemAllocNodeParams& p) {
  constexpr int kPinned = 1, kOnDevice = 1;
  require(p.bytesize != 0);
  require(p.poolProps.allocType == kPinned && p.poolProps.location.type == kOnDevice);
  require(p.poolProps.location.id == 0, Code::kInvalidDevice);
  node.memory = std::make_shared<GraphMemory>(device, p.bytesize);
  p.dptr = node.memory->address();
  node.memory_parameters = p;
}

void set_free(const Graph& graph, Node& node, const void* pointer) {
  std::shared_ptr<GraphMemory> memory = shared_memory_at(pointer);
  require(std::ranges::none_of(
      graph.nodes, [&](const auto& n) { return n->type == Node::Type::kFree && n->memory == memory; }));
  const bool own = allocates(graph, *memory);
  require(own ? !memory->freed_by_others_ : !memory->freed_by_owner_);
  (own ? memory->freed_by_owner_ : memory->freed_by_others_) = true;
  node.memory = std::move(memory);
}

bool has_memory_nodes(const Graph& graph) {
  return std::ranges::any_of(graph.nodes, [](const auto& node) {
    return node->memory != nullptr || (node->child != nullptr && has_memory_nodes(*node->child));
  });
}

namespace {

/// With the nodes of children in their places.
void add_in_order(const Graph& graph, std::vector<Node*>& order) {
  for (Node* const node : graph.in_order()) {
    order.push_back(node);
    if (node->child != nullptr) add_in_order(*node->child, order);
  }
}

}  // namespace

void take_memory_of_launch(const Graph& graph) {
  if (!has_memory_nodes(graph)) return;
  constexpr unsigned long long kFreesAtLaunch = 1;  // cudaGraphInstantiateFlagAutoFreeOnLaunch
  GraphMemories& state = memories();
  std::vector<Node*> order;
  add_in_order(graph, order);
  const auto allocation = [&](const Node* node) { return &state.all.at(node->memory->address()); };
  std::map<const GraphAllocation*, bool> live;
  for (const Node* node : order)
    if (node->memory != nullptr) live[allocation(node)] = allocation(node)->live;
  const auto left = [&](const Node* node) {
    return node->type == Node::Type::kAllocate && allocation(node)->live;
  };
  if ((graph.flags & kFreesAtLaunch) != 0)
    for (const Node* node : order)
      if (left(node)) live[allocation(node)] = false;
  for (const Node* node : order) {
    if (node->memory == nullptr) continue;
    bool& now = live[allocation(node)];
    const bool allocates = node->type == Node::Type::kAllocate;
    if (now == allocates)
      throw Failure(Code::kInvalidValue,
                    allocates
                        ? "a graph is launched while memory that its last launch has allocated is not freed"
                        : "a graph that is launched frees memory that is not allocated");
    now = allocates;
  }
  if ((graph.flags & kFreesAtLaunch) != 0)
    for (const Node* node : order)
      if (left(node)) state.free(*allocation(node));
  for (const Node* node : order) {
    if (node->type == Node::Type::kAllocate) state.allocate(*allocation(node));
    if (node->type == Node::Type::kFree) state.free(*allocation(node));
  }
}

bool free_memory_of_graphs(Device& device, void* pointer) {
  const auto at = memories().all.find(pointer);
  if (at == memories().all.end()) return false;
  require(at->second.live);
  memories().free(at->second);
  if (at->second.memory != nullptr) return true;
  memories().all.erase(at);
  device.synchronize();
  device.release(pointer);
  return true;
}

void forget_memory_of_graphs() {
  GraphMemories& state = memories();
  std::erase_if(state.all, [](const auto& entry) { return entry.second.memory == nullptr; });
  for (auto& [address, allocation] : state.all) allocation.live = false;
  state.used = state.reserved = 0;
}

bool captures_allocation(Device& device, Stream& stream, void** pointer, uint64_t bytes) {
  Capture* const capture = capture_of(device, stream);
  if (capture == nullptr) return false;
  auto memory = std::make_shared<GraphMemory>(device, bytes);
  *pointer = memory->address();
  captured(*capture, Node::Type::kAllocate).memory = std::move(memory);
  return true;
}

bool captures_free(Device& device, Stream& stream, void* pointer) {
  Capture* const capture = capture_of(device, stream);
  if (capture == nullptr) return false;
  Node freeing;
  set_free(*capture->sequence->graph, freeing, pointer);
  captured(*capture, Node::Type::kFree).memory = std::move(freeing.memory);
  return true;
}

GPUSIM_EXPORT cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                   const cudaGraphNode_t* after, size_t count,
                                                   cudaMemAllocNodeParams* p) {
  return add_node(node, graph, after, count, Node::Type::kAllocate, [&](Device& device, Graph&, Node& n) {
    require(p != nullptr);
    set_allocation(device, n, *p);
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                  const cudaGraphNode_t* after, size_t count, void* memory) {
  return add_node(node, graph, after, count, Node::Type::kFree,
                  [&](Device&, Graph& g, Node& n) { set_free(g, n, memory); });
}
GPUSIM_EXPORT cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams* p) {
  return call([&](Device&) {
    const Node& n = node_of(node);
    require(p != nullptr && n.type == Node::Type::kAllocate);
    *p = n.memory_parameters;
    p->dptr = n.memory->address();
    p->bytesize = n.memory->bytes();
  });
}
GPUSIM_EXPORT cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* pointer) {
  return call([&](Device&) {
    const Node& n = node_of(node);
    require(pointer != nullptr && n.type == Node::Type::kFree);
    *static_cast<void**>(pointer) = n.memory->address();
  });
}

GPUSIM_EXPORT cudaError_t cudaDeviceGetGraphMemAttribute(int number, int attribute, void* value) {
  return call([&](Device&) {
    require(number == 0, Code::kInvalidDevice);
    require(value != nullptr && attribute >= kUsed && attribute <= kReservedHigh);
    const GraphMemories& m = memories();
    const uint64_t values[] = {m.used, m.used_high, m.reserved, m.reserved_high};
    *static_cast<uint64_t*>(value) = values[attribute];
  });
}
GPUSIM_EXPORT cudaError_t cudaDeviceSetGraphMemAttribute(int number, int attribute, void* value) {
  return call([&](Device&) {
    require(number == 0, Code::kInvalidDevice);
    // The highest values can be set back, and nothing else.
    require(value != nullptr && (attribute == kUsedHigh || attribute == kReservedHigh));
    require(*static_cast<uint64_t*>(value) == 0);
    GraphMemories& m = memories();
    if (attribute == kUsedHigh)
      m.used_high = m.used;
    else
      m.reserved_high = m.reserved;
  });
}
GPUSIM_EXPORT cudaError_t cudaDeviceGraphMemTrim(int number) {
  return call([&](Device& device) {
    require(number == 0, Code::kInvalidDevice);
    device.synchronize();
    memories().reserved = memories().used;
  });
}

}  // namespace gpusim::runtime::cudart
