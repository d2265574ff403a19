#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>

#include "analysis/advice/rules.h"
#include "analysis/advice/rules_rows.h"
#include "analysis/advice/traffic.h"
#include "analysis/profile/utilization.h"
#include "analysis/source/source_lines.h"

namespace gpusim::analysis::advice {

namespace {

/// Sectors that a warp's access takes beyond those that its bytes fill.
double needless_sectors(const Facts& f, uint64_t pc) {
  return (f.count("transferred_bytes", pc) - least_of(f, pc).bytes) / kSector / std::max(1.0, f.executed(pc));
}

/// A warp accesses a piece of an array, or one in each of a few rows, that begins within a sector, and others
/// of the same array begin at other places of one, as those of a stencil do: no order of the lanes and no
/// other array is better for all.
bool is_shifted(const Facts& f, uint64_t pc) {
  constexpr double kOne = 1.05, kAlike = 0.05, kFilled = 1.5;  // sectors: some lanes may be idle
  const double needless = needless_sectors(f, pc);
  const std::string& base = f.origin(pc).base;
  if (base.empty()) return false;
  double pieces = f.count("transactions", pc) / std::max(1.0, f.executed(pc));
  bool others = false;
  for (uint64_t other = 0; other < f.operations(); ++other) {
    if (other == pc || !is_global(f.op_class(other)) || f.executed(other) <= 0 ||
        f.origin(other).base != base)
      continue;
    pieces = std::min(pieces, f.count("transactions", other) / f.executed(other));
    others = others || std::abs(needless_sectors(f, other) - needless) > kAlike;
  }
  pieces = std::max(1.0, pieces);
  return others && needless <= kOne * pieces &&
         f.count("requested_bytes", pc) >= kFilled * kSector * pieces * f.executed(pc);
}

/// The L1 keeps what lanes access one after the other of one sector. Lanes that are neighbours use it up at
/// once: its bytes come from the L2 as before, in fewer requests, and each access waits for its own.
void set_coalesced_traffic(const Facts& f, const Traffic& before, const Traffic& after,
                           const std::function<bool(uint64_t)>& ordered, Work& work) {
  const double fetched = f.counter("l2_read_sectors") * kSector;
  if (fetched <= 0 || fetched >= before.load_bytes) return set_traffic(f, before, after, work);
  Traffic from_l2 = before, of_neighbours = after;
  from_l2.load_bytes = fetched;
  from_l2.load_transactions =
      std::clamp(f.counter("noc_requests") - beyond_l1(f, before, before).store_transactions, fetched / kLine,
                 fetched / kSector);
  of_neighbours.load_bytes = std::min(fetched, after.load_asked);
  of_neighbours.load_transactions = std::min(from_l2.load_transactions, of_neighbours.load_bytes / kLine);
  set_sm_traffic(before, after, work);
  set_network_traffic(f, from_l2, of_neighbours, work);
  if (after.load_asked <= 0) return;
  const double misses = of_neighbours.load_bytes / after.load_asked;
  const double dram = std::min(1.0, f.counter("dram_read_bytes") / fetched);
  const double wait = dram * f.memory_wait(true) + (1 - dram) * f.memory_wait(false);
  for (uint64_t pc = 0; pc < f.operations(); ++pc)
    if (ordered(pc) && is_load(f.op_class(pc)) && f.leads(pc))
      work.chain[pc] = std::max(work.chain[pc], f.executed(pc) / f.warps() * misses * wait);
}

}  // namespace

std::optional<Proposal> coalescing(const Facts& f) {
  const Traffic before = recorded_traffic(f);
  const auto can_be_ordered = [&](uint64_t pc) {
    return is_global(f.op_class(pc)) && !f.origin(pc).of_data && !f.origin(pc).of_fraction && !f.polls(pc) &&
           !is_shifted(f, pc);
  };
  Traffic after;
  double requests = 0, moved = 0;
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    const std::string_view c = f.op_class(pc);
    if (!in_memory(c)) continue;
    const double asked = f.count("requested_bytes", pc);
    Least least{f.count("transactions", pc), f.count("transferred_bytes", pc)};
    if (can_be_ordered(pc)) {
      least = least_of(f, pc);
      requests += f.executed(pc);
      moved += f.count("transferred_bytes", pc) - least.bytes;
    }
    add(after, c, least.transactions, least.bytes, asked);
  }
  const double all = before.load_bytes + before.store_bytes;
  if (requests <= 0 ||
      (moved < kWorthwhile * all && after.transactions() > (1 - kWorthwhile) * before.transactions()))
    return std::nullopt;
  // Rows of whole sectors are short because blocks are square, which textures are best read by.
  const double textures = f.sum("executed", [&](uint64_t pc) { return f.op_class(pc) == "texture"; });
  if (moved < kWorthwhile * all && textures >= requests) return std::nullopt;
  Proposal p;
  p.pc = f.largest([&](uint64_t pc) {
    return can_be_ordered(pc) ? f.count("transactions", pc) - least_of(f, pc).transactions +
                                    (f.count("transferred_bytes", pc) - least_of(f, pc).bytes) / kSector
                              : 0.0;
  });
  if (p.pc == f.operations()) return std::nullopt;
  p.what =
      "let neighbouring lanes access neighbouring words: arrays of fields instead of structures, rows "
      "instead of columns, or a tile in shared memory that turns one into the other";
  const double times = std::max(1.0, f.executed(p.pc)), bytes = f.count("transferred_bytes", p.pc);
  const Least least = least_of(f, p.pc);
  // Sectors can be used whole and yet be of several lines.
  if (bytes > (1 + kWorthwhile) * least.bytes) {
    p.counter = "sectors per request";
    p.unit = fmt::format("sectors of 32 bytes (at least {:.1f} needed)", least.bytes / kSector / times);
    p.value = bytes / kSector / times;
  } else {
    p.counter = "transactions per request";
    p.unit = fmt::format("transactions (at least {:.1f} needed)", least.transactions / times);
    p.value = f.count("transactions", p.pc) / times;
  }
  p.after = f.estimator().recorded();
  set_coalesced_traffic(f, before, after, can_be_ordered, p.after);
  p.after.burst = std::max(1.0, p.after.burst * ratio(after.transactions(), before.transactions()));
  const Work coalesced = p.after;
  // Bytes that DRAM moved beyond those that threads ask for came with sectors that nobody asked for.
  const auto with_dram = [&f](Work work, double read, double written) {
    set_dram(f, std::min(f.counter("dram_read_bytes"), read),
             std::min(f.counter("dram_write_bytes"), written), work);
    return work;
  };
  const double read = std::max(after.load_asked, after.load_bytes);
  const double written = std::max(after.store_asked, after.store_bytes);
  p.after = with_dram(coalesced, read, written);
  const std::optional<Rows> rows = rows_of_threads(f);
  if (!rows) return p;
  const bool again = held_by_l2(f, *rows);
  const Work shared =
      with_dram(after_sharing(f, *rows, coalesced), again ? asked_once(f, *rows, "load_global") : read,
                again ? asked_once(f, *rows, "store_global") : written);
  if (f.estimator().cycles(shared) >= f.estimator().cycles(p.after)) return p;
  p.after = shared;
  p.pc = rows->pc;
  p.what = fmt::format(
      "let {} take each row that one thread walks along now: neighbouring lanes access neighbouring words, "
      "each takes every {} of them, and shuffles bring together what they have of the row",
      rows->lanes < 32 ? fmt::format("{:.0f} lanes of a warp", rows->lanes) : "a warp",
      rows->lanes < 32 ? fmt::format("{:.0f}th", rows->lanes) : "32nd");
  return p;
}

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
  // What is loaded from where loaded values say is known too late to be in a tile.
  const auto can_be_in_tile = [&](uint64_t pc) {
    return f.op_class(pc) == "load_global" && !f.origin(pc).of_data && !f.polls(pc);
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
  const double steps =
      loads * 32.0 / f.machine().shared.lanes_per_access * f.machine().shared.cycles_per_access;
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
  // Blocks that have begun together wait for their tiles at the same time: only a later round hides that.
  p.after.longest = std::max({p.after.longest, longest, left});
  return p;
}

bool banks_of_data(const Facts& f, uint64_t pc) {
  // Atomics are told apart: what they take is that lanes are on one word.
  return is_shared(f.op_class(pc)) && f.op_class(pc) != "atom_shared" && f.origin(pc).of_data;
}

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
                "add up those lanes of a warp first, by shuffles, that change the same word; if all change "
                "different ones, let them {}",
                kBanks);
  p.counter = "further steps of shared memory for each access";
  p.unit = "steps";
  p.value = f.count("replays", p.pc) / std::max(1.0, f.executed(p.pc));
  p.after = f.estimator().recorded();
  const double steps = replays * f.machine().shared.cycles_per_access;
  const std::string pipe = f.pipe_of(f.op_class(p.pc));
  p.after.scale("shared", 1 - steps / std::max(1.0, f.work("shared")));
  if (f.work(pipe) > steps) p.after.scale(pipe, 1 - steps / f.work(pipe));
  return p;
}

}  // namespace gpusim::analysis::advice
