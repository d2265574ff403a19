#include "study/in_short.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "study/result_tables.h"
#include "study/why_best.h"

namespace gpusim::study {
namespace {

/// If the axis changes the objective anywhere, on average or at single points.
bool matters(const Effect& e) {
  return std::ranges::any_of(e.steps, [](const Step& s) {
    return s.pairs > 0 && (s.most > 1 + kNoGain || s.least < 1 / (1 + kNoGain));
  });
}

/// Of the axis' values the one with the best mean.
uint32_t best_value_of(const Study& study, const Effect& e) {
  uint32_t best = e.order.front();
  double level = 0, best_level = 0;  // logarithms
  for (const Step& s : e.steps) {
    level += std::log(s.factor);
    if (study.maximise ? level > best_level : level < best_level) best_level = level, best = s.to;
  }
  return best;
}

/// Values of the axes that `chosen` takes.
template <typename Chosen>
std::string values_of_axes(const Study& study, const Point& point, Chosen chosen) {
  std::string text;
  for (size_t i = 0; i < study.axes.size(); ++i)
    if (chosen(study.axes[i]))
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", study.axes[i].name,
                          study.axes[i].values[point.values[i]].label);
  return text;
}

/// Of programs that do different work the best machine for each: that the smallest problem takes the least
/// time says nothing of a machine.
void best_of_each_program(std::string& out, const Outcome& o, const GroupFindings& f) {
  const auto varied = [](const Axis& axis) { return axis.values.size() > 1; };
  const auto of_program = [&](const Axis& axis) { return varied(axis) && !is_of_machine(axis); };
  const auto of_machine = [&](const Axis& axis) { return varied(axis) && is_of_machine(axis); };
  if (std::ranges::none_of(o.study.axes, of_program) || std::ranges::none_of(o.study.axes, of_machine))
    return;
  std::vector<std::pair<std::string, uint32_t>> best;  // in the order of the points
  for (uint32_t i = 0; i < o.points.size(); ++i) {
    if (o.points[i].machine != f.machine || o.points[i].workload != f.workload ||
        !std::isfinite(o.objective(i)))
      continue;
    const std::string program = values_of_axes(o.study, o.points[i], of_program);
    const auto known = std::ranges::find(best, program, &std::pair<std::string, uint32_t>::first);
    if (known == best.end()) {
      best.emplace_back(program, i);
      continue;
    }
    const double now = o.objective(known->second), other = o.objective(i);
    const bool equal = now == other && o.results[i].sram_kib < o.results[known->second].sram_kib;
    if (equal || (o.study.maximise ? other > now : other < now)) known->second = i;
  }
  for (size_t i = 0; i < std::min(best.size(), kShown); ++i)
    out += fmt::format("    at {} best is {}\n", best[i].first,
                       values_of_axes(o.study, o.points[best[i].second], of_machine));
  if (best.size() > kShown) out += fmt::format("    and {} more\n", best.size() - kShown);
}

}  // namespace

std::string axis_values(const Study& study, const Point& point) {
  std::string text;
  for (size_t i = 0; i < study.axes.size(); ++i)
    text += fmt::format("{}{}={}", i == 0 ? "" : " ", study.axes[i].name,
                        study.axes[i].values[point.values[i]].label);
  return text.empty() ? "the machine as it is" : text;
}

std::string change(double factor) { return fmt::format("{:+.1f} %", 100 * (factor - 1)); }

bool is_of_machine(const Axis& axis) {
  return std::ranges::none_of(axis.targets, [](const Target& t) {
    return t.kind == Target::Kind::kParam || t.kind == Target::Kind::kSeed;
  });
}

bool some_value_suffices(const Study& study, const Effect& e) {
  if (!e.numeric || e.suffices == e.order.back() || !is_of_machine(study.axes[e.axis])) return false;
  double level = 1;
  for (size_t i = e.steps.size(); i-- > 0 && e.steps[i].to != e.suffices;) level *= e.steps[i].factor;
  return study.maximise ? level > 1 / (1 + kNoGain) : level < 1 + kNoGain;
}

std::string in_short(const Outcome& o, const GroupFindings& f) {
  const Study& study = o.study;
  if (f.effects.empty() || f.best.size() < 2) return "";
  const double factor = study.maximise ? f.best_value / f.worst_value : f.worst_value / f.best_value;
  std::string out = fmt::format("in short\n  best is {}", axis_values(study, o.points[f.best.front()]));
  if (comparable(f.best_value, f.worst_value))
    out += fmt::format(", a factor of {:.2f} better than the worst point", factor);
  out += "\n";
  best_of_each_program(out, o, f);
  std::string some, none;
  for (const Effect& e : f.effects) {
    const Axis& axis = study.axes[e.axis];
    if (!matters(e)) {
      none += (none.empty() ? "" : ", ") + axis.name;
      continue;
    }
    const bool enough = some_value_suffices(study, e);
    const double least = std::ranges::min(e.steps, {}, &Step::least).least;
    const double most = std::ranges::max(e.steps, {}, &Step::most).most;
    const std::string what =
        e.range < 1 + kNoGain
            ? fmt::format("{} to {}, with the values of the others", change(least), change(most))
            : fmt::format("factor {:.2f}; {} {}", e.range,
                          axis.values[enough ? e.suffices : best_value_of(study, e)].label,
                          enough                ? "suffices"
                          : is_of_machine(axis) ? "is best on average"
                          : study.maximise      ? "gives the most"
                                                : "gives the least");
    some += fmt::format("{}{}{} ({})", some.empty() ? "" : ", then ", axis.name,
                        some.empty() ? " matters most" : "", what);
  }
  if (!none.empty())
    none += fmt::format(" change{} less than {:.0f} % anywhere",
                        none.find(',') == std::string::npos ? "s" : "", 100 * kNoGain);
  out += fmt::format("  {}{}{}\n", some, some.empty() || none.empty() ? "" : "; ", none);
  if (some.empty() && std::ranges::all_of(study.axes, is_of_machine))
    out +=
        "  what limits it is something else: gpusim explain --prove of a recording of one point says what\n";
  if (f.against == f.best.front()) return out;
  if (const std::string why = why_sentence(why_best(o.results[f.against], o.results[f.best.front()]),
                                           axis_values(study, o.points[f.against]));
      !why.empty())
    out += fmt::format("  {}\n", why);
  return out;
}

}  // namespace gpusim::study
