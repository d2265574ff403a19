#include "runtime/cudart/graph_condition.h"

#include <algorithm>
#include <cstring>

#include "runtime/cudart/graph.h"

namespace gpusim::runtime::cudart {

namespace {

bool has_conditional_nodes(const Graph& graph) {
  return std::ranges::any_of(graph.nodes, [](const auto& n) { return n->condition != nullptr; });
}

bool decides_something(const Condition& condition, const Graph& graph) {
  return std::ranges::any_of(graph.nodes, [&condition](const auto& n) {
    return n->condition.get() == &condition || std::ranges::any_of(n->bodies, [&condition](const auto& body) {
             return decides_something(condition, *body);
           });
  });
}

void check_body(const Graph& graph) {
  using Type = Node::Type;
  for (const auto& node : graph.nodes) {
    const Type t = node->type;
    if (t != Type::kKernel && t != Type::kCopy && t != Type::kFill && t != Type::kGraph &&
        t != Type::kEmpty && t != Type::kConditional)
      throw Failure(
          Code::kNotSupported,
          "the body of a conditional node has a node that is no kernel, copy, fill, graph, empty or "
          "conditional node");
    if (node->child != nullptr) check_body(*node->child);
  }
  (void)graph.in_order();
}

}  // namespace

Condition::Condition(Device& device, uint32_t default_value, bool assigns_default)
    : word_(device.allocate(sizeof(uint32_t), "value of a conditional node")),
      default_value_(default_value),
      assigns_default_(assigns_default) {
  device.fill(
      {.to = word_, .width = sizeof(uint32_t), .value = default_value, .value_bytes = sizeof(uint32_t)},
      device.legacy_stream(), true);
}

Condition::~Condition() {
  if (Device* device = existing_device()) device->release(word_);
}

uint32_t Condition::value() const {
  uint32_t v = 0;
  std::memcpy(&v, word_, sizeof v);
  return v;
}

Fill Condition::assignment() const {
  return {.to = word_, .width = sizeof(uint32_t), .value = default_value_, .value_bytes = sizeof(uint32_t)};
}

void refuse_conditional_nodes(const Graph& graph) {
  if (has_conditional_nodes(graph))
    throw Failure(Code::kNotSupported, "a graph with conditional nodes is not copied or contained");
}

void check_conditional_nodes(const Graph& graph) {
  if (has_conditional_nodes(graph) && has_executable(graph))
    throw Failure(Code::kNotSupported, "a graph with conditional nodes is instantiated a second time");
  for (const auto& condition : graph.conditions)
    if (!decides_something(*condition, graph))
      throw Failure(Code::kInvalidValue, "a graph has a condition on which no conditional node depends");
  for (const auto& node : graph.nodes)
    for (const auto& body : node->bodies) {
      check_body(*body);
      check_conditional_nodes(*body);
    }
}

#if GPUSIM_CUDART >= 12
GPUSIM_EXPORT cudaError_t cudaGraphConditionalHandleCreate(unsigned long long* handle, cudaGraph_t graph,
                                                           unsigned default_value, unsigned flags) {
  return call([&](Device& device) {
    constexpr unsigned kAssignDefault = 1;
    require(handle != nullptr && (flags & ~kAssignDefault) == 0);
    Graph& g = graph_of(graph);
    g.conditions.push_back(std::make_shared<Condition>(device, default_value, (flags & kAssignDefault) != 0));
    *handle = g.conditions.back()->handle();
  });
}
#endif

}  // namespace gpusim::runtime::cudart
