// How PTX spells the instructions that are not simulated yet: their modifiers, numbers of operands, and the
// first target and version that have them. What is spelled otherwise is an error; what is spelled well stops
// only the kernels that execute it. PTX ISA manual, chapter 9, checked with ptxas.
#pragma once
#include <string>

#include "isa/ptx/module.h"

namespace gpusim::isa {

/// What is wrong with the spelling of an instruction that is "not supported yet"; empty if nothing is, or if
/// the table says nothing about it.
[[nodiscard]] std::string spelling_error(const Module& module, const Instruction& i);

/// Rules of targets with a letter, such as sm_90a: they alone have these instructions.
[[nodiscard]] std::string letter_error(const Module& module, const Instruction& i);

}  // namespace gpusim::isa
