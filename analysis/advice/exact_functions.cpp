#include "analysis/advice/exact_functions.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "analysis/advice/origins.h"
#include "analysis/advice/ptx_text.h"
#include "analysis/source/source_lines.h"

namespace gpusim::analysis::advice {
namespace {

/// How a function's sequence is known: by words that its statements have, each the constant of an operand or
/// the beginning of an operation. Read in what nvcc 13.0 writes.
struct Form {
  std::string_view name;
  std::string_view first;  ///< at the argument: nothing of the sequence but tests of the argument is before
  std::string_view sure;   ///< near the end, once for each result
  std::string_view last;   ///< of the last statement, which is at most kTail behind
  std::array<std::string_view, 3> instead;
  bool of_magnitude = false;  ///< the sequence works on the argument's magnitude, and tests it elsewhere
};
constexpr size_t kHead = 5, kTail = 12;
constexpr std::array<Form, 4> kForms{{
    // 2 / pi; of the polynomial; a sign that changes
    {"__sinf", "0f3F22F983", "0fBE2AAAA8", "0fBF800000", {"sfu_sin"}},
    // 2^23, for denormal arguments; ln 2; the logarithm of 0
    {"__logf", "0f4B000000", "0f3F317218", "0fFF800000", {"sfu_rsqrt", "fp32_mul"}},
    // log2 e / 252; the second part of log2 e
    {"__expf", "0f3BBB989D", "0f32A57060", "ex2.approx", {"fp32_mul", "sfu_sin"}},
    // 2^24; the largest exponent of a result; infinity
    {"__powf", "0f4B800000", "0f43180000", "0f7F800000", {"sfu_rsqrt", "fp32_mul", "sfu_sin"}, true},
}};

/// A statement in its parts.
struct Statement {
  std::string_view operation;
  std::string_view result;                ///< the first operand
  std::vector<std::string_view> sources;  ///< the others, and the predicate that guards it
};

Statement split(std::string_view text) {
  Statement s;
  const auto word = [&text] {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view found = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    return found;
  };
  if (text.starts_with('@')) {
    std::string_view guard = word().substr(1);
    if (guard.starts_with('!')) guard.remove_prefix(1);
    s.sources.push_back(guard);
  }
  s.operation = word();
  for (bool is_result = true; !text.empty(); is_result = false) {
    const size_t end = std::min(text.find(','), text.size());
    std::string_view operand = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    while (operand.starts_with(' ')) operand.remove_prefix(1);
    if (is_result)
      s.result = operand;
    else
      s.sources.push_back(operand);
  }
  return s;
}

/// The statements of a kernel, with what its registers hold where that never changes.
class Program {
 public:
  Program(const std::vector<std::string>& texts, std::map<std::string, size_t, std::less<>> labels)
      : labels_(std::move(labels)) {
    for (const std::string& text : texts) statements_.push_back(split(text));
    for (const Statement& s : statements_) {
      const bool constant =
          s.operation == "mov.f32" && s.sources.size() == 1 && s.sources[0].starts_with("0f");
      const auto [at, is_new] =
          constants_.try_emplace(s.result, constant ? s.sources[0] : std::string_view());
      if (!is_new && (!constant || at->second != s.sources[0])) at->second = {};
    }
  }
  [[nodiscard]] size_t size() const { return statements_.size(); }
  [[nodiscard]] const Statement& at(size_t i) const { return statements_[i]; }
  [[nodiscard]] std::string_view value(std::string_view operand) const {
    const auto at = constants_.find(operand);
    return at != constants_.end() && !at->second.empty() ? at->second : operand;
  }
  /// Whether a statement has the word of a form.
  [[nodiscard]] bool has(size_t i, std::string_view word) const {
    const Statement& s = statements_[i];
    if (s.operation.starts_with("mov.")) return false;  // it gives the constant a register
    return s.operation.starts_with(word) ||
           std::ranges::any_of(s.sources, [&](std::string_view operand) { return value(operand) == word; });
  }
  /// Whether all that it does is to choose a way.
  [[nodiscard]] bool tests(size_t i) const {
    return statements_[i].result.starts_with("%p") || statements_[i].operation == "bra";
  }
  /// Whether it reads one of these registers.
  [[nodiscard]] bool reads(size_t i, const std::set<std::string_view>& registers) const {
    return std::ranges::any_of(statements_[i].sources,
                               [&](std::string_view operand) { return registers.contains(operand); });
  }

  /// Where a branch goes; size() if it is none.
  [[nodiscard]] size_t target(size_t i) const {
    if (!statements_[i].operation.starts_with("bra")) return size();
    const auto at = labels_.find(statements_[i].result);
    return at == labels_.end() ? size() : at->second;
  }

 private:
  std::vector<Statement> statements_;
  std::map<std::string, size_t, std::less<>> labels_;
  std::unordered_map<std::string_view, std::string_view> constants_;  ///< by register; empty: no constant
};

/// The statements of one sequence: what follows from its argument, from its first statement to its last.
struct Sequence {
  size_t first = 0, results = 0;
  std::set<size_t> statements;
  std::set<size_t> around;  ///< of these, those that a test of the argument leads around
};
std::optional<Sequence> sequence_at(const Program& program, const Form& form, size_t first) {
  const Statement& head = program.at(first);
  const auto argument = std::ranges::find_if(
      head.sources, [&](std::string_view s) { return s.starts_with('%') && program.value(s) == s; });
  if (argument == head.sources.end()) return std::nullopt;
  std::string_view x = *argument;
  for (size_t i = first - std::min(first, kHead); form.of_magnitude && i < first; ++i)
    if (program.at(i).operation == "abs.f32" && program.at(i).result == x) x = program.at(i).sources.back();
  Sequence found{first, 0, {}, {}};
  size_t sure = 0, end = first + 1;
  for (; end < program.size() && !program.has(end, form.first); ++end)
    if (program.has(end, form.sure)) sure = end, ++found.results;
  if (found.results == 0) return std::nullopt;
  size_t last = sure;
  for (size_t i = sure + 1; i < std::min(end, sure + 1 + kTail); ++i)
    if (program.has(i, form.last)) last = i;
  std::set<std::string_view> follow{x, *argument};
  for (size_t i = first - std::min(first, kHead); i < first; ++i)
    if (program.reads(i, {x, *argument}) && program.at(i).result != x) found.statements.insert(i);
  for (const size_t i : found.statements) follow.insert(program.at(i).result);
  for (size_t before = 0; before != follow.size();) {
    before = follow.size();
    for (size_t i = form.of_magnitude ? 0 : first; i < (form.of_magnitude ? program.size() : last + 1); ++i) {
      const bool within = i >= first && i <= last;
      // Elsewhere, what the result is used for is no part of it.
      if (program.reads(i, follow) && (within || program.tests(i))) {
        found.statements.insert(i);
        if (program.at(i).result.starts_with('%')) follow.insert(program.at(i).result);
      }
    }
  }
  // A test of the argument leads around what only some arguments need, as the reduction of large ones by many
  // digits of 2 / pi, with its loop and its array: all of that is the function's.
  const std::set<size_t> followers = found.statements;
  for (const size_t i : followers)
    if (const size_t target = program.target(i); target > i && target <= last + 1)
      for (size_t around = i + 1; around < target; ++around) found.around.insert(around);
  found.statements.insert(found.around.begin(), found.around.end());
  return found;
}

}  // namespace

std::vector<ExactFunction> exact_functions(const Facts& f) {
  const std::vector<std::string> texts = statements_of(f.ptx(), f.kernel().name);
  const Program program(texts, labels_of(f.ptx(), f.kernel().name));
  std::map<std::string_view, std::vector<uint64_t>> operations;  // by their statement
  for (uint64_t pc = 0; pc < f.operations(); ++pc)
    if (f.executed(pc) > 0) operations[text_cell(f.kernel().per_pc, "ptx", pc)].push_back(pc);
  std::vector<ExactFunction> found;
  std::set<size_t> taken;
  for (size_t i = 0; i < program.size(); ++i)
    for (const Form& form : kForms) {
      if (!program.has(i, form.first) || !operations.contains(texts[i])) continue;
      const auto sequence = sequence_at(program, form, i);
      if (!sequence) continue;
      ExactFunction function{form.name, 0, {}, {}, false};
      for (const uint64_t pc : operations.at(texts[i]))
        function.executed = std::max(function.executed, f.executed(pc));
      for (const size_t s : sequence->statements)
        if (const auto at = operations.find(texts[s]); at != operations.end() && taken.insert(s).second) {
          function.operations.insert(function.operations.end(), at->second.begin(), at->second.end());
          function.far |= form.name == "__sinf" && sequence->around.contains(s);
        }
      if (function.operations.empty()) continue;
      std::ranges::sort(function.operations);
      for (size_t r = 0; r < sequence->results; ++r)
        for (const std::string_view c : form.instead)
          if (!c.empty()) function.instead.push_back(c);
      found.push_back(std::move(function));
    }
  return found;
}

}  // namespace gpusim::analysis::advice
