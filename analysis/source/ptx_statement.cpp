#include "analysis/source/ptx_statement.h"

#include <algorithm>
#include <array>

#include "analysis/source/ptx_registers.h"

namespace gpusim::analysis {
namespace {

/// The operands of "%r1, {%r2, %r3}, [%rd1+4]", as they are written.
std::vector<std::string_view> operands_in(std::string_view text) {
  std::vector<std::string_view> found;
  size_t from = 0, depth = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '{' || text[at] == '[') ++depth;
    if ((text[at] == '}' || text[at] == ']') && depth > 0) --depth;
    if (text[at] != ',' || depth > 0) continue;
    found.push_back(trimmed(text.substr(from, at - from)));
    from = at + 1;
  }
  if (const std::string_view last = trimmed(text.substr(from)); !last.empty()) found.push_back(last);
  return found;
}

}  // namespace

bool one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t;");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t;") - first + 1);
}

bool hides_its_source(const PtxStatement& s) { return !s.address.empty(); }

PtxStatement parse_statement(std::string_view text) {
  PtxStatement s;
  std::string_view guard;
  if (text.starts_with('@')) {
    const size_t end = std::min(text.find(' '), text.size() - 1) + 1;
    guard = text.substr(0, end);
    text.remove_prefix(end);
  }
  const size_t space = std::min(text.find(' '), text.size());
  s.opcode = text.substr(0, space);
  s.stem = s.opcode.substr(0, s.opcode.find('.'));
  const std::string_view rest = text.substr(space);
  constexpr std::array<std::string_view, 8> kNoResult{"st",  "red",  "bra",    "bar",
                                                      "ret", "exit", "membar", "fence"};
  s.arguments = operands_in(rest);
  if (!one_of(s.stem, kNoResult) && !s.arguments.empty()) {
    // Its results are the first operand, which may be a list in braces.
    s.results = registers_in(s.arguments.front());
    s.arguments.erase(s.arguments.begin());
  }
  for (const std::string_view a : s.arguments)
    for (const std::string_view r : registers_in(a)) s.operands.push_back(r);
  for (const std::string_view r : registers_in(guard)) s.operands.push_back(r);
  if (const size_t from = rest.find('['); from != std::string_view::npos)
    s.address = trimmed(rest.substr(from + 1, rest.find(']', from) - from - 1));
  return s;
}

}  // namespace gpusim::analysis
