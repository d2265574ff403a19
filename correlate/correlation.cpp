#include "correlate/correlation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gpusim::correlate {

namespace {

constexpr size_t kLeastPairs = 3;

Results results_of(const HardwareRun& hardware, const SimulatedRun& simulated) {
  if (hardware.buffers.empty()) return Results::kUnknown;
  for (const BufferHash& h : hardware.buffers) {
    const auto same =
        std::find_if(simulated.buffers.begin(), simulated.buffers.end(),
                     [&](const BufferHash& s) { return s.name == h.name && s.sha256 == h.sha256; });
    if (same == simulated.buffers.end()) return Results::kDiffer;
  }
  return Results::kSame;
}

std::string extents(const std::array<uint32_t, 3>& e) { return fmt::format("{}x{}x{}", e[0], e[1], e[2]); }

/// Why the launches are not those that were measured; empty if they are.
std::string other_launches(const HardwareRun& hardware, const SimulatedRun& simulated) {
  if (hardware.kernels.size() != simulated.kernels.size())
    return fmt::format("{} launches were measured, the launch file has {}", hardware.kernels.size(),
                       simulated.kernels.size());
  for (size_t i = 0; i < hardware.kernels.size(); ++i) {
    const HardwareKernel& h = hardware.kernels[i];
    const SimulatedKernel& s = simulated.kernels[i];
    if (h.name != s.name || h.grid != s.grid || h.block != s.block)
      return fmt::format("launch {} was {} of {} blocks of {} threads, the launch file's is {} of {} of {}",
                         i + 1, h.name, extents(h.grid), extents(h.block), s.name, extents(s.grid),
                         extents(s.block));
  }
  return {};
}

/// What of the simulation the method measures.
double comparable(const SimulatedKernel& k, Method method, double empty_cycles) {
  if (method == Method::kClockBuffer) return k.clock_buffer;
  return method == Method::kClock64 ? std::max(k.cycles - empty_cycles, 0.0) : k.cycles;
}

void add_kernels(const HardwareRun& hardware, const SimulatedRun& simulated, const Row& common,
                 double empty_cycles, std::vector<Row>& rows) {
  const size_t first = rows.size();
  std::vector<double> spread;  // cycles
  for (size_t i = 0; i < hardware.kernels.size(); ++i) {
    const HardwareKernel& h = hardware.kernels[i];
    auto row = std::find_if(rows.begin() + static_cast<std::ptrdiff_t>(first), rows.end(),
                            [&](const Row& r) { return r.kernel == h.name; });
    if (row == rows.end()) {
      rows.push_back(common);
      row = rows.end() - 1;
      row->kernel = h.name;
      row->launches = 0;
      row->method = method_name(h.method);
      spread.push_back(0);
    }
    ++row->launches;
    row->hardware += h.cycles;
    spread[static_cast<size_t>(row - rows.begin()) - first] += h.most - h.least;
    if (!row->compared()) continue;
    if (row->method != method_name(h.method))
      row->why_not = "its launches were measured by different methods";
    const double cycles = comparable(simulated.kernels[i], h.method, empty_cycles);
    if (cycles < 0) row->why_not = fmt::format("there is no buffer '{}' of u32 with its clock reads", h.name);
    row->simulated += cycles;
  }
  for (size_t i = first; i < rows.size(); ++i) rows[i].spread = spread[i - first] / rows[i].hardware;
}

/// Core cycles that the measured work of the launches took.
double measured_cycles(const WholeRun& whole, const SimulatedRun& simulated, double core_hz) {
  switch (whole.kind) {
    case WholeRun::Kind::kCycles:
      return whole.value * whole.part;
    case WholeRun::Kind::kSeconds:
      return (whole.value - whole.overhead_seconds) * whole.part * core_hz;
    case WholeRun::Kind::kBytesPerSecond:
      return whole.bytes * whole.part / whole.value * core_hz;
    case WholeRun::Kind::kFlopRate:
      break;
  }
  return simulated.flops / whole.value * core_hz;
}

/// A run whose source has one figure for all launches.
void add_whole(const HardwareRun& hardware, const SimulatedRun& simulated, Row row, double core_hz,
               std::vector<Row>& rows) {
  row.method = method_name(Method::kPublished);
  row.launches = static_cast<uint32_t>(simulated.kernels.size());
  row.hardware = measured_cycles(*hardware.whole, simulated, core_hz);
  // Times and rates are those of launches one after the other, with the gaps between them.
  const bool gaps =
      (hardware.whole->kind == WholeRun::Kind::kSeconds && hardware.whole->overhead_seconds == 0) ||
      hardware.whole->kind == WholeRun::Kind::kBytesPerSecond;
  for (const SimulatedKernel& k : simulated.kernels)
    row.simulated += k.cycles + (gaps ? simulated.gap_cycles : 0);
  // The overhead of a run is that of all its launches together: what lies between them counts, unless the
  // file does a part of the work, which may be all launches with less work each.
  if (hardware.whole->overhead_seconds > 0 && hardware.whole->part == 1 && !simulated.kernels.empty())
    row.simulated += simulated.gap_cycles * static_cast<double>(simulated.kernels.size() - 1);
  if (hardware.whole->kind == WholeRun::Kind::kFlopRate && simulated.flops <= 0)
    row.why_not = "the launch file has no [flops] total";
  rows.push_back(std::move(row));
}

}  // namespace

Correlation correlate(const HardwareFile& file, const std::vector<SimulatedRun>& simulated) {
  Correlation c;
  for (size_t i = 0; i < file.runs.size(); ++i) {
    const HardwareRun& h = file.runs[i];
    const SimulatedRun& s = simulated[i];
    Row row;
    row.run = h.name;
    row.role = h.role;
    c.program_failed |= s.program_failed;
    if (!h.not_run.empty())
      row.why_not = "not measured: " + h.not_run;
    else if (!s.failure.empty())
      row.why_not = s.failure;
    else if (!h.whole)
      row.why_not = other_launches(h, s);
    if (!row.compared()) {
      row.launches = static_cast<uint32_t>(h.kernels.size());
      c.rows.push_back(std::move(row));
      continue;
    }
    row.results = results_of(h, s);
    row.hardware_power_w = h.power_w;
    row.simulated_power_w = s.power_w;
    row.stall = s.stall;
    for (size_t k = 0; k < h.counters.size(); ++k)
      row.counters.push_back({h.counters[k].first, h.counters[k].second, s.counters[k].second});
    // A file that names its machine may give a run other clocks.
    if (h.whole)
      add_whole(h, s, std::move(row), file.machine.empty() ? file.core_hz : s.core_hz, c.rows);
    else
      add_kernels(h, s, row, s.empty_cycles, c.rows);
  }
  for (size_t i = 0, run = 0; i < c.rows.size(); ++i) {
    while (file.runs[run].name != c.rows[i].run) ++run;
    c.incomplete |= !c.rows[i].compared() && file.runs[run].not_run.empty();
  }
  return c;
}

bool Correlation::results_differ() const {
  return std::any_of(rows.begin(), rows.end(), [](const Row& r) { return r.results == Results::kDiffer; });
}

std::optional<double> pearson(const std::vector<double>& x, const std::vector<double>& y) {
  if (x.size() < kLeastPairs) return std::nullopt;
  const auto n = static_cast<double>(x.size());
  double mean_x = 0, mean_y = 0;
  for (size_t i = 0; i < x.size(); ++i) mean_x += x[i] / n, mean_y += y[i] / n;
  double xx = 0, yy = 0, xy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double dx = x[i] - mean_x, dy = y[i] - mean_y;
    xx += dx * dx, yy += dy * dy, xy += dx * dy;
  }
  if (xx <= 0 || yy <= 0) return std::nullopt;
  return xy / std::sqrt(xx * yy);
}

Totals totals_of(const std::vector<Row>& rows, const std::function<bool(const Row&)>& counts) {
  Totals t;
  std::vector<double> absolute, hardware, simulated, log_hardware, log_simulated;
  for (const Row& r : rows) {
    if (!r.compared() || !counts(r)) continue;
    ++t.rows;
    t.bias += r.error();
    absolute.push_back(std::abs(r.error()));
    t.mean_absolute += absolute.back();
    if (t.worst == nullptr || absolute.back() > std::abs(t.worst->error())) t.worst = &r;
    hardware.push_back(r.hardware);
    simulated.push_back(r.simulated);
    log_hardware.push_back(std::log(r.hardware));
    log_simulated.push_back(std::log(std::max(r.simulated, 1.0)));
  }
  if (t.rows == 0) return t;
  t.bias /= static_cast<double>(t.rows);
  t.mean_absolute /= static_cast<double>(t.rows);
  std::sort(absolute.begin(), absolute.end());
  t.median_absolute = (absolute[(t.rows - 1) / 2] + absolute[t.rows / 2]) / 2;
  t.correlation = pearson(hardware, simulated);
  t.log_correlation = pearson(log_hardware, log_simulated);
  return t;
}

}  // namespace gpusim::correlate
