#include "isa/lowering/register_relations.h"

#include <algorithm>
#include <array>

#include "isa/lowering/liveness.h"

namespace gpusim::isa::lir {
namespace {

Type second_type(const Op& op) { return static_cast<Type>((op.key >> 32) & 0xff); }

/// A pair of registers and what stands in its halves.
struct Pair {
  Var pair = kNoVar;
  std::array<Var, 2> words{kNoVar, kNoVar};
};

Var variable(const Value& v) { return v.is_literal() ? kNoVar : v.var; }

Pair pair_of(const Op& op) {
  if (op.kind != OpKind::kAlu || op.guard != kNoVar || op.num_src == 0) return {};
  if (parts_pair(op)) {
    if (op.num_dst == 2 && op.num_src == 1) return {variable(op.src[0]), {op.dst[0], op.dst[1]}};
    if (op.num_dst == 1 && op.num_src == 2) return {op.dst[0], {variable(op.src[0]), variable(op.src[1])}};
    return {};
  }
  if (static_cast<Opcode>(op.opcode()) != Opcode::kCvt || !is_integer(op.type) ||
      !is_integer(second_type(op)))
    return {};
  const uint32_t to = type_bytes(op.type), from = type_bytes(second_type(op));
  if (from == 8 && to == 4) return {variable(op.src[0]), {op.dst[0], kNoVar}};
  if (from == 4 && to == 8 && is_signed(op.type)) return {op.dst[0], {variable(op.src[0]), kNoVar}};
  return {};
}

}  // namespace

bool parts_pair(const Op& op) {
  return op.kind == OpKind::kAlu && op.num_src != 0 && static_cast<Opcode>(op.opcode()) == Opcode::kMov &&
         second_type(op) != Type::kNone && type_bytes(second_type(op)) == 4;
}

RegisterRelations find_register_relations(const Program& program,
                                          const std::function<bool(Var, uint32_t)>& in_register,
                                          const std::vector<bool>& written_once) {
  RegisterRelations found;
  found.read_with.resize(program.vars.size());
  found.made_from.resize(program.vars.size());
  found.made_into.resize(program.vars.size());
  const auto has = [&](Var v, uint32_t block, uint32_t width) {
    return v != kNoVar && thread_registers(program, v) == width && in_register(v, block);
  };
  std::vector<Var> read;
  for (uint32_t b = 0; b < program.blocks.size(); ++b) {
    for (const Op& op : program.blocks[b].ops) {
      const bool stores_word = op.kind == OpKind::kStore && op.memory.has_base && op.num_src == 2;
      if (!stores_word && (op.kind != OpKind::kAlu || op.op_class == OpClass::kWarp)) continue;
      read.clear();
      bool pairs = false;
      for (int k = 0; k < op.num_src; ++k) {
        const Var v = variable(op.src[k]);
        if (op.num_dst == 1 && op.dst[0] != kNoVar && v != kNoVar) {
          found.made_from[op.dst[0]].push_back(v);
          found.made_into[v].push_back(op.dst[0]);
        }
        pairs = pairs || has(v, b, 2);
        if (has(v, b, 1) && std::ranges::find(read, v) == read.end()) read.push_back(v);
      }
      for (const Var a : read) {
        for (const Var other : read)
          if (!pairs && other != a) found.read_with[a].push_back(other);
      }
      const Pair p = pair_of(op);
      if (!has(p.pair, b, 2) || !written_once[p.pair]) continue;
      for (uint32_t k = 0; k < 2; ++k) {
        const Var word = p.words[k];
        if (has(word, b, 1) && written_once[word]) found.halves.push_back({p.pair, word, k});
      }
    }
  }
  return found;
}

}  // namespace gpusim::isa::lir
