// Address arithmetic into [register + constant]: a base computed by add, sub with a constant, or by a
// constant itself, is replaced by what it was computed from. Only for SSA values, so the base has the same
// value at the access. An `or` with a constant whose bits are zero in the other operand is a sum as well. A
// 32-bit base keeps its wrap-around, because 32-bit addresses are computed modulo 2^32 at the access as well.
#include "isa/lowering/alignment.h"
#include "isa/lowering/dominance.h"
#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {
namespace {

struct Sum {
  Value base;
  int64_t offset = 0;
  bool valid = false;
  ObjectId object = kNoObject;  // of `offset`
};

/// `op` as base + constant, if it is that.
Sum as_sum(const Op& op) {
  if (op.kind != OpKind::kAlu || op.guard != kNoVar || op.num_dst != 1) return {};
  const auto opcode = static_cast<Opcode>(op.opcode());
  const Type type = op.type;
  if (opcode == Opcode::kMov && op.num_src == 1 && op.src[0].is_literal() &&
      static_cast<uint32_t>(op.key) == 0) {
    return {op.src[0], 0, true};
  }
  const bool plain =
      op.key == form_key(opcode, type) && is_integer(type) && type_bytes(type) >= 4 && op.num_src == 2;
  if (!plain || (opcode != Opcode::kAdd && opcode != Opcode::kSub)) return {};
  const auto constant = [&](const Value& v) {
    return v.wide ? static_cast<int64_t>(v.bits)
                  : int64_t{static_cast<int32_t>(static_cast<uint32_t>(v.bits))};
  };
  if (op.src[1].is_literal()) {
    const int64_t c = constant(op.src[1]);
    const ObjectId object = op.src[1].object;
    if (opcode == Opcode::kAdd) return {op.src[0], c, true, object};
    const auto minus = static_cast<int64_t>(0 - static_cast<uint64_t>(c));
    return {op.src[0], minus, true, object == kNoObject ? kNoObject : kMixedObjects};
  }
  if (opcode == Opcode::kAdd && op.src[0].is_literal())
    return {op.src[1], constant(op.src[0]), true, op.src[0].object};
  return {};
}

/// `op` as base + constant, if it is an `or` of bits that the base does not have.
Sum as_disjoint_or(const Op& op, const std::vector<uint8_t>& zero_bits) {
  if (op.kind != OpKind::kAlu || op.guard != kNoVar || op.num_dst != 1 || op.num_src != 2) return {};
  if (op.key != form_key(Opcode::kOr, op.type) || op.type == Type::kPred || type_bytes(op.type) < 4)
    return {};
  const int literal = op.src[0].is_literal() ? 0 : 1;
  const Value &constant = op.src[literal], &base = op.src[1 - literal];
  if (!constant.is_literal() || base.is_literal() || constant.launch_constant != kNone) return {};
  if (constant.object != kNoObject || constant.bits >> zero_bits[base.var] != 0) return {};
  return {base, static_cast<int64_t>(constant.bits), true};
}

/// From 7.0 on, an access to global memory adds 24 bits with a sign to its base.
bool fits_instruction(const Op& op, int64_t offset) {
  constexpr int64_t kEnd = int64_t{1} << 23;
  return (op.memory.space != Space::kGlobal && op.memory.space != Space::kGeneric) ||
         (offset >= -kEnd && offset < kEnd);
}

}  // namespace

void fold_addresses(Program& program, const Flow& flow, bool rewritten) {
  const SsaValues ssa(program, flow);
  const std::vector<uint8_t> zero_bits =
      rewritten ? low_zero_bits(program) : std::vector<uint8_t>(program.vars.size(), 0);
  std::vector<Sum> sums(program.vars.size());
  for (const Block& block : program.blocks) {
    for (const Op& op : block.ops) {
      Sum s = as_sum(op);
      if (!s.valid && rewritten) s = as_disjoint_or(op, zero_bits);
      if (!s.valid || !ssa.is_value(op.dst[0])) continue;
      if (s.base.is_literal() || ssa.is_value(s.base.var)) sums[op.dst[0]] = s;
    }
  }
  for (Block& block : program.blocks) {
    for (Op& op : block.ops) {
      if (!op.is_memory() || !op.memory.has_base) continue;
      uint64_t offset = static_cast<uint64_t>(op.memory.offset);
      while (!op.src[0].is_literal() && sums[op.src[0].var].valid) {
        const Sum& sum = sums[op.src[0].var];
        const uint64_t further = offset + static_cast<uint64_t>(sum.offset);
        if (rewritten && !fits_instruction(op, static_cast<int64_t>(further))) break;
        offset = further;
        op.memory.object = joined_object(op.memory.object, sum.object);
        op.src[0] = sum.base;
      }
      op.memory.offset = static_cast<int64_t>(offset);
      if (!op.src[0].is_literal()) continue;
      // A constant address: no base register any more.
      op.memory.object = joined_object(op.memory.object, op.src[0].object);
      const uint64_t address = op.src[0].bits + offset;
      op.memory.offset = static_cast<int64_t>(op.memory.base_is_64 ? address : address & 0xffffffffu);
      op.memory.has_base = op.memory.base_is_64 = false;
      for (int i = 1; i < op.num_src; ++i) op.src[i - 1] = op.src[i];
      --op.num_src;
    }
  }
}

}  // namespace gpusim::isa::lir
