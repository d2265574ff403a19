// The table of models: a new one is added here.
#include <array>

#include "analysis/model.h"
#include "analysis/reuse_analysis.h"

namespace gpusim::analysis {

std::span<const Model> models() {
  static constexpr std::array kModels{
      Model{"reuse-distance", "misses of first-level caches by kind (runs with --events memory or all)", false,
            &analyze_reuse},
  };
  return kModels;
}

}  // namespace gpusim::analysis
