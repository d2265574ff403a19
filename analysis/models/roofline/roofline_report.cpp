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

constexpr std::array kDefects{Defect::kDivergence, Defect::kUncoalesced, Defect::kLowOccupancy,
                              Defect::kFewBlocks, Defect::kLocality};

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
  for (const Defect d : kDefects) names.push_back(defect_name(d));
  while (!rest.empty()) {
    const std::string_view name = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
    if (name == "none") throw core::InputError("gpusim: error: expect: none goes with no other");
    const auto at = std::ranges::find(kDefects, name, defect_name);
    if (at == kDefects.end())
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
  const double roof = ceiling == nullptr ? NAN : ceiling->roof(p.intensity());
  return fmt::format("  {:>4} {:>11.4g} {:>10.4g} {:>10} {:>10} {:>10} {:>8} {:>9} {:>9} {:>9} {:>9}\n",
                     p.sms, p.seconds * 1e6, p.rate() * 1e-9, intensity(p.dram_bytes), intensity(p.l2_bytes),
                     intensity(p.l1_bytes), roof > 0 ? share(p.rate() / roof) : "-", share(p.warp_efficiency),
                     share(p.occupancy), share(p.balance), share(p.l2_hits));
}

/// What holds the kernel at its last point, which is no defect of it.
std::string bound_text(const Trajectory& t, const Ceiling& high) {
  const RooflinePoint &a = t.points.front(), &b = t.points.back();
  const double roof = high.roof(b.intensity());
  const double step = b.seconds > 0 ? a.seconds / b.seconds : 0;
  std::string text = fmt::format("  {} to {} SMs: {:.2f} times as fast", a.sms, b.sms, step);
  if (b.flops > 0 && roof > 0)
    text +=
        fmt::format("; at the end {} of the roof ({})", share(b.rate() / roof),
                    high.fma <= b.intensity() * high.bandwidth ? "floating-point rate" : "DRAM bandwidth");
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
  text += bound_text(t, ceiling_at(roofs, t.points.back().sms));
  for (const Finding& f : findings)
    text += fmt::format("  {}:\n{}", defect_name(f.defect), indented(f.evidence));
  if (findings.empty()) text += "  no defect found\n";
  return text;
}

std::string trajectory_json(const Trajectory& t, const std::vector<Finding>& findings) {
  std::string points, found;
  for (const RooflinePoint& p : t.points)
    points += fmt::format(
        "{}{{\"sms\": {}, \"seconds\": {}, \"flops\": {}, \"dram_bytes\": {}, \"l2_bytes\": {}, "
        "\"l1_bytes\": {}, "
        "\"warp_efficiency\": {}, \"occupancy\": {}, \"balance\": {}, \"l2_hits\": {}, \"coalescing\": {}, "
        "\"operations\": {}}}",
        points.empty() ? "" : ", ", p.sms, core::json_number(p.seconds), core::json_number(p.flops),
        core::json_number(p.dram_bytes), core::json_number(p.l2_bytes), core::json_number(p.l1_bytes),
        core::json_number(p.warp_efficiency), core::json_number(p.occupancy), core::json_number(p.balance),
        core::json_number(p.l2_hits), core::json_number(p.coalescing), core::json_number(p.operations));
  for (const Finding& f : findings)
    found += fmt::format("{}{{\"defect\": \"{}\", \"evidence\": \"{}\"}}", found.empty() ? "" : ", ",
                         defect_name(f.defect), core::json_escaped(f.evidence));
  return fmt::format(
      "{{\"kernel\": \"{}\", \"program\": \"{}\", \"application\": {}, \"points\": [{}], \"findings\": "
      "[{}]}}",
      core::json_escaped(t.kernel), core::json_escaped(t.program), t.application, points, found);
}

/// The roof of `c` over [low, high] FLOP/byte: black.
Series roof_series(const Ceiling& c, double low, double high, bool dashed) {
  Series s;
  s.title = fmt::format("roof of {} SMs, measured", c.sms);
  s.marks = false;
  s.dashed = dashed;
  s.look = 4;
  const double ridge = c.fma / c.bandwidth;
  for (const double x : {low, std::clamp(ridge, low, high), high}) s.points.emplace_back(x, c.roof(x) * 1e-9);
  return s;
}

Plot roofline_plot(const std::vector<Trajectory>& all, const Ceiling& low, const Ceiling& high) {
  Plot plot;
  plot.title = "Roofline scaling trajectories (numbers: SMs)";
  plot.x_label = "FLOP per byte of DRAM traffic";
  plot.y_label = "GFLOP/s";
  plot.log_x = plot.log_y = true;
  double least = high.fma / high.bandwidth, most = least;
  for (const Trajectory& t : all) {
    Series s;
    s.title = t.application && !t.program.empty() ? t.program : t.title();
    for (const RooflinePoint& p : t.points) {
      if (p.flops == 0 || p.dram_bytes == 0) continue;
      s.points.emplace_back(p.intensity(), p.rate() * 1e-9);
      const bool end = p.sms == t.points.front().sms || p.sms == t.points.back().sms;
      s.labels.push_back(end ? fmt::format("{}", p.sms) : "");
      least = std::min(least, p.intensity()), most = std::max(most, p.intensity());
    }
    if (!s.points.empty()) plot.series.push_back(std::move(s));
  }
  plot.series.push_back(roof_series(low, least / 4, most * 4, true));
  if (high.sms != low.sms) plot.series.push_back(roof_series(high, least / 4, most * 4, false));
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
  for (const Defect d : kDefects) {
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
  p.predicted = high.roof(t.points.back().intensity());
  p.simulated = t.points.back().rate();
  return p;
}

}  // namespace

ModelReport roofline_model(std::span<const Recording> recordings, const ModelOptions& options) {
  constexpr std::array<std::string_view, 5> kKnown{"flops", "scaling", "by", "plot", "expect"};
  require_known_options(options, "roofline", kKnown);
  const std::optional<std::vector<Defect>> expected = read_expected(options);
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
  for (const Ceiling& c : roofs)
    report.text += fmt::format(
        "  roofs of {} SMs, measured: {:.4g} GFLOP/s with fused multiply-add, {:.4g} without; "
        "{:.4g} GB/s\n",
        c.sms, c.fma * 1e-9, c.add * 1e-9, c.bandwidth * 1e-9);
  std::string details;
  for (const Trajectory& t : all) {
    const Ceiling &low = ceiling_at(roofs, t.points.front().sms),
                  &high = ceiling_at(roofs, t.points.back().sms);
    const std::vector<Finding> findings = diagnose(t, low, high);
    report.text += trajectory_text(t, roofs, findings);
    details += (details.empty() ? "" : ", ") + trajectory_json(t, findings);
    if (t.points.back().flops > 0) report.predictions.push_back(bound(t, high));
    if (expected) report.predictions.push_back(wrong_findings(t, findings, *expected));
  }
  report.json = fmt::format("{{\"trajectories\": [{}]}}", details);
  if (const std::string plot = option_text(options, "plot"); !plot.empty()) {
    draw_svg(roofline_plot(all, ceiling_at(roofs, all.front().points.front().sms),
                           ceiling_at(roofs, all.front().points.back().sms)),
             plot);
    report.text += fmt::format("  drawn: {}\n", plot) + not_drawn(all);
  }
  return report;
}

}  // namespace gpusim::analysis
