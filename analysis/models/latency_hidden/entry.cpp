#include "analysis/models/latency_hidden/report.h"
#include "analysis/models/model.h"

namespace gpusim::analysis {

Model latency_hidden_entry() {
  return {"latency-hidden",
          "time of a kernel from what its warps cannot hide of latency (latency-hidden factor)",
          false,
          "factors in [0, 1]",
          latency_hidden::run_model,
          1};
}

}  // namespace gpusim::analysis
