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
/// The mask and the test, the first moves, and the branch back; for each exchange, warpsync, itself, and
/// endcollective.
constexpr uint32_t kWayInPlace = 6, kExchangeInPlace = 3;
/// The test and the branch back; for each exchange four moves and a call, of a routine that exchanges of one
/// kind share. Of a single one it stands there.
constexpr uint32_t kWay = 2, kExchange = 5, kRoutine = 4;

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

uint32_t parted_instructions(const Program& program, const std::vector<bool>& parted) {
  if (program.machine_capability < 70) return 0;
  const bool in_place = program.machine_capability >= kGathersInPlaceFrom;
  std::map<Kind, uint32_t> times;
  uint32_t all = 0;
  for (uint32_t b = 0; b < program.blocks.size(); ++b) {
    if (!parted[b]) continue;
    const std::vector<Op>& ops = program.blocks[b].ops;
    uint32_t count = 0, last = 0, instructions = 0;
    for (uint32_t i = 0; i < ops.size(); ++i) {
      if (!is_exchange(ops[i])) continue;
      if (count++ != 0) instructions += between(ops, last, i, in_place);
      last = i;
      ++times[kind_of(ops[i])];
    }
    if (count == 0) continue;
    if (in_place && count == 1)  // is gathered where it is
      all += 1;
    else
      all += instructions + (in_place ? kWayInPlace + kExchangeInPlace * count : kWay + kExchange * count);
  }
  for (const auto& [kind, n] : times) all += in_place || n == 1 ? 0 : kRoutine;
  return all;
}

}  // namespace gpusim::isa::lir
