#include "analysis/advice/turns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/advice/origins.h"
#include "analysis/advice/ptx_text.h"
#include "analysis/source/graph_parts.h"
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

/// The label that a branch goes to.
std::string_view target_of(std::string_view text) { return text.substr(text.rfind(' ') + 1); }

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

/// A kernel's statements, what follows from what in them, and how often they were executed.
class Program {
 public:
  Program(const KernelRecord& kernel, std::string_view ptx, const std::function<bool(uint64_t)>& of)
      : statements_(statements_of(ptx, kernel.name)), labels_(labels_of(ptx, kernel.name)) {
    for (const std::string& text : statements_) steps_.push_back(step_of(text));
    name_values();
    count_executions(kernel, of);
    for (size_t i = 0; i < steps_.size(); ++i) {
      for (const std::string& r : steps_[i].results) {
        number_of(r);
        definitions_[r].push_back(i);
      }
      for (const std::set<std::string>& operand : steps_[i].operands)
        for (const std::string& r : operand) number_of(r);
    }
  }

  [[nodiscard]] bool decides_on_its_memory() const;
  [[nodiscard]] bool stores_what_runs();
  [[nodiscard]] bool follows_by_more_than_sums();
  [[nodiscard]] uint64_t edges() const { return edges_; }

 private:
  void name_values();
  void count_executions(const KernelRecord& kernel, const std::function<bool(uint64_t)>& of);
  uint32_t number_of(const std::string& r) {
    return numbers_.try_emplace(r, static_cast<uint32_t>(numbers_.size())).first->second;
  }
  [[nodiscard]] uint32_t node_of(size_t statement) const {
    return static_cast<uint32_t>(numbers_.size() + statement);
  }
  [[nodiscard]] Graph flow(bool through_loads) const;
  [[nodiscard]] Parts parts(const Graph& graph) {
    Parts found = parts_of(graph);
    edges_ += found.edges;
    return found;
  }
  [[nodiscard]] std::vector<bool> follows_from_loads(const Graph& graph, const Parts& of) const;
  /// Of each statement, the loops around it: those that share statements have one number, as a loop and those
  /// within it have. -1: none.
  [[nodiscard]] std::vector<int64_t> loops() const;

  std::vector<std::string> statements_;
  std::map<std::string, size_t, std::less<>> labels_;
  std::vector<Step> steps_;
  std::vector<uint64_t> executed_;           ///< of each statement
  std::vector<bool> much_;                   ///< whether that counts
  std::map<std::string, uint32_t> numbers_;  ///< of registers
  std::map<std::string, std::vector<size_t>> definitions_;
  uint64_t edges_ = 0;
};

/// Up to the next label, what uses a register that has several definitions has the value of the last one in
/// front of it: that value gets a name of its own.
void Program::name_values() {
  std::map<std::string, size_t> times;
  for (const Step& s : steps_)
    for (const std::string& r : s.results) ++times[r];
  std::set<size_t> labelled;
  for (const auto& [label, statement] : labels_) labelled.insert(statement);
  std::map<std::string, std::string> values;
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (labelled.contains(i)) values.clear();
    for (std::set<std::string>& operand : steps_[i].operands) {
      std::set<std::string> named;
      for (const std::string& r : operand) {
        const auto value = values.find(r);
        named.insert(value == values.end() ? r : value->second);
      }
      operand = std::move(named);
    }
    // Under a condition the value in front of it may stay.
    const bool always = guard_of(statements_[i]).empty();
    std::vector<std::string> results;
    for (const std::string& r : steps_[i].results) {
      if (times.at(r) < 2 || r == kLocalMemory) continue;
      if (always)
        results.push_back(values[r] = fmt::format("{} of {}", r, i));
      else
        values.erase(r);
    }
    steps_[i].results.insert(steps_[i].results.end(), results.begin(), results.end());
  }
}

void Program::count_executions(const KernelRecord& kernel, const std::function<bool(uint64_t)>& of) {
  // Only loops that are executed much: steps of a tree at the end of a kernel follow each other in any
  // kernel. One side of a condition in the loop is, and parts of a warp that come together late execute what
  // is behind it more often than that.
  constexpr double kMuch = 0.25;
  std::map<std::string_view, uint64_t> named;
  std::set<std::string_view> chosen;
  uint64_t most = 0;
  for (uint64_t pc = 0; kernel.per_pc.has("executed") && pc < kernel.per_pc.rows; ++pc) {
    uint64_t& times = named[text_cell(kernel.per_pc, "ptx", pc)];
    times = std::max(times, kernel.per_pc["executed"][pc]);
    most = std::max(most, times);
    if (of && of(pc)) chosen.insert(text_cell(kernel.per_pc, "ptx", pc));
  }
  executed_.assign(statements_.size() + 1, 0);
  // A statement that no operation names is part of the next one that is named.
  for (size_t i = statements_.size(); i-- > 0;) {
    const auto at = named.find(statements_[i]);
    executed_[i] = at == named.end() ? executed_[i + 1] : at->second;
  }
  for (size_t i = 0; i < steps_.size(); ++i)
    much_.push_back(of ? chosen.contains(statements_[i])
                       : static_cast<double>(executed_[i]) >= kMuch * static_cast<double>(most));
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
/// in order: the turn before has to have stored its own.
bool Program::decides_on_its_memory() const {
  std::vector<size_t> stores{0};  // in front of each statement
  for (const Step& s : steps_)
    stores.push_back(stores.back() + (s.results == std::vector<std::string>{kLocalMemory}));
  if (stores.back() == 0) return false;
  const std::set<std::string> follow = of_local_memory(steps_);
  for (size_t i = 0; i < statements_.size(); ++i) {
    if (!much_[i] || !follow.contains(guard_of(statements_[i]))) continue;
    if (stores[i + 1] > stores[i]) return true;
    if (steps_[i].stem != "bra") continue;
    const auto target = labels_.find(target_of(statements_[i]));
    if (target == labels_.end()) continue;
    if (stores[std::max(i, target->second)] > stores[std::min(i, target->second)]) return true;
  }
  return false;
}

/// Registers and statements (node_of): a statement follows from its operands, and results from it. What a
/// load finds follows from its address only if this looks through loads.
Graph Program::flow(bool through_loads) const {
  Graph graph(numbers_.size() + steps_.size());
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (through_loads || steps_[i].stem != "ld")
      for (const std::set<std::string>& operand : steps_[i].operands)
        for (const std::string& r : operand) graph[numbers_.at(r)].push_back(node_of(i));
    for (const std::string& r : steps_[i].results) graph[node_of(i)].push_back(numbers_.at(r));
  }
  return graph;
}

std::vector<bool> Program::follows_from_loads(const Graph& graph, const Parts& of) const {
  std::vector<std::vector<uint32_t>> members(of.size.size());
  for (uint32_t node = 0; node < graph.size(); ++node) members[of.of[node]].push_back(node);
  std::vector<bool> found(of.size.size(), false);
  for (size_t i = 0; i < statements_.size(); ++i)
    if (statements_[i].find("ld.global") != std::string::npos) found[of.of[node_of(i)]] = true;
  for (size_t part = members.size(); part-- > 0;)
    for (const uint32_t node : members[part])
      for (const uint32_t to : graph[node])
        if (found[part]) found[of.of[to]] = true;
  return found;
}

std::vector<int64_t> Program::loops() const {
  std::vector<std::pair<size_t, size_t>> loops;  // from a label to a branch back to it
  for (size_t i = 0; i < statements_.size(); ++i) {
    if (steps_[i].stem != "bra") continue;
    const auto target = labels_.find(target_of(statements_[i]));
    if (target != labels_.end() && target->second <= i) loops.emplace_back(target->second, i);
  }
  std::ranges::sort(loops);
  std::vector<int64_t> of(statements_.size(), -1);
  int64_t number = -1;
  size_t end = 0;  // behind the loops that have this number
  for (const auto& [first, last] : loops) {
    if (number < 0 || first >= end) {
      ++number;
      end = first;
    }
    for (; end <= last; ++end) of[end] = number;
  }
  return of;
}

/// Whether a turn stores what all turns up to it have made together of loaded values, as a running sum or
/// maximum: it needs the turn before, although that is only a sum.
bool Program::stores_what_runs() {
  constexpr double kEachTurn = 0.75;
  const std::vector<int64_t> loop = loops();
  if (std::ranges::all_of(loop, [](int64_t l) { return l < 0; })) return false;
  const Graph all = flow(false);
  const Parts of_all = parts(all);
  const std::vector<bool> of_loads = follows_from_loads(all, of_all);
  // The same within each loop: a register has a node for each loop with statements that use or define it.
  std::map<std::pair<uint32_t, int64_t>, uint32_t> nodes;
  Graph within(steps_.size());
  const auto node = [&](const std::string& r, int64_t of) {
    const auto [at, added] = nodes.try_emplace({numbers_.at(r), of}, static_cast<uint32_t>(within.size()));
    if (added) within.emplace_back();
    return at->second;
  };
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (loop[i] < 0) continue;
    // Of a store, what it stores, and not where.
    const bool store = steps_[i].stem == "st";
    for (size_t operand = store ? 1 : 0; steps_[i].stem != "ld" && operand < steps_[i].operands.size();
         ++operand)
      for (const std::string& r : steps_[i].operands[operand])
        within[node(r, loop[i])].push_back(static_cast<uint32_t>(i));
    for (const std::string& r : steps_[i].results) {
      const uint32_t to = node(r, loop[i]);
      within[i].push_back(to);
    }
  }
  const Parts of_loop = parts(within);
  std::vector<std::vector<uint32_t>> members(of_loop.size.size());
  for (uint32_t n = 0; n < within.size(); ++n) members[of_loop.of[n]].push_back(n);
  // Of each part, how often the most executed store that follows from it is; -1: none does.
  std::vector<double> stored(members.size(), -1);
  for (size_t part = 0; part < members.size(); ++part)
    for (const uint32_t n : members[part]) {
      if (n < steps_.size() && steps_[n].stem == "st" &&
          statements_[n].find("st.global") != std::string::npos)
        stored[part] = std::max(stored[part], static_cast<double>(executed_[n]));
      for (const uint32_t to : within[n]) stored[part] = std::max(stored[part], stored[of_loop.of[to]]);
    }
  for (const auto& [r, where] : definitions_) {
    const uint32_t part = of_all.of[numbers_.at(r)];
    if (where.size() < 2 || of_all.size[part] < 2 || !of_loads[part]) continue;
    for (const size_t d : where) {
      if (!much_[d] || steps_[d].stem == "ld" || loop[d] < 0) continue;
      const double times = stored[of_loop.of[nodes.at({numbers_.at(r), loop[d]})]];
      if (times >= 0 && times >= kEachTurn * static_cast<double>(executed_[d])) return true;
    }
  }
  return false;
}

/// Whether a register that a loop changes, or local memory, follows from itself, and not by sums alone.
bool Program::follows_by_more_than_sums() {
  const Parts of = parts(flow(true));
  std::vector<bool> changed(of.size.size(), false), more(of.size.size(), false);
  for (const auto& [r, where] : definitions_)
    if (where.size() > 1 || r == kLocalMemory)
      for (const size_t d : where)
        if (much_[d] && of.of[node_of(d)] == of.of[numbers_.at(r)]) changed[of.of[node_of(d)]] = true;
  for (size_t i = 0; i < steps_.size(); ++i)
    for (size_t operand = 0; operand < steps_[i].operands.size(); ++operand)
      for (const std::string& r : steps_[i].operands[operand])
        if (of.of[numbers_.at(r)] == of.of[node_of(i)] && !adds_up(steps_[i], operand))
          more[of.of[node_of(i)]] = true;
  for (size_t part = 0; part < more.size(); ++part)
    if (changed[part] && more[part]) return true;
  return false;
}

}  // namespace

Turns turns_of(const KernelRecord& kernel, std::string_view ptx, const std::function<bool(uint64_t)>& of) {
  Program program(kernel, ptx, of);
  const bool follow =
      program.decides_on_its_memory() || program.stores_what_runs() || program.follows_by_more_than_sums();
  return {follow, program.edges()};
}

}  // namespace gpusim::analysis::advice
