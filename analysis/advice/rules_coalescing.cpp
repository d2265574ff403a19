// The rule of coalescing.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/advice/rules.h"
#include "analysis/advice/rules_rows.h"
#include "analysis/advice/traffic.h"
#include "analysis/source/source_lines.h"

namespace gpusim::analysis::advice {
namespace {

/// Sectors that a warp's access takes beyond those that its bytes fill.
double needless_sectors(const Facts& f, uint64_t pc) {
  return (f.count("transferred_bytes", pc) - least_of(f, pc).bytes) / kSector / std::max(1.0, f.executed(pc));
}

/// More sectors than its bytes fill.
bool is_scattered(const Facts& f, uint64_t pc) {
  return f.count("transferred_bytes", pc) > (1 + kWorthwhile) * least_of(f, pc).bytes;
}

/// Of each operation, whether a warp accesses a piece of an array, or one in each of a few rows, that begins
/// within a sector, and others of the same array begin at other places of one, as those of a stencil do: no
/// order of the lanes and no other array is better for all.
std::vector<bool> shifted_accesses(const Facts& f) {
  constexpr double kOne = 1.05, kAlike = 0.05, kFilled = 1.5;  // sectors: some lanes may be idle
  struct Accesses {
    double pieces = std::numeric_limits<double>::infinity();  ///< the fewest that one takes
    double least = pieces, most = -pieces;                    ///< sectors without need
  };
  std::map<std::string_view, Accesses> of_array;
  const auto counts = [&f](uint64_t pc) {
    return is_global(f.op_class(pc)) && f.executed(pc) > 0 && !f.origin(pc).base.empty();
  };
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    if (!counts(pc)) continue;
    Accesses& a = of_array[f.origin(pc).base];
    a.pieces = std::min(a.pieces, f.count("transactions", pc) / f.executed(pc));
    a.least = std::min(a.least, needless_sectors(f, pc));
    a.most = std::max(a.most, needless_sectors(f, pc));
  }
  std::vector<bool> shifted(f.operations(), false);
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    if (!counts(pc)) continue;
    const Accesses& a = of_array.at(f.origin(pc).base);
    const double needless = needless_sectors(f, pc), pieces = std::max(1.0, a.pieces);
    shifted[pc] = (a.most - needless > kAlike || needless - a.least > kAlike) && needless <= kOne * pieces &&
                  f.count("requested_bytes", pc) >= kFilled * kSector * pieces * f.executed(pc);
  }
  return shifted;
}

/// Loads at several places beside one address, as those of one turn of a loop are: they come together.
struct Together {
  double executed = 0;
  std::set<std::string_view> places;  ///< "+4" of "[%rd1+4]"
};
/// "%rd1+4" of "ld.global.f32 %f1, [%rd1+4]", in two parts.
std::pair<std::string_view, std::string_view> address_in(std::string_view ptx) {
  ptx.remove_prefix(std::min(ptx.size(), ptx.find('[') + 1));
  ptx = ptx.substr(0, ptx.find(']'));
  const size_t plus = std::min(ptx.size(), ptx.find('+'));
  return {ptx.substr(0, plus), ptx.substr(plus)};
}
std::map<std::string_view, Together> loads_together(const Facts& f) {
  std::map<std::string_view, Together> by_register;
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    if (f.op_class(pc) != "load_global" || f.executed(pc) <= 0) continue;
    const auto [address, place] = address_in(text_cell(f.kernel().per_pc, "ptx", pc));
    by_register[address].executed += f.executed(pc);
    by_register[address].places.insert(place);
  }
  return by_register;
}

/// Waits of a warp at a load of neighbouring words, where no block's number says the place: all blocks walk
/// along the same lines, side by side, and wait for each of them with the one that comes first, whatever
/// share of the accesses finds its data in the L1. `fetched`: bytes that come to all SMs.
double waits_of_first(const Facts& f, const Together& loads, uint64_t pc, double fetched) {
  const AddressOrigin& o = f.origin(pc);
  if (o.of_block || o.turn == 0 || !is_scattered(f, pc)) return 0;
  const double apart =
      o.of_rows ? f.warps_per_block() : std::min(f.warps_per_block(), std::ceil(f.block_width() / 32));
  const double lines = fetched / kLine / std::max(1.0, f.sms()) / f.estimator().recorded().rounds;
  const double all = std::min(loads.executed / f.warps(), lines / std::max(1.0, apart));
  return all / static_cast<double>(loads.places.size()) * f.executed(pc) / loads.executed;
}

void set_waits_of_first(const Facts& f, const std::function<bool(uint64_t)>& ordered, double fetched,
                        double fetched_before, Work& work) {
  const std::map<std::string_view, Together> together = loads_together(f);
  // SMs that go along the same lines side by side all wait for DRAM, which reads each line once.
  const double wait = f.memory_wait(2 * f.counter("dram_read_bytes") * f.sms() >= fetched_before);
  std::map<uint64_t, std::pair<double, double>> now_and_then;  // of loads that are on their way together
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    if (f.op_class(pc) != "load_global" || f.executed(pc) <= 0) continue;
    auto& [now, then] = now_and_then[f.leader_of(pc)];
    now += work.chain[pc];
    const Together& loads = together.at(address_in(text_cell(f.kernel().per_pc, "ptx", pc)).first);
    if (ordered(pc)) then += waits_of_first(f, loads, pc, fetched) * wait;
  }
  for (const auto& [leader, waits] : now_and_then)
    work.chain[leader] += std::max(0.0, waits.second - waits.first);
}

/// Loads and stores of one array each, of which only one is scattered, as in a transposition: a tile in
/// shared memory is between them then, so that no load waits for the store before it, which could be to the
/// same place. Of the waits one after the other, the longest is left. `first`, `last`: operations without a
/// branch or barrier between.
void set_waits_of_tile(const Facts& f, const std::function<bool(uint64_t)>& ordered, uint64_t first,
                       uint64_t last, Work& work) {
  std::vector<double> waits{0};  // of the loads in front of each store
  std::vector<size_t> place(last - first);
  bool loads_are = false, loads_are_not = false, stores_are = false, stores_are_not = false;
  for (uint64_t pc = first; pc < last; ++pc) {
    if (!is_global(f.op_class(pc)) || f.executed(pc) <= 0) continue;
    const bool load = is_load(f.op_class(pc)), scattered = is_scattered(f, pc);
    if (f.executed(pc) != f.executed(first) || (scattered && !ordered(pc)) || f.origin(pc).of_data) return;
    (load ? (scattered ? loads_are : loads_are_not) : (scattered ? stores_are : stores_are_not)) = true;
    if (!load && waits.back() > 0) waits.push_back(0);
    place[pc - first] = waits.size() - 1;
    if (load) waits.back() += work.chain[pc];
  }
  if (!(loads_are ? !loads_are_not && stores_are_not && !stores_are
                  : loads_are_not && stores_are && !stores_are_not))
    return;
  const auto longest = static_cast<size_t>(std::ranges::max_element(waits) - waits.begin());
  for (uint64_t pc = first; pc < last; ++pc)
    if (f.op_class(pc) == "load_global" && f.executed(pc) > 0 && place[pc - first] != longest)
      work.chain[pc] = std::min(work.chain[pc], f.executed(pc) / f.warps() * f.issue_cycles());
}

void set_waits_of_tiles(const Facts& f, const std::function<bool(uint64_t)>& ordered, Work& work) {
  uint64_t first = 0;
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    const bool parts = f.op_class(pc) == "branch" || f.op_class(pc) == "barrier";
    if (!parts && f.executed(pc) == f.executed(first)) continue;
    set_waits_of_tile(f, ordered, first, pc, work);
    first = parts ? pc + 1 : pc;
  }
  if (first < f.operations()) set_waits_of_tile(f, ordered, first, f.operations(), work);
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
  set_waits_of_first(f, ordered, of_neighbours.load_bytes, fetched, work);
}

}  // namespace

std::optional<Proposal> coalescing(const Facts& f) {
  const Traffic before = recorded_traffic(f);
  const std::vector<bool> shifted = shifted_accesses(f);
  const auto can_be_ordered = [&](uint64_t pc) {
    return is_global(f.op_class(pc)) && !has_no_order(f, pc) && !f.polls(pc) && !shifted[pc];
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
  set_waits_of_tiles(f, can_be_ordered, p.after);
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

}  // namespace gpusim::analysis::advice
