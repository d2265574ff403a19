#include "simcore/text/units.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <span>
#include <utility>

namespace gpusim::core {
namespace {

struct Split {
  std::string_view number;
  std::string_view unit;
};

Split split_unit(std::string_view text) {
  size_t end = 0;
  while (end < text.size() && (std::string_view("+-.0123456789").find(text[end]) != std::string_view::npos))
    ++end;
  Split split{text.substr(0, end), text.substr(end)};
  if (!split.unit.empty() && split.unit.front() == ' ') split.unit.remove_prefix(1);
  return split;
}

/// Decimal text times `scale`, exactly; nothing if the product is no whole number or too large.
std::optional<int64_t> exact_product(std::string_view number, int64_t scale) {
  if (number.empty() || number.front() == '-' || number.front() == '+') return std::nullopt;
  constexpr int64_t kLimit = int64_t{1} << 62;
  __int128 value = 0;
  int64_t divisor = 1;
  bool point = false;
  bool digit = false;
  for (char c : number) {
    if (c == '.') {
      if (point) return std::nullopt;
      point = true;
    } else if (c >= '0' && c <= '9') {
      value = value * 10 + (c - '0');
      digit = true;
      if (point) divisor *= 10;
      if (value > kLimit || divisor > kLimit / 10) return std::nullopt;
    } else {
      return std::nullopt;
    }
  }
  value *= scale;
  if (!digit || value % divisor != 0 || value / divisor > kLimit) return std::nullopt;
  return static_cast<int64_t>(value / divisor);
}

std::optional<int64_t> scaled(std::string_view text,
                              std::span<const std::pair<std::string_view, int64_t>> units) {
  const Split split = split_unit(text);
  for (const auto& [unit, scale] : units) {
    if (split.unit == unit) return exact_product(split.number, scale);
  }
  return std::nullopt;
}

}  // namespace

std::optional<int64_t> parse_size(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, int64_t>, 11> kUnits{{{"", 1},
                                                                                {"B", 1},
                                                                                {"K", 1 << 10},
                                                                                {"KB", 1 << 10},
                                                                                {"KiB", 1 << 10},
                                                                                {"M", 1 << 20},
                                                                                {"MB", 1 << 20},
                                                                                {"MiB", 1 << 20},
                                                                                {"G", 1 << 30},
                                                                                {"GB", 1 << 30},
                                                                                {"GiB", 1 << 30}}};
  return scaled(text, kUnits);
}

std::optional<int64_t> parse_khz(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, int64_t>, 3> kUnits{
      {{"kHz", 1}, {"MHz", 1000}, {"GHz", 1000000}}};
  return scaled(text, kUnits);
}

std::optional<double> parse_ns(std::string_view text) {
  const Split split = split_unit(text);
  const auto number = parse_real(split.number);
  if (!number) return std::nullopt;
  if (split.unit == "ns") return *number;
  if (split.unit == "ps") return *number / 1000;
  if (split.unit == "us") return *number * 1000;
  if (split.unit == "ms") return *number * 1000000;
  return std::nullopt;
}

std::optional<double> parse_pj(std::string_view text) {
  const Split split = split_unit(text);
  const auto number = parse_real(split.number);
  if (!number) return std::nullopt;
  if (split.unit == "pJ") return *number;
  if (split.unit == "fJ") return *number / 1000;
  if (split.unit == "nJ") return *number * 1000;
  if (split.unit == "uJ") return *number * 1000000;
  return std::nullopt;
}

std::optional<double> parse_volts(std::string_view text) {
  const Split split = split_unit(text);
  const auto number = parse_real(split.number);
  if (!number) return std::nullopt;
  if (split.unit == "V") return *number;
  if (split.unit == "mV") return *number / 1000;
  return std::nullopt;
}

std::optional<double> parse_clocks(std::string_view text) {
  const Split split = split_unit(text);
  if (split.unit != "ck") return std::nullopt;
  return parse_real(split.number);
}

std::optional<int64_t> parse_rate(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, int64_t>, 4> kUnits{
      {{"B/s", 1}, {"KB/s", 1000}, {"MB/s", 1000000}, {"GB/s", 1000000000}}};
  return scaled(text, kUnits);
}

std::optional<double> parse_real(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string format_real(double value) {
  std::string text = fmt::format("{}", value);
  return text;
}

std::string format_size(int64_t bytes) {
  if (bytes != 0 && bytes % (1 << 30) == 0) return fmt::format("{}G", bytes >> 30);
  if (bytes != 0 && bytes % (1 << 20) == 0) return fmt::format("{}M", bytes >> 20);
  if (bytes != 0 && bytes % (1 << 10) == 0) return fmt::format("{}K", bytes >> 10);
  return fmt::format("{}", bytes);
}

std::string format_khz(int64_t khz) {
  return khz % 1000 == 0 ? fmt::format("{}MHz", khz / 1000) : fmt::format("{}kHz", khz);
}

}  // namespace gpusim::core
