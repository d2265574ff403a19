#include "cli/report.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "cli/commands.h"
#include "cli/limiter_line.h"
#include "cli/profiler_lines.h"
#include "components/checker/check_report.h"
#include "components/power/system_energy.h"
#include "simcore/text/json_text.h"
#include "simcore/text/kernel_name.h"
#include "simcore/text/terminal_line.h"

namespace gpusim::cli {

namespace {

const char* direction_of(const comp::CopyResult& copy) {
  if (copy.form == comp::CopyResult::Form::kFill) return "memset";
  if (copy.form == comp::CopyResult::Form::kInside) return "device_to_device";
  return copy.to_device ? "to_device" : "to_host";
}

const char* where_to(const comp::CopyResult& copy) {
  if (copy.form == comp::CopyResult::Form::kFill) return " set";
  if (copy.form == comp::CopyResult::Form::kInside) return " within device memory";
  return copy.to_device ? " to the device" : " to the host";
}

uint64_t peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

const char* status_name(comp::SimulationResult::Status s) {
  switch (s) {
    case comp::SimulationResult::Status::kComplete:
      return "complete";
    case comp::SimulationResult::Status::kFailed:
      return "failed";
    case comp::SimulationResult::Status::kInterrupted:
      return "partial";
    case comp::SimulationResult::Status::kUnrecorded:
      return "unrecorded";
  }
  return "";
}

double counter(const comp::KernelResult& k, const std::string& name) {
  for (const core::Counter& c : k.counters)
    if (c.name == name) return c.value;
  return 0;
}

double application_flops(const comp::Simulation& simulation) {
  for (const auto& [name, value] : simulation.options().launch.flops)
    if (name == "total") return value;
  return 0;
}

std::string si(double v, const char* unit) {
  const char* prefix = "";
  if (v >= 1e9)
    v /= 1e9, prefix = "G";
  else if (v >= 1e6)
    v /= 1e6, prefix = "M";
  else if (v >= 1e3)
    v /= 1e3, prefix = "k";
  return fmt::format("{:.4g} {}{}", v, prefix, unit);
}

std::string seconds(double s) {
  if (s < 1e-3) return fmt::format("{:.2f} us", s * 1e6);
  if (s < 1) return fmt::format("{:.3f} ms", s * 1e3);
  return fmt::format("{:.3f} s", s);
}

std::string joule(double j) {
  if (j < 1e-3) return fmt::format("{:.4g} uJ", j * 1e6);
  if (j < 1) return fmt::format("{:.4g} mJ", j * 1e3);
  return fmt::format("{:.4g} J", j);
}

void kernel_lines(std::string& out, const comp::KernelResult& k, const comp::SimulationOptions& options) {
  const auto line = [&out](const char* name, const std::string& value) {
    out += fmt::format("  {:<18}{}\n", name, value);
  };
  out += fmt::format("{}  grid {}x{}x{}  block {}x{}x{}\n", core::demangled(k.name), k.grid.x, k.grid.y,
                     k.grid.z, k.block.x, k.block.y, k.block.z);
  line("instructions",
       fmt::format("{} warp, {} thread", k.total.warp_instructions, k.total.thread_instructions));
  if (options.functional) return;
  line("cycles", fmt::format("{}  ({} at {:.6g} MHz)", k.cycles, seconds(k.time_s),
                             k.time_s == 0 ? 0 : static_cast<double>(k.cycles) / k.time_s * 1e-6));
  line("IPC", fmt::format("{:.3f} per active cycle of an SM", counter(k, "ipc")));
  const uint64_t blocks = uint64_t{k.grid.x} * k.grid.y * k.grid.z;
  const uint64_t sms = options.sms != 0 ? options.sms : options.machine.gpu.sms;
  const std::string small =
      blocks < sms * k.blocks_per_sm
          ? fmt::format(" fit, and the grid has {} for {} SM{}", blocks, sms, sms == 1 ? "" : "s")
          : std::string();
  line("occupancy",
       fmt::format("{:.0f} % achieved, {} blocks/SM{} (limited by {}; {} registers{}, {} bytes shared)",
                   100 * counter(k, "achieved_occupancy"), k.blocks_per_sm, small, k.occupancy_limiter,
                   k.registers, k.registers_estimated ? " by estimate" : "", k.shared_bytes));
  if (k.total.constant_loads != 0)
    line("constant L1 hits", fmt::format("{:.1f} %", 100.0 * static_cast<double>(k.total.constant_hits) /
                                                         static_cast<double>(k.total.constant_loads)));
  const auto hit_rate = [&](const char* name, double hits, double all) {
    if (all != 0)
      line(name,
           fmt::format("{:.1f} % of {}", 100 * hits / all, si(all, name[1] == '1' ? "lines" : "sectors")));
  };
  const double l1_hits = counter(k, "l1_global_load_hit") + counter(k, "l1_local_load_hit");
  hit_rate("L1 load hits", l1_hits,
           l1_hits + counter(k, "l1_global_load_miss") + counter(k, "l1_local_load_miss"));
  hit_rate("L2 read hits", counter(k, "l2_read_hit_sectors"), counter(k, "l2_read_sectors"));
  const double activates = counter(k, "dram_activates"), hits = counter(k, "dram_row_hits");
  line("DRAM",
       fmt::format("{}, read {}, written {}, row hits {:.0f} %", si(counter(k, "dram_throughput"), "B/s"),
                   si(counter(k, "dram_read_bytes"), "B"), si(counter(k, "dram_write_bytes"), "B"),
                   activates + hits == 0 ? 0 : 100 * hits / (activates + hits)));
  if (k.total.flops != 0 && k.time_s > 0)
    line("floating point", si(static_cast<double>(k.total.flops) / k.time_s, "FLOP/s"));
  if (const double joules = counter(k, "energy"); joules > 0)
    line("energy",
         fmt::format("{:.4g} W average, {} (SMs {:.0f} %, interconnect and L2 {:.0f} %, DRAM {:.0f} %)",
                     counter(k, "average_power"), joule(joules),
                     100 * counter(k, "energy_core_domain") / joules,
                     100 * counter(k, "energy_interconnect_domain") / joules,
                     100 * counter(k, "energy_dram_domain") / joules));
  line("stalls", k.top_stalls.empty() ? "none" : fmt::format("{}", fmt::join(k.top_stalls, ", ")));
  line("limiter", limiter_line(k, options.machine));
}

/// What ran when, if it was more than one thing: a line and a bar for each.
void timeline_lines(std::string& out, const comp::SimulationResult& r) {
  constexpr size_t kExpectsShown = 16;
  constexpr uint64_t kWidth = 32;
  const std::vector<comp::TimelineItem> items = comp::timeline(r);
  if (items.size() < 2) return;
  uint64_t end = 1;
  for (const comp::TimelineItem& i : items) end = std::max(end, i.end);
  out += fmt::format("timeline             stream {:>12} {:>12}\n", "start", "end");
  for (size_t n = 0; n < std::min(kExpectsShown, items.size()); ++n) {
    const comp::TimelineItem& i = items[n];
    const std::string name =
        i.kernel != nullptr ? core::short_kernel_name(i.kernel->name) : i.copy->buffer + where_to(*i.copy);
    const uint64_t from = i.start * kWidth / end, to = std::max(i.end * kWidth / end, from + 1);
    const std::string bar = std::string(from, ' ') + std::string(to - from, i.kernel != nullptr ? '#' : '=');
    out += fmt::format("  {:<19}{:>6} {:>12} {:>12}  |{:<{}}|\n", name.substr(0, 18), i.stream,
                       seconds(i.start_s), seconds(i.end_s), bar, kWidth);
  }
  if (items.size() > kExpectsShown) out += fmt::format("  ... and {} more\n", items.size() - kExpectsShown);
}

std::string json_units(const std::vector<comp::UnitLoad>& units) {
  std::string out;
  for (const comp::UnitLoad& u : units)
    out += fmt::format(
        "{}{{\"unit\": \"{}\", \"place\": \"{}\", \"instances\": {}, \"capacity\": {}, \"busy\": {}, "
        "\"most\": {}, \"busiest\": {}, \"near\": {}}}",
        out.empty() ? "" : ", ", u.name, u.place, u.instances, u.capacity, u.busy, u.most, u.busiest, u.near);
  return out;
}

}  // namespace

std::string json_report(const comp::Simulation& simulation, const comp::SimulationResult& r,
                        const std::string& identity) {
  std::string out = fmt::format("{{\"status\": \"{}\"", status_name(r.status));
  if (!r.reason.empty()) out += fmt::format(", \"reason\": \"{}\"", core::json_escaped(r.reason));
  out += fmt::format(", \"identity\": {}, \"out\": \"{}\", \"kernels\": [", identity,
                     core::json_escaped(r.recorded ? simulation.options().out : ""));
  for (size_t i = 0; i < r.kernels.size(); ++i) {
    const comp::KernelResult& k = r.kernels[i];
    out += fmt::format(
        "{}{{\"name\": \"{}\", \"demangled\": {}, \"launch\": {}, \"stream\": {}, \"start_cycle\": {}, "
        "\"grid\": [{}, {}, {}], "
        "\"block\": [{}, {}, {}], \"cycles\": {}, \"time_s\": "
        "{}, "
        "\"warp_instructions\": {}, \"thread_instructions\": {}, \"ipc\": {}, \"registers\": {}, "
        "\"registers_estimated\": {}, \"shared_bytes\": {}, "
        "\"blocks_per_sm\": {}, \"issue_slots\": {{",
        i == 0 ? "" : ", ", core::json_escaped(k.name), core::json_quoted(core::demangled(k.name)), k.launch,
        k.stream, k.start, k.grid.x, k.grid.y, k.grid.z, k.block.x, k.block.y, k.block.z, k.cycles,
        core::json_number(k.time_s), k.total.warp_instructions, k.total.thread_instructions,
        core::json_number(counter(k, "ipc")), k.registers, k.registers_estimated, k.shared_bytes,
        k.blocks_per_sm);
    for (size_t c = 0; c < comp::kNumStallCauses; ++c)
      out += fmt::format("{}\"{}\": {}", c == 0 ? "" : ", ", comp::kStallCauseNames[c], k.total.slots[c]);
    out += "}, \"counters\": {";
    for (size_t c = 0; c < k.counters.size(); ++c)
      out += fmt::format("{}\"{}\": {}", c == 0 ? "" : ", ", k.counters[c].name,
                         core::json_number(k.counters[c].value));
    out += fmt::format("}}, \"units\": [{}]}}", json_units(k.units));
  }
  out += "], \"copies\": [";
  for (size_t i = 0; i < r.copies.size(); ++i)
    out += fmt::format(
        "{}{{\"{}\": \"{}\", \"direction\": \"{}\", \"stream\": {}, \"engine\": {}, \"bytes\": {}, "
        "\"time_s\": {}, \"start_cycle\": {}, \"end_cycle\": {}}}",
        i == 0 ? "" : ", ", r.copies[i].is_variable ? "variable" : "buffer",
        core::json_escaped(r.copies[i].buffer), direction_of(r.copies[i]), r.copies[i].stream,
        r.copies[i].engine, r.copies[i].bytes, core::json_number(r.copies[i].time_s), r.copies[i].start,
        r.copies[i].end);
  out += "]";
  if (const auto system = comp::system_energy(r, simulation.options().machine))
    out += fmt::format(
        ", \"system\": {{\"elapsed_s\": {}, \"kernels_j\": {}, \"idle_board_j\": {}, \"host_j\": {}, "
        "\"power_w\": {}}}",
        core::json_number(system->elapsed_s), core::json_number(system->kernels_j),
        core::json_number(system->idle_board_j), core::json_number(system->host_j),
        core::json_number(system->power()));
  if (!r.fingerprints.empty()) {
    out += ", \"fingerprints\": [";
    for (size_t i = 0; i < r.fingerprints.size(); ++i)
      out += fmt::format("{}{{\"name\": \"{}\", \"bytes\": {}, \"fingerprint\": \"{:016x}\"}}",
                         i == 0 ? "" : ", ", core::json_escaped(r.fingerprints[i].name),
                         r.fingerprints[i].bytes, r.fingerprints[i].fingerprint);
    out += "]";
  }
  out += ", \"expect\": [";
  for (size_t i = 0; i < r.expects.size(); ++i)
    out +=
        fmt::format("{}{{\"{}\": \"{}\", \"verdict\": \"{}\", \"worst\": {}}}", i == 0 ? "" : ", ",
                    r.expects[i].is_variable ? "variable" : "buffer", core::json_escaped(r.expects[i].buffer),
                    r.expects[i].pass ? "pass" : "fail", core::json_number(r.expects[i].worst));
  out += "]";
  if (simulation.options().checks.any())
    out += ", \"checks\": " + comp::check_json(simulation.options().checks, r.findings, r.check_counts);
  const double wall = std::max(r.wall_s, 1e-9);
  out += fmt::format(
      ", \"speed\": {{\"wall_s\": {}, \"warp_instructions_per_second\": {}, \"cycles_per_second\": {}}}, "
      "\"memory\": {{\"peak_bytes\": {}}}}}\n",
      core::json_number(r.wall_s), core::json_number(static_cast<double>(r.warp_instructions) / wall),
      core::json_number(static_cast<double>(r.cycles) / wall), peak_bytes());
  return out;
}

/// Copies and memsets, those of loops as far as they fit on a page.
void copy_lines(std::string& out, const comp::SimulationResult& r, bool ended) {
  constexpr size_t kCopiesShown = 16;
  for (size_t i = 0; i < std::min(kCopiesShown, r.copies.size()); ++i) {
    const comp::CopyResult& c = r.copies[i];
    const bool fill = c.form == comp::CopyResult::Form::kFill;
    if (ended || c.end != 0)
      out += fmt::format("{:<21}{}{}, {}, {}\n", fill ? "memset" : "copy", c.buffer, fill ? "" : where_to(c),
                         si(static_cast<double>(c.bytes), "B"), seconds(c.time_s));
  }
  if (ended && r.copies.size() > kCopiesShown)
    out += fmt::format("... and {} more copies and memsets\n", r.copies.size() - kCopiesShown);
}

/// How busy each copy engine was, from the first start of a kernel or copy to the last end.
std::string engines_line(const comp::SimulationResult& r) {
  std::map<uint32_t, double> busy;
  double first = HUGE_VAL, last = 0;
  const auto take = [&](double start, double time) {
    first = std::min(first, start);
    last = std::max(last, start + time);
  };
  for (const comp::CopyResult& c : r.copies) {
    if (c.end == 0) continue;
    busy[c.engine] += c.time_s;
    take(c.start_s, c.time_s);
  }
  for (const comp::KernelResult& k : r.kernels) take(k.start_s, k.time_s);
  if (busy.empty() || !(last > first)) return "";
  std::string engines;
  for (const auto& [engine, time] : busy)
    engines += fmt::format("{}engine {} busy {:.0f} %", engines.empty() ? "" : ", ", engine,
                           100 * time / (last - first));
  return fmt::format("transfers            {} of {}\n", engines, seconds(last - first));
}

std::string table_report(const comp::Simulation& simulation, const comp::SimulationResult& r) {
  const comp::SimulationOptions& o = simulation.options();
  std::string out;
  // A launch repeated many times prints its first rows only.
  constexpr size_t kExpectsShown = 8;
  const size_t shown = std::min(kExpectsShown, r.kernels.size());
  const bool recorded = r.status == comp::SimulationResult::Status::kComplete && r.recorded;
  const std::vector<std::string> metrics =
      recorded ? profiler_lines(o.out, shown, 100, 20) : std::vector<std::string>();
  for (size_t i = 0; i < shown; ++i) {
    kernel_lines(out, r.kernels[i], o);
    if (recorded) out += fmt::format("  {:<18}{}\n", "profiler metrics", metrics[i]);
  }
  if (r.kernels.size() > kExpectsShown)
    out += fmt::format("... and {} more launches\n", r.kernels.size() - kExpectsShown);
  if (!o.functional) timeline_lines(out, r);
  if (const auto system = comp::system_energy(r, o.machine); system && system->power() > 0)
    out += fmt::format(
        "system               {:.4g} W average, {} in {} (GPU while kernels run {:.0f} %, idle "
        "{:.0f} %; waiting host {:.0f} %)\n",
        system->power(), joule(system->total()), seconds(system->elapsed_s),
        100 * system->kernels_j / system->total(), 100 * system->idle_board_j / system->total(),
        100 * system->host_j / system->total());
  const bool ended = r.status == comp::SimulationResult::Status::kComplete;
  copy_lines(out, r, ended);
  out += engines_line(r);
  if (const double flops = application_flops(simulation); ended && flops > 0 && r.time_s > 0)
    out += fmt::format("application          {}\n", si(flops / r.time_s, "FLOP/s"));
  if (ended && simulation.options().launch.expects.empty())
    out += fmt::format("{:<21}the launch names no expected results ([[expect]])\n", "not verified");
  for (const core::ExpectResult& e : r.expects)
    out += fmt::format("{:<21}{}\n", e.pass ? "verified" : "WRONG RESULT", e.message);
  const double wall = std::max(r.wall_s, 1e-9);
  // Totals are of kernels that ended.
  out += fmt::format("simulation           {:.2f} s", r.wall_s);
  if (r.warp_instructions != 0)
    out += fmt::format(", {}, {}", si(static_cast<double>(r.warp_instructions) / wall, "warp instructions/s"),
                       si(static_cast<double>(r.cycles) / wall, "cycles/s"));
  out += '\n';
  if (r.recorded) out += fmt::format("recorded             {}\n", o.out);
  return out;
}

constexpr std::chrono::milliseconds kLogInterval{60'000};

ProgressBar::ProgressBar(bool enabled)
    : enabled_(enabled),
      terminal_(isatty(STDERR_FILENO) != 0),
      start_(std::chrono::steady_clock::now()),
      last_(start_) {}

ProgressBar::~ProgressBar() { clear(); }

void ProgressBar::clear() {
  if (drawn_) write_error(kEmptyLine);
  drawn_ = false;
}

void ProgressBar::update(const comp::Progress& p) {
  if (!enabled_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < (terminal_ ? std::chrono::milliseconds(100) : kLogInterval)) return;
  last_ = now;
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const double done =
      p.blocks_total == 0 ? 0 : static_cast<double>(p.blocks_done) / static_cast<double>(p.blocks_total);
  const std::string left = done > 0 ? fmt::format(", {:.0f} s left", elapsed / done - elapsed) : "";
  const std::string name = core::short_kernel_name(p.kernel).substr(0, 24);
  const std::string counts = fmt::format(
      "{}/{} blocks, {} cycles, {}{}", p.blocks_done, p.blocks_total, si(static_cast<double>(p.cycles), ""),
      si(static_cast<double>(p.warp_instructions) / elapsed, "warp instructions/s"), left);
  if (terminal_) {
    drawn_ = true;
    const auto filled = static_cast<size_t>(done * 24);
    const std::string line = fmt::format("{} [{:<24}] {}", name, std::string(filled, '#'), counts);
    write_error(fmt::format("{}{}", kEmptyLine, core::fitted(analysis::printable(line))));
  } else {
    print_error("{}: {}\n", name, counts);
  }
  std::fflush(stderr);
}

}  // namespace gpusim::cli
