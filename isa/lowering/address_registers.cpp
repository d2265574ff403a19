// What an address costs below compute capability 2.0. Shared, local and constant memory are addressed by an
// address register and a constant, never by a general register: an instruction that shifts a register to the
// left by a constant writes it, another one adds a constant to it, and there are four. Global memory is
// addressed by a general register without a constant, so that every sum is an instruction. Sources:
// envytools, docs/hw/graph/tesla/cuda/isa.rst (registers, memory addressing), data.rst (address registers)
// and envydis/g80.c (operands of g[]).
//
// A base that is a shift by a constant, and nothing else, is computed in an address register right away. Of
// the others, values that several blocks need keep an address register from their definition on where four
// suffice, those of the innermost loops first; the rest get one where a block needs it and keep it as long
// as the block needs no others.
#include <algorithm>
#include <bit>
#include <map>

#include "isa/lowering/dominance.h"
#include "isa/lowering/liveness.h"

namespace gpusim::isa::lir {
namespace {

constexpr uint32_t kAddressRegisters = 4;

bool is_indexed(const Op& op) {
  if (!op.is_memory() || !op.memory.has_base || op.src[0].is_literal()) return false;
  return op.memory.space == Space::kShared || op.memory.space == Space::kLocal ||
         op.memory.space == Space::kConst;
}

bool is_shift(const Op& op) {
  if (op.kind != OpKind::kAlu || op.guard != kNoVar || op.op_class != OpClass::kInt || op.num_src != 2)
    return false;
  if (!op.src[1].is_literal()) return false;
  const auto opcode = static_cast<Opcode>(op.opcode());
  return opcode == Opcode::kShl || (opcode == Opcode::kMul && std::has_single_bit(op.src[1].bits));
}

/// v = v + constant.
bool is_increment(const Op& op) {
  const auto opcode = static_cast<Opcode>(op.opcode());
  return op.kind == OpKind::kAlu && (opcode == Opcode::kAdd || opcode == Opcode::kSub) &&
         is_integer(op.type) && op.num_src == 2 && op.num_dst == 1 && !op.src[0].is_literal() &&
         op.src[0].var == op.dst[0] && op.src[1].is_literal();
}

class AddressRegisters {
 public:
  AddressRegisters(Program& program, const Flow& flow, SimdLevel level)
      : program_(program),
        flow_(flow),
        level_(level),
        uses_(program.vars.size()),
        held_(program.blocks.size(), 0),
        register_of_(program.vars.size(), kNoVar) {}

  void run() {
    find_uses();
    choose();
    for (uint32_t b = 0; b < program_.blocks.size(); ++b) rebuild(b);
  }

 private:
  /// How one variable is used.
  struct Uses {
    std::vector<uint32_t> blocks;  ///< those that use it as a base, each once
    std::vector<uint32_t> defined_in;
    uint32_t defs = 0, shifts = 0, increments = 0, others = 0;  ///< others: readers of its value
    bool settled = false;                                       ///< it is an address register itself
  };
  struct Held {
    Var base = kNoVar, address = kNoVar;
  };

  /// Calls fn(access) for the access that `op` is or has.
  template <class Fn>
  void each_access(Op& op, Fn fn) {
    fn(op);
    if (op.folded != kNone) fn(program_.folded[op.folded]);
  }
  [[nodiscard]] bool needs_register(const Op& op) const {
    return is_indexed(op) && op.src[0].var != program_.stack_pointer;
  }

  void find_uses() {
    for (uint32_t b = 0; b < program_.blocks.size(); ++b) {
      for (Op& op : program_.blocks[b].ops) {
        each_access(op, [&](Op& access) {
          const bool indexed = needs_register(access);
          if (indexed) {
            std::vector<uint32_t>& blocks = uses_[access.src[0].var].blocks;
            if (blocks.empty() || blocks.back() != b) blocks.push_back(b);
          }
          const bool own = is_increment(access);
          for (int i = 0; i < access.num_src; ++i) {
            if (!access.src[i].is_literal() && !(indexed && i == 0) && !(own && i == 0))
              ++uses_[access.src[i].var].others;
          }
        });
        for_each_def(op, [&](Var v) {
          Uses& u = uses_[v];
          ++u.defs;
          u.shifts += is_shift(op) ? 1 : 0;
          const bool more = is_increment(op);
          u.increments += more ? 1 : 0;
          if (!more) u.defined_in.push_back(b);
        });
      }
    }
  }

  void choose() {
    const SsaValues ssa(program_, flow_);
    const std::vector<double> weights = block_weights(program_);
    std::vector<std::pair<double, Var>> crossing;
    for (Var v = 0; v < uses_.size(); ++v) {
      Uses& u = uses_[v];
      if (u.blocks.empty()) continue;
      u.settled = u.others == 0 && (u.shifts == u.defs || u.increments != 0);
      if (u.settled) {
        for (const uint32_t b : range(u)) ++held_[b];
        continue;
      }
      if (!ssa.is_value(v) || (u.blocks.size() == 1 && u.blocks[0] == u.defined_in[0])) continue;
      double weight = 0;
      for (const uint32_t b : u.blocks) weight += weights[b];
      crossing.emplace_back(-weight, v);
    }
    std::ranges::sort(crossing);
    for (const auto& [weight, v] : crossing) {
      const std::vector<uint32_t> blocks = range(uses_[v]);
      if (!std::ranges::all_of(blocks, [&](uint32_t b) { return held_[b] < kAddressRegisters; })) continue;
      for (const uint32_t b : blocks) ++held_[b];
      register_of_[v] = new_var(v);
    }
  }

  /// The blocks in which a variable that several blocks use as a base is alive for that.
  [[nodiscard]] std::vector<uint32_t> range(const Uses& u) const {
    if (u.blocks.size() == 1 && u.increments == 0 && u.blocks == u.defined_in) return {};
    std::vector<bool> seen(program_.blocks.size(), false);
    std::vector<uint32_t> found = u.blocks;
    for (const uint32_t b : found) seen[b] = true;
    for (size_t i = 0; i < found.size(); ++i) {
      if (std::ranges::find(u.defined_in, found[i]) != u.defined_in.end()) continue;
      for (const auto& [from, to] : flow_.edges) {
        if (to != found[i] || seen[from]) continue;
        seen[from] = true;
        found.push_back(from);
      }
    }
    return found;
  }

  void rebuild(uint32_t b) {
    std::vector<Op> ops;
    ops.swap(program_.blocks[b].ops);
    out_ = &program_.blocks[b].ops;
    out_->reserve(ops.size());
    find_positions(ops);
    local_.clear();
    sums_.clear();
    slots_ = kAddressRegisters - std::min(held_[b], kAddressRegisters - 1);
    for (uint32_t i = 0; i < ops.size(); ++i) {
      each_access(ops[i], [&](Op& access) {
        if (needs_register(access))
          index(access, i);
        else if (access.is_memory() && access.memory.space == Space::kGlobal)
          add_offset(access);
      });
      out_->push_back(ops[i]);
      for_each_def(ops[i], [&](Var v) { written(v, ops[i]); });
    }
  }

  void find_positions(std::vector<Op>& ops) {
    positions_.clear();
    for (uint32_t i = 0; i < ops.size(); ++i) {
      each_access(ops[i], [&](Op& access) {
        if (needs_register(access)) positions_[access.src[0].var].push_back(i);
      });
    }
  }

  void index(Op& access, uint32_t at) {
    const Var base = access.src[0].var;
    if (uses_[base].settled) return;
    if (register_of_[base] != kNoVar) {
      access.src[0].var = register_of_[base];
      return;
    }
    auto held = std::ranges::find(local_, base, &Held::base);
    if (held == local_.end()) {
      if (local_.size() == slots_) local_.erase(latest(at));
      local_.push_back({base, new_var(base)});
      held = local_.end() - 1;
      to_register(base, held->address, access);
    }
    access.src[0].var = held->address;
  }
  /// The one that is needed again last.
  std::vector<Held>::iterator latest(uint32_t at) {
    return std::ranges::max_element(local_, {}, [&](const Held& held) {
      const std::vector<uint32_t>& all = positions_[held.base];
      const auto next = std::ranges::upper_bound(all, at);
      return next == all.end() ? ~0u : *next;
    });
  }

  void add_offset(Op& access) {
    if (!access.memory.has_base || access.src[0].is_literal() || access.memory.offset == 0) return;
    const Var base = access.src[0].var;
    Var& sum = sums_.try_emplace({base, access.memory.offset}, kNoVar).first->second;
    if (sum == kNoVar) {
      sum = new_var(base);
      const bool wide = program_.vars[base] == VarClass::kRow64;
      Value offset{kNoVar, wide, static_cast<uint64_t>(access.memory.offset)};
      if (!wide) offset.bits &= 0xffffffffu;
      offset.object = access.memory.object;
      emit(form_key(Opcode::kAdd, wide ? Type::kU64 : Type::kU32), sum, {base, wide, 0}, offset, access);
    }
    access.src[0].var = sum;
    access.memory.offset = 0;
    access.memory.object = kNoObject;
  }

  /// After the operation that writes `v`.
  void written(Var v, const Op& op) {
    if (register_of_[v] != kNoVar) to_register(v, register_of_[v], op);
    const Uses& u = uses_[v];
    if (u.settled && !is_shift(op) && !is_increment(op)) to_register(v, new_var(v), op);
    std::erase_if(local_, [&](const Held& held) { return held.base == v; });
    std::erase_if(sums_, [&](const auto& sum) { return sum.first.first == v; });
  }

  void to_register(Var base, Var address, const Op& at) {
    const bool wide = program_.vars[base] == VarClass::kRow64;
    emit(form_key(Opcode::kShl, wide ? Type::kB64 : Type::kB32), address, {base, wide, 0}, {kNoVar, false, 0},
         at);
  }
  void emit(uint64_t key, Var result, const Value& a, const Value& b, const Op& at) {
    const SemanticRow* row = find_form(key, level_);
    Op op;
    op.key = key;
    op.kind = OpKind::kAlu;
    op.op_class = OpClass::kInt;
    op.exec = row->exec;
    op.type = static_cast<Type>((key >> 40) & 0xff);
    op.dst[op.num_dst++] = result;
    op.src[op.num_src++] = a;
    op.src[op.num_src++] = b;
    op.ptx_index = at.ptx_index;
    op.scope = at.scope;
    out_->push_back(op);
  }
  Var new_var(Var like) {
    const bool wide = program_.vars[like] == VarClass::kRow64;
    return program_.new_var(wide ? VarClass::kWideAside : VarClass::kAside);
  }

  Program& program_;
  const Flow& flow_;
  SimdLevel level_;
  std::vector<Uses> uses_;
  std::vector<uint32_t> held_;    // of each block, address registers that several blocks need
  std::vector<Var> register_of_;  // of each variable, its address register from its definition on
  // Of a block
  std::vector<Op>* out_ = nullptr;
  std::map<Var, std::vector<uint32_t>> positions_;  // of each base
  std::vector<Held> local_;
  uint32_t slots_ = kAddressRegisters;
  std::map<std::pair<Var, int64_t>, Var> sums_;
};

}  // namespace

void use_address_registers(Program& program, const Flow& flow, SimdLevel level) {
  AddressRegisters(program, flow, level).run();
}

}  // namespace gpusim::isa::lir
