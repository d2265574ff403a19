#include "analysis/models/latency_hidden/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "analysis/models/latency_hidden/advice.h"
#include "analysis/models/latency_hidden/breakdown.h"
#include "analysis/models/latency_hidden/invariants.h"
#include "analysis/models/latency_hidden/rate_plot.h"
#include "analysis/profile/quantities.h"
#include "analysis/recording/program.h"
#include "analysis/report/text.h"
#include "simcore/text/input_error.h"
#include "simcore/text/json_text.h"
#include "simcore/text/kernel_name.h"
#include "simcore/text/names.h"

namespace gpusim::analysis::latency_hidden {
namespace {

constexpr std::array<std::string_view, 5> kOptions{"variant", "aggregate", "parameters", "plot", "x"};
constexpr std::array<std::string_view, 2> kVariants{"extended", "paper"};

struct Choice {
  bool paper = false;
  Aggregate aggregate = Aggregate::kLast;
  std::string parameters, plot, x;

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
  for (const auto& [name, value] : {std::pair("parameters", &c.parameters), {"plot", &c.plot}, {"x", &c.x}})
    if (const auto given = options.values.find(name); given != options.values.end()) {
      if (given->second.empty())
        throw core::InputError(fmt::format("gpusim: error: --option {}: expected a value", name));
      *value = given->second;
    }
  return c;
}

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

  [[nodiscard]] double simulated() const { return static_cast<double>(kernel.cycles); }
  [[nodiscard]] double error(double cycles) const { return cycles / simulated() - 1; }
  [[nodiscard]] double seconds(double cycles) const { return cycles / subject.parameters.core_hz; }
  [[nodiscard]] double flops() const {
    const auto count = kernel.counters.find("flop_count");
    return count == kernel.counters.end() ? 0 : count->second;
  }
  [[nodiscard]] double gflops(double cycles) const { return flops() / seconds(cycles) / 1e9; }
  [[nodiscard]] std::string place(uint32_t pc) const {
    return fmt::format("line {} `{}`", kernel.per_pc["ptx_line"][pc],
                       printable(kernel.per_pc.texts.find("ptx")->second[pc]));
  }
};

std::string time_line(const Result& r, const char* what, double cycles, bool with_error) {
  return fmt::format("  {:<24}{:>14.0f} cycles {:>12.3f} us {:>9.2f} GFLOP/s{}\n", what, cycles,
                     1e6 * r.seconds(cycles), r.gflops(cycles),
                     with_error ? fmt::format("  error {:+.1f} %", 100 * r.error(cycles)) : "");
}

std::string segment_lines(const Result& r) {
  std::string out =
      "  segments (ILP, wait: cycles of one warp; compute, exposed, simulated: cycles of the kernel)\n"
      "      times      ILP     wait    bytes   factor     compute     exposed   predicted   simulated  ends "
      "with\n";
  for (const SegmentTime& s : r.breakdown.segments)
    out += fmt::format(
        "  {:>9.2f}{:>9.1f}{:>9.1f}{:>9.1f}{:>9.3f}{:>12.0f}{:>12.0f}{:>12.0f}{:>12.0f}  {} at {}\n",
        s.weight, s.ilp, s.latency, s.bytes, s.factor, s.compute, s.exposed, s.predicted(), s.simulated,
        wait_name(s.end), r.place(s.last));
  out += fmt::format("  {:<69}{:>12.0f}{:>12.0f}  launch, tail, last stores\n", "  SMs without a warp",
                     r.breakdown.idle_predicted, r.breakdown.idle_simulated);
  return out;
}

std::string text_of(const Result& r) {
  const Estimate& e = r.extended;
  std::string out =
      fmt::format("latency-hidden: kernel {} {}  grid {}  block {}  ({})\n", r.kernel.index,
                  printable(core::short_kernel_name(r.kernel.name)), r.kernel.grid, r.kernel.block, r.sheet);
  out += time_line(r, "simulated", r.simulated(), false);
  out += time_line(r, "extended", e.cycles, true);
  for (size_t a = 0; a < r.paper.size(); ++a)
    out += time_line(r, fmt::format("paper, {}", kAggregates[a]).c_str(), r.paper[a].cycles, true);
  out += fmt::format(
      "  {} blocks on an SM (limited by {}), {} of them in a full round of {:.0f} cycles, {:.3f} rounds "
      "({:.0f})\n",
      r.subject.occupancy.blocks_per_sm, r.subject.occupancy.limiter, e.resident, e.round, e.rounds,
      std::ceil(e.rounds));
  out += fmt::format("  {:.0f} segments of a warp; times: executions per warp that the run counted\n",
                     count_of(r.subject.workload.segments));
  out += segment_lines(r);
  out += fmt::format(
      "  latency-hidden factor of the kernel {:.3f}: {:.0f} of {:.0f} cycles of latency of a round are "
      "exposed\n",
      e.factor(), e.full.exposed, e.full.latency);
  if (r.changes.empty()) out += "  nothing that the model knows would make it faster\n";
  for (const Change& c : r.changes)
    out += fmt::format("  {:<17}{:>6.2f}x faster, factor {:.3f}: {}\n", c.name, e.cycles / c.cycles, c.factor,
                       c.what);
  return out + "\n";
}

std::string json_of(const Result& r) {
  const Estimate& e = r.extended;
  std::string paper, segments, changes;
  for (size_t a = 0; a < r.paper.size(); ++a)
    paper += fmt::format("{}\"{}\": {{\"cycles\": {}, \"error\": {}, \"round\": {}}}", a == 0 ? "" : ", ",
                         kAggregates[a], core::json_number(r.paper[a].cycles),
                         core::json_number(r.error(r.paper[a].cycles)), core::json_number(r.paper[a].round));
  for (const SegmentTime& s : r.breakdown.segments)
    segments += fmt::format(
        "{}{{\"first_pc\": {}, \"last_pc\": {}, \"ends_with\": \"{}\", \"ptx_line\": {}, \"times\": {}, "
        "\"ilp\": {}, "
        "\"wait\": {}, \"bytes\": {}, \"factor\": {}, \"compute\": {}, \"exposed\": {}, \"predicted\": {}, "
        "\"simulated\": {}}}",
        segments.empty() ? "" : ", ", s.first, s.last, wait_name(s.end), r.kernel.per_pc["ptx_line"][s.last],
        core::json_number(s.weight), core::json_number(s.ilp), core::json_number(s.latency),
        core::json_number(s.bytes), core::json_number(s.factor), core::json_number(s.compute),
        core::json_number(s.exposed), core::json_number(s.predicted()), core::json_number(s.simulated));
  for (const Change& c : r.changes)
    changes += fmt::format(
        "{}{{\"name\": \"{}\", \"what\": \"{}\", \"cycles\": {}, \"speedup\": {}, \"factor\": {}}}",
        changes.empty() ? "" : ", ", c.name, core::json_escaped(c.what), core::json_number(c.cycles),
        core::json_number(e.cycles / c.cycles), core::json_number(c.factor));
  return fmt::format(
      "{{\"kernel\": {}, \"name\": \"{}\", \"parameters\": \"{}\", \"note\": {}, \"simulated\": "
      "{{\"cycles\": {}, "
      "\"seconds\": {}, \"gflops\": {}}}, "
      "\"extended\": {{\"cycles\": {}, \"seconds\": {}, \"gflops\": {}, \"error\": {}, \"round\": {}, "
      "\"tail\": {}, \"overhead\": {}}}, "
      "\"paper\": {{{}}}, \"occupancy\": {{\"blocks_per_sm\": {}, \"limiter\": \"{}\", \"resident\": {}}}, "
      "\"rounds\": {}, "
      "\"full_rounds\": {}, \"segment_count\": {}, \"factor\": {}, \"exposed\": {}, \"latency\": {}, "
      "\"segments\": [{}], "
      "\"idle\": {{\"predicted\": {}, \"simulated\": {}}}, \"changes\": [{}]}}",
      r.kernel.index, core::json_escaped(r.kernel.name), core::json_escaped(r.sheet),
      r.note.empty() ? "null" : core::json_quoted(r.note), r.kernel.cycles,
      core::json_number(r.seconds(r.simulated())), core::json_number(r.gflops(r.simulated())),
      core::json_number(e.cycles), core::json_number(r.seconds(e.cycles)),
      core::json_number(r.gflops(e.cycles)), core::json_number(r.error(e.cycles)), core::json_number(e.round),
      core::json_number(e.tail), core::json_number(e.overhead), paper, r.subject.occupancy.blocks_per_sm,
      r.subject.occupancy.limiter, e.resident, core::json_number(e.rounds),
      core::json_number(std::ceil(e.rounds)), core::json_number(count_of(r.subject.workload.segments)),
      core::json_number(e.factor()), core::json_number(e.full.exposed), core::json_number(e.full.latency),
      segments, core::json_number(r.breakdown.idle_predicted), core::json_number(r.breakdown.idle_simulated),
      changes);
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
    p.terms.push_back(
        {fmt::format("segment to {} at {}", wait_name(s.end), r.place(s.last)), s.predicted(), s.simulated});
  p.terms.push_back({"SMs without a warp", r.breakdown.idle_predicted, r.breakdown.idle_simulated});
  return p;
}

Result result_of(const Recording& recording, const KernelRecord& kernel, const Choice& choice) {
  if (!ran_at_own_clock(kernel, recording.machine()))
    throw core::RecordError(
        fmt::format("kernel {} '{}' ran at other core clocks than its machine's: the model's parameters are "
                    "in cycles of that",
                    kernel.index, kernel.name));
  const DataSheet sheet = choice.parameters.empty() ? known_data_sheet(recording.machine().gpu.name)
                                                    : read_data_sheet(choice.parameters);
  Result r{kernel, subject_of(recording, kernel, sheet), {}, {}, {}, {}, sheet.path, {}};
  if (choice.parameters.empty()) r.note = note_of_known_sheet(recording.machine());
  r.extended = estimate(r.subject.workload, r.subject.parameters);
  for (size_t a = 0; a < r.paper.size(); ++a)
    r.paper[a] = paper_estimate(r.subject.workload, r.subject.parameters, PaperParameters{},
                                static_cast<Aggregate>(a));
  r.breakdown = break_down(r.subject, r.extended, kernel);
  r.changes = changes_that_help(r.subject, r.extended);
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

}  // namespace

ModelReport run_model(std::span<const Recording> recordings, const ModelOptions& options) {
  const Choice choice = choice_of(options);
  ModelReport report;
  RatePoints points(choice.x);
  for (const Recording& recording : recordings) {
    points.begin(recording);
    for (const uint64_t index : recording.select(options.kernel)) {
      const KernelRecord kernel = recording.kernel(index);
      const Result result = result_of(recording, kernel, choice);
      report.predictions.push_back(prediction_of(result, choice));
      const Prediction& cycles = report.predictions.back();
      points.add({result.kernel.name, 0, result.flops(), result.seconds(cycles.simulated),
                  result.seconds(cycles.predicted)},
                 kernel.per_sm.rows);
      check_factors(fmt::format("kernel {} '{}'", kernel.index, kernel.name), result.extended,
                    result.breakdown, result.changes, report.invariants);
      report.text += text_of(result);
      if (!result.note.empty()) report.text += fmt::format("  note: {}\n", result.note);
      report.json += (report.json.empty() ? "" : ", ") + json_of(result);
    }
  }
  for (const std::string& broken : report.invariants.broken)
    report.text += fmt::format("  error of the model: {}\n", broken);
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
