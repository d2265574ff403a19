// `gpusim regress`: workloads x machines x models, against golden values and the simulation.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/this_program.h"
#include "regress/runner/verdict.h"
#include "simcore/text/input_error.h"
#include "simcore/text/names.h"
#include "simcore/text/reachable.h"
#include "simcore/text/whole_file.h"

namespace gpusim::cli {

namespace {

namespace fs = std::filesystem;

struct RegressArguments {
  std::string suite = "quick", root, work;
  std::vector<std::string> only;
  unsigned parallel = 0;  ///< 0: as many as there are processors
  bool update = false, judge_again = false, json = false, quiet = false;
};

/// Folders that may hold regress/suites/ and workloads/: what gpusim comes with, and the present folder.
std::vector<DataFolder> roots() {
  std::vector<DataFolder> folders = data_folders();
  folders.push_back({".", false});
  return folders;
}

struct SuiteFile {
  fs::path file;
  DataFolder root;
};

/// A suite's name, or the path of its file, whose cases then lie under `root` (default: this folder).
SuiteFile find_suite(const RegressArguments& a) {
  const std::string& suite = a.suite;
  const DataFolder given{a.root.empty() ? "." : a.root, false};
  if (suite.ends_with(".toml")) return {suite, given};
  std::vector<std::string> found;
  for (const DataFolder& root : a.root.empty() ? roots() : std::vector<DataFolder>{given}) {
    const fs::path folder = root.path / "regress" / "suites";
    const std::string file = (folder / (suite + ".toml")).string();
    core::refuse_unreachable(file);
    if (is_there(file)) return {file, root};
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error))
      if (entry.path().extension() == ".toml") found.push_back(entry.path().stem().string());
  }
  const std::vector<std::string_view> names(found.begin(), found.end());
  throw core::InputError(fmt::format(
      "gpusim: error: there is no suite '{}'; {}", suite,
      names.empty() ? "give the path of a suite file, or --root, the folder of workloads/ and regress/"
                    : core::name_hint(suite, names)));
}

int run_regression(const RegressArguments& a) {
  const SuiteFile found = find_suite(a);
  if (a.update && found.root.installed)
    throw core::InputError(fmt::format(
        "gpusim: error: --update: the suite '{}' is part of the installed program\n  hint: --root "
        "FOLDER updates that of a copy of {}",
        a.suite, found.root.path.string()));
  regress::Suite suite = regress::load_suite(found.file.string());
  suite.given = a.suite;
  if (!a.only.empty()) regress::select(suite, a.only);
  regress::RunOptions options;
  options.root = found.root.path.string();
  options.work = a.work.empty() ? "regress-" + suite.name : a.work;
  options.config_folders = config_folders();
  options.program = program_identity();
  options.judge_again = a.judge_again;
  options.parallel = a.parallel == 0 ? processors() : a.parallel;
  if (!a.quiet) options.on_done = [](const std::string& name) { print_error("{}: done\n", name); };
  const regress::SuiteResults results = regress::run_suite(suite, options);
  const fs::path golden = found.file.parent_path() / "golden" / (suite.name + ".json");
  if (a.update) {
    std::error_code error;
    fs::create_directories(golden.parent_path(), error);
    regress::Golden before;
    try {
      before = regress::read_golden(golden.string());
    } catch (const core::InputError&) {  // damaged: made anew
    }
    core::write_whole_file(golden.string(), regress::golden_text(suite, results, before));
  }
  const regress::Outcome outcome = regress::judge(suite, results, regress::read_golden(golden.string()));
  const std::string json = regress::outcome_json(suite, outcome),
                    text = regress::outcome_text(suite, outcome);
  const fs::path work(options.work);
  fmt::print("{}", a.json ? json : text);
  core::write_whole_file((work / "outcome.json").string(), json);
  core::write_whole_file((work / "outcome.txt").string(), text);
  regress::write_outcome_hdf5((work / "outcome.h5").string(), suite, outcome);
  return outcome.breaches == 0 ? kGood : kBadInput;
}

}  // namespace

void add_regress_command(CLI::App& program, int& code) {
  const auto a = std::make_shared<RegressArguments>();
  CLI::App* command = program.add_subcommand(
      "regress", "Run a suite of workloads: counters against golden values, models against the simulation");
  command->add_option("--suite", a->suite,
                      "quick, full, papers, or the path of a suite file (default: quick)");
  command->add_option("--root", a->root,
                      "Folder of workloads/ and regress/ (default: those that come with gpusim; of a suite "
                      "file: this folder)");
  command->add_option("--work", a->work,
                      "Folder for recordings and results; cases that are done there are not run again "
                      "(default: regress-SUITE)");
  command->add_option("--parallel", a->parallel, "Simulations at the same time (default: processors)")
      ->check(CLI::Range(1, 256));
  CLI::Option* only =
      command
          ->add_option("--only", a->only,
                       "Only this case or study, or all that begin so ('naive_*'); repeatable. Means are not "
                       "judged")
          ->allow_extra_args(false);
  CLI::Option* again = command->add_flag(
      "--judge-again", a->judge_again,
      "Apply the models to the recordings of the work folder, whichever build of gpusim made them");
  command->add_flag("--update", a->update, "Write the golden values of the suite")
      ->excludes(only)
      ->excludes(again);
  command->add_flag("--json", a->json, "Print one JSON object");
  command->add_flag("--quiet", a->quiet, "Do not name the cases that end");
  command->callback([a, &code] { code = run_regression(*a); });
}

}  // namespace gpusim::cli
