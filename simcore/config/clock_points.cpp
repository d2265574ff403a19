#include "simcore/config/clock_points.h"

#include <algorithm>
#include <iterator>

#include "simcore/text/units.h"

namespace gpusim::core {

namespace {

std::optional<ClockPoint> parse_point(std::string_view text) {
  const auto skip = [&] { text.remove_prefix(std::min(text.find_first_not_of(' '), text.size())); };
  skip();
  const size_t blank = text.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  const auto khz = parse_khz(text.substr(0, blank));
  text.remove_prefix(blank);
  skip();
  const auto other = parse_khz(text.substr(0, text.find_last_not_of(' ') + 1));
  if (!khz || !other || *khz <= 0 || *other <= 0) return std::nullopt;
  return ClockPoint{*khz, *other};
}

}  // namespace

std::optional<std::vector<ClockPoint>> parse_clock_points(std::string_view text) {
  std::vector<ClockPoint> points;
  for (bool more = true; more;) {
    const size_t comma = text.find(',');
    const std::optional<ClockPoint> point = parse_point(text.substr(0, comma));
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
    if (!point) return std::nullopt;
    if (!points.empty() && (point->khz <= points.back().khz || point->other_khz < points.back().other_khz))
      return std::nullopt;
    points.push_back(*point);
  }
  return points;
}

int64_t dram_clock_beside(const std::vector<ClockPoint>& points, int64_t core_khz, int64_t dram_khz) {
  if (points.empty() || core_khz >= points.back().khz) return dram_khz;
  const auto above = std::ranges::upper_bound(points, core_khz, {}, &ClockPoint::khz);
  if (above == points.begin()) return std::min(points.front().other_khz, dram_khz);
  const ClockPoint& low = *std::prev(above);
  const int64_t rise = (above->other_khz - low.other_khz) * (core_khz - low.khz) / (above->khz - low.khz);
  return std::min(low.other_khz + rise, dram_khz);
}

}  // namespace gpusim::core
