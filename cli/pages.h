// Man pages and shell completion, from the texts of the commands (`gpusim pages`, which the build calls).
#pragma once
#include <string>
#include <vector>

#include "cli/command_tree.h"

namespace gpusim::cli {

/// gpusim-regress.1 for "gpusim regress".
[[nodiscard]] std::string page_name(const CommandText& command);
/// In roff, with what the commands inside `command` take. `program` is the whole tree.
[[nodiscard]] std::string man_page(const CommandText& command, const CommandText& program);

[[nodiscard]] std::string bash_completion(const CommandText& program);
[[nodiscard]] std::string zsh_completion(const CommandText& program);

}  // namespace gpusim::cli
