#include "analysis/source/data_addresses.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <string_view>

namespace gpusim::analysis {
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

}  // namespace

std::vector<bool> addresses_of_data(std::vector<std::string> statements,
                                    const std::vector<std::string>& operations) {
  std::ranges::sort(statements);  // several operations can be of one statement
  statements.erase(std::unique(statements.begin(), statements.end()), statements.end());
  std::vector<Statement> parsed;
  std::map<std::string_view, size_t> definitions;
  for (const std::string& text : statements) {
    parsed.push_back(parse(text));
    for (const std::string_view r : parsed.back().results) ++definitions[r];
  }
  std::set<std::string_view> loaded;
  // What several statements define, a loop counts up.
  const auto add = [&](std::string_view r) { return definitions[r] == 1 && loaded.insert(r).second; };
  for (bool more = true; more;) {
    more = false;
    for (const Statement& s : parsed)
      if (loads_data(s.opcode) ||
          (s.address.empty() &&
           std::ranges::any_of(s.operands, [&](std::string_view r) { return loaded.contains(r); })))
        for (const std::string_view r : s.results) more |= add(r);
  }
  std::vector<bool> found(operations.size());
  for (size_t i = 0; i < operations.size(); ++i)
    found[i] = std::ranges::any_of(parse(operations[i]).address,
                                   [&](std::string_view r) { return loaded.contains(r); });
  return found;
}

}  // namespace gpusim::analysis
