// Moves the computation of cheap values to where they are needed: kernel parameters, constant memory at known
// addresses, special registers that are equal in a block of threads, constants, and arithmetic on these
// alone. Compilers write them at the kernel's start; kept there they would occupy a register up to their use,
// often over a whole loop. A value moves before its first reader if all its readers are in one block that is
// no deeper in loops; it is still computed once and its PTX count stays in its old block. Done only if the
// kernel needs fewer registers then.
#include <algorithm>

#include "isa/lowering/dominance.h"
#include "isa/lowering/liveness.h"

namespace gpusim::isa::lir {
namespace {

constexpr uint32_t kSeveral = kNone - 1;

struct Place {
  uint32_t block = kNone;  ///< kSeveral: more than one block
  uint32_t op = kNone;
};

/// A read of %ctaid, %ntid and the like: the same in all threads of a block.
bool is_uniform_special(const Op& op) {
  const auto type2 = static_cast<Type>((op.key >> 32) & 0xff);
  return op.kind == OpKind::kAlu && static_cast<Opcode>(op.opcode()) == Opcode::kMov && op.num_src == 0 &&
         (op.key & kVarFull) != 0 && type2 == Type::kU32 && op.op_class != OpClass::kSpecial;
}

class Sinker {
 public:
  Sinker(Program& program, const Flow& flow)
      : program_(program),
        weights_(block_weights(program)),
        readers_(program.vars.size(), 0),
        first_reader_(program.vars.size()),
        cheap_(program.vars.size(), false) {
    for (uint32_t b = 0; b < program.blocks.size(); ++b) {
      for (uint32_t i = 0; i < program.blocks[b].ops.size(); ++i) {
        const Op& op = program.blocks[b].ops[i];
        for_each_use(op, [&](Var v) { note_reader(v, {b, i}); });
        if (op.folded == kNone) continue;
        for_each_use(program.folded[op.folded], [&](Var v) { note_reader(v, {b, i}); });
      }
    }
    const SsaValues ssa(program, flow);
    for (const Block& block : program.blocks) {
      for (const Op& op : block.ops) {
        if (op.num_dst == 1 && ssa.is_value(op.dst[0])) cheap_[op.dst[0]] = is_cheap(op);
      }
    }
  }

  /// False if nothing moved.
  bool run() {
    if (!choose()) return false;
    for (uint32_t b = 0; b < program_.blocks.size(); ++b) rebuild(b);
    for (Block& block : program_.blocks) drop_nops(block);
    return true;
  }

 private:
  struct Move {
    Place from, to;
  };

  void note_reader(Var v, Place at) {
    Place& first = first_reader_[v];
    if (readers_[v]++ == 0) first = at;
    if (first.block != at.block) first.block = kSeveral;
  }

  bool is_cheap(const Op& op) const {
    if (recomputable(op)) return true;
    if (op.guard != kNoVar || op.pred_dst[0] != kNoVar || op.pred_dst[1] != kNoVar) return false;
    bool cheap = op.is_pure() && op.num_src > 0 && op.op_class != OpClass::kWarp;
    for_each_use(op, [&](Var v) { cheap = cheap && cheap_[v]; });
    return cheap;
  }

  /// In reverse, so that the sources of what moves can follow it.
  bool choose() {
    for (uint32_t b = static_cast<uint32_t>(program_.blocks.size()); b-- > 0;) {
      const std::vector<Op>& ops = program_.blocks[b].ops;
      for (uint32_t i = static_cast<uint32_t>(ops.size()); i-- > 0;) {
        if (ops[i].num_dst != 1 || !cheap_[ops[i].dst[0]] || readers_[ops[i].dst[0]] == 0) continue;
        const Place to = first_reader_[ops[i].dst[0]];
        if (to.block == kSeveral || weights_[to.block] > weights_[b]) continue;
        if (to.block == b && to.op == i + 1) continue;
        bool alone = true;  // a source with other readers would only live longer
        for_each_use(ops[i], [&](Var v) { alone = alone && readers_[v] == 1; });
        if (!alone) continue;
        for_each_use(ops[i], [&](Var v) { first_reader_[v] = to; });
        moves_.push_back({{b, i}, to});
      }
    }
    std::reverse(moves_.begin(), moves_.end());  // sources before what they are for
    std::stable_sort(moves_.begin(), moves_.end(), [](const Move& a, const Move& b) {
      return std::pair(a.to.block, a.to.op) < std::pair(b.to.block, b.to.op);
    });
    for (const Move& m : moves_) {
      Op& op = program_.blocks[m.from.block].ops[m.from.op];
      moved_.push_back(op);
      moved_.back().ptx_count = 0;
      op.kind = OpKind::kNop;
    }
    return !moves_.empty();
  }

  void rebuild(uint32_t block) {
    std::vector<Op> ops;
    ops.swap(program_.blocks[block].ops);
    std::vector<Op>& out = program_.blocks[block].ops;
    out.reserve(ops.size());
    for (uint32_t i = 0; i < ops.size(); ++i) {
      for (; next_ < moves_.size() && moves_[next_].to.block == block && moves_[next_].to.op == i; ++next_)
        out.push_back(moved_[next_]);
      out.push_back(ops[i]);
    }
  }

  Program& program_;
  std::vector<double> weights_;
  std::vector<uint32_t> readers_;
  std::vector<Place> first_reader_;
  std::vector<bool> cheap_;
  std::vector<Move> moves_;
  std::vector<Op> moved_;  // of moves_, in the same order
  size_t next_ = 0;
};

}  // namespace

bool recomputable(const Op& op) {
  if (op.guard != kNoVar || op.num_dst != 1 || op.pred_dst[0] != kNoVar || op.pred_dst[1] != kNoVar)
    return false;
  if (reads_constant_bank(op) || is_uniform_special(op)) return true;
  bool constant = op.is_pure() && op.num_src > 0 && op.op_class != OpClass::kWarp;
  for_each_use(op, [&](Var) { constant = false; });
  return constant;
}

void sink_values(Program& program, const Flow& flow) {
  Program trial = program;
  if (Sinker(trial, flow).run() && register_estimate(trial, flow) < register_estimate(program, flow))
    program = std::move(trial);
}

}  // namespace gpusim::isa::lir
