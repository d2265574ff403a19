#include "analysis/models/energy/report.h"
#include "analysis/models/model.h"

namespace gpusim::analysis {

Model energy_entry() {
  return {"energy",
          "time, energy and system power at other core clocks (runs with --events memory or all)",
          false,
          "",
          energy::run_model,
          3};
}

}  // namespace gpusim::analysis
