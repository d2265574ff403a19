// Conditional nodes of graphs: the values that kernels set, and what may stand around them.
#pragma once
#include <cstddef>
#include <cstdint>

#include "runtime/cudart/api.h"

namespace gpusim::runtime::cudart {

struct Graph;

/// As cudaGraphConditionalNodeType numbers them.
enum class ConditionalType : uint8_t { kIf = 0, kWhile = 1, kSwitch = 2 };

/// A value in device memory that decides whether conditional nodes run. Its handle is its address, at which
/// cudaGraphSetConditional() of device code writes (runtime/device/module.cpp).
class Condition {
 public:
  Condition(Device& device, uint32_t default_value, bool assigns_default);
  ~Condition();
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;
  [[nodiscard]] uint64_t handle() const { return reinterpret_cast<uint64_t>(word_); }
  [[nodiscard]] uint32_t value() const;
  /// The default is the value at the begin of each launch of the graph.
  [[nodiscard]] bool assigns_default() const { return assigns_default_; }
  [[nodiscard]] Fill assignment() const;

 private:
  std::byte* word_;
  uint32_t default_value_;
  bool assigns_default_;
};

/// For what cannot be done to a graph with conditional nodes.
void refuse_conditional_nodes(const Graph& graph);
/// Throws unless the graph may be instantiated as far as its conditional nodes go.
void check_conditional_nodes(const Graph& graph);

}  // namespace gpusim::runtime::cudart
