// Pieces of a self-contained HTML page: text made safe, and charts as inline SVG whose colours follow the
// page's (light, dark, print). No script, nothing from the network.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpusim::analysis {

/// Text as HTML shows it: markup and control characters made harmless.
[[nodiscard]] std::string html_text(std::string_view text);

/// A part of something whole. `look`: number of its colour, as css() has them (0 to kLooks - 1).
struct HtmlPart {
  std::string name;
  double value = 0;
  int look = 0;
};
inline constexpr int kLooks = 12;

/// One horizontal bar of parts, as wide as the page, with its key below; parts below half a percent have no
/// entry of their own there.
[[nodiscard]] std::string html_bar(const std::vector<HtmlPart>& parts, const std::string& label);

/// Values of one kind over a common x, stacked upon each other (areas) or not (lines).
struct HtmlSeries {
  std::string name;
  std::vector<double> values;  ///< one for each interval
  int look = 0;
};
struct HtmlTimeChart {
  std::string title, x_label, y_label;
  std::vector<double> ends;  ///< of the intervals, from 0; increasing
  std::vector<HtmlSeries> series;
  bool stacked = false;
  double highest = 0;  ///< of the y axis; 0: what the values need
};
[[nodiscard]] std::string html_time_chart(const HtmlTimeChart& chart);

/// Cells in rows of about equal number, darker for larger values of 0 to 1; `labels` are shown by pointing
/// at a cell.
struct HtmlCell {
  std::string label;
  double value = 0;
};
[[nodiscard]] std::string html_heat_map(const std::string& title, const std::vector<HtmlCell>& cells,
                                        const std::string& least, const std::string& most);

/// Operations per second against operations per byte, both logarithmic.
struct HtmlRoof {
  std::string name;
  double flops = 0;      ///< per second: a flat roof; 0: none
  double bandwidth = 0;  ///< bytes per second: a slope up to the highest flat roof; 0: none
};
struct HtmlDot {
  std::string name;
  double intensity = 0, flops = 0;
};
[[nodiscard]] std::string html_roofline(const std::vector<HtmlRoof>& roofs, const std::vector<HtmlDot>& dots);

/// Values at the places of an axis that may be words, one line for each series; what is no number is left
/// out.
struct HtmlLines {
  std::string title, x_label, y_label;
  std::vector<std::string> places;
  std::vector<HtmlSeries> series;  ///< a value for each place
};
[[nodiscard]] std::string html_lines(const HtmlLines& chart);

/// What each of some causes can change at most, around 1: bars of factors, the widest first.
struct HtmlSpan {
  std::string name;
  double low = 1, high = 1;
  std::string at_low, at_high;  ///< where that is
};
[[nodiscard]] std::string html_tornado(const std::string& title, const std::vector<HtmlSpan>& spans);

/// A table of cells, darker for larger `shade`s of 0 to 1.
struct HtmlTile {
  std::string text, label;  ///< in the cell; shown by pointing at it
  double shade = 0;
};
struct HtmlTiles {
  std::string title, column_name, row_name;
  std::vector<std::string> columns, rows;
  std::vector<HtmlTile> cells;  ///< row by row
};
[[nodiscard]] std::string html_tiles(const HtmlTiles& tiles);

/// Points in a plane; those that are marked are joined in the order of x.
struct HtmlPoint {
  double x = 0, y = 0;
  std::string label;
  bool marked = false;
};
[[nodiscard]] std::string html_scatter(const std::string& title, const std::string& x_label,
                                       const std::string& y_label, const std::vector<HtmlPoint>& points);

/// A page with the style that the pieces need. `body` is HTML.
[[nodiscard]] std::string html_page(const std::string& title, const std::string& body);

}  // namespace gpusim::analysis
