// The registers that a text of PTX names.
#pragma once
#include <string_view>
#include <vector>

namespace gpusim::analysis {

/// "%f1" and "%rd5" of "%f1, [%rd5+4]", in their order, special registers (%tid of "%tid.x") among them.
/// Views into `text`.
[[nodiscard]] std::vector<std::string_view> registers_in(std::string_view text);

}  // namespace gpusim::analysis
