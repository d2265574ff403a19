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
};

struct Plot {
  std::string title, x_label, y_label;
  bool log_x = false, log_y = false;
  std::vector<Series> series;
};

/// The commands for gnuplot, data included, which print the picture. Texts are printed as they are (no
/// markup).
[[nodiscard]] std::string plot_commands(const Plot& plot);

/// Draws `file`, whole or not at all. Throws core::InputError if there is no gnuplot, or the file cannot be
/// written or is no regular one.
void draw_svg(const Plot& plot, const std::string& file);

}  // namespace gpusim::analysis
