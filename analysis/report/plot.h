// Plots as SVG, drawn by gnuplot: on a white ground, so that they read the same in print and on a dark page.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace gpusim::analysis {

struct Series {
  std::string title;  ///< in the key; empty: none
  std::vector<std::pair<double, double>> points;
  std::vector<std::string> labels;  ///< of the points; empty: none
  bool marks = true;                ///< else a plain line
  bool dashed = false;
  int look = -1;  ///< series of one number share colour and kind of mark (hollow if dashed); -1: by place
};

struct Plot {
  std::string title, x_label, y_label;
  bool log_x = false, log_y = false;
  std::vector<Series> series;
  std::vector<double> x_ticks;  ///< empty: gnuplot's choice
  bool y_from_zero = false;     ///< of a linear axis
};

/// A stack of values. Positive ones grow from zero up, negative ones from zero down.
struct Bar {
  std::vector<double> parts;  ///< one for each of BarPlot::parts; 0, or none left: not drawn
  std::string label;          ///< at its top; empty: none
};

/// Bars side by side.
struct BarGroup {
  std::string label;  ///< below
  std::vector<Bar> bars;
};

struct BarPlot {
  std::string title, x_label, y_label;
  std::vector<std::string> parts;  ///< in the key; from zero outwards
  std::vector<BarGroup> groups;    ///< from left to right
};

/// The commands for gnuplot, data included, which print the picture. Texts are printed as they are (no
/// markup).
[[nodiscard]] std::string plot_commands(const Plot& plot);
[[nodiscard]] std::string plot_commands(const BarPlot& plot);

/// Draws `file`, whole or not at all. Throws core::InputError if there is no gnuplot, or the file cannot be
/// written or is no regular one.
void draw_svg(const Plot& plot, const std::string& file);
void draw_svg(const BarPlot& plot, const std::string& file);

}  // namespace gpusim::analysis
