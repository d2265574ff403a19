// Kernel parameters, the sizes of block and grid, and constant memory at addresses that are known as
// operands: what is the same for all threads of a launch stands in a constant bank (compute capability 2.0
// and up), and an arithmetic instruction reads one source from there at no cost. Such a source becomes a
// literal whose value is filled in at the launch (isa/lowering/launch_constants.h). A load of the value stays
// for those who need it in a register: addresses, stored values, and operations with another constant.
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "isa/lowering/dominance.h"
#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {
namespace {

/// Index into Program::launch_constants, or kNone if `op` gives no such value.
class Constants {
 public:
  explicit Constants(Program& program) : program_(program) {}

  uint32_t of(const Op& op) {
    if (op.guard != kNoVar || op.num_dst != 1) return kNone;
    const bool wide = program_.vars[op.dst[0]] == VarClass::kRow64;
    if (op.kind == OpKind::kLoad) {
      const MemoryOperand& m = op.memory;
      if (!reads_constant_bank(op) || m.elements != 1 || m.element_bytes != (wide ? 8 : 4)) return kNone;
      const auto from = static_cast<uint64_t>(m.offset);
      if (m.space == Space::kParam) return number({LaunchConstant::Source::kParameter, wide, from});
      // Elsewhere the load has to say that there is no such memory.
      const auto behind = program_.constants.upper_bound(from);
      if (behind == program_.constants.begin() || from % m.element_bytes != 0) return kNone;
      const auto& [address, bytes] = *std::prev(behind);
      if (from + m.element_bytes > address + bytes) return kNone;
      return number({LaunchConstant::Source::kConstantMemory, wide, from});
    }
    const bool special = op.kind == OpKind::kAlu && static_cast<Opcode>(op.opcode()) == Opcode::kMov &&
                         op.num_src == 0 && (op.key & kVarFull) != 0;
    const auto r = static_cast<SpecialRegister>(op.imm);
    const bool size = (r >= SpecialRegister::kNtidX && r <= SpecialRegister::kNtidZ) ||
                      (r >= SpecialRegister::kNctaidX && r <= SpecialRegister::kNctaidZ);
    if (!special || !size || wide) return kNone;
    return number({LaunchConstant::Source::kSpecial, false, static_cast<uint32_t>(op.imm)});
  }

 private:
  uint32_t number(const LaunchConstant& wanted) {
    const auto [at, added] = numbers_.try_emplace({wanted.source, wanted.wide, wanted.from},
                                                  static_cast<uint32_t>(program_.launch_constants.size()));
    if (added) program_.launch_constants.push_back(wanted);
    return at->second;
  }

  Program& program_;
  std::map<std::tuple<LaunchConstant::Source, bool, uint64_t>, uint32_t> numbers_;
};

bool is_constant_vector(const Program& program, const Op& op) {
  if (!reads_constant_bank(op) || op.memory.elements == 1 || op.num_dst != op.memory.elements) return false;
  const size_t bytes = size_t{op.memory.element_bytes} * op.memory.elements;
  return op.memory.offset % static_cast<int64_t>(bytes) == 0 &&
         std::all_of(op.dst.begin(), op.dst.begin() + op.num_dst, [&](Var v) {
           return v != kNoVar && op.memory.element_bytes == (program.vars[v] == VarClass::kRow64 ? 8 : 4);
         });
}

/// A load of several elements becomes one of each, for each can be an operand.
void split_vectors(Program& program) {
  for (Block& block : program.blocks) {
    std::vector<Op> ops;
    ops.reserve(block.ops.size());
    for (const Op& op : block.ops) {
      if (!is_constant_vector(program, op)) {
        ops.push_back(op);
        continue;
      }
      for (uint8_t e = 0; e < op.num_dst; ++e) {
        Op& part = ops.emplace_back(op);
        part.memory.elements = 1;
        part.memory.align_mask = 0;
        part.memory.offset += int64_t{e} * op.memory.element_bytes;
        part.dst = {op.dst[e], kNoVar, kNoVar, kNoVar};
        part.num_dst = 1;
        if (e != 0) part.ptx_count = 0;
      }
    }
    block.ops.swap(ops);
  }
}

bool takes_constant(const Op& op) {
  return op.kind == OpKind::kAlu && op.folded == kNone && op.op_class != OpClass::kWarp && !op.whole_warp;
}

/// A number that takes the place of an operand.
bool has_number(const Op& op) {
  return !is_address_product(op) && std::any_of(op.src.begin(), op.src.begin() + op.num_src,
                                                [](const Value& v) { return v.is_literal() && v.bits != 0; });
}

/// Two constants that are one load of 64 bits: both are in a thread's registers then, unless an earlier block
/// reads one of them alone. That one is in a register of the warp, where an instruction takes it, and the
/// other one is loaded by itself. Found with probes of ptxas 13 for 9.0 (launch_constants_test.cpp).
class LoadedPairs {
 public:
  /// `constant`: of each variable, what it holds, or kNone.
  LoadedPairs(const Program& program, const Flow& flow, const std::vector<uint32_t>& constant)
      : constants_(program.launch_constants),
        constant_(constant),
        dominators_(static_cast<uint32_t>(program.blocks.size()), flow),
        reads_(constants_.size()) {
    for (uint32_t b = 0; b < program.blocks.size(); ++b) {
      for (const Op& op : program.blocks[b].ops) {
        for_each_use(op, [&](Var v) {
          if (constant_[v] != kNone) add(reads_[constant_[v]], {b, takes_constant(op) && !has_number(op)});
        });
      }
    }
    for (std::vector<Read>& reads : reads_) keep_first(reads);
  }

  /// Which constant the operation takes as its operand if it may choose: any (kNone), or this one. Nothing if
  /// it reads a pair that is in registers.
  [[nodiscard]] std::optional<uint32_t> operand(const Op& op, uint32_t block) const {
    uint32_t wanted = kNone;
    for (int i = 0; i < op.num_src; ++i) {
      for (int k = 0; k < i; ++k) {
        const uint32_t a = of(op, i), b = of(op, k);
        if (a == kNone || b == kNone || a == b || !loaded_together(constants_[a], constants_[b])) continue;
        wanted = of_the_warp(a, b, block);
        if (wanted == kNone) return std::nullopt;
      }
    }
    return wanted;
  }

 private:
  struct Read {
    uint32_t block;
    bool as_operand;  ///< by an operation that takes one
  };
  static void add(std::vector<Read>& reads, Read read) {
    if (reads.empty() || reads.back().block != read.block) return reads.push_back(read);
    reads.back().as_operand |= read.as_operand;
  }
  [[nodiscard]] uint32_t of(const Op& op, int source) const {
    return op.src[source].is_literal() ? kNone : constant_[op.src[source].var];
  }
  /// The first on the way to the block that reads it; `block` does, or one in front of it.
  [[nodiscard]] const Read* first(uint32_t constant, uint32_t block) const {
    const std::vector<Read>& reads = reads_[constant];
    const auto behind =
        std::ranges::upper_bound(reads, dominators_.enter(block), {},
                                 [this](const Read& read) { return dominators_.enter(read.block); });
    return &*std::prev(behind);
  }
  /// Leaves those that no other one of the constant stands in front of, in the order of the walk that numbers
  /// the blocks: the blocks behind each of them follow it there.
  void keep_first(std::vector<Read>& reads) const {
    std::ranges::sort(reads, {}, [this](const Read& read) { return dominators_.enter(read.block); });
    size_t kept = 0;
    for (const Read& read : reads)
      if (kept == 0 || !dominators_.dominates(reads[kept - 1].block, read.block)) reads[kept++] = read;
    reads.resize(kept);
  }
  [[nodiscard]] uint32_t of_the_warp(uint32_t a, uint32_t b, uint32_t block) const {
    const Read *of_a = first(a, block), *of_b = first(b, block);
    if (of_a->block == of_b->block) return kNone;
    const bool a_first = dominators_.enter(of_a->block) < dominators_.enter(of_b->block);
    // What is stored, is an address or meets a number has a thread's register.
    return a_first == (a_first ? of_a : of_b)->as_operand ? a : b;
  }

  const std::vector<LaunchConstant>& constants_;
  const std::vector<uint32_t>& constant_;
  const Dominators dominators_;
  std::vector<std::vector<Read>> reads_;  ///< of each constant, by block
};

}  // namespace

bool is_address_product(const Op& op) {
  return op.kind == OpKind::kAlu && static_cast<Opcode>(op.opcode()) == Opcode::kMad &&
         (op.key & kVarWide) != 0 && type_bytes(op.type) == 4;
}

bool reads_constant_bank(const Op& op) {
  const MemoryOperand& m = op.memory;
  return op.kind == OpKind::kLoad && (m.space == Space::kParam || m.space == Space::kConst) && !m.has_base &&
         !m.is_volatile;
}

bool loaded_together(const LaunchConstant& a, const LaunchConstant& b) {
  return a.source == b.source && a.source != LaunchConstant::Source::kSpecial && !a.wide && !b.wide &&
         a.from / kConstantsTogether == b.from / kConstantsTogether;
}

void bind_operands(Program& program, const Flow& flow) {
  split_vectors(program);
  const SsaValues ssa(program, flow);
  Constants constants(program);
  std::vector<uint32_t> constant(program.vars.size(), kNone), readers(program.vars.size(), 0);
  for (const Block& block : program.blocks) {
    for (const Op& op : block.ops) {
      if (op.num_dst == 1 && ssa.is_value(op.dst[0])) constant[op.dst[0]] = constants.of(op);
    }
  }
  const bool loads = program.machine_capability >= kLoadsConstantsFrom;
  const std::optional<LoadedPairs> pairs =
      loads ? std::optional<LoadedPairs>(std::in_place, program, flow, constant) : std::nullopt;
  for (uint32_t b = 0; b < program.blocks.size(); ++b) {
    for (Op& op : program.blocks[b].ops) {
      uint32_t taken = kNone;
      bool free = takes_constant(op) && !has_number(op);
      if (free && loads) {
        const std::optional<uint32_t> operand = pairs->operand(op, b);
        free = operand.has_value();
        taken = operand.value_or(kNone);
      }
      for (int i = 0; free && i < op.num_src; ++i) {
        Value& v = op.src[i];
        if (v.is_literal() || constant[v.var] == kNone) continue;
        if (taken != kNone && taken != constant[v.var]) continue;
        taken = constant[v.var];
        v = Value{kNoVar, v.wide, 0, taken};
      }
      for_each_use(op, [&](Var v) { ++readers[v]; });
    }
  }
  for (Block& block : program.blocks) {
    for (Op& op : block.ops) {
      if (op.num_dst == 1 && constant[op.dst[0]] != kNone && readers[op.dst[0]] == 0) op.kind = OpKind::kNop;
    }
    drop_nops(block);
  }
}

}  // namespace gpusim::isa::lir
