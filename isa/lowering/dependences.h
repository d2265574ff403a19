// What the operations of a stretch of code wait for: see schedule.cpp.
#pragma once
#include <span>
#include <vector>

#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {

/// One operation of a stretch.
struct Node {
  std::vector<uint32_t> next;  ///< those that must come after it
  uint32_t waits = 0;          ///< how many it must come after
  uint32_t way = 0;            ///< cycles to the end of the stretch
  uint32_t due = 0;            ///< the first cycle at which somebody may wait for the result
  uint32_t barriers = 0;       ///< before it in the stretch
  uint32_t horizon = 0;        ///< cycles; how far ahead of its use it starts, 0: as others
  bool joins = false;          ///< is one instruction with its reader
  bool taken = false;          ///< is one instruction with what it reads
};

/// Of a block, what its stretches must know.
struct BlockEnd {
  Var guard = kNoVar;       ///< of its last operation, where its latency counts
  Var loop_guard = kNoVar;  ///< the same if that operation closes a loop
};

/// Calls fn(Var) for what `op` reads, with the shared load that is folded into it.
template <class Fn>
void each_use(const Program& program, const Op& op, Fn fn) {
  if (op.folded == kNone) return for_each_use(op, fn);
  const Op& load = program.folded[op.folded];
  for_each_use(op, [&](Var v) {
    if (v != load.dst[0]) fn(v);
  });
  for_each_use(load, fn);
}
/// The memory operation that `op` is or has; nullptr if none.
[[nodiscard]] inline const Op* access_of(const Program& program, const Op& op) {
  if (op.folded != kNone) return &program.folded[op.folded];
  return op.is_memory() ? &op : nullptr;
}

class DependenceFinder {
 public:
  DependenceFinder(const Program& program, bool lockstep);
  /// Nodes of the operations of a stretch. `alive`: the variables that are at its start; `kept`: those that
  /// are alive at the block's end.
  [[nodiscard]] std::vector<Node> find(std::span<const Op> ops, const BlockEnd& end,
                                       const std::vector<bool>& alive, const std::vector<bool>& kept);
  /// Cycles from the start of operation i to that of n, which must come after it.
  [[nodiscard]] uint32_t gap(std::span<const Op> ops, const std::vector<Node>& nodes, uint32_t i,
                             uint32_t n) const;

 private:
  /// What an access to memory may touch.
  struct Place {
    Space space = Space::kNone;
    bool anywhere = false;
    bool load = false;
    uint64_t base = 0;           ///< equal ones have the same value; kUnknown is equal to none
    int64_t begin = 0, end = 0;  ///< behind the base
    static constexpr uint64_t kUnknown = ~uint64_t{0};
    /// Could they touch the same byte, and one of them writes it?
    [[nodiscard]] bool conflicts(const Place& b) const {
      if (load && b.load) return false;
      if (anywhere || b.anywhere) return space != Space::kParam && b.space != Space::kParam;
      return space == b.space && (!is_beside(b) || overlaps(b));
    }
    /// Both are known by their distance.
    [[nodiscard]] bool is_beside(const Place& b) const {
      return space == b.space && base == b.base && base != kUnknown && !anywhere && !b.anywhere;
    }
    [[nodiscard]] bool overlaps(const Place& b) const { return begin < b.end && b.begin < end; }
  };
  /// An access to memory that came before.
  struct Access {
    uint32_t op = 0;
    uint32_t behind_all = 0;  ///< every access before this operation comes before it
    bool heeds = false;       ///< barriers
    Place place;
    uint32_t first_beside = 0;  ///< in its list, of those one behind the other that are beside it
    Place of_these;             ///< all of them up to this one
  };
  /// Those that loads, and those that the others must be compared with.
  struct Accesses {
    std::vector<Access> loads, others;
  };

  void edge(uint32_t from, uint32_t to);
  void order_access(std::span<const Op> ops, uint32_t i, const Op& access, bool heeds);
  [[nodiscard]] bool is_of_constant_data(const Op& access) const;
  [[nodiscard]] Place place_of(const Op& access) const;
  static void append(std::vector<Access>& list, Access access);
  static void drop_heeding(std::vector<Access>& list);
  void share_predicate(std::span<const Op> ops, const BlockEnd& end, const std::vector<bool>& kept);
  void find_joining(std::span<const Op> ops);
  void find_due(std::span<const Op> ops, const std::vector<bool>& alive);
  void note(const Op& op, uint32_t i);
  [[nodiscard]] bool reads_from(const Op& reader, const Op& writer) const;
  [[nodiscard]] uint32_t horizon(const Op& op, const Op* access) const;

  const Program& program_;
  bool lockstep_;
  std::vector<uint32_t> uses_;                  // of each variable, in the whole program
  std::vector<uint32_t> writer_;                // last so far
  std::vector<std::vector<uint32_t>> readers_;  // since then
  std::vector<std::vector<uint32_t>> loaders_;  // accesses that wrote it before
  std::vector<Node> nodes_;
  std::vector<Place> places_;  // of each op, if it is or has an access
  Accesses all_, unparted_;    // the latter: that no barrier parts from those behind the last one
  uint32_t last_ordered_ = kNone, last_barrier_ = kNone;
};

}  // namespace gpusim::isa::lir
