// How long a kernel takes, from the work of its units and the latency of its warps: simple enough that a rule
// can change a count and ask again, and calibrated on each kernel, so that it gives the recorded cycles for
// the recorded counts. All times in core cycles.
//
// A kernel takes its start, and then whichever is longer: the busiest unit's work, or the path of the warps
// that follow each other in one place of an SM. Of the shorter one, the part of one round is not hidden:
// warps that begin together first wait together and then work together. With many rounds both are felt where
// they are near each other (a p-norm).
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gpusim::analysis::advice {

/// What a kernel needs.
struct Work {
  double start = 0;                                  ///< until its first block issues
  std::map<std::string, double, std::less<>> units;  ///< work of the busiest instance of each unit
  /// Waits of one warp, by the operation that is waited for, without queues.
  std::vector<double> chain;
  double rounds = 1;   ///< warps that follow each other in one place of an SM
  double longest = 0;  ///< of these waits, the longest single one
  double tail = 0;     ///< work at the end of all warps, beside which nothing else runs
  /// Of the slots that were lost, those lost to memory: what the estimate misses of these is queueing.
  double memory_share = 0;
  /// Of these queues, the share behind which DRAM is: memory partitions wait for it, and pass that on.
  double behind_dram = 0;
  double burst = 1;  ///< transactions that an access of a warp sends one after another
  double least = 0;  ///< core cycles that the kernel takes whatever its work, as that of one long block

  void scale(std::string_view unit, double factor);
  [[nodiscard]] double chain_sum() const;
  /// The unit with most work, and how much.
  [[nodiscard]] std::pair<std::string, double> fullest() const;
  /// The same of the interconnect and the L2, and of DRAM.
  [[nodiscard]] double fullest_of_ways() const;
  [[nodiscard]] double fullest_of_dram() const;
};

class Estimator {
 public:
  /// `cycles`: what the kernel took.
  Estimator(Work recorded, double cycles);
  [[nodiscard]] const Work& recorded() const { return recorded_; }
  /// Core cycles of the kernel with this work.
  [[nodiscard]] double cycles(const Work& work) const;
  /// Relative error of the estimate before it was calibrated: (estimated - recorded) / recorded.
  [[nodiscard]] double own_error() const { return own_error_; }

 private:
  Work recorded_;
  double felt_ = 1;    ///< share of the chain whose waits do not overlap each other: calibrated, at most 1
  double scale_ = 1;   ///< of all but the start and the queues: calibrated
  double queues_ = 0;  ///< core cycles in queues of memory, with the recorded traffic: calibrated
  double own_error_ = 0;
};

/// The longer one, and of the shorter one what `rounds` rounds do not hide.
[[nodiscard]] double overlapped(double first, double second, double rounds);

}  // namespace gpusim::analysis::advice
