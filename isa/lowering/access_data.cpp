#include "isa/lowering/access_data.h"

#include <algorithm>

#include "isa/lowering/machine_count.h"

namespace gpusim::isa::lir {

bool is_aggregated(const Op& op) {
  using enum MemoryOperand::Aggregation;
  return op.kind == OpKind::kAtomic &&
         (op.memory.aggregation == kAlways || op.memory.aggregation == kFullWarp);
}

AccessData access_data(const Op& op) {
  AccessData data;
  if ((op.kind != OpKind::kStore && op.kind != OpKind::kAtomic) || calls_system(op)) return data;
  data.width = op.memory.element_bytes == 8 ? 2 : 1;
  if (is_aggregated(op)) {
    data.values = {op.src[op.num_src - 2]};
    return data;
  }
  const int base = op.memory.has_base ? 1 : 0;
  const bool store = op.kind == OpKind::kStore;
  const int first = store ? std::max(op.num_src - int{op.memory.elements}, base) : base;
  for (int k = first; k < op.num_src; ++k) data.values.push_back(op.src[k]);
  data.side_by_side = data.values.size() > 1;
  const bool zeros = std::ranges::all_of(data.values, [](const Value& v) {
    return v.is_literal() && v.bits == 0 && v.launch_constant == kNone;
  });
  if (zeros && (store || !data.side_by_side)) data.values.clear();
  return data;
}

}  // namespace gpusim::isa::lir
