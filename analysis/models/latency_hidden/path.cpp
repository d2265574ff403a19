#include "analysis/models/latency_hidden/path.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace gpusim::analysis::latency_hidden {
namespace {

using isa::MicroOp;
using isa::OpKind;

class Walk {
 public:
  Walk(const Code& code, PathVisitor& visitor) : code_(code), visitor_(visitor), loops_(find_loops(code)) {}

  void run() { range(0, static_cast<uint32_t>(code_.image.ops.size()), 1, 0); }

 private:
  /// Operations [first, end), of which `share` of all executions of a warp fall to one visit.
  void range(uint32_t first, uint32_t end, double share, size_t next_loop) {
    for (uint32_t pc = first; pc < end;) {
      while (next_loop < loops_.size() && loops_[next_loop].first < pc) ++next_loop;
      if (next_loop < loops_.size() && loops_[next_loop].first == pc && loops_[next_loop].last < end) {
        const Loop& l = loops_[next_loop];
        loop(l, share, next_loop + 1);
        pc = l.last + 1;
        continue;
      }
      const double probability = code_.counts[pc].executed * share;
      if (probability > kNever) visitor_.operation(pc, std::min(probability, 1.0));
      ++pc;
    }
  }

  void loop(const Loop& l, double share, size_t inner) {
    const double rounds = l.rounds * share;
    if (rounds <= kNever) return;
    std::vector<double> stand_for;
    double left = rounds;
    while (left > kNever) {
      stand_for.push_back(stand_for.size() == 2 && left > 2 ? left - 1 : std::min(left, 1.0));
      left -= stand_for.back();
    }
    for (size_t i = 0; i < stand_for.size(); ++i) {
      if (i == 0)
        visitor_.enter_loop(std::max(stand_for[i], 1.0), l.bounded, stand_for.size() == 1);
      else
        visitor_.next_round(std::max(stand_for[i], 1.0));
      range(l.first, l.last + 1, std::min(stand_for[i], 1.0) / l.rounds, inner);
    }
    visitor_.leave_loop();
  }

  static constexpr double kNever = 1e-6;
  const Code& code_;
  PathVisitor& visitor_;
  std::vector<Loop> loops_;
};

bool writes(const MicroOp& op, uint16_t id) {
  const auto end = op.sb_writes.begin() + op.num_sb_writes;
  return std::find(op.sb_writes.begin(), end, id) != end;
}

/// The register that the operation combines with a number; the only one.
std::optional<uint16_t> with_number(const MicroOp& op) {
  if (op.num_sb_reads != 1 || op.num_src != 2 || op.guard != isa::kNoPredicate) return std::nullopt;
  const bool number = (op.src[0].bank == isa::Bank::kRegister) != (op.src[1].bank == isa::Bank::kRegister);
  return number ? std::optional(op.sb_reads[0]) : std::nullopt;
}

/// What unrolling leaves over: the loop's branch tests a counter that only a sum with a number changes in it,
/// and that has the lower bits of something when it begins.
bool counts_remainder(const Code& code, const Loop& l) {
  const auto& ops = code.image.ops;
  const auto text_of = [&](const MicroOp& op) { return mnemonic_of(code.image.ptx[op.ptx_index].text); };
  const MicroOp& branch = ops[l.last];
  if (branch.guard == isa::kNoPredicate) return false;
  const auto test = static_cast<uint16_t>(code.image.num_rows + branch.guard);
  std::optional<uint16_t> counter;
  for (uint32_t pc = l.first; pc < l.last; ++pc)
    if (writes(ops[pc], test)) counter = text_of(ops[pc]) == "setp" ? with_number(ops[pc]) : std::nullopt;
  if (!counter) return false;
  for (uint32_t pc = l.first; pc < l.last; ++pc)
    if (writes(ops[pc], *counter) && (text_of(ops[pc]) != "add" || with_number(ops[pc]) != counter))
      return false;
  for (uint32_t pc = l.first; pc-- > 0;)
    if (writes(ops[pc], *counter)) return text_of(ops[pc]) == "and" && with_number(ops[pc]).has_value();
  return false;
}

}  // namespace

std::vector<Loop> find_loops(const Code& code) {
  std::vector<Loop> loops;
  for (uint32_t pc = 0; pc < code.image.ops.size(); ++pc) {
    const MicroOp& op = code.image.ops[pc];
    if (op.kind != OpKind::kBranch || op.target == isa::kNoTarget || op.target > pc) continue;
    const auto same = std::ranges::find(loops, op.target, &Loop::first);
    if (same != loops.end())
      same->last = pc;
    else
      loops.push_back({op.target, pc, 0});
  }
  // A loop that begins within another and ends behind it belongs to it whole.
  for (bool changed = true; changed;) {
    changed = false;
    for (Loop& a : loops)
      for (const Loop& b : loops)
        if (a.first < b.first && b.first <= a.last && a.last < b.last) {
          a.last = b.last;
          changed = true;
        }
  }
  std::ranges::sort(loops, {}, &Loop::first);
  for (Loop& l : loops) {
    l.rounds = std::max(code.counts[l.first].executed, code.counts[l.last].executed);
    l.bounded = counts_remainder(code, l);
  }
  return loops;
}

void walk_path(const Code& code, PathVisitor& visitor) { Walk(code, visitor).run(); }

}  // namespace gpusim::analysis::latency_hidden
