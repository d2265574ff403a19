#include "analysis/advice/rules_rows.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>

#include "analysis/advice/traffic.h"
#include "analysis/source/source_lines.h"

namespace gpusim::analysis::advice {
namespace {

constexpr double kLoop = 2;  ///< turns from which on a loop is one

const std::string& text_of(const Facts& f, uint64_t pc) { return text_cell(f.kernel().per_pc, "ptx", pc); }

/// How often a warp executes each operation: all copies of its statement together, for a compiler may have
/// unrolled its loop.
std::vector<double> turns_of(const Facts& f) {
  std::map<std::string_view, double> of_statements;
  for (uint64_t pc = 0; pc < f.operations(); ++pc)
    of_statements[text_of(f, pc)] += f.executed(pc) / f.warps();
  std::vector<double> turns;
  for (uint64_t pc = 0; pc < f.operations(); ++pc) turns.push_back(of_statements[text_of(f, pc)]);
  return turns;
}

/// An access and those beside it of the same array, at other places of a turn or of an unrolled row.
struct Together {
  double bytes = 0;
  uint64_t first = 0, last = 0;
};
Together together(const Facts& f, uint64_t pc) {
  const AddressOrigin& o = f.origin(pc);
  std::map<uint64_t, uint64_t> by_place;
  Together t{0, pc, pc};
  for (uint64_t other = 0; other < f.operations(); ++other) {
    const AddressOrigin& of = f.origin(other);
    if (f.op_class(other) != f.op_class(pc) || f.executed(other) != f.executed(pc) || of.base != o.base ||
        of.turn != o.turn || of.stride != o.stride)
      continue;
    by_place[o.turn == 0 ? of.offset : of.place_in_turn] = of.bytes;
    t.first = std::min(t.first, other);
    t.last = std::max(t.last, other);
  }
  for (const auto& [place, bytes] : by_place) t.bytes += static_cast<double>(bytes);
  return t;
}

/// Lanes of a warp are far apart, at places that the threads choose.
bool is_apart(const Facts& f, uint64_t pc) {
  constexpr double kApart = 2;
  return is_global(f.op_class(pc)) && f.executed(pc) > 0 && !f.origin(pc).of_data && f.origin(pc).bytes > 0 &&
         f.count("transferred_bytes", pc) > kApart * least_of(f, pc).bytes;
}

/// Rows of a length that the compiler knows, without a loop: what stands between their accesses belongs to
/// them. Shorter ones may be records, whose fields differ in what they mean.
void find_unrolled(const Facts& f, Rows& rows) {
  constexpr double kLeast = 32;  ///< elements
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    const AddressOrigin& o = f.origin(pc);
    if (rows.walks[pc] || o.turn != 0 || !is_apart(f, pc) ||
        static_cast<double>(o.stride) < kLeast * static_cast<double>(o.bytes))
      continue;
    const Together row = together(f, pc);
    if (row.bytes < static_cast<double>(o.stride)) continue;
    rows.walks[pc] = true;
    const double elements = static_cast<double>(o.stride) / static_cast<double>(o.bytes);
    for (uint64_t at = row.first; at <= row.last; ++at) rows.turns[at] = std::max(rows.turns[at], elements);
  }
}

}  // namespace

std::optional<Rows> rows_of_threads(const Facts& f) {
  if (f.turns_follow()) return std::nullopt;
  Rows rows;
  rows.turns = turns_of(f);
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    const AddressOrigin& o = f.origin(pc);
    rows.walks.push_back(rows.turns[pc] >= kLoop && o.turn > 1 && is_apart(f, pc) &&
                         together(f, pc).bytes >= static_cast<double>(o.turn));
  }
  find_unrolled(f, rows);
  rows.pc = f.largest([&](uint64_t pc) { return rows.walks[pc] ? f.count("transferred_bytes", pc) : 0.0; });
  if (rows.pc == f.operations()) return std::nullopt;
  const AddressOrigin& o = f.origin(rows.pc);
  rows.bytes =
      o.turn == 0 ? static_cast<double>(o.stride) : rows.turns[rows.pc] * static_cast<double>(o.turn);
  const double elements = rows.bytes / static_cast<double>(o.bytes);
  while (rows.lanes < 32 && 2 * rows.lanes <= elements) rows.lanes *= 2;
  if (rows.lanes < 2) return std::nullopt;
  return rows;
}

double asked_once(const Facts& f, const Rows& rows, std::string_view op_class) {
  // Of each place of a row and each statement that accesses it.
  std::map<std::tuple<std::string, uint64_t, std::string>, double> statements;
  double all = 0;
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    if (f.op_class(pc) != op_class) continue;
    const AddressOrigin& o = f.origin(pc);
    (rows.walks[pc] ? statements[{o.base, o.turn == 0 ? o.offset : o.place_in_turn, text_of(f, pc)}] : all) +=
        f.count("requested_bytes", pc);
  }
  std::map<std::pair<std::string, uint64_t>, double> places;
  for (const auto& [key, asked] : statements) {
    double& most = places[{std::get<0>(key), std::get<1>(key)}];
    most = std::max(most, asked);
  }
  for (const auto& [place, asked] : places) all += asked;
  return all;
}

bool held_by_l2(const Facts& f, const Rows& rows) {
  const double places = f.sms() * f.blocks_per_sm(f.resources()) * f.warps_per_block();
  return std::min(f.warps() * rows.lanes, places) * rows.bytes <= static_cast<double>(f.machine().l2.bytes);
}

Work after_sharing(const Facts& f, const Rows& rows, Work work) {
  // What a thread does once is done by as many more warps; turns of loops are only divided otherwise.
  Operations more;
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    if (rows.turns[pc] < kLoop)
      more[f.op_class(pc)] += f.executed(pc) * (rows.lanes - 1);
    else
      work.chain[pc] *= std::max(1 / rows.lanes, 1 / rows.turns[pc]);
  }
  // Lanes bring together what they have of a row.
  const double steps = std::log2(rows.lanes), warps = f.warps() * rows.lanes;
  more["warp"] += steps * warps;
  more["fp32"] += steps * warps;
  work.chain[rows.pc] += steps * (f.latency("warp") + f.latency("fp32"));
  add_operations(f, more, work);
  work.scale("dispatcher", rows.lanes);
  const double places = f.blocks_per_sm(f.resources()) * f.warps_per_block();
  if (places > 0) work.rounds = std::max(1.0, warps / std::max(1.0, f.sms()) / places);
  if (f.blocks() * rows.lanes >= f.sms()) spread_over_sms(f, work);
  return work;
}

}  // namespace gpusim::analysis::advice
