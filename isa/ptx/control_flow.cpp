#include "isa/ptx/control_flow.h"

#include <algorithm>
#include <boost/graph/strong_components.hpp>
#include <string_view>
#include <unordered_map>

namespace gpusim::isa {
namespace {

/// Adjacency in compressed rows: neighbours of v are targets[begin[v] .. begin[v+1]).
struct Adjacency {
  std::vector<uint32_t> begin;
  std::vector<uint32_t> targets;
  [[nodiscard]] std::span<const uint32_t> of(uint32_t v) const {
    return {targets.data() + begin[v], targets.data() + begin[v + 1]};
  }
};

Adjacency make_adjacency(uint32_t n, std::span<const BlockEdge> edges, bool reversed) {
  Adjacency result;
  result.begin.assign(n + 1, 0);
  const auto source = [&](const BlockEdge& e) { return reversed ? e.second : e.first; };
  for (const BlockEdge& e : edges) {
    if (e.first < n && e.second < n) ++result.begin[source(e) + 1];
  }
  for (uint32_t v = 0; v < n; ++v) result.begin[v + 1] += result.begin[v];
  result.targets.resize(result.begin[n]);
  std::vector<uint32_t> next(result.begin.begin(), result.begin.end() - 1);
  for (const BlockEdge& e : edges) {
    if (e.first < n && e.second < n) result.targets[next[source(e)]++] = reversed ? e.first : e.second;
  }
  return result;
}

/// Semi-NCA on vertices renumbered by depth-first preorder (number 0 is the entry).
class DominatorTree {
 public:
  DominatorTree(uint32_t n, std::span<const BlockEdge> edges, uint32_t entry)
      : successors_(make_adjacency(n, edges, false)), predecessors_(make_adjacency(n, edges, true)) {
    number_.assign(n, kNoBlock);
    if (entry < n) depth_first(entry);
  }

  std::vector<uint32_t> compute() {
    const auto count = static_cast<uint32_t>(order_.size());
    semi_.resize(count);
    for (uint32_t i = 0; i < count; ++i) semi_[i] = i;
    label_ = semi_;
    ancestor_.assign(count, kNoBlock);
    for (uint32_t i = count; i-- > 1;) {
      for (const uint32_t p : predecessors_.of(order_[i])) {
        if (number_[p] != kNoBlock) semi_[i] = std::min(semi_[i], semi_[evaluate(number_[p])]);
      }
      ancestor_[i] = parent_[i];
    }
    std::vector<uint32_t> idom = parent_;
    for (uint32_t i = 1; i < count; ++i) {
      while (idom[i] > semi_[i]) idom[i] = idom[idom[i]];
    }
    std::vector<uint32_t> result(number_.size(), kNoBlock);
    for (uint32_t i = 1; i < count; ++i) result[order_[i]] = order_[idom[i]];
    return result;
  }

 private:
  void depth_first(uint32_t entry) {
    std::vector<std::pair<uint32_t, uint32_t>> stack;  // vertex, number of its parent
    stack.emplace_back(entry, 0);
    while (!stack.empty()) {
      const auto [v, parent] = stack.back();
      stack.pop_back();
      if (number_[v] != kNoBlock) continue;
      number_[v] = static_cast<uint32_t>(order_.size());
      order_.push_back(v);
      parent_.push_back(parent);
      for (const uint32_t s : successors_.of(v)) {
        if (number_[s] == kNoBlock) stack.emplace_back(s, number_[v]);
      }
    }
  }

  /// Vertex with the smallest semi-dominator on the linked path above v, with path compression.
  uint32_t evaluate(uint32_t v) {
    if (ancestor_[v] == kNoBlock) return label_[v];
    path_.clear();
    for (uint32_t u = v; ancestor_[ancestor_[u]] != kNoBlock; u = ancestor_[u]) path_.push_back(u);
    while (!path_.empty()) {
      const uint32_t u = path_.back();
      path_.pop_back();
      const uint32_t above = ancestor_[u];
      if (semi_[label_[above]] < semi_[label_[u]]) label_[u] = label_[above];
      ancestor_[u] = ancestor_[above];
    }
    return label_[v];
  }

  Adjacency successors_, predecessors_;
  std::vector<uint32_t> number_;  // preorder number of a vertex
  std::vector<uint32_t> order_;   // vertex of a number
  std::vector<uint32_t> parent_, semi_, label_, ancestor_, path_;
};

/// Blocks to join to the virtual exit: the given exits, and one block of every component that cannot be left.
std::vector<uint32_t> all_exits(uint32_t n, std::span<const BlockEdge> edges,
                                std::span<const uint32_t> exits) {
  FlowGraph graph(n);
  for (const auto& [from, to] : edges) {
    if (from < n && to < n) boost::add_edge(from, to, graph);
  }
  std::vector<uint32_t> component(n);
  const auto map =
      boost::make_iterator_property_map(component.begin(), boost::get(boost::vertex_index, graph));
  const auto components = static_cast<uint32_t>(boost::strong_components(graph, map));
  std::vector<bool> leaves(components, false);
  std::vector<uint32_t> last(components, 0);
  for (uint32_t v = 0; v < n; ++v) last[component[v]] = v;
  for (const auto& [from, to] : edges) {
    if (from < n && to < n && component[from] != component[to]) leaves[component[from]] = true;
  }
  std::vector<uint32_t> result;
  for (const uint32_t e : exits) {
    if (e >= n) continue;
    leaves[component[e]] = true;
    result.push_back(e);
  }
  for (uint32_t c = 0; c < components; ++c) {
    if (!leaves[c]) result.push_back(last[c]);
  }
  return result;
}

}  // namespace

std::vector<uint32_t> immediate_dominators(uint32_t num_blocks, std::span<const BlockEdge> edges,
                                           uint32_t entry) {
  return DominatorTree(num_blocks, edges, entry).compute();
}

std::vector<uint32_t> immediate_post_dominators(uint32_t num_blocks, std::span<const BlockEdge> edges,
                                                std::span<const uint32_t> exits) {
  if (num_blocks == 0) return {};
  const uint32_t virtual_exit = num_blocks;
  std::vector<BlockEdge> reversed;
  reversed.reserve(edges.size() + exits.size());
  for (const auto& [from, to] : edges) {
    if (from < num_blocks && to < num_blocks) reversed.emplace_back(to, from);
  }
  for (const uint32_t e : all_exits(num_blocks, edges, exits)) reversed.emplace_back(virtual_exit, e);
  std::vector<uint32_t> result = DominatorTree(num_blocks + 1, reversed, virtual_exit).compute();
  result.pop_back();
  for (uint32_t& b : result) {
    if (b == virtual_exit) b = kNoBlock;
  }
  return result;
}

namespace {

bool is_unguarded(const Instruction& i) { return i.guard == kNoRegister; }

bool leaves_function(Opcode op) { return op == Opcode::kRet || op == Opcode::kExit || op == Opcode::kTrap; }

bool ends_block(const Instruction& i) {
  return i.opcode == Opcode::kBra || i.opcode == Opcode::kBrx || leaves_function(i.opcode);
}

/// Finds the statements that a branch may go to.
class TargetFinder {
 public:
  explicit TargetFinder(const Function& function) {
    for (const Label& l : function.labels) labels_.emplace(l.name, l.statement);
    for (const LabelTable& t : function.tables) tables_.emplace(t.name, &t);
  }

  [[nodiscard]] std::vector<uint32_t> targets(const Instruction& i) const {
    std::vector<uint32_t> result;
    if (i.operands.empty()) return result;
    const std::string& name = i.operands.back().symbol;
    if (i.opcode == Opcode::kBra) {
      add(name, result);
    } else if (i.opcode == Opcode::kBrx) {
      const auto table = tables_.find(name);
      if (table == tables_.end()) return result;
      for (const std::string& label : table->second->targets) add(label, result);
    }
    return result;
  }

 private:
  void add(const std::string& label, std::vector<uint32_t>& result) const {
    if (const auto it = labels_.find(label); it != labels_.end()) result.push_back(it->second);
  }
  std::unordered_map<std::string_view, uint32_t> labels_;
  std::unordered_map<std::string_view, const LabelTable*> tables_;
};

void cut_into_blocks(const Function& function, ControlFlow& flow) {
  const auto count = static_cast<uint32_t>(function.body.size());
  std::vector<bool> leader(count + 1, false);
  leader[0] = true;
  for (const Label& l : function.labels) leader[std::min(l.statement, count)] = true;
  for (uint32_t s = 0; s < count; ++s) {
    if (ends_block(function.body[s])) leader[s + 1] = true;
  }
  flow.block_of.resize(count);
  for (uint32_t s = 0; s < count; ++s) {
    if (leader[s]) flow.blocks.push_back({s, s, false});
    flow.blocks.back().last = s + 1;
    flow.block_of[s] = static_cast<uint32_t>(flow.blocks.size() - 1);
  }
  if (flow.blocks.empty()) flow.blocks.push_back({});
}

void connect_blocks(const Function& function, ControlFlow& flow) {
  const TargetFinder finder(function);
  const auto count = static_cast<uint32_t>(flow.blocks.size());
  std::vector<uint32_t> successors;
  for (uint32_t b = 0; b < count; ++b) {
    BasicBlock& block = flow.blocks[b];
    successors.clear();
    bool falls_through = true;
    if (block.last > block.first) {
      const Instruction& end = function.body[block.last - 1];
      if (leaves_function(end.opcode)) block.is_exit = true;
      for (const uint32_t s : finder.targets(end)) {
        if (s < flow.block_of.size()) {
          successors.push_back(flow.block_of[s]);
        } else {
          block.is_exit = true;  // a label at the end of the body
        }
      }
      falls_through = !(ends_block(end) && is_unguarded(end));
    }
    if (falls_through && b + 1 < count) successors.push_back(b + 1);
    if (falls_through && b + 1 == count) block.is_exit = true;
    std::sort(successors.begin(), successors.end());
    successors.erase(std::unique(successors.begin(), successors.end()), successors.end());
    for (const uint32_t s : successors) flow.edges.emplace_back(b, s);
  }
}

}  // namespace

ControlFlow build_control_flow(const Function& function) {
  ControlFlow flow;
  cut_into_blocks(function, flow);
  connect_blocks(function, flow);
  const auto count = static_cast<uint32_t>(flow.blocks.size());
  std::vector<uint32_t> exits;
  for (uint32_t b = 0; b < count; ++b) {
    if (flow.blocks[b].is_exit) exits.push_back(b);
  }
  flow.graph = FlowGraph(flow.edges.begin(), flow.edges.end(), count);
  flow.dominator = immediate_dominators(count, flow.edges);
  flow.post_dominator = immediate_post_dominators(count, flow.edges, exits);
  return flow;
}

}  // namespace gpusim::isa
