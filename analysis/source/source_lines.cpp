#include "analysis/source/source_lines.h"

namespace gpusim::analysis {

const std::string& text_cell(const Table& table, std::string_view column, uint64_t row) {
  static const std::string none;
  const auto it = table.texts.find(column);
  return it == table.texts.end() ? none : it->second[row];
}

bool is_library_header(std::string_view file) {
  if (!file.starts_with('/')) return false;
  bool of_system = file.starts_with("/usr/") || file.starts_with("/opt/");
  while (!file.empty()) {
    file.remove_prefix(1);
    const std::string_view folder = file.substr(0, file.find('/'));
    if (folder.size() == file.size()) return false;  // the file itself
    if (folder == "include" && of_system) return true;
    of_system |= folder == "targets" || folder.starts_with("cuda");
    file.remove_prefix(folder.size());
  }
  return false;
}

SourceLine written_line(const Table& per_pc, uint64_t pc) {
  return {text_cell(per_pc, "source_file", pc), per_pc["source_line"][pc]};
}

SourceLine user_line(const Table& per_pc, uint64_t pc) {
  SourceLine written = written_line(per_pc, pc);
  if (!per_pc.has("inlined_line") || per_pc["inlined_line"][pc] == 0) return written;
  SourceLine call{text_cell(per_pc, "inlined_file", pc), per_pc["inlined_line"][pc]};
  // A kernel of a library that the user's function is inlined into.
  if (is_library_header(call.file) && !written.file.empty() && !is_library_header(written.file))
    return written;
  return call;
}

}  // namespace gpusim::analysis
