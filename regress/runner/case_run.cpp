#include "regress/runner/case_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "analysis/profile/metrics.h"
#include "components/simulation/simulation.h"
#include "predict/functional_counts.h"
#include "simcore/config/load.h"
#include "simcore/process/child_process.h"
#include "simcore/record/command_text.h"
#include "simcore/text/sha256.h"
#include "simcore/text/text_file.h"
#include "simcore/text/whole_file.h"

namespace gpusim::regress {

namespace {

namespace fs = std::filesystem;

/// A case with its inputs read.
struct Prepared {
  const Case* spec = nullptr;
  core::MachineConfig machine;
  std::string ptx_path, ptx;
  core::LaunchDescription launch;
  std::string inputs;  ///< hash of what is simulated
  std::string judges;  ///< hash of the program and of what its models predict
};

std::string check_text(const Check& check) {
  std::string text = fmt::format("{}\n{}\n{}\n", check.model, check.quantity, check.options.kernel);
  for (const auto& [name, value] : check.options.values) text += fmt::format("{}={}\n", name, value);
  if (check.model == kMetrics) text += fmt::format("{}\n", check.expected);
  return text;
}

/// Of a file's content; of none, or one that cannot be read (the simulation says so), nothing.
std::string file_hash(const std::string& path) {
  if (path.empty()) return {};
  try {
    return core::sha256_hex(core::read_text_file(path, core::kAnySize));
  } catch (const core::InputError&) {
    return {};
  }
}

Prepared prepare(const Case& c, const RunOptions& options) {
  Prepared p;
  p.spec = &c;
  p.machine = core::load_machine(c.config, c.sets, options.config_folders);
  p.ptx_path = (fs::path(options.root) / c.ptx).string();
  p.ptx = core::read_text_file(p.ptx_path, core::kMaxPtxBytes);
  const fs::path launch =
      c.launch.empty() ? fs::path(p.ptx_path).replace_extension(".toml") : fs::path(options.root) / c.launch;
  p.launch = core::load_launch(launch.string(), c.params, 0);
  std::string all =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n", core::show_machine(p.machine, false), p.ptx, p.launch.text,
                  fmt::join(c.params, "\n"), c.sms, static_cast<int>(c.events), c.max_cycles);
  for (const std::string& file : p.launch.link) all += core::read_text_file(file, core::kMaxPtxBytes);
  for (const std::string& file : p.launch.data_files()) all += file_hash(file);
  for (const core::ExpectSpec& e : p.launch.expects) all += file_hash(e.file);
  p.inputs = core::sha256_hex(all);
  std::string judges = options.program + "\n";
  for (const Check& check : c.checks) judges += check_text(check);
  p.judges = core::sha256_hex(judges);
  return p;
}

fs::path recording_of(const RunOptions& options, const std::string& name) {
  return fs::path(options.work) / (name + ".h5");
}
fs::path state_of(const RunOptions& options, const std::string& name) {
  return fs::path(options.work) / (name + ".json");
}

/// The line before a case's result.
std::string heading(const std::string& inputs, const std::string& judges, const fs::path& recording) {
  return fmt::format("{} {} {}", inputs, judges, file_hash(recording.string()));
}

/// True, and the result, if an earlier run has done the same; with judge_again, if it has simulated the
/// same.
bool find_earlier(const Prepared& p, const RunOptions& options, CaseResult& result) {
  const Case& c = *p.spec;
  const fs::path state = state_of(options, c.name);
  std::error_code error;
  if (!fs::is_regular_file(state, error)) return false;
  try {
    const std::string text = core::read_text_file(state.string());
    const size_t end = text.find('\n');
    if (end == std::string::npos) return false;
    const std::string line = text.substr(0, end);
    const size_t second = line.find(' ') + 1;
    const std::string judges =
        options.judge_again ? line.substr(second, line.find(' ', second) - second) : p.judges;
    if (line != heading(p.inputs, judges, recording_of(options, c.name))) return false;
    result = result_from_text(text.substr(end + 1), state.string());
    return result.failure.empty() && !result.kernels.empty() &&
           (options.judge_again || result.checks.size() == c.checks.size());
  } catch (const core::InputError&) {
    return false;  // damaged: done again
  }
}

uint64_t counter(const comp::KernelResult& kernel, std::string_view name) {
  for (const core::Counter& c : kernel.counters)
    if (c.name == name) return static_cast<uint64_t>(c.value);
  return 0;
}

std::vector<KernelCounts> counts_of(std::vector<comp::KernelResult> kernels) {
  std::ranges::stable_sort(kernels, {}, &comp::KernelResult::launch);
  std::vector<KernelCounts> all;
  for (const comp::KernelResult& k : kernels) {
    KernelCounts counts{k.name, {{"cycles", k.cycles}}};
    for (const std::string_view name : golden_counters()) counts.values[std::string(name)] = counter(k, name);
    all.push_back(std::move(counts));
  }
  return all;
}

/// What the suite says of a metric beside its value.
analysis::ModelReport compare_metric(const Check& check, std::span<const analysis::Recording> recordings) {
  analysis::ModelReport report;
  const bool of_peak = check.quantity.ends_with(kOfPeak);
  const std::vector<std::string> names{
      check.quantity.substr(0, check.quantity.size() - (of_peak ? kOfPeak.size() : 0))};
  for (const analysis::Recording& recording : recordings)
    for (const uint64_t index : recording.select(check.options.kernel)) {
      const analysis::KernelRecord kernel = recording.kernel(index);
      const analysis::MetricValue v = analysis::compute_metrics(kernel, recording.machine(), names).front();
      if (!v.available()) throw core::InputError(fmt::format("no '{}': {}", names.front(), v.reason));
      if (of_peak && v.peak <= 0) throw core::InputError(fmt::format("'{}' has no peak", names.front()));
      report.predictions.push_back({index,
                                    kernel.name,
                                    check.quantity,
                                    of_peak || v.metric->unit == "1" ? "" : std::string(v.metric->unit),
                                    check.expected,
                                    of_peak ? v.value / v.peak : v.value,
                                    of_peak,
                                    {}});
    }
  return report;
}

CheckResult apply_model(const Check& check, std::span<const analysis::Recording> recordings) {
  CheckResult result;
  try {
    analysis::ModelReport report = check.model == kMetrics
                                       ? compare_metric(check, recordings)
                                       : analysis::find_model(check.model).run(recordings, check.options);
    for (analysis::Prediction& p : report.predictions)
      if (p.quantity == check.quantity) result.predictions.push_back(std::move(p));
    if (result.predictions.empty())
      result.failure = fmt::format("the model predicts no '{}'", check.quantity);
  } catch (const std::exception& e) {
    result.failure = e.what();
  }
  return result;
}

/// Of every recording, whatever the suite judges of it.
InvariantResult check_invariants(const analysis::Model& model,
                                 std::span<const analysis::Recording> recordings) {
  InvariantResult result{std::string(model.name), {}, {}};
  try {
    result.found = model.run(recordings, {}).invariants;
  } catch (const core::RecordError& e) {
    result.refused = e.what();
  } catch (const std::exception& e) {
    result.found.broken.emplace_back(e.what());
  }
  return result;
}

/// That of `gpusim` which makes the same recording.
std::string command_of(const Prepared& p, const comp::SimulationOptions& o) {
  const Case& c = *p.spec;
  core::CommandText text(c.config, core::show_machine(p.machine, false), p.ptx_path, p.ptx);
  for (const auto& file : o.linked) text.linked(file.name, file.text);
  text.launch(p.launch.path, p.launch.text);
  text.options("--param", c.params);
  text.options("--set", c.sets);
  if (c.sms != 0) text.number("--sms", c.sms);
  text.number("--seed", 0);
  constexpr std::array<std::string_view, 4> kLevels{"off", "summary", "memory", "all"};
  text.plain("--events", kLevels[static_cast<size_t>(c.events)]);
  text.plain("--lowering", isa::kLoweringLevels.back());
  text.number("--max-cycles", o.max_cycles);
  return text.text();
}

comp::SimulationOptions program_of(const Prepared& p, const RunOptions& options) {
  comp::SimulationOptions o;
  o.machine = p.machine;
  o.ptx_name = p.ptx_path;
  o.ptx_text = p.ptx;
  o.launch = p.launch;
  for (const std::string& file : p.launch.link)
    o.linked.push_back({file, core::read_text_file(file, core::kMaxPtxBytes)});
  o.lowering = isa::LoweringLevel::kSchedule;
  o.sms = p.spec->sms;
  o.events = p.spec->events;
  o.threads = 0;
  o.program_version = options.program;
  return o;
}

CaseResult simulate(const Prepared& p, const RunOptions& options) {
  comp::SimulationOptions o = program_of(p, options);
  if (p.spec->max_cycles != 0) o.max_cycles = p.spec->max_cycles;
  o.out = recording_of(options, p.spec->name).string();
  o.command_line = command_of(p, o);
  CaseResult result;
  comp::Simulation simulation(std::move(o));
  const comp::SimulationResult r = simulation.run();
  if (r.status != comp::SimulationResult::Status::kComplete)
    result.failure = r.reason.empty() ? "interrupted" : r.reason;
  else if (!r.expectations_met())
    result.failure = "its results differ from what its launch file expects";
  else
    result.kernels = counts_of(r.kernels);
  return result;
}

/// The value of an option "inputs" that stands for what the program's functional run says.
constexpr std::string_view kFunctional = "functional";

/// The check's options, with the file of what a functional run of the case says, if they ask for it. It is
/// made once for a case.
Check with_inputs(Check check, const Prepared& p, const RunOptions& options, std::string& file) {
  const auto inputs = check.options.values.find("inputs");
  if (inputs == check.options.values.end() || inputs->second != kFunctional) return check;
  if (file.empty()) {
    const std::string path = (fs::path(options.work) / (p.spec->name + ".counts.json")).string();
    core::write_whole_file(
        path, analysis::latency_hidden::functional_json(p.machine, p.spec->sms,
                                                        predict::functional_counts(program_of(p, options))));
    file = path;
  }
  inputs->second = file;
  return check;
}

void apply_models(const Prepared& p, const RunOptions& options, CaseResult& result) {
  const Case& c = *p.spec;
  result.checks.clear();
  result.invariants.clear();
  if (!result.failure.empty()) return;
  std::vector<analysis::Recording> recording;
  recording.emplace_back(recording_of(options, c.name).string());
  std::string functional;
  for (const Check& check : c.checks) {
    try {
      result.checks.push_back(apply_model(with_inputs(check, p, options, functional), recording));
    } catch (const core::InputError& e) {
      result.checks.push_back({e.what(), {}});
    }
  }
  for (const analysis::Model& model : analysis::models())
    if (!model.invariant.empty()) result.invariants.push_back(check_invariants(model, recording));
}

/// The whole case, in a process of its own; its result is kept before anybody is told of it.
std::string run_case(const Prepared& p, const RunOptions& options) {
  CaseResult result = simulate(p, options);
  apply_models(p, options, result);
  std::string text = to_text(result);
  core::write_whole_file(state_of(options, p.spec->name).string(),
                         heading(p.inputs, p.judges, recording_of(options, p.spec->name)) + "\n" + text);
  if (options.on_done) options.on_done(p.spec->name);
  return text;
}

/// The models of a case that an earlier run simulated. What that run kept stays.
std::string judge_case(const Prepared& p, CaseResult result, const RunOptions& options) {
  apply_models(p, options, result);
  if (options.on_done) options.on_done(p.spec->name);
  return to_text(result);
}

CaseResult answer_of(const core::ChildAnswer& answer) {
  if (answer.good) return result_from_text(answer.text, "answer");
  CaseResult failed;
  failed.failure = answer.text;
  return failed;
}

std::string run_study(const Study& study, const RunOptions& options) {
  CaseResult result;
  std::vector<analysis::Recording> recordings;
  for (const std::string& name : study.cases) recordings.emplace_back(recording_of(options, name).string());
  result.checks.push_back(apply_model(study.check, recordings));
  if (options.on_done) options.on_done(study.name);
  return to_text(result);
}

/// The first of the study's cases that failed; empty if none did.
std::string failed_case(const Suite& suite, const SuiteResults& results, const Study& study) {
  for (size_t i = 0; i < suite.cases.size(); ++i)
    if (!results.cases[i].failure.empty() &&
        std::ranges::find(study.cases, suite.cases[i].name) != study.cases.end())
      return suite.cases[i].name;
  return {};
}

/// Holds the work folder until the run ends.
class WorkLock {
 public:
  explicit WorkLock(const std::string& folder) {
    const std::string path = folder + "/.lock";
    file_ = open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file_ < 0) core::raise_input_error({folder, 0, 0}, "cannot be written to");
    if (flock(file_, LOCK_EX | LOCK_NB) != 0)
      core::raise_input_error({folder, 0, 0}, "another run of gpusim regress uses this folder");
  }
  ~WorkLock() { close(file_); }
  WorkLock(const WorkLock&) = delete;
  WorkLock& operator=(const WorkLock&) = delete;

 private:
  int file_ = -1;
};

}  // namespace

SuiteResults run_suite(const Suite& suite, const RunOptions& options) {
  std::error_code error;
  fs::create_directories(options.work, error);
  if (error || !fs::is_directory(options.work))
    core::raise_input_error({options.work, 0, 0}, "is no folder that can be used");
  const WorkLock lock(options.work);
  SuiteResults results;
  results.cases.resize(suite.cases.size());
  std::vector<Prepared> prepared;
  for (const Case& c : suite.cases) prepared.push_back(prepare(c, options));
  std::vector<size_t> open;  ///< cases that something has to be done for
  std::vector<std::function<std::string()>> works;
  for (size_t i = 0; i < prepared.size(); ++i) {
    const Case& c = suite.cases[i];
    if (find_earlier(prepared[i], options, results.cases[i])) {
      if (!options.judge_again) continue;
      works.emplace_back(
          [&p = prepared[i], &options, &known = results.cases[i]] { return judge_case(p, known, options); });
    } else {
      fs::remove(state_of(options, c.name), error);
      fs::remove(recording_of(options, c.name), error);
      works.emplace_back([&p = prepared[i], &options] { return run_case(p, options); });
    }
    open.push_back(i);
  }
  const auto answers = core::run_in_children(works, options.parallel);
  for (size_t k = 0; k < open.size(); ++k) results.cases[open[k]] = answer_of(answers[k]);
  works.clear();
  for (const Study& study : suite.studies)
    works.emplace_back([&study, &options, failed = failed_case(suite, results, study)] {
      if (!failed.empty()) throw core::InputError(fmt::format("case {} failed", failed));
      return run_study(study, options);
    });
  for (const core::ChildAnswer& answer : core::run_in_children(works, options.parallel))
    results.studies.push_back(answer_of(answer));
  return results;
}

}  // namespace gpusim::regress
