// Where an operation stands in the user's source: the line of .loc, or, of what was inlined from a header or
// another function, the line that calls it.
#pragma once
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/recording/recording.h"

namespace gpusim::analysis {

struct SourceLine {
  std::string file;
  uint64_t line = 0;  ///< 0: unknown
  auto operator<=>(const SourceLine&) const = default;
};

/// A header of the CUDA toolkit or of the system: an absolute path with a folder `include` below /usr, /opt,
/// or a folder that is `targets` or begins with `cuda`.
[[nodiscard]] bool is_library_header(std::string_view file);
/// Of row `pc`: the line of .loc.
[[nodiscard]] SourceLine written_line(const Table& per_pc, uint64_t pc);
/// Of row `pc`: the line that calls what was inlined, if the recording knows it; of a library's kernel, the
/// line of the user's function that was inlined into it.
[[nodiscard]] SourceLine user_line(const Table& per_pc, uint64_t pc);
/// A text column's cell; empty if the table has no such column.
[[nodiscard]] const std::string& text_cell(const Table& table, std::string_view column, uint64_t row);

}  // namespace gpusim::analysis
