// Module-scope variables of a PTX program as launch files see them.
#pragma once
#include <string>
#include <vector>

#include "isa/ptx/module.h"
#include "simcore/launch/launch.h"

namespace gpusim::comp {

/// `files`: names by SourceLoc::file.
[[nodiscard]] std::vector<core::DeclaredVariable> declared_variables(const isa::Module& module,
                                                                     const std::vector<std::string>& files);

}  // namespace gpusim::comp
