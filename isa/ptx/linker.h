// Several PTX modules become one, as a device linker does it: .extern declarations meet their definitions, a
// strong definition replaces .weak ones, of .common variables the largest stays, .alias names stand for their
// functions, and names that a module keeps to itself may occur in others. PTX ISA manual, section 11.6
// (linking directives).
#pragma once
#include <string>
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

}  // namespace gpusim::isa
