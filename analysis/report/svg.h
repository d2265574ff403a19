// What the charts of the HTML page are drawn with: pieces of SVG, axis steps and keys.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace gpusim::analysis {

/// Of a chart, in the units of its drawing.
inline constexpr double kWide = 720, kHigh = 260, kLeft = 64, kRight = 12, kTop = 24, kBottom = 40;

[[nodiscard]] std::string colour(int look);
/// A step of 1, 2 or 5 times a power of ten that divides `range` into about five.
[[nodiscard]] double nice_step(double range);
/// "12.5 M"
[[nodiscard]] std::string tick_text(double value);
/// Names with the colours of their looks.
[[nodiscard]] std::string chart_key(const std::vector<std::pair<std::string, int>>& entries);
/// `extra`: further attributes.
[[nodiscard]] std::string svg_text(double x, double y, const char* anchor, const std::string& text,
                                   const char* extra = "");
[[nodiscard]] std::string line_at(double x1, double y1, double x2, double y2,
                                  const char* style = "class=\"axis\"");
[[nodiscard]] std::string svg_start(const std::string& title, double high = kHigh);

}  // namespace gpusim::analysis
