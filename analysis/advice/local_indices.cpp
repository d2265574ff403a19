#include "analysis/advice/local_indices.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

#include "analysis/advice/origins.h"
#include "analysis/advice/ptx_text.h"
#include "analysis/source/source_lines.h"

namespace gpusim::analysis::advice {
namespace {

using Names = std::set<std::string>;

struct IndexStep {
  bool pure = false;  ///< its results follow from its operands alone
  bool branch = false;
  std::string guard;  ///< the predicate under which it is executed
  Names results, operands;
  Names address;  ///< of an access to local memory
};

bool follows_from_operands(std::string_view stem) {
  constexpr std::array<std::string_view, 21> kStems{"mov", "add", "sub",  "mul",  "mad", "shl", "shr",
                                                    "and", "or",  "xor",  "not",  "neg", "cvt", "cvta",
                                                    "min", "max", "setp", "selp", "rem", "bfe", "lop3"};
  return std::ranges::find(kStems, stem) != kStems.end();
}

IndexStep index_step_of(std::string_view text) {
  IndexStep s;
  if (text.starts_with('@')) {
    const size_t blank = std::min(text.size(), text.find(' '));
    if (const Names guard = registers_of(text.substr(0, blank)); !guard.empty()) s.guard = *guard.begin();
    text.remove_prefix(std::min(text.size(), blank + 1));
  }
  const size_t blank = std::min(text.size(), text.find(' '));
  const std::string_view opcode = text.substr(0, blank), stem = opcode.substr(0, opcode.find('.'));
  s.pure = follows_from_operands(stem);
  s.branch = stem == "bra";
  std::string_view rest = text.substr(blank);
  if (opcode.starts_with("ld.local") || opcode.starts_with("st.local")) {
    const size_t open = rest.find('['), close = rest.find(']', std::min(open, rest.size()));
    if (close != std::string_view::npos) {
      s.address = registers_of(rest.substr(open, close - open));
      s.operands = registers_of(opcode.starts_with("st.") ? rest.substr(close) : "");
    }
    return s;
  }
  if (stem == "st" || stem == "red" || s.branch) {
    s.operands = registers_of(rest);
    return s;
  }
  size_t first = rest.find(',');
  if (const size_t brace = rest.find('{'); brace < first) first = rest.find(',', rest.find('}'));
  first = std::min(first, rest.size());
  for (std::string_view of = rest.substr(0, first); !of.empty();) {  // %p1|%p2
    const size_t bar = std::min(of.size(), of.find('|'));
    s.results.merge(registers_of(of.substr(0, bar)));
    of.remove_prefix(std::min(of.size(), bar + 1));
  }
  s.operands = registers_of(rest.substr(first));
  return s;
}

class IndexUse {
 public:
  explicit IndexUse(const std::vector<std::string>& texts) {
    for (const std::string& text : texts)
      if (!text.starts_with('.')) statements_.push_back(index_step_of(text));
    for (size_t i = 0; i < statements_.size(); ++i)
      for (const std::string& r : statements_[i].results) definitions_[r].push_back(i);
    find_constants();
    find_gone();
  }
  /// Of a statement that is no declaration, by its number among these.
  [[nodiscard]] bool gone(size_t i) const { return gone_[i]; }

 private:
  /// All registers are taken to be constants once loops are unrolled, until an operand is found that is none.
  void find_constants() {
    for (const auto& [r, where] : definitions_)
      if (std::ranges::all_of(where, [&](size_t i) { return statements_[i].pure; })) constants_.insert(r);
    for (bool changed = true; changed;) {
      changed = drop([&](const std::string& r) {
        return !std::ranges::all_of(definitions_.at(r), [&](size_t i) {
          const IndexStep& s = statements_[i];
          return all_constant(s.operands) && (s.guard.empty() || constants_.contains(s.guard));
        });
      });
      // What a loop counts is constant only if it decides when the loop ends, for a loop that other values
      // end is not unrolled; and a register that is only set to one number or another is no count.
      const Names deciding = what_branches_follow_from();
      changed =
          drop([&](const std::string& r) {
            const std::vector<size_t>& where = definitions_.at(r);
            return where.size() > 1 && (!deciding.contains(r) || std::ranges::all_of(where, [&](size_t i) {
                     return statements_[i].operands.empty();
                   }));
          }) ||
          changed;
    }
  }
  template <typename Wrong>
  bool drop(const Wrong& wrong) {
    return std::erase_if(constants_, wrong) > 0;
  }
  [[nodiscard]] bool all_constant(const Names& registers) const {
    return std::ranges::all_of(registers, [&](const std::string& r) { return constants_.contains(r); });
  }
  [[nodiscard]] Names what_branches_follow_from() const {
    std::vector<std::string> left;
    for (const IndexStep& s : statements_)
      if (s.branch && constants_.contains(s.guard)) left.push_back(s.guard);
    Names found(left.begin(), left.end());
    while (!left.empty()) {
      const std::string r = left.back();
      left.pop_back();
      for (const size_t i : definitions_.at(r))
        for (const std::string& of : statements_[i].operands)
          if (constants_.contains(of) && found.insert(of).second) left.push_back(of);
    }
    return found;
  }
  /// Pure statements are taken to be gone, until one that stays is found to use a result other than as an
  /// address in local memory.
  void find_gone() {
    gone_.assign(statements_.size(), false);
    for (size_t i = 0; i < statements_.size(); ++i) {
      const IndexStep& s = statements_[i];
      gone_[i] = s.branch ? constants_.contains(s.guard) : s.pure && !s.results.empty();
    }
    for (bool changed = true; changed;) {
      changed = false;
      Names used;
      for (size_t i = 0; i < statements_.size(); ++i) {
        if (gone_[i]) continue;
        used.insert(statements_[i].operands.begin(), statements_[i].operands.end());
        if (!statements_[i].guard.empty()) used.insert(statements_[i].guard);
      }
      for (size_t i = 0; i < statements_.size(); ++i) {
        const IndexStep& s = statements_[i];
        if (!gone_[i] || s.branch) continue;
        const bool stays = std::ranges::any_of(
            s.results, [&](const std::string& r) { return used.contains(r) && !constants_.contains(r); });
        if (stays) gone_[i] = false, changed = true;
      }
    }
  }

  std::vector<IndexStep> statements_;
  std::map<std::string, std::vector<size_t>> definitions_;
  Names constants_;
  std::vector<bool> gone_;
};

}  // namespace

std::vector<bool> serves_local_indices(const KernelRecord& kernel, std::string_view ptx) {
  const std::vector<std::string> texts = statements_of(ptx, kernel.name);
  const IndexUse use(texts);
  // A statement that stands several times is gone if all of them are.
  std::map<std::string_view, bool> gone;
  size_t i = 0;
  for (const std::string& text : texts) {
    if (text.starts_with('.')) continue;
    const auto at = gone.emplace(text, true).first;
    at->second = at->second && use.gone(i++);
  }
  std::vector<bool> found;
  for (uint64_t pc = 0; pc < kernel.per_pc.rows; ++pc) {
    const auto at = gone.find(text_cell(kernel.per_pc, "ptx", pc));
    found.push_back(at != gone.end() && at->second);
  }
  return found;
}

}  // namespace gpusim::analysis::advice
