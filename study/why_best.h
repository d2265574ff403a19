// Why the best point of a study is the best: its cycles against those of another point as a sum of causes,
// which is exact, and the counts that moved most.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "study/run_points.h"

namespace gpusim::study {

struct MovedCause {
  std::string cause;  ///< "memory_dram", "issued"
  double cycles = 0;  ///< of all kernels: in the best point, less in the other one
};
struct MovedCounter {
  std::string name;
  double other = 0, best = 0;
};
struct WhyBest {
  double other_cycles = 0, best_cycles = 0;
  std::vector<MovedCause> causes;      ///< largest change first; all of them, so that they add up
  std::vector<MovedCounter> counters;  ///< largest relative change first
};

/// Empty causes if one of the points has no issue slots.
[[nodiscard]] WhyBest why_best(const PointResult& other, const PointResult& best);
[[nodiscard]] std::string why_text(const WhyBest& why, std::string_view other_point);
/// The same in one sentence: "it takes 65 % fewer cycles than l1_size=16K: 36 % less waiting for data that
/// the L2 had". Empty as above.
[[nodiscard]] std::string why_sentence(const WhyBest& why, std::string_view other_point);
[[nodiscard]] std::string why_json(const WhyBest& why, uint32_t other_point);

}  // namespace gpusim::study
