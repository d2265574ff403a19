// Text as the reports of analysis/ print it.
#pragma once
#include <string>
#include <string_view>

namespace gpusim::analysis {

/// Words in lines of at most 100 columns, each indented by four; ends with a new line.
[[nodiscard]] std::string indented(std::string_view text);
/// Printable on a terminal: control characters become '?'.
[[nodiscard]] std::string printable(std::string_view text);
/// Text of several lines in which every control character but the ends of lines becomes '?'.
[[nodiscard]] std::string printable_lines(std::string_view text);
/// An exact number if it is one, else six digits.
[[nodiscard]] std::string number_text(double value);

/// A recorded path of a source file as the reader would write it: without the present folder in front.
[[nodiscard]] std::string from_here(const std::string& path);

}  // namespace gpusim::analysis
