// Where an operation stands in the user's source: the line of .loc, or, of what was inlined from a header or
// another function, the line that calls it.
#pragma once
#include <cstdint>
#include <string>

#include "analysis/recording/recording.h"
#include "simcore/text/source_place.h"

namespace gpusim::analysis {

using core::is_library_header;
using core::SourceLine;

/// Of row `pc`: the line of .loc.
[[nodiscard]] SourceLine written_line(const Table& per_pc, uint64_t pc);
/// Of row `pc`: the line that calls what was inlined, if the recording knows it; of a library's kernel, the
/// line of the user's function that was inlined into it.
[[nodiscard]] SourceLine user_line(const Table& per_pc, uint64_t pc);
/// A text column's cell; empty if the table has no such column.
[[nodiscard]] const std::string& text_cell(const Table& table, std::string_view column, uint64_t row);

}  // namespace gpusim::analysis
