#include "study/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <numeric>

#include "simcore/text/json_text.h"
#include "simcore/text/names.h"
#include "study/in_short.h"
#include "study/result_tables.h"
#include "study/why_best.h"

namespace gpusim::study {

namespace {

bool usable(const PointResult& r) { return r.status == PointResult::Status::kComplete; }

/// Points of a group by their values, with the objective of those that can be compared.
class Group {
 public:
  Group(const Outcome& o, uint32_t machine, uint32_t workload) : study_(o.study) {
    for (uint32_t i = 0; i < o.points.size(); ++i) {
      if (o.points[i].machine != machine || o.points[i].workload != workload) continue;
      ++all_;
      const double value = o.objective(i);
      if (!std::isfinite(value)) continue;
      members_.push_back(i);
      if (usable(o.results[i])) simulated_.push_back(i);
      objective_[o.points[i].values] = value;
    }
  }
  [[nodiscard]] const Study& study() const { return study_; }
  [[nodiscard]] const std::vector<uint32_t>& simulated() const { return simulated_; }
  [[nodiscard]] const std::vector<uint32_t>& members() const { return members_; }
  [[nodiscard]] size_t all() const { return all_; }
  /// Calls pair(values without the axis, objective at `from`, objective at `to`) for each pair.
  template <class Pair>
  void for_pairs(uint32_t axis, uint32_t from, uint32_t to, Pair pair) const {
    for (const auto& [values, objective] : objective_) {
      if (values[axis] != from) continue;
      std::vector<uint32_t> other = values;
      other[axis] = to;
      if (const auto at = objective_.find(other); at != objective_.end()) pair(values, objective, at->second);
    }
  }

 private:
  const Study& study_;
  std::vector<uint32_t> members_, simulated_;
  size_t all_ = 0;
  std::map<std::vector<uint32_t>, double> objective_;
};

/// Ratios of positive numbers only: an objective of 0 compares with nothing.
bool comparable(double a, double b) { return a > 0 && b > 0; }

std::vector<uint32_t> order_of(const Axis& axis, bool& numeric) {
  std::vector<uint32_t> order(axis.values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::vector<double> numbers(axis.values.size());
  numeric = true;
  for (size_t i = 0; i < numbers.size(); ++i)
    numeric &= numeric_value(axis.values[i].texts.front(), numbers[i]);
  if (numeric) std::ranges::stable_sort(order, {}, [&](uint32_t i) { return numbers[i]; });
  return order;
}

Effect effect_of(const Study& study, const Group& group, uint32_t axis) {
  Effect e;
  e.axis = axis;
  e.order = order_of(study.axes[axis], e.numeric);
  double level = 0, least = 0, most = 0;  // logarithms, of the geometric means along the order
  for (size_t i = 0; i + 1 < e.order.size(); ++i) {
    Step step{e.order[i], e.order[i + 1], 1, HUGE_VAL, 0, 0};
    double sum = 0;
    group.for_pairs(axis, step.from, step.to, [&](const auto&, double a, double b) {
      if (!comparable(a, b)) return;
      sum += std::log(b / a);
      step.least = std::min(step.least, b / a);
      step.most = std::max(step.most, b / a);
      ++step.pairs;
    });
    if (step.pairs == 0)
      step.least = step.most = 1;
    else
      step.factor = std::exp(sum / step.pairs);
    level += std::log(step.factor);
    least = std::min(least, level);
    most = std::max(most, level);
    e.steps.push_back(step);
  }
  e.range = std::exp(most - least);
  e.suffices = e.order.back();
  // From the end: as long as what follows gains nothing in any pair.
  double after_least = 1, after_most = 1;
  for (size_t i = e.steps.size(); i-- > 0;) {
    after_least *= e.steps[i].least;
    after_most *= e.steps[i].most;
    const bool gains = study.maximise ? after_most > 1 + kNoGain : after_least < 1 - kNoGain;
    if (gains || e.steps[i].pairs == 0) break;
    e.suffices = e.order[i];
  }
  return e;
}

/// How the effect of `axis`, from its first to its last value, depends on `by`; nothing if pairs are missing.
bool interaction_of(const Study& study, const Group& group, const Effect& effect, uint32_t by,
                    Interaction& found) {
  const uint32_t first = effect.order.front(), last = effect.order.back();
  std::vector<double> sums(study.axes[by].values.size()), counts(sums.size());
  group.for_pairs(effect.axis, first, last, [&](const std::vector<uint32_t>& values, double a, double b) {
    if (!comparable(a, b)) return;
    sums[values[by]] += std::log(b / a);
    ++counts[values[by]];
  });
  found = {effect.axis, by, HUGE_VAL, 0, 0, 0};
  uint32_t known = 0;
  for (uint32_t v = 0; v < sums.size(); ++v) {
    if (counts[v] == 0) continue;
    ++known;
    const double factor = std::exp(sums[v] / counts[v]);
    if (factor < found.least) found.least = factor, found.at_least = v;
    if (factor > found.most) found.most = factor, found.at_most = v;
  }
  return known >= 2;
}

std::vector<uint32_t> pareto_of(const std::vector<uint32_t>& members, std::span<const PointResult> results) {
  const auto beats = [&](uint32_t a, uint32_t b) {
    bool better = false;
    for (const char* name : {"time_s", "energy_j", "sram_kib"}) {
      const double in_a = column_value(results[a], name), in_b = column_value(results[b], name);
      if (in_a > in_b) return false;
      better |= in_a < in_b;
    }
    return better;
  };
  const auto equal = [&](uint32_t a, uint32_t b) {
    return results[a].time_s == results[b].time_s && results[a].energy_j == results[b].energy_j &&
           results[a].sram_kib == results[b].sram_kib;
  };
  std::vector<uint32_t> front;
  for (const uint32_t i : members)
    if (std::ranges::none_of(members, [&](uint32_t other) { return beats(other, i); }) &&
        std::ranges::none_of(front, [&](uint32_t other) { return equal(other, i); }))
      front.push_back(i);
  std::ranges::stable_sort(front, {}, [&](uint32_t i) { return results[i].time_s; });
  return front;
}

GroupFindings find_in(const Outcome& o, uint32_t machine, uint32_t workload) {
  const Study& study = o.study;
  const std::span<const PointResult> results = o.results;
  const Group group(o, machine, workload);
  GroupFindings f;
  f.machine = machine;
  f.workload = workload;
  f.simulated = static_cast<uint32_t>(group.simulated().size());
  f.predicted = static_cast<uint32_t>(group.members().size()) - f.simulated;
  f.failed = static_cast<uint32_t>(group.all()) - f.simulated - f.predicted;
  if (f.simulated == 0) return f;
  const auto value = [&](uint32_t i) { return o.objective(i); };
  std::vector<uint32_t> sorted = group.members();
  std::ranges::stable_sort(sorted, [&](uint32_t a, uint32_t b) {
    if (value(a) != value(b)) return study.maximise ? value(a) > value(b) : value(a) < value(b);
    return results[a].sram_kib < results[b].sram_kib;
  });
  f.best_value = value(sorted.front());
  f.worst_value = value(sorted.back());
  f.median_value = (value(sorted[(sorted.size() - 1) / 2]) + value(sorted[sorted.size() / 2])) / 2;
  const double room = std::abs(f.best_value) * kEqual;
  for (const uint32_t i : sorted)
    if (std::abs(value(i) - f.best_value) <= room) ++f.equally_good;
  f.best.assign(sorted.begin(), sorted.begin() + static_cast<ptrdiff_t>(std::min(kShown, sorted.size())));
  f.against = f.best.front();
  if (usable(results[f.best.front()])) {
    // Another machine with the same program: what a larger problem takes longer explains no machine.
    const auto same_program = [&](uint32_t i) {
      for (size_t a = 0; a < study.axes.size(); ++a)
        if (!is_of_machine(study.axes[a]) && o.points[i].values[a] != o.points[f.best.front()].values[a])
          return false;
      return true;
    };
    f.against = *std::ranges::find_if(group.simulated(), same_program);
    // The worst one is the last of those that are simulated.
    const auto worst = std::find_if(sorted.rbegin(), sorted.rend(),
                                    [&](uint32_t i) { return usable(results[i]) && same_program(i); });
    if (f.against == f.best.front()) f.against = *worst;
  }
  for (uint32_t axis = 0; axis < study.axes.size(); ++axis)
    if (study.axes[axis].values.size() > 1) f.effects.push_back(effect_of(study, group, axis));
  std::ranges::stable_sort(f.effects, std::greater(), &Effect::range);
  for (const Effect& e : f.effects)
    for (uint32_t by = 0; by < study.axes.size(); ++by) {
      Interaction found;
      if (by != e.axis && study.axes[by].values.size() > 1 && interaction_of(study, group, e, by, found))
        f.interactions.push_back(found);
    }
  std::ranges::stable_sort(f.interactions, std::greater(),
                           [](const Interaction& i) { return i.most / i.least; });
  std::erase_if(f.interactions, [](const Interaction& i) { return i.most / i.least < 1 + kNoGain; });
  if (f.interactions.size() > kShown) f.interactions.resize(kShown);
  f.pareto = pareto_of(group.simulated(), results);
  return f;
}

std::string number(double value) { return std::isfinite(value) ? fmt::format("{:.5g}", value) : "-"; }

void effect_lines(std::string& out, const Study& study, const Effect& e) {
  const Axis& axis = study.axes[e.axis];
  if (std::ranges::all_of(e.steps,
                          [](const Step& s) { return s.pairs > 0 && s.least == 1 && s.most == 1; })) {
    out += fmt::format("  {:<24} nothing at any point\n", axis.name);
    return;
  }
  if (std::ranges::all_of(e.steps, [](const Step& s) { return s.pairs == 0; })) {
    out += fmt::format("  {:<24} no two points differ in it alone\n", axis.name);
    return;
  }
  out += fmt::format("  {:<24} factor {:.3f} between its best and its worst value\n", axis.name, e.range);
  for (const Step& s : e.steps) {
    out += fmt::format("    {:>12} -> {:<12} {:>9}", axis.values[s.from].label, axis.values[s.to].label,
                       s.pairs == 0 ? "-" : change(s.factor));
    if (s.pairs > 1)
      out += fmt::format("   ({} to {} in {} pairs)", change(s.least), change(s.most), s.pairs);
    out += "\n";
  }
  if (e.range > 1 + kNoGain && some_value_suffices(study, e))
    out += fmt::format("    {} suffices: no larger value is better by {:.0f} % or more\n",
                       axis.values[e.suffices].label, 100 * kNoGain);
}

void guided_lines(std::string& out, const GuidedGroup& g) {
  const auto percent = [](double share) {
    return std::isfinite(share) ? fmt::format("{:.1f} %", 100 * share) : std::string("-");
  };
  if (g.no_model.empty())
    out += fmt::format(
        "  the reuse-distance model predicts the time of every point; times a constant it is {} off at the "
        "simulated "
        "points\n",
        percent(g.model_error));
  else
    out += fmt::format("  no analytical model predicts the time here: {}\n", g.no_model);
  out += fmt::format(
      "  corrected by what was simulated: {} off at these points, each predicted from the others\n"
      "  {:.0f} % of what is not simulated is to lie in the error bars, {:.1f} times as wide as the expected "
      "errors\n",
      percent(g.left_out_error), 100 * kErrorBars, g.width);
  constexpr size_t kFew = 20;
  if (g.simulated < kFew)
    out += fmt::format("  from fewer than {} simulations predictions and error bars are rough\n", kFew);
}

/// Values of axes that points of the group have, but none of those that were simulated.
std::string never_simulated(const Outcome& o, const GroupFindings& f) {
  constexpr size_t kNamed = 6;
  std::vector<std::string> names;
  for (size_t a = 0; a < o.study.axes.size(); ++a) {
    const Axis& axis = o.study.axes[a];
    std::vector<bool> there(axis.values.size()), simulated(axis.values.size());
    for (size_t i = 0; i < o.points.size(); ++i) {
      const Point& point = o.points[i];
      if (point.machine != f.machine || point.workload != f.workload || !std::isfinite(o.objective(i)))
        continue;
      there[point.values[a]] = true;
      if (o.guided->estimates[i].simulated) simulated[point.values[a]] = true;
    }
    for (size_t v = 0; v < there.size(); ++v)
      if (there[v] && !simulated[v]) names.push_back(fmt::format("{}={}", axis.name, axis.values[v].label));
  }
  if (names.empty()) return "";
  const size_t more = names.size() > kNamed ? names.size() - kNamed : 0;
  names.resize(names.size() - more);
  return fmt::format("  at no simulated point: {}{}; what is said of these is predicted alone\n",
                     fmt::join(names, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

/// "  (predicted: 1.2e-05 to 1.4e-05)"
std::string error_bar(const Outcome& o, size_t point) {
  if (o.guided == nullptr || o.guided->estimates[point].simulated) return "";
  const Estimate& e = o.guided->estimates[point];
  return fmt::format("  (predicted, {} to {})", number(e.low), number(e.high));
}

std::string guided_json(const GroupFindings& f, const GuidedGroup& g) {
  return fmt::format(
      "\"guided\": {{\"predicted\": {}, \"no_model\": {}, \"model_error\": {}, \"left_out_error\": {}, "
      "\"width\": "
      "{}}}, ",
      f.predicted, core::json_quoted(g.no_model), core::json_number(g.model_error),
      core::json_number(g.left_out_error), core::json_number(g.width));
}

}  // namespace

double Outcome::objective(size_t point) const {
  if (guided != nullptr) return guided->estimates[point].value;
  return usable(results[point]) ? column_value(results[point], study.objective) : std::nan("");
}

std::vector<GroupFindings> find(const Outcome& o) {
  for (size_t i = 0; i < o.results.size(); ++i) check_objective(o.study, o.points[i], o.results[i]);
  const bool any = std::ranges::any_of(o.results, usable);
  if (any && std::ranges::none_of(o.results, [&](const PointResult& r) {
        return usable(r) && std::isfinite(column_value(r, o.study.objective));
      })) {
    const std::vector<std::string> names = column_names(o.results);
    const std::vector<std::string_view> views(names.begin(), names.end());
    core::raise_input_error({o.study.path, 0, 0},
                            fmt::format("objective '{}' is no column of the results", o.study.objective),
                            core::name_hint(o.study.objective, views));
  }
  std::vector<GroupFindings> groups;
  for (uint32_t machine = 0; machine < o.study.machines.size(); ++machine)
    for (uint32_t workload = 0; workload < o.study.workloads.size(); ++workload)
      groups.push_back(find_in(o, machine, workload));
  return groups;
}

namespace {

/// What is said of a point with wrong results, without its numbers: they are others at each.
std::string without_numbers(const std::string& reason) {
  std::string text;
  for (const char c : reason)
    if (std::isdigit(static_cast<unsigned char>(c)) == 0)
      text += c;
    else if (!text.ends_with('0'))
      text += '0';
  return text;
}

}  // namespace

std::string reasons_text(const Study& study, std::span<const Point> points,
                         std::span<const PointResult> results, const std::function<bool(size_t)>& chosen) {
  std::map<std::string, std::vector<size_t>> reasons;
  bool wrong = false;
  const auto reason_of = [&](size_t i) {
    return results[i].reason.empty() ? std::string("not simulated yet") : results[i].reason;
  };
  for (size_t i = 0; i < results.size(); ++i)
    if (chosen(i)) {
      const bool is_wrong = results[i].status == PointResult::Status::kWrong;
      wrong = wrong || is_wrong;
      reasons[is_wrong ? without_numbers(reason_of(i)) : reason_of(i)].push_back(i);
    }
  std::string out;
  for (const auto& [text, which] : reasons) {
    const std::string first = reason_of(which.front());
    const bool alike = std::ranges::all_of(which, [&](size_t i) { return reason_of(i) == first; });
    out += fmt::format("\n{} point{} ({}{}): {}{}\n", which.size(), which.size() == 1 ? "" : "s",
                       point_text(study, points[which.front()]), which.size() == 1 ? "" : ", ...", first,
                       alike ? "" : " (at the first; other numbers at the others)");
  }
  if (wrong)
    out +=
        "  hint: a point whose results are not those of [[expect]] counts as failed. What depends on the "
        "order of "
        "atomics, such as a sum of floats, is another on each machine: give its [[expect]] a tolerance "
        "(rtol), "
        "or leave it out\n";
  return out;
}

std::string findings_text(const Outcome& o, std::span<const GroupFindings> groups) {
  const Study& study = o.study;
  const std::span<const Point> points = o.points;
  const std::span<const PointResult> results = o.results;
  std::string out;
  for (size_t g = 0; g < groups.size(); ++g) {
    const GroupFindings& f = groups[g];
    out += fmt::format("{}{} on {}: {} point{} simulated", out.empty() ? "" : "\n",
                       study.workloads[f.workload].name, machine_name(study, f.machine), f.simulated,
                       f.simulated == 1 ? "" : "s");
    if (f.predicted > 0) out += fmt::format(", {} predicted", f.predicted);
    out += f.failed == 0
               ? "\n"
               : fmt::format(", {} {}refused or failed\n", f.failed, o.guided == nullptr ? "missing, " : "");
    if (f.simulated == 0) continue;
    if (o.guided != nullptr) {
      guided_lines(out, o.guided->groups[g]);
      out += never_simulated(o, f);
    }
    out +=
        fmt::format("{} {}: best {}, median {}, worst {}; {} as good as the best within {} %\n",
                    study.maximise ? "largest" : "smallest", study.objective, number(f.best_value),
                    number(f.median_value), number(f.worst_value),
                    f.equally_good == 1 ? "no other point is" : fmt::format("{} points are", f.equally_good),
                    100 * kEqual);
    out += in_short(o, f);
    out += "best points\n";
    for (const uint32_t i : f.best)
      out += fmt::format("  {:>12}  {}{}\n", number(o.objective(i)), axis_values(study, points[i]),
                         error_bar(o, i));
    if (f.against != f.best.front())
      out += why_text(why_best(results[f.against], results[f.best.front()]),
                      axis_values(study, points[f.against]));
    if (!f.effects.empty())
      out += fmt::format("what each axis does to {}, everything else equal\n", study.objective);
    if (!f.effects.empty() && f.predicted > 0)
      out += fmt::format(
          "  {} of {} values are predictions: steps below their error of {:.1f} % may be no more than that\n",
          f.predicted, f.predicted + f.simulated, 100 * o.guided->groups[g].left_out_error);
    for (const Effect& e : f.effects) effect_lines(out, study, e);
    if (!f.interactions.empty()) out += "axes that depend on each other\n";
    for (const Interaction& i : f.interactions) {
      const Axis &axis = study.axes[i.axis], &by = study.axes[i.by];
      out += fmt::format("  {} from its first to its last value: {} at {}={}, {} at {}={}\n", axis.name,
                         change(i.least), by.name, by.values[i.at_least].label, change(i.most), by.name,
                         by.values[i.at_most].label);
    }
    if (f.pareto.size() > 1) {
      out += "points that no other one beats in time, energy and SRAM\n";
      out += fmt::format("  {:>12} {:>12} {:>12}\n", "time [s]", "energy [J]", "SRAM [KiB]");
      for (const uint32_t i : f.pareto)
        out += fmt::format("  {:>12} {:>12} {:>12}  {}\n", number(results[i].time_s),
                           number(results[i].energy_j), number(results[i].sram_kib),
                           axis_values(study, points[i]));
    }
  }
  return out + reasons_text(study, points, results,
                            [&](size_t i) { return !usable(results[i]) && !std::isfinite(o.objective(i)); });
}

std::string findings_json(const Outcome& o, std::span<const GroupFindings> groups) {
  const Study& study = o.study;
  const std::span<const Point> points = o.points;
  const std::span<const PointResult> results = o.results;
  const auto point_json = [&](uint32_t i) {
    std::string out = fmt::format("{{\"point\": {}, \"values\": {{", i);
    for (size_t a = 0; a < study.axes.size(); ++a)
      out += fmt::format("{}{}: {}", a == 0 ? "" : ", ", core::json_quoted(study.axes[a].name),
                         core::json_quoted(study.axes[a].values[points[i].values[a]].label));
    out += fmt::format("}}, \"objective\": {}", core::json_number(o.objective(i)));
    if (!usable(results[i])) {
      const Estimate& e = o.guided->estimates[i];
      return out + fmt::format(", \"simulated\": false, \"low\": {}, \"high\": {}}}",
                               core::json_number(e.low), core::json_number(e.high));
    }
    return out + fmt::format(", \"time_s\": {}, \"energy_j\": {}, \"sram_kib\": {}}}",
                             core::json_number(results[i].time_s), core::json_number(results[i].energy_j),
                             core::json_number(results[i].sram_kib));
  };
  const auto points_json = [&](const std::vector<uint32_t>& list) {
    std::string out = "[";
    for (size_t i = 0; i < list.size(); ++i) out += (i == 0 ? "" : ", ") + point_json(list[i]);
    return out + "]";
  };
  std::string out = fmt::format(
      "{{\"study\": {}, \"objective\": {}, \"maximise\": {}, \"points\": {}, \"groups\": [",
      core::json_quoted(study.name), core::json_quoted(study.objective), study.maximise, points.size());
  const char* separator = "";
  for (size_t g = 0; g < groups.size(); ++g) {
    const GroupFindings& f = groups[g];
    out += fmt::format(
        "{}{{\"workload\": {}, \"machine\": {}, \"simulated\": {}, \"failed\": {}, {}\"best\": {}, "
        "\"why_best\": {}, \"pareto\": {}, \"effects\": [",
        separator, core::json_quoted(study.workloads[f.workload].name),
        core::json_quoted(machine_name(study, f.machine)), f.simulated, f.failed,
        o.guided == nullptr ? "" : guided_json(f, o.guided->groups[g]), points_json(f.best),
        f.best.empty() || f.against == f.best.front()
            ? "null"
            : why_json(why_best(results[f.against], results[f.best.front()]), f.against),
        points_json(f.pareto));
    separator = ", ";
    for (size_t i = 0; i < f.effects.size(); ++i) {
      const Effect& e = f.effects[i];
      const Axis& axis = study.axes[e.axis];
      out += fmt::format("{}{{\"axis\": {}, \"range\": {}, \"suffices\": {}, \"steps\": [",
                         i == 0 ? "" : ", ", core::json_quoted(axis.name), core::json_number(e.range),
                         is_of_machine(axis) ? core::json_quoted(axis.values[e.suffices].label) : "null");
      for (size_t s = 0; s < e.steps.size(); ++s)
        out += fmt::format(
            "{}{{\"from\": {}, \"to\": {}, \"factor\": {}, \"least\": {}, \"most\": {}, \"pairs\": {}}}",
            s == 0 ? "" : ", ", core::json_quoted(axis.values[e.steps[s].from].label),
            core::json_quoted(axis.values[e.steps[s].to].label), core::json_number(e.steps[s].factor),
            core::json_number(e.steps[s].least), core::json_number(e.steps[s].most), e.steps[s].pairs);
      out += "]}";
    }
    out += "], \"interactions\": [";
    for (size_t i = 0; i < f.interactions.size(); ++i) {
      const Interaction& x = f.interactions[i];
      out += fmt::format("{}{{\"axis\": {}, \"by\": {}, \"least\": {}, \"most\": {}}}", i == 0 ? "" : ", ",
                         core::json_quoted(study.axes[x.axis].name), core::json_quoted(study.axes[x.by].name),
                         core::json_number(x.least), core::json_number(x.most));
    }
    out += "]}";
  }
  return out + "]}\n";
}

}  // namespace gpusim::study
