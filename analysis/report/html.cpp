#include "analysis/report/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/report/svg.h"
#include "analysis/report/text.h"

namespace gpusim::analysis {

namespace {

constexpr std::string_view kStyle = R"css(
:root { color-scheme: light dark; --ground: #ffffff; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --panel: #f6f8fa; --mark: #b35900;
  --c0: #2f9e44; --c1: #868e96; --c2: #e8590c; --c3: #1971c2; --c4: #9c36b5; --c5: #c2255c; --c6: #f08c00; --c7: #0c8599; --c8: #5f3dc4;
  --c9: #495057; --c10: #5c940d; --c11: #a61e4d; --heat: 25, 113, 194; }
@media (prefers-color-scheme: dark) { :root { --ground: #0d1117; --ink: #e6edf3; --soft: #9198a1; --line: #3d444d; --panel: #161b22;
  --mark: #ffa94d; --c0: #51cf66; --c1: #adb5bd; --c2: #ff922b; --c3: #4dabf7; --c4: #da77f2; --c5: #f783ac; --c6: #ffd43b; --c7: #3bc9db;
  --c8: #9775fa; --c9: #ced4da; --c10: #a9e34b; --c11: #ffa8a8; --heat: 77, 171, 247; } }
@media print { :root { --ground: #ffffff; --ink: #000000; --soft: #444444; --line: #999999; --panel: #ffffff; color-scheme: light; }
  details { break-inside: avoid; } nav { display: none; } section { break-inside: auto; } figure { break-inside: avoid; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 76rem; padding: 1rem; background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, "DejaVu Sans", sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.3rem; margin-top: 2.5rem; border-bottom: 1px solid var(--line); } h3 { font-size: 1.05rem; }
nav { font-size: .9rem; } nav a { margin-right: 1rem; } a { color: inherit; }
.soft { color: var(--soft); font-size: .9rem; } .limit { border-left: .3rem solid var(--mark); padding: .3rem .8rem; background: var(--panel); }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .2rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: normal; }
td.n, th.n { text-align: right; white-space: nowrap; } pre { background: var(--panel); padding: .8rem; overflow-x: auto; font-size: .85rem; }
td.code { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .82rem; white-space: pre-wrap; min-width: 18rem; }
figure { margin: 1rem 0; } figcaption { color: var(--soft); font-size: .9rem; } svg { width: 100%; max-width: 52rem; height: auto; display: block; }
svg text { fill: var(--ink); font-size: 13px; } svg .soft { fill: var(--soft); } svg .axis { stroke: var(--line); stroke-width: 1; }
.key { display: flex; flex-wrap: wrap; gap: .2rem 1rem; font-size: .85rem; margin: .3rem 0; }
.key span::before { content: ""; display: inline-block; width: .8em; height: .8em; margin-right: .35em; background: var(--c); }
.share { display: flex; height: 1.8rem; border: 1px solid var(--line); } .share div { background: var(--c); min-width: 1px; }
.meter { display: inline-block; width: 6rem; height: .7em; background: var(--line); margin-right: .5em; }
.tiles td, .tiles th { padding: .35rem .7rem; border: 1px solid var(--line); }
.meter i { display: block; height: 100%; background: var(--c3); } .grid { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(20rem, 1fr)); }
)css";

/// Where the whole of a chart's values lies.
struct Frame {
  double x_end, y_end;
  [[nodiscard]] double x(double value) const { return kLeft + value / x_end * (kWide - kLeft - kRight); }
  [[nodiscard]] double y(double value) const {
    return kHigh - kBottom - value / y_end * (kHigh - kTop - kBottom);
  }
  [[nodiscard]] std::string axes(const std::string& x_label, const std::string& y_label) const {
    std::string out;
    const double y_step = nice_step(y_end), x_step = nice_step(x_end);
    for (double v = 0; v <= y_end * 1.0001; v += y_step)
      out += line_at(kLeft, y(v), kWide - kRight, y(v)) + svg_text(kLeft - 6, y(v) + 4, "end", tick_text(v));
    for (double v = 0; v <= x_end * 1.0001; v += x_step)
      out += line_at(x(v), kHigh - kBottom, x(v), kHigh - kBottom + 4) +
             svg_text(x(v), kHigh - kBottom + 18, "middle", tick_text(v));
    out += svg_text((kLeft + kWide) / 2, kHigh - 6, "middle", x_label, " class=\"soft\"");
    out += svg_text(4, 14, "start", y_label, " class=\"soft\"");
    return out;
  }
};

}  // namespace

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : printable_lines(text)) switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  return out;
}

std::string html_bar(const std::vector<HtmlPart>& parts, const std::string& label) {
  double sum = 0;
  for (const HtmlPart& p : parts) sum += p.value;
  std::string out =
      fmt::format("<figure role=\"img\" aria-label=\"{}\"><div class=\"share\">", html_text(label));
  std::vector<std::pair<std::string, int>> entries;
  for (const HtmlPart& p : parts) {
    if (!(p.value > 0)) continue;
    const double percent = 100 * p.value / sum;
    out += fmt::format("<div style=\"--c:{};width:{:.3f}%\" title=\"{} {:.2f} %\"></div>", colour(p.look),
                       percent, html_text(p.name), percent);
    if (percent >= 0.5) entries.emplace_back(fmt::format("{} {:.1f} %", p.name, percent), p.look);
  }
  return out + "</div>" + chart_key(entries) + "</figure>\n";
}

std::string html_time_chart(const HtmlTimeChart& chart) {
  if (chart.ends.empty() || !(chart.ends.back() > 0)) return "";
  const size_t n = chart.ends.size();
  double highest = chart.highest;
  if (highest == 0) {
    for (size_t i = 0; i < n; ++i) {
      double sum = 0;
      for (const HtmlSeries& s : chart.series)
        sum = chart.stacked ? sum + s.values[i] : std::max(sum, s.values[i]);
      highest = std::max(highest, sum);
    }
    if (!(highest > 0)) highest = 1;
  }
  const Frame frame{chart.ends.back(), highest};
  std::string out = fmt::format("<figure><figcaption>{}</figcaption>", html_text(chart.title)) +
                    svg_start(chart.title) + frame.axes(chart.x_label, chart.y_label);
  std::vector<double> below(n, 0);
  std::vector<std::pair<std::string, int>> entries;
  for (const HtmlSeries& s : chart.series) {
    if (std::ranges::none_of(s.values, [](double v) { return v > 0; })) continue;
    entries.emplace_back(s.name, s.look);
    std::string top, bottom;
    double start = 0;
    for (size_t i = 0; i < n; ++i) {
      const double value = std::min(s.values[i] + (chart.stacked ? below[i] : 0), highest);
      top += fmt::format("{:.1f},{:.1f} {:.1f},{:.1f} ", frame.x(start), frame.y(value),
                         frame.x(chart.ends[i]), frame.y(value));
      if (chart.stacked)
        bottom = fmt::format("{:.1f},{:.1f} {:.1f},{:.1f} ", frame.x(chart.ends[i]), frame.y(below[i]),
                             frame.x(start), frame.y(below[i])) +
                 bottom;
      below[i] = chart.stacked ? value : 0;
      start = chart.ends[i];
    }
    if (chart.stacked)
      out += fmt::format("<polygon points=\"{}{}\" style=\"fill:{}\"><title>{}</title></polygon>", top,
                         bottom, colour(s.look), html_text(s.name));
    else
      out += fmt::format(
          "<polyline points=\"{}\" style=\"fill:none;stroke:{};stroke-width:2\"><title>{}</title></polyline>",
          top, colour(s.look), html_text(s.name));
  }
  return out + "</svg>" + chart_key(entries) + "</figure>\n";
}

std::string html_heat_map(const std::string& title, const std::vector<HtmlCell>& cells,
                          const std::string& least, const std::string& most) {
  if (cells.empty()) return "";
  const auto columns =
      static_cast<size_t>(std::clamp(std::ceil(std::sqrt(static_cast<double>(cells.size()) * 4)), 1.0, 32.0));
  const size_t rows = (cells.size() + columns - 1) / columns;
  const double size = kWide / static_cast<double>(columns);
  const double cell = std::min(size, 40.0), high = cell * static_cast<double>(rows);
  std::string out =
      fmt::format("<figure><figcaption>{}</figcaption>", html_text(title)) + svg_start(title, high + 26);
  for (size_t i = 0; i < cells.size(); ++i) {
    const double value = std::clamp(cells[i].value, 0.0, 1.0);
    out += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "style=\"fill:rgba(var(--heat),{:.3f});"
        "stroke:var(--line)\"><title>{}</title></rect>",
        static_cast<double>(i % columns) * cell, static_cast<double>(i / columns) * cell, cell - 2, cell - 2,
        value, html_text(cells[i].label));
  }
  for (int i = 0; i < 5; ++i)
    out += fmt::format(
        "<rect x=\"{}\" y=\"{:.1f}\" width=\"16\" height=\"12\" "
        "style=\"fill:rgba(var(--heat),{});stroke:var(--line)\"/>",
        110 + i * 16, high + 10, i / 4.0);
  out += svg_text(104, high + 20, "end", least) + svg_text(198, high + 20, "start", most);
  return out + "</svg></figure>\n";
}

std::string html_roofline(const std::vector<HtmlRoof>& roofs, const std::vector<HtmlDot>& dots) {
  double top = 0, slope = 0;
  for (const HtmlRoof& r : roofs) top = std::max(top, r.flops), slope = std::max(slope, r.bandwidth);
  if (!(top > 0) || !(slope > 0)) return "";
  // Decades that show the ridge and every kernel.
  double left = top / slope, right = left, low = top;
  for (const HtmlDot& d : dots) {
    if (!(d.intensity > 0) || !(d.flops > 0)) continue;
    left = std::min(left, d.intensity), right = std::max(right, d.intensity), low = std::min(low, d.flops);
  }
  for (const HtmlRoof& r : roofs)
    if (r.bandwidth > 0) right = std::max(right, top / r.bandwidth);
  const double x0 = std::floor(std::log10(left / 2)), x1 = std::ceil(std::log10(right * 2));
  const double y1 = std::ceil(std::log10(top * 1.2));
  const double y0 = std::min(std::floor(std::log10(low / 2)), y1 - 2);
  const auto x = [&](double v) {
    return kLeft + (std::log10(v) - x0) / (x1 - x0) * (kWide - kLeft - kRight);
  };
  const auto y = [&](double v) {
    return kHigh - kBottom - (std::log10(v) - y0) / (y1 - y0) * (kHigh - kTop - kBottom);
  };
  std::string out =
      "<figure><figcaption>Roofline: operations per second against operations per byte of DRAM "
      "(both axes logarithmic)</figcaption>" +
      svg_start("roofline");
  for (double d = x0; d <= x1; ++d)
    out += line_at(x(std::pow(10, d)), kTop, x(std::pow(10, d)), kHigh - kBottom) +
           svg_text(x(std::pow(10, d)), kHigh - kBottom + 18, "middle", tick_text(std::pow(10, d)));
  for (double d = y0; d <= y1; ++d)
    out += line_at(kLeft, y(std::pow(10, d)), kWide - kRight, y(std::pow(10, d))) +
           svg_text(kLeft - 6, y(std::pow(10, d)) + 4, "end", tick_text(std::pow(10, d)));
  out += svg_text((kLeft + kWide) / 2, kHigh - 6, "middle", "operations per byte", " class=\"soft\"") +
         svg_text(4, 14, "start", "operations/s", " class=\"soft\"");
  int look = 3;
  std::vector<std::pair<std::string, int>> entries;
  for (const HtmlRoof& r : roofs) {
    const std::string stroke = fmt::format("style=\"stroke:{};stroke-width:2\"", colour(look));
    if (r.flops > 0) {
      out += line_at(x(std::max(std::pow(10, x0), r.flops / slope)), y(r.flops), kWide - kRight, y(r.flops),
                     stroke.c_str());
    } else if (r.bandwidth > 0) {
      const double from = std::max(std::pow(10, x0), std::pow(10, y0) / r.bandwidth), to = top / r.bandwidth;
      if (to > from) out += line_at(x(from), y(from * r.bandwidth), x(to), y(top), stroke.c_str());
    }
    entries.emplace_back(r.name, look++);
  }
  for (const HtmlDot& d : dots) {
    if (!(d.intensity > 0) || !(d.flops > 0)) continue;
    out += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\" style=\"fill:var(--mark)\"><title>{}</title></circle>",
        x(d.intensity), y(d.flops), html_text(d.name));
    const bool near_end = x(d.intensity) > kWide * 0.7;
    out += svg_text(x(d.intensity) + (near_end ? -9 : 9), y(d.flops) + 4, near_end ? "end" : "start", d.name);
  }
  return out + "</svg>" + chart_key(entries) + "</figure>\n";
}

std::string html_page(const std::string& title, const std::string& body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n"
      "<style>{}</style>\n</head>\n<body>\n{}</body>\n</html>\n",
      html_text(title), kStyle, body);
}

}  // namespace gpusim::analysis
