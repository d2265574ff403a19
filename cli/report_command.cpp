// `gpusim report`: recorded runs and studies as one HTML page.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "analysis/report/guarded.h"
#include "analysis/report/html.h"
#include "analysis/report/run_report.h"
#include "cli/commands.h"
#include "cli/nearest_file.h"
#include "cli/recorded_run.h"
#include "simcore/text/input_error.h"
#include "simcore/text/reachable.h"
#include "simcore/text/whole_file.h"
#include "study/prove.h"
#include "study/study_page.h"

namespace gpusim::cli {

namespace {

struct ReportArguments {
  std::vector<std::string> files, source_paths;
  std::string out, launch, store;
  size_t kernels = 5, statements = 40;
  bool prove = false, force = false;
  unsigned threads = 0;  ///< 0: as many as there are processors
};

/// What changing one thing of the machine at a time is worth, for a run that ended.
std::string proof_html(const ReportArguments& a, const analysis::Recording& recording, bool& interrupted) {
  if (!recording.complete() || interrupted) return "";
  uint64_t cycles = 0;
  for (uint64_t i = 0; i < recording.launches().size(); ++i) cycles += recording.kernel(i).cycles;
  const study::Proof proof = proved(recorded_run(recording, a.launch), a.threads, cycles);
  interrupted = interrupted || proof.missing != 0;
  return fmt::format("<h3>Proof: what a change of the machine would have gained</h3>\n<pre>{}</pre>\n",
                     analysis::html_text(study::proof_text(proof)));
}

/// A study is named by its folder of results, which stands beside neither its file nor its PTX.
void refuse_what_is_not_there(const std::string& file) {
  core::refuse_unreachable(is_folder(file) ? (std::filesystem::path(file) / "study.toml").string() : file);
  const bool there = is_there(file);
  if (there && !file.ends_with(".toml") && !file.ends_with(".ptx")) return;
  const std::string meant =
      nearest_file(there ? std::filesystem::path(file).stem().string() : file,
                   [](const std::string& path) { return is_study_folder(path) || path.ends_with(".h5"); });
  throw core::InputError(
      fmt::format("gpusim: error: {}\n  hint: {}",
                  there ? fmt::format("'{}' is no recorded file and no folder of a study's results", file)
                        : fmt::format("cannot open '{}': there is no such file", file),
                  meant.empty() ? "a recorded file (run.h5), or the folder of a study's results (NAME.study)"
                                : fmt::format("did you mean '{}'?", meant)));
}

int write_report(const ReportArguments& a) {
  std::vector<std::string> runs;
  analysis::RunReportOptions options;
  for (const std::string& file : a.files) {
    refuse_what_is_not_there(file);
    if (!is_folder(file)) {
      runs.push_back(file);
      continue;
    }
    const study::StudyFolder folder = study::read_study_folder(file, a.store);
    const std::string id = fmt::format("study{}", options.further.size());
    options.further.push_back({id, folder.study.name, study::study_section(folder, id)});
  }
  check_output("--out", a.out, runs,
               {"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n", "a page"},
               a.force);
  options.kernels = a.kernels;
  options.statements = a.statements;
  options.sources = analysis::SourceTexts(a.source_paths);
  const auto report = [&] {
    std::vector<analysis::Recording> recordings;
    for (const std::string& file : runs) recordings.emplace_back(file);
    return analysis::run_report(recordings, options);
  };
  constexpr unsigned kCpuSeconds = 600;
  const int code = analysis::guarded(
      a.files.front(),
      [&] {
        const std::string page = report();
        if (!a.prove) core::write_whole_file(a.out, page);
        return kGood;
      },
      kCpuSeconds);
  if (code != kGood || !a.prove) return code;
  // The files can be read.
  return analysis::guarded_simulations(a.files.front(), [&] {
    bool interrupted = false;
    options.proof = [&](const analysis::Recording& r) { return proof_html(a, r, interrupted); };
    core::write_whole_file(a.out, report());
    return interrupted ? kInterruptedExit : kGood;
  });
}

}  // namespace

void add_report_command(CLI::App& program, int& code) {
  const auto a = std::make_shared<ReportArguments>();
  CLI::App* command = program.add_subcommand(
      "report", "Write recorded runs and studies as one HTML page that needs nothing else");
  command
      ->add_option("files", a->files, "Recorded files (--out of runs), and folders of studies (NAME.study)")
      ->required();
  command->add_option("--store", a->store, "Folder of a study's points, if it was run with --store");
  command->add_option("-o,--out", a->out, "HTML file")->required();
  command
      ->add_option("--kernels", a->kernels,
                   "Kernels of each run in detail, those that took most time (default: 5)")
      ->check(CLI::Range(1, 1000));
  command->add_flag("--force", a->force, "Replace the HTML file even if it is something else");
  command->add_option("--statements", a->statements, "Statements of each kernel's source (default: 40)")
      ->check(CLI::Range(1, 1'000'000));
  command
      ->add_option("--source-path", a->source_paths, "Folder where source files are looked for (repeatable)")
      ->allow_extra_args(false);
  CLI::Option* prove = command->add_flag(
      "--prove", a->prove, "Simulate each run again with each resource doubled and each latency halved");
  command->add_option("--threads", a->threads, "Simulations at the same time (default: processors)")
      ->check(CLI::Range(1, 256))
      ->needs(prove);
  command->add_option("--launch", a->launch, "The recorded launch file, where it names other files")
      ->needs(prove);
  command->callback([a, &code] { code = write_report(*a); });
}

}  // namespace gpusim::cli
