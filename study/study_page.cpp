#include "study/study_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/report/html.h"
#include "study/result_tables.h"
#include "study/why_best.h"

namespace gpusim::study {

namespace {

using analysis::html_text;

constexpr size_t kLinesShown = 6, kTilesShown = 3;
constexpr uint32_t kAnyValue = ~0U;

std::string number(double value) { return std::isfinite(value) ? fmt::format("{:.5g}", value) : "-"; }

/// One workload on one machine.
class GroupSection {
 public:
  GroupSection(const Outcome& outcome, const GroupFindings& findings)
      : o_(outcome), study_(outcome.study), f_(findings) {
    for (uint32_t i = 0; i < o_.points.size(); ++i) {
      if (o_.points[i].machine != f_.machine || o_.points[i].workload != f_.workload) continue;
      if (!std::isfinite(o_.objective(i))) continue;
      members_.push_back(i);
      of_values_[o_.points[i].values] = o_.objective(i);
    }
  }

  [[nodiscard]] std::string html() const {
    std::string out = fmt::format("<h3>{} on {}</h3>\n<p class=\"soft\">{} points simulated",
                                  html_text(study_.workloads[f_.workload].name),
                                  html_text(machine_name(study_, f_.machine)), f_.simulated);
    if (f_.predicted > 0) out += fmt::format(", {} predicted", f_.predicted);
    if (f_.failed > 0) out += fmt::format(", {} missing, refused or failed", f_.failed);
    out += "</p>\n";
    if (f_.best.empty()) return out;
    out += best();
    if (members_.size() < 2) return out;
    return out + tornado() + lines() + tiles() + trades();
  }

 private:
  [[nodiscard]] std::string label(uint32_t axis, uint32_t value) const {
    return study_.axes[axis].values[value].label;
  }
  [[nodiscard]] std::string values_of(uint32_t point) const {
    std::string text;
    for (uint32_t a = 0; a < study_.axes.size(); ++a)
      text += fmt::format("{}{}={}", a == 0 ? "" : " ", study_.axes[a].name,
                          label(a, o_.points[point].values[a]));
    return text;
  }
  [[nodiscard]] bool predicted(uint32_t point) const {
    return o_.guided != nullptr && !o_.guided->estimates[point].simulated;
  }

  [[nodiscard]] std::string best() const {
    std::string out = fmt::format(
        "<p class=\"limit\"><b>{} {}</b>: {} at {}; {}</p>\n", study_.maximise ? "largest" : "smallest",
        html_text(study_.objective), number(f_.best_value), html_text(values_of(f_.best.front())),
        f_.equally_good == 1 ? std::string("no other point is as good within half a percent")
                             : fmt::format("{} points are as good within half a percent", f_.equally_good));
    out += "<div class=\"wide\"><table><tr>";
    for (const Axis& axis : study_.axes) out += "<th>" + html_text(axis.name);
    out += fmt::format("<th class=\"n\">{}<th></tr>\n", html_text(study_.objective));
    for (const uint32_t i : f_.best) {
      out += "<tr>";
      for (uint32_t a = 0; a < study_.axes.size(); ++a)
        out += "<td>" + html_text(label(a, o_.points[i].values[a])) + "</td>";
      out +=
          fmt::format("<td class=\"n\">{}</td><td class=\"soft\">{}</td></tr>\n", number(o_.objective(i)),
                      predicted(i) ? fmt::format("predicted, {} to {}", number(o_.guided->estimates[i].low),
                                                 number(o_.guided->estimates[i].high))
                                   : std::string());
    }
    out += "</table></div>\n";
    const std::string why =
        f_.against == f_.best.front()
            ? std::string()
            : why_text(why_best(o_.results[f_.against], o_.results[f_.best.front()]), values_of(f_.against));
    if (!why.empty()) out += fmt::format("<pre>{}</pre>\n", html_text(why));
    return out;
  }

  /// Geometric mean of the objective at `to` by that at `from`, everything else equal; `by` at one of its
  /// values if that is not kAnyValue. Not a number without a pair.
  [[nodiscard]] double factor(uint32_t axis, uint32_t from, uint32_t to, uint32_t by, uint32_t at) const {
    double sum = 0;
    size_t pairs = 0;
    for (const auto& [values, a] : of_values_) {
      if (values[axis] != from || (at != kAnyValue && values[by] != at)) continue;
      std::vector<uint32_t> other = values;
      other[axis] = to;
      const auto b = of_values_.find(other);
      if (b == of_values_.end() || !(a > 0) || !(b->second > 0)) continue;
      sum += std::log(b->second / a);
      ++pairs;
    }
    return pairs == 0 ? std::nan("") : std::exp(sum / static_cast<double>(pairs));
  }
  /// Geometric mean over the points with these values.
  [[nodiscard]] double mean(uint32_t axis, uint32_t value, uint32_t by, uint32_t at) const {
    double sum = 0;
    size_t count = 0;
    for (const auto& [values, objective] : of_values_) {
      if (values[axis] != value || (at != kAnyValue && values[by] != at) || !(objective > 0)) continue;
      sum += std::log(objective);
      ++count;
    }
    return count == 0 ? std::nan("") : std::exp(sum / static_cast<double>(count));
  }
  /// The objective along an axis: the mean at its first value, and from there on the steps between
  /// neighbours, each over the pairs that differ in nothing else, so that points which are missing do not
  /// bend the line.
  [[nodiscard]] std::vector<double> along(const Effect& e, uint32_t by, uint32_t at) const {
    std::vector<double> line{mean(e.axis, e.order.front(), by, at)};
    for (size_t i = 1; i < e.order.size(); ++i)
      line.push_back(line.back() * factor(e.axis, e.order[i - 1], e.order[i], by, at));
    return line;
  }

  [[nodiscard]] std::string tornado() const {
    std::vector<analysis::HtmlSpan> spans;
    for (const Effect& e : f_.effects) {
      analysis::HtmlSpan span{study_.axes[e.axis].name, 1, 1, label(e.axis, e.order.front()),
                              label(e.axis, e.order.front())};
      double level = 1;
      for (const Step& s : e.steps) {
        level *= s.factor;
        if (level < span.low) span.low = level, span.at_low = label(e.axis, s.to);
        if (level > span.high) span.high = level, span.at_high = label(e.axis, s.to);
      }
      if (span.high > span.low) spans.push_back(std::move(span));
    }
    return analysis::html_tornado(
        fmt::format("What each axis does to {}, against its first value, everything else equal",
                    study_.objective),
        spans);
  }

  [[nodiscard]] std::string lines() const {
    std::string out;
    size_t shown = 0;
    for (const Effect& e : f_.effects) {
      if (e.range <= 1 || shown == kLinesShown) continue;
      analysis::HtmlLines chart{"", study_.axes[e.axis].name, study_.objective, {}, {}};
      for (const uint32_t v : e.order) chart.places.push_back(label(e.axis, v));
      const auto with = std::ranges::find_if(
          f_.interactions, [&e](const Interaction& i) { return i.axis == e.axis || i.by == e.axis; });
      if (with == f_.interactions.end()) {
        chart.title = fmt::format("{} over {}: mean of all other values", study_.objective, chart.x_label);
        chart.series.push_back({"", along(e, e.axis, kAnyValue), 3});
      } else {
        const uint32_t other = with->axis == e.axis ? with->by : with->axis;
        const Axis& by = study_.axes[other];
        chart.title = fmt::format("{} over {}, for each value of {}, on which it depends", study_.objective,
                                  chart.x_label, by.name);
        for (uint32_t v = 0; v < by.values.size(); ++v)
          chart.series.push_back(
              {fmt::format("{}={}", by.name, by.values[v].label), along(e, other, v), static_cast<int>(v)});
      }
      out += analysis::html_lines(chart);
      ++shown;
    }
    return out.empty() ? out : "<div class=\"grid\">" + out + "</div>\n";
  }

  /// Two axes against each other: the best that the others allow.
  [[nodiscard]] std::string tiles() const {
    std::string out;
    std::set<std::pair<uint32_t, uint32_t>> done;
    for (const Interaction& x : f_.interactions) {
      if (done.size() == kTilesShown) break;
      if (!done.insert(std::minmax(x.axis, x.by)).second) continue;
      const auto order = [&](uint32_t axis) {
        return std::ranges::find(f_.effects, axis, &Effect::axis)->order;
      };
      const std::vector<uint32_t> columns = order(x.axis), rows = order(x.by);
      std::map<std::pair<uint32_t, uint32_t>, uint32_t> best;  // of the two values
      for (const uint32_t i : members_) {
        const auto [at, is_new] =
            best.try_emplace({o_.points[i].values[x.by], o_.points[i].values[x.axis]}, i);
        const bool better = study_.maximise ? o_.objective(i) > o_.objective(at->second)
                                            : o_.objective(i) < o_.objective(at->second);
        if (!is_new && better) at->second = i;
      }
      double least = HUGE_VAL, most = -HUGE_VAL;
      for (const auto& [values, i] : best) {
        least = std::min(least, o_.objective(i));
        most = std::max(most, o_.objective(i));
      }
      analysis::HtmlTiles t{
          fmt::format("{} at best, whatever the other axes: the stronger the colour the better",
                      study_.objective),
          study_.axes[x.axis].name,
          study_.axes[x.by].name,
          {},
          {},
          {}};
      for (const uint32_t c : columns) t.columns.push_back(label(x.axis, c));
      for (const uint32_t r : rows) {
        t.rows.push_back(label(x.by, r));
        for (const uint32_t c : columns) {
          const auto at = best.find({r, c});
          if (at == best.end()) {
            t.cells.push_back({"", "no point", 0});
            continue;
          }
          const double value = o_.objective(at->second),
                       up = most > least ? (value - least) / (most - least) : 1;
          t.cells.push_back({(predicted(at->second) ? "≈ " : "") + number(value), values_of(at->second),
                             study_.maximise ? up : 1 - up});
        }
      }
      out += analysis::html_tiles(t);
    }
    return out;
  }

  [[nodiscard]] std::string trade(const char* column, const char* axis, const char* title) const {
    std::vector<analysis::HtmlPoint> points;
    std::set<double> different;
    for (const uint32_t i : members_) {
      if (predicted(i)) continue;
      const double x = column_value(o_.results[i], column);
      different.insert(x);
      points.push_back({x, column_value(o_.results[i], "time_s"), values_of(i), false});
    }
    if (different.size() < 2) return "";
    // In this plane: no other point has less of one and not more of the other.
    for (analysis::HtmlPoint& p : points)
      p.marked = std::ranges::none_of(points, [&p](const analysis::HtmlPoint& q) {
        return q.x <= p.x && q.y <= p.y && (q.x < p.x || q.y < p.y);
      });
    return analysis::html_scatter(title, axis, "time [s]", points);
  }
  [[nodiscard]] std::string trades() const {
    constexpr size_t kMostDots = 5000;
    if (members_.size() > kMostDots) return "";
    const std::string out =
        trade("sram_kib", "SRAM [KiB]", "Time against SRAM: joined points are beaten by none") +
        trade("energy_j", "energy [J]", "Time against energy: joined points are beaten by none");
    return out.empty() ? out : "<div class=\"grid\">" + out + "</div>\n";
  }

  const Outcome& o_;
  const Study& study_;
  const GroupFindings& f_;
  std::vector<uint32_t> members_;
  std::map<std::vector<uint32_t>, double> of_values_;
};

}  // namespace

std::string study_section(const StudyFolder& folder, const std::string& id) {
  const Outcome outcome = folder.outcome();
  std::string out = fmt::format("<section><h2 id=\"{}\">Study {}</h2>\n", id, html_text(folder.study.name));
  const auto several = [](size_t n, const char* what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
  };
  out += fmt::format("<p class=\"soft\">{}: {} x {}", several(folder.points.size(), "point"),
                     several(folder.study.workloads.size(), "workload"),
                     several(folder.study.machines.size(), "machine"));
  for (const Axis& axis : folder.study.axes)
    out += fmt::format(" x {} of {}", several(axis.values.size(), "value"), html_text(axis.name));
  out += "</p>\n";
  for (const GroupFindings& f : find(outcome)) out += GroupSection(outcome, f).html();
  if (!folder.findings.empty())
    out += fmt::format("<details><summary>What the study printed</summary><pre>{}</pre></details>\n",
                       html_text(folder.findings));
  out += fmt::format("<details><summary>The study's file</summary><pre>{}</pre></details>\n",
                     html_text(folder.study.text));
  return out + "</section>\n";
}

}  // namespace gpusim::study
