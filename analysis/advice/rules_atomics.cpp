// Atomic operations on global memory that wait for each other in the memory partitions.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "analysis/advice/rules.h"
#include "analysis/advice/traffic.h"

namespace gpusim::analysis::advice {
namespace {

/// Sectors over which `lanes` random accesses are spread if they use `distinct` of them on average.
double sectors_of_random(double distinct, double lanes) {
  constexpr double kMost = 1 << 20;
  constexpr int kSteps = 60;
  double least = distinct, most = kMost;
  for (int i = 0; i < kSteps; ++i) {
    const double middle = std::sqrt(least * most);
    (middle * (1 - std::pow(1 - 1 / middle, lanes)) < distinct ? least : most) = middle;
  }
  return least;
}

/// Partitions that have as much to do with atomics as the busiest.
double partitions_of_atomics(const Facts& f) {
  const UnitLoad* unit = f.kernel().unit("l2_atomics");
  if (unit == nullptr || unit->peak() <= 0) return 1;
  return static_cast<double>(unit->instances) * unit->mean() / unit->peak();
}

/// Whether threads choose the words of most atomics, which are others for each block.
bool each_block_has_its_own(const Facts& f) {
  constexpr double kMost = 0.5;
  double own = 0, all = 0;
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    if (f.op_class(pc) != "atom_global") continue;
    all += f.executed(pc);
    if (!f.origin(pc).of_data && f.origin(pc).of_block) own += f.executed(pc);
  }
  const UnitLoad* unit = f.kernel().unit("l2_atomics");
  return own > kMost * all && unit != nullptr &&
         partitions_of_atomics(f) > kMost * static_cast<double>(unit->instances);
}

/// Sectors that all atomics of a kernel use. Where data say which, what random accesses would need to spread
/// so over the sectors of a request, and no fewer than there are partitions that have as much to do as the
/// busiest; those on other arrays, or in records a sector or more apart, have their own.
/// Where threads say which, each warp of a block has its own, and others each time if a loop changes them.
double sectors_of_results(const Facts& f) {
  struct Random {
    double executed = 0, lanes = 0, sectors = 0;
  };
  std::map<std::pair<std::string, uint64_t>, Random> of_arrays;
  double chosen = 0;
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    if (f.op_class(pc) != "atom_global" || f.executed(pc) <= 0) continue;
    const double of_one = f.count("transferred_bytes", pc) / kSector / f.executed(pc);
    const double times = f.executed(pc) / f.blocks();
    if (!f.origin(pc).of_data && !f.origin(pc).begins_of_data && !f.origin(pc).of_block &&
        f.origin(pc).stride != 0) {
      chosen += of_one * (f.origin(pc).of_loop ? times : std::min(times, f.warps_per_block()));
      continue;
    }
    Random& r = of_arrays[{f.origin(pc).base, f.origin(pc).offset / static_cast<uint64_t>(kSector)}];
    r.executed += f.executed(pc);
    r.lanes += f.count("active_lanes", pc);
    r.sectors += f.count("transferred_bytes", pc) / kSector;
  }
  double results = 0;
  for (const auto& [array, r] : of_arrays)
    results += sectors_of_random(std::max(1.0, r.sectors / r.executed), r.lanes / r.executed);
  return std::max({1.0, partitions_of_atomics(f), results, chosen});
}

/// Blocks that keep their results in shared memory and add them to global memory at their end.
struct Collecting {
  double blocks = 0;
  double rounds = 1;    ///< so many times fewer warps are resident, each with so much more to do
  double results = 0;   ///< sectors that a block adds
  bool merges = false;  ///< they do so already
};

Work after_collecting(const Facts& f, Work after, const Collecting& c) {
  const auto is_atomic = [&](uint64_t pc) { return f.op_class(pc) == "atom_global"; };
  const double executed = f.sum("executed", is_atomic), words = f.sum("atomic_words", is_atomic);
  const double sectors = f.sum("transferred_bytes", is_atomic) / kSector;
  const double left = std::min(1.0, c.blocks * c.results / std::max(sectors, words));
  const Traffic before = recorded_traffic(f);
  Traffic traffic = before;
  traffic.load_transactions -= f.sum("transactions", is_atomic) * (c.merges ? 1 - left : 1);
  traffic.load_bytes -= f.sum("transferred_bytes", is_atomic) * (c.merges ? 1 - left : 1);
  spread_over_partitions(f, after);  // it is the atomics that crowd
  set_traffic(f, before, traffic, after);
  const double rounds = after.rounds;
  after.rounds *= c.rounds;
  // A partition takes a step for each sector, and one more for each lane that finds its word taken. At its
  // end a block adds its results, which lie side by side.
  const double work = left * (after.units["l2_atomics"] + after.tail);
  // Those of the last blocks, which end together, run beside nothing. As many blocks as now end as they do
  // now.
  const bool as_now = c.merges && c.blocks == f.blocks();
  after.tail = as_now ? left * after.tail : c.merges ? work : work / rounds;
  after.units["l2_atomics"] = work - after.tail;
  if (c.merges) return after;
  // A step for each lane whose bank another one uses as well: for random words some three of 32.
  constexpr double kRandomSteps = 3;
  const double instances = f.kernel().unit("shared") != nullptr
                               ? static_cast<double>(f.kernel().unit("shared")->instances)
                               : f.sms();
  after.units["shared"] += executed * kRandomSteps * f.machine().shared.cycles_per_access / instances;
  // Where warps wait for what an atomic returns, they wait for that of their block then, and for each other.
  for (uint64_t pc = 0; pc < f.operations(); ++pc)
    if (is_atomic(pc))
      after.chain[pc] =
          (f.awaited(pc) ? after.chain[pc] + f.executed(pc) / f.warps() * f.latency("barrier") : 0) +
          executed / f.warps() * f.latency("atom_shared");
  return after;
}

/// Of most atomics, data say which row a warp adds to, lanes have words of their own in it, and a warp does
/// so once: no block has two additions to one word.
bool each_adds_a_row(const Facts& f) {
  constexpr double kMost = 0.5, kFull = 4, kAlone = 1.1;
  double rows = 0, all = 0;
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    if (f.op_class(pc) != "atom_global") continue;
    const double executed = f.executed(pc), sectors = f.count("transferred_bytes", pc) / kSector;
    all += executed;
    if (f.origin(pc).of_data && executed <= f.warps() && f.count("active_lanes", pc) >= kFull * sectors &&
        f.count("atomic_words", pc) <= kAlone * sectors)
      rows += executed;
  }
  return rows > kMost * all;
}

constexpr double kBusy = 0.3;  ///< share of the time

}  // namespace

std::optional<LeftAside> left_aside_atomics(const Facts& f) {
  if (f.busy("l2_atomics") < kBusy || !each_adds_a_row(f)) return std::nullopt;
  LeftAside l;
  l.pc = f.largest(
      [&](uint64_t pc) { return f.op_class(pc) == "atom_global" ? f.count("active_lanes", pc) : 0.0; });
  l.what = "which blocks add to the same row";
  l.hint =
      "loaded values say to which row a warp adds, and no block adds to one word twice, so that a block has "
      "nothing to collect: in the order of their rows, a block could take all additions to a row, add them "
      "up in registers and do one atomic operation for each word";
  l.counter = fmt::format("atomics in the busiest memory partition: {:.4g} % of the time",
                          100 * f.busy("l2_atomics"));
  return l;
}

std::optional<Proposal> atomics(const Facts& f) {
  if (f.busy("l2_atomics") < kBusy) return std::nullopt;
  const auto is_atomic = [&](uint64_t pc) { return f.op_class(pc) == "atom_global"; };
  const double executed = f.sum("executed", is_atomic), lanes = f.sum("active_lanes", is_atomic);
  const double sectors = f.sum("transferred_bytes", is_atomic) / kSector;
  if (executed <= 0 || lanes <= 0) return std::nullopt;
  Proposal p;
  p.pc = f.largest([&](uint64_t pc) { return is_atomic(pc) ? f.count("active_lanes", pc) : 0.0; });
  // Those that take a lock are tried again and again: how often is no matter of how many are collected.
  if (tries_to_lock(f, p.pc)) return std::nullopt;
  p.counter = "atomics in the busiest memory partition";
  p.unit = "% of the time";
  p.value = 100 * f.busy("l2_atomics");
  p.after = f.estimator().recorded();
  // Of the lanes on one word: compilers may add those of a warp up before one of them does the operation.
  const double words = f.sum("atomic_words", is_atomic);
  const double lanes_each = words > 0 ? std::min(lanes, words) / executed : lanes / executed;
  constexpr double kOneWord = 1.1;
  if (sectors <= kOneWord * executed && lanes_each > 2) {
    p.what = fmt::format(
        "add up the {:.0f} lanes of a warp first, by shuffles, and let one of them do the "
        "atomic operation",
        lanes_each);
    // An access of one word is left of each.
    const core::MachineConfig::Partition& l2 = f.machine().l2;
    const double left = (l2.atomic_access_cycles + l2.atomic_cycles) /
                        (l2.atomic_access_cycles + lanes_each * l2.atomic_cycles);
    p.after.scale("l2_atomics", left);
    p.after.tail *= left;
    p.after.chain[p.pc] +=
        executed / f.warps() * std::log2(lanes_each) * (f.latency("warp") + f.latency("fp32"));
    return p;
  }
  if (each_block_has_its_own(f) || each_adds_a_row(f)) return std::nullopt;
  // Each word of the results has a place in the shared memory of each block.
  const double results = sectors_of_results(f);
  // Results that a block adds at its end are there already.
  const bool merges = 2 * f.sum("executed", [&](uint64_t pc) { return f.merges(pc); }) > executed;
  const double shared_bytes =
      static_cast<double>(f.resources().shared_bytes) + (merges ? 0 : results * kSector);
  if (shared_bytes > static_cast<double>(f.machine().shared.bytes)) return std::nullopt;
  // What is used of an atomic's result is a place in a list or the next piece of work, and no sum.
  const bool places = !merges && f.awaited(p.pc);
  p.what =
      places ? "let a block take places for all of its warps at once: count in shared memory what they need, "
               "or "
               "take several pieces of work at a time, and do one atomic operation on global memory for all"
             : "collect each block's results in shared memory with its atomics, and add them to global "
               "memory "
               "once, at the block's end";
  // Where that is not much less than there is now, it takes fewer blocks: blocks that end together also add
  // the same words at the same time.
  constexpr double kWorth = 0.5;
  const double now = std::max(sectors, words);
  const auto worth = [&](double blocks) { return blocks * results <= kWorth * now; };
  if (worth(f.blocks())) {
    p.after = after_collecting(f, p.after, {f.blocks(), 1, results, merges});
    return p;
  }
  if (merges) p.what = "add the blocks' results to global memory fewer times";
  LaunchResources large = f.resources();
  large.threads = f.machine().sm.max_threads_per_block;
  large.shared_bytes = static_cast<uint64_t>(shared_bytes);
  const double most = std::max(1.0, f.blocks_per_sm(large)), threads = static_cast<double>(large.threads);
  // More of them on an SM are more warps, which hide more, and more results.
  double each = 0, least = HUGE_VAL;
  Work best;
  for (double n = 1; n <= most; ++n) {
    const double blocks = n * f.sms(), warps = n * threads / 32;
    if (!worth(blocks) || (n > 1 && blocks * threads / 32 > f.warps())) break;
    const Work after =
        after_collecting(f, p.after, {blocks, std::max(1.0, f.resident_warps() / warps), results, merges});
    if (const double cycles = f.estimator().cycles(after); cycles < least)
      each = n, least = cycles, best = after;
  }
  if (each == 0) return std::nullopt;
  p.after = best;
  p.what += fmt::format(
      ", with {} for each of the {:.0f} SMs, which {} the work of several of the present ones in a loop",
      each == 1 ? "one large block" : fmt::format("{:.0f} blocks of {:.0f} threads", each, threads), f.sms(),
      each == 1 ? "does" : "do");
  return p;
}

}  // namespace gpusim::analysis::advice
