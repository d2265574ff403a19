// What `gpusim correlate` prints.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "correlate/correlation.h"
#include "simcore/text/json_document.h"
#include "simcore/text/json_text.h"

namespace gpusim::correlate {

namespace {

using core::json_quoted;

/// What heads the rows of a role.
constexpr std::array<std::string_view, 4> kHeadings = {"kernel", "kernel (role fit)", "kernel (role judge)",
                                                       "used for fitting, not counted above"};

const char* results_word(Results r) {
  return r == Results::kSame ? "same" : r == Results::kDiffer ? "DIFFER" : "-";
}

std::string name_of(const Row& r) {
  return r.kernel.empty() ? r.run : fmt::format("{}: {}", r.run, r.kernel);
}

std::string percent(double v) { return fmt::format("{:+.1f} %", 100 * v); }

std::string coefficient(const std::optional<double>& r) { return r ? fmt::format("{:.4f}", *r) : "-"; }

bool has_power(const Row& r) { return r.compared() && r.hardware_power_w > 0 && r.simulated_power_w > 0; }

void add_rows(std::string& out, const std::vector<Row>& rows, Role role) {
  for (const Row& r : rows)
    if (r.compared() && r.role == role)
      out += fmt::format("{:<42} {:>12.0f} {:>12.0f} {:>9} {:>8} {:>9}  {:<12} {:<7} {}\n", name_of(r),
                         r.hardware, r.simulated, percent(r.error()),
                         r.spread > 0 ? fmt::format("{:.1f} %", 100 * r.spread) : "-", r.launches, r.method,
                         results_word(r.results), r.stall.empty() ? "-" : r.stall);
}

std::string totals_text(const Totals& t) {
  return fmt::format(
      "{} kernel{}: bias {}, mean absolute error {:.1f} %, median {:.1f} %, worst {} ({})\n"
      "correlation of cycles {}, of their logarithms {}\n",
      t.rows, t.rows == 1 ? "" : "s", percent(t.bias), 100 * t.mean_absolute, 100 * t.median_absolute,
      percent(t.worst->error()), name_of(*t.worst), coefficient(t.correlation),
      coefficient(t.log_correlation));
}

std::string power_text(const std::vector<Row>& rows) {
  std::string out;
  double sum = 0;
  size_t count = 0;
  for (const Row& r : rows) {
    if (!has_power(r)) continue;
    if (count == 0)
      out = fmt::format("\n{:<42} {:>12} {:>12} {:>9}\n", "average power of the board, W", "hardware",
                        "simulated", "error");
    const double error = r.simulated_power_w / r.hardware_power_w - 1;
    out += fmt::format("{:<42} {:>12.1f} {:>12.1f} {:>9}\n", r.run, r.hardware_power_w, r.simulated_power_w,
                       percent(error));
    sum += std::abs(error);
    ++count;
  }
  if (count != 0)
    out +=
        fmt::format("{} runs: mean absolute error {:.1f} %\n", count, 100 * sum / static_cast<double>(count));
  return out;
}

std::string counters_text(const std::vector<Row>& rows) {
  std::string out;
  for (const Row& r : rows) {
    if (!r.compared()) continue;
    for (const Row::CounterPair& c : r.counters) {
      if (out.empty())
        out = fmt::format("\n{:<30} {:<20} {:>14} {:>14} {:>9}\n", "counters", "", "hardware", "simulated",
                          "error");
      out += fmt::format("{:<30} {:<20} {:>14.0f} {:>14.0f} {:>9}\n", r.run, c.name, c.hardware, c.simulated,
                         c.hardware > 0 ? percent(c.simulated / c.hardware - 1) : "-");
    }
  }
  return out;
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

std::string row_json(const Row& r) {
  std::string out = fmt::format(
      "{{\"run\": {}, \"kernel\": {}, \"launches\": {}, \"fitting\": {}, \"role\": {}, ", json_quoted(r.run),
      json_quoted(r.kernel), r.launches, r.role == Role::kFitting, json_quoted(role_name(r.role)));
  if (!r.compared()) return out + fmt::format("\"not_compared\": {}}}", json_quoted(r.why_not));
  out += fmt::format(
      "\"hardware_cycles\": {}, \"simulated_cycles\": {}, \"error\": {}, \"spread\": {}, \"method\": {}, "
      "\"stall\": {}, ",
      r.hardware, r.simulated, r.error(), r.spread, json_quoted(r.method), json_quoted(r.stall));
  if (has_power(r))
    out += fmt::format("\"hardware_power_w\": {}, \"simulated_power_w\": {}, ", r.hardware_power_w,
                       r.simulated_power_w);
  if (!r.counters.empty()) {
    out += "\"counters\": {";
    for (const Row::CounterPair& c : r.counters)
      out += fmt::format("{}\"{}\": [{}, {}]", &c == r.counters.data() ? "" : ", ", c.name, c.hardware,
                         c.simulated);
    out += "}, ";
  }
  return out + fmt::format("\"results\": {}}}", r.results == Results::kUnknown ? "null"
                                                : r.results == Results::kSame  ? "\"same\""
                                                                               : "\"differ\"");
}

bool is_fitting(const Row& r) { return r.role == Role::kFitting; }

}  // namespace

std::string correlation_text(const HardwareFile& file, const std::string& machine, const Correlation& c,
                             bool counters) {
  std::string out = fmt::format("hardware  {}, {:.0f} MHz, {}: {}\nmachine   {}\n", file.device,
                                file.core_hz / 1e6, file.date, file.source, machine);
  size_t sections = 0;
  for (size_t role = 0; role < kHeadings.size(); ++role) {
    const Totals t = totals_of(c.rows, [role](const Row& r) { return r.role == static_cast<Role>(role); });
    if (t.rows == 0) continue;
    sections += static_cast<Role>(role) != Role::kFitting;
    out += fmt::format("\n{:<42} {:>12} {:>12} {:>9} {:>8} {:>9}  {:<12} {:<7} {}\n", kHeadings[role],
                       "hardware", "simulated", "error", "spread", "launches", "method", "results",
                       "most lost to");
    add_rows(out, c.rows, static_cast<Role>(role));
    out += totals_text(t);
  }
  if (sections > 1) out += "\nall roles\n" + totals_text(totals_of(c.rows, counts));
  out += power_text(c.rows);
  if (counters) out += counters_text(c.rows);
  bool heading = false;
  for (const Row& r : c.rows) {
    if (r.compared()) continue;
    if (!heading) out += "\nnot compared\n";
    heading = true;
    out += fmt::format("{}: {}\n", name_of(r), r.why_not);
  }
  return out;
}

std::string summary_text(const std::string& machine, const std::vector<Row>& rows) {
  std::string out = fmt::format("\n{}, all files\n", machine);
  for (size_t role = 0; role < kHeadings.size(); ++role) {
    const Totals t = totals_of(rows, [role](const Row& r) { return r.role == static_cast<Role>(role); });
    if (t.rows == 0 || static_cast<Role>(role) == Role::kFitting) continue;
    out += fmt::format("{}: {}", role == 0 ? "no role" : role_name(static_cast<Role>(role)), totals_text(t));
  }
  const Totals all = totals_of(rows, counts);
  return all.rows == 0 ? std::string() : out + "all: " + totals_text(all);
}

std::string correlation_json(const HardwareFile& file, const std::string& machine, const Correlation& c) {
  std::string out = fmt::format(
      "{{\"device\": {}, \"core_hz\": {}, \"date\": {}, \"source\": {}, \"machine\": {}, \"kernels\": [",
      json_quoted(file.device), file.core_hz, json_quoted(file.date), json_quoted(file.source),
      json_quoted(machine));
  for (size_t i = 0; i < c.rows.size(); ++i) out += (i == 0 ? "\n  " : ",\n  ") + row_json(c.rows[i]);
  return out + fmt::format("\n], \"totals\": {}, \"fitting_totals\": {}}}",
                           totals_json(totals_of(c.rows, counts)),
                           totals_json(totals_of(c.rows, is_fitting)));
}

}  // namespace gpusim::correlate
