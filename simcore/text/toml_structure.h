// The grammar of TOML around scalar values: which characters may stand where. toml++ 3.3 asserts, or runs
// into undefined behaviour, on some texts that break it ("[{", a character outside ASCII behind a number), so
// that parse_toml() lets it see only texts that keep it.
#pragma once
#include <string>
#include <string_view>

namespace gpusim::core {

/// Throws InputError at the first character that breaks the grammar, or begins a time of day, which nothing
/// here takes. What a number or an escape in a string looks like and whether a key stands twice is left to
/// the parser. `name` is for messages.
void check_toml_structure(std::string_view text, const std::string& name);

}  // namespace gpusim::core
