// Which levels of memory a warp's loads are served by, load by load along its path: what the run's hits say
// of each of them.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "analysis/models/latency_hidden/code.h"
#include "analysis/models/latency_hidden/own_reuse.h"
#include "analysis/models/latency_hidden/parameters.h"

namespace gpusim::analysis::latency_hidden {

/// Of one execution of an access.
[[nodiscard]] inline double transactions_of(const OpCounts& c) {
  return c.executed > 0 ? c.transactions / c.executed : 1;
}

class Servers {
 public:
  Servers(const Code& code, const Parameters& parameters, const LoadLevels& levels);
  /// Which levels all transactions of one execution are likely to be served by. On the path in its order.
  Served next(const isa::MicroOp& op, uint32_t pc);

 private:
  /// Hits of what the warp has loaded before, and of the rest: in the SM's cache, and in the second level of
  /// what the first lacks.
  struct Hits {
    double own = 0, others = 0, own_second = 0, others_second = 0;
  };

  Served levels_of(const isa::MicroOp& op, uint32_t pc);
  static Hits hits_of(const OwnReuse& reuse, const LoadLevels& levels);
  void set_own_hits();
  void set_cold();
  const Code& code_;
  const Parameters& p_;
  const LoadLevels& levels_;
  OwnReuse reuse_;
  Hits hits_;
  std::map<uint64_t, double> own_hits_;  ///< of what the warp has loaded so many loads before
  std::vector<double> cold_;  ///< of each stage: share of the data new to a warp that no cache has either
  double cold_by_data_ = 1;   ///< the same of loads whose addresses come of data
  double warm_hits_ = 0;      ///< of the rest, what the SM's cache has
  size_t visited_ = 0;        ///< loads that go through the SM's cache
};

}  // namespace gpusim::analysis::latency_hidden
