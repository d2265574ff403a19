// Joins two operations into one where the machine has an instruction for both (compute capability 7.0 and up,
// where multiply-add is as fast as add): a product or a shift by a constant and an addition become a
// multiply-add (of 32 bits, or of 32 x 32 + 64 bits for addresses), bitwise operations of up to three values
// become a lop3, two opposite shifts of a value become a rotation, a
// comparison and the logic on its predicate become one comparison, a mask and its comparison with zero become
// a test of bits, such tests of one byte become one (r2p), and a negated predicate is read as such. Only
// integers and predicates: every result has the same bits. The first operation stays for its other readers;
// remove_dead_code() takes it away if there are none.
#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "isa/lowering/dominance.h"
#include "isa/lowering/lir.h"
#include "isa/lowering/loop_nest.h"

namespace gpusim::isa::lir {
namespace {

Opcode opcode_of(const Op& op) { return static_cast<Opcode>(op.opcode()); }
uint32_t variant_of(const Op& op) { return static_cast<uint32_t>(op.key); }
Type type2_of(const Op& op) { return static_cast<Type>((op.key >> 32) & 0xff); }

bool is_alu(const Op& op, Opcode opcode) { return op.kind == OpKind::kAlu && opcode_of(op) == opcode; }
bool is_word(Type t) { return t == Type::kU32 || t == Type::kS32; }

class Fuser {
 public:
  Fuser(Program& program, const Flow& flow, SimdLevel level)
      : program_(program),
        level_(level),
        ssa_(program, flow),
        loops_(program),
        readers_(program.vars.size(), 0),
        writer_(program.vars.size(), nullptr),
        written_in_(program.vars.size(), 0),
        written_at_(program.vars.size(), 0) {
    for (uint32_t b = 0; b < program.blocks.size(); ++b) {
      for (Op& op : program.blocks[b].ops) {
        for_each_use(op, [&](Var v) { ++readers_[v]; });
        for_each_def(op, [&](Var v) {
          if (!ssa_.is_value(v)) return;
          writer_[v] = &op;
          written_in_[v] = b;
        });
      }
    }
  }

  void run() {
    for (block_ = 0; block_ < program_.blocks.size(); ++block_) {
      Block& block = program_.blocks[block_];
      block_start_ = now_ + 1;
      for (Op& op : block.ops) {
        ++now_;
        read_negated(op);
        if (op.kind == OpKind::kAlu) {
          const bool logic = is_alu(op, Opcode::kAnd) || is_alu(op, Opcode::kOr) || is_alu(op, Opcode::kXor);
          if (logic && op.type == Type::kPred) {
            fuse_predicates(op);
          } else if ((logic || is_alu(op, Opcode::kAdd)) && !fuse_rotation(op)) {
            logic ? fuse_logic(op) : fuse_add(op);
          } else if (is_alu(op, Opcode::kLop3)) {
            fuse_logic(op);
          }
          if (is_alu(op, Opcode::kSetp)) fuse_test(op);
        }
        for_each_def(op, [&](Var v) {
          written_at_[v] = now_;
          written_in_[v] = block_;
          if (!ssa_.is_value(v)) writer_[v] = op.guard == kNoVar ? &op : nullptr;
        });
      }
      join_tests(block);
      for (const Op& op : block.ops) {  // what is no SSA value is followed within its block only
        for_each_def(op, [&](Var v) {
          if (!ssa_.is_value(v)) writer_[v] = nullptr;
        });
      }
    }
  }

 private:
  /// The operation that wrote `v`, if what it read is still the same here.
  const Op* source(const Value& v) const { return v.is_literal() ? nullptr : source(v.var); }
  const Op* source(Var v) const {
    const Op* from = writer_[v];
    if (from == nullptr || from->guard != kNoVar || from->kind != OpKind::kAlu || from->folded != kNone)
      return nullptr;
    const bool here = written_at_[v] >= block_start_;
    bool same = true;
    for_each_use(*from, [&](Var u) {
      same = same && (ssa_.is_value(u) || (here && written_at_[u] < written_at_[v]));
    });
    return same ? from : nullptr;
  }

  /// An operation on two values of threads in front of a loop that `v`, its result, is read in: ptxas leaves
  /// it there, while one with a number or a parameter becomes part of what reads it.
  [[nodiscard]] bool stays_before_loop(const Op& from, Var v) const {
    const auto in_register = [&](const Value& s) {
      return !s.is_literal() && (writer_[s.var] == nullptr || !recomputable(*writer_[s.var]));
    };
    return std::count_if(from.src.begin(), from.src.begin() + from.num_src, in_register) > 1 &&
           loops_.enters(written_in_[v], block_);
  }

  bool set_form(Op& op, uint64_t key) const {
    const SemanticRow* row = find_form(key, level_);
    if (row == nullptr) return false;
    op.key = key;
    op.exec = row->exec;
    op.op_class = row->op_class;
    op.type = static_cast<Type>((key >> 40) & 0xff);
    return true;
  }

  void fuse_add(Op& op) {
    if (op.num_src != 2 || variant_of(op) != 0 || type2_of(op) != Type::kNone) return;
    for (int i = 0; i < 2; ++i) {
      const Op* from = source(op.src[i]);
      if (from == nullptr || stays_before_loop(*from, op.src[i].var)) continue;
      if (op.type == Type::kU64 || op.type == Type::kS64 ? fuse_wide(op, *from, i)
                                                         : is_word(op.type) && fuse_word(op, *from, i))
        return;
    }
  }

  /// 64-bit sum of `rest` and a product of two words, or of an extended word shifted left. One of 64 bits, if
  /// nobody else reads it: the instruction that multiplies its lower words adds 64 bits.
  bool fuse_wide(Op& op, const Op& from, int i) {
    const Value rest = op.src[1 - i];
    Value a, b;
    Type type = Type::kNone;
    if (is_alu(from, Opcode::kMul) && variant_of(from) == 0 && type_bytes(from.type) == 8 &&
        !is_float(from.type) && readers_[op.src[i].var] == 1) {
      if (!set_form(op, form_key(Opcode::kMad, from.type))) return false;
      op.joined = static_cast<uint8_t>(op.joined + 1);
      set_sources(op, {from.src[0], from.src[1], rest});
      return true;
    }
    if (is_alu(from, Opcode::kMul) && variant_of(from) == kVarWide && is_word(from.type)) {
      type = from.type;
      a = from.src[0];
      b = from.src[1];
    } else if (is_alu(from, Opcode::kShl) && from.num_src == 2 && from.src[1].is_literal() &&
               from.src[1].bits < 31) {
      const Op* extended = source(from.src[0]);
      if (extended == nullptr || !is_alu(*extended, Opcode::kCvt) || variant_of(*extended) != 0) return false;
      const bool widens = extended->type == Type::kS64 || extended->type == Type::kU64;
      if (!widens || !is_word(type2_of(*extended))) return false;
      type = type2_of(*extended);
      a = extended->src[0];
      b = Value{kNoVar, false, uint64_t{1} << from.src[1].bits};
    }
    if (type == Type::kNone || !set_form(op, form_key(Opcode::kMad, type, Type::kNone, kVarWide)))
      return false;
    op.joined = static_cast<uint8_t>(op.joined + (is_alu(from, Opcode::kMul) ? 1 : 2));
    set_sources(op, {a, b, rest});
    return true;
  }

  bool fuse_word(Op& op, const Op& from, int i) {
    if (readers_[op.src[i].var] != 1) return false;
    Value b;
    if (is_alu(from, Opcode::kMul) && variant_of(from) == 0 && is_word(from.type))
      b = from.src[1];
    else if (is_alu(from, Opcode::kShl) && type_bytes(from.type) == 4 && from.src[1].is_literal() &&
             from.src[1].bits < 32)
      b = Value{kNoVar, false, uint64_t{1} << from.src[1].bits};
    else
      return false;
    const Value rest = op.src[1 - i];
    const bool shifts = is_alu(from, Opcode::kShl);
    if (!set_form(op, form_key(Opcode::kMad, op.type))) return false;
    if (shifts) ++op.joined;
    set_sources(op, {from.src[0], b, rest});
    return true;
  }

  /// The sum, or the union, of a value's shifts to the left by n and to the right by its width less n.
  bool fuse_rotation(Op& op) {
    if (op.num_src != 2 || variant_of(op) != 0 || type2_of(op) != Type::kNone || is_float(op.type) ||
        is_alu(op, Opcode::kAnd))
      return false;
    const int bytes = type_bytes(op.type);
    if (bytes != 4 && bytes != 8) return false;
    for (int i = 0; i < 2; ++i) {
      const Op *left = source(op.src[i]), *right = source(op.src[1 - i]);
      if (left == nullptr || right == nullptr || !is_alu(*left, Opcode::kShl) ||
          !is_alu(*right, Opcode::kShr))
        continue;
      if (type_bytes(left->type) != bytes || type_bytes(right->type) != bytes || is_signed(right->type))
        continue;
      if (left->src[0].is_literal() || left->src[0].var != right->src[0].var) continue;
      if (!left->src[1].is_number() || !right->src[1].is_number()) continue;
      const uint64_t n = left->src[1].bits;
      const auto width = static_cast<uint64_t>(bytes) * 8;
      if (n == 0 || n >= width || n + right->src[1].bits != width) continue;
      const Value rotated = left->src[0], amount = left->src[1];
      if (!set_form(op, form_key(Opcode::kShf, bytes == 8 ? Type::kB64 : Type::kB32, Type::kNone, kVarFull)))
        return false;
      bytes == 8 ? set_sources(op, {rotated, amount}) : set_sources(op, {rotated, rotated, amount});
      op.joined = static_cast<uint8_t>(op.joined + 2);
      return true;
    }
    return false;
  }

  static uint64_t truth(Opcode opcode, uint64_t a, uint64_t b) {
    return opcode == Opcode::kAnd ? a & b : opcode == Opcode::kOr ? a | b : a ^ b;
  }

  /// A bitwise function of up to three values; the table is indexed by a << 2 | b << 1 | c.
  struct Logic {
    std::array<Value, 3> of{};
    size_t inputs = 0;
    uint64_t table = 0;
    [[nodiscard]] bool at(size_t bits) const { return (table >> bits & 1) != 0; }
    [[nodiscard]] bool depends_on(size_t input) const {
      for (size_t bits = 0; bits < 8; ++bits) {
        if (at(bits) != at(bits ^ size_t{4} >> input)) return true;
      }
      return false;
    }
  };
  static bool same(const Value& a, const Value& b) {
    if (!a.is_literal() || !b.is_literal()) return a.var == b.var;
    return a.bits == b.bits && a.launch_constant == b.launch_constant && a.object == b.object;
  }
  static std::optional<Logic> logic_of(const Op& op) {
    if (op.type == Type::kPred || op.pred_dst[0] != kNoVar) return std::nullopt;
    const auto opcode = opcode_of(op);
    Logic f;
    if (opcode == Opcode::kLop3) {
      f.table = op.imm & 0xff;
    } else if (opcode == Opcode::kNot) {
      f.table = 0x0f;
    } else if (opcode == Opcode::kAnd || opcode == Opcode::kOr || opcode == Opcode::kXor) {
      f.table = truth(opcode, 0xf0, 0xcc);
    } else {
      return std::nullopt;
    }
    f.inputs = op.num_src;
    std::copy_n(op.src.begin(), f.inputs, f.of.begin());
    return f;
  }

  /// `outer` with `inner` in the place of its input `place`, if three values are enough for both.
  static std::optional<Logic> nested(const Logic& outer, size_t place, const Logic& inner) {
    Logic all;
    const auto input = [&](const Value& v) {
      auto* const end = all.of.begin() + all.inputs;
      auto* const found = std::find_if(all.of.begin(), end, [&](const Value& w) { return same(v, w); });
      if (found != end) return static_cast<size_t>(found - all.of.begin());
      if (all.inputs < all.of.size()) all.of[all.inputs] = v;
      return all.inputs++;
    };
    std::array<size_t, 3> of_outer{}, of_inner{};
    for (size_t i = 0; i < outer.inputs; ++i)
      of_outer[i] = i != place && outer.depends_on(i) ? input(outer.of[i]) : 0;
    for (size_t i = 0; i < inner.inputs; ++i) of_inner[i] = inner.depends_on(i) ? input(inner.of[i]) : 0;
    if (all.inputs > all.of.size()) return std::nullopt;
    for (size_t bits = 0; bits < 8; ++bits) {
      size_t in = 0, out = 0;
      for (size_t i = 0; i < inner.inputs; ++i) in |= (bits >> (2 - of_inner[i]) & 1) << (2 - i);
      for (size_t i = 0; i < outer.inputs; ++i) {
        const size_t bit = i == place ? size_t{inner.at(in)} : bits >> (2 - of_outer[i]) & 1;
        out |= bit << (2 - i);
      }
      all.table |= uint64_t{outer.at(out)} << bits;
    }
    return all;
  }

  /// Bitwise operations whose results only this one reads become part of it: one lop3.
  void fuse_logic(Op& op) {
    const int bytes = type_bytes(op.type);
    std::optional<Logic> f = logic_of(op);
    if (!f || (bytes != 4 && bytes != 8)) return;
    std::vector<const Op*> joined_ops;
    for (size_t i = 0; i < f->inputs;) {
      const Value& v = f->of[i];
      const Op* from = source(v);
      if (from != nullptr &&
          (readers_[v.var] != 1 || type_bytes(from->type) != bytes || stays_before_loop(*from, v.var)))
        from = nullptr;
      const std::optional<Logic> inner = from == nullptr ? std::nullopt : logic_of(*from);
      const std::optional<Logic> joined = inner ? nested(*f, i, *inner) : std::nullopt;
      if (joined) {
        f = joined;
        joined_ops.push_back(from);
        i = 0;
      } else {
        ++i;
      }
    }
    if (joined_ops.empty() || !set_form(op, form_key(Opcode::kLop3, bytes == 8 ? Type::kB64 : Type::kB32)))
      return;
    const Value none{kNoVar, bytes == 8, 0};
    set_sources(op, {f->of[0], f->inputs > 1 ? f->of[1] : none, f->inputs > 2 ? f->of[2] : none});
    op.imm = f->table;
    for (const Op* from : joined_ops) {  // it goes
      op.joined = static_cast<uint8_t>(op.joined + from->joined + 1);
      for_each_use(*from, [&](Var v) { --readers_[v]; });
    }
  }

  static constexpr uint64_t kTestKey =
      form_key(Opcode::kSetp, Type::kB32, Type::kNone, compare_variant(CompareOp::kNe));
  static constexpr uint64_t kTestNegated = 0x100;  ///< of Op::imm, for the first predicate

  /// (a & mask) compared with zero, or with the mask if that is one bit.
  void fuse_test(Op& op) {
    if (type_bytes(op.type) != 4 || !is_integer(op.type) || op.num_src != 2 || op.pred_dst[1] != kNoVar)
      return;
    const bool equal = variant_of(op) == compare_variant(CompareOp::kEq);
    if (!equal && variant_of(op) != compare_variant(CompareOp::kNe)) return;
    if (!op.src[1].is_literal() || op.src[1].launch_constant != kNone) return;
    const Op* from = source(op.src[0]);
    if (from == nullptr || !is_alu(*from, Opcode::kAnd) || type_bytes(from->type) != 4 ||
        readers_[op.src[0].var] != 1)
      return;
    const Value mask = from->src[1];
    const auto compared = static_cast<uint32_t>(op.src[1].bits);
    const bool with_bit = mask.is_literal() && mask.launch_constant == kNone &&
                          std::has_single_bit(compared) && static_cast<uint32_t>(mask.bits) == compared;
    if (compared != 0 && !with_bit) return;
    const uint64_t combined = op.imm;
    if (!set_form(op, kTestKey)) return;
    op.joined = static_cast<uint8_t>(op.joined + from->joined + 1);
    set_sources(op, {from->src[0], mask});
    op.imm = combined | (equal != with_bit ? kTestNegated : 0);
  }

  /// A byte of which `op` tests one of the lower seven bits, or kNone.
  uint32_t tested_byte(const Op& op) const {
    if (op.kind != OpKind::kAlu || op.key != kTestKey || op.guard != kNoVar || (op.imm & 0xff) != 0 ||
        op.pred_dst[1] != kNoVar || op.src[0].is_literal() || !op.src[1].is_literal() ||
        op.src[1].launch_constant != kNone || !ssa_.is_value(op.pred_dst[0]))
      return kNone;
    const auto mask = static_cast<uint32_t>(op.src[1].bits);
    if (!std::has_single_bit(mask)) return kNone;
    const auto bit = static_cast<uint32_t>(std::countr_zero(mask));
    return bit % 8 == 7 ? kNone : bit / 8;
  }

  /// r2p makes up to seven predicates of one byte.
  void join_tests(Block& block) {
    for (size_t i = 0; i < block.ops.size(); ++i) {
      Op& first = block.ops[i];
      const uint32_t byte = tested_byte(first);
      if (byte == kNone) continue;
      const Var tested = first.src[0].var;
      size_t tests = 1;
      for (size_t j = i + 1; j < block.ops.size() && tests < first.pred_dst.size(); ++j) {
        Op& next = block.ops[j];
        if (tested_byte(next) == byte && next.src[0].var == tested) {
          first.src[first.num_src++] = next.src[1];
          first.pred_dst[tests] = next.pred_dst[0];
          if ((next.imm & kTestNegated) != 0) first.imm |= kTestNegated << tests;
          for_each_use(next, [&](Var v) { --readers_[v]; });
          next.kind = OpKind::kNop;
          ++tests;
        }
        bool changes = false;
        for_each_def(next, [&](Var v) { changes = changes || v == tested; });
        if (changes) break;
      }
    }
  }

  /// p = (a cmp b) op q: the comparison itself takes q.
  void fuse_predicates(Op& op) {
    for (size_t i = 0; i < 2; ++i) {
      const Var p = op.pred_src[i], q = op.pred_src[1 - i];
      if (p == kNoVar || q == kNoVar || p == q || op.pred_negated[i] || readers_[p] != 1) continue;
      const Op* compare = source(p);
      if (compare == nullptr || !is_alu(*compare, Opcode::kSetp) || (compare->imm & 0xff) != 0 ||
          compare->pred_dst[0] != p || compare->pred_dst[1] != kNoVar)
        continue;
      const BoolOp with = is_alu(op, Opcode::kAnd)  ? BoolOp::kAnd
                          : is_alu(op, Opcode::kOr) ? BoolOp::kOr
                                                    : BoolOp::kXor;
      const bool negated = op.pred_negated[1 - i];
      Op joined = *compare;
      joined.pred_dst = op.pred_dst;
      joined.pred_src = {q, kNoVar, kNoVar};
      joined.pred_negated = {negated, false, false};
      joined.imm = compare->imm | static_cast<uint64_t>(with);
      joined.guard = op.guard;
      joined.guard_negated = op.guard_negated;
      joined.counts_guarded = op.counts_guarded;
      joined.writes_all = op.writes_all;
      joined.scope = op.scope;
      joined.ptx_index = op.ptx_index;
      joined.ptx_count = op.ptx_count;
      joined.joined = static_cast<uint8_t>(compare->joined + op.joined + 1);
      for_each_use(joined, [&](Var v) { ++readers_[v]; });
      for_each_use(op, [&](Var v) { --readers_[v]; });
      op = joined;
      return;
    }
  }

  /// Reads p instead of q where q = !p.
  void read_negated(Op& op) {
    const auto follow = [&](Var& v, bool& negated) {
      if (v == kNoVar) return;
      const Op* from = source(v);
      if (from == nullptr || !is_alu(*from, Opcode::kNot) || from->type != Type::kPred ||
          from->pred_src[0] == kNoVar)
        return;
      --readers_[v];
      v = from->pred_src[0];
      ++readers_[v];
      negated = negated == from->pred_negated[0];
    };
    follow(op.guard, op.guard_negated);
    for (size_t i = 0; i < op.pred_src.size(); ++i) {
      if (op.kind == OpKind::kAlu) follow(op.pred_src[i], op.pred_negated[i]);
    }
  }

  void set_sources(Op& op, std::initializer_list<Value> sources) {
    for_each_use(op, [&](Var v) { --readers_[v]; });
    op.num_src = 0;
    for (const Value& v : sources) op.src[op.num_src++] = v;
    for_each_use(op, [&](Var v) { ++readers_[v]; });
  }

  Program& program_;
  SimdLevel level_;
  SsaValues ssa_;
  LoopNest loops_;
  uint32_t block_ = 0;  // that run() is at
  std::vector<uint32_t> readers_;
  std::vector<Op*> writer_;           // SSA values; others while their block is looked at
  std::vector<uint32_t> written_in_;  // block
  std::vector<uint32_t> written_at_;  // when run() passed the last write
  uint32_t now_ = 0, block_start_ = 0;
};

}  // namespace

void fuse_operations(Program& program, const Flow& flow, SimdLevel level) {
  Fuser(program, flow, level).run();
}

}  // namespace gpusim::isa::lir
