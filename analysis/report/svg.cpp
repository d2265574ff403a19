#include "analysis/report/svg.h"

#include <fmt/format.h>

#include <cmath>

#include "analysis/report/html.h"

namespace gpusim::analysis {

std::string colour(int look) { return fmt::format("var(--c{})", ((look % kLooks) + kLooks) % kLooks); }

double nice_step(double range) {
  if (!(range > 0) || !std::isfinite(range)) return 1;
  const double power = std::pow(10, std::floor(std::log10(range / 4)));
  for (const double step : {1.0, 2.0, 5.0})
    if (range / (step * power) <= 6) return step * power;
  return 10 * power;
}

std::string tick_text(double value) {
  const double size = std::abs(value);
  for (const auto& [unit, name] :
       std::initializer_list<std::pair<double, const char*>>{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}})
    if (size >= unit) return fmt::format("{:.4g} {}", value / unit, name);
  return fmt::format("{:.3g}", value);
}

std::string chart_key(const std::vector<std::pair<std::string, int>>& entries) {
  std::string out = "<div class=\"key\">";
  for (const auto& [name, look] : entries)
    out += fmt::format("<span style=\"--c:{}\">{}</span>", colour(look), html_text(name));
  return out + "</div>\n";
}

std::string svg_text(double x, double y, const char* anchor, const std::string& text, const char* extra) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>", x, y, anchor, extra,
                     html_text(text));
}

std::string line_at(double x1, double y1, double x2, double y2, const char* style) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>", x1, y1, x2, y2,
                     style);
}

std::string svg_start(const std::string& title, double high) {
  return fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">", kWide, high,
                     html_text(title));
}

}  // namespace gpusim::analysis
