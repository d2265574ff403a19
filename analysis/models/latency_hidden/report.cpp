#include "analysis/models/latency_hidden/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>

#include "analysis/models/latency_hidden/advice.h"
#include "analysis/models/latency_hidden/breakdown.h"
#include "analysis/models/latency_hidden/functional.h"
#include "analysis/models/latency_hidden/invariants.h"
#include "analysis/models/latency_hidden/lines.h"
#include "analysis/models/latency_hidden/rate_plot.h"
#include "analysis/profile/quantities.h"
#include "analysis/recording/program.h"
#include "analysis/report/text.h"
#include "simcore/text/input_error.h"
#include "simcore/text/json_text.h"
#include "simcore/text/kernel_name.h"
#include "simcore/text/names.h"
#include "simcore/text/text_file.h"

namespace gpusim::analysis::latency_hidden {
namespace {

constexpr std::array<std::string_view, 7> kOptions{"variant", "aggregate", "parameters", "plot",
                                                   "x",       "inputs",    "change"};
constexpr std::array<std::string_view, 2> kVariants{"extended", "paper"};

struct Choice {
  bool paper = false;
  Aggregate aggregate = Aggregate::kLast;
  std::string parameters, plot, x, inputs, change;

  [[nodiscard]] std::string variant() const {
    return paper ? fmt::format("paper, {}", kAggregates[static_cast<size_t>(aggregate)]) : "extended";
  }
};

size_t index_of(const ModelOptions& options, std::string_view name, std::span<const std::string_view> valid) {
  const auto given = options.values.find(name);
  if (given == options.values.end()) return 0;
  const auto found = std::ranges::find(valid, given->second);
  if (found == valid.end())
    throw core::InputError(fmt::format("gpusim: error: --option {}={}: {}", name, given->second,
                                       core::name_hint(given->second, valid)));
  return static_cast<size_t>(found - valid.begin());
}

Choice choice_of(const ModelOptions& options) {
  require_known_options(options, "latency-hidden", kOptions);
  Choice c;
  c.paper = index_of(options, "variant", kVariants) == 1;
  c.aggregate = static_cast<Aggregate>(index_of(options, "aggregate", kAggregates));
  for (const auto& [name, value] : {std::pair("parameters", &c.parameters),
                                    {"plot", &c.plot},
                                    {"x", &c.x},
                                    {"inputs", &c.inputs},
                                    {"change", &c.change}})
    if (const auto given = options.values.find(name); given != options.values.end()) {
      if (given->second.empty())
        throw core::InputError(fmt::format("gpusim: error: --option {}: expected a value", name));
      *value = given->second;
    }
  if (!c.change.empty()) index_of(options, "change", kChanges);
  return c;
}

/// The prediction without a timed run, beside the one that reads the run's counts.
struct Functional {
  double cycles = 0;
  /// Cycles with one input of the functional run and all others of the timed one.
  std::array<double, kInputs.size()> one_of_it{};
  double followed = 1;
  std::vector<std::string> unmodelled;
};

/// All that is said about one kernel.
struct Result {
  const KernelRecord& kernel;
  Subject subject;
  Estimate extended;
  std::array<PaperEstimate, 3> paper;
  Breakdown breakdown;
  std::vector<Change> changes;
  std::string sheet;
  std::string note;  ///< how the machine differs from the sheet's; empty if it does not
  std::optional<Functional> functional;

  [[nodiscard]] double simulated() const { return static_cast<double>(kernel.cycles); }
  [[nodiscard]] double error(double cycles) const { return cycles / simulated() - 1; }
  [[nodiscard]] double seconds(double cycles) const { return cycles / subject.parameters.core_hz; }
  [[nodiscard]] double flops() const {
    const auto count = kernel.counters.find("flop_count");
    return count == kernel.counters.end() ? 0 : count->second;
  }
  [[nodiscard]] double gflops(double cycles) const { return flops() / seconds(cycles) / 1e9; }
};

std::string time_of(const Result& r, const std::string& what, double cycles, bool with_error) {
  return time_line(what, cycles, r.subject.parameters.core_hz, r.flops(),
                   with_error ? std::optional(r.error(cycles)) : std::nullopt);
}

std::string functional_lines(const Result& r) {
  const Functional& f = *r.functional;
  std::string out = time_of(r, "without a timed run", f.cycles, true);
  out += "    of the cycles, by the one input that is predicted:";
  for (size_t i = 0; i < kInputs.size(); ++i)
    out += fmt::format("{} {} {:+.1f} %", i == 0 ? "" : ",", kInputs[i],
                       100 * (f.one_of_it[i] / r.extended.cycles - 1));
  out += "\n";
  for (const std::string& what : f.unmodelled) out += fmt::format("    not modelled: {}\n", what);
  return out;
}

/// What the print has of each segment: the data of its formula, and the factor of every warp of an SM.
std::string paper_lines(const Result& r) {
  const PaperEstimate& e = r.paper[0];
  const PaperParameters p;
  std::string out = fmt::format(
      "  as printed: NBB {:.0f}, {} blocks of {} warps on an SM, {:.3f} rounds; latency {} of memory, {} of "
      "shared "
      "memory, {} GB/s\n"
      "      times    ILP_i  ILP_i+1 DataSize_i MemAccBw MemAccLa case  ends with\n",
      e.segments, e.resident, r.subject.workload.shape.warps_per_block, e.rounds, p.memory_latency,
      p.shared_latency, p.bytes_per_second / 1e9);
  for (const PaperSegment& s : paper_segments(r.subject.workload, r.subject.parameters, p, e.resident)) {
    out +=
        fmt::format("  {:>9.2f}{:>9.1f}{:>9.1f}{:>11.1f}{:>9.1f}{:>9.1f}{:>5}  {}{} at {}\n", s.times,
                    s.input.ilp, s.input.next_ilp, s.data, s.input.bandwidth, s.input.latency, s.which,
                    wait_name(s.end), s.barrier ? ", barrier form," : "", place_of(r.subject.code, s.last));
    const uint32_t block = r.subject.workload.shape.warps_per_block;
    for (size_t j = 0; j < s.warps.size(); ++j)
      out += fmt::format("{}{:.3f}{}",
                         j % block == 0 ? fmt::format("    factors of block {}: ", j / block + 1) : " ",
                         s.warps[j].factor, (j + 1) % block == 0 ? "\n" : "");
  }
  return out;
}

std::string paper_segments_json(const Result& r) {
  std::string out;
  for (const PaperSegment& s :
       paper_segments(r.subject.workload, r.subject.parameters, PaperParameters{}, r.paper[0].resident)) {
    std::string factors;
    for (const ExposedLatency& e : s.warps)
      factors += (factors.empty() ? "" : ", ") + core::json_number(e.factor);
    out += fmt::format(
        "{}{{\"last_pc\": {}, \"ends_with\": \"{}\", \"times\": {}, \"ilp\": {}, \"next_ilp\": {}, \"data\": "
        "{}, "
        "\"bandwidth\": {}, \"latency\": {}, \"case\": {}, \"barrier\": {}, \"factors\": [{}]}}",
        out.empty() ? "" : ", ", s.last, wait_name(s.end), core::json_number(s.times),
        core::json_number(s.input.ilp), core::json_number(s.input.next_ilp), core::json_number(s.data),
        core::json_number(s.input.bandwidth), core::json_number(s.input.latency), s.which, s.barrier,
        factors);
  }
  return out;
}

std::string text_of(const Result& r, bool as_printed) {
  const Estimate& e = r.extended;
  std::string out =
      fmt::format("latency-hidden: kernel {} {}  grid {}  block {}  ({})\n", r.kernel.index,
                  printable(core::short_kernel_name(r.kernel.name)), r.kernel.grid, r.kernel.block, r.sheet);
  out += time_of(r, "simulated", r.simulated(), false);
  out += time_of(r, "extended", e.cycles, true);
  if (r.functional) out += functional_lines(r);
  for (size_t a = 0; a < r.paper.size(); ++a)
    out += time_of(r, fmt::format("paper, {}", kAggregates[a]), r.paper[a].cycles, true);
  if (as_printed) out += paper_lines(r);
  out += rounds_lines(r.subject, e, "run");
  out += segment_lines(r.subject.code, r.breakdown, true);
  return out + factor_and_changes(e, r.changes) + "\n";
}

std::string functional_json(const Result& r) {
  if (!r.functional) return "";
  const Functional& f = *r.functional;
  std::string inputs, unmodelled;
  for (size_t i = 0; i < kInputs.size(); ++i)
    inputs += fmt::format("{}\"{}\": {}", i == 0 ? "" : ", ", kInputs[i], core::json_number(f.one_of_it[i]));
  for (const std::string& what : f.unmodelled)
    unmodelled += (unmodelled.empty() ? "" : ", ") + core::json_quoted(what);
  return fmt::format(
      "\"functional\": {{\"cycles\": {}, \"error\": {}, \"one_input\": {{{}}}, \"followed\": {}, "
      "\"unmodelled\": [{}]}}, ",
      core::json_number(f.cycles), core::json_number(r.error(f.cycles)), inputs,
      core::json_number(f.followed), unmodelled);
}

std::string json_of(const Result& r) {
  const Estimate& e = r.extended;
  std::string paper;
  for (size_t a = 0; a < r.paper.size(); ++a)
    paper += fmt::format("{}\"{}\": {{\"cycles\": {}, \"error\": {}, \"round\": {}}}", a == 0 ? "" : ", ",
                         kAggregates[a], core::json_number(r.paper[a].cycles),
                         core::json_number(r.error(r.paper[a].cycles)), core::json_number(r.paper[a].round));
  return fmt::format(
      "{{\"kernel\": {}, \"name\": \"{}\", \"parameters\": \"{}\", \"note\": {}, \"simulated\": "
      "{{\"cycles\": {}, "
      "\"seconds\": {}, \"gflops\": {}}}, "
      "\"extended\": {{\"cycles\": {}, \"seconds\": {}, \"gflops\": {}, \"error\": {}, \"round\": {}, "
      "\"tail\": {}, \"overhead\": {}}}, {}"
      "\"paper\": {{{}}}, \"paper_segments\": [{}], {}, \"segments\": [{}], "
      "\"idle\": {{\"predicted\": {}, \"simulated\": {}}}, \"changes\": [{}]}}",
      r.kernel.index, core::json_escaped(r.kernel.name), core::json_escaped(r.sheet),
      r.note.empty() ? "null" : core::json_quoted(r.note), r.kernel.cycles,
      core::json_number(r.seconds(r.simulated())), core::json_number(r.gflops(r.simulated())),
      core::json_number(e.cycles), core::json_number(r.seconds(e.cycles)),
      core::json_number(r.gflops(e.cycles)), core::json_number(r.error(e.cycles)), core::json_number(e.round),
      core::json_number(e.tail), core::json_number(e.overhead), functional_json(r), paper,
      paper_segments_json(r), rounds_json(r.subject, e), segments_json(r.subject.code, r.breakdown, true),
      core::json_number(r.breakdown.idle_predicted), core::json_number(r.breakdown.idle_simulated),
      changes_json(e, r.changes));
}

Prediction prediction_of(const Result& r, const Choice& choice) {
  Prediction p;
  p.launch = r.kernel.index;
  p.kernel = r.kernel.name;
  p.quantity = choice.paper ? "paper cycles" : "cycles";
  p.unit = "core cycles";
  p.simulated = r.simulated();
  p.predicted = choice.paper ? r.paper[static_cast<size_t>(choice.aggregate)].cycles : r.extended.cycles;
  if (choice.paper) return p;
  for (const SegmentTime& s : r.breakdown.segments)
    p.terms.push_back({fmt::format("segment to {} at {}", wait_name(s.end), place_of(r.subject.code, s.last)),
                       s.predicted(), s.simulated});
  p.terms.push_back({"SMs without a warp", r.breakdown.idle_predicted, r.breakdown.idle_simulated});
  return p;
}

/// The rate that the printed formula predicts, which is what the paper compares.
Prediction paper_rate(const Result& r, const Prediction& cycles) {
  Prediction p;
  p.launch = r.kernel.index;
  p.kernel = r.kernel.name;
  p.quantity = "paper rate";
  p.unit = "GFLOP/s";
  p.simulated = r.flops() / r.seconds(cycles.simulated) / 1e9;
  p.predicted = r.flops() / r.seconds(cycles.predicted) / 1e9;
  return p;
}

/// The kernel's cycles without a timed run, with the loss by each input.
Prediction functional_prediction(const Result& r) {
  Prediction p;
  p.launch = r.kernel.index;
  p.kernel = r.kernel.name;
  p.quantity = "functional cycles";
  p.unit = "core cycles";
  p.simulated = r.simulated();
  p.predicted = r.functional->cycles;
  p.terms.push_back({"inputs of the timed run", r.extended.cycles, r.simulated()});
  for (size_t i = 0; i < kInputs.size(); ++i)
    p.terms.push_back({std::string(kInputs[i]), r.functional->one_of_it[i], r.extended.cycles});
  return p;
}

/// That of the recorded launch.
const FunctionalKernel& functional_of(const FunctionalFile& file, const Recording& recording,
                                      const KernelRecord& kernel, const Code& code, const std::string& path) {
  if (file.machine != machine_identity(recording.machine()))
    throw core::RecordError(fmt::format(
        "'{}' is not of the machine of the run: another machine, or other values of its keys", path));
  if (file.sms != kernel.per_sm.rows)
    throw core::RecordError(fmt::format("'{}' is of a run with {} SMs, and kernel {} ran on {}", path,
                                        file.sms, kernel.index, kernel.per_sm.rows));
  const auto at = std::ranges::find(file.kernels, kernel.launch, &FunctionalKernel::launch);
  if (at == file.kernels.end() || at->name != kernel.name || at->grid != kernel.grid ||
      at->block != kernel.block || at->code.counts.size() != code.counts.size())
    throw core::RecordError(
        fmt::format("'{}' is not of the run whose kernel {} is '{}' with grid {}, block {} and {} operations",
                    path, kernel.index, kernel.name, kernel.grid, kernel.block, code.counts.size()));
  return *at;
}

Functional without_timed_run(const core::MachineConfig& machine, const Code& code, const Counts& counts,
                             const FunctionalKernel& kernel, const DataSheet& sheet, uint64_t sms) {
  const auto cycles = [&](const std::vector<OpCounts>& ops, const Counts& c) {
    Code changed = code;
    changed.counts = ops;
    const Subject s = subject_of(machine, std::move(changed), c, sheet, sms);
    return estimate(s.workload, s.parameters).cycles;
  };
  Functional f;
  f.followed = kernel.followed;
  f.unmodelled = kernel.unmodelled;
  f.cycles = cycles(kernel.code.counts, kernel.counts);
  for (size_t i = 0; i < kInputs.size(); ++i) {
    std::vector<OpCounts> ops = code.counts;
    Counts one = counts;
    take_input(static_cast<Input>(i), kernel.code.counts, kernel.counts, ops, one);
    f.one_of_it[i] = cycles(ops, one);
  }
  return f;
}

Result result_of(const Recording& recording, const KernelRecord& kernel, const Choice& choice,
                 const FunctionalFile& functional, const std::optional<LaunchShape>& changed) {
  if (!ran_at_own_clock(kernel, recording.machine()))
    throw core::RecordError(
        fmt::format("kernel {} '{}' ran at other core clocks than its machine's: the model's parameters are "
                    "in cycles of that",
                    kernel.index, kernel.name));
  const DataSheet sheet = choice.parameters.empty() ? known_data_sheet(recording.machine().gpu.name)
                                                    : read_data_sheet(choice.parameters);
  const core::MachineConfig& machine = recording.machine();
  const Code code = recorded_code(recording, kernel);
  const Counts counts = recorded_counts(kernel);
  const uint64_t sms = kernel.per_sm.rows;
  Result r{kernel, subject_of(machine, code, counts, sheet, sms), {}, {}, {}, {}, sheet.path, {}, {}};
  r.note = choice.parameters.empty() ? note_of_known_sheet(machine) : note_of_sheet(sheet, machine);
  r.extended = estimate(r.subject.workload, r.subject.parameters);
  for (size_t a = 0; a < r.paper.size(); ++a)
    r.paper[a] = paper_estimate(r.subject.workload, r.subject.parameters, PaperParameters{},
                                static_cast<Aggregate>(a));
  r.breakdown = break_down(r.subject, r.extended, &kernel);
  if (!choice.inputs.empty())
    r.functional = without_timed_run(
        machine, code, counts, functional_of(functional, recording, kernel, code, choice.inputs), sheet, sms);
  r.changes = changes_that_help({machine, counts, sheet, sms, changed}, r.subject, r.extended);
  return r;
}

/// Points of the plot, as the launches come: over the parameter `x` of the runs, where the launches of a
/// kernel in a run are one point, or over the number of the launch.
class RatePoints {
 public:
  explicit RatePoints(std::string x) : parameter_(std::move(x)) {}
  /// What is added next is of this run.
  void begin(const Recording& recording) {
    first_ = points_.size();
    recording_ = &recording;
    if (!parameter_.empty()) x_ = program_of(recording).param(parameter_, recording);
  }
  /// `sms`: on which the kernel ran.
  void add(RatePoint p, uint64_t sms) {
    if (parameter_.empty()) {
      p.x = static_cast<double>(points_.size() + 1);
      points_.push_back(std::move(p));
      return;
    }
    require_same_curve(p.kernel, sms);
    p.x = x_;
    const auto at =
        std::ranges::find_if(points_, [&](const RatePoint& o) { return o.kernel == p.kernel && o.x == p.x; });
    if (at == points_.end()) {
      points_.push_back(std::move(p));
      return;
    }
    if (at < points_.begin() + static_cast<ptrdiff_t>(first_))
      throw core::RecordError(fmt::format("'{}': a run before it has kernel '{}' with {} = {} too",
                                          recording_->path(), p.kernel, parameter_, p.x));
    at->flops += p.flops;
    at->simulated += p.simulated;
    at->predicted += p.predicted;
  }
  [[nodiscard]] const std::vector<RatePoint>& all() const { return points_; }

 private:
  struct Curve {
    std::string kernel;
    const Recording* recording = nullptr;
    uint64_t sms = 0;
  };
  /// Points of a curve differ in the parameter only.
  void require_same_curve(const std::string& kernel, uint64_t sms) {
    const auto curve = std::ranges::find(curves_, kernel, &Curve::kernel);
    if (curve == curves_.end()) {
      curves_.push_back({kernel, recording_, sms});
      return;
    }
    const Recording& first = *curve->recording;
    if (&first == recording_) return;
    const char* what = !(first.machine() == recording_->machine()) ? "another machine"
                       : curve->sms != sms                         ? "another number of SMs"
                       : first.ptx() != recording_->ptx()          ? "another program"
                                                                   : nullptr;
    if (what != nullptr)
      throw core::RecordError(fmt::format("'{}': kernel '{}' is of {} than in '{}': no curve over {}",
                                          recording_->path(), kernel, what, first.path(), parameter_));
  }

  std::string parameter_;
  const Recording* recording_ = nullptr;
  std::vector<Curve> curves_;
  double x_ = 0;
  size_t first_ = 0;  ///< point of the run
  std::vector<RatePoint> points_;
};

/// The shape of each kernel's curve: its rate (its time, if it has no floating-point operations) at a value
/// of `x` by that at the value before.
void add_steps(std::vector<RatePoint> points, const std::string& x, ModelReport& report) {
  std::ranges::stable_sort(points, {}, [](const RatePoint& p) { return std::tie(p.kernel, p.x); });
  for (size_t i = 1; i < points.size(); ++i) {
    const RatePoint &from = points[i - 1], &to = points[i];
    if (from.kernel != to.kernel) continue;
    const bool rate = from.flops > 0 && to.flops > 0;
    Prediction p;
    p.kernel = fmt::format("{}, {} {} to {}", to.kernel, x, from.x, to.x);
    p.quantity = rate ? "step of the rate" : "step of the time";
    p.predicted =
        rate ? to.flops / from.flops * from.predicted / to.predicted : to.predicted / from.predicted;
    p.simulated =
        rate ? to.flops / from.flops * from.simulated / to.simulated : to.simulated / from.simulated;
    report.text += fmt::format("{} of {}: {:.3f} times, simulated {:.3f}\n", rate ? "rate" : "time", p.kernel,
                               p.predicted, p.simulated);
    report.predictions.push_back(p);
  }
}

/// Time of a run's kernels, simulated, predicted, and predicted with a change of those that it helps.
struct RunTime {
  double simulated = 0, predicted = 0, changed = 0;
  uint64_t sms = 0;

  void add(const Result& r, double cycles, const std::string& change) {
    sms = r.kernel.per_sm.rows;
    simulated += r.seconds(cycles);
    predicted += r.seconds(r.extended.cycles);
    const auto at = std::ranges::find(r.changes, change, &Change::name);
    changed += r.seconds(at == r.changes.end() ? r.extended.cycles : at->cycles);
  }
};

/// Launches of the second of two recordings, if there are as many as in the first: those of the changed
/// kernels.
std::vector<LaunchShape> changed_launches(std::span<const Recording> recordings, const std::string& kernel) {
  if (recordings.size() != 2) return {};
  const std::vector<uint64_t> after = recordings[1].select(kernel);
  std::vector<LaunchShape> launches;
  if (after.size() != recordings[0].select(kernel).size()) return launches;
  for (const uint64_t index : after)
    launches.push_back(recorded_code(recordings[1], recordings[1].kernel(index)).shape);
  return launches;
}

/// What the change is said to gain, beside what the second run gained.
void add_gain(std::span<const Recording> recordings, const std::vector<RunTime>& times,
              const std::string& change, ModelReport& report) {
  if (recordings.size() != 2)
    throw core::InputError(fmt::format(
        "gpusim: error: --option change={}: needs two recordings, before the change and after it; "
        "{} given",
        change, recordings.size()));
  const bool same = recordings[0].machine() == recordings[1].machine();
  if (!same || times[0].sms != times[1].sms)
    throw core::InputError(fmt::format(
        "gpusim: error: --option change={}: '{}' and '{}' are of {}: what the change of the kernel gains is "
        "not told apart from what the machine does",
        change, recordings[0].path(), recordings[1].path(),
        same ? "other numbers of SMs" : "two machines, or of other values of one's keys"));
  Prediction p;
  p.kernel = fmt::format("change: {}", change);
  p.quantity = "gain";
  p.predicted = times[0].changed > 0 ? times[0].predicted / times[0].changed : 1;
  p.simulated = times[1].simulated > 0 ? times[0].simulated / times[1].simulated : 1;
  report.text += fmt::format("{}: {:.2f} times as fast, simulated {:.2f} (error {:+.1f} %)\n", change,
                             p.predicted, p.simulated, 100 * p.error());
  report.predictions.push_back(std::move(p));
}

}  // namespace

ModelReport run_model(std::span<const Recording> recordings, const ModelOptions& options) {
  const Choice choice = choice_of(options);
  FunctionalFile functional;
  if (!choice.inputs.empty())
    functional = functional_from_json(core::read_text_file(choice.inputs), choice.inputs);
  ModelReport report;
  RatePoints points(choice.x);
  std::vector<RunTime> times;
  std::vector<LaunchShape> launches;
  if (!choice.change.empty()) launches = changed_launches(recordings, options.kernel);
  size_t launch = 0;
  for (const Recording& recording : recordings) {
    points.begin(recording);
    times.emplace_back();
    for (const uint64_t index : recording.select(options.kernel)) {
      const KernelRecord kernel = recording.kernel(index);
      std::optional<LaunchShape> changed;
      if (&recording == recordings.data() && launch < launches.size()) changed = launches[launch++];
      const Result result = result_of(recording, kernel, choice, functional, changed);
      report.predictions.push_back(prediction_of(result, choice));
      const Prediction cycles = report.predictions.back();
      times.back().add(result, cycles.simulated, choice.change);
      if (choice.paper && result.flops() > 0) report.predictions.push_back(paper_rate(result, cycles));
      if (result.functional) report.predictions.push_back(functional_prediction(result));
      points.add({result.kernel.name, 0, result.flops(), result.seconds(cycles.simulated),
                  result.seconds(cycles.predicted)},
                 kernel.per_sm.rows);
      check_factors(fmt::format("kernel {} '{}'", kernel.index, kernel.name), result.extended,
                    result.breakdown, result.changes, report.invariants);
      report.text += text_of(result, choice.paper);
      if (!result.note.empty()) report.text += fmt::format("  note: {}\n", result.note);
      report.json += (report.json.empty() ? "" : ", ") + json_of(result);
    }
  }
  for (const std::string& broken : report.invariants.broken)
    report.text += fmt::format("  error of the model: {}\n", broken);
  if (!choice.change.empty()) add_gain(recordings, times, choice.change, report);
  if (!choice.x.empty()) add_steps(points.all(), choice.x, report);
  if (!choice.plot.empty()) {
    draw_svg(rate_plot(points.all(), choice.x.empty() ? "launch, in the order of the files" : choice.x,
                       fmt::format("{}: latency-hidden factor ({})", recordings.front().machine().gpu.name,
                                   choice.variant())),
             choice.plot);
    report.text += fmt::format("drawn: {}\n", choice.plot);
  }
  report.json = fmt::format("{{\"kernels\": [{}]}}", report.json);
  return report;
}

}  // namespace gpusim::analysis::latency_hidden
