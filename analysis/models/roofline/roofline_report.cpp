// The model `roofline`: options, text, JSON and plot of trajectories.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "analysis/models/roofline/roofline.h"
#include "analysis/report/plot.h"
#include "analysis/report/text.h"
#include "simcore/record/recorder.h"
#include "simcore/text/input_error.h"
#include "simcore/text/json_text.h"
#include "simcore/text/names.h"

namespace gpusim::analysis {

namespace {

std::vector<Defect> all_defects() {
  std::vector<Defect> all(kDefects);
  for (size_t i = 0; i < kDefects; ++i) all[i] = static_cast<Defect>(i);
  return all;
}

TrajectoryOptions trajectory_options(const ModelOptions& options) {
  return {option_positive(options, "flops", 0), option_is_second(options, "scaling", {"strong", "weak"}),
          option_is_second(options, "by", {"kernel", "launch"})};
}

/// `expect`: defects separated by commas, or none of them. Not given: nothing is expected.
std::optional<std::vector<Defect>> read_expected(const ModelOptions& options) {
  const std::string text = option_text(options, "expect");
  std::string_view rest = text;
  if (rest.empty()) return std::nullopt;
  std::vector<Defect> expected;
  if (rest == "none") return expected;
  std::vector<std::string_view> names{"none"};
  const std::vector<Defect> all = all_defects();
  for (const Defect d : all) names.push_back(defect_name(d));
  while (!rest.empty()) {
    const std::string_view name = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
    if (name == "none") throw core::InputError("gpusim: error: expect: none goes with no other");
    const auto at = std::ranges::find(all, name, defect_name);
    if (at == all.end())
      throw core::InputError(
          fmt::format("gpusim: error: expect: there is no '{}'; {}", name, core::name_hint(name, names)));
    expected.push_back(*at);
  }
  return expected;
}

const Ceiling& ceiling_at(const std::vector<Ceiling>& all, uint32_t sms) {
  for (const Ceiling& c : all)
    if (c.sms == sms) return c;
  throw core::RecordError(fmt::format(
      "there is no run of the ceilings with {0} SMs; record one with\n  gpusim --config C --sms {0} "
      "workloads/roofline/ceilings.ptx --out FILE.h5\nand name it too",
      sms));
}

std::string share(double fraction) {
  return std::isfinite(fraction) ? fmt::format("{:.1f} %", 100 * fraction) : "-";
}

std::string point_text(const RooflinePoint& p, const Ceiling* ceiling) {
  const auto intensity = [&p](double bytes) {
    return p.flops == 0 || bytes == 0 ? std::string("-") : fmt::format("{:.3g}", p.flops / bytes);
  };
  const double of_roof = ceiling == nullptr ? NAN : p.of_roof(*ceiling);
  return fmt::format("  {:>4} {:>11.4g} {:>10.4g} {:>10} {:>10} {:>10} {:>8} {:>9} {:>9} {:>9} {:>9}\n",
                     p.sms, p.seconds * 1e6, p.rate() * 1e-9, intensity(p.dram_bytes), intensity(p.l2_bytes),
                     intensity(p.l1_bytes), of_roof > 0 ? share(of_roof) : "-", share(p.warp_efficiency),
                     share(p.occupancy), share(p.balance), share(p.l2_hits));
}

/// What holds the kernel at its last point, which is no defect of it.
std::string bound_text(const Trajectory& t, const Ceiling& high) {
  const RooflinePoint &a = t.points.front(), &b = t.points.back();
  const double step = b.seconds > 0 ? a.seconds / b.seconds : 0, reached = b.of_roof(high);
  std::string text = fmt::format("  {} to {} SMs: {:.2f} times as fast", a.sms, b.sms, step);
  if (reached > 0)
    text += fmt::format("; at the end {} of the roof ({})", share(reached),
                        b.flops > 0 && high.arithmetic(b.mix) <= b.intensity() * high.bandwidth
                            ? "floating-point rate"
                            : "DRAM bandwidth");
  return text + "\n";
}

/// The operations that make the roof, and how much of each level's bandwidth is used at the last point.
std::string levels_text(const Trajectory& t, const Ceiling& high) {
  const RooflinePoint& b = t.points.back();
  std::string text;
  if (const std::string mix = b.mix.text(); !mix.empty() && b.flops > 0)
    text += fmt::format(
        "  operations: {}: {}\n", mix,
        std::isfinite(high.arithmetic(b.mix))
            ? fmt::format("{:.4g} GFLOP/s at most with {} SMs", high.arithmetic(b.mix) * 1e-9, b.sms)
            : "matrix operations, whose rate no ceiling measures; the roof is that of DRAM");
  std::string levels;
  const auto add = [&](const char* level, double bytes, double most) {
    if (most > 0 && b.seconds > 0)
      levels += fmt::format("{}{} of {}", levels.empty() ? "" : ", ", share(bytes / b.seconds / most), level);
  };
  add("DRAM", b.dram_bytes, high.bandwidth);
  add("L2", b.l2_bytes, high.l2);
  add("the L1", b.l1_bytes, high.l1);
  return text + fmt::format("  bandwidth that was measured with {} SMs, used: {}\n", b.sms, levels);
}

std::string ceiling_text(const Ceiling& c) {
  std::string text = fmt::format("  roofs of {} SMs, measured:", c.sms);
  for (const Arithmetic kind : {Arithmetic::kFp32, Arithmetic::kFp64, Arithmetic::kFp16})
    if (const Ceiling::Rates& r = c.of(kind); r.fma > 0)
      text += fmt::format(" {} {:.4g} GFLOP/s with fused multiply-add, {:.4g} without;",
                          arithmetic_name(kind), r.fma * 1e-9, r.add * 1e-9);
  text += fmt::format(" {:.4g} GB/s of DRAM", c.bandwidth * 1e-9);
  if (c.l2 > 0) text += fmt::format(", {:.4g} of L2", c.l2 * 1e-9);
  if (c.l1 > 0) text += fmt::format(", {:.4g} of the L1", c.l1 * 1e-9);
  return text + "\n";
}

std::string trajectory_text(const Trajectory& t, const std::vector<Ceiling>& roofs,
                            const std::vector<Finding>& findings) {
  std::string text =
      fmt::format("{}\n  {:>4} {:>11} {:>10} {:>10} {:>10} {:>10} {:>8} {:>9} {:>9} {:>9} {:>9}\n",
                  printable(t.title()), "SMs", "time us", "GFLOP/s", "FLOP/B", "of L2", "of L1", "of roof",
                  "lanes", "occupancy", "balance", "L2 hits");
  for (const RooflinePoint& p : t.points) {
    const auto at = std::ranges::find(roofs, p.sms, &Ceiling::sms);
    text += point_text(p, at == roofs.end() ? nullptr : &*at);
  }
  const Ceiling& high = ceiling_at(roofs, t.points.back().sms);
  text += bound_text(t, high) + levels_text(t, high);
  for (const Finding& f : findings)
    text += fmt::format("  {}:\n{}", defect_name(f.defect), indented(f.evidence));
  if (findings.empty()) text += "  no defect found\n";
  return text;
}

/// What a point reaches of its roof; null without a run of the ceilings.
std::string roof_json(const RooflinePoint& p, const std::vector<Ceiling>& roofs) {
  const auto at = std::ranges::find(roofs, p.sms, &Ceiling::sms);
  return at == roofs.end() ? "null" : core::json_number(p.of_roof(*at));
}

std::string trajectory_json(const Trajectory& t, const std::vector<Ceiling>& roofs,
                            const std::vector<Finding>& findings) {
  std::string points, found;
  for (const RooflinePoint& p : t.points)
    points += fmt::format(
        "{}{{\"sms\": {}, \"seconds\": {}, \"flops\": {}, \"dram_bytes\": {}, \"l2_bytes\": {}, "
        "\"l1_bytes\": {}, "
        "\"warp_efficiency\": {}, \"occupancy\": {}, \"balance\": {}, \"l2_hits\": {}, \"coalescing\": {}, "
        "\"operations\": {}, \"of_roof\": {}, \"mix\": {}}}",
        points.empty() ? "" : ", ", p.sms, core::json_number(p.seconds), core::json_number(p.flops),
        core::json_number(p.dram_bytes), core::json_number(p.l2_bytes), core::json_number(p.l1_bytes),
        core::json_number(p.warp_efficiency), core::json_number(p.occupancy), core::json_number(p.balance),
        core::json_number(p.l2_hits), core::json_number(p.coalescing), core::json_number(p.operations),
        roof_json(p, roofs), core::json_quoted(p.mix.text()));
  for (const Finding& f : findings)
    found += fmt::format("{}{{\"defect\": \"{}\", \"evidence\": \"{}\"}}", found.empty() ? "" : ", ",
                         defect_name(f.defect), core::json_escaped(f.evidence));
  return fmt::format(
      "{{\"kernel\": \"{}\", \"program\": \"{}\", \"application\": {}, \"points\": [{}], \"findings\": "
      "[{}]}}",
      core::json_escaped(t.kernel), core::json_escaped(t.program), t.application, points, found);
}

/// Roofs over a range of intensities.
class RoofLines {
 public:
  RoofLines(const std::vector<Trajectory>& all, double low, double high) : low_(low), high_(high) {
    // A few operations of another type are no reason for its roof.
    constexpr double kSome = 0.1;
    for (const Trajectory& t : all)
      for (const RooflinePoint& p : t.points) {
        double operations = 0;
        for (const Lanes& l : p.mix.lanes) operations += l.all();
        for (size_t i = 0; i < kArithmetics; ++i)
          used_[i] = used_[i] || p.mix.lanes[i].all() > kSome * operations;
      }
    if (std::ranges::none_of(used_, [](bool used) { return used; })) used_[0] = true;
  }
  /// Under the fastest arithmetic that the kernels have.
  [[nodiscard]] Series whole(const Ceiling& c, bool dashed) const {
    Series s = line(fmt::format("roof of {} SMs, measured", c.sms), dashed);
    add(s, c.bandwidth, top(c));
    return s;
  }
  /// The other kinds of arithmetic, from where DRAM reaches them on.
  void add_kinds(Plot& plot, const Ceiling& c) const {
    for (const Arithmetic kind : {Arithmetic::kFp32, Arithmetic::kFp64, Arithmetic::kFp16}) {
      if (!used_[static_cast<size_t>(kind)]) continue;
      for (const bool fused : {true, false}) {
        const double rate = fused ? c.of(kind).fma : c.of(kind).add;
        if (rate <= 0 || rate == top(c) || rate / c.bandwidth >= high_) continue;
        Series s =
            line(fmt::format("{}{}", arithmetic_name(kind), fused ? "" : " without multiply-add"), true);
        s.points = {{rate / c.bandwidth, rate * 1e-9}, {high_, rate * 1e-9}};
        plot.series.push_back(std::move(s));
      }
    }
  }
  void add_level(Plot& plot, const Ceiling& c, const char* name, double bandwidth) const {
    if (bandwidth <= 0) return;
    Series s = line(fmt::format("bandwidth of {}, {} SMs", name, c.sms), true);
    add(s, bandwidth, top(c));
    plot.series.push_back(std::move(s));
  }

 private:
  [[nodiscard]] double top(const Ceiling& c) const {
    double most = 0;
    for (size_t i = 0; i < kArithmetics; ++i)
      if (used_[i]) most = std::max({most, c.rates[i].fma, c.rates[i].add});
    return most;
  }
  static Series line(std::string title, bool dashed) {
    Series s;
    s.title = std::move(title);
    s.marks = false;
    s.dashed = dashed;
    s.look = 4;  // black
    return s;
  }
  void add(Series& s, double bandwidth, double top) const {
    for (const double x : {low_, std::clamp(top / bandwidth, low_, high_), high_})
      s.points.emplace_back(x, std::min(top, x * bandwidth) * 1e-9);
  }
  std::array<bool, kArithmetics> used_{};
  double low_, high_;
};

Plot roofline_plot(const std::vector<Trajectory>& all, const Ceiling& low, const Ceiling& high, bool levels) {
  Plot plot;
  plot.title = "Roofline scaling trajectories (numbers: SMs)";
  plot.x_label = levels ? "FLOP per byte of the level's traffic" : "FLOP per byte of DRAM traffic";
  plot.y_label = "GFLOP/s";
  plot.log_x = plot.log_y = true;
  double least = high.of(Arithmetic::kFp32).fma / high.bandwidth, most = least;
  const auto reach = [&](double x) { least = std::min(least, x), most = std::max(most, x); };
  for (const Trajectory& t : all) {
    Series s;
    s.title = t.application && !t.program.empty() ? t.program : t.title();
    for (const RooflinePoint& p : t.points) {
      if (p.flops == 0 || p.dram_bytes == 0) continue;
      s.points.emplace_back(p.intensity(), p.rate() * 1e-9);
      const bool end = p.sms == t.points.front().sms || p.sms == t.points.back().sms;
      s.labels.push_back(end ? fmt::format("{}", p.sms) : "");
      reach(p.intensity());
    }
    if (!s.points.empty()) plot.series.push_back(std::move(s));
    const RooflinePoint& end = t.points.back();
    if (!levels || end.flops == 0) continue;
    // The last point once more, at the intensities of the levels in front of DRAM.
    Series nearer;
    nearer.title = t.title() + ": L2 and L1";
    nearer.dashed = true;
    for (const auto& [name, bytes] : {std::pair("L2", end.l2_bytes), {"L1", end.l1_bytes}}) {
      if (bytes == 0) continue;
      nearer.points.emplace_back(end.flops / bytes, end.rate() * 1e-9);
      nearer.labels.emplace_back(name);
      reach(end.flops / bytes);
    }
    if (!nearer.points.empty()) plot.series.push_back(std::move(nearer));
  }
  const RoofLines roofs(all, least / 4, most * 4);
  plot.series.push_back(roofs.whole(low, true));
  if (high.sms != low.sms) plot.series.push_back(roofs.whole(high, false));
  if (!levels) return plot;
  roofs.add_kinds(plot, high);
  roofs.add_level(plot, high, "L2", high.l2);
  roofs.add_level(plot, high, "the L1", high.l1);
  return plot;
}

/// What the plot leaves out, and why: a line for each kernel; empty if it shows all.
std::string not_drawn(const std::vector<Trajectory>& all) {
  std::string text;
  for (const Trajectory& t : all) {
    std::vector<std::string> sms;
    bool flops = false;
    for (const RooflinePoint& p : t.points) {
      if (p.flops != 0 && p.dram_bytes != 0) continue;
      sms.push_back(fmt::format("{}", p.sms));
      flops = flops || p.flops != 0;
    }
    if (sms.empty()) continue;
    text += fmt::format("  not drawn: {}{}: {}\n", t.title(),
                        sms.size() == t.points.size() ? "" : fmt::format(" at {} SMs", fmt::join(sms, ", ")),
                        flops ? "it moved no data from or to DRAM, so that it has no intensity"
                              : "it has no floating-point operations");
  }
  return text;
}

/// Whether the diagnosis is what is known of the kernel: the number of wrong and missing findings.
Prediction wrong_findings(const Trajectory& t, const std::vector<Finding>& findings,
                          const std::vector<Defect>& expected) {
  Prediction p;
  p.kernel = t.kernel;
  p.quantity = "wrong findings";
  p.points = true;
  for (const Defect d : all_defects()) {
    const bool seen = std::ranges::any_of(findings, [d](const Finding& f) { return f.defect == d; });
    const bool meant = std::ranges::find(expected, d) != expected.end();
    p.predicted += seen == meant ? 0 : 1;
    p.terms.push_back({std::string(defect_name(d)), seen ? 1.0 : 0.0, meant ? 1.0 : 0.0});
  }
  return p;
}

Prediction bound(const Trajectory& t, const Ceiling& high) {
  Prediction p;
  p.kernel = t.kernel;
  p.quantity = "bound";
  p.unit = "FLOP/s";
  p.predicted = high.roof(t.points.back().mix, t.points.back().intensity());
  p.simulated = t.points.back().rate();
  return p;
}

}  // namespace

ModelReport roofline_model(std::span<const Recording> recordings, const ModelOptions& options) {
  constexpr std::array<std::string_view, 6> kKnown{"flops", "scaling", "by", "plot", "levels", "expect"};
  require_known_options(options, "roofline", kKnown);
  const std::optional<std::vector<Defect>> expected = read_expected(options);
  const bool levels = option_is_second(options, "levels", {"dram", "all"});
  require_together(recordings);
  const std::vector<Ceiling> roofs = ceilings(recordings);
  std::vector<Trajectory> all = trajectories(recordings, trajectory_options(options));
  if (!options.kernel.empty())
    std::erase_if(all, [&](const Trajectory& t) {
      return options.kernel == kAllKernels ? !t.application : t.kernel != options.kernel;
    });
  if (all.empty())
    throw core::RecordError(options.kernel.empty()
                                ? "the files hold no kernel besides the ceilings"
                                : fmt::format("no file has a kernel '{}'", options.kernel));
  if (options.values.contains("flops") && std::ranges::none_of(all, &Trajectory::application))
    throw core::InputError(fmt::format(
        "gpusim: error: flops: it is the application's count, and {}; with --kernel \"{}\" it is one, and a "
        "kernel's own count is stated in [flops] of the launch file",
        options.kernel.empty() ? std::string("these runs are of different kernels")
                               : fmt::format("'{}' is one of its kernels", options.kernel),
        kAllKernels));
  ModelReport report;
  report.text = "roofline scaling trajectories\n";
  for (const Ceiling& c : roofs) report.text += ceiling_text(c);
  std::string details;
  for (const Trajectory& t : all) {
    const Ceiling &low = ceiling_at(roofs, t.points.front().sms),
                  &high = ceiling_at(roofs, t.points.back().sms);
    for (const auto& [point, ceiling] : {std::pair(&t.points.front(), &low), {&t.points.back(), &high}})
      if (const std::string_view lacks = ceiling->lacks(point->mix); !lacks.empty())
        throw core::RecordError(
            fmt::format("kernel '{}' has operations of {}, whose rate the recording of the ceilings with {} "
                        "SMs does not have; record it again:\n  gpusim --config C --sms {} "
                        "workloads/roofline/ceilings.ptx --out FILE.h5",
                        t.kernel, lacks, ceiling->sms, ceiling->sms));
    const std::vector<Finding> findings = diagnose(t, low, high);
    report.text += trajectory_text(t, roofs, findings);
    details += (details.empty() ? "" : ", ") + trajectory_json(t, roofs, findings);
    if (t.points.back().flops > 0) report.predictions.push_back(bound(t, high));
    for (Prediction& change : changes(t)) report.predictions.push_back(std::move(change));
    if (expected) report.predictions.push_back(wrong_findings(t, findings, *expected));
  }
  report.json = fmt::format("{{\"trajectories\": [{}]}}", details);
  if (const std::string plot = option_text(options, "plot"); !plot.empty()) {
    draw_svg(roofline_plot(all, ceiling_at(roofs, all.front().points.front().sms),
                           ceiling_at(roofs, all.front().points.back().sms), levels),
             plot);
    report.text += fmt::format("  drawn: {}\n", plot) + not_drawn(all);
  }
  return report;
}

}  // namespace gpusim::analysis
