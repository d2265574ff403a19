// `gpusim explain`: where the cycles of a recorded kernel went.
#include "analysis/report/reports.h"
#include "cli/recorded_kernels.h"

namespace gpusim::cli {

int explain_command(const RecordingArguments& a) {
  if (a.describe) {
    fmt::print("{}", analysis::describe_causes());
    return kGood;
  }
  return for_recorded_kernels(a,
                              [&a](const analysis::KernelRecord& kernel, const core::MachineConfig& machine) {
                                const analysis::Explanation e = analysis::explain(kernel, a.top);
                                return a.json ? analysis::explanation_json(kernel, machine, e)
                                              : analysis::explanation_text(kernel, machine, e);
                              });
}

}  // namespace gpusim::cli
