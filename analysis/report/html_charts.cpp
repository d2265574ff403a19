// Charts of what was varied: lines over an axis, ranges, tables of shades, points in a plane.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/report/html.h"
#include "analysis/report/svg.h"

namespace gpusim::analysis {

namespace {

/// From a little below the least value to a little above the greatest; from 0 if that is not far.
struct Range {
  double low = HUGE_VAL, high = -HUGE_VAL;
  void add(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  [[nodiscard]] bool empty() const { return low > high; }
  void widen() {
    constexpr double kFar = 0.5, kMargin = 0.08;
    if (low >= 0 && low < kFar * high) {
      low = 0;
      high *= 1 + kMargin;
      return;
    }
    const double room = high > low ? kMargin * (high - low) : std::max(std::abs(high) * kMargin, 1e-30);
    low -= room;
    high += room;
  }
  [[nodiscard]] double share(double value) const { return (value - low) / (high - low); }
};

double x_at(double share) { return kLeft + share * (kWide - kLeft - kRight); }
double y_at(double share) { return kHigh - kBottom - share * (kHigh - kTop - kBottom); }

std::string figure(const std::string& title, const std::string& content) {
  return fmt::format("<figure><figcaption>{}</figcaption>{}</figure>\n", html_text(title), content);
}

std::string y_axis(const Range& y, const std::string& label) {
  std::string out;
  const double step = nice_step(y.high - y.low);
  for (double v = std::ceil(y.low / step) * step; v <= y.high; v += step)
    out += line_at(kLeft, y_at(y.share(v)), kWide - kRight, y_at(y.share(v))) +
           svg_text(kLeft - 6, y_at(y.share(v)) + 4, "end", tick_text(std::abs(v) < step / 1e6 ? 0 : v));
  return out + svg_text(4, 14, "start", label, " class=\"soft\"");
}

std::string dot(double x, double y, const std::string& fill, double radius, const std::string& label) {
  return fmt::format(
      "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" style=\"fill:{}\"><title>{}</title></circle>", x, y,
      radius, fill, html_text(label));
}

}  // namespace

std::string html_lines(const HtmlLines& chart) {
  Range y;
  for (const HtmlSeries& s : chart.series)
    for (const double value : s.values) y.add(value);
  if (y.empty() || chart.places.empty()) return "";
  y.widen();
  const size_t n = chart.places.size();
  const auto x = [n](size_t i) { return x_at((static_cast<double>(i) + 0.5) / static_cast<double>(n)); };
  std::string out = svg_start(chart.title) + y_axis(y, chart.y_label);
  // As many of the names as fit.
  size_t longest = 1;
  for (const std::string& place : chart.places) longest = std::max(longest, place.size());
  constexpr double kLetter = 8;
  const double room = (kWide - kLeft - kRight) / static_cast<double>(n);
  const auto every = static_cast<size_t>(std::ceil((static_cast<double>(longest) + 1) * kLetter / room));
  for (size_t i = 0; i < n; i += every)
    out += line_at(x(i), kHigh - kBottom, x(i), kHigh - kBottom + 4) +
           svg_text(x(i), kHigh - kBottom + 18, "middle", chart.places[i]);
  out += svg_text((kLeft + kWide) / 2, kHigh - 6, "middle", chart.x_label, " class=\"soft\"");
  std::vector<std::pair<std::string, int>> entries;
  for (const HtmlSeries& s : chart.series) {
    if (std::ranges::none_of(s.values, [](double v) { return std::isfinite(v); })) continue;
    std::string points, dots;
    for (size_t i = 0; i < std::min(n, s.values.size()); ++i) {
      if (!std::isfinite(s.values[i])) continue;
      points += fmt::format("{:.1f},{:.1f} ", x(i), y_at(y.share(s.values[i])));
      dots +=
          dot(x(i), y_at(y.share(s.values[i])), colour(s.look), 3.5,
              fmt::format("{}{}: {:.5g}", s.name.empty() ? "" : s.name + ", ", chart.places[i], s.values[i]));
    }
    out += fmt::format("<polyline points=\"{}\" style=\"fill:none;stroke:{};stroke-width:2\"/>", points,
                       colour(s.look)) +
           dots;
    if (!s.name.empty()) entries.emplace_back(s.name, s.look);
  }
  return figure(chart.title + (y.low > 0 ? " (the axis does not begin at 0)" : ""),
                out + "</svg>" + (entries.empty() ? std::string() : chart_key(entries)));
}

std::string html_tornado(const std::string& title, const std::vector<HtmlSpan>& spans) {
  Range x;
  x.add(1);
  for (const HtmlSpan& s : spans) x.add(s.low), x.add(s.high);
  if (spans.empty() || !(x.high > x.low)) return "";
  constexpr double kRow = 40, kBar = 16, kHead = 12, kNames = 170;
  const double high = kHead + kRow * static_cast<double>(spans.size()) + 30;
  const double room = 0.04 * (x.high - x.low);
  x.low -= room, x.high += room;
  const auto at = [&](double v) { return kNames + x.share(v) * (kWide - kNames - kRight); };
  std::string out = svg_start(title, high);
  const double step = nice_step(x.high - x.low);
  // Steps are counted from 1, which is no change.
  for (double v = 1 - std::floor((1 - x.low) / step) * step; v <= x.high; v += step)
    out += line_at(at(v), kHead, at(v), high - 30) +
           svg_text(at(v), high - 14, "middle",
                    std::abs(v - 1) < step / 1e6 ? "0 %" : fmt::format("{:+.3g} %", 100 * (v - 1)));
  for (size_t i = 0; i < spans.size(); ++i) {
    const HtmlSpan& s = spans[i];
    const double top = kHead + kRow * static_cast<double>(i) + 4;
    out += svg_text(kNames - 8, top + kBar - 3, "end", s.name);
    out += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" style=\"fill:var(--c3)\"><title>{}: "
        "{:+.2f} "
        "% to {:+.2f} %</title></rect>",
        at(s.low), top, std::max(at(s.high) - at(s.low), 1.0), kBar, html_text(s.name), 100 * (s.low - 1),
        100 * (s.high - 1));
    // The names of the two ends stand below the bar, where they do not run into each other.
    const std::string both = fmt::format("{} … {}", s.at_low, s.at_high);
    const double middle =
        std::clamp((at(s.low) + at(s.high)) / 2, kNames + 4.0 * static_cast<double>(both.size()),
                   kWide - kRight - 4.0 * static_cast<double>(both.size()));
    out += svg_text(middle, top + kBar + 13, "middle", both, " class=\"soft\"");
  }
  out += line_at(at(1), kHead - 4, at(1), high - 30, "style=\"stroke:var(--ink);stroke-width:1\"");
  return figure(title, out + "</svg>");
}

std::string html_tiles(const HtmlTiles& tiles) {
  if (tiles.columns.empty() || tiles.rows.empty() ||
      tiles.cells.size() != tiles.columns.size() * tiles.rows.size())
    return "";
  std::string out = fmt::format("<div class=\"wide\"><table class=\"tiles\"><tr><th>{} \\ {}",
                                html_text(tiles.row_name), html_text(tiles.column_name));
  for (const std::string& column : tiles.columns) out += fmt::format("<th class=\"n\">{}", html_text(column));
  out += "</tr>\n";
  for (size_t row = 0; row < tiles.rows.size(); ++row) {
    out += fmt::format("<tr><th>{}", html_text(tiles.rows[row]));
    for (size_t column = 0; column < tiles.columns.size(); ++column) {
      const HtmlTile& cell = tiles.cells[row * tiles.columns.size() + column];
      // Of the full colour no more than the text on it can be read upon.
      constexpr double kDarkest = 0.55;
      out += fmt::format("<td class=\"n\" style=\"background:rgba(var(--heat),{:.3f})\" title=\"{}\">{}</td>",
                         kDarkest * std::clamp(cell.shade, 0.0, 1.0), html_text(cell.label),
                         html_text(cell.text));
    }
    out += "</tr>\n";
  }
  return figure(tiles.title, out + "</table></div>");
}

std::string html_scatter(const std::string& title, const std::string& x_label, const std::string& y_label,
                         const std::vector<HtmlPoint>& points) {
  Range x, y;
  for (const HtmlPoint& p : points) {
    if (!std::isfinite(p.x) || !std::isfinite(p.y)) continue;
    x.add(p.x), y.add(p.y);
  }
  if (x.empty()) return "";
  x.widen(), y.widen();
  std::string out = svg_start(title) + y_axis(y, y_label);
  const double step = nice_step(x.high - x.low);
  for (double v = std::ceil(x.low / step) * step; v <= x.high; v += step)
    out += line_at(x_at(x.share(v)), kHigh - kBottom, x_at(x.share(v)), kHigh - kBottom + 4) +
           svg_text(std::min(x_at(x.share(v)), kWide - kRight), kHigh - kBottom + 18,
                    x_at(x.share(v)) > kWide - 4 * kRight ? "end" : "middle", tick_text(v));
  out += svg_text((kLeft + kWide) / 2, kHigh - 6, "middle", x_label, " class=\"soft\"");
  std::vector<const HtmlPoint*> front;
  std::string plain, marked;
  for (const HtmlPoint& p : points) {
    if (!std::isfinite(p.x) || !std::isfinite(p.y)) continue;
    (p.marked ? marked : plain) += dot(x_at(x.share(p.x)), y_at(y.share(p.y)),
                                       p.marked ? "var(--mark)" : "var(--c1)", p.marked ? 5 : 3, p.label);
    if (p.marked) front.push_back(&p);
  }
  std::ranges::stable_sort(front, {}, [](const HtmlPoint* p) { return std::pair(p->x, p->y); });
  std::string line;
  for (const HtmlPoint* p : front)
    line += fmt::format("{:.1f},{:.1f} ", x_at(x.share(p->x)), y_at(y.share(p->y)));
  out +=
      plain +
      fmt::format("<polyline points=\"{}\" style=\"fill:none;stroke:var(--mark);stroke-width:1.5\"/>", line) +
      marked;
  return figure(title, out + "</svg>");
}

}  // namespace gpusim::analysis
