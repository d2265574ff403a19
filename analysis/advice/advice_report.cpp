#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/advice/advise.h"
#include "analysis/report/text.h"
#include "simcore/text/json_text.h"

namespace gpusim::analysis::advice {
namespace {

std::string kernel_line(const KernelEstimate& k) {
  const std::string rough = std::abs(k.own_error) <= kRough
                                ? ""
                                : " Its own error is large here: take the gains of this kernel as rough.";
  constexpr double kExact = 0.005;  // what would be printed as 0 %
  const std::string estimate =
      std::abs(k.own_error) < kExact
          ? "The estimate of its time was right within 0.5 %."
          : fmt::format("The estimate of its time was {:.0f} % too {} before it was scaled to it.",
                        100 * std::abs(k.own_error), k.own_error < 0 ? "small" : "large");
  return fmt::format("  kernel {} {}: {} core cycles{}. {}{}\n", k.launch, printable(k.kernel), k.cycles,
                     k.launches > 1 ? fmt::format(" in the longest of {} launches", k.launches) : "",
                     estimate, rough);
}

std::string unjudged_text(const RunAdvice& run) {
  std::string out;
  for (const Unjudged& u : run.unjudged)
    out += fmt::format("not judged in {}: {}\n{}    at {}\n    {}\n", printable(u.kernel), u.what,
                       indented(u.hint + "; how much that would gain does not follow from counts."),
                       printable(u.place), printable(u.counter));
  return out;
}

std::string value_text(const Advice& a) {
  return fmt::format("{}: {} {}", a.counter,
                     a.value >= 1e6 ? fmt::format("{:.0f}", a.value) : fmt::format("{:.4g}", a.value),
                     a.unit);
}

}  // namespace

std::string advice_text(const RunAdvice& run, size_t top) {
  std::string out =
      fmt::format("{} {:.0f} core cycles\n", run.selected ? "launches of" : "run of", run.cycles);
  for (const KernelEstimate& k : run.kernels) out += kernel_line(k);
  if (run.advice.empty())
    return out + fmt::format("no rule predicts a gain of {:.0f} % or more\n", 100 * (kLeastGain - 1)) +
           unjudged_text(run);
  const size_t shown = std::min(top, run.advice.size());
  for (size_t i = 0; i < shown; ++i) {
    const Advice& a = run.advice[i];
    // Copies hide what a kernel would gain.
    constexpr double kHidden = 1.1;
    const bool hidden = a.kernels_gain >= kHidden * a.gain || a.gain < kLeastGain;
    const std::string kernels =
        !hidden ? "" : fmt::format(", its kernels alone {:.2f} times: the rest is copies", a.kernels_gain);
    out += fmt::format("{}. {}{}: {} would be {:.2f} times as fast (predicted){}\n", i + 1, a.rule,
                       a.kernel.empty() ? "" : " in " + printable(a.kernel),
                       run.selected ? "these launches" : "the run", a.gain, kernels);
    out += indented(a.what + ".");
    if (!a.place.empty()) out += fmt::format("    at {}\n", printable(a.place));
    out += fmt::format("    {}\n", printable(value_text(a)));
  }
  if (shown < run.advice.size())
    out += fmt::format("and {} more with smaller gains (--top)\n", run.advice.size() - shown);
  return out + unjudged_text(run);
}

std::string advice_json(const RunAdvice& run) {
  std::string kernels, list;
  for (const KernelEstimate& k : run.kernels)
    kernels += fmt::format(
        "{}{{\"launch\": {}, \"kernel\": {}, \"launches\": {}, \"cycles\": {}, \"own_error\": {}, \"rough\": "
        "{}}}",
        kernels.empty() ? "" : ", ", k.launch, core::json_quoted(k.kernel), k.launches, k.cycles,
        core::json_number(k.own_error), std::abs(k.own_error) > kRough);
  for (const Advice& a : run.advice)
    list += fmt::format(
        "{}{{\"rule\": {}, \"launch\": {}, \"kernel\": {}, \"what\": {}, \"place\": {}, \"counter\": {}, "
        "\"value\": {}, \"unit\": {}, \"kernel_gain\": {}, \"kernels_gain\": {}, \"gain\": {}}}",
        list.empty() ? "" : ", ", core::json_quoted(a.rule),
        a.kernel.empty() ? "null" : std::to_string(a.launch),
        a.kernel.empty() ? "null" : core::json_quoted(a.kernel), core::json_quoted(a.what),
        a.place.empty() ? "null" : core::json_quoted(a.place), core::json_quoted(a.counter),
        core::json_number(a.value), core::json_quoted(a.unit), core::json_number(a.kernel_gain),
        core::json_number(a.kernels_gain), core::json_number(a.gain));
  std::string unjudged;
  for (const Unjudged& u : run.unjudged)
    unjudged += fmt::format(
        "{}{{\"launch\": {}, \"kernel\": {}, \"what\": {}, \"place\": {}, \"counter\": {}, "
        "\"sectors\": {}, \"least\": {}}}",
        unjudged.empty() ? "" : ", ", u.launch, core::json_quoted(u.kernel), core::json_quoted(u.what),
        core::json_quoted(u.place), core::json_quoted(u.counter), core::json_number(u.sectors),
        core::json_number(u.least));
  return fmt::format("\"cycles\": {}, \"kernels\": [{}], \"advice\": [{}], \"unjudged\": [{}]",
                     core::json_number(run.cycles), kernels, list, unjudged);
}

std::string describe_rules() {
  std::string out;
  for (const Rule& rule : rules()) out += fmt::format("{}\n{}", rule.name, indented(rule.meaning));
  out += fmt::format("uneven_work\n{}", indented("few blocks that run on when the others have ended"));
  out += fmt::format("launch_overhead\n{}", indented("launches of one kernel that could be one"));
  out += fmt::format("transfer_overlap\n{}", indented("copies that no kernel runs beside"));
  return out;
}

}  // namespace gpusim::analysis::advice
