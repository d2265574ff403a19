// Names of files that cannot even be looked at, which is something else than that nothing has the name.
#pragma once
#include <string>

namespace gpusim::core {

/// Why it cannot be found out what has this name, such as "Permission denied" for what stands in a folder
/// that may not be entered; empty where something has the name, or nothing can have it.
[[nodiscard]] std::string why_unreachable(const std::string& path);

/// The same of what stands in a folder, whatever its name.
[[nodiscard]] std::string why_closed(const std::string& folder);

/// Throws InputError, as a reader of the file would, if the name is unreachable.
void refuse_unreachable(const std::string& path);

}  // namespace gpusim::core
