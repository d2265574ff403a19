#include "isa/lowering/dominance.h"

namespace gpusim::isa::lir {

SsaValues::SsaValues(const Program& program, const Flow& flow) : value_(program.vars.size(), false) {
  const uint32_t blocks = static_cast<uint32_t>(program.blocks.size());
  const Dominators dominators(blocks, flow);
  std::vector<uint32_t> writes(program.vars.size(), 0), block_of(program.vars.size(), kNone),
      position(program.vars.size(), 0);
  uint32_t at = 0;
  for (uint32_t b = 0; b < blocks; ++b) {
    for (const Op& op : program.blocks[b].ops) {
      ++at;
      for_each_def(op, [&](Var v) {
        ++writes[v];
        if (op.guard == kNoVar) {
          block_of[v] = b;
          position[v] = at;
        }
      });
    }
  }
  for (Var v = 0; v < program.vars.size(); ++v) value_[v] = writes[v] == 1 && block_of[v] != kNone;
  at = 0;
  for (uint32_t b = 0; b < blocks; ++b) {
    for (const Op& op : program.blocks[b].ops) {
      ++at;
      for_each_use(op, [&](Var v) {
        if (!value_[v]) return;
        const bool after = block_of[v] == b ? position[v] < at : dominators.dominates(block_of[v], b);
        if (!after) value_[v] = false;
      });
    }
  }
}

Dominators::Dominators(uint32_t n, const Flow& flow) : enter_(n, 0), leave_(n, 0) {
  const std::vector<uint32_t> parent = immediate_dominators(n, flow.edges);
  std::vector<std::vector<uint32_t>> children(n);
  std::vector<std::pair<uint32_t, size_t>> stack;
  for (uint32_t b = 0; b < n; ++b) {
    if (parent[b] != kNoBlock) children[parent[b]].push_back(b);
  }
  uint32_t clock = 0;
  for (uint32_t root = 0; root < n; ++root) {  // block 0, and each unreachable block by itself
    if (parent[root] != kNoBlock) continue;
    enter_[root] = ++clock;
    stack.emplace_back(root, 0);
    while (!stack.empty()) {
      auto& [b, next] = stack.back();
      if (next < children[b].size()) {
        const uint32_t child = children[b][next++];
        enter_[child] = ++clock;
        stack.emplace_back(child, 0);
      } else {
        leave_[b] = ++clock;
        stack.pop_back();
      }
    }
  }
}

}  // namespace gpusim::isa::lir
