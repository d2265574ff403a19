// `gpusim advise`: what would make a recorded run faster, and by how much.
#include <CLI/CLI.hpp>
#include <memory>

#include "analysis/advice/advise.h"
#include "analysis/report/guarded.h"
#include "analysis/report/text.h"
#include "cli/commands.h"
#include "simcore/text/input_error.h"
#include "simcore/text/json_text.h"

namespace gpusim::cli {

namespace {

struct AdviseArguments {
  std::string file, kernel;
  size_t top = 5;
  bool json = false, describe = false;
};

int advise_recording(const AdviseArguments& a) {
  if (a.describe) {
    fmt::print("{}", analysis::advice::describe_rules());
    return kGood;
  }
  if (a.file.empty())
    throw core::InputError(
        "gpusim: error: the recorded file is missing\n  hint: gpusim --config C W.ptx --out FILE.h5");
  return analysis::guarded(a.file, [&] {
    const analysis::Recording recording(a.file);
    const analysis::advice::RunAdvice run = analysis::advice::advise(recording, a.kernel);
    const std::string note = recording.partial_note();
    if (a.json)
      fmt::print("{{\"file\": {}, \"status\": {}, \"note\": {}, {}}}\n", core::json_quoted(a.file),
                 core::json_quoted(recording.status()), core::json_quoted(note),
                 analysis::advice::advice_json(run));
    else
      fmt::print("{}{}", note.empty() ? "" : fmt::format("note: {}\n", analysis::printable(note)),
                 analysis::advice::advice_text(run, a.top));
    return kGood;
  });
}

}  // namespace

void add_advise_command(CLI::App& program, int& code) {
  const auto a = std::make_shared<AdviseArguments>();
  CLI::App* advise = program.add_subcommand(
      "advise",
      "What would make a recorded run faster: where, which counter proves it, and how much it would gain");
  advise->add_option("file", a->file, "Recorded file (--out of a run)");
  advise->add_option("--kernel", a->kernel,
                     "Number of the launch, or name of the kernel, mangled or not (default: the whole run)");
  advise->add_option("--top", a->top, "Pieces of advice shown")->check(CLI::Range(1, 1000));
  advise->add_flag("--json", a->json, "Print one JSON object, with all advice");
  advise->add_flag("--describe", a->describe, "Print what each rule is about");
  advise->callback([a, &code] { code = advise_recording(*a); });
}

}  // namespace gpusim::cli
