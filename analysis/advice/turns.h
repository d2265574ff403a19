// Whether turns of a recorded kernel's loops need the ones before them.
#pragma once
#include <cstdint>
#include <functional>
#include <string_view>

#include "analysis/recording/recording.h"

namespace gpusim::analysis::advice {

struct Turns {
  /// Whether a loop that is executed much gives a register another value each turn that follows from the last
  /// one, otherwise than by a sum, a smallest or largest value or the like, or stores in local memory as what
  /// it finds there decides: turns of it cannot be divided among threads.
  bool follow_each_other = false;
  /// Uses and results of statements in the graphs that were gone through: in proportion to the program's
  /// length.
  uint64_t looked_at = 0;
};

/// `ptx`: of the program; may be empty. `of`: only loops of the operations that it takes, by their number,
/// however often these are executed.
[[nodiscard]] Turns turns_of(const KernelRecord& kernel, std::string_view ptx,
                             const std::function<bool(uint64_t)>& of = {});

}  // namespace gpusim::analysis::advice
