// `gpusim correlate`: measurements of a real GPU beside simulations of the same work. `gpusim export`: that
// work, for a GPU to do (regress/hardware/measure.cu).
#include "cli/commands.h"
#include "correlate/correlation.h"
#include "correlate/plan.h"
#include "simcore/config/load.h"

namespace gpusim::cli {

int correlate_command(const CorrelateArguments& a) {
  const core::MachineConfig machine = core::load_machine(a.config, a.sets, config_folders());
  const correlate::HardwareFile file = correlate::read_hardware_file(a.hardware);
  const auto simulated = correlate::simulate_runs(file, machine, static_cast<unsigned>(a.threads));
  const correlate::Correlation c =
      correlate::correlate(file, simulated, static_cast<double>(machine.gpu.launch_cycles));
  fmt::print("{}", a.json ? correlate::correlation_json(file, machine.gpu.name, c)
                          : correlate::correlation_text(file, machine.gpu.name, c));
  if (c.program_failed) return kProgramFailed;
  if (c.incomplete) return kBadInput;
  return c.results_differ() ? kWrongResult : kGood;
}

int export_command(const ExportArguments& a) {
  correlate::PlanRequest request;
  request.ptx = a.ptx;
  request.launch = a.launch;
  request.params = a.params;
  request.seed = a.seed;
  request.name = a.name;
  request.fitting = a.fitting;
  correlate::write_plan(request, a.out);
  return kGood;
}

}  // namespace gpusim::cli
