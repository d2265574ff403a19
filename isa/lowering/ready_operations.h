// The operations of a stretch that could be next, of which the schedule takes the one that suits best. What
// suits changes with each that is taken, so they stand in groups that leave equally many registers and
// predicates occupied: in a group, the order changes only while an operation waits for its inputs, or starts
// early. A group gives its best; a stretch may have thousands that are ready.
#pragma once
#include <functional>
#include <map>
#include <queue>
#include <utility>
#include <vector>

#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {

/// Of registers and predicates, how many are occupied.
struct Occupied {
  int registers = 0, predicates = 0;
  Occupied& operator+=(const Occupied& o) {
    registers += o.registers;
    predicates += o.predicates;
    return *this;
  }
  Occupied& operator-=(const Occupied& o) {
    registers -= o.registers;
    predicates -= o.predicates;
    return *this;
  }
};

/// An operation that could be next.
struct Candidate {
  uint32_t index = 0;     ///< in the stretch
  uint32_t way = 0;       ///< cycles to the end of the stretch
  uint32_t ready_at = 0;  ///< cycle at which the inputs are there
  uint32_t due = 0;       ///< the first cycle at which somebody may wait for the result
  uint32_t barriers = 0;  ///< before it in the stretch
  uint32_t horizon = 0;   ///< cycles; how far ahead of its use it starts
  Occupied growth;        ///< how many more it leaves occupied
};

/// Where the schedule is.
struct Moment {
  uint32_t now = 0;       ///< cycle
  uint32_t barriers = 0;  ///< of the stretch, taken so far
  Occupied pressure;
};

class ReadyOperations {
 public:
  ReadyOperations(const ScheduleOptions& options, uint32_t operations)
      : options_(options), all_(operations), group_of_(operations, kNone), place_(operations, 0) {}

  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] bool contains(uint32_t index) const { return group_of_[index] != kNone; }
  void add(const Candidate& candidate, const Moment& moment);
  /// It leaves another number occupied than before.
  void change(uint32_t index, const Occupied& growth, const Moment& moment);
  /// Takes out what suits best. `moment` is no earlier than any before.
  uint32_t take_best(const Moment& moment);
  /// A barrier was taken: what stood behind it only is not ahead any more.
  void pass_barrier(const Moment& moment);

 private:
  /// How well an operation suits, best first: it fits; it fits with a loan; it takes a register for code
  /// behind a barrier; it waits for global memory; no predicate is free; it takes a register for somebody who
  /// cannot use it soon; registers are not enough.
  enum Suits : uint8_t { kFits, kLoaned, kAhead, kWaits, kNoPredicate, kEarly, kOver };
  struct Rank {
    int over = 0;
    Suits late = kFits;
    uint32_t stall = 0, way = 0, index = 0;
    [[nodiscard]] bool before(const Rank& b) const {
      if (late != b.late) return late < b.late;
      if (over != b.over) return over < b.over;
      if (stall != b.stall) return stall < b.stall;
      if (way != b.way) return way > b.way;
      return index < b.index;
    }
  };
  /// Least first: (a, b), where b is an operation.
  using Key = std::pair<uint32_t, uint32_t>;
  using Heap = std::priority_queue<Key, std::vector<Key>, std::greater<>>;
  struct Group {
    Occupied growth;
    std::vector<uint32_t> members;
    Heap by_index, by_way;  ///< of the members, and some that were
    Heap plain_by_way;      ///< of those that neither wait nor start early: they stay so
    Heap others;            ///< by the cycle from which on they are plain
  };

  [[nodiscard]] Rank rank(const Candidate& c, const Moment& moment) const;
  [[nodiscard]] bool is_ahead(const Candidate& c, const Moment& moment) const;
  [[nodiscard]] bool is_early(const Candidate& c, const Moment& moment) const;
  [[nodiscard]] uint32_t plain_from(const Candidate& c, const Moment& moment) const;
  void sort_in(uint32_t index, Group& group, const Moment& moment);
  void remove(uint32_t index);
  uint32_t best_of(Group& group, const Moment& moment);
  uint32_t search(const Group& group, const Moment& moment) const;
  /// The first of the heap that is still in the group; kNone if none is.
  uint32_t first_of(Heap& heap, const Group& group) const;
  [[nodiscard]] uint32_t way_key(const Candidate& c) const;

  ScheduleOptions options_;
  std::vector<Candidate> all_;      // by index
  std::vector<uint32_t> group_of_;  // of each, kNone if it is not ready
  std::vector<uint32_t> place_;     // of each, in its group
  std::vector<Group> groups_;
  std::map<std::pair<int, int>, uint32_t> group_numbers_;  // by growth
  size_t count_ = 0;
};

}  // namespace gpusim::isa::lir
