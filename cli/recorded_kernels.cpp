#include "cli/recorded_kernels.h"

#include <CLI/CLI.hpp>

#include "analysis/report/guarded.h"
#include "analysis/report/text.h"
#include "simcore/text/input_error.h"
#include "simcore/text/json_text.h"

namespace gpusim::cli {

CLI::App* add_recording_command(CLI::App& program, const std::string& name, const std::string& description,
                                RecordingArguments& a) {
  CLI::App* command = program.add_subcommand(name, description);
  command->add_option("file", a.file, "Recorded file (--out of a run)");
  command->add_option("--kernel", a.kernel, "Number of the launch, or name of the kernel (default: all)");
  command->add_flag("--json", a.json, "Print one JSON object");
  return command;
}

int for_recorded_kernels(
    const RecordingArguments& a,
    const std::function<std::string(const analysis::KernelRecord&, const core::MachineConfig&)>& report) {
  if (a.file.empty())
    throw core::InputError(
        "gpusim: error: the recorded file is missing\n  hint: gpusim --config C W.ptx --out FILE.h5");
  return analysis::guarded(a.file, [&] {
    const analysis::Recording recording(a.file);
    std::string out;
    for (const uint64_t index : recording.select(a.kernel)) {
      const std::string text = report(recording.kernel(index), recording.machine());
      out += a.json && !out.empty() ? ",\n" + text : text;
    }
    if (a.json)
      fmt::print("{{\"file\": \"{}\", \"kernels\": [{}]}}\n", core::json_escaped(a.file), out);
    else
      fmt::print("{}", out);
    return kGood;
  });
}

}  // namespace gpusim::cli
