#include "isa/lowering/loop_nest.h"

#include <functional>
#include <queue>
#include <utility>

namespace gpusim::isa::lir {

LoopNest::LoopNest(const Program& program)
    : latest_begin_(program.blocks.size(), 0), earliest_end_(program.blocks.size(), kNone) {
  const auto blocks = static_cast<uint32_t>(program.blocks.size());
  using Ends = std::pair<uint32_t, uint32_t>;                       // what is wanted of it, and its other end
  std::vector<std::vector<uint32_t>> ends(blocks), begins(blocks);  // of the loops that begin, and end, there
  for (uint32_t b = 0; b < blocks; ++b) {
    for (const Op& op : program.blocks[b].ops) {
      if (op.kind != OpKind::kBranch || op.target > b) continue;
      ends[op.target].push_back(b);
      begins[b].push_back(op.target);
    }
  }
  std::priority_queue<Ends> open;
  for (uint32_t b = 0; b < blocks; ++b) {
    for (const uint32_t end : ends[b]) open.emplace(b, end);
    while (!open.empty() && open.top().second < b) open.pop();
    if (!open.empty()) latest_begin_[b] = open.top().first;
  }
  std::priority_queue<Ends, std::vector<Ends>, std::greater<>> closing;
  for (uint32_t b = blocks; b-- > 0;) {
    for (const uint32_t begin : begins[b]) closing.emplace(b, begin);
    while (!closing.empty() && closing.top().second > b) closing.pop();
    if (!closing.empty()) earliest_end_[b] = closing.top().first;
  }
}

}  // namespace gpusim::isa::lir
