// Unrolls loops as ptxas does (compute capability 7.0 and up), the innermost ones first: blocks at whose end
// a branch leads back to the first while a counter with a constant step has not come to its end become, in
// front of themselves,
//   four:  four iterations, repeated while at least four are left
//   two:   two iterations, if at least two are left
// and the loop as it was does the rest. Only the test between iterations goes: how many are certain is
// decided by the distance of counter and end, without overflow, so that every thread does the same iterations
// with the same values whatever they are. A loop whose counter begins and ends at constants becomes all its
// iterations, one behind the other, if they are not too many for what each costs; such a loop may be entered
// at its test in the middle, and have other exits. The PTX count of an iteration stays in it. Loops that the
// program asks to leave alone (.pragma "nounroll"), that call or wait for memory (membar), and large ones
// stay, and so do those that not all lanes of a warp leave together if they change memory by what they read
// there.
#include <algorithm>
#include <optional>

#include "isa/lowering/find_loops.h"
#include "isa/lowering/lir.h"
#include "isa/lowering/uniformity.h"

namespace gpusim::isa::lir {
namespace {

constexpr uint32_t kFour = 4, kTwo = 2;

class Unroller {
 public:
  /// `again`: only loops around what became code just now.
  Unroller(Program& program, const Flow& flow, SimdLevel level, bool again)
      : program_(program),
        level_(level),
        again_(again),
        divergent_(find_divergence(program, flow).variables) {}

  /// Whether a loop became others.
  bool run() {
    bool changed = false;
    old_ = std::move(program_.blocks);
    program_.blocks.clear();
    const auto blocks = static_cast<uint32_t>(old_.size());
    const LoopFinder finder(program_, old_, divergent_, again_);
    std::vector<uint32_t> place(blocks),
        again(blocks);                               // where a block went, for others and for its own loop
    std::vector<uint32_t> header_of(blocks, kNone);  // of a latch
    for (uint32_t b = 0; b < blocks; ++b) {
      place[b] = static_cast<uint32_t>(program_.blocks.size());
      Loop loop;
      if (finder.recognise(b, loop)) {
        if (loop.trips != 0) {
          ptx_index_ = old_[loop.latch].ops.back().ptx_index;
          const uint32_t first = new_block();
          restate(finder, first, b, loop);
          (void)rounds(b, loop, loop.trips, false);
          program_.blocks[first].gone = loop.trips * (finder.cost_of_known(b, loop).gone - 1);
          for (uint32_t old = b; old <= loop.latch; ++old) place[old] = again[old] = kNone;
          place[loop.entry] = first;
          changed = true;
          b = loop.latch;
          continue;
        }
        if (loop.together > 1) {
          const auto first = static_cast<uint32_t>(program_.blocks.size());
          emit_known(b, loop);
          for (uint32_t old = b; old <= loop.latch; ++old) place[old] = again[old] = kNone;
          place[loop.entry] = first;
          changed = true;
          b = loop.latch;
          continue;
        }
        changed = true;
        emit(b, loop);
        header_of[loop.latch] = b;
      }
      again[b] = static_cast<uint32_t>(program_.blocks.size());
      program_.blocks.push_back(old_[b]);
      program_.blocks.back().gone = 0;
    }
    for (uint32_t b = 0; b < blocks; ++b) {
      if (again[b] == kNone) continue;
      for (Op& op : program_.blocks[again[b]].ops) {
        if (op.kind == OpKind::kBranch && op.target == header_of[b])
          op.target = again[header_of[b]] | kPlaced;
      }
    }
    for (Block& block : program_.blocks) {
      for (Op& op : block.ops) {
        if (op.kind == OpKind::kBranch)
          op.target = (op.target & kPlaced) != 0 ? op.target & ~kPlaced : place[op.target];
      }
    }
    for (std::vector<uint32_t>& table : program_.tables) {
      for (uint32_t& target : table) target = place[target];
    }
    return changed;
  }

 private:
  static constexpr uint32_t kPlaced = 1u << 31;  // of a target: the number of a new block

  void emit(uint32_t header, const Loop& loop) {
    ptx_index_ = old_[loop.latch].ops.back().ptx_index;
    const uint32_t out = loop.latch + 1;
    const uint32_t first = new_block();
    branch(first, at_least(first, loop, kFour), true, kNone);
    const uint32_t four = new_block();
    const uint32_t four_end = rounds(header, loop, kFour, true);
    branch(four_end, at_least(four_end, loop, kFour), false, four | kPlaced);
    const uint32_t after_four = new_block();
    branch(after_four, goes_on(after_four, loop), true, out);
    const uint32_t two_test = new_block();
    branch(two_test, at_least(two_test, loop, kTwo), true, kNone);
    new_block();
    const uint32_t two_end = rounds(header, loop, kTwo, true);
    branch(two_end, goes_on(two_end, loop), true, out);
    program_.blocks[first].ops.back().target = two_test | kPlaced;
    program_.blocks[two_test].ops.back().target = static_cast<uint32_t>(program_.blocks.size()) | kPlaced;
  }
  /// What comes before the loop where it is entered in the middle, the loop, and what is left of its
  /// iterations.
  void emit_known(uint32_t header, const Loop& loop) {
    ptx_index_ = old_[loop.latch].ops.back().ptx_index;
    new_block();
    Loop once = loop;
    if (loop.entry != header) (void)rounds(header, loop, 1, true);
    once.entry = header;
    const uint32_t loops = loop.known / loop.together, rest = loop.known % loop.together;
    const uint32_t first = new_block(), last = rounds(header, once, loop.together, rest != 0);
    program_.blocks[first].no_unroll = true;
    const bool went_on = loop.entry != header && !loop.tests_first;  // the counter, before the loop
    const int64_t steps = int64_t{loops} * loop.together + (went_on ? 1 : 0),
                  end = loop.start + steps * loop.step;
    const Var p = program_.new_var(VarClass::kPredicate);
    Op* op = form(last, form_key(Opcode::kSetp, loop.type, Type::kNone, compare_variant(CompareOp::kNe)));
    const auto bits = static_cast<uint64_t>(end);
    set_sources(*op, loop.counter, Value{kNoVar, loop.is_wide(), loop.is_wide() ? bits : bits & 0xffffffffu});
    op->pred_dst[0] = p;
    branch(last, p, false, first | kPlaced);
    const Op& test = old_[loop.latch].ops.back();
    if (rest == 0 && test.counts_guarded) {
      program_.blocks[last].ops.back().counts_guarded = true;
      program_.blocks[last].ops.back().ptx_count = test.ptx_count;
    }
    if (rest != 0) {
      new_block();
      (void)rounds(header, once, rest, false);
    }
  }
  uint32_t new_block() {
    program_.blocks.emplace_back();
    return static_cast<uint32_t>(program_.blocks.size() - 1);
  }

  /// The numbers that counters and addresses start at, where their iterations can see them.
  void restate(const LoopFinder& finder, uint32_t to, uint32_t header, const Loop& loop) {
    for (uint32_t b = header; b <= loop.latch; ++b) {
      for (const Op& op : old_[b].ops) {
        const std::optional<Value> start =
            is_step(op) ? finder.starts_at(header, loop, op.dst[0]) : std::nullopt;
        if (!start || start->object != kNoObject) continue;
        const bool wide = type_bytes(op.type) == 8;
        Op* move = form(to, form_key(Opcode::kMov, wide ? Type::kB64 : Type::kB32));
        move->src[0] = *start;
        move->num_src = 1;
        move->dst[move->num_dst++] = op.dst[0];
      }
    }
  }

  /// Iterations one behind the other, from the last block on, which the first block of each continues;
  /// returns the block where they end. `go_on`: others always follow.
  uint32_t rounds(uint32_t header, const Loop& loop, uint32_t count, bool go_on) {
    std::vector<uint32_t> at(loop.latch - header + 1);
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t from = i == 0 ? loop.entry : header;
      for (uint32_t b = from; b <= loop.latch; ++b)
        at[b - header] = b == from ? static_cast<uint32_t>(program_.blocks.size() - 1) : new_block();
      for (uint32_t b = from; b <= loop.latch; ++b) {
        Block& block = program_.blocks[at[b - header]];
        block.shared_named = std::max(block.shared_named, old_[b].shared_named);
        std::vector<Op>& ops = block.ops;
        const size_t begin = ops.size();
        ops.insert(ops.end(), old_[b].ops.begin(), old_[b].ops.end());
        if (b == loop.latch) {
          const Op test = ops.back();
          ops.pop_back();
          // Some of what it counts may be a jump back, which is not done after the last of them.
          if (!test.counts_guarded || go_on || i + 1 < count) add_count(ops, begin, test);
        } else if (!ops.empty() && ops.back().kind == OpKind::kBranch &&
                   !leads_out(ops.back(), header, loop)) {
          ops.back().target = at[ops.back().target - header] | kPlaced;
        }
      }
    }
    return static_cast<uint32_t>(program_.blocks.size() - 1);
  }

  /// What the test counted goes to an operation of its block that always counts.
  static void add_count(std::vector<Op>& ops, size_t begin, const Op& test) {
    for (size_t i = ops.size(); i-- > begin;) {
      if (ops[i].counts_guarded || ops[i].ptx_count > 0xffffu - test.ptx_count) continue;
      ops[i].ptx_count = static_cast<uint16_t>(ops[i].ptx_count + test.ptx_count);
      return;
    }
  }

  /// A predicate: the counter's distance to its end leaves `count` iterations at least, so the test after
  /// each but the last of them would hold.
  Var at_least(uint32_t to, const Loop& loop, uint32_t count) {
    const bool up = loop.step > 0;
    const auto least = static_cast<uint64_t>((up ? loop.step : -loop.step) * (int64_t{count} - 1) -
                                             (loop.includes_end() ? 1 : 0));
    const Type word = loop.is_wide() ? Type::kU64 : Type::kU32;
    Value distance = loop.counter;
    if (up || !loop.end.is_literal() || loop.end.bits != 0) {
      const Var d = program_.new_var(loop.is_wide() ? VarClass::kRow64 : VarClass::kRow32);
      Op* op = form(to, form_key(Opcode::kSub, word));
      set_sources(*op, up ? loop.end : loop.counter, up ? loop.counter : loop.end);
      op->dst[op->num_dst++] = d;
      distance = Value{d, loop.is_wide(), 0};
    }
    Var p = program_.new_var(VarClass::kPredicate);
    Op* far = form(to, form_key(Opcode::kSetp, word, Type::kNone, compare_variant(CompareOp::kGt)));
    set_sources(*far, distance, Value{kNoVar, loop.is_wide(), least});
    far->pred_dst[0] = p;
    if (loop.relation == CompareOp::kNe) return p;
    const Var both = program_.new_var(VarClass::kPredicate);
    Op* before = form(to, form_key(Opcode::kSetp, loop.type, Type::kNone, compare_variant(loop.relation)));
    set_sources(*before, loop.counter, loop.end);
    before->imm = static_cast<uint64_t>(BoolOp::kAnd);
    before->pred_src[0] = p;
    before->pred_dst[0] = both;
    return both;
  }

  /// The loop's own test.
  Var goes_on(uint32_t to, const Loop& loop) {
    const Var p = program_.new_var(VarClass::kPredicate);
    Op* op = form(to, form_key(Opcode::kSetp, loop.type, Type::kNone, compare_variant(loop.relation)));
    set_sources(*op, loop.counter, loop.end);
    op->pred_dst[0] = p;
    return p;
  }

  void branch(uint32_t from, Var guard, bool negated, uint32_t target) {
    Op op;
    op.kind = OpKind::kBranch;
    op.op_class = OpClass::kBranch;
    op.guard = guard;
    op.guard_negated = negated;
    op.target = target;
    op.ptx_index = ptx_index_;
    program_.blocks[from].ops.push_back(op);
  }

  /// A new op at the end of a block; the forms used here are in every table.
  Op* form(uint32_t to, uint64_t key) {
    const SemanticRow* row = find_form(key, level_);
    Op op;
    op.key = key;
    op.kind = OpKind::kAlu;
    op.exec = row->exec;
    op.op_class = row->op_class;
    op.type = static_cast<Type>((key >> 40) & 0xff);
    op.ptx_index = ptx_index_;
    program_.blocks[to].ops.push_back(op);
    return &program_.blocks[to].ops.back();
  }
  static void set_sources(Op& op, const Value& a, const Value& b) {
    op.src[0] = a;
    op.src[1] = b;
    op.num_src = 2;
  }

  Program& program_;
  SimdLevel level_;
  bool again_;
  std::vector<Block> old_;       // the program as it was
  std::vector<bool> divergent_;  // of the variables that there were
  uint32_t ptx_index_ = 0;
};

/// Blocks that later ones, or they themselves, branch back to.
size_t loops_of(const Program& program) {
  std::vector<bool> begins(program.blocks.size(), false);
  for (uint32_t b = 0; b < program.blocks.size(); ++b) {
    for (const Op& op : program.blocks[b].ops)
      if (op.kind == OpKind::kBranch && op.target <= b) begins[op.target] = true;
  }
  return static_cast<size_t>(std::ranges::count(begins, true));
}

}  // namespace

bool unroll_loops(Program& program, const Flow& flow, SimdLevel level, bool again) {
  if (!again) program.has_several_loops = loops_of(program) > 1;
  return Unroller(program, flow, level, again).run();
}

}  // namespace gpusim::isa::lir
