// Compute capability 1.x: one operand of an operation on 32 bits may come from shared memory: one that can
// stand first (of a MAD a factor, not the addend), at most 31 words behind its address register. Source:
// envytools, docs/hw/graph/tesla/cuda/isa.rst (shared memory access), envydis/g80.c. A load is folded into
// its only reader if both stand in one block under one guard and nothing between them could change what the
// load reads: no barrier, call, store to shared memory (or to a generic address), atomic, volatile access, or
// write of the address register or the guard.
#include <algorithm>

#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {
namespace {

/// Of how many of its sources, from the first on, one may come from shared memory. A product of 32 bits is
/// several instructions.
int places(const Op& op) {
  if (op.kind != OpKind::kAlu || op.folded != kNone) return 0;
  const bool is_float = op.type == Type::kF32;
  if (!is_float && op.type != Type::kU32 && op.type != Type::kS32 && op.type != Type::kB32) return 0;
  const uint32_t variant = static_cast<uint32_t>(op.key);
  if ((variant & (kVarWide | kVarHi | kVarDirected)) != 0) return 0;
  switch (static_cast<Opcode>(op.opcode())) {
    case Opcode::kMul:
    case Opcode::kMad:
    case Opcode::kFma:
      return is_float ? 2 : 0;
    case Opcode::kAdd:
    case Opcode::kSub:
    case Opcode::kMul24:
    case Opcode::kMad24:
    case Opcode::kMin:
    case Opcode::kMax:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kSetp:
      return 2;
    case Opcode::kShl:
    case Opcode::kShr:
      return 1;
    default:
      return 0;
  }
}

/// How far an operand may lie behind its address register, in bytes.
constexpr int64_t kReach = 31 * 4;

bool can_be_operand(const Op& op, uint32_t first) {
  return op.kind == OpKind::kLoad && op.memory.space == Space::kShared && !op.memory.is_volatile &&
         op.memory.elements == 1 && op.memory.element_bytes == 4 && op.num_dst == 1 && op.folded == kNone &&
         op.memory.offset >= 0 && op.memory.offset + first <= kReach;
}

/// Could `op` change what an earlier load reads, or must it keep its order with it?
bool is_fence_for_shared(const Op& op) {
  switch (op.kind) {
    case OpKind::kBarrier:
    case OpKind::kFence:
    case OpKind::kCall:
    case OpKind::kAtomic:
      return true;
    case OpKind::kStore:
      return op.memory.is_volatile || op.memory.space == Space::kShared || op.memory.space == Space::kGeneric;
    case OpKind::kLoad:
      return op.memory.is_volatile;
    default:
      return false;
  }
}

struct Counts {
  std::vector<uint32_t> readers, writers;
};

class SharedFolder {
 public:
  SharedFolder(Program& program, uint32_t first) : program_(program), first_(first) {
    counts_.readers.assign(program.vars.size(), 0);
    counts_.writers.assign(program.vars.size(), 0);
    for (const Block& block : program.blocks) {
      for (const Op& op : block.ops) {
        for_each_use(op, [&](Var v) { ++counts_.readers[v]; });
        for_each_def(op, [&](Var v) { ++counts_.writers[v]; });
      }
    }
    pending_of_.assign(program.vars.size(), kNone);
  }

  void run() {
    for (Block& block : program_.blocks) fold_block(block);
  }

 private:
  void fold_block(Block& block) {
    open_.clear();
    std::vector<bool> gone(block.ops.size(), false);
    for (uint32_t i = 0; i < block.ops.size(); ++i) {
      Op& op = block.ops[i];
      try_fold(block, i, places(op), gone);
      if (is_fence_for_shared(op)) close_all(block);
      for_each_def(op, [&](Var v) { close_readers_of(block, v); });
      if (can_be_operand(op, first_) && counts_.readers[op.dst[0]] == 1 && counts_.writers[op.dst[0]] == 1) {
        pending_of_[op.dst[0]] = i;
        open_.push_back(i);
      }
    }
    close_all(block);
    std::vector<Op> kept;
    for (uint32_t i = 0; i < block.ops.size(); ++i) {
      if (!gone[i]) kept.push_back(block.ops[i]);
    }
    block.ops = std::move(kept);
  }

  void try_fold(Block& block, uint32_t at, int places, std::vector<bool>& gone) {
    Op& op = block.ops[at];
    for (int s = std::min<int>(op.num_src, places) - 1; s >= 0; --s) {
      if (op.src[s].is_literal() || pending_of_[op.src[s].var] == kNone) continue;
      const uint32_t index = pending_of_[op.src[s].var];
      Op& load = block.ops[index];
      if (load.guard != op.guard || (load.guard != kNoVar && load.guard_negated != op.guard_negated))
        continue;
      if (op.ptx_count + load.ptx_count > 0xffff) continue;
      op.ptx_count = static_cast<uint16_t>(op.ptx_count + load.ptx_count);
      load.ptx_count = 0;
      op.folded = static_cast<uint32_t>(program_.folded.size());
      op.op_class = OpClass::kSharedOperand;
      pending_of_[op.src[s].var] = kNone;
      open_.erase(std::find(open_.begin(), open_.end(), index));
      gone[index] = true;
      // What is loaded passes through no register: a name of its own, which no pass gives to anything else.
      op.src[s].var = load.dst[0] = program_.new_var(program_.vars[load.dst[0]]);
      program_.folded.push_back(load);
      return;
    }
  }

  void close_all(const Block& block) {
    for (const uint32_t i : open_) pending_of_[block.ops[i].dst[0]] = kNone;
    open_.clear();
  }
  /// The address register or the guard of an open load was written.
  void close_readers_of(const Block& block, Var v) {
    std::erase_if(open_, [&](uint32_t i) {
      bool reads = false;
      for_each_use(block.ops[i], [&](Var u) { reads = reads || u == v; });
      if (reads) pending_of_[block.ops[i].dst[0]] = kNone;
      return reads;
    });
  }

  Program& program_;
  uint32_t first_;
  Counts counts_;
  std::vector<uint32_t> pending_of_;  // index of the open load that writes a variable
  std::vector<uint32_t> open_;
};

}  // namespace

void fold_shared_operands(Program& program, uint32_t first) { SharedFolder(program, first).run(); }

}  // namespace gpusim::isa::lir
