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
  Registers results, operands, address;
};

Statement parse(std::string_view text) {
  Statement s;
  if (text.starts_with('@')) text.remove_prefix(std::min(text.find(' '), text.size() - 1) + 1);
  const size_t space = std::min(text.find(' '), text.size());
  const std::string_view opcode = text.substr(0, space);
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

bool gives_data(std::string_view op_class) {
  return op_class == "load_global" || op_class == "load_shared" || op_class == "texture";
}

}  // namespace

std::vector<bool> gathers(const Facts& f) {
  const uint64_t n = f.operations();
  std::vector<Statement> statements;
  for (uint64_t pc = 0; pc < n; ++pc) statements.push_back(parse(text_cell(f.kernel().per_pc, "ptx", pc)));
  // Several operations can stand for one statement, whose result has one definition all the same.
  std::map<std::string_view, std::set<std::string_view>> definitions;
  for (uint64_t pc = 0; pc < n; ++pc)
    for (const std::string_view r : statements[pc].results)
      definitions[r].insert(text_cell(f.kernel().per_pc, "ptx", pc));
  std::set<std::string_view> loaded;
  const auto add = [&](std::string_view r) { return definitions[r].size() == 1 && loaded.insert(r).second; };
  for (uint64_t pc = 0; pc < n; ++pc)
    if (gives_data(f.op_class(pc)))
      for (const std::string_view r : statements[pc].results) add(r);
  for (bool more = true; more;) {
    more = false;
    for (const Statement& s : statements) {
      if (!s.address.empty() ||
          std::ranges::none_of(s.operands, [&](std::string_view r) { return loaded.contains(r); }))
        continue;
      for (const std::string_view r : s.results) more |= add(r);
    }
  }
  std::vector<bool> found(n);
  for (uint64_t pc = 0; pc < n; ++pc)
    found[pc] =
        std::ranges::any_of(statements[pc].address, [&](std::string_view r) { return loaded.contains(r); });
  return found;
}

}  // namespace gpusim::analysis::advice
