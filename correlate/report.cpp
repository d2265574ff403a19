// What `gpusim correlate` prints.
#include <fmt/format.h>

#include "correlate/correlation.h"
#include "simcore/text/json_document.h"
#include "simcore/text/json_text.h"

namespace gpusim::correlate {

namespace {

using core::json_quoted;

const char* results_word(Results r) {
  return r == Results::kSame ? "same" : r == Results::kDiffer ? "DIFFER" : "-";
}

std::string name_of(const Row& r) {
  return r.kernel.empty() ? r.run : fmt::format("{}: {}", r.run, r.kernel);
}

std::string percent(double v) { return fmt::format("{:+.1f} %", 100 * v); }

std::string coefficient(const std::optional<double>& r) { return r ? fmt::format("{:.4f}", *r) : "-"; }

void add_rows(std::string& out, const std::vector<Row>& rows, bool fitting) {
  for (const Row& r : rows)
    if (r.compared() && r.fitting == fitting)
      out += fmt::format("{:<42} {:>12.0f} {:>12.0f} {:>9} {:>8} {:>9}  {:<12} {}\n", name_of(r), r.hardware,
                         r.simulated, percent(r.error()),
                         r.spread > 0 ? fmt::format("{:.1f} %", 100 * r.spread) : "-", r.launches, r.method,
                         results_word(r.results));
}

void add_totals(std::string& out, const Totals& t) {
  out += fmt::format(
      "bias {}, mean absolute error {:.1f} %, median {:.1f} %, worst {} ({})\n"
      "correlation of cycles {}, of their logarithms {}\n",
      percent(t.bias), 100 * t.mean_absolute, 100 * t.median_absolute, percent(t.worst->error()),
      name_of(*t.worst), coefficient(t.correlation), coefficient(t.log_correlation));
}

std::string totals_json(const Totals& t) {
  if (t.rows == 0) return "{\"kernels\": 0}";
  const auto number = [](const std::optional<double>& v) { return v ? fmt::format("{}", *v) : "null"; };
  return fmt::format(
      "{{\"kernels\": {}, \"bias\": {}, \"mean_absolute_error\": {}, \"median_absolute_error\": {}, "
      "\"worst\": {{\"run\": {}, \"kernel\": {}, \"error\": {}}}, \"correlation\": {}, \"log_correlation\": "
      "{}}}",
      t.rows, t.bias, t.mean_absolute, t.median_absolute, json_quoted(t.worst->run),
      json_quoted(t.worst->kernel), t.worst->error(), number(t.correlation), number(t.log_correlation));
}

}  // namespace

std::string correlation_text(const HardwareFile& file, const std::string& machine, const Correlation& c) {
  std::string out = fmt::format("hardware  {}, {:.0f} MHz, {}: {}\nmachine   {}\n", file.device,
                                file.core_hz / 1e6, file.date, file.source, machine);
  for (const bool fitting : {false, true}) {
    const Totals t = totals_of(c.rows, fitting);
    if (t.rows == 0) continue;
    out += fmt::format("\n{:<42} {:>12} {:>12} {:>9} {:>8} {:>9}  {:<12} {}\n",
                       fitting ? "used for fitting, not counted above" : "kernel", "hardware", "simulated",
                       "error", "spread", "launches", "method", "results");
    add_rows(out, c.rows, fitting);
    out += fmt::format("{} kernel{}: ", t.rows, t.rows == 1 ? "" : "s");
    add_totals(out, t);
  }
  bool heading = false;
  for (const Row& r : c.rows) {
    if (r.compared()) continue;
    if (!heading) out += "\nnot compared\n";
    heading = true;
    out += fmt::format("{}: {}\n", name_of(r), r.why_not);
  }
  return out;
}

std::string correlation_json(const HardwareFile& file, const std::string& machine, const Correlation& c) {
  std::string out = fmt::format(
      "{{\"device\": {}, \"core_hz\": {}, \"date\": {}, \"source\": {}, \"machine\": {}, \"kernels\": [",
      json_quoted(file.device), file.core_hz, json_quoted(file.date), json_quoted(file.source),
      json_quoted(machine));
  for (size_t i = 0; i < c.rows.size(); ++i) {
    const Row& r = c.rows[i];
    out += fmt::format("{}\n  {{\"run\": {}, \"kernel\": {}, \"launches\": {}, \"fitting\": {}, ",
                       i == 0 ? "" : ",", json_quoted(r.run), json_quoted(r.kernel), r.launches, r.fitting);
    if (r.compared())
      out += fmt::format(
          "\"hardware_cycles\": {}, \"simulated_cycles\": {}, \"error\": {}, \"spread\": {}, \"method\": {}, "
          "\"results\": {}}}",
          r.hardware, r.simulated, r.error(), r.spread, json_quoted(r.method),
          r.results == Results::kUnknown ? "null"
          : r.results == Results::kSame  ? "\"same\""
                                         : "\"differ\"");
    else
      out += fmt::format("\"not_compared\": {}}}", json_quoted(r.why_not));
  }
  return out + fmt::format("\n], \"totals\": {}, \"fitting_totals\": {}}}\n",
                           totals_json(totals_of(c.rows, false)), totals_json(totals_of(c.rows, true)));
}

}  // namespace gpusim::correlate
