// Nearest valid name for a mistyped one, by edit distance with transpositions.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace gpusim::core {

/// The candidate whose last word is `name` (v100 of tesla_v100), else the nearest one; empty if none is
/// within a third of the length (at least 2).
[[nodiscard]] std::string_view nearest_name(std::string_view name,
                                            std::span<const std::string_view> candidates);

/// "did you mean 'x'?" or, without a near candidate, "valid: a, b, c" with all of them, in lines; of more
/// than a hundred the nearest ones. Empty without candidates.
[[nodiscard]] std::string name_hint(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace gpusim::core
