#include "isa/lowering/machine_joins.h"

#include <algorithm>

#include "isa/lowering/liveness.h"

namespace gpusim::isa::lir {
namespace {

/// Compute capability of the first machine that has instructions for a sum and a minimum, and for minima of
/// three.
constexpr int kJoinsExtremesFrom = 90;

/// A sum extends it, or shifts it (lea).
bool is_scaled(const Op& op) {
  const auto opcode = static_cast<Opcode>(op.opcode());
  return op.kind == OpKind::kAlu && (opcode == Opcode::kShl || opcode == Opcode::kCvt);
}
bool is_extreme(const Op& op) {
  const auto opcode = static_cast<Opcode>(op.opcode());
  return op.kind == OpKind::kAlu && (opcode == Opcode::kMin || opcode == Opcode::kMax) &&
         is_integer(op.type) && !is_packed16(op.type) && op.num_src == 2;
}

}  // namespace

bool is_near_address(const Program& program, const Op& op) {
  const auto opcode = static_cast<Opcode>(op.opcode());
  return op.num_dst == 1 && op.dst[0] < program.narrow.size() && program.narrow[op.dst[0]] &&
         opcode != Opcode::kCvt && opcode != Opcode::kShr && opcode != Opcode::kAnd;
}

JoinedOperations::JoinedOperations(const Program& program, const Readers& readers, const LoopNest& loops)
    : program_(program),
      readers_(readers),
      loops_(loops),
      read_in_(program.vars.size(), kNone),
      read_by_(program.vars.size(), nullptr),
      made_by_(program.vars.size(), nullptr) {
  for (uint32_t b = 0; b < program.blocks.size(); ++b) {
    for (const Op& op : program.blocks[b].ops) {
      for_each_use(op, [&](Var v) {
        read_in_[v] = b;
        read_by_[v] = &op;
      });
      for_each_def(op, [&](Var v) { made_by_[v] = &op; });
    }
  }
}

void JoinedOperations::forget() {
  summed_.clear();
  taken_.clear();
}

bool JoinedOperations::joins(const Op& op, uint32_t block) {
  const bool takes_sum = std::any_of(op.src.begin(), op.src.begin() + op.num_src, [&](const Value& v) {
    return !v.is_literal() && summed_.count(v.var) != 0;
  });
  return joins_sum(op, block) || (!takes_sum && joins_extreme(op, block)) || joins_shift(op, block);
}

/// The first of two sums of which the second takes the first's result and nobody else: one iadd3, or two of
/// 64 bits. In another block, but no loop behind it, that is so for sums of words with a number (probes of
/// ptxas 13 for 7.5 and 9.0).
bool JoinedOperations::joins_sum(const Op& op, uint32_t block) {
  const bool is_wide = is_wide_sum(op);
  if ((!is_wide && !Readers::is_word_sum(op)) || op.guard != kNoVar) return false;
  for (int i = 0; i < op.num_src; ++i) {  // this is the second of such a pair
    if (!op.src[i].is_literal() && summed_.erase(op.src[i].var) != 0) return false;
  }
  const Var d = op.dst[0];
  if (readers_.all[d] != 1 || taken_.count(&op) != 0) return false;
  if (is_wide)
    return read_in_[d] == block && is_wide_sum(*read_by_[d]) && read_by_[d]->guard == kNoVar &&
           summed_.insert(d).second;
  if (readers_.word_sums[d] != 1) return false;
  const bool with_number =
      std::any_of(op.src.begin(), op.src.begin() + op.num_src, [](const Value& v) { return v.is_literal(); });
  if (read_in_[d] != block && (!with_number || loops_.enters(block, read_in_[d]))) return false;
  return summed_.insert(d).second;
}

bool JoinedOperations::is_wide_sum(const Op& op) const {
  const auto opcode = static_cast<Opcode>(op.opcode());
  return op.kind == OpKind::kAlu && (opcode == Opcode::kAdd || opcode == Opcode::kSub) && op.num_src == 2 &&
         op.num_dst == 1 && (op.type == Type::kU64 || op.type == Type::kS64) &&
         static_cast<uint32_t>(op.key) == 0 && !is_near_address(program_, op) &&
         std::none_of(op.src.begin(), op.src.begin() + op.num_src, [&](const Value& v) {
           return !v.is_literal() && made_by_[v.var] != nullptr && is_scaled(*made_by_[v.var]);
         });
}

/// A shift to the right by a number is one instruction with the sum that alone reads it (LEA.HI), unless
/// that subtracts it.
bool JoinedOperations::joins_shift(const Op& op, uint32_t block) {
  if (static_cast<Opcode>(op.opcode()) != Opcode::kShr || type_bytes(op.type) != 4 || op.guard != kNoVar ||
      op.num_src != 2 || !op.src[1].is_literal() || op.src[1].launch_constant != kNone)
    return false;
  const Var d = op.dst[0];
  if (readers_.all[d] != 1 || read_in_[d] != block) return false;
  const Op& sum = *read_by_[d];
  if (!Readers::is_word_sum(sum) || sum.guard != kNoVar) return false;
  const bool subtracts = static_cast<Opcode>(sum.opcode()) == Opcode::kSub && sum.src[1].var == d;
  return !subtracts && taken_.insert(&sum).second;
}

/// From 9.0 on a minimum or maximum of words is one instruction with a sum of two that it takes, or with
/// one of its kind, or a maximum with 0 with any (VIADDMNMX, VIMNMX3, VIMNMX.RELU; probes of ptxas 13).
bool JoinedOperations::joins_extreme(const Op& op, uint32_t block) {
  if (program_.machine_capability < kJoinsExtremesFrom || op.guard != kNoVar || op.num_dst != 1 ||
      type_bytes(op.type) != 4)
    return false;
  const auto opcode = static_cast<Opcode>(op.opcode());
  const Var d = op.dst[0];
  if (readers_.all[d] != 1 || read_in_[d] != block) return false;
  const Op& reader = *read_by_[d];
  if (!is_extreme(reader) || reader.guard != kNoVar || type_bytes(reader.type) != 4) return false;
  const bool is_relu = static_cast<Opcode>(reader.opcode()) == Opcode::kMax && is_signed(reader.type) &&
                       reader.src[1].is_literal() && reader.src[1].launch_constant == kNone &&
                       reader.src[1].bits == 0;
  const bool alike = opcode == static_cast<Opcode>(reader.opcode()) && op.type == reader.type;
  const bool fits = is_extreme(op) ? alike || is_relu : Readers::is_word_sum(op);
  return fits && taken_.count(&op) == 0 && taken_.insert(&reader).second;
}

}  // namespace gpusim::isa::lir
