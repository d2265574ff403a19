// The extended model's time of a whole launch: rounds of blocks follow one another on each SM until none is
// left.
#pragma once
#include "analysis/models/latency_hidden/exposure.h"

namespace gpusim::analysis::latency_hidden {

/// All rounds of the launch, mean of the SMs.
struct AllRounds {
  double rounds = 0;              ///< how many an SM has begun: a path that it waits for
  double resident = 0;            ///< blocks on the machine meanwhile, summed over the rounds
  double first = 0;               ///< of the rounds, those whose blocks begin together
  std::vector<RoundPart> stages;  ///< sums
};

struct Estimate {
  std::vector<Stage> stages;
  uint32_t resident = 0;  ///< blocks of an SM in a full round
  double round = 0;       ///< core cycles of a full round: TimeOneRep
  double rounds = 0;      ///< RepNum
  double tail = 0;        ///< core cycles from the first SM without a block to the end
  double active = 0;      ///< core cycles with a resident block, mean of the SMs
  double overhead = 0;    ///< launch, and the last stores on their way
  double cycles = 0;
  RoundPart full;  ///< of a full round
  AllRounds all;
  [[nodiscard]] double factor() const { return full.factor(); }
};
[[nodiscard]] Estimate estimate(const Workload& w, const Parameters& p);

}  // namespace gpusim::analysis::latency_hidden
