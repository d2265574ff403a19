// `gpusim export`: the work of a PTX file, for a real GPU to do (regress/hardware/measure.cu).
#include <CLI/CLI.hpp>
#include <limits>
#include <memory>

#include "cli/commands.h"
#include "correlate/plan.h"

namespace gpusim::cli {

namespace {

struct ExportArguments {
  std::string ptx, launch, name, out;
  std::vector<std::string> params;
  uint64_t seed = 0;
  bool fitting = false;
};

int export_plan(const ExportArguments& a) {
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

}  // namespace

void add_export_command(CLI::App& program, int& code) {
  const auto a = std::make_shared<ExportArguments>();
  CLI::App* plan = program.add_subcommand(
      "export", "Write what a real GPU needs to run a PTX file: its data and launches (docs/correlate.md)");
  plan->add_option("ptx", a->ptx, "PTX file")->required();
  plan->add_option("--out", a->out, "Folder to write (made if it is not there)")->required();
  plan->add_option("--launch", a->launch, "Launch file (default: the .toml beside the PTX)");
  plan->add_option("--param", a->params, "NAME=VALUE, overrides [params] of the launch file (repeatable)")
      ->allow_extra_args(false);
  plan->add_option("--seed", a->seed, "Seed of the generated buffers")
      ->check(CLI::Range(int64_t{0}, std::numeric_limits<int64_t>::max()));
  plan->add_option("--name", a->name, "Of the run (default: the PTX file's)");
  plan->add_flag("--fitting", a->fitting, "Configurations are fitted to it: it does not judge them");
  plan->callback([a, &code] { code = export_plan(*a); });
}

}  // namespace gpusim::cli
