// Where an operation stands in the user's source: the line of .loc, or, of what was inlined from a header or
// another function, the line that calls it.
#pragma once
#include <compare>
#include <cstdint>
#include <string>

#include "analysis/recording/recording.h"

namespace gpusim::analysis {

struct SourceLine {
  std::string file;
  uint64_t line = 0;  ///< 0: unknown
  auto operator<=>(const SourceLine&) const = default;
};

/// Of row `pc`: the line that calls what was inlined, if the recording knows it.
[[nodiscard]] SourceLine user_line(const Table& per_pc, uint64_t pc);
/// A text column's cell; empty if the table has no such column.
[[nodiscard]] const std::string& text_cell(const Table& table, std::string_view column, uint64_t row);

}  // namespace gpusim::analysis
