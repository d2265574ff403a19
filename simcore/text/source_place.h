// Where a statement stands in the user's source: the line of .loc, or, of what was inlined from a header or
// another function, the line that calls it.
#pragma once
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace gpusim::core {

struct SourceLine {
  std::string file;
  uint64_t line = 0;  ///< 0: unknown
  auto operator<=>(const SourceLine&) const = default;
};

/// A header of the CUDA toolkit or of the system: an absolute path with a folder `include` below /usr, /opt,
/// or a folder that is `targets` or begins with `cuda`.
[[nodiscard]] bool is_library_header(std::string_view file);
/// Of what is `written` there and inlined by the call at `call` (line 0: not inlined): the call, or, of a
/// library's kernel, the line of the user's function that was inlined into it.
[[nodiscard]] SourceLine user_line(const SourceLine& written, const SourceLine& call);
/// "file.cu:12", and of what was inlined "file.cu:12, inlined from header.h:40"; empty if the line is
/// unknown.
[[nodiscard]] std::string source_place(const SourceLine& user, const SourceLine& written);

}  // namespace gpusim::core
