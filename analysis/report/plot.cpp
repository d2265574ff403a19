#include "analysis/report/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>

#include "analysis/report/text.h"
#include "simcore/process/child_process.h"
#include "simcore/text/input_error.h"
#include "simcore/text/text_file.h"
#include "simcore/text/whole_file.h"

namespace gpusim::analysis {

namespace {

/// Inside single quotes, where gnuplot interprets nothing but the quote itself.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : printable(text)) out += c == '\'' ? std::string("''") : std::string(1, c);
  return out + "'";
}

/// Inside double quotes, in a data block.
std::string cell(const std::string& text) {
  std::string out = printable(text);
  std::ranges::replace(out, '"', '\'');
  return out;
}

/// Blue, orange, green, ...: told apart by the colour-blind too, and by their marks without colour (Okabe and
/// Ito, "Color Universal Design", 2008).
constexpr std::array<const char*, 7> kColours{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                              "#000000", "#56B4E9", "#E69F00"};

/// Colours of areas: those of lines, but grey for black, which would be too heavy.
constexpr std::array<const char*, 7> kAreaColours{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                  "#999999", "#56B4E9", "#E69F00"};

/// Empty axes.
const std::string kNothing = "plot [0:1] [0:1] 2 notitle\n";

/// An SVG file that was not cut off.
bool is_whole(const std::string& file) {
  return core::read_text_file(file, core::kAnySize).find("</svg>") != std::string::npos;
}

/// `keys`: entries of the key, which has about two columns.
std::string head(const std::string& title, const std::string& x_label, const std::string& y_label,
                 size_t width, size_t keys) {
  const size_t height = 480 + 20 * (1 + keys / 2);
  return fmt::format(
      "set terminal svg size {},{} background rgb 'white' font 'Helvetica,14' noenhanced\n"
      "set title {}\nset xlabel {} offset 0,0.6\nset ylabel {}\nset key outside below Left reverse\n",
      width, height, quoted(title), quoted(x_label), quoted(y_label));
}

/// Parts are told apart without colour: every other one is hatched.
std::string fill_of(size_t part) {
  constexpr std::array kHatches{4, 5, 2};
  return part % 2 == 0 ? "solid" : fmt::format("pattern {}", kHatches[part / 2 % kHatches.size()]);
}

/// The rectangles of a bar: lower and upper end of each part.
std::vector<std::pair<double, double>> stacked(const Bar& bar) {
  std::vector<std::pair<double, double>> ends;
  double up = 0, down = 0;
  for (const double v : bar.parts) {
    const double value = std::isfinite(v) ? v : 0;
    double& end = value < 0 ? down : up;
    ends.emplace_back(std::min(end, end + value), std::max(end, end + value));
    end += value;
  }
  return ends;
}

constexpr double kGroupWidth = 0.8;  ///< of the distance from group to group

/// Left edge of a bar, in groups.
double left_of(const BarGroup& group, size_t bar, size_t index) {
  return static_cast<double>(index) +
         kGroupWidth * (static_cast<double>(bar) / static_cast<double>(group.bars.size()) - 0.5);
}

/// The rectangles of one part, a line each: middle, top, left, right, bottom, top.
std::string part_rows(const BarPlot& plot, size_t part) {
  constexpr double kFilled = 0.92;  // of a bar's share; the rest is a gap
  std::string rows;
  for (size_t g = 0; g < plot.groups.size(); ++g)
    for (size_t b = 0; b < plot.groups[g].bars.size(); ++b) {
      const auto ends = stacked(plot.groups[g].bars[b]);
      if (part >= ends.size() || ends[part].first == ends[part].second) continue;
      const double left = left_of(plot.groups[g], b, g);
      const double right = left + kFilled * kGroupWidth / static_cast<double>(plot.groups[g].bars.size());
      rows += fmt::format("{:.10g} {:.10g} {:.10g} {:.10g} {:.10g} {:.10g}\n", (left + right) / 2,
                          ends[part].second, left, right, ends[part].first, ends[part].second);
    }
  return rows;
}

std::string bar_labels(const BarPlot& plot) {
  std::string rows;
  for (size_t g = 0; g < plot.groups.size(); ++g)
    for (size_t b = 0; b < plot.groups[g].bars.size(); ++b) {
      const Bar& bar = plot.groups[g].bars[b];
      if (bar.label.empty()) continue;
      double top = 0;
      for (const auto& [low, high] : stacked(bar)) top = std::max(top, high);
      const double middle =
          left_of(plot.groups[g], b, g) + kGroupWidth / 2 / static_cast<double>(plot.groups[g].bars.size());
      rows += fmt::format("{:.10g} {:.10g} \"{}\"\n", middle, top, cell(bar.label));
    }
  return rows;
}

/// Names of the groups: slanted if they would touch each other.
std::string group_ticks(const BarPlot& plot, size_t width) {
  constexpr size_t kCharacter = 9;  // pixels, about
  size_t longest = 0;
  std::string ticks;
  for (size_t g = 0; g < plot.groups.size(); ++g) {
    longest = std::max(longest, plot.groups[g].label.size());
    ticks += fmt::format("{}{} {}", g == 0 ? "" : ", ", quoted(plot.groups[g].label), g);
  }
  const bool slanted = longest * kCharacter * plot.groups.size() > width * 8 / 10;
  return fmt::format("set xtics nomirror scale 0 {} ({})\n", slanted ? "rotate by 40 right" : "", ticks);
}

/// Of an axis, so that marks stay clear of the frame; empty if that is gnuplot's choice.
std::string range_of(const Plot& plot, bool of_x) {
  constexpr double kMargin = 0.04;
  const bool log = of_x ? plot.log_x : plot.log_y;
  double low = INFINITY, high = -INFINITY;
  for (const Series& s : plot.series)
    for (const auto& [x, y] : s.points)
      low = std::min(low, of_x ? x : y), high = std::max(high, of_x ? x : y);
  if (!std::isfinite(low) || !std::isfinite(high) || low == high || (log && low <= 0)) return "";
  const double margin = log ? std::pow(high / low, kMargin) : kMargin * (high - low);
  return fmt::format("set {}range [{}:{}]\n", of_x ? 'x' : 'y', log ? low / margin : low - margin,
                     log ? high * margin : high + margin);
}

}  // namespace

std::string plot_commands(const Plot& plot) {
  std::string out = head(plot.title, plot.x_label, plot.y_label, 800, plot.series.size()) + "set grid\n";
  if (plot.log_x) out += "set logscale x\n";
  if (plot.log_y) out += "set logscale y\n";
  out += range_of(plot, true);
  if (plot.log_y) out += range_of(plot, false);
  if (plot.y_from_zero) out += "set yrange [0:*]\n";
  if (!plot.x_ticks.empty()) out += fmt::format("set xtics ({})\n", fmt::join(plot.x_ticks, ", "));
  std::string curves;
  for (size_t i = 0; i < plot.series.size(); ++i) {
    const Series& s = plot.series[i];
    const size_t look = s.look < 0 ? i : static_cast<size_t>(s.look);
    out += fmt::format("$data{} << EOD\n", i);
    for (size_t p = 0; p < s.points.size(); ++p)
      out += fmt::format("{} {} \"{}\"\n", s.points[p].first, s.points[p].second,
                         p < s.labels.size() ? cell(s.labels[p]) : "");
    out += "EOD\n";
    // Filled marks of a curve, hollow ones of the dashed curve of the same look.
    const size_t mark = s.look < 0 ? 4 + i % 10 : (s.dashed ? 4 : 5) + 2 * (look % 5);
    curves += fmt::format("{}$data{} using 1:2 with {} lc rgb '{}' lw 2{}{} {}", curves.empty() ? "" : ", ",
                          i, s.marks ? "linespoints" : "lines", kColours[look % kColours.size()],
                          s.dashed ? " dt 2" : "", s.marks ? fmt::format(" pt {} ps 0.9", mark) : "",
                          s.title.empty() ? "notitle" : "title " + quoted(s.title));
    if (!s.labels.empty())
      // In the curve's colour, on alternate sides: curves may lie upon each other.
      curves += fmt::format(", $data{} using 1:2:3 with labels {} font ',11' tc rgb '{}' notitle", i,
                            i % 2 == 0 ? "left offset 0.8,0.2" : "right offset -0.8,0.2",
                            kColours[look % kColours.size()]);
  }
  return out + (curves.empty() ? kNothing : "plot " + curves + "\n");
}

std::string plot_commands(const BarPlot& plot) {
  constexpr size_t kLeast = 800, kMost = 1600, kBarPixels = 22;
  size_t bars = 0;
  for (const BarGroup& g : plot.groups) bars += g.bars.size() + 1;
  const size_t width = std::clamp(100 + kBarPixels * bars, kLeast, kMost);
  std::string out = head(plot.title, plot.x_label, plot.y_label, width, plot.parts.size());
  if (plot.groups.empty()) return out + kNothing;
  out += "set grid ytics\nset xzeroaxis lt 1 lc rgb 'black'\n" + group_ticks(plot, width);
  out += fmt::format("set xrange [-0.6:{}]\n", static_cast<double>(plot.groups.size()) - 0.4);
  std::string curves;
  for (size_t i = 0; i < plot.parts.size(); ++i) {
    const std::string rows = part_rows(plot, i);
    if (rows.empty()) continue;
    out += fmt::format("$part{} << EOD\n{}EOD\n", i, rows);
    curves += fmt::format(
        "{}$part{} using 1:2:3:4:5:6 with boxxyerror fs {} border rgb 'black' lc rgb '{}' title {}",
        curves.empty() ? "" : ", ", i, fill_of(i), kAreaColours[i % kAreaColours.size()],
        quoted(plot.parts[i]));
  }
  if (const std::string rows = bar_labels(plot); !rows.empty()) {
    out += fmt::format("$labels << EOD\n{}EOD\n", rows);
    curves += fmt::format("{}$labels using 1:2:3 with labels offset 0,0.6 font ',11' notitle",
                          curves.empty() ? "" : ", ");
  }
  return out + (curves.empty() ? kNothing : "plot " + curves + "\n");
}

namespace {

void draw_commands(const std::string& commands, const std::string& file) {
  core::NewFile drawing(file);
  const std::unique_ptr<FILE, int (*)(FILE*)> script(tmpfile(), &fclose);
  if (script == nullptr || fwrite(commands.data(), 1, commands.size(), script.get()) != commands.size() ||
      fflush(script.get()) != 0)
    throw core::InputError("gpusim: error: no room for a temporary file");
  rewind(script.get());
  const core::ProcessEnd end =
      core::run_program({"gnuplot", "-"}, fileno(script.get()), drawing.descriptor());
  // gnuplot does not notice a full disk.
  if (end.good() && is_whole(drawing.temporary())) return drawing.commit();
  if (end.status == core::kNoSuchProgram)
    throw core::InputError(
        "gpusim: error: plots are drawn by gnuplot, which is not on the PATH (Debian: gnuplot-nox)");
  throw core::InputError(fmt::format("{}: error: gnuplot could not draw it, or the disk is full", file));
}

}  // namespace

void draw_svg(const Plot& plot, const std::string& file) { draw_commands(plot_commands(plot), file); }
void draw_svg(const BarPlot& plot, const std::string& file) { draw_commands(plot_commands(plot), file); }

}  // namespace gpusim::analysis
