#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <string_view>

#include "analysis/advice/rules.h"
#include "analysis/advice/traffic.h"
#include "analysis/profile/utilization.h"

namespace gpusim::analysis::advice {

std::optional<Proposal> partition_camping(const Facts& f) {
  constexpr double kCrowded = 1.3;
  if (!strides_can_camp(f.machine())) return std::nullopt;
  const double crowding = f.crowding();
  if (crowding < kCrowded) return std::nullopt;
  // The few requests of a time, as of the last warps, are in few partitions, and no load/store unit waits for
  // these.
  constexpr double kNone = 0.01;
  const UnitLoad* waits = f.kernel().unit("lsu_wait_network");
  if (waits != nullptr && waits->mean() < kNone) return std::nullopt;
  Proposal p;
  // What the grid accesses from its beginning to its end goes to all partitions alike.
  p.pc = f.largest([&](uint64_t pc) {
    return is_global(f.op_class(pc)) && !f.origin(pc).contiguous ? f.count("transactions", pc) : 0.0;
  });
  // Where loaded values say the place, it is a few words that crowd, however long rows are.
  if (p.pc == f.operations() || f.origin(p.pc).of_data) return std::nullopt;
  p.what =
      "make rows longer than a multiple of the partitions' interleaving, or number blocks along a "
      "diagonal, so that all partitions have work at any time";
  p.counter = "requests to the partition that is the busiest at a time";
  p.unit = "times those to the mean one";
  p.value = crowding;
  p.after = f.estimator().recorded();
  spread_over_partitions(f, p.after);
  // SMs take blocks as they are done with others: those that wait for a crowded partition leave theirs to the
  // others, and no longer do then.
  // If none waits, SMs are uneven for another reason.
  constexpr double kWaits = 0.1;
  if (waits == nullptr || waits->mean() < kWaits) return p;
  for (auto& [unit, busy] : p.after.units)
    if (const UnitLoad* u = f.kernel().unit(unit);
        u != nullptr && (u->place == "SM" || u->place == "scheduler"))
      busy = std::min(busy, u->mean() * static_cast<double>(f.kernel().cycles));
  const double even = f.warps() / std::max(1.0, f.sms()) / f.resident_warps();
  p.after.rounds = std::min(p.after.rounds, std::max(1.0, even));
  return p;
}

namespace {

/// A neighbourhood that a thread loads without a loop has a tile with a rim, wider than the block: a loop
/// fills it, whose indices and comparisons the loads had not. `loads` of warps, each for `reuse` of them
/// then.
void add_filling(const Facts& f, double loads, double reuse, Work& work) {
  constexpr double kOperations = 26;  // of a turn: 5 x 5 points of a block of 32 x 8, compiled for sm_75
  const double operations = loads / reuse * kOperations;
  const auto add_to = [&](const std::string& unit, double cycles) {
    if (const UnitLoad* u = f.kernel().unit(unit))
      work.units[unit] += operations * cycles / static_cast<double>(std::max<uint64_t>(1, u->instances));
  };
  add_to("issue", f.issue_cycles());
  add_to(f.pipe_of("int"), f.pipe_cycles("int"));
}

/// Lanes of a warp that load one value, as far as sectors show it: a tile is filled by as many fewer loads.
double alike(const Facts& f, uint64_t pc) {
  const double moved = f.count("transferred_bytes", pc);
  return moved > 0 ? std::max(1.0, f.count("requested_bytes", pc) / moved) : 1;
}

}  // namespace

std::optional<Proposal> shared_reuse(const Facts& f) {
  // A thread that loads so often has neighbours that load the same.
  constexpr double kLoads = 8;
  const bool cached = f.machine().l1.bytes != 0 && f.machine().l1.cache_global;
  // What is loaded from where loaded values say is known too late to be in a tile. Of places that are mixed
  // all that threads may come to has to be there: no more than comes to an SM now.
  const double comes = f.counter("l2_read_sectors") * kSector / std::max(1.0, f.sms());
  const bool all_fits = f.machine().l2.bytes != 0 && comes <= static_cast<double>(f.machine().shared.bytes);
  const auto can_be_in_tile = [&](uint64_t pc) {
    return f.op_class(pc) == "load_global" && !f.origin(pc).of_data && !f.polls(pc) &&
           (all_fits || !f.origin(pc).of_mixture);
  };
  const double loads = f.sum("executed", can_be_in_tile);
  const double asked = f.sum("requested_bytes", can_be_in_tile);
  // Values that go on to shared memory are shared already.
  const double stored = f.sum("executed", [&](uint64_t pc) { return f.op_class(pc) == "store_shared"; });
  const double per_warp = std::max(0.0, loads - stored) / f.warps();
  if (per_warp < kLoads || f.warps_per_block() < 2) return std::nullopt;
  // With caches, DRAM reads each value once: if threads ask for no more than that, nothing is reused.
  if (f.machine().l2.bytes != 0 && asked < 4 * f.counter("dram_read_bytes")) return std::nullopt;
  Proposal p;
  p.pc = f.largest([&](uint64_t pc) { return can_be_in_tile(pc) ? f.count("transferred_bytes", pc) : 0.0; });
  // Of warps with a tile of a product each, a row or a column needs the same operand: best is a square.
  const double serves = is_of_fragment(f, p.pc) ? std::sqrt(f.warps_per_block()) : f.warps_per_block();
  const double reuse = std::min(serves, per_warp);
  p.what = fmt::format(
      "load what the warps of a block have in common once, into a tile in shared memory "
      "(here a value can serve {:.0f} warps)",
      reuse);
  p.counter = "loads of global memory by a warp";
  p.unit = "loads";
  p.value = per_warp;
  p.after = f.estimator().recorded();
  const Traffic before = recorded_traffic(f);
  Traffic after = before;
  const auto of_loads = [&](std::string_view column) { return f.sum(column, can_be_in_tile); };
  after.load_transactions -= of_loads("transactions") * (1 - 1 / reuse);
  after.load_bytes -= of_loads("transferred_bytes") * (1 - 1 / reuse);
  set_traffic(f, before, after, p.after);
  if (!cached && f.machine().l2.bytes == 0)
    set_dram(f, f.counter("dram_read_bytes") / reuse, f.counter("dram_write_bytes"), p.after);
  // Every load is one of shared memory then, in as many steps as a warp needs there.
  // At places that have nothing to do with each other, the fullest of 32 banks has some three and a half
  // words.
  constexpr double kRandomSteps = 2.5;
  const double mixed =
      f.sum("executed", [&](uint64_t pc) { return can_be_in_tile(pc) && f.origin(pc).of_mixture; });
  const double steps = (loads + kRandomSteps * mixed) * 32.0 / f.machine().shared.lanes_per_access *
                       f.machine().shared.cycles_per_access;
  if (const UnitLoad* shared = f.kernel().unit("shared"))
    p.after.units["shared"] += steps / static_cast<double>(std::max<uint64_t>(1, shared->instances));
  const double straight =
      f.sum("executed", [&](uint64_t pc) { return can_be_in_tile(pc) && f.executed(pc) <= f.warps(); });
  // Without a cache it is the loads that cost most, whatever fills the tile.
  if (cached) add_filling(f, straight, reuse, p.after);
  for (uint64_t pc = 0; pc < f.operations(); ++pc)
    if (can_be_in_tile(pc))
      p.after.chain[pc] =
          std::min(p.after.chain[pc], p.after.chain[pc] / reuse / alike(f, pc) +
                                          f.executed(pc) / f.warps() * f.latency("load_shared"));
  // A tile has to come before anything is read from it, and all of a block wait for it together: of loads
  // that were on their way together, one wait is left.
  const Work& now = f.estimator().recorded();
  double longest = 0, left = 0;
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    if (!can_be_in_tile(pc)) continue;
    longest = std::max(longest, now.chain[pc] / std::max(1.0, f.executed(pc) / f.warps()));
    left += std::min(p.after.chain[pc], now.chain[pc] / reuse / alike(f, pc));
  }
  p.after.chain[p.pc] += std::max(0.0, longest - left) + f.latency("barrier");
  // What no block's number says, or is found at places that are mixed, is the same for all of them: if it is
  // small, each fetches it once.
  const auto of_all = [&](uint64_t pc) {
    return can_be_in_tile(pc) && (!f.origin(pc).of_block || f.origin(pc).of_mixture);
  };
  const double of_own =
      f.sum("transferred_bytes", [&](uint64_t pc) { return f.op_class(pc) == "load_global" && !of_all(pc); });
  if (all_fits && f.sum("executed", of_all) > 0)
    if (const double bytes = comes - of_own / std::max(1.0, f.sms()); bytes > 0)
      add_crowd(f, bytes, f.blocks_per_sm(f.resources()), p.after);
  // Blocks that have begun together wait for their tiles at the same time: only a later round hides that.
  p.after.longest = std::max({p.after.longest, longest, left});
  return p;
}

bool banks_of_data(const Facts& f, uint64_t pc) {
  // Atomics are told apart: what they take is that lanes are on one word.
  return is_shared(f.op_class(pc)) && f.op_class(pc) != "atom_shared" && f.origin(pc).of_data;
}

namespace {

/// Lanes on one word are found by a value that all get (a shuffle), a comparison, a vote and a count, and two
/// branches part the one that adds for all from those that add for themselves.
void add_sums_of_lanes(const Facts& f, Work& after) {
  std::map<std::string, double> more;  // cycles of all instances of a unit
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    if (f.op_class(pc) != "atom_shared" || f.count("replays", pc) < kWorthwhile * f.executed(pc)) continue;
    double takes = 0;
    for (const std::string_view op_class : {"warp", "int", "warp", "bit_count", "branch", "branch"}) {
      more["issue"] += f.executed(pc) * f.issue_cycles();
      if (const std::string pipe = f.pipe_of(op_class); !pipe.empty())
        more[pipe] += f.executed(pc) * f.pipe_cycles(op_class);
      takes += f.latency(op_class);
    }
    after.chain[pc] += f.executed(pc) / f.warps() * takes;
  }
  for (const auto& [unit, cycles] : more)
    if (const UnitLoad* u = f.kernel().unit(unit); u != nullptr && u->busy > 0)
      after.units[unit] += cycles / static_cast<double>(std::max<uint64_t>(1, u->instances));
}

}  // namespace

std::optional<Proposal> bank_conflicts(const Facts& f) {
  const auto shared = [&](uint64_t pc) { return is_shared(f.op_class(pc)) && !banks_of_data(f, pc); };
  const double replays = f.sum("replays", shared), accesses = f.sum("executed", shared);
  if (accesses <= 0 || replays < kWorthwhile * accesses) return std::nullopt;
  Proposal p;
  p.pc = f.largest([&](uint64_t pc) { return shared(pc) ? f.count("replays", pc) : 0.0; });
  constexpr std::string_view kBanks =
      "use words of different banks: rows of an odd number of words, or neighbouring words for neighbouring "
      "lanes";
  // Atomics on one word go one after the other whatever bank it is in; a recording has only their steps.
  p.what =
      f.op_class(p.pc) != "atom_shared"
          ? fmt::format("let the lanes of a warp {}", kBanks)
          : fmt::format(
                "add up those lanes of a warp first{} that change the same word; if all change different "
                "ones, let them {}",
                f.machine().gpu.compute_capability < kShufflesFrom ? "" : ", by shuffles,", kBanks);
  p.counter = "further steps of shared memory for each access";
  p.unit = "steps";
  p.value = f.count("replays", p.pc) / std::max(1.0, f.executed(p.pc));
  p.after = f.estimator().recorded();
  const double steps = replays * f.machine().shared.cycles_per_access;
  const std::string pipe = f.pipe_of(f.op_class(p.pc));
  p.after.scale("shared", 1 - steps / std::max(1.0, f.work("shared")));
  if (f.work(pipe) > steps) p.after.scale(pipe, 1 - steps / f.work(pipe));
  add_sums_of_lanes(f, p.after);
  return p;
}

}  // namespace gpusim::analysis::advice
