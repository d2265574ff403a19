#include "microbench/data_sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "simcore/text/input_error.h"

namespace gpusim::microbench {

namespace {

/// At most four decimals, none that are zero.
std::string number_text(double v) {
  if (v == std::floor(v) && std::abs(v) < 1e15) return fmt::format("{:.0f}", v);
  return std::abs(v) >= 1e6 ? fmt::format("{:.6g}", v) : fmt::format("{:.4g}", v);
}

std::string text_of(const std::optional<Value>& v) {
  if (!v) return "-";
  return v->is_number() ? number_text(v->number) : v->words;
}

std::string difference_text(const Figure& f) {
  if (!f.found || !f.configured) return "";
  if (f.agrees() && !f.difference().value_or(0)) return "=";
  const auto d = f.difference();
  if (!d) return "differs";
  const double c = f.configured->number;
  return c == 0 ? fmt::format("{:+.4g}", *d) : fmt::format("{:+.1f} %", 100 * *d / c);
}

std::string json_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string json_of(const std::optional<Value>& v) {
  if (!v) return "null";
  return v->is_number() ? fmt::format("{:.10g}", v->number) : json_text(v->words);
}

}  // namespace

std::optional<double> Figure::difference() const {
  if (!found || !configured || !found->is_number() || !configured->is_number()) return std::nullopt;
  return found->number - configured->number;
}

bool Figure::agrees() const {
  if (!found || !configured) return false;
  if (const auto d = difference()) return std::abs(*d) <= tolerance * std::abs(configured->number);
  return *found == *configured;
}

const Figure* DataSheet::find(const std::string& name) const {
  const auto f =
      std::find_if(figures.begin(), figures.end(), [&](const Figure& x) { return x.name == name; });
  return f == figures.end() ? nullptr : &*f;
}

void attempt(DataSheet& sheet, const std::string& name, const std::function<void()>& measure) {
  try {
    measure();
  } catch (const core::InputError& e) {
    Figure f;
    f.name = name;
    const std::string why = e.what();
    f.method = fmt::format("not measured: {}", why.substr(0, why.find('\n')));
    sheet.figures.push_back(std::move(f));
  }
}

std::string sheet_text(const DataSheet& sheet) {
  std::string out = fmt::format("{}\n{:<28} {:>14} {:<16} {:>14} {:>9}  {}\n", sheet.machine, "figure",
                                "found", "unit", "configured", "", "method");
  std::string section;
  for (const Figure& f : sheet.figures) {
    const std::string its_section = f.name.substr(0, f.name.find('.'));
    if (its_section != section) out += '\n';
    section = its_section;
    out += fmt::format("{:<28} {:>14} {:<16} {:>14} {:>9}  {}{}\n", f.name, text_of(f.found), f.unit,
                       text_of(f.configured), difference_text(f), f.method,
                       f.kernel.empty() ? "" : fmt::format(" [{}]", f.kernel));
  }
  return out;
}

std::string sheet_json(const DataSheet& sheet) {
  std::string out = fmt::format("{{\"machine\": {}, \"figures\": [", json_text(sheet.machine));
  for (size_t i = 0; i < sheet.figures.size(); ++i) {
    const Figure& f = sheet.figures[i];
    const auto d = f.difference();
    out += fmt::format(
        "{}\n  {{\"name\": {}, \"found\": {}, \"unit\": {}, \"configured\": {}, \"difference\": {}, "
        "\"kernel\": {}, \"method\": {}}}",
        i == 0 ? "" : ",", json_text(f.name), json_of(f.found), json_text(f.unit), json_of(f.configured),
        d ? fmt::format("{:.10g}", *d) : "null", json_text(f.kernel), json_text(f.method));
  }
  return out + "\n]}\n";
}

}  // namespace gpusim::microbench
