// `gpusim analyze`: analytical models beside what the simulator measured.
#include <CLI/CLI.hpp>
#include <memory>

#include "analysis/models/model.h"
#include "analysis/report/guarded.h"
#include "analysis/report/text.h"
#include "cli/commands.h"
#include "simcore/text/input_error.h"
#include "simcore/text/json_text.h"

namespace gpusim::cli {

namespace {

struct AnalyzeArguments {
  std::vector<std::string> files, options;
  std::string model, kernel;
  bool json = false, force = false;
};

analysis::ModelOptions options_of(const AnalyzeArguments& a) {
  analysis::ModelOptions options;
  options.kernel = a.kernel;
  for (const std::string& option : a.options) {
    const size_t sign = option.find('=');
    if (sign == 0 || sign == std::string::npos)
      throw core::InputError(fmt::format("gpusim: error: --option: expected NAME=VALUE, found '{}'", option));
    const std::string name = option.substr(0, sign), value = option.substr(sign + 1);
    if (name == "plot") check_output("--option plot", value, a.files, {"<?xml", "a plot"}, a.force);
    options.values.insert_or_assign(name, value);
  }
  if (!options.values.empty() && a.model.empty())
    throw core::InputError("gpusim: error: --option is for one model: name it with --model");
  return options;
}

std::string not_applicable(const analysis::Model& model, const std::string& why, bool json, bool first) {
  if (!json) return fmt::format("{}: not applied: {}\n", model.name, why);
  return fmt::format("{}{{\"model\": \"{}\", \"not_applied\": \"{}\"}}", first ? "" : ",\n", model.name,
                     core::json_escaped(why));
}

int analyze_recordings(const AnalyzeArguments& a) {
  const analysis::ModelOptions options = options_of(a);
  std::vector<const analysis::Model*> chosen;
  if (!a.model.empty()) chosen.push_back(&analysis::find_model(a.model));
  for (const analysis::Model& model : analysis::models())
    if (a.model.empty() && (!model.needs_several || a.files.size() > 1)) chosen.push_back(&model);
  return analysis::guarded(a.files.front(), [&] {
    std::vector<analysis::Recording> recordings;
    for (const std::string& file : a.files) recordings.emplace_back(file);
    std::string out, notes;
    for (const analysis::Recording& recording : recordings) {
      const std::string note = recording.partial_note();
      if (note.empty()) continue;
      if (a.json)
        notes +=
            fmt::format("{}{}", notes.empty() ? "" : ", ", core::json_quoted(recording.path() + ": " + note));
      else
        fmt::print("note: {}: {}\n", analysis::printable(recording.path()), analysis::printable(note));
    }
    for (const analysis::Model* model : chosen) {
      analysis::ModelReport report;
      try {
        report = model->run(recordings, options);
      } catch (const core::RecordError& e) {
        if (!a.model.empty()) throw;
        // Of all models, those that the file has enough for are printed.
        out += not_applicable(*model, e.what(), a.json, out.empty());
        continue;
      }
      if (a.json)
        out += fmt::format("{}{{\"model\": \"{}\", \"predictions\": [{}]{}{}}}", out.empty() ? "" : ",\n",
                           model->name, analysis::predictions_json(report.predictions),
                           report.json.empty() ? "" : ", \"details\": ", report.json);
      else
        out += report.text;
    }
    if (a.model.empty() && a.files.size() == 1 && !a.json)
      for (const analysis::Model& model : analysis::models())
        if (model.needs_several) out += fmt::format("{}: needs several recordings\n", model.name);
    if (a.json)
      fmt::print("{{\"notes\": [{}], \"models\": [{}]}}\n", notes, out);
    else
      fmt::print("{}", out);
    return kGood;
  });
}

}  // namespace

void add_analyze_command(CLI::App& program, int& code) {
  const auto a = std::make_shared<AnalyzeArguments>();
  std::string names;
  for (const analysis::Model& model : analysis::models())
    names += fmt::format("\n  {:<16} {}", model.name, model.description);
  CLI::App* command = program.add_subcommand(
      "analyze", "Compare analytical models with what a run recorded, kernel by kernel" + names);
  command->add_option("files", a->files, "Recorded files (--out of runs)")->required();
  command->add_option("--model", a->model, "One of the models above (default: all that need one run)");
  command->add_option("--kernel", a->kernel,
                      "Number of the launch, or name of the kernel, mangled or not (default: all)");
  command->add_option("--option", a->options, "NAME=VALUE, of the model (repeatable; docs/models.md)")
      ->allow_extra_args(false);
  command->add_flag("--force", a->force, "Replace the file of --option plot even if it is something else");
  command->add_flag("--json", a->json, "Print one JSON object");
  command->callback([a, &code] { code = analyze_recordings(*a); });
}

}  // namespace gpusim::cli
