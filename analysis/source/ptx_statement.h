// A statement of PTX in its parts, as far as the analysis of a program's text needs it. It is read without
// the parser (see advice/ptx_text.h).
#pragma once
#include <span>
#include <string_view>
#include <vector>

namespace gpusim::analysis {

struct PtxStatement {
  std::string_view opcode, stem;            ///< "add.s32", "add"
  std::vector<std::string_view> results;    ///< registers
  std::vector<std::string_view> operands;   ///< registers, with the guard's
  std::vector<std::string_view> arguments;  ///< behind the result, as they are written
  std::string_view address;                 ///< within the brackets
};

/// Views into `text`, such as "@%p1 ld.global.f32 %f1, [%rd5+4]".
[[nodiscard]] PtxStatement parse_statement(std::string_view text);

/// Of loads and atomics nothing is known of what their results follow from.
[[nodiscard]] bool hides_its_source(const PtxStatement& s);

[[nodiscard]] bool one_of(std::string_view word, std::span<const std::string_view> words);
/// Without blanks and semicolons at its ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

}  // namespace gpusim::analysis
