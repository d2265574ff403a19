// Orders for the operations of blocks: see schedule.cpp.
#pragma once
#include <utility>
#include <vector>

#include "isa/lowering/dependences.h"
#include "isa/lowering/liveness.h"
#include "isa/lowering/ready_operations.h"

namespace gpusim::isa::lir {

/// An order of a block's operations, and how often a warp then waits for global memory.
struct Order {
  std::vector<Op> ops;
  uint32_t waits = 0;
};

/// Finds orders for one block after the other. What does not depend on the options is found once for each.
class BlockScheduler {
 public:
  /// `crossings`: of the program. `lockstep`: see ScheduleOptions.
  BlockScheduler(const Program& program, const Crossings& crossings, bool lockstep);
  /// What order() is for from now on.
  void choose(uint32_t block);
  [[nodiscard]] Order order(const ScheduleOptions& options);
  /// Registers of that block with this order: see block_registers().
  [[nodiscard]] uint32_t registers(const Order& order);

 private:
  /// Operations that are scheduled together, or one after the other if they have no nodes.
  struct Stretch {
    size_t begin = 0, end = 0;
    std::vector<Node> nodes;
  };
  /// Of a variable, the operations of the block that mention it and are still to come.
  struct Mentions {
    uint32_t times = 0;  ///< altogether
    uint32_t operations = 0;
    uint32_t last = 0;  ///< exclusive or of their numbers in the block: the last one, if there is one
  };

  void find_borders();
  void find_stretches();
  void reset();
  template <class Fn>
  void each(const Op& op, Fn fn) const {
    each_use(program_, op, fn);
    for_each_def(op, fn);
  }
  [[nodiscard]] Occupied cost(Var v) const;
  [[nodiscard]] Occupied growth(const Op& op) const;
  void find_mentioned(const Op& op) const;
  void take(size_t at);
  void schedule(const Stretch& stretch, const ScheduleOptions& options, Order& order);

  const Program& program_;
  const Crossings& crossings_;
  DependenceFinder dependences_;
  SegmentFinder segments_;
  uint32_t block_ = 0;
  const std::vector<Op>* ops_ = nullptr;  // of the block
  BlockEnd end_;
  std::vector<Stretch> stretches_;
  std::vector<Var> in_, out_;  // variables that the block mentions and that are alive at its start and end
  Occupied pressure_;
  std::vector<bool> alive_, kept_;  // kept: alive at the block's end
  std::vector<Mentions> wanted_;
  std::vector<Var> touched_;
  std::vector<uint32_t> last_ones_;  // operations that became the only ones left to mention a variable
  mutable std::vector<std::pair<Var, uint32_t>> mentioned_;  // by one operation, and how often
};

}  // namespace gpusim::isa::lir
