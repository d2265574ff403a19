#include "components/checker/unwritten_values.h"

namespace gpusim::comp {

void UnwrittenValues::begin(uint32_t num_rows) {
  any_ = false;
  used_.assign(num_rows, 0);
  reads_.clear();
  numbers_.clear();
}

void UnwrittenValues::set(const isa::RowRef& ref, uint32_t lane, Value value) {
  if (value.read == 0 && !any_) return;
  if (rows_.size() < used_.size()) rows_.resize(used_.size());
  const size_t row = row_of(ref);
  if (used_[row] == 0) {
    if (value.read == 0) return;
    rows_[row].fill({});
    used_[row] = 1;
    any_ = true;
  }
  rows_[row][lane] = value;
}

uint32_t UnwrittenValues::add(const UnwrittenRead& read) {
  if (reads_.empty()) reads_.emplace_back();
  const uint64_t key = uint64_t{read.statement} * isa::kWarpSize + static_cast<uint64_t>(read.lane);
  const auto [it, added] = numbers_.try_emplace(key, static_cast<uint32_t>(reads_.size()));
  if (added)
    reads_.push_back(read);
  else
    reads_[it->second] = read;
  return it->second;
}

UnwrittenValues::Value UnwrittenValues::copied(const isa::MicroOp& op, const isa::WarpContext& context,
                                               uint32_t lane) const {
  const uint16_t choice = op.pred_src[0];
  if (op.num_src == 2 && choice != isa::kNoPredicate) {
    const bool first = (((context.predicates[choice] >> lane) & 1) != 0) != op.pred_negated[0];
    return at(op.src[first ? 0 : 1], lane);
  }
  // One source, or the parts of a larger value.
  Value result;
  bool all = true;
  for (size_t s = 0; s < op.num_src; ++s) {
    const Value part = at(op.src[s], lane);
    all = all && part.read != 0;
    if (part.read != 0) result = part;
  }
  if (op.num_src > 1 && result.read != 0) result.bytes = all ? 0xff : result.bytes;
  return result;
}

}  // namespace gpusim::comp
