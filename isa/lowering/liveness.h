// Liveness of variables per thread, as segments of blocks: a new one starts where a variable is overwritten
// after its last reader, so that the gap is free for others. Positions count half-steps: op i of the whole
// program reads its sources at 2i and writes its results at 2i+1, so a result may take the row of a source
// that dies there. Guarded writes keep the old value in other lanes, hence do not end a range; "may be
// defined" cuts what that would extend. What a folded shared load delivers exists only inside its op and has
// no segment. Only variables that cross blocks take part in the data flow, so kernels with tens of thousands
// of registers stay cheap.
#pragma once
#include <vector>

#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {

struct Segment {
  Var var = kNoVar;
  uint32_t begin = 0;  ///< half-steps, inclusive
  uint32_t end = 0;
};

struct Liveness {
  std::vector<uint32_t> first_op;              ///< global index of each block's first op
  std::vector<std::vector<Segment>> segments;  ///< per block; those of one variable are disjoint and ascend
};
[[nodiscard]] Liveness compute_liveness(const Program& program, const Flow& flow);

/// 32-bit registers a variable takes (predicates, and what is no general register, are apart).
[[nodiscard]] constexpr uint32_t register_width(VarClass c) {
  return c == VarClass::kRow64 ? 2 : c == VarClass::kRow32 ? 1 : 0;
}
/// The same of what is no address of a machine with shorter pointers.
[[nodiscard]] inline uint32_t register_width(const Program& program, Var v) {
  return v < program.narrow.size() && program.narrow[v] ? 1 : register_width(program.vars[v]);
}
/// The same of a thread's registers: none for what is in a uniform one.
[[nodiscard]] inline uint32_t thread_registers(const Program& program, Var v) {
  return v < program.uniform.size() && program.uniform[v] ? 0 : register_width(program, v);
}
/// Rows of 32 bits a variable takes; 0 for a predicate.
[[nodiscard]] constexpr uint32_t row_width(VarClass c) {
  return c == VarClass::kPredicate ? 0 : is_wide(c) ? 2 : 1;
}
/// Registers alive at each half-step of a block, relative to its first op.
[[nodiscard]] std::vector<uint32_t> block_pressure(const Program& program, const Liveness& live,
                                                   uint32_t block);

/// 10^depth per block: a block between the target of a backward branch and that branch is in a loop.
[[nodiscard]] std::vector<double> block_weights(const Program& program);

/// True if the results of `op` must not share a row with its sources: rows of different width, or several
/// results.
[[nodiscard]] bool early_clobber(const Program& program, const Op& op);

}  // namespace gpusim::isa::lir
