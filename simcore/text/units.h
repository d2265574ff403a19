// Numbers with units as configuration and launch files write them: sizes (16K), clocks (1296MHz), times
// (10ns), rates (102GB/s), energies (20pJ), voltages. All parsers take the whole text, allow one blank before
// the unit, and refuse what does not fit.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpusim::core {

/// "512", "16K", "16KB", "16KiB", "4M", "1G" (powers of 1024) -> bytes.
[[nodiscard]] std::optional<int64_t> parse_size(std::string_view text);
/// Clocks that a domain may have.
inline constexpr int64_t kLowestKhz = 1000, kHighestKhz = 100'000'000;
/// "1296MHz", "1.296GHz", "800000kHz" -> kHz, exactly; nothing if it is not a whole number of kHz. Needs the
/// unit.
[[nodiscard]] std::optional<int64_t> parse_khz(std::string_view text);
/// "10ns", "1.5us", "800ps", "2ms" -> ns. Needs the unit.
[[nodiscard]] std::optional<double> parse_ns(std::string_view text);
/// "20pJ", "1.5nJ", "300fJ", "2uJ" -> pJ. Needs the unit.
[[nodiscard]] std::optional<double> parse_pj(std::string_view text);
/// "0.9V", "850mV" -> V. Needs the unit.
[[nodiscard]] std::optional<double> parse_volts(std::string_view text);
/// "12ck" -> 12 (memory clock cycles). Needs the unit.
[[nodiscard]] std::optional<double> parse_clocks(std::string_view text);
/// "5.5GB/s", "800MB/s" (powers of 1000) -> bytes per second. Needs the unit.
[[nodiscard]] std::optional<int64_t> parse_rate(std::string_view text);
/// A finite number in C notation, the whole text.
[[nodiscard]] std::optional<double> parse_real(std::string_view text);

/// Shortest text that reads back as the same number ("12.5", "3"); units appended by the callers.
[[nodiscard]] std::string format_real(double value);
/// "16K", "1M", or plain bytes when not a multiple of 1024.
[[nodiscard]] std::string format_size(int64_t bytes);
/// "1296MHz" or, when not a whole number of MHz, "1296001kHz".
[[nodiscard]] std::string format_khz(int64_t khz);

}  // namespace gpusim::core
