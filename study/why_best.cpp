#include "study/why_best.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "simcore/text/json_text.h"
#include "study/result_tables.h"

namespace gpusim::study {
namespace {

constexpr std::string_view kSlots = "slots_", kNoWarp = "slots_no_warp";
bool is_resident(std::string_view name) {
  return name != kNoWarp && name != "slots_launch" && name != "slots_drain";
}
/// A change that the text shows: of the other point's cycles, and of the larger count.
constexpr double kCause = 0.01, kCount = 0.1;
/// A change of a count, of bytes in sectors, for each cycle that is too small to matter.
constexpr double kOften = 0.05;
constexpr double kSectorBytes = 32;
constexpr size_t kCausesShown = 5, kCountersShown = 5;

/// Counts of work and of waits, which more of something makes smaller or larger. Rates and energies are left
/// out: they follow from these and the time.
constexpr std::array<std::string_view, 27> kCounters{"inst_issued",
                                                     "load_transactions",
                                                     "store_transactions",
                                                     "l1_global_load_miss",
                                                     "l1_local_load_miss",
                                                     "l1_merged_misses",
                                                     "l1_fill_sectors",
                                                     "l1_writeback_sectors",
                                                     "l1_wait_mshr",
                                                     "l1_wait_merge",
                                                     "l1_wait_warp_mshr",
                                                     "l1_wait_way",
                                                     "l1_shared_bank_conflict",
                                                     "dram_read_bytes",
                                                     "dram_write_bytes",
                                                     "dram_activates",
                                                     "dram_turnarounds",
                                                     "l2_fill_sectors",
                                                     "l2_writeback_sectors",
                                                     "l2_wait_mshr",
                                                     "l2_wait_merge",
                                                     "l2_wait_way",
                                                     "l2_wait_dram_queue",
                                                     "l2_wait_reply",
                                                     "l2_wait_atomic_unit",
                                                     "noc_request_flits",
                                                     "noc_reply_flits"};

/// Cycles of all kernels by cause: the slots of a kernel are its cycles, on every scheduler. SMs without a
/// warp wait for those that have some: their slots go to the causes of these, in proportion.
std::map<std::string, double> cycles_by_cause(const PointResult& point) {
  std::map<std::string, double> cycles;
  for (const auto& kernel : point.kernels) {
    double slots = 0, without = 0, resident = 0;
    for (const auto& [name, value] : kernel.counters) {
      if (!name.starts_with(kSlots)) continue;
      slots += value;
      if (name == kNoWarp) without += value;
      if (is_resident(name)) resident += value;
    }
    if (slots <= 0) return {};
    for (const auto& [name, value] : kernel.counters) {
      if (!name.starts_with(kSlots)) continue;
      const double share = resident <= 0       ? value
                           : name == kNoWarp   ? 0
                           : is_resident(name) ? value * (1 + without / resident)
                                               : value;
      cycles[name.substr(kSlots.size())] += share / slots * static_cast<double>(kernel.cycles);
    }
  }
  return cycles;
}

double sum_of(const std::map<std::string, double>& cycles) {
  double sum = 0;
  for (const auto& [cause, n] : cycles) sum += n;
  return sum;
}

/// In words, what a cause is whose name says nothing of warps.
std::string_view without_warp(std::string_view cause) {
  if (cause == "launch") return " (no block had started yet)";
  if (cause == "drain") return " (all blocks had ended, and stores were still on their way to memory)";
  return {};
}

}  // namespace

WhyBest why_best(const PointResult& other, const PointResult& best) {
  WhyBest why;
  const std::map<std::string, double> before = cycles_by_cause(other), after = cycles_by_cause(best);
  if (before.empty() || after.empty()) return why;
  why.other_cycles = sum_of(before);
  why.best_cycles = sum_of(after);
  std::map<std::string, double> moved;
  for (const auto& [cause, n] : before) moved[cause] -= n;
  for (const auto& [cause, n] : after) moved[cause] += n;
  for (const auto& [cause, n] : moved) why.causes.push_back({cause, n});
  std::ranges::stable_sort(why.causes, std::greater(),
                           [](const MovedCause& c) { return std::abs(c.cycles); });
  for (const std::string_view name : kCounters) {
    const double a = column_value(other, name), b = column_value(best, name);
    const double moved_by = std::abs(b - a) / (name.ends_with("_bytes") ? kSectorBytes : 1);
    if (std::isfinite(a) && std::isfinite(b) && std::abs(b - a) >= kCount * std::max(a, b) && a != b &&
        moved_by >= kOften * why.other_cycles)
      why.counters.push_back({std::string(name), a, b});
  }
  std::ranges::stable_sort(why.counters, std::greater(), [](const MovedCounter& c) {
    return std::abs(c.best - c.other) / std::max(c.best, c.other);
  });
  return why;
}

std::string why_text(const WhyBest& why, std::string_view other_point) {
  if (why.causes.empty()) return {};
  std::string out = fmt::format("why the best one is: {:.0f} cycles, {:+.0f} against {}\n", why.best_cycles,
                                why.best_cycles - why.other_cycles, other_point);
  double rest = why.best_cycles - why.other_cycles;
  for (size_t i = 0; i < std::min(kCausesShown, why.causes.size()); ++i) {
    const MovedCause& c = why.causes[i];
    if (std::abs(c.cycles) < kCause * why.other_cycles) break;
    out += fmt::format("  {:>+12.0f}  cycles of {}{}\n", c.cycles, c.cause, without_warp(c.cause));
    rest -= c.cycles;
  }
  if (std::abs(rest) >= 0.5) out += fmt::format("  {:>+12.0f}  of all other causes\n", rest);
  for (size_t i = 0; i < std::min(kCountersShown, why.counters.size()); ++i) {
    const MovedCounter& c = why.counters[i];
    out += fmt::format("    {:<26} {:>14.0f} -> {:.0f}\n", c.name, c.other, c.best);
  }
  return out;
}

std::string why_json(const WhyBest& why, uint32_t other_point) {
  std::string causes, counters;
  for (const MovedCause& c : why.causes)
    causes += fmt::format("{}{}: {}", causes.empty() ? "" : ", ", core::json_quoted(c.cause),
                          core::json_number(c.cycles));
  for (const MovedCounter& c : why.counters)
    counters += fmt::format("{}{}: [{}, {}]", counters.empty() ? "" : ", ", core::json_quoted(c.name),
                            core::json_number(c.other), core::json_number(c.best));
  return fmt::format("{{\"against\": {}, \"cycles\": [{}, {}], \"causes\": {{{}}}, \"counters\": {{{}}}}}",
                     other_point, core::json_number(why.other_cycles), core::json_number(why.best_cycles),
                     causes, counters);
}

}  // namespace gpusim::study
