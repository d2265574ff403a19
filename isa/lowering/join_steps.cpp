// Where iterations stand one behind the other, an address or a counter goes on by a constant in each. Here
// each of its values becomes what the block began with and one constant, and accesses take that constant
// themselves.
#include "isa/lowering/bit_set.h"
#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {
namespace {

/// What a variable holds: `base`, as it was written for the `version`-th time, and a constant.
struct Sum {
  Var base = kNoVar;
  uint32_t version = 0;
  uint64_t offset = 0;
  uint32_t bytes = 0;
};

/// The constant that `op` adds to its first source, of a plain sum of 32 or 64 bits without a guard.
bool adds_constant(const Op& op) {
  if (op.kind != OpKind::kAlu || op.guard != kNoVar || op.num_dst != 1 || op.num_src != 2) return false;
  if (op.key != form_key(Opcode::kAdd, op.type) || !is_integer(op.type) || type_bytes(op.type) < 4)
    return false;
  const Value& constant = op.src[1];
  return !op.src[0].is_literal() && constant.is_literal() && constant.launch_constant == kNone &&
         constant.object == kNoObject;
}

class Joiner {
 public:
  explicit Joiner(Program& program)
      : program_(program), sums_(program.vars.size()), versions_(program.vars.size(), 0) {}

  void run() {
    for (Block& block : program_.blocks) {
      for (const Var v : known_) sums_[v] = {};
      known_.clear();
      for (Op& op : block.ops) visit(op);
    }
  }

 private:
  void visit(Op& op) {
    if (op.is_memory() && op.memory.has_base && !op.src[0].is_literal()) {
      const Sum& sum = sums_[op.src[0].var];
      if (holds(sum) && (sum.bytes == 8) == op.memory.base_is_64) {
        op.memory.offset = static_cast<int64_t>(static_cast<uint64_t>(op.memory.offset) + offset(sum));
        op.src[0].var = sum.base;
      }
    }
    Sum made;
    if (adds_constant(op)) {
      const uint32_t bytes = type_bytes(op.type);
      const Sum& sum = sums_[op.src[0].var];
      if (holds(sum) && sum.bytes == bytes) {
        op.src[0].var = sum.base;
        op.src[1].bits += sum.offset;
        if (bytes == 4) op.src[1].bits &= 0xffffffffu;
      }
      made = {op.src[0].var, versions_[op.src[0].var], op.src[1].bits, bytes};
    }
    for_each_def(op, [&](Var v) {
      ++versions_[v];
      sums_[v] = {};
    });
    if (made.base == kNoVar || made.base == op.dst[0]) return;
    sums_[op.dst[0]] = made;
    known_.push_back(op.dst[0]);
  }
  [[nodiscard]] bool holds(const Sum& sum) const {
    return sum.base != kNoVar && versions_[sum.base] == sum.version;
  }
  /// With its sign.
  static uint64_t offset(const Sum& sum) {
    if (sum.bytes == 8) return sum.offset;
    return static_cast<uint64_t>(int64_t{static_cast<int32_t>(static_cast<uint32_t>(sum.offset))});
  }

  Program& program_;
  std::vector<Sum> sums_;
  std::vector<uint32_t> versions_;
  std::vector<Var> known_;  // in this block
};

/// Removes steps whose value nobody reads, such as that behind the last iteration; dead_code.cpp keeps what
/// is read anywhere before it is written again.
class DeadSteps {
 public:
  /// Variables from `first_of_block` on are those of a block alone, which dead_code.cpp sees.
  DeadSteps(Program& program, const Flow& flow, size_t first_of_block)
      : program_(program),
        flow_(flow),
        first_of_block_(first_of_block),
        number_(program.vars.size(), kNone) {}

  void run() {
    uint32_t count = 0;
    for (const Block& block : program_.blocks) {
      for (const Op& op : block.ops) {
        if (op.kind == OpKind::kCall) return;  // what a function reads is not said here
        if (is_counted(op) && number_[op.dst[0]] == kNone) number_[op.dst[0]] = count++;
      }
    }
    if (count == 0) return;
    const size_t blocks = program_.blocks.size();
    at_begin_.assign(blocks, BitSet(count));
    nothing_ = BitSet(count);
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t b = blocks; b-- > 0;) {
        BitSet live = at_end(static_cast<uint32_t>(b));
        for (size_t i = program_.blocks[b].ops.size(); i-- > 0;) pass(program_.blocks[b].ops[i], live);
        changed = changed || live != at_begin_[b];
        at_begin_[b] = std::move(live);
      }
    }
    for (size_t b = 0; b < blocks; ++b) {
      BitSet live = at_end(static_cast<uint32_t>(b));
      for (size_t i = program_.blocks[b].ops.size(); i-- > 0;) {
        Op& op = program_.blocks[b].ops[i];
        if (is_counted(op) && !live.test(number_[op.dst[0]]))
          op.kind = OpKind::kNop;
        else
          pass(op, live);
      }
    }
  }

 private:
  [[nodiscard]] bool is_counted(const Op& op) const {
    return adds_constant(op) && op.dst[0] < first_of_block_;
  }
  [[nodiscard]] BitSet at_end(uint32_t block) const {
    BitSet live = nothing_;
    for (const auto& [from, to] : flow_.out_of(block)) live.add(at_begin_[to], nullptr);
    return live;
  }
  void pass(const Op& op, BitSet& live) const {
    if (op.guard == kNoVar) {
      for_each_def(op, [&](Var v) {
        if (number_[v] != kNone) live.reset(number_[v]);
      });
    }
    for_each_use(op, [&](Var v) {
      if (number_[v] != kNone) live.set(number_[v]);
    });
  }

  Program& program_;
  const Flow& flow_;
  size_t first_of_block_;
  std::vector<uint32_t> number_;  // of variables that steps write
  std::vector<BitSet> at_begin_;  // of blocks: which of them are read from there on
  BitSet nothing_;
};

}  // namespace

void join_steps(Program& program, const Flow& flow) {
  const size_t variables = program.vars.size();
  split_local_ranges(program);
  Joiner(program).run();
  DeadSteps(program, flow, variables).run();
}

}  // namespace gpusim::isa::lir
