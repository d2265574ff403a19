// Names of kernels as PTX has them and as people write them: "_Z4copyIfEvPT_S1_" is "void copy<float>(float*,
// float*)".
#pragma once
#include <string>
#include <string_view>

namespace gpusim::core {

/// As the source has it; a name that is not mangled (Itanium C++ ABI), as it is.
[[nodiscard]] std::string demangled(std::string_view name);
/// True if `text` means the kernel that PTX calls `name`: that name, its demangled form, or the latter
/// without result and parameters ("ns::copy<float>"), and without template arguments ("ns::copy").
[[nodiscard]] bool means_kernel(std::string_view text, std::string_view name);
/// A name for titles: demangled, without result and parameters.
[[nodiscard]] std::string short_kernel_name(std::string_view name);

}  // namespace gpusim::core
