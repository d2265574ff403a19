#include "analysis/source/source_lines.h"

namespace gpusim::analysis {

const std::string& text_cell(const Table& table, std::string_view column, uint64_t row) {
  static const std::string none;
  const auto it = table.texts.find(column);
  return it == table.texts.end() ? none : it->second[row];
}

SourceLine written_line(const Table& per_pc, uint64_t pc) {
  return {text_cell(per_pc, "source_file", pc), per_pc["source_line"][pc]};
}

SourceLine user_line(const Table& per_pc, uint64_t pc) {
  SourceLine written = written_line(per_pc, pc);
  if (!per_pc.has("inlined_line")) return written;
  return core::user_line(written, {text_cell(per_pc, "inlined_file", pc), per_pc["inlined_line"][pc]});
}

}  // namespace gpusim::analysis
