// What reads each variable of a program, as far as it decides which operations cost no instruction of their
// own.
#pragma once
#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {

/// Of each variable.
struct Readers {
  explicit Readers(const Program& program);
  /// A sum of words.
  [[nodiscard]] static bool is_word_sum(const Op& op);

  std::vector<bool> signed_only;         ///< only operations that take a negated or absolute source read it
  std::vector<bool> shared_bases;        ///< only read as an address of shared memory, which scales it
  std::vector<uint32_t> all, word_sums;  ///< word_sums: the readers that are sums of words
  std::vector<uint32_t> wide_sums;       ///< those that are sums of 64 bits
  std::vector<uint32_t> halves;          ///< those that read either half of a register
};

}  // namespace gpusim::isa::lir
