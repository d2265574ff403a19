// A kernel in the text of a program in PTX, as far as advice needs it. It is read without the parser, for a
// recording may hold several files in one text, and what cannot be read only says less.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gpusim::analysis::advice {

/// Statements of the kernel in the form in which operations name them: blanks and comments are one blank, and
/// braces around several statements, as compilers write them around inlined assembly and calls, belong to
/// none. Empty if there is no such kernel.
[[nodiscard]] std::vector<std::string> statements_of(std::string_view ptx, std::string_view kernel);

/// Of each label of the kernel, the number of the statement behind it.
[[nodiscard]] std::map<std::string, size_t, std::less<>> labels_of(std::string_view ptx,
                                                                   std::string_view kernel);

[[nodiscard]] bool has_kernel(std::string_view ptx, std::string_view kernel);

/// Names of its parameters, in their order.
[[nodiscard]] std::vector<std::string> parameters_of(std::string_view ptx, std::string_view kernel);

/// Bytes of a variable in constant memory; 0 if there is none of that name.
[[nodiscard]] uint64_t constant_bytes(std::string_view ptx, std::string_view name);

}  // namespace gpusim::analysis::advice
