// The rule of values that a loop keeps in global memory.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "analysis/advice/rules.h"
#include "analysis/advice/traffic.h"
#include "analysis/source/ptx_registers.h"
#include "analysis/source/ptx_statement.h"

namespace gpusim::analysis::advice {
namespace {

constexpr double kTurns = 2;

/// How often the operations that make each register are executed.
std::map<std::string, double, std::less<>> made_times(const Facts& f) {
  std::map<std::string, double, std::less<>> times;
  for (uint64_t pc = 0; pc < f.operations(); ++pc)
    for (const std::string_view r : f.statement(pc).results) {
      double& most = times[std::string(r)];
      most = std::max(most, f.executed(pc));
    }
  return times;
}

/// Places that a thread stores to again and again, by what stands in the brackets: of each, how often for
/// once that the address is made.
std::map<std::string, double, std::less<>> places_kept(const Facts& f) {
  const auto made = made_times(f);
  std::map<std::string, double, std::less<>> kept;
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    if (f.op_class(pc) != "store_global" || f.executed(pc) < kTurns * f.warps() || f.polls(pc)) continue;
    const PtxStatement s = f.statement(pc);
    const std::vector<std::string_view> registers = registers_in(s.address);
    if (registers.size() != 1 || s.opcode.find(".volatile") != s.opcode.npos) continue;
    const auto at = made.find(registers.front());
    // Without an operation that makes it: it is made with another one, and does not change if no loop does
    // it.
    const double times = at == made.end() ? (f.origin(pc).of_loop ? f.executed(pc) : f.warps()) : at->second;
    if (times > 0 && f.executed(pc) >= kTurns * times) kept[std::string(s.address)] += f.executed(pc) / times;
  }
  return kept;
}

/// Loads each behind a store that goes wait together then: of what those of one turn wait for one after the
/// other, the longest is left.
void set_waits_together(const Facts& f, const std::vector<bool>& gone, Work& work) {
  std::vector<double> waits{0};
  std::vector<uint64_t> loads;
  std::vector<size_t> behind;
  const auto end = [&] {
    const auto longest = static_cast<size_t>(std::ranges::max_element(waits) - waits.begin());
    for (size_t i = 0; i < loads.size(); ++i)
      if (behind[i] != longest)
        work.chain[loads[i]] =
            std::min(work.chain[loads[i]], f.executed(loads[i]) / f.warps() * f.issue_cycles());
    waits.assign(1, 0), loads.clear(), behind.clear();
  };
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    const std::string_view c = f.op_class(pc);
    if (c == "branch" || c == "barrier" || (pc > 0 && f.executed(pc) != f.executed(pc - 1))) end();
    if (c == "store_global" && gone[pc]) waits.push_back(0);
    if (c != "load_global" || gone[pc]) continue;
    waits.back() += work.chain[pc];
    loads.push_back(pc);
    behind.push_back(waits.size() - 1);
  }
  end();
}

}  // namespace

std::optional<Proposal> kept_values(const Facts& f) {
  // What threads tell each other in a loop has to be in memory.
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    const std::string_view c = f.op_class(pc);
    if ((c == "barrier" || c.starts_with("fence") || c == "atom_global") &&
        f.executed(pc) >= kTurns * f.warps())
      return std::nullopt;
  }
  const auto kept = places_kept(f);
  if (kept.empty()) return std::nullopt;
  std::vector<bool> gone(f.operations(), false);
  std::vector<double> turns(f.operations(), 1);
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    if (!is_global(f.op_class(pc)) || f.executed(pc) < kTurns * f.warps()) continue;
    const auto at = kept.find(f.statement(pc).address);
    if (at == kept.end()) continue;
    gone[pc] = true;
    turns[pc] = at->second;
  }
  const auto goes = [&](uint64_t pc) { return gone[pc]; };
  const auto stored = [&](uint64_t pc) {
    return gone[pc] && f.op_class(pc) == "store_global" ? f.count("transactions", pc) : 0.0;
  };
  Proposal p;
  p.pc = f.largest(stored);
  if (p.pc == f.operations()) return std::nullopt;
  p.what =
      "keep in a register what the turns of the loop add to one place of global memory, and store it once "
      "behind the loop: the compiler may not, if the arrays could overlap (`__restrict__` says that they "
      "do not), and each turn waits for the one before";
  p.counter = "stores of a thread to one place";
  p.unit = "stores";
  p.value = turns[p.pc];
  p.after = f.estimator().recorded();
  leave_out(f, goes, p.after);
  std::map<std::string, double> less;  // cycles of all instances of a unit
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    if (!gone[pc]) continue;
    p.after.chain[pc] /= turns[pc];
    less["issue"] += f.executed(pc) * f.issue_cycles();
    if (const std::string pipe = f.pipe_of(f.op_class(pc)); !pipe.empty())
      less[pipe] += f.executed(pc) * f.pipe_cycles(f.op_class(pc));
  }
  for (const auto& [unit, cycles] : less)
    if (const UnitLoad* u = f.kernel().unit(unit); u != nullptr && u->busy > 0)
      p.after.scale(unit, 1 - cycles / static_cast<double>(u->busy));
  set_waits_together(f, gone, p.after);
  return p;
}

}  // namespace gpusim::analysis::advice
