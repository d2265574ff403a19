// Parses what stands after `init =`: zeros, fill(v), iota(start, step), uniform(lo, hi), normal(mu, sigma),
// randint(lo, hi), file:NAME. Shared by launch files and --arg.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "simcore/launch/expression.h"
#include "simcore/launch/launch.h"

namespace gpusim::core {

struct FileAccess {
  bool allowed = true;
  std::string folder;  ///< relative names start here
};

/// `buffer.type` must be set (and `count`, if `has_count`); sets `init`, and `count` from a file if there was
/// none. On an error returns false and fills `error`.
bool parse_init(std::string_view text, const ExpressionScope& scope, const FileAccess& files, bool has_count,
                BufferSpec& buffer, ExpressionError& error);

/// `name` relative to the folder.
[[nodiscard]] std::string resolve_file(const FileAccess& files, std::string_view name);

inline constexpr uint64_t kMaxBufferBytes = uint64_t{1} << 46;
inline constexpr int64_t kMaxElements = int64_t{1} << 46;

}  // namespace gpusim::core
