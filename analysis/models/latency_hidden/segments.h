// Segments of a warp's instruction stream: from one switch point to the next. A switch point is where the
// warp must wait: the first use of data of memory that are still in flight, or a barrier; as in the paper, a
// store to memory of what a segment computes is a segment of its own too. One warp is followed alone along
// its typical path, with measured latencies, so that a wait is what is left of the latency when the data are
// needed. What only some warps execute is on the path in as far as it is likely that one of the block's, or
// of the launch's, does.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "analysis/models/latency_hidden/code.h"
#include "analysis/models/latency_hidden/parameters.h"

namespace gpusim::analysis::latency_hidden {

/// kJoin: nobody waits; operations follow that more warps execute than those before.
enum class Wait : uint8_t { kData, kBarrier, kStore, kJoin, kEnd };
[[nodiscard]] const char* wait_name(Wait wait);

/// Behind the SM's queue: its ports to the interconnect and from it, the lines that its cache can have on
/// their way, and the partitions' units that perform atomics.
enum BehindUnit : uint8_t { kRequestPort, kReplyPort, kLines, kAtomics, kBehindUnits };
using Behind = std::array<double, kBehindUnits>;

/// Per warp and occurrence; times in core cycles.
struct Segment {
  uint32_t first = 0, last = 0;  ///< operations: where it begins, and the one that waits at its end
  Wait end = Wait::kEnd;
  uint32_t stage = 0;  ///< outermost loop, or the code between two, in which it begins
  double weight = 0;   ///< occurrences per warp
  double passes = 0;   ///< occurrences on the path of so many warps: what one of them executes, they wait for
  double operations = 0;
  double walked = 0;         ///< operations of a warp that executes all that is on the path
  double paper_ilp = 0;      ///< operations at the paper's throughput
  std::vector<double> busy;  ///< of each unit of Parameters::units
  Behind behind{};           ///< the same of what no warp waits for when it issues
  double issue = 0;          ///< issue slots
  double in_turn = 0;        ///< of its units, of warps that are in step: see Turns
  double sooner = 0;         ///< of in_turn: by how much the first scheduler's warps are done before all
  double asks = 0;           ///< of chain: until its first access to memory
  double chain = 0;          ///< of a warp alone from its begin to the wait: issue and dependences
  double wait = 0;           ///< what is then left of the latency
  double loop_walked = 0, loop_chain = 0,
         loop_wait = 0;  ///< of these, what longer warps do more often: in loops
  // The same of a block's warps that are in step, operation by operation: from the first one's begin.
  double step_chain = 0, step_wait = 0;
  double pages = 0;                     ///< its first pass of a launch, for pages that are new to all
  double stored = -1;                   ///< of chain: until its last store or atomic; -1: there is none
  double requested = 0;                 ///< bytes of memory that threads ask for
  double read = 0, written = 0;         ///< bytes of memory transactions
  double second = 0;                    ///< bytes between the SM and the L2
  std::map<uint32_t, double> executed;  ///< operations, and how often each
  bool global = false, shared = false;  ///< accesses memory; shared memory
  /// The unit or the issue slots that its operations keep longest.
  [[nodiscard]] double compute() const;
  /// Gives it this chain and wait; what is in loops, and of warps in step, follows.
  void shorten(double to_chain, double to_wait);
  /// What one warp alone waits: for results, and at its end for data.
  [[nodiscard]] double latency() const;
  /// What a block of so many warps waits that are in step.
  [[nodiscard]] double latency_in_step(double warps) const;
};

/// Work of warps that are in step, each unit's operations in turn: while all of them do a run of operations
/// of one unit, the others are idle, but for the run's last operation, which they finish one after the other.
class Turns {
 public:
  void add(size_t unit, double busy);
  [[nodiscard]] double time() const { return time_; }

 private:
  size_t unit_ = ~size_t{0};
  double run_ = 0, last_ = 0, before_ = 0;  ///< of this run, of its last operation, of that of the run before
  double time_ = 0;
};

/// In the order of the path; the last one ends with Wait::kEnd. `levels`: of the run's loads. `warps`: how
/// many the path is of, whose last is waited for: those of a block, or of the launch.
[[nodiscard]] std::vector<Segment> find_segments(const Code& code, const Parameters& parameters,
                                                 const LoadLevels& levels, double warps);

/// Sum of the weights: the paper's NBB.
[[nodiscard]] double count_of(const std::vector<Segment>& segments);

}  // namespace gpusim::analysis::latency_hidden
