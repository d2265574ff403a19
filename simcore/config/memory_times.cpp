#include "simcore/config/memory_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "simcore/config/load.h"
#include "simcore/config/peaks.h"
#include "simcore/config/schema.h"
#include "simcore/text/units.h"

namespace gpusim::core {
namespace {

/// The machine at another memory clock; nothing if it cannot run at that.
std::optional<MachineConfig> at_clock(const std::string& path_or_name, std::span<const std::string> sets,
                                      std::span<const std::string> search_folders, int64_t khz) {
  std::vector<std::string> with_clock(sets.begin(), sets.end());
  with_clock.push_back(fmt::format("clocks.dram={}kHz", khz));
  try {
    return load_machine(path_or_name, with_clock, search_folders);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

}  // namespace

std::set<std::string> times_in_clocks(const std::string& path_or_name, std::span<const std::string> sets,
                                      std::span<const std::string> search_folders) {
  MachineConfig now = load_machine(path_or_name, sets, search_folders);
  std::optional<MachineConfig> other;
  for (const int64_t khz : {now.clocks.dram_khz * 2, now.clocks.dram_khz / 2})
    if (!other) other = at_clock(path_or_name, sets, search_folders, khz);
  std::set<std::string> found;
  if (!other) return found;
  for (const KeySpec& spec : schema())
    if (spec.kind == KeyKind::kDramTime && *real_number(spec, now) != *real_number(spec, *other))
      found.emplace(spec.name);
  return found;
}

std::optional<std::string> slow_bursts(const MachineConfig& m) {
  const MachineConfig::Dram& d = m.dram;
  // Without groups another bank's burst follows at once.
  if (d.bank_groups < 2 || d.bus_bytes == 0) return std::nullopt;
  const double clocks = std::max(1.0, static_cast<double>(d.burst_bytes / (2 * d.bus_bytes)));
  const double apart = std::ceil(d.ccd_ns * static_cast<double>(m.clocks.dram_khz) / 1e6 - 1e-6);
  if (apart <= clocks) return std::nullopt;
  return fmt::format(
      "a burst of DRAM takes {} memory cycles, and the next one comes {} after it (dram.ccd = {} ns): of "
      "{:.4g} GB/s "
      "that the buses can move, {:.4g} at most are moved. Written in memory cycles (\"{}ck\"), dram.ccd and "
      "dram.ccd_l "
      "follow --set clocks.dram",
      clocks, apart, format_real(d.ccd_ns), dram_peak(m) * 1e-9, dram_peak(m) * 1e-9 * clocks / apart,
      clocks);
}

}  // namespace gpusim::core
