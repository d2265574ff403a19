#include "analysis/source/code_places.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/report/reports.h"
#include "analysis/source/source_lines.h"

namespace gpusim::analysis {
namespace {

using StatementKey = std::tuple<std::string_view, uint64_t, std::string_view>;
/// The user's line and the one that it was inlined from; the statement where no line is known; spills apart.
using LineKey = std::tuple<SourceLine, SourceLine, StatementKey, bool>;

}  // namespace

std::vector<CodePlace> code_places(const Table& per_pc, std::span<const uint64_t> counts) {
  std::map<std::pair<StatementKey, bool>, CodePlace> statements;
  for (uint64_t pc = 0; pc < per_pc.rows; ++pc) {
    if (counts[pc] == 0) continue;
    const StatementKey statement = {text_cell(per_pc, "ptx_file", pc), per_pc["ptx_line"][pc],
                                    text_cell(per_pc, "ptx", pc)};
    CodePlace& place =
        statements.try_emplace({statement, is_spill(per_pc, pc)}, CodePlace{pc, 0, 1}).first->second;
    place.count += counts[pc];
  }
  struct LineSum {
    CodePlace place;
    uint64_t first = 0, most = 0;
  };
  std::map<LineKey, LineSum> lines;
  for (const auto& [key, statement] : statements) {
    const SourceLine user = user_line(per_pc, statement.pc);
    const LineKey line = user.line == 0
                             ? LineKey{user, user, key.first, key.second}
                             : LineKey{user, written_line(per_pc, statement.pc), StatementKey(), key.second};
    const auto [at, added] = lines.try_emplace(line, LineSum{statement, statement.pc, statement.count});
    if (added) continue;
    LineSum& sum = at->second;
    sum.place.count += statement.count;
    ++sum.place.statements;
    sum.first = std::min(sum.first, statement.pc);
    if (statement.count > sum.most || (statement.count == sum.most && statement.pc < sum.place.pc))
      sum.most = statement.count, sum.place.pc = statement.pc;
  }
  std::vector<LineSum> sums;
  for (const auto& [line, sum] : lines) sums.push_back(sum);
  std::ranges::sort(sums, [](const LineSum& a, const LineSum& b) {
    return a.place.count != b.place.count ? a.place.count > b.place.count : a.first < b.first;
  });
  std::vector<CodePlace> places;
  for (const LineSum& sum : sums) places.push_back(sum.place);
  return places;
}

}  // namespace gpusim::analysis
