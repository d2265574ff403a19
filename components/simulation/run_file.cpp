#include "components/simulation/run_file.h"

#include <fmt/format.h>

#include "simcore/config/load.h"
#include "simcore/record/earlier_run.h"

namespace gpusim::comp {

RunFile::RunFile(const SimulationOptions& options) : options_(options) {
  if (options.out.empty()) return;
  core::RunAttributes a;
  a.program_version = options.program_version;
  a.config_text = core::show_machine(options.machine, false);
  a.ptx_text = options.ptx_text;
  for (const SimulationOptions::PtxFile& file : options.linked)
    a.ptx_text += fmt::format("\n// linked: {}\n{}", file.name, file.text);
  a.launch_text = options.launch.text;
  a.command_line = options.command_line;
  a.seed = options.launch.seed;
  replaces_ = options.keep_other_runs && core::replaces_same_run(options.out, a);
  recorder_ = core::Recorder::create(options.out, a, options.events, options.threads);
}

void RunFile::close(SimulationResult& result) {
  if (recorder_ == nullptr) return;
  const char* status = result.status == SimulationResult::Status::kComplete ? "complete"
                       : result.status == SimulationResult::Status::kFailed ? "failed"
                                                                            : "partial";
  result.recorded = recorder_->close(status, result.reason);
  if (!options_.on_warning) return;
  if (!result.recorded)
    options_.on_warning(
        fmt::format("{}: note: stays as it was; of this run, which did not end, nothing is kept\n"
                    "  hint: --out OTHER.h5 keeps what an interrupted run has recorded",
                    options_.out));
  else if (replaces_)
    options_.on_warning(fmt::format("{}: note: replaces the recording of an earlier run", options_.out));
}

}  // namespace gpusim::comp
