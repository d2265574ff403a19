#include "analysis/models/roofline/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/profile/quantities.h"
#include "analysis/recording/program.h"
#include "analysis/report/reports.h"

namespace gpusim::analysis {

namespace {

constexpr double kSectorBytes = 32, kLanes = 32;

double sum_of(const Table& table, std::string_view column) {
  double sum = 0;
  for (const uint64_t v : table[column]) sum += static_cast<double>(v);
  return sum;
}

double counted(const KernelRecord& kernel, std::string_view name) {
  const auto at = kernel.counters.find(name);
  return at == kernel.counters.end() ? 0 : at->second;
}

/// What is summed over the launches of a kernel before it becomes a point.
struct Sums {
  RooflinePoint point;
  double executed = 0, lanes = 0, requested = 0, moved = 0, l2_read = 0, l2_hit = 0;
  double warp_cycles = 0, active_cycles = 0, longest = 0, sm_cycles = 0;
  double worst_lanes = 0, worst_bytes = 0, longest_launch = 0;

  void add(const KernelRecord& kernel, const core::MachineConfig& machine);
  [[nodiscard]] RooflinePoint finish(const core::MachineConfig& machine) const;

 private:
  void add_statements(const Table& per_pc);
};

void Sums::add(const KernelRecord& kernel, const core::MachineConfig& machine) {
  const double seconds = kernel_seconds(kernel, machine);
  point.sms = std::max(point.sms, static_cast<uint32_t>(kernel.per_sm.rows));
  point.seconds += seconds;
  point.flops += counted(kernel, "flop_count");
  point.divergent += counted(kernel, "divergent_branch");
  point.dram_bytes +=
      kSectorBytes * (counted(kernel, "dram_read_transactions") + counted(kernel, "dram_write_transactions"));
  point.l2_bytes += kSectorBytes * (counted(kernel, "l2_read_sectors") + counted(kernel, "l2_write_sectors") +
                                    counted(kernel, "l2_atomic_sectors"));
  l2_read += counted(kernel, "l2_read_sectors");
  l2_hit += counted(kernel, "l2_read_hit_sectors");
  const auto& active = kernel.per_sm["active_cycles"];
  const double most = active.empty() ? 0 : static_cast<double>(std::ranges::max(active));
  active_cycles += sum_of(kernel.per_sm, "active_cycles");
  warp_cycles += sum_of(kernel.per_sm, "active_warp_cycles");
  longest += most * static_cast<double>(kernel.per_sm.rows);
  if (seconds > longest_launch) {
    longest_launch = seconds;
    point.idle_sms = static_cast<uint32_t>(std::ranges::count(kernel.per_sm["blocks"], 0u));
    point.blocks = sum_of(kernel.per_sm, "blocks");
    point.blocks_per_sm = kernel.blocks_per_sm;
    point.limiter = kernel.occupancy_limiter;
  }
  add_statements(kernel.per_pc);
}

void Sums::add_statements(const Table& t) {
  for (uint64_t pc = 0; pc < t.rows; ++pc) {
    const auto executed_here = static_cast<double>(t["executed"][pc]);
    const auto lanes_here = static_cast<double>(t["active_lanes"][pc]);
    const auto asked = static_cast<double>(t["requested_bytes"][pc]);
    const auto moved_here = static_cast<double>(t["transferred_bytes"][pc]);
    executed += executed_here;
    lanes += lanes_here;
    if (const double lost = kLanes * executed_here - lanes_here; lost > worst_lanes) {
      worst_lanes = lost;
      point.worst_divergence = statement_place(t, pc);
    }
    if (moved_here == 0) continue;
    requested += asked;
    moved += moved_here;
    if (moved_here - asked > worst_bytes) {
      worst_bytes = moved_here - asked;
      point.worst_access = statement_place(t, pc);
    }
  }
}

RooflinePoint Sums::finish(const core::MachineConfig& machine) const {
  const auto ratio = [](double a, double b, double none) { return b > 0 ? a / b : none; };
  RooflinePoint p = point;
  p.l1_bytes = moved;
  p.operations = executed;
  p.l2_hits = ratio(l2_hit, l2_read, 0);
  p.warp_efficiency = ratio(lanes, kLanes * executed, 1);
  p.coalescing = ratio(requested, moved, 1);
  p.occupancy = ratio(warp_cycles, active_cycles * static_cast<double>(machine.sm.max_warps), 0);
  p.balance = ratio(active_cycles, longest, 1);
  return p;
}

bool is_ceiling(std::string_view kernel) {
  return kernel == kFmaCeiling || kernel == kAddCeiling || kernel == kStreamCeiling;
}

std::vector<RooflinePoint>& points_of(std::vector<Trajectory>& all, const std::string& kernel) {
  const auto at = std::ranges::find(all, kernel, &Trajectory::kernel);
  if (at != all.end()) return at->points;
  all.push_back({kernel, {}});
  return all.back().points;
}

std::string percent(double fraction) { return fmt::format("{:.0f} %", 100 * fraction); }

}  // namespace

double Ceiling::roof(double intensity) const { return std::min(fma, intensity * bandwidth); }

double RooflinePoint::intensity() const { return dram_bytes > 0 ? flops / dram_bytes : INFINITY; }

std::string_view defect_name(Defect defect) {
  switch (defect) {
    case Defect::kDivergence:
      return "divergence";
    case Defect::kUncoalesced:
      return "uncoalesced";
    case Defect::kLowOccupancy:
      return "low-occupancy";
    case Defect::kFewBlocks:
      return "few-blocks";
    case Defect::kLocality:
      break;
  }
  return "locality";
}

std::vector<Ceiling> ceilings(std::span<const Recording> recordings) {
  std::vector<Ceiling> all;
  for (const Recording& recording : recordings) {
    Ceiling c;
    for (const uint64_t index : recording.select("")) {
      const std::string& name = recording.launches()[index].name;
      if (!is_ceiling(name)) continue;
      const KernelRecord kernel = recording.kernel(index);
      const double seconds = kernel_seconds(kernel, recording.machine());
      c.sms = static_cast<uint32_t>(kernel.per_sm.rows);
      if (name == kFmaCeiling) c.fma = counted(kernel, "flop_count") / seconds;
      if (name == kAddCeiling) c.add = counted(kernel, "flop_count") / seconds;
      if (name == kStreamCeiling) c.bandwidth = counted(kernel, "dram_read_bytes") / seconds;
    }
    if (c.fma > 0 && c.add > 0 && c.bandwidth > 0) all.push_back(c);
  }
  std::ranges::sort(all, {}, &Ceiling::sms);
  return all;
}

void require_together(std::span<const Recording> recordings) {
  for (const Recording& r : recordings)
    if (r.machine() != recordings.front().machine())
      throw core::RecordError(
          fmt::format("'{}' and '{}' are of different machines", recordings.front().path(), r.path()));
}

namespace {

/// Each number of SMs once, and the same work everywhere unless the scaling is weak or the work is given.
void require_one_scaling(const Trajectory& t, bool same_work) {
  for (size_t i = 1; i < t.points.size(); ++i) {
    const RooflinePoint &a = t.points[0], &b = t.points[i];
    if (b.sms == t.points[i - 1].sms)
      throw core::RecordError(
          fmt::format("two runs have kernel '{}' with {} SMs", t.kernel, t.points[i].sms));
    const bool stated = a.stated > 0 && b.stated > 0;
    if (same_work && (stated ? a.stated != b.stated : a.flops != b.flops))
      throw core::RecordError(fmt::format(
          "kernel '{}' has {:.0f} floating-point operations with {} SMs, {:.0f} with {}: for runs of "
          "different work --option scaling=weak, for a count of the application's own --option flops=N",
          t.kernel, stated ? a.stated : a.flops, a.sms, stated ? b.stated : b.flops, b.sms));
  }
}

/// A recording's kernels (or launches), and all of them together.
struct Run {
  std::vector<std::pair<std::string, Sums>> parts;
  Sums whole;
};

Run sum_up(const Recording& recording, const Program& program, bool by_launch) {
  Run run;
  for (const uint64_t index : recording.select("")) {
    std::string name = recording.launches()[index].name;
    if (is_ceiling(name)) continue;
    if (by_launch) name += fmt::format(", launch {}", index);
    const KernelRecord kernel = recording.kernel(index);
    auto at = std::ranges::find_if(run.parts, [&](const auto& k) { return k.first == name; });
    if (at == run.parts.end()) {
      at = run.parts.insert(run.parts.end(), {name, {}});
      at->second.point.stated = program.stated_flops(name);
    }
    at->second.add(kernel, recording.machine());
    run.whole.add(kernel, recording.machine());
  }
  run.whole.point.stated = program.stated_flops("total");
  if (run.parts.size() == 1) run.parts[0].second.point.stated = run.whole.point.stated;
  return run;
}

/// Of the recordings of one program.
std::vector<Trajectory> program_trajectories(std::span<const Recording* const> recordings,
                                             const TrajectoryOptions& options) {
  std::vector<Trajectory> all;
  Trajectory application{std::string(kAllKernels), {}};
  for (const Recording* recording : recordings) {
    const Run run = sum_up(*recording, program_of(*recording), options.by_launch);
    for (const auto& [name, sums] : run.parts)
      points_of(all, name).push_back(sums.finish(recording->machine()));
    if (!run.parts.empty()) application.points.push_back(run.whole.finish(recording->machine()));
  }
  // Runs of different kernels are no application.
  const bool same = std::ranges::all_of(
      all, [&](const Trajectory& t) { return t.points.size() == application.points.size(); });
  if (all.size() > 1 && same) all.push_back(application);
  if (all.size() == 1 || same) all.back().application = true;
  for (Trajectory& t : all) {
    std::ranges::stable_sort(t.points, {}, &RooflinePoint::sms);
    const bool given = options.flops > 0 && t.application;
    require_one_scaling(t, !options.weak && options.flops <= 0);
    const double counted = t.points.front().flops;
    for (RooflinePoint& p : t.points) {
      if (given)
        p.flops = options.flops;
      else if (p.stated > 0)
        p.flops = p.stated;
      else if (!options.weak)
        p.flops = counted;
    }
  }
  return all;
}

}  // namespace

std::string Trajectory::title() const {
  return program.empty() ? kernel : fmt::format("{} ({})", kernel, program);
}

std::vector<Trajectory> trajectories(std::span<const Recording> recordings,
                                     const TrajectoryOptions& options) {
  std::vector<std::pair<std::string, std::vector<const Recording*>>> programs;
  for (const Recording& recording : recordings) {
    const bool only_ceilings = std::ranges::all_of(
        recording.launches(), [](const Recording::Launch& launch) { return is_ceiling(launch.name); });
    if (only_ceilings) continue;
    const std::string name = program_of(recording).name;
    auto at = std::ranges::find_if(programs, [&](const auto& p) { return p.first == name; });
    if (at == programs.end()) at = programs.insert(programs.end(), {name, {}});
    at->second.push_back(&recording);
  }
  std::vector<Trajectory> all;
  for (const auto& [name, of_program] : programs)
    for (Trajectory& t : program_trajectories(of_program, options)) {
      if (programs.size() > 1) t.program = name;
      all.push_back(std::move(t));
    }
  return all;
}

std::vector<Finding> diagnose(const Trajectory& trajectory, const Ceiling& low, const Ceiling& high) {
  // Docs and tests name these.
  constexpr double kWarpEfficiency = 0.8, kCoalescing = 0.5, kBalance = 0.75, kOccupancyLoss = 0.75,
                   kLowOccupancy = 0.25, kIntensityLoss = 0.75, kLowStart = 0.5;
  std::vector<Finding> findings;
  const RooflinePoint &a = trajectory.points.front(), &b = trajectory.points.back();
  const auto start = [&] {
    const double roof = low.roof(a.intensity());
    return roof > 0 && a.flops > 0
               ? fmt::format("starts at {} of the roof of {} SMs; ", percent(a.rate() / roof), low.sms)
               : std::string();
  };
  if (a.warp_efficiency < kWarpEfficiency && a.divergent > 0)
    findings.push_back(
        {Defect::kDivergence,
         fmt::format("{}{} of 32 lanes active on average, {:.0f} branches part a warp; most lanes "
                     "are lost at {}",
                     start(), fmt::format("{:.1f}", kLanes * a.warp_efficiency), a.divergent,
                     a.worst_divergence)});
  if (a.coalescing < kCoalescing)
    findings.push_back({Defect::kUncoalesced,
                        fmt::format("{}{} of the bytes moved for accesses were asked for; most is lost at {}",
                                    start(), percent(a.coalescing), a.worst_access)});
  const double roof = low.roof(a.intensity());
  if (a.occupancy < kLowOccupancy && a.idle_sms == 0 && a.flops > 0 && a.rate() < kLowStart * roof)
    findings.push_back({Defect::kLowOccupancy,
                        fmt::format("{}{} of the warps that an SM holds are resident already with {} SMs "
                                    "(blocks per SM limited by {})",
                                    start(), percent(a.occupancy), a.sms, a.limiter)});
  if (b.sms > a.sms && b.balance < kBalance * a.balance)
    findings.push_back(
        {Defect::kFewBlocks,
         fmt::format(
             "{:.0f} blocks for {} SMs: {} get none, and an SM is busy for {} of the longest one's time "
             "({} with {} SMs)",
             b.blocks, b.sms, b.idle_sms, percent(b.balance), percent(a.balance), a.sms)});
  else if (b.sms > a.sms && b.occupancy < kOccupancyLoss * a.occupancy &&
           b.blocks < static_cast<double>(b.sms * b.blocks_per_sm))
    findings.push_back(
        {Defect::kFewBlocks,
         fmt::format("{:.0f} blocks for {} SMs: {} of the warps that an SM holds are resident ({} "
                     "with {} SMs)",
                     b.blocks, b.sms, percent(b.occupancy), percent(a.occupancy), a.sms)});
  // Where there is little traffic at all, more of it lowers no roof.
  if (b.sms > a.sms && b.dram_bytes > a.dram_bytes && b.intensity() < kIntensityLoss * a.intensity() &&
      high.roof(b.intensity()) < kIntensityLoss * high.roof(a.intensity()))
    findings.push_back(
        {Defect::kLocality,
         fmt::format(
             "from {} to {} SMs, DRAM traffic grows from {:.3g} to {:.3g} MB and L2 read hits fall from {} "
             "to {}; the roof falls to {} of what the first intensity would allow",
             a.sms, b.sms, a.dram_bytes * 1e-6, b.dram_bytes * 1e-6, percent(a.l2_hits), percent(b.l2_hits),
             percent(high.roof(b.intensity()) / high.roof(a.intensity())))});
  return findings;
}

}  // namespace gpusim::analysis
