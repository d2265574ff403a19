#include "analysis/models/model.h"
#include "analysis/models/reuse_distance/analysis.h"

namespace gpusim::analysis {

Model reuse_distance_entry() {
  return {"reuse-distance",
          "misses of L1 caches by kind (runs with --events memory or all)",
          false,
          "",
          analyze_reuse,
          2};
}

}  // namespace gpusim::analysis
