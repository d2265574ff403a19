// `gpusim study`: what-if studies. plan shows their points, run simulates them, show says what came out.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <filesystem>
#include <memory>
#include <set>

#include "cli/commands.h"
#include "cli/nearest_file.h"
#include "cli/study_progress.h"
#include "cli/this_program.h"
#include "simcore/config/load.h"
#include "simcore/process/child_process.h"
#include "simcore/text/reachable.h"
#include "simcore/text/text_file.h"
#include "simcore/text/whole_file.h"
#include "study/check_inputs.h"
#include "study/cluster.h"
#include "study/findings.h"
#include "study/guided.h"
#include "study/result_tables.h"
#include "study/run_points.h"
#include "study/time_text.h"

namespace gpusim::cli {

namespace {

namespace fs = std::filesystem;
using study::Point;
using study::PointResult;

struct StudyArguments {
  std::string file, out, store, on, part, objective;
  std::vector<std::string> configs, axes, params, sets, slurm;
  std::string launch;
  unsigned threads = 0;  ///< 0: as many as there are processors
  size_t tasks = 0;      ///< 0: one for each point, at most kMostTasks
  size_t guided = 0;     ///< 0: all points are simulated
  uint64_t guided_seed = study::kGuidedSeed;
  uint64_t max_cycles = 0;  ///< 0: as the study says
  bool again = false, json = false, quiet = false, commands = false, maximise = false, force = false;
};
/// Slurm's own limit of a job array is 1001 where nobody has changed it (MaxArraySize).
constexpr size_t kMostTasks = 1000;
/// Processor seconds that `plan` simulates to estimate a study's time before any of it has run.
constexpr double kTrials = 10;
constexpr size_t kScreen = 20;  ///< lines of a list that is seen with what stands above it

/// What could be meant by a name that no file has: a study, its folder of results, or PTX.
std::string meant_study(const std::string& name) {
  return nearest_file(name, [](const std::string& path) {
    return is_study_folder(path) || (!is_folder(path) && (path.ends_with(".toml") || path.ends_with(".ptx")));
  });
}

std::string study_file_in(const std::string& folder) { return (fs::path(folder) / "study.toml").string(); }

/// The study that the options stand for.
study::Study study_of_options(const StudyArguments& a) {
  if (is_folder(a.file)) {
    core::refuse_unreachable(study_file_in(a.file));
    throw core::InputError(fmt::format(
        "{}: error: is a folder{}", a.file,
        is_folder((fs::path(a.file) / "points").string())
            ? "\n  hint: the study in it has not ended, so that it has no study.toml yet: give the file and "
              "the options that it was begun with"
            : " without a study.toml\n  hint: a study file (.toml), or a PTX file with --config and --axis"));
  }
  refuse_what_is_no_ptx(a.file);
  core::refuse_unreachable(a.file);
  if (!is_there(a.file)) {
    const std::string toml = a.file + ".toml", meant = meant_study(a.file);
    throw core::InputError(fmt::format(
        "gpusim: error: there is no file '{}'\n  hint: {}", a.file,
        is_there(toml) ? fmt::format("a study is named by its file: {}", toml)
        : is_folder(a.file + ".study")
            ? fmt::format(
                  "{}.study has results of a study: give the study's file (.toml), or the PTX file and the "
                  "options that it was run with",
                  a.file)
        : meant.empty() ? std::string("a study file (.toml), or a PTX file with --config and --axis")
                        : fmt::format("did you mean '{}'?", meant)));
  }
  if (a.configs.empty())
    throw core::InputError(
        "gpusim: error: --config MACHINE is missing\n  hint: gpusim study run --config tesla_v100 --axis "
        "l1.size=64K,128K workload.ptx, or gpusim study run STUDY.toml");
  study::Study study;
  study.path = a.file;
  study.machines = a.configs;
  study::Workload workload;
  workload.ptx = a.file;
  workload.launch = a.launch;
  workload.params = a.params;
  workload.name = study::name_from(fs::path(a.launch.empty() ? a.file : a.launch).stem().string());
  workload.where = {a.file, 0, 0};
  study.name = workload.name;
  study.workloads.push_back(std::move(workload));
  for (const std::string& text : a.axes) study.axes.push_back(study::axis_from_option(text));
  return study;
}

study::Study study_of_file(const StudyArguments& a) {
  core::refuse_unreachable(a.file);
  if (const std::string meant = is_there(a.file) ? "" : meant_study(a.file); !meant.empty())
    throw core::InputError(
        fmt::format("gpusim: error: there is no file '{}'\n  hint: did you mean '{}'?", a.file, meant));
  if (!a.configs.empty() || !a.axes.empty() || !a.params.empty() || !a.launch.empty())
    throw core::InputError(fmt::format(
        "gpusim: error: {}: a study file says what --config, --axis, --param and --launch would\n  hint: "
        "without a "
        "study file, give the PTX: gpusim study run --config MACHINE --axis l1.size=16K,32K workload.ptx",
        a.file));
  return study::load_study(a.file);
}

/// A folder of results stands for its study.
void resolve_folder(StudyArguments& a) {
  if (!is_study_folder(a.file)) return;
  if (a.out.empty()) a.out = a.file;
  a.file = study_file_in(a.file);
}

/// The study of a file, or of the options that stand for one.
study::Study study_of(const StudyArguments& a) {
  study::Study study = a.file.ends_with(".toml") ? study_of_file(a) : study_of_options(a);
  study.sets.insert(study.sets.end(), a.sets.begin(), a.sets.end());
  if (!a.objective.empty()) {  // the file's maximise is about the file's objective
    study.objective = a.objective;
    study.maximise = false;
  }
  study.maximise |= a.maximise;
  if (a.max_cycles != 0) study.max_cycles = a.max_cycles;
  study::check_study(study);
  study::check_inputs(study, study::points_of(study), config_folders());
  study.text = study::study_toml(study);
  return study;
}

/// Folder of what a study writes.
std::string folder_of(const StudyArguments& a, const study::Study& study) {
  return a.out.empty() ? study.name + ".study" : a.out;
}

study::RunOptions run_options(const StudyArguments& a, const study::Study& study) {
  study::RunOptions options;
  options.store = a.store.empty() ? (fs::path(folder_of(a, study)) / "points").string() : a.store;
  options.program = program_identity();
  options.config_folders = config_folders();
  options.parallel = a.threads == 0 ? processors() : a.threads;
  options.again = a.again;
  return options;
}

/// One run of a study at a time writes the results of a folder.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    const std::string path = folder + "/.lock";
    file_ = open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file_ < 0) core::raise_input_error({folder, 0, 0}, "is no folder that can be written to");
    if (flock(file_, LOCK_EX | LOCK_NB) != 0)
      core::raise_input_error({folder, 0, 0}, "another run of a study uses this folder");
  }
  ~FolderLock() { close(file_); }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int file_ = -1;
};

/// Throws core::InputError if another study has its results in the folder.
void check_folder(const std::string& folder, const study::Study& study, const StudyArguments& a) {
  const std::string file = study_file_in(folder);
  if (!a.force && is_there(file) && core::read_text_file(file, core::kAnySize) != study.text)
    core::raise_input_error({folder, 0, 0}, "holds the results of another study (its study.toml)",
                            fmt::format("{}--out another folder, or --force to write over them",
                                        a.out.empty() ? "the folder is named after the given file; " : ""));
}

/// Tasks on other computers read FOLDER/study.toml; else it is written with the results.
void write_study_file(const std::string& folder, const study::Study& study) {
  std::error_code error;
  fs::create_directories(folder, error);
  core::write_whole_file(study_file_in(folder), study.text);
}

void write_results(const std::string& folder, const study::Outcome& o,
                   const std::vector<study::GroupFindings>& findings) {
  write_study_file(folder, o.study);
  const auto path = [&folder](const char* name) { return (fs::path(folder) / name).string(); };
  core::write_whole_file(path("results.csv"), study::results_csv(o.study, o.points, o.results));
  study::write_results_hdf5(path("results.h5"), o.study, o.points, o.results);
  core::write_whole_file(path("findings.txt"), study::findings_text(o, findings));
  core::write_whole_file(path("findings.json"), study::findings_json(o, findings));
  if (o.guided != nullptr)
    core::write_whole_file(path("predictions.csv"), study::predictions_csv(o.study, o.points, *o.guided));
}

/// Good if every point is there and complete; what a study is for is said, whatever single points came to.
int exit_code(std::span<const PointResult> results) {
  int code = kGood;
  for (const PointResult& r : results) {
    if (r.status == PointResult::Status::kMissing) return kBadInput;
    if (r.status == PointResult::Status::kFailed) code = kProgramFailed;
    if (r.status == PointResult::Status::kWrong && code == kGood) code = kWrongResult;
    if (r.status == PointResult::Status::kRefused && code == kGood) code = kBadInput;
  }
  return code;
}

int report(const StudyArguments& a, const study::Outcome& o,
           const std::vector<study::GroupFindings>& findings) {
  fmt::print("{}", a.json ? study::findings_json(o, findings)
                          : analysis::printable_lines(study::findings_text(o, findings)));
  if (o.guided == nullptr) return exit_code(o.results);
  std::vector<PointResult> asked;  // the others are missing because nobody wanted them
  for (const PointResult& r : o.results)
    if (r.status != PointResult::Status::kMissing) asked.push_back(r);
  return exit_code(asked);
}

/// "3/16": points 3, 19, 35, ... in the order of the study.
std::vector<size_t> part_of(const std::string& text, size_t points) {
  size_t part = 0, parts = 0;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%zu/%zu%c", &part, &parts, &rest) != 2 || text[0] == '-' || parts == 0 ||
      part >= parts || parts > study::kMostPoints)
    throw core::InputError(fmt::format("gpusim: error: --part '{}' is not I/N with I from 0 to N-1", text));
  std::vector<size_t> which;
  for (size_t i = part; i < points; i += parts) which.push_back(i);
  return which;
}

size_t count_missing(const std::vector<PointResult>& results) {
  return static_cast<size_t>(
      std::ranges::count(results, PointResult::Status::kMissing, &PointResult::status));
}

study::ClusterJob cluster_job(const StudyArguments& a, const study::Study& study,
                              const study::RunOptions& options, const std::string& folder, size_t tasks) {
  study::ClusterJob job;
  job.program = fs::read_symlink("/proc/self/exe").string();
  job.study_file = fs::absolute(study_file_in(folder)).lexically_normal().string();
  job.store = fs::absolute(options.store).lexically_normal().string();
  job.logs = fs::absolute(fs::path(folder) / "slurm").lexically_normal().string();
  job.tasks = tasks;
  job.threads = a.threads == 0 ? 1 : a.threads;
  job.options = a.slurm;
  job.name = study.name;
  return job;
}

/// Says how many stored points cannot be read; they are as good as missing.
class DamagedPoints {
 public:
  explicit DamagedPoints(study::RunOptions& options) {
    options.on_damaged = [this](const std::string&) { ++count_; };
  }
  void tell() {
    if (count_ == 1) print_error("1 stored point is damaged and counts as not simulated\n");
    if (count_ > 1) print_error("{} stored points are damaged and count as not simulated\n", count_);
    count_ = 0;
  }

 private:
  size_t count_ = 0;
};

/// The process that Ctrl-C is for; its children end with it.
pid_t interrupted_process = 0;
void end_study(int) {
  if (getpid() == interrupted_process) {
    constexpr std::string_view text = "\ninterrupted: the same command goes on where this one was\n";
    (void)!write(STDERR_FILENO, text.data(), text.size());
  }
  _exit(kInterruptedExit);
}
/// Nothing is lost but the points that are being simulated, so the process ends at once.
void end_at_interrupt() {
  interrupted_process = getpid();
  struct sigaction action {};
  action.sa_handler = end_study;
  sigaction(SIGINT, &action, nullptr);
}

/// Once a point has been simulated, the folder stands for its study: `show` and `run` need no other words,
/// even if this run is interrupted. Before that a study that cannot be run leaves the folder to the corrected
/// one.
class FolderOfStudy {
 public:
  FolderOfStudy(std::string folder, const study::Study& study) : folder_(std::move(folder)), study_(study) {}
  void simulated(const PointResult& result) {
    if (written_ || result.status == PointResult::Status::kRefused) return;
    written_ = true;
    const std::string file = study_file_in(folder_);
    std::error_code error;
    if (is_there(file) && core::read_text_file(file, core::kAnySize) != study_.text)
      fs::remove(fs::path(folder_) / "results.csv", error);  // --force: of another study
    write_study_file(folder_, study_);
  }

 private:
  std::string folder_;
  const study::Study& study_;
  bool written_ = false;
};

/// Chooses points, simulates them, and estimates the others.
study::Guided run_guided(const StudyArguments& a, const study::Study& study, const std::vector<Point>& points,
                         study::RunOptions options, DamagedPoints& damaged) {
  const unsigned parallel = options.parallel;
  std::optional<StudyProgress> predictions;
  StudyProgress progress(std::min(a.guided, points.size()), "points", options.parallel, a.quiet);
  FolderOfStudy folder(folder_of(a, study), study);
  options.on_start = [&damaged] { damaged.tell(); };
  options.on_done = [&](size_t point, const PointResult& r) {
    study::check_objective(study, points[point], r);
    folder.simulated(r);
    predictions.reset();
    if (r.status != PointResult::Status::kRefused) progress.done(r, false);
  };
  return study::run_guided(study, points, a.guided, a.guided_seed, options, [&](size_t done, size_t all) {
    if (!predictions) predictions.emplace(all, "predictions", parallel, a.quiet);
    predictions->reached(done);
  });
}

/// What somebody can do who waits for a long study.
std::string sooner(const study::Study& study, size_t points) {
  const size_t guided = study::guided_points(study, points);
  return fmt::format("this takes long; {}`gpusim study plan` says what else is sooner",
                     guided == 0
                         ? ""
                         : fmt::format("to get by with {} of these simulations, end it with Ctrl-C and add "
                                       "--guided {} to the command: the other points are predicted, with "
                                       "error bars. ",
                                       guided, guided));
}

int run_study(const StudyArguments& a) {
  const study::Study study = study_of(a);
  const std::vector<Point> points = study::points_of(study);
  study::RunOptions options = run_options(a, study);
  DamagedPoints damaged(options);
  options.on_start = [&damaged] { damaged.tell(); };
  end_at_interrupt();
  if (!a.part.empty()) {
    const std::vector<size_t> which = part_of(a.part, points.size());
    return exit_code(study::run_points(study, points, which, options));
  }
  const std::string folder = folder_of(a, study);
  const FolderLock lock(folder);
  check_folder(folder, study, a);
  std::vector<PointResult> results;
  std::optional<study::Guided> guided;
  if (a.guided != 0 && a.guided < points.size()) {
    guided = run_guided(a, study, points, options, damaged);
    results = guided->results;
  } else if (a.on == "slurm") {
    fs::create_directories(options.store);
    write_study_file(folder, study);
    results = study::stored_results(study, points, options);
    damaged.tell();
    if (const size_t missing = count_missing(results); missing > 0) {
      const size_t tasks = std::min(a.tasks == 0 ? kMostTasks : a.tasks, points.size());
      const int status = study::run_on_slurm(cluster_job(a, study, options, folder, tasks));
      results = study::stored_results(study, points, options);
      if (const size_t left = count_missing(results); left > 0)
        throw core::InputError(
            fmt::format("gpusim: error: {} of {} points are missing after the job array (sbatch: exit code "
                        "{})\n  hint: its "
                        "outputs are in {}; the same command goes on with what is missing",
                        left, points.size(), status, (fs::path(folder) / "slurm").string()));
    }
  } else {
    StudyProgress progress(points.size(), "points", options.parallel, a.quiet);
    progress.set_hint(sooner(study, points.size()));
    std::vector<size_t> all(points.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = i;
    bool simulating = false;  // what is there is told first, in one go
    FolderOfStudy of_study(folder, study);
    options.on_done = [&](size_t point, const PointResult& r) {
      study::check_objective(study, points[point], r);  // now, rather than when all are simulated
      if (simulating) of_study.simulated(r);
      progress.done(r, !simulating);
    };
    options.on_start = [&] {
      simulating = true;
      damaged.tell();
      progress.begin();
    };
    results = study::run_points(study, points, all, options);
  }
  const study::Outcome outcome{study, points, results, guided ? &*guided : nullptr};
  const auto findings = study::find(outcome);
  // A study without one possible point leaves its folder to the corrected one.
  if (std::ranges::all_of(results,
                          [](const PointResult& r) { return r.status == PointResult::Status::kRefused; }))
    return report(a, outcome, findings);
  write_results(folder, outcome, findings);
  const int code = report(a, outcome, findings);
  if (!a.json && !a.quiet)
    fmt::print(
        "\nresults              {0}/results.csv, {0}/results.h5, {0}/findings.json{1}\n"
        "as a page with plots  gpusim report {2} -o report.html\n",
        folder, guided ? fmt::format(", {}/predictions.csv", folder) : "", study::shell_word(folder));
  if (!a.json && !a.quiet && findings.size() == 1 && findings[0].simulated > 1 &&
      findings[0].against != findings[0].best.front())
    fmt::print(
        "why, line by line     {}\n                      {}\n                      gpusim compare other.h5 "
        "best.h5\n",
        study::run_command(study, points[findings[0].against], "other.h5"),
        study::run_command(study, points[findings[0].best.front()], "best.h5"));
  return code;
}

int show_study(const StudyArguments& a) {
  const study::Study study = study_of(a);
  const std::vector<Point> points = study::points_of(study);
  study::RunOptions options = run_options(a, study);
  DamagedPoints damaged(options);
  const std::vector<PointResult> results = study::stored_results(study, points, options);
  damaged.tell();
  const study::Outcome outcome{study, points, results};
  return report(a, outcome, study::find(outcome));
}

int plan_study(const StudyArguments& a) {
  const study::Study study = study_of(a);
  const std::vector<Point> points = study::points_of(study);
  study::RunOptions options = run_options(a, study);
  DamagedPoints damaged(options);
  if (a.commands) {
    const std::string folder = folder_of(a, study);
    check_folder(folder, study, a);
    write_study_file(folder, study);
    const study::ClusterJob job = cluster_job(a, study, options, folder, points.size());
    for (size_t i = 0; i < points.size(); ++i) fmt::print("{}\n", study::task_command(job, i));
    return kGood;
  }
  const std::vector<PointResult> results = study::stored_results(study, points, options);
  damaged.tell();
  const auto refused = std::ranges::count(results, PointResult::Status::kRefused, &PointResult::status);
  const size_t missing = count_missing(results);
  std::string summary =
      fmt::format("{} point{}, {} to be simulated{}\n", points.size(), points.size() == 1 ? "" : "s", missing,
                  refused == 0 ? "" : fmt::format(", {} refused", refused));
  fmt::print("{}", summary);
  std::fflush(stdout);  // what follows takes a while
  if (missing > 0) {
    const std::string time = study::time_text(study::estimate_time(study, points, results, options, kTrials),
                                              study, points.size(), options.parallel);
    fmt::print("{}", time);
    summary += time;
  }
  fmt::print("\n");
  for (size_t i = 0; i < points.size(); ++i) {
    const PointResult& r = results[i];
    fmt::print("{:>6}  {:<10} {}\n", i,
               r.status == PointResult::Status::kMissing ? "to do" : study::status_name(r.status),
               study::point_text(study, points[i]));
  }
  fmt::print("{}", analysis::printable_lines(study::reasons_text(study, points, results, [&](size_t i) {
               return results[i].status == PointResult::Status::kRefused;
             })));
  // Of a list that is longer than a screen the end is what is seen.
  if (points.size() > kScreen) fmt::print("\n{}", summary);
  return refused == 0 ? kGood : kBadInput;
}

void add_study_options(CLI::App* command, StudyArguments& a) {
  command
      ->add_option("study", a.file,
                   "Study file (.toml), a folder of its results, or a PTX file with --config and --axis")
      ->required();
  command->add_option("--config", a.configs, "Machine, without a study file (repeatable)")
      ->allow_extra_args(false);
  command
      ->add_option("--axis", a.axes,
                   "What is varied, without a study file: l1.size=16K,32K; param.N=256,512; "
                   "lsu.mshrs+l1.mshrs=64,128 together (repeatable)")
      ->allow_extra_args(false);
  command->add_option("--launch", a.launch, "Launch file, without a study file (default: beside the PTX)");
  command->add_option("--param", a.params, "NAME=VALUE at all points, without a study file (repeatable)")
      ->allow_extra_args(false);
  command->add_option("--set", a.sets, "section.key=VALUE at all points (repeatable)")
      ->allow_extra_args(false);
  command->add_option(
      "--objective", a.objective,
      "What is to be small: time_s (default), cycles, energy_j, energy_delay, sram_kib or a counter");
  command->add_flag("--maximise", a.maximise, "The objective is to be large");
  command->add_option("--max-cycles", a.max_cycles, "A kernel that runs longer is reported as endless")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 62));
  command->add_option("--out", a.out, "Folder for results (default: NAME.study in this folder)");
  command->add_option(
      "--store", a.store,
      "Folder of simulated points, which studies may share (default: points/ in the folder of results)");
  command->add_option("--threads", a.threads, "Simulations at the same time (default: processors)")
      ->check(CLI::Range(1, 256));
}

void add_force(CLI::App* command, StudyArguments& a) {
  command->add_flag("--force", a.force, "Write over the results of another study in the folder");
}

}  // namespace

void add_study_command(CLI::App& program, int& code) {
  const auto a = std::make_shared<StudyArguments>();
  CLI::App* command = program.add_subcommand(
      "study", "What-if studies: workloads x machines x what you vary (docs/study.md)");
  command->require_subcommand(1);

  CLI::App* plan = command->add_subcommand("plan", "Show the points of a study and how long they will take");
  add_study_options(plan, *a);
  plan->add_flag("--commands", a->commands,
                 "Print a command for each point instead, for GNU parallel, Make or a cluster");
  add_force(plan, *a);
  plan->callback([a, &code] {
    resolve_folder(*a);
    code = plan_study(*a);
  });

  CLI::App* run = command->add_subcommand("run", "Simulate what is missing and say what the results show");
  add_study_options(run, *a);
  add_force(run, *a);
  CLI::Option* on = run->add_option("--on", a->on, "Where: slurm submits a job array and waits for it")
                        ->check(CLI::IsMember({"slurm"}));
  run->add_option("--tasks", a->tasks, "Tasks of the job array (default: one a point, at most 1000)")
      ->check(CLI::Range(1, 1'000'000))
      ->needs(on);
  run->add_option("--slurm", a->slurm, "An option for sbatch, such as --slurm=--partition=long (repeatable)")
      ->allow_extra_args(false)
      ->needs(on);
  run->add_option("--part", a->part, "Only points I, I+N, I+2N, ... of the study, and no results: I/N")
      ->excludes(on);
  CLI::Option* guided =
      run->add_option(
             "--guided", a->guided,
             "Simulate only so many points, chosen by what the analytical models predict, and predict the "
             "others with error bars")
          ->check(CLI::Range(3, 1'000'000))
          ->excludes(on)
          ->excludes("--part");
  run->add_option("--guided-seed", a->guided_seed,
                  "Of --guided: another number draws other points (default: 1)")
      ->needs(guided);
  run->add_flag("--again", a->again, "Simulate points again that failed");
  run->add_flag("--quiet", a->quiet, "No progress");
  run->add_flag("--json", a->json, "Print what the results show as one JSON object");
  run->callback([a, &code] {
    resolve_folder(*a);
    code = run_study(*a);
  });

  CLI::App* show =
      command->add_subcommand("show", "Say what the results show, as far as points are simulated");
  add_study_options(show, *a);
  show->add_flag("--quiet", a->quiet, "No progress (there is none; as for run)");
  show->add_flag("--json", a->json, "Print one JSON object");
  show->callback([a, &code] {
    resolve_folder(*a);
    code = show_study(*a);
  });

  // Last, since commands take over the footer of those that they are added to.
  command->footer(
      "Without a study file, every value of an axis meets every value of the others:\n"
      "    gpusim study run --config tesla_v100 --axis l1.mshrs=128,256 --axis param.N=4096,65536 W.ptx\n"
      "`plan` with the same words says how long that takes. If it is long, `run --guided N` simulates N "
      "points\n"
      "that a model chooses, and predicts the others with error bars.\n"
      "Keys: gpusim config describe. Options: gpusim study run --help.\n\n" +
      command->get_footer());
}

}  // namespace gpusim::cli
