#include "analysis/models/roofline/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "analysis/profile/limiter.h"
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

/// Of a block of "16,16,1" threads, the mean of its warps, of which the last may have fewer.
double threads_of_warp(std::string_view block) {
  double threads = 1, number = 0;
  for (const char c : block) {
    if (c >= '0' && c <= '9')
      number = 10 * number + (c - '0');
    else
      threads *= std::exchange(number, 0);
  }
  threads *= number;
  return threads > 0 ? threads / std::ceil(threads / kLanes) : kLanes;
}

/// What is summed over the launches of a kernel before it becomes a point.
struct Sums {
  RooflinePoint point;
  double executed = 0, lanes = 0, requested = 0, moved = 0, l2_read = 0, l2_hit = 0;
  double working = 0, threads = 0;  ///< lanes: that an operation was executed for, that have a thread
  double warp_cycles = 0, active_cycles = 0, longest = 0, even_cycles = 0;
  std::map<std::string, double> slots;
  double worst_lanes = 0, worst_bytes = 0, longest_launch = 0;

  void add(const KernelRecord& kernel, const core::MachineConfig& machine);
  [[nodiscard]] RooflinePoint finish(const core::MachineConfig& machine) const;

 private:
  void add_statements(const Table& per_pc, double threads_of_warp);
  void add_awaited(const Table& per_pc, uint64_t pc);
  void add_savings(const KernelRecord& kernel, const core::MachineConfig& machine, double balance);
  void save(std::string_view name, double seconds, const std::string& words);
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
  const auto sms = static_cast<double>(kernel.per_sm.rows), all_blocks = sum_of(kernel.per_sm, "blocks");
  longest += most * sms;
  // SMs that have a block more than others.
  const double rounds = std::ceil(all_blocks / std::max(sms, 1.0)) * sms;
  even_cycles += most * sms * (rounds > 0 ? all_blocks / rounds : 1);
  if (seconds > longest_launch) {
    longest_launch = seconds;
    point.idle_sms = static_cast<uint32_t>(std::ranges::count(kernel.per_sm["blocks"], 0u));
    point.blocks = all_blocks;
    point.blocks_per_sm = kernel.blocks_per_sm;
    point.limiter = kernel.occupancy_limiter;
  }
  add_statements(kernel.per_pc, threads_of_warp(kernel.block));
  point.mix.add(kernel);
  for (const CauseSlots& cause : kernel.causes) slots[cause.name] += static_cast<double>(cause.slots);
  add_savings(kernel, machine, most > 0 ? sum_of(kernel.per_sm, "active_cycles") / (most * sms) : 1);
}

void Sums::save(std::string_view name, double seconds, const std::string& words) {
  auto at = std::ranges::find(point.savings, name, &Saving::name);
  if (at == point.savings.end()) at = point.savings.insert(at, Saving{std::string(name), 0, "", 0});
  at->seconds += seconds;
  if (seconds > at->most) at->most = seconds, at->words = words;
}

void Sums::add_savings(const KernelRecord& kernel, const core::MachineConfig& machine, double balance) {
  if (kernel.units.empty() || kernel.cycles == 0) return;
  const double seconds = kernel_seconds(kernel, machine), cycles = static_cast<double>(kernel.cycles);
  for (const LimiterCandidate& c : limiter_candidates(kernel, machine)) {
    const double saved = c.saved / cycles * seconds;
    const auto at = std::ranges::find(point.savings, c.name, &Saving::name);
    // The words take the time of reading all statements: only those that are wanted.
    const bool wanted = at == point.savings.end() || saved > at->most;
    save(c.name, saved, wanted ? limiter_words(c.name, kernel, machine) : std::string());
  }
  const double all = static_cast<double>(kernel.total_slots());
  const double resident = all - static_cast<double>(kernel.idle_slots());
  const double active =
      all > 0 ? 1 - static_cast<double>(kernel.slots_of("launch") + kernel.slots_of("drain")) / all : 0;
  save("imbalance", (1 - balance) / 2 * active * seconds, "");
  const auto barrier = static_cast<double>(kernel.slots_of("barrier"));
  save("barriers", resident > 0 ? barrier / resident / 2 * active * seconds : 0, "");
}

void Sums::add_statements(const Table& t, double threads_of_warp) {
  const auto classes = t.texts.find("class");
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
    // A branch counts the lanes that take it.
    const std::string_view c = classes == t.texts.end() ? std::string_view() : classes->second[pc];
    if (c != "branch" && c != "exit" && c != "barrier" && lanes_here > 0) {
      working += lanes_here;
      threads += threads_of_warp * executed_here;
    }
    add_awaited(t, pc);
    if (moved_here == 0) continue;
    requested += asked;
    moved += moved_here;
    if (moved_here - asked > worst_bytes) {
      worst_bytes = moved_here - asked;
      point.worst_access = statement_place(t, pc);
    }
  }
}

/// A warp goes on when the last of its lanes' lines has come.
void Sums::add_awaited(const Table& t, uint64_t pc) {
  constexpr double kLine = 128, kManyLines = 4, kTooMany = 2;
  const auto of = [&](const char* column) { return t.has(column) ? static_cast<double>(t[column][pc]) : 0; };
  const double l1 = of("awaited_memory_l1"), l2 = of("awaited_memory_l2"), dram = of("awaited_memory_dram");
  const double all = l1 + l2 + dram, accesses = of("executed");
  if (all == 0 || accesses == 0) return;
  Awaited& a = point.awaited;
  a.slots += all;
  const double lines = of("transactions") / accesses;
  const double needed = std::max(1.0, of("requested_bytes") / accesses / kLine);
  if (all > a.worst) {
    a.worst = all, a.worst_lines = lines;
    a.place = statement_place(t, pc);
  }
  if (lines < kManyLines || lines < kTooMany * needed) return;
  a.scattered += all;
  a.l1 += l1, a.l2 += l2, a.dram += dram;
}

RooflinePoint Sums::finish(const core::MachineConfig& machine) const {
  const auto ratio = [](double a, double b, double none) { return b > 0 ? a / b : none; };
  RooflinePoint p = point;
  p.l1_bytes = moved;
  p.operations = executed;
  p.l2_hits = ratio(l2_hit, l2_read, 0);
  p.warp_efficiency = ratio(lanes, kLanes * executed, 1);
  p.used_lanes = ratio(working, threads, 1);
  p.coalescing = ratio(requested, moved, 1);
  p.occupancy = ratio(warp_cycles, active_cycles * static_cast<double>(machine.sm.max_warps), 0);
  p.balance = ratio(active_cycles, longest, 1);
  p.even_balance = ratio(even_cycles, longest, 1);
  double all_slots = 0;
  for (const auto& [cause, count] : slots) all_slots += count;
  for (const auto& [cause, count] : slots)
    if (count > 0) p.causes.emplace_back(cause, count / all_slots);
  std::ranges::stable_sort(p.causes, [](const auto& a, const auto& b) { return a.second > b.second; });
  std::ranges::stable_sort(p.savings, [](const Saving& a, const Saving& b) { return a.seconds > b.seconds; });
  return p;
}

std::vector<RooflinePoint>& points_of(std::vector<Trajectory>& all, const std::string& kernel) {
  const auto at = std::ranges::find(all, kernel, &Trajectory::kernel);
  if (at != all.end()) return at->points;
  all.push_back({kernel, {}});
  return all.back().points;
}

}  // namespace

double RooflinePoint::intensity() const { return dram_bytes > 0 ? flops / dram_bytes : INFINITY; }

double RooflinePoint::of_roof(const Ceiling& ceiling) const {
  if (seconds <= 0) return 0;
  if (flops > 0) return rate() / ceiling.roof(mix, intensity());
  return ceiling.bandwidth > 0 ? dram_bytes / seconds / ceiling.bandwidth : 0;
}

double RooflinePoint::cause(std::string_view name) const {
  const auto at = std::ranges::find(causes, name, &std::pair<std::string, double>::first);
  return at == causes.end() ? 0 : at->second;
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

std::vector<Prediction> changes(const Trajectory& trajectory) {
  const RooflinePoint &first = trajectory.points.front(), &last = trajectory.points.back();
  std::vector<Prediction> out;
  const auto add = [&](const char* quantity, const char* unit, double low, double high) {
    Prediction& p = out.emplace_back();
    p.kernel = trajectory.kernel;
    p.quantity = quantity;
    p.unit = unit;
    p.predicted = low;
    p.simulated = high;
  };
  const auto per_byte = [&](const char* quantity, double RooflinePoint::*bytes) {
    if (first.flops > 0 && first.*bytes > 0 && last.*bytes > 0)
      add(quantity, "FLOP/B", first.flops / first.*bytes, last.flops / last.*bytes);
  };
  per_byte("intensity", &RooflinePoint::dram_bytes);
  per_byte("intensity of L2", &RooflinePoint::l2_bytes);
  if (last.occupancy * last.balance > 0)
    add("resident warps", "of what all SMs hold", first.occupancy * first.balance,
        last.occupancy * last.balance);
  return out;
}

}  // namespace gpusim::analysis
