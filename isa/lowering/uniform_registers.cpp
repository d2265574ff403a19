// Which values ptxas keeps in uniform registers, of which a warp has one for all lanes (7.5 and up): they
// take none of a thread's. Found with probes: integer arithmetic on constants of the launch, the block's
// number and such values, if nothing but arithmetic reads its result. An operation on registers of threads
// has one operand that is something else, so a value stays where another operand of a reader is a constant,
// and where its reader would be one instruction with it (a sum of three, a shifted sum). Counters of loops
// stay too. On 7.5 a global access takes its whole address from a uniform register, so addresses are among
// them, and pointers that a loop moves on; from 8.0 on the address goes through a thread's registers.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "isa/lowering/dominance.h"
#include "isa/lowering/lir.h"
#include "isa/lowering/liveness.h"
#include "isa/lowering/loop_nest.h"
#include "isa/lowering/uniformity.h"

namespace gpusim::isa::lir {
namespace {

/// From here on the block's number goes to a uniform register wherever it may.
constexpr int kNumbersUniformFrom = 90;
/// Before that, an access may take its whole address from a uniform register; later ones add it to a
/// thread's.
constexpr int kThreadAddressesFrom = 80;

bool is_of_whole_words(Type t) {
  return t == Type::kB32 || t == Type::kB64 || (is_integer(t) && type_bytes(t) >= 4 && !is_packed16(t));
}

bool has_uniform_form(const Op& op) {
  if (op.kind != OpKind::kAlu || op.guard != kNoVar || op.folded != kNone || op.whole_warp ||
      op.num_dst != 1 || op.num_src == 0 || !is_of_whole_words(op.type))
    return false;
  const auto no_var = [](Var v) { return v == kNoVar; };
  if (!std::ranges::all_of(op.pred_src, no_var) || !std::ranges::all_of(op.pred_dst, no_var)) return false;
  switch (static_cast<Opcode>(op.opcode())) {
    case Opcode::kAdd:
    case Opcode::kSub:
    case Opcode::kMul:
    case Opcode::kMad:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kNot:
    case Opcode::kNeg:
    case Opcode::kMin:
    case Opcode::kMax:
    case Opcode::kShl:
    case Opcode::kShr:
    case Opcode::kLop3:
      return true;
    case Opcode::kCvt:
      return is_of_whole_words(static_cast<Type>((op.key >> 32) & 0xff));
    default:
      return false;
  }
}

/// It is there for all lanes at once: a parameter, or a special register that is equal in a block of threads.
bool is_source(const Op& op) { return recomputable(op) && (op.kind == OpKind::kLoad || op.num_src == 0); }

bool is_plain_move(const Op& op) {
  return op.kind == OpKind::kAlu && op.guard == kNoVar && op.num_src == 1 && op.num_dst == 1 &&
         !op.whole_warp && static_cast<Opcode>(op.opcode()) == Opcode::kMov && is_of_whole_words(op.type);
}

bool is_integer_sum(const Op& op) {
  const auto opcode = static_cast<Opcode>(op.opcode());
  return op.kind == OpKind::kAlu && (opcode == Opcode::kAdd || opcode == Opcode::kSub) && is_integer(op.type);
}

/// An access to global memory whose address begins with a register.
bool has_register_address(const Op& op) {
  return op.is_memory() && op.memory.has_base && !op.src[0].is_literal() &&
         (op.memory.space == Space::kGlobal || op.memory.space == Space::kGeneric);
}

class Finder {
 public:
  /// `carries`: addresses that are made in front of a loop may stay.
  Finder(const Program& program, const Flow& flow, bool carries)
      : program_(program),
        uniform_(program.vars.size(), false),
        carried_(program.vars.size(), false),
        readers_(program.vars.size(), 0),
        made_(program.vars.size(), nullptr),
        made_in_(program.vars.size(), 0),
        loops_(program) {
    const SsaValues ssa(program, flow);
    if (uniform_addresses()) find_pointers(flow, ssa);
    named_by_.resize(program.vars.size());
    for (uint32_t b = 0; b < program.blocks.size(); ++b) {
      for (const Op& op : program.blocks[b].ops) {
        const auto number = static_cast<uint32_t>(ops_.size());
        ops_.push_back(&op);
        in_block_.push_back(b);
        for_each_use(op, [&](Var v) { ++readers_[v]; });
        for_each_use(op, [&](Var v) { named_by_[v].push_back(number); });
        for_each_def(op, [&](Var v) { named_by_[v].push_back(number); });
        if (op.num_dst != 1 || op.dst[0] == kNoVar || !ssa.is_value(op.dst[0])) continue;
        uniform_[op.dst[0]] = is_source(op) || has_uniform_form(op);
        made_[op.dst[0]] = &op;
        made_in_[op.dst[0]] = b;
      }
    }
    if (carries) find_carried(ssa);
  }

  std::vector<bool> run() {
    for (uint32_t n = 0; n < ops_.size(); ++n) {
      due_.insert(due_.end(), n);
      if (const uint64_t factor = uniform_addresses() ? factor_in_register(*ops_[n]) : 0; factor != 0)
        products_[factor].push_back(n);
    }
    for (; !due_.empty(); due_.swap(due_again_)) {
      while (!due_.empty()) {
        at_ = *due_.begin();
        due_.erase(due_.begin());
        visit(*ops_[at_]);
      }
    }
    return std::move(uniform_);
  }

 private:
  [[nodiscard]] bool uniform_addresses() const { return program_.machine_capability < kThreadAddressesFrom; }

  /// What is written several times, such as a pointer that a loop moves on, is a candidate where each write
  /// could be one of a uniform register and all lanes of a warp agree.
  void find_pointers(const Flow& flow, const SsaValues& ssa) {
    std::vector<bool> fits(program_.vars.size(), true), written(program_.vars.size(), false);
    const std::vector<bool> divergent = find_divergence(program_, flow).variables;
    for (const Block& block : program_.blocks) {
      for (const Op& op : block.ops) {
        const bool may = is_source(op) || has_uniform_form(op) || is_plain_move(op);
        for_each_def(op, [&](Var v) {
          written[v] = true;
          fits[v] = fits[v] && may && register_width(program_.vars[v]) > 0;
        });
      }
    }
    for (Var v = 0; v < fits.size(); ++v)
      uniform_[v] = written[v] && fits[v] && !divergent[v] && !ssa.is_value(v);
  }

  /// The bases of accesses in loops that are written in front of them.
  void find_carried(const SsaValues& ssa) {
    for (uint32_t b = 0; b < program_.blocks.size(); ++b) {
      for (const Op& op : program_.blocks[b].ops) {
        if (!has_register_address(op) || !ssa.is_value(op.src[0].var)) continue;
        if (loops_.enters(made_in_[op.src[0].var], b)) carried_[op.src[0].var] = true;
      }
    }
  }

  /// Those that name `v` are visited again, in this round or in the next: what an operation keeps depends on
  /// what the ones before it left.
  void demote(Var v) {
    if (!uniform_[v]) return;
    uniform_[v] = false;
    for (const uint32_t n : named_by_[v]) visit_again(n);
  }
  void visit_again(uint32_t n) { (n > at_ ? due_ : due_again_).insert(n); }
  [[nodiscard]] bool is_uniform(const Value& v) const { return v.is_literal() || uniform_[v.var]; }

  void visit(const Op& op) {
    bool result = op.num_dst == 1 && op.dst[0] != kNoVar && uniform_[op.dst[0]];
    if (result && is_source(op)) return;
    if (const uint64_t factor = uniform_addresses() ? factor_in_register(op) : 0; factor != 0) {
      // Two products with one factor share its register, which is a thread's if one of them is.
      if (!result) {
        if (factors_.insert(factor).second)
          for (const uint32_t n : products_[factor]) visit_again(n);
      } else if (factors_.contains(factor)) {
        demote(op.dst[0]);
        result = false;
      }
    }
    if (result && std::all_of(op.src.begin(), op.src.begin() + op.num_src,
                              [&](const Value& v) { return is_uniform(v); }))
      return;
    if (result) demote(op.dst[0]);
    if (takes_uniform_address(op)) {
      for (int i = 1; i < op.num_src; ++i) {
        if (!op.src[i].is_literal()) demote(op.src[i].var);
      }
      return;  // predicates are in no register of a thread
    }
    if (op.kind != OpKind::kAlu || op.op_class == OpClass::kWarp || op.whole_warp || op.folded != kNone ||
        static_cast<Opcode>(op.opcode()) == Opcode::kMov) {
      for_each_use(op, [&](Var v) { demote(v); });
      return;
    }
    read(op);
  }

  /// The factor of a 64-bit product and sum that must be in a register, because the other operand that is no
  /// register of a thread is what it adds to; 0 if none.
  [[nodiscard]] uint64_t factor_in_register(const Op& op) const {
    const auto opcode = static_cast<Opcode>(op.opcode());
    if (op.kind != OpKind::kAlu || opcode != Opcode::kMad || op.num_dst != 1 || op.num_src != 3 ||
        op.dst[0] == kNoVar || register_width(program_.vars[op.dst[0]]) != 2 || !is_uniform(op.src[2]))
      return 0;
    for (int i = 0; i < 2; ++i) {
      if (op.src[i].is_literal() && op.src[i].launch_constant == kNone) return op.src[i].bits;
    }
    return 0;
  }

  /// Its base may be in a uniform register.
  [[nodiscard]] bool takes_uniform_address(const Op& op) const {
    return has_register_address(op) && uniform_[op.src[0].var] &&
           (uniform_addresses() || carried_[op.src[0].var]);
  }

  /// By an operation on registers of threads: one operand may be another thing.
  void read(const Op& op) {
    uint32_t others = 0;
    for (int i = 0; i < op.num_src; ++i) {
      const Value& v = op.src[i];
      if (v.is_literal() && (v.bits != 0 || v.launch_constant != kNone)) ++others;
    }
    Var taken = kNoVar;
    for (int i = 0; i < op.num_src; ++i) {
      const Value& v = op.src[i];
      if (v.is_literal() || !uniform_[v.var] || v.var == taken) continue;
      if (others != 0 || stays(v.var, op)) {
        demote(v.var);
        continue;
      }
      taken = v.var;
      ++others;
    }
  }

  /// Though the operand would be allowed.
  [[nodiscard]] bool stays(Var v, const Op& reader) const {
    const Op* made = made_[v];
    if (made == nullptr) return true;  // written several times
    if (is_source(*made)) {
      // A parameter that is an operand is one from the constant bank, or was kept for another reason.
      return made->kind == OpKind::kLoad || program_.machine_capability < kNumbersUniformFrom;
    }
    const bool shifts = static_cast<Opcode>(made->opcode()) == Opcode::kShl;
    return readers_[v] == 1 && is_integer_sum(reader) && (is_integer_sum(*made) || shifts) &&
           !(is_integer_sum(*made) && loops_.enters(made_in_[v], in_block_[at_]));
  }

  const Program& program_;
  std::vector<bool> uniform_, carried_;
  std::vector<uint32_t> readers_;
  std::vector<const Op*> made_;    // what is written once
  std::vector<uint32_t> made_in_;  // the block of that
  LoopNest loops_;
  std::set<uint64_t> factors_;                          // of products, in a thread's registers
  std::map<uint64_t, std::vector<uint32_t>> products_;  // by their factor
  std::vector<const Op*> ops_;
  std::vector<uint32_t> in_block_;               // of each operation
  std::vector<std::vector<uint32_t>> named_by_;  // of each variable, operations
  std::set<uint32_t> due_, due_again_;           // to be visited in this round and in the next
  uint32_t at_ = 0;
};

/// A copy in a register of a thread.
Op copy_of(const Value& address, Var copy, const Op& access, SimdLevel level) {
  Op op;
  op.key = form_key(Opcode::kMov, Type::kB64);
  op.kind = OpKind::kAlu;
  op.op_class = OpClass::kInt64;
  op.exec = find_form(op.key, level)->exec;
  op.type = Type::kB64;
  op.dst[op.num_dst++] = copy;
  op.src[op.num_src++] = address;
  op.ptx_index = access.ptx_index;
  op.scope = access.scope;
  return op;
}

/// An operation that stands for the read of a special register of each lane (aggregate_atomics.cpp).
bool stands_for_lane(const Op& op) {
  const auto is_zero = [](const Value& v) {
    return v.is_literal() && v.bits == 0 && v.launch_constant == kNone;
  };
  return op.kind == OpKind::kAlu && op.op_class == OpClass::kInt && op.num_src == 2 && op.num_dst == 1 &&
         static_cast<Opcode>(op.opcode()) == Opcode::kXor && is_zero(op.src[0]) && is_zero(op.src[1]);
}

/// Of atomic operations that one lane does for all: whether it is the one stands in a predicate, its number
/// and what it compares it with in registers of the thread, the latter only if it needs the result.
void place_aggregated(const Program& program, std::vector<bool>& uniform) {
  std::vector<const Op*> made(program.vars.size(), nullptr);
  for (const Block& block : program.blocks) {
    for (const Op& op : block.ops) {
      for_each_def(op, [&](Var v) { made[v] = &op; });
      if (stands_for_lane(op)) uniform[op.dst[0]] = false;
      if (op.kind != OpKind::kAtomic || op.memory.aggregation != MemoryOperand::Aggregation::kAlways)
        continue;
      const Value& is_one = op.src[op.num_src - 1];
      const Op* compares = is_one.is_literal() ? nullptr : made[is_one.var];
      if (compares == nullptr || compares->num_src != 2) continue;
      uniform[is_one.var] = true;
      const Value& first = compares->src[1];
      if (!first.is_literal() && made[first.var] != nullptr) uniform[first.var] = op.num_dst == 0;
    }
  }
}

}  // namespace

void find_uniform(Program& program, const Flow& flow) {
  program.uniform = Finder(program, flow, false).run();
  place_aggregated(program, program.uniform);
}

std::optional<Program> carry_addresses(const Program& program, const Flow& flow, SimdLevel level) {
  if (program.uniform.empty() || program.machine_capability < kThreadAddressesFrom) return std::nullopt;
  std::vector<bool> uniform = Finder(program, flow, true).run();
  place_aggregated(program, uniform);
  const auto is_carried = [&](const Op& op) { return has_register_address(op) && uniform[op.src[0].var]; };
  if (std::ranges::none_of(program.blocks,
                           [&](const Block& block) { return std::ranges::any_of(block.ops, is_carried); }))
    return std::nullopt;
  Program carrying = program;
  for (Block& block : carrying.blocks) {
    std::vector<Op> ops;
    ops.swap(block.ops);
    for (Op& op : ops) {
      if (is_carried(op)) {
        const Var address = op.src[0].var, copy = carrying.new_var(program.vars[address]);
        uniform.push_back(false);
        if (!carrying.narrow.empty()) carrying.narrow.push_back(program.narrow[address]);
        block.ops.push_back(copy_of(op.src[0], copy, op, level));
        op.src[0].var = copy;
      }
      block.ops.push_back(op);
    }
  }
  carrying.uniform = std::move(uniform);
  return carrying;
}

}  // namespace gpusim::isa::lir
