// What the registers of one value have to do with those of others, as ptxas 13 assigns them for compute
// capability 7.0 and up (docs/studies/compiler_history.md). assign_registers.cpp gives them places by it.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {

/// A word that is half of a pair of registers: it has no register of its own.
struct HalfOfPair {
  Var pair = kNoVar, word = kNoVar;
  uint32_t at = 0;  ///< 0: the lower half
};

struct RegisterRelations {
  /// By variable: the other words of operations that read two words, a store's address and its word among
  /// them. The registers of a warp have two banks, even and odd ones; of two words that FADD, FMUL, FFMA and
  /// LOP3 read, ptxas has 82 to 94 of 100 in different ones (7.5 and 9.0), of those of STS and STL 73 to 98.
  std::vector<std::vector<Var>> read_with;
  /// By variable: what the operations that write it read, and what those that read it write. A result stands
  /// where a source was that dies there.
  std::vector<std::vector<Var>> made_from, made_into;
  std::vector<HalfOfPair> halves;
};

/// `in_register(variable, block)`: it stands in registers where the operations of this block read it.
/// `written_once`: by variable.
[[nodiscard]] RegisterRelations find_register_relations(const Program& program,
                                                        const std::function<bool(Var, uint32_t)>& in_register,
                                                        const std::vector<bool>& written_once);

/// Makes 64 bits of two words or the reverse, which no instruction does.
[[nodiscard]] bool parts_pair(const Op& op);

}  // namespace gpusim::isa::lir
