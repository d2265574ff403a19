// The path of a typical warp through a kernel: its operations in the order of the code, loops as often as the
// run's own counts say (iterations of the loop per iteration of the loop around it, or per warp). Of a loop
// with many iterations the first two, the one that stands for all between, and the last are visited. What
// only some warps execute has a probability below one; both sides of a branch that splits warps are on the
// path, as both take time.
#pragma once
#include <cstdint>
#include <vector>

#include "analysis/models/latency_hidden/code.h"

namespace gpusim::analysis::latency_hidden {

struct Loop {
  uint32_t first = 0, last = 0;  ///< operations; `last` is the branch back to `first`
  double rounds = 0;             ///< per warp, over all entries
  bool bounded = false;  ///< it counts a remainder down: no warp goes round it more often than another
};

/// Loops by their first operation; never partly overlapping.
[[nodiscard]] std::vector<Loop> find_loops(const Code& code);

/// Told what the path visits.
class PathVisitor {
 public:
  virtual ~PathVisitor() = default;
  /// An operation, executed with this probability each time its place on the path is reached.
  virtual void operation(uint32_t pc, double probability) = 0;
  /// Iterations of a loop begin: this one stands for `rounds`. `bounded`: see Loop. `only`: no other follows.
  virtual void enter_loop(double rounds, bool bounded, bool only) = 0;
  virtual void next_round(double rounds) = 0;
  virtual void leave_loop() = 0;
};

void walk_path(const Code& code, PathVisitor& visitor);

}  // namespace gpusim::analysis::latency_hidden
