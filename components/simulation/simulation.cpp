#include "components/simulation/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "components/simulation/program.h"
#include "components/simulation/run_checker.h"
#include "components/simulation/run_plan.h"
#include "simcore/text/input_error.h"

namespace gpusim::comp {

Simulation::Simulation(SimulationOptions options)
    : options_(std::move(options)),
      module_(load_program(options_)),
      contents_(options_, module_),
      checker_(make_checker(options_, contents_)),
      services_(options_.on_print),
      images_(options_, module_, contents_, checker_.get()),
      launches_(options_, images_, contents_) {
  services_.set_printf_fifo_bytes(options_.printf_fifo_bytes);
  services_.set_malloc_heap_bytes(options_.malloc_heap_bytes);
  for (const PreparedLaunch& launch : launches_.known())
    services_.prepare(*launch.run->image, contents_.memory());
  warn_of_unset_constants();
}

Simulation::~Simulation() = default;

void Simulation::warn_of_unset_constants() const {
  if (!options_.on_warning) return;
  std::vector<const isa::Variable*> told;
  for (const auto& [variable, kernel] : images_.constants_read()) {
    if (std::ranges::find(told, variable) != told.end()) continue;
    told.push_back(variable);
    contents_.warn_if_unset(*variable, kernel);
  }
}

SimulationResult Simulation::run() {
  SimulationResult result;
  const RunPlan plan{options_, contents_, launches_, checker_.get(), services_};
  const auto begin = std::chrono::steady_clock::now();
  if (options_.functional)
    run_functional(plan, result);
  else
    run_timed(plan, result);
  result.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  result.add_up_kernels();
  if (checker_) collect_findings(*checker_, result);
  if (result.status == SimulationResult::Status::kComplete ||
      (result.status == SimulationResult::Status::kUnrecorded && result.ended))
    for (const core::ExpectSpec& e : options_.launch.expects)
      result.expects.push_back(core::check_expect(options_.launch, e, buffer(e.buffer)));
  return result;
}

}  // namespace gpusim::comp
