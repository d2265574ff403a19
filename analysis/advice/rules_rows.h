// Rows that single threads walk along, and what the kernel would take if the lanes of a warp shared a row.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/advice/facts.h"

namespace gpusim::analysis::advice {

/// Each thread goes through a row of its own: lanes of a warp are far apart, and a row's bytes are used one
/// turn of a loop after the other.
struct Rows {
  uint64_t pc = 0;            ///< the access that moves most
  double lanes = 1;           ///< that can share a row
  double bytes = 0;           ///< of a row
  std::vector<double> turns;  ///< of a loop, for each operation, by a warp
  std::vector<bool> walks;    ///< for each operation, whether it goes along a row
};
[[nodiscard]] std::optional<Rows> rows_of_threads(const Facts& facts);

/// The work if so many lanes take a row together: as many more threads, each with as many times fewer turns.
[[nodiscard]] Work after_sharing(const Facts& facts, const Rows& rows, Work work);
/// Bytes that threads load or store by accesses of a class, each byte of a row once.
[[nodiscard]] double asked_once(const Facts& facts, const Rows& rows, std::string_view op_class);
/// Whether a row that is gone through again is still in the L2 then.
[[nodiscard]] bool held_by_l2(const Facts& facts, const Rows& rows);

}  // namespace gpusim::analysis::advice
