// Values that both ways of a condition write: lanes where it holds get one, the others another. After the
// first of two such operations nobody wants what any lane had before, so that the value does not live on the
// way to there, round a loop for example. predicate_branches.cpp makes such pairs of an if with an else; the
// else may also stay a block of its own, which the lanes of the if branch over.
#include <algorithm>
#include <unordered_map>
#include <vector>

#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {
namespace {

/// Operations of a block that are looked at for what it writes before it reads it.
constexpr size_t kLookAhead = 64;

class PairFinder {
 public:
  PairFinder(Program& program, uint32_t block)
      : program_(program),
        index_(block),
        block_(program.blocks[block]),
        results_left_(block_.ops.size(), 0) {}

  void run() {
    for (uint32_t i = 0; i < block_.ops.size(); ++i) {
      Op& op = block_.ops[i];
      for_each_use(op, [&](Var v) {
        if (const auto w = open_.find(v); w != open_.end() && !w->second.same_lanes(op)) open_.erase(w);
      });
      for_each_def(op, [&](Var) { ++results_left_[i]; });
      for_each_def(op, [&](Var v) { write(op, i, v); });
      // Behind a new value of the condition, its other way is that of other lanes.
      for_each_def(op, [&](Var v) {
        if (const auto g = of_guard_.find(v); g != of_guard_.end()) {
          for (const Var held : g->second) close(held, v);
          of_guard_.erase(g);
        }
      });
    }
    if (!open_.empty()) leave();
  }

 private:
  /// Operations that wrote a value where the condition has one way.
  struct Writes {
    Var guard = kNoVar;
    bool negated = false;
    std::vector<uint32_t> ops;
    [[nodiscard]] bool same_lanes(const Op& op) const {
      return op.guard == guard && op.guard_negated == negated;
    }
  };

  /// Lanes whose way did not write a value go where the last branch sends them.
  void leave() {
    const Op& branch = block_.ops.back();
    if (branch.kind != OpKind::kBranch || branch.guard == kNoVar) return;
    const std::vector<Var>& waiting = of_guard_[branch.guard];
    for (const bool taken : {false, true}) {
      uint32_t to = taken ? branch.target : index_ + 1;
      while (to < program_.blocks.size() && program_.blocks[to].ops.empty()) ++to;
      if (to >= program_.blocks.size()) continue;
      std::unordered_map<Var, bool> written_first;
      const std::vector<Op>& ops = program_.blocks[to].ops;
      for (size_t i = 0; i < std::min(ops.size(), kLookAhead); ++i) {
        for_each_use(ops[i], [&](Var v) { written_first.emplace(v, false); });
        for_each_def(ops[i], [&](Var v) { written_first.emplace(v, ops[i].overwrites()); });
      }
      for (const Var v : waiting) {
        const auto w = open_.find(v);
        const auto first = written_first.find(v);
        // It may wait for the other way of another condition by now.
        if (w == open_.end() || w->second.guard != branch.guard || w->second.same_lanes(branch) == taken)
          continue;
        if (first != written_first.end() && first->second) written_by_others(w);
      }
    }
  }

  void close(Var v, Var guard) {
    if (const auto w = open_.find(v); w != open_.end() && w->second.guard == guard) open_.erase(w);
  }

  void write(const Op& op, uint32_t i, Var v) {
    const auto w = open_.find(v);
    if (w != open_.end() &&
        (op.guard == kNoVar || (op.guard == w->second.guard && !w->second.same_lanes(op)))) {
      written_by_others(w);
      return;
    }
    if (op.guard == kNoVar) return;
    if (w == open_.end()) {
      open_.emplace(v, Writes{op.guard, op.guard_negated, {i}});
      of_guard_[op.guard].push_back(v);
    } else if (w->second.same_lanes(op)) {
      w->second.ops.push_back(i);
    }
  }

  void written_by_others(std::unordered_map<Var, Writes>::iterator w) {
    for (const uint32_t before : w->second.ops)
      if (--results_left_[before] == 0) block_.ops[before].writes_all = true;
    open_.erase(w);
  }

  Program& program_;
  uint32_t index_;
  Block& block_;
  std::vector<uint32_t> results_left_;  // of each operation, that are not known to be written both ways
  std::unordered_map<Var, Writes> open_;
  std::unordered_map<Var, std::vector<Var>> of_guard_;  // values whose writes wait for the other way
};

}  // namespace

void find_complementary_writes(Program& program) {
  for (uint32_t b = 0; b < program.blocks.size(); ++b) PairFinder(program, b).run();
}

}  // namespace gpusim::isa::lir
