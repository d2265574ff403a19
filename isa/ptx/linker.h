// Several PTX modules become one, as a device linker does it: .extern declarations meet their definitions, a
// strong definition replaces .weak ones, of .common variables the largest stays, .alias names stand for their
// functions, and names that a module keeps to itself may occur in others. PTX ISA manual, section 11.6
// (linking directives).
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "isa/ptx/module.h"

namespace gpusim::isa {

struct LinkResult {
  Module module;
  Diagnostics diagnostics;  ///< SourceLoc::file tells the module
};
/// The modules must have been verified. `files` are their names; with one module only its own names are
/// settled.
[[nodiscard]] LinkResult link_modules(std::vector<Module> modules, std::vector<std::string> files);

/// A text that ptxas compiles by itself, of which it takes every function; or one that was linked, of which
/// only what kernels reach is taken.
enum class ProgramKind : uint8_t { kWhole, kLinked };
/// An error for each function that is used, by a call or by its address, and defined nowhere. Not for those
/// that the system has. The module must have been linked.
[[nodiscard]] Diagnostics unresolved_functions(const Module& module, ProgramKind kind,
                                               const std::function<bool(std::string_view)>& of_system);

}  // namespace gpusim::isa
