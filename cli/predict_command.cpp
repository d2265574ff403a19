// `gpusim predict`: the time of a program's kernels without simulating a cycle.
#include <CLI/CLI.hpp>
#include <memory>

#include "analysis/models/latency_hidden/prediction.h"
#include "cli/commands.h"
#include "cli/main_job.h"
#include "predict/functional_counts.h"
#include "simcore/config/load.h"
#include "simcore/text/input_error.h"
#include "simcore/text/json_text.h"
#include "simcore/text/kernel_name.h"
#include "simcore/text/text_file.h"
#include "simcore/text/whole_file.h"

namespace gpusim::cli {

namespace {

struct PredictArguments {
  MainJobArguments run;
  std::string kernel, parameters, counts;
  uint64_t follow = predict::kMostFollowed;
  bool json = false, force = false;
};

int predict_program(const PredictArguments& a) {
  namespace lh = analysis::latency_hidden;
  comp::SimulationOptions o;
  o.machine = core::load_machine(a.run.config, a.run.sets, config_folders());
  if (a.run.sms > o.machine.gpu.sms)
    throw core::InputError(
        fmt::format("gpusim: error: --sms {}: {} has {}", a.run.sms, o.machine.gpu.name, o.machine.gpu.sms));
  const lh::PredictedMachine machine = lh::predicted_machine(o.machine, a.parameters, a.run.sms);
  refuse_what_is_no_ptx(a.run.ptx);
  o.ptx_name = a.run.ptx;
  o.ptx_text = core::read_text_file(a.run.ptx, core::kMaxPtxBytes);
  o.launch = load_launch(a.run);
  o.launch.link.insert(o.launch.link.end(), a.run.linked.begin(), a.run.linked.end());
  if (!a.counts.empty())
    check_output("--counts", a.counts, inputs_of(a.run, o.launch), {"{\"functional_counts\"", "such a file"},
                 a.force);
  for (const std::string& file : o.launch.link)
    o.linked.push_back({file, core::read_text_file(file, core::kMaxPtxBytes)});
  o.sms = a.run.sms;
  o.lowering = isa::lowering_level(a.run.lowering);
  o.max_cycles = a.run.max_cycles;
  std::vector<lh::FunctionalKernel> kernels;
  try {
    kernels = predict::functional_counts(std::move(o), a.follow);
  } catch (const predict::ProgramFailed& error) {
    // The functional run calls its limit as a run does.
    std::string reason = error.what();
    constexpr std::string_view kOfARun = "--max-cycles";
    if (const size_t at = reason.find(kOfARun); at != std::string::npos)
      reason.replace(at, kOfARun.size(), "--max-operations");
    print_error("{}: error: {}\n", a.run.ptx, reason);
    return kProgramFailed;
  }
  if (!a.counts.empty())
    core::write_whole_file(a.counts, lh::functional_json(machine.config, a.run.sms, kernels));
  std::string out;
  double cycles = 0;
  for (const lh::FunctionalKernel& k : kernels) {
    if (!a.kernel.empty() && !core::means_kernel(a.kernel, k.name)) continue;
    const lh::PredictedKernel p = lh::predict_kernel(machine, k);
    cycles += p.cycles;
    out += a.json ? (out.empty() ? "" : ",\n") + p.json : p.text;
  }
  if (out.empty())
    throw core::InputError(
        fmt::format("gpusim: error: --kernel {}: the program launches no such kernel", a.kernel));
  if (a.json)
    fmt::print("{{\"machine\": {}, \"cycles\": {}, \"kernels\": [{}]}}\n",
               core::json_quoted(machine.config.gpu.name), core::json_number(cycles), out);
  else
    fmt::print("{}", out);
  return kGood;
}

}  // namespace

void add_predict_command(CLI::App& program, int& code) {
  const auto a = std::make_shared<PredictArguments>();
  CLI::App* command = program.add_subcommand(
      "predict",
      "Predict the time of a program's kernels without simulating a cycle (latency-hidden factor)");
  command->add_option("ptx", a->run.ptx, "PTX file")->required();
  command->add_option("--config", a->run.config, "Machine: a path, or a name found in configs/")->required();
  command->add_option("--launch", a->run.launch, "Launch file (default: the .toml beside the PTX)");
  command->add_option("--link", a->run.linked, "A further PTX file of the program (repeatable)")
      ->allow_extra_args(false);
  command->add_option("--param", a->run.params, "Launch parameter NAME=VALUE (repeatable)")
      ->allow_extra_args(false);
  command->add_option("--set", a->run.sets, "Configuration override section.key=VALUE (repeatable)")
      ->allow_extra_args(false);
  command->add_option("--kernel", a->kernel, "Print only kernels of this name, mangled or not");
  command->add_option("--sms", a->run.sms, "SMs that kernels run on (default: all)");
  command->add_option("--seed", a->run.seed, "Seed of random buffers");
  command->add_option("--lowering", a->run.lowering, "Lowering passes: none, clean, schedule (default)")
      ->check(CLI::IsMember({"none", "clean", "schedule"}));
  command
      ->add_option("--max-operations", a->run.max_cycles,
                   "Warp operations after which a kernel counts as endless, looked at every 65536")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 60));
  command
      ->add_option("--follow", a->follow,
                   "Accesses of warps of a kernel that are followed through memory, in its first blocks")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40))
      ->capture_default_str();
  command->add_option("--parameters", a->parameters,
                      "Data sheet of the machine (gpusim microbench --json); default: the built-in one");
  command->add_option("--counts", a->counts,
                      "Write what the prediction reads, for `gpusim analyze --model latency-hidden --option "
                      "inputs=FILE`, which compares it with a timed run");
  command->add_flag("--force", a->force, "Replace the file of --counts even if it is something else");
  command->add_flag("--json", a->json, "Print one JSON object");
  command->callback([a, &code] { code = predict_program(*a); });
}

}  // namespace gpusim::cli
