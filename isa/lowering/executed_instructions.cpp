// What a warp executes of ptxas' code, operation by operation: issue slots of the simulated machine, and the
// instructions that a profiler counts.
#include <algorithm>
#include <set>

#include "isa/lowering/machine_counter.h"

namespace gpusim::isa::lir {
namespace {

/// Of a sequence with a subroutine for exponents out of range: what only leads there and back.
constexpr uint32_t kOnlyForSubroutine = 5;
/// The first machine whose warps meet again by instructions (bssy, bsync), and the first that need not keep
/// (bmov) where they would have met before.
constexpr int kMeetsFrom = 70, kNamesInOneFrom = 80;

}  // namespace

uint32_t MachineCounter::usual_way(const Op& op, uint32_t count) {
  if (subroutines_.empty()) return count;
  const uint32_t subroutine = subroutines_.begin()->second.count;
  subroutines_.clear();
  return op.op_class == OpClass::kIntDiv64 ? count + subroutine : count - std::min(count, kOnlyForSubroutine);
}

std::vector<std::vector<uint32_t>> MachineCounter::executed() {
  only_executed_ = true;
  std::vector<std::vector<uint32_t>> all(program_.blocks.size());
  for (uint32_t b = 0; b < all.size(); ++b) {
    uint32_t owed = 0;
    block_at_ = b;
    forget();
    const bool hoists = hoists_doubles(b);
    for (const Op& op : program_.blocks[b].ops) {
      uint32_t n = 1;
      if (op.kind == OpKind::kAlu) {
        n = arithmetic(op);
        if (!hoists) n += double_literals(op);
        n = usual_way(op, n);
      } else if (op.kind == OpKind::kAtomic) {
        n = atomic(op);
      }
      const uint32_t slots = n == 0 ? 1 : n - std::min(owed, n - 1);
      owed = owed + slots - n;
      all[b].push_back(slots);
    }
    if (yields(b)) all[b].back() += yield_instructions();
  }
  add_shared_addresses(all);
  return all;
}

std::vector<std::vector<uint32_t>> MachineCounter::instructions(uint32_t& once) {
  only_executed_ = true;
  std::vector<std::vector<uint32_t>> all(program_.blocks.size());
  once = preamble();
  for (uint32_t b = 0; b < all.size(); ++b) {
    block_at_ = b;
    const bool hoists = hoists_doubles(b), in_loop = loops_.in_loop(b);
    numbers_stay_ = in_loop;
    forget();
    for (const Op& op : program_.blocks[b].ops) {
      if (op.kind != OpKind::kAlu) {
        all[b].push_back(count(op));
        continue;
      }
      const uint32_t n = usual_way(op, arithmetic(op));
      // Constants of loops are in registers before the loop.
      const uint32_t numbers = literals(op), doubles = double_literals(op);
      const uint32_t before = (in_loop ? numbers : 0) + (hoists ? doubles : 0);
      once += before;
      all[b].push_back(n + numbers + doubles - before);
    }
    if (yields(b)) all[b].back() += yield_instructions();
  }
  add_shared_addresses(all);
  if (program_.machine_capability >= kMeetsFrom) add_meetings(all, once);
  return all;
}

void MachineCounter::add_shared_addresses(std::vector<std::vector<uint32_t>>& all) const {
  const auto blocks = static_cast<uint32_t>(program_.blocks.size());
  std::vector<std::pair<uint32_t, uint32_t>> loops;  // first and last blocks, inner ones first
  for (uint32_t b = 0; b < blocks; ++b) {
    if (program_.blocks[b].ops.empty()) continue;
    const Op& last = program_.blocks[b].ops.back();
    if (last.kind == OpKind::kBranch && last.target <= b) loops.emplace_back(last.target, b);
  }
  for (uint32_t b = 0; b < blocks; ++b) {
    const uint32_t count = shared_addresses(b);
    if (count == 0) continue;
    uint32_t at = b;
    for (const auto& [first, last] : loops)
      if (first != 0 && first <= at && at <= last && dominators_.dominates(at, last)) at = first - 1;
    if (all[at].empty()) at = b;
    if (!all[at].empty()) all[at].back() += count;
  }
}

void MachineCounter::add_meetings(std::vector<std::vector<uint32_t>>& all, uint32_t& once) const {
  const auto blocks = static_cast<uint32_t>(program_.blocks.size());
  const std::vector<uint32_t> join = immediate_post_dominators(blocks, flow_.edges, flow_.exits);
  const uint32_t names = program_.machine_capability < kNamesInOneFrom ? 2 : 1;
  std::set<uint32_t> joins, behind_loops;
  for (uint32_t b = 0; b < blocks; ++b) {
    if (program_.blocks[b].ops.empty() || join[b] == kNoBlock) continue;
    const Op& last = program_.blocks[b].ops.back();
    if (last.kind != OpKind::kBranch || last.guard == kNoVar || !divergence_.variables[last.guard]) continue;
    joins.insert(join[b]);
    if (loops_.enters(join[b], b)) {
      behind_loops.insert(join[b]);
    } else if (last.target > b) {
      all[b].back() += names;
    }
  }
  // Where lanes leave a loop, the place where they meet is named before it.
  once += names * static_cast<uint32_t>(behind_loops.size());
  if (program_.reconverge_operations) return;  // they are operations, see allocate()
  for (const uint32_t b : joins)
    if (!all[b].empty()) ++all[b].front();
}

}  // namespace gpusim::isa::lir
