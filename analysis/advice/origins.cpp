#include "analysis/advice/origins.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "analysis/advice/ptx_text.h"
#include "analysis/source/source_lines.h"

namespace gpusim::analysis::advice {
namespace {

constexpr const char* kLocalMemory = "local memory";  ///< stands beside the names of registers

struct Step {
  std::string stem;  ///< "add" of "add.s32"
  std::vector<std::string> results;
  std::vector<std::set<std::string>> operands;  ///< registers of each
};

Step step_of(std::string_view text) {
  if (text.starts_with('@')) text.remove_prefix(std::min(text.size(), text.find(' ') + 1));
  Step s;
  const size_t blank = std::min(text.find(' '), text.size());
  const std::string_view opcode = text.substr(0, blank);
  s.stem = opcode.substr(0, opcode.find('.'));
  // Commas within braces or brackets part no operands.
  size_t depth = 0, from = blank;
  const auto add = [&](std::string_view operand) { s.operands.push_back(registers_of(operand)); };
  for (size_t at = blank; at < text.size(); ++at) {
    if (text[at] == '{' || text[at] == '[') ++depth;
    if ((text[at] == '}' || text[at] == ']') && depth > 0) --depth;
    if (text[at] != ',' || depth > 0) continue;
    add(text.substr(from, at - from));
    from = at + 1;
  }
  add(text.substr(from));
  // What a thread keeps in local memory it finds there again, wherever in it.
  if (opcode.starts_with("st.local")) {
    s.results = {kLocalMemory};
    s.operands.erase(s.operands.begin());
    return s;
  }
  if (opcode.starts_with("ld.local")) s.operands.push_back({kLocalMemory});
  if (s.stem == "st" || s.stem == "red" || s.stem == "bra" || s.stem == "bar") return s;
  s.results.assign(s.operands.front().begin(), s.operands.front().end());
  s.operands.erase(s.operands.begin());
  return s;
}

/// The register whose value decides whether a statement is carried out; empty if it always is.
std::string guard_of(std::string_view text) {
  if (!text.starts_with('@')) return {};
  const std::set<std::string> found = registers_of(text.substr(0, text.find(' ')));
  return found.empty() ? std::string() : *found.begin();
}

/// Registers that follow from what a thread has left in its local memory, also as places of loads.
std::set<std::string> of_local_memory(const std::vector<Step>& steps) {
  std::map<std::string, std::vector<size_t>> uses;
  for (size_t i = 0; i < steps.size(); ++i)
    for (const std::set<std::string>& operand : steps[i].operands)
      for (const std::string& r : operand) uses[r].push_back(i);
  std::set<std::string> found;
  std::vector<std::string> left{kLocalMemory};
  while (!left.empty()) {
    const auto at = uses.find(left.back());
    left.pop_back();
    if (at == uses.end()) continue;
    for (const size_t use : at->second)
      for (const std::string& r : steps[use].results)
        if (r != kLocalMemory && found.insert(r).second) left.push_back(r);
  }
  return found;
}

/// Whether what a thread has in local memory decides if it stores something there, as in a list that is kept
/// in order: the turn before has to have stored its own. `much`: of each statement, whether it counts.
bool decides_on_its_memory(const std::vector<std::string>& statements, const std::vector<Step>& steps,
                           const std::map<std::string, size_t, std::less<>>& labels,
                           const std::vector<bool>& much) {
  std::vector<size_t> stores{0};  // in front of each statement
  for (const Step& s : steps)
    stores.push_back(stores.back() + (s.results == std::vector<std::string>{kLocalMemory}));
  if (stores.back() == 0) return false;
  const std::set<std::string> follow = of_local_memory(steps);
  for (size_t i = 0; i < statements.size(); ++i) {
    if (!much[i] || !follow.contains(guard_of(statements[i]))) continue;
    if (stores[i + 1] > stores[i]) return true;
    if (steps[i].stem != "bra") continue;
    const auto target = labels.find(statements[i].substr(statements[i].rfind(' ') + 1));
    if (target == labels.end()) continue;
    if (stores[std::max(i, target->second)] > stores[std::min(i, target->second)]) return true;
  }
  return false;
}

/// Values so made can be made in parts.
bool adds_up(const Step& s, size_t operand) {
  constexpr std::array<std::string_view, 9> kSums{"add", "sub", "mov", "cvt", "min",
                                                  "max", "and", "or",  "cvta"};
  constexpr size_t kAddend = 2;
  if (s.stem == "st") return true;
  if (s.stem == "ld") return s.operands[operand].contains(kLocalMemory);
  if (s.stem == "fma" || s.stem == "mad") return operand == kAddend;
  return std::ranges::find(kSums, s.stem) != kSums.end();
}

using Definitions = std::map<std::string, std::vector<size_t>>;

/// Statements that give a value of which one follows, from a register on. What a load finds follows from
/// nothing here.
std::set<size_t> sources_of(const std::vector<Step>& steps, const Definitions& definitions,
                            std::string_view r) {
  std::set<size_t> found;
  std::set<std::string_view> seen{r};
  std::vector<std::string_view> left{r};
  while (!left.empty()) {
    const auto at = definitions.find(std::string(left.back()));
    left.pop_back();
    if (at == definitions.end()) continue;
    for (const size_t i : at->second) {
      if (!found.insert(i).second || steps[i].stem == "ld") continue;
      for (const std::set<std::string>& operand : steps[i].operands)
        for (const std::string& source : operand)
          if (seen.insert(source).second) left.push_back(source);
    }
  }
  return found;
}

/// Of stores to global memory, those whose value follows from a register.
std::vector<size_t> stores_of(const std::vector<Step>& steps, const std::vector<std::string>& statements,
                              const std::map<std::string, std::vector<size_t>>& uses, std::string_view r) {
  std::set<std::string_view> seen{r};
  std::vector<size_t> stores;
  std::vector<std::string_view> left{r};
  while (!left.empty()) {
    const auto at = uses.find(std::string(left.back()));
    left.pop_back();
    if (at == uses.end()) continue;
    for (const size_t i : at->second) {
      if (steps[i].stem == "ld") continue;
      if (steps[i].stem == "st" && statements[i].find("st.global") != std::string::npos) stores.push_back(i);
      for (const std::string& result : steps[i].results)
        if (seen.insert(result).second) left.push_back(result);
    }
  }
  return stores;
}

/// First and last statements of loops: what lies between a label and a branch back to it.
std::vector<std::pair<size_t, size_t>> loops_of(const std::vector<std::string>& statements,
                                                const std::map<std::string, size_t, std::less<>>& labels) {
  std::vector<std::pair<size_t, size_t>> loops;
  for (size_t i = 0; i < statements.size(); ++i) {
    if (step_of(statements[i]).stem != "bra") continue;
    const auto target = labels.find(statements[i].substr(statements[i].rfind(' ') + 1));
    if (target != labels.end() && target->second <= i) loops.emplace_back(target->second, i);
  }
  return loops;
}

/// Whether a turn stores what all turns up to it have made together of loaded values, as a running sum or
/// maximum: it needs the turn before, although that is only a sum. `executed`: of each statement.
bool stores_what_runs(const std::vector<Step>& steps, const std::vector<std::string>& statements,
                      const std::map<std::string, size_t, std::less<>>& labels,
                      const Definitions& definitions, const std::vector<uint64_t>& executed,
                      const std::vector<bool>& much) {
  constexpr double kEachTurn = 0.75;
  const std::vector<std::pair<size_t, size_t>> loops = loops_of(statements, labels);
  if (loops.empty()) return false;
  const auto in_one_loop = [&](size_t a, size_t b) {
    return std::ranges::any_of(loops, [&](const std::pair<size_t, size_t>& l) {
      return l.first <= std::min(a, b) && std::max(a, b) <= l.second;
    });
  };
  // Of a store, what it stores, and not where.
  std::map<std::string, std::vector<size_t>> uses;
  for (size_t i = 0; i < steps.size(); ++i)
    for (size_t operand = steps[i].stem == "st" ? 1 : 0; operand < steps[i].operands.size(); ++operand)
      for (const std::string& r : steps[i].operands[operand]) uses[r].push_back(i);
  for (const auto& [r, where] : definitions) {
    if (where.size() < 2) continue;
    const std::set<size_t> sources = sources_of(steps, definitions, r);
    const bool of_loads = std::ranges::any_of(
        sources, [&](size_t i) { return statements[i].find("ld.global") != std::string::npos; });
    // Of its definitions, those in a loop that follow from it.
    const auto uses_itself = [&](size_t i) {
      return std::ranges::any_of(steps[i].operands,
                                 [&](const std::set<std::string>& o) { return o.contains(r); });
    };
    if (!of_loads || std::ranges::none_of(sources, uses_itself)) continue;
    const std::vector<size_t> stores = stores_of(steps, statements, uses, r);
    for (const size_t d : where)
      if (much[d] && steps[d].stem != "ld" && std::ranges::any_of(stores, [&](size_t store) {
            return static_cast<double>(executed[store]) >= kEachTurn * static_cast<double>(executed[d]) &&
                   in_one_loop(d, store);
          }))
        return true;
  }
  return false;
}

}  // namespace

bool turns_follow_each_other(const KernelRecord& kernel, std::string_view ptx) {
  // Only loops that are executed much: steps of a tree at the end of a kernel follow each other in any
  // kernel. One side of a condition in the loop is, and parts of a warp that come together late execute what
  // is behind it more often than that.
  constexpr double kMuch = 0.25;
  const std::vector<std::string> statements = statements_of(ptx, kernel.name);
  std::map<std::string_view, uint64_t> named;
  uint64_t most = 0;
  for (uint64_t pc = 0; kernel.per_pc.has("executed") && pc < kernel.per_pc.rows; ++pc) {
    uint64_t& times = named[text_cell(kernel.per_pc, "ptx", pc)];
    times = std::max(times, kernel.per_pc["executed"][pc]);
    most = std::max(most, times);
  }
  std::vector<Step> steps;
  std::vector<uint64_t> executed(statements.size() + 1, 0);
  for (const std::string& text : statements) steps.push_back(step_of(text));
  // A statement that no operation names is part of the next one that is named.
  for (size_t i = statements.size(); i-- > 0;) {
    const auto at = named.find(statements[i]);
    executed[i] = at == named.end() ? executed[i + 1] : at->second;
  }
  std::vector<bool> much;
  for (size_t i = 0; i < steps.size(); ++i)
    much.push_back(static_cast<double>(executed[i]) >= kMuch * static_cast<double>(most));
  if (decides_on_its_memory(statements, steps, labels_of(ptx, kernel.name), much)) return true;
  Definitions definitions;
  for (size_t i = 0; i < steps.size(); ++i)
    for (const std::string& r : steps[i].results) definitions[r].push_back(i);
  if (stores_what_runs(steps, statements, labels_of(ptx, kernel.name), definitions, executed, much))
    return true;
  for (const auto& [r, where] : definitions) {
    if (where.size() < 2 && r != kLocalMemory) continue;
    // Back from its definitions: whether one of them follows from it, by more than sums.
    std::set<std::pair<size_t, bool>> seen;
    std::set<std::pair<const std::vector<size_t>*, bool>> followed;  // all definitions of a register at once
    std::vector<std::pair<size_t, bool>> left;
    for (const size_t d : where)
      if (much[d]) left.emplace_back(d, true);
    while (!left.empty()) {
      const auto [at, sums] = left.back();
      left.pop_back();
      if (!seen.insert({at, sums}).second) continue;
      for (size_t operand = 0; operand < steps[at].operands.size(); ++operand)
        for (const std::string& of : steps[at].operands[operand]) {
          const bool only_sums = sums && adds_up(steps[at], operand);
          if (of == r && !only_sums) return true;
          if (of == r) continue;
          const auto d = definitions.find(of);
          if (d == definitions.end() || !followed.insert({&d->second, only_sums}).second) continue;
          for (const size_t next : d->second) left.emplace_back(next, only_sums);
        }
    }
  }
  return false;
}

std::vector<AddressOrigin> origins_of(const KernelRecord& kernel, std::string_view ptx) {
  std::vector<std::string> operations;
  for (uint64_t pc = 0; pc < kernel.per_pc.rows; ++pc)
    operations.push_back(text_cell(kernel.per_pc, "ptx", pc));
  // An operation can stand for several statements, of which it names the last: the program has them all.
  std::vector<std::string> statements = statements_of(ptx, kernel.name);
  if (statements.empty()) statements = operations;
  return address_origins(std::move(statements), operations);
}

std::set<std::string> registers_of(std::string_view ptx) {
  std::set<std::string> found;
  for (size_t at = ptx.find('%'); at != std::string_view::npos; at = ptx.find('%', at + 1))
    found.emplace(ptx.substr(at, ptx.find_first_of(" ,;}])+", at) - at));
  return found;
}

std::map<std::string, std::set<std::string>> unnamed_results(const KernelRecord& kernel,
                                                             std::string_view ptx) {
  std::set<std::string_view> named;
  for (uint64_t pc = 0; pc < kernel.per_pc.rows; ++pc) named.insert(text_cell(kernel.per_pc, "ptx", pc));
  std::map<std::string, std::set<std::string>> results;
  for (const std::string& statement : statements_of(ptx, kernel.name)) {
    const size_t behind = statement.find(',');
    if (named.contains(statement) || behind == std::string::npos) continue;
    const std::set<std::string> operands = registers_of(std::string_view(statement).substr(behind));
    for (const std::string& result : registers_of(std::string_view(statement).substr(0, behind)))
      results[result].insert(operands.begin(), operands.end());
  }
  return results;
}

void add_unnamed(const std::map<std::string, std::set<std::string>>& unnamed,
                 std::set<std::string>& registers) {
  std::vector<std::string> left(registers.begin(), registers.end());
  while (!left.empty()) {
    const auto at = unnamed.find(left.back());
    left.pop_back();
    if (at == unnamed.end()) continue;
    for (const std::string& operand : at->second)
      if (registers.insert(operand).second) left.push_back(operand);
  }
}

}  // namespace gpusim::analysis::advice
