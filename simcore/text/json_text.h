// Text and numbers as JSON (RFC 8259) holds them: what every --json of the program is made with.
#pragma once
#include <string>
#include <string_view>

namespace gpusim::core {

/// Bytes of the UTF-8 character that `text` begins with, 0 if it begins with none (RFC 3629: no overlong
/// forms, no surrogates).
[[nodiscard]] size_t utf8_length(std::string_view text);
/// Text inside a JSON string, quotes not included. JSON is Unicode, paths are bytes: each that is no UTF-8
/// becomes U+FFFD.
[[nodiscard]] std::string json_escaped(std::string_view text);
/// The escaped text with its quotes.
[[nodiscard]] std::string json_quoted(std::string_view text);
/// The shortest text that reads back as the same number; null if it is not finite.
[[nodiscard]] std::string json_number(double value);

}  // namespace gpusim::core
