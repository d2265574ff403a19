#include "analysis/advice/gathers.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <string_view>

#include "analysis/source/source_lines.h"

namespace gpusim::analysis::advice {
namespace {

using Registers = std::vector<std::string_view>;

/// "%rd5" of "ld.global.f32 %f1, [%rd5+4]". Special registers (%tid.x) are no results of a statement.
Registers registers_in(std::string_view text) {
  Registers found;
  for (size_t at = text.find('%'); at < text.size(); at = text.find('%', at)) {
    size_t end = at + 1;
    while (end < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_'))
      ++end;
    found.push_back(text.substr(at, end - at));
    at = end;
  }
  return found;
}

struct Statement {
  std::string_view opcode;
  Registers results, operands, address;
};

Statement parse(std::string_view text) {
  Statement s;
  if (text.starts_with('@')) text.remove_prefix(std::min(text.find(' '), text.size() - 1) + 1);
  const size_t space = std::min(text.find(' '), text.size());
  const std::string_view opcode = s.opcode = text.substr(0, space);
  const std::string_view rest = text.substr(space);
  constexpr std::array<std::string_view, 8> kNoResult{"st",  "red",  "bra",    "bar",
                                                      "ret", "exit", "membar", "fence"};
  const std::string_view stem = opcode.substr(0, opcode.find('.'));
  const bool has_result = std::ranges::find(kNoResult, stem) == kNoResult.end();
  // Its results are the first operand, which may be a list in braces.
  const size_t open = rest.find_first_not_of(' ');
  const bool list = open != std::string_view::npos && rest[open] == '{';
  const size_t end = !has_result ? 0 : list ? rest.find('}') : std::min(rest.find(','), rest.size());
  const size_t split = end == std::string_view::npos ? rest.size() : end;
  s.results = registers_in(rest.substr(0, split));
  s.operands = registers_in(rest.substr(split));
  if (const size_t from = rest.find('['); from != std::string_view::npos)
    s.address = registers_in(rest.substr(from, rest.find(']', from) - from));
  return s;
}

bool loads_data(std::string_view opcode) {
  return opcode.starts_with("ld.global") || opcode.starts_with("ld.shared") || opcode.starts_with("tex.");
}

/// Texts of the kernel's statements, in one form: a space behind the guard and the opcode, none around.
std::vector<std::string> statements_of(std::string_view ptx, const std::string& kernel) {
  std::vector<std::string> texts;
  size_t at = ptx.find(".entry " + kernel + "(");
  if (at == std::string_view::npos) return texts;
  at = ptx.find('{', at);
  std::string text;
  size_t depth = 0;
  for (; at < ptx.size(); ++at) {
    if (ptx.substr(at, 2) == "//") {
      at = std::min(ptx.find('\n', at), ptx.size() - 1);
      continue;
    }
    const char c = ptx[at];
    if (c == '{' && ++depth == 1) continue;
    if (c == '}' && --depth == 0) break;
    if (c == '\n' && text.starts_with(".loc")) {
      text.clear();
    } else if (c == ':' && ptx.substr(at, 2) == "::") {  // .shared::cta
      text += "::";
      ++at;
    } else if (c == ';' || c == ':') {  // the end of a statement, or a label
      if (c == ';' && !text.empty()) texts.push_back(text);
      text.clear();
    } else if (std::isspace(static_cast<unsigned char>(c)) == 0) {
      text += c;
    } else if (!text.empty() && text.back() != ' ') {
      text += ' ';
    }
  }
  return texts;
}

}  // namespace

std::vector<bool> gathers(const Facts& f) {
  const Table& t = f.kernel().per_pc;
  // An operation can stand for several statements, of which it names the last: the program has them all.
  std::vector<std::string> texts = statements_of(f.ptx(), f.kernel().name);
  if (texts.empty())
    for (uint64_t pc = 0; pc < f.operations(); ++pc) texts.push_back(text_cell(t, "ptx", pc));
  std::ranges::sort(texts);  // and several operations can be of one statement
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  std::vector<Statement> statements;
  std::map<std::string_view, size_t> definitions;
  for (const std::string& text : texts) {
    statements.push_back(parse(text));
    for (const std::string_view r : statements.back().results) ++definitions[r];
  }
  std::set<std::string_view> loaded;
  // What several statements define, a loop counts up.
  const auto add = [&](std::string_view r) { return definitions[r] == 1 && loaded.insert(r).second; };
  for (bool more = true; more;) {
    more = false;
    for (const Statement& s : statements)
      if (loads_data(s.opcode) ||
          (s.address.empty() &&
           std::ranges::any_of(s.operands, [&](std::string_view r) { return loaded.contains(r); })))
        for (const std::string_view r : s.results) more |= add(r);
  }
  std::vector<bool> found(f.operations());
  for (uint64_t pc = 0; pc < f.operations(); ++pc)
    found[pc] = std::ranges::any_of(parse(text_cell(t, "ptx", pc)).address,
                                    [&](std::string_view r) { return loaded.contains(r); });
  return found;
}

}  // namespace gpusim::analysis::advice
