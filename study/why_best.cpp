#include "study/why_best.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>

#include "components/sm/stall_cause.h"
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
/// What is said in a sentence, of the other point's cycles.
constexpr double kReason = 0.05;
constexpr size_t kReasons = 3;
constexpr size_t kCausesShown = 5, kCountersShown = 5;

/// Counts of work and of waits, which more of something makes smaller or larger. Rates and energies are left
/// out: they follow from these and the time.
struct Words {
  std::string_view name, words;
};
constexpr std::array<Words, 27> kCounters{{
    {"inst_issued", "operations issued, replays included"},
    {"load_transactions", "transactions of loads and atomics"},
    {"store_transactions", "transactions of stores"},
    {"l1_global_load_miss", "lines of global loads that were not in the L1"},
    {"l1_local_load_miss", "lines of local loads that were not in the L1"},
    {"l1_merged_misses", "misses on lines that were on their way to the L1"},
    {"l1_fill_sectors", "sectors that the L1 asked of the L2"},
    {"l1_writeback_sectors", "sectors that the L1 wrote back"},
    {"l1_wait_mshr", "misses that waited for a free MSHR of the L1"},
    {"l1_wait_merge", "misses that waited for room in their line's MSHR"},
    {"l1_wait_warp_mshr", "misses that waited since their warp had all its MSHRs"},
    {"l1_wait_way", "misses that waited for a free line in their set of the L1"},
    {"l1_shared_bank_conflict", "steps because of bank conflicts in shared memory"},
    {"dram_read_bytes", "bytes read from DRAM"},
    {"dram_write_bytes", "bytes written to DRAM"},
    {"dram_activates", "DRAM rows opened"},
    {"dram_turnarounds", "changes between reading and writing DRAM"},
    {"l2_fill_sectors", "sectors that the L2 read from DRAM"},
    {"l2_writeback_sectors", "sectors that the L2 wrote to DRAM"},
    {"l2_wait_mshr", "requests that waited for a free MSHR of the L2"},
    {"l2_wait_merge", "requests that waited for room in their line's MSHR of the L2"},
    {"l2_wait_way", "requests that waited for a free line in their set of the L2"},
    {"l2_wait_dram_queue", "requests that waited for room in the queue to DRAM"},
    {"l2_wait_reply", "hits in the L2 whose replies could not leave"},
    {"l2_wait_atomic_unit", "atomics that waited for those before them"},
    {"noc_request_flits", "flits of requests to the L2"},
    {"noc_reply_flits", "flits of replies from the L2"},
}};

/// What SMs did in these cycles.
constexpr std::array<Words, comp::kNumStallCauses> kCauses{{
    {"issued", "issuing instructions"},
    {"no_warp", "SMs without a warp"},
    {"launch", "waiting for the first block to start"},
    {"drain", "waiting for stores that were on their way when all blocks had ended"},
    {"memory_l1", "waiting for data that the L1 had"},
    {"memory_l2", "waiting for data that the L2 had"},
    {"memory_dram", "waiting for data from DRAM"},
    {"memory_tex_l1", "waiting for data that the texture cache had"},
    {"memory_tex_l2", "waiting for data that the second texture level had"},
    {"memory_shared", "waiting for data from shared memory"},
    {"memory_const_l1", "waiting for a constant that the constant cache had"},
    {"memory_const_l2", "waiting for a constant from the second level"},
    {"memory_const_l3", "waiting for a constant from the third level or DRAM"},
    {"alu_dependency", "waiting for results of arithmetic"},
    {"barrier", "waiting at barriers"},
    {"fence", "waiting at memory fences"},
    {"pipe_busy", "waiting for a busy pipe"},
    {"memory_throttle", "waiting for room in the load/store unit"},
    {"texture_throttle", "waiting for room in the texture path"},
    {"inst_fetch", "waiting for instructions"},
    {"control", "starting blocks and resolving branches"},
}};
std::string_view words_of(std::span<const Words> table, std::string_view name) {
  const auto at = std::ranges::find(table, name, &Words::name);
  return at == table.end() ? std::string_view() : at->words;
}

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
  for (const auto& [name, words] : kCounters) {
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
    out += fmt::format("  {:>+12.0f}  cycles of {:<16} {}\n", c.cycles, c.cause, words_of(kCauses, c.cause));
    rest -= c.cycles;
  }
  if (std::abs(rest) >= 0.5) out += fmt::format("  {:>+12.0f}  of all other causes\n", rest);
  for (size_t i = 0; i < std::min(kCountersShown, why.counters.size()); ++i) {
    const MovedCounter& c = why.counters[i];
    out += fmt::format("    {:<26} {:>14.0f} -> {:<12.0f} {}\n", c.name, c.other, c.best,
                       words_of(kCounters, c.name));
  }
  return out;
}

std::string why_sentence(const WhyBest& why, std::string_view other_point) {
  if (why.causes.empty() || why.other_cycles <= 0) return {};
  std::string reasons;
  size_t shown = 0;
  for (const MovedCause& c : why.causes) {
    const std::string_view words = words_of(kCauses, c.cause);
    if (words.empty() || shown == kReasons || std::abs(c.cycles) < kReason * why.other_cycles) break;
    reasons +=
        fmt::format("{} {:.0f} % {} {}", shown++ == 0 ? ":" : ",",
                    100 * std::abs(c.cycles) / why.other_cycles, c.cycles < 0 ? "less" : "more", words);
  }
  const double saved = (why.other_cycles - why.best_cycles) / why.other_cycles;
  return fmt::format("it takes {:.0f} % {} cycles than {}{}", 100 * std::abs(saved),
                     saved < 0 ? "more" : "fewer", other_point, reasons);
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
