// Memory that graphs allocate and free (memory nodes).
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtime/cudart/api.h"

namespace gpusim::runtime::cudart {

struct Graph;
struct Node;

/// An allocation of a node. Its address is the same for all launches. Device memory is set aside for it as
/// long as a graph names it, and after that until what a launch has allocated is freed.
class GraphMemory : public std::enable_shared_from_this<GraphMemory> {
 public:
  GraphMemory(Device& device, uint64_t bytes);
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;
  [[nodiscard]] std::byte* address() const { return address_; }
  [[nodiscard]] uint64_t bytes() const { return bytes_; }

 private:
  friend void set_free(const Graph& graph, Node& node, const void* pointer);
  std::byte* address_;
  uint64_t bytes_;
  bool freed_by_owner_ = false, freed_by_others_ = false;  ///< graphs with a node that frees it
};

/// Makes a node one that allocates, and writes the address to the parameters.
void set_allocation(Device& device, Node& node, cudaMemAllocNodeParams& p);
/// Makes a node the one that frees the memory; throws if the graph may not.
void set_free(const Graph& graph, Node& node, const void* pointer);
[[nodiscard]] bool has_memory_nodes(const Graph& graph);
/// For what cannot be done to such a graph.
inline void refuse_memory_nodes(const Graph& graph) {
  if (has_memory_nodes(graph))
    throw Failure(Code::kNotSupported,
                  "a graph that allocates or frees memory is not copied, contained or cut");
}
/// What a launch of the graph allocates and frees. Throws, and changes nothing, if something is allocated
/// twice or freed when it is not there.
void take_memory_of_launch(const Graph& graph);

}  // namespace gpusim::runtime::cudart
