// The table of models: a new one is added here.
#include <array>

#include "analysis/models/energy/report.h"
#include "analysis/models/latency_hidden/report.h"
#include "analysis/models/model.h"
#include "analysis/models/reuse_distance/analysis.h"
#include "analysis/models/roofline/roofline.h"

namespace gpusim::analysis {

std::span<const Model> models() {
  static constexpr std::array kModels{
      Model{"latency-hidden",
            "time of a kernel from what its warps cannot hide of latency (latency-hidden factor)", false,
            "factors in [0, 1]", latency_hidden::run_model},
      Model{"reuse-distance", "misses of first-level caches by kind (runs with --events memory or all)",
            false, "", analyze_reuse},
      Model{"energy", "time, energy and system power at other core clocks (runs with --events memory or all)",
            false, "", energy::run_model},
      Model{"roofline", "rates at several numbers of SMs under measured roofs, and what the shape says", true,
            "", roofline_model},
  };
  return kModels;
}

}  // namespace gpusim::analysis
