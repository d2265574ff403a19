#include "isa/lowering/parted_exchanges.h"

#include <algorithm>
#include <map>
#include <utility>

#include "isa/lowering/register_relations.h"

namespace gpusim::isa::lir {
namespace {

/// The first machine whose second way gathers the lanes in place (warpsync.collective); before, it calls a
/// routine that does.
constexpr int kGathersInPlaceFrom = 90;
/// Gathered in place: the test, and the branch back; the masks, the clamp and the first lane or distance; for
/// each exchange warpsync and endcollective around it.
constexpr uint32_t kBranches = 2, kFirstMoves = 4, kAround = 2;
/// Gathered by a routine that exchanges of one kind share: for each a call of it and four moves; warpsync,
/// the return, a move and the exchange in it. Of a single exchange it stands where the call would.
constexpr uint32_t kMovesOfCall = 4, kRoutineControl = 2;

/// What an exchange is for the routine.
using Kind = std::pair<Opcode, uint32_t>;

bool is_exchange(const Op& op) { return op.kind == OpKind::kSync && !op.only_gathers; }

Kind kind_of(const Op& op) { return {static_cast<Opcode>(op.opcode()), static_cast<uint32_t>(op.key)}; }

/// Whether two exchanges take the same lane or distance.
bool same_lanes(const Op& a, const Op& b) {
  return a.num_src > 1 && b.num_src > 1 && a.src[1].is_literal() && b.src[1].is_literal() &&
         a.src[1].bits == b.src[1].bits;
}

/// Of the second way from one exchange to the next: what stands between them is there again, and what the
/// first one brings and the next one takes is moved.
uint32_t between(const std::vector<Op>& ops, uint32_t one, uint32_t next, bool in_place) {
  const auto again = static_cast<uint32_t>(
      std::count_if(ops.begin() + one + 1, ops.begin() + next, [](const Op& op) { return !parts_pair(op); }));
  if (in_place) return again + 2 + (same_lanes(ops[one], ops[next]) ? 0 : 1);
  return again == 0 ? 2 : again;
}

}  // namespace

PartedInstructions parted_instructions(const Program& program, const std::vector<bool>& parted) {
  PartedInstructions all;
  if (program.machine_capability < 70) return all;
  const bool in_place = program.machine_capability >= kGathersInPlaceFrom;
  std::map<Kind, uint32_t> times;
  for (uint32_t b = 0; b < program.blocks.size(); ++b) {
    if (!parted[b]) continue;
    const std::vector<Op>& ops = program.blocks[b].ops;
    uint32_t count = 0, last = 0;
    for (uint32_t i = 0; i < ops.size(); ++i) {
      if (!is_exchange(ops[i])) continue;
      if (count++ != 0) all.integer += between(ops, last, i, in_place);
      last = i;
      ++times[kind_of(ops[i])];
    }
    if (count == 0) continue;
    if (in_place && count == 1) {  // is gathered where it is
      ++all.control;
    } else if (in_place) {
      all.control += kBranches + kAround * count;
      all.integer += kFirstMoves;
      all.exchanges += count;
    } else {
      all.control += kBranches + count;
      all.integer += kMovesOfCall * count;
    }
  }
  for (const auto& [kind, n] : times) {
    if (in_place || n == 1) continue;
    all.control += kRoutineControl;
    ++all.integer;
    ++all.exchanges;
  }
  return all;
}

}  // namespace gpusim::isa::lir
