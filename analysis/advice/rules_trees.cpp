// The rule of trees in shared memory, each step of which a barrier ends.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>

#include "analysis/advice/rules.h"
#include "analysis/advice/traffic.h"
#include "analysis/source/ptx_statement.h"

namespace gpusim::analysis::advice {
namespace {

/// Steps with which a warp brings together what its lanes have.
constexpr double kShuffles = 5;

struct Tree {
  std::vector<bool> has;      ///< of each operation, whether it is one of the tree's
  double barriers = 0;        ///< that a warp passes in it
  double other_barriers = 0;  ///< and beside it
  uint64_t pc = 0;            ///< the barrier that is passed most
};

bool combines(const PtxStatement& s) {
  constexpr std::array<std::string_view, 6> kStems{"add", "min", "max", "and", "or", "xor"};
  return one_of(s.stem, kStems);
}

/// Which operation has made a register since the last barrier.
using Made = std::map<std::string, uint64_t, std::less<>>;

/// Operations that make what `store` stores of two words of shared memory, one of which is where it stores:
/// "part[t] += part[t + n]". Empty if it is none.
std::vector<uint64_t> step_of_tree(const Facts& f, const Made& made, uint64_t store) {
  const PtxStatement stores = f.statement(store);
  if (stores.arguments.empty()) return {};
  const auto sum = made.find(stores.arguments.back());
  if (sum == made.end()) return {};
  const PtxStatement sums = f.statement(sum->second);
  if (!combines(sums) || sums.arguments.size() != 2) return {};
  std::vector<uint64_t> step{sum->second, store};
  bool own = false;
  for (const std::string_view operand : sums.arguments) {
    const auto load = made.find(operand);
    if (load == made.end() || f.op_class(load->second) != "load_shared") return {};
    own = own || f.statement(load->second).address == stores.address;
    step.push_back(load->second);
  }
  return own ? step : std::vector<uint64_t>{};
}

Tree find_tree(const Facts& f) {
  Tree t;
  t.has.assign(f.operations(), false);
  Made made;
  bool step = false;
  double most = 0;
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    if (f.op_class(pc) == "barrier") {
      const double passed = f.executed(pc) / f.warps();
      (step ? t.barriers : t.other_barriers) += passed;
      t.has[pc] = step;
      if (step && passed > most) most = passed, t.pc = pc;
      step = false;
      made.clear();
      continue;
    }
    if (f.op_class(pc) == "store_shared")
      for (const uint64_t of : step_of_tree(f, made, pc)) t.has[of] = step = true;
    for (const std::string_view r : f.statement(pc).results) made.insert_or_assign(std::string(r), pc);
  }
  return t;
}

}  // namespace

std::optional<Proposal> trees(const Facts& f) {
  // Fewer steps are no more than what is left with shuffles.
  constexpr double kSteps = 4;
  const double warps = f.warps_per_block();
  if (f.machine().gpu.compute_capability < kShufflesFrom || warps < 2) return std::nullopt;
  const Tree tree = find_tree(f);
  // A scan goes down its tree again, step by step.
  if (tree.barriers < kSteps || tree.other_barriers >= tree.barriers) return std::nullopt;
  const auto of_tree = [&](uint64_t pc) { return tree.has[pc]; };
  // Lanes that meet in banks have a rule of their own, which comes first: the tree stays then.
  const auto accesses = [&](uint64_t pc) { return tree.has[pc] && is_shared(f.op_class(pc)); };
  if (f.sum("replays", accesses) > kWorthwhile * f.sum("executed", accesses)) return std::nullopt;
  Proposal p;
  p.pc = tree.pc;
  p.what = fmt::format(
      "let each warp bring its 32 values together by shuffles, which need no barrier, and one warp what "
      "the {:.0f} warps have: a barrier instead of {:.0f}",
      warps, tree.barriers);
  p.counter = "barriers that a warp passes in a tree in shared memory";
  p.unit = "barriers";
  p.value = tree.barriers;
  p.after = f.estimator().recorded();
  // Trees, if there are several one after the other.
  const double trees = std::max(1.0, std::round(tree.barriers / std::log2(32 * warps)));
  std::map<std::string, double> more;  // cycles of all instances of a unit
  const auto add = [&](std::string_view op_class, double executed) {
    more["issue"] += executed * f.issue_cycles();
    if (const std::string pipe = f.pipe_of(op_class); !pipe.empty())
      more[pipe] += executed * f.pipe_cycles(op_class);
    if (is_shared(op_class))
      more["shared"] +=
          executed * 32.0 / f.machine().shared.lanes_per_access * f.machine().shared.cycles_per_access;
  };
  std::string sums = "fp32";
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    if (!of_tree(pc)) continue;
    add(f.op_class(pc), -f.executed(pc));
    p.after.chain[pc] = 0;
    if (!is_shared(f.op_class(pc)) && f.op_class(pc) != "barrier") sums = f.op_class(pc);
  }
  const double all = f.warps() * trees, blocks = all / warps;
  for (const std::string_view op_class : {std::string_view("warp"), std::string_view(sums)})
    add(op_class, kShuffles * (all + blocks));
  add("store_shared", all);
  add("load_shared", blocks);
  add("barrier", all);
  p.after.chain[tree.pc] =
      trees * (2 * kShuffles * (f.latency("warp") + f.latency(sums)) + f.latency("store_shared") +
               f.latency("load_shared") + f.latency("barrier"));
  for (const auto& [unit, cycles] : more)
    if (const UnitLoad* u = f.kernel().unit(unit); u != nullptr && u->busy > 0)
      p.after.scale(unit, 1 + cycles / static_cast<double>(u->busy));
  return p;
}

}  // namespace gpusim::analysis::advice
