// How PTX spells the instructions whose modifiers are not in the groups of isa/ptx/modifiers.cpp: those that
// are not simulated yet, and families whose forms differ in more than a set of modifiers can say (surfaces,
// asynchronous copies, mma). Their modifiers, numbers of operands, and the first target and version that have
// them. What is spelled otherwise is an error; what is spelled well and not simulated stops only the kernels
// that execute it. PTX ISA manual, chapter 9, checked with ptxas.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "isa/ptx/module.h"

namespace gpusim::isa {

/// What is wrong with the spelling of such an instruction; empty if nothing is, or if the table says nothing
/// about it.
[[nodiscard]] std::string spelling_error(const Module& module, const Instruction& i);

/// True if instructions with this opcode are simulated whose spelling only this table judges.
[[nodiscard]] bool is_spelled(Opcode op);
/// Opcode and modifiers as written: "suld", "b", "2d", ...; valid as long as the instruction.
[[nodiscard]] std::vector<std::string_view> instruction_words(const Instruction& i);
[[nodiscard]] bool has_word(const Instruction& i, std::string_view word);
/// The reduction that one of the words names; kNone if none does.
[[nodiscard]] AtomOp named_reduction(const Instruction& i);

/// Rules of targets with a letter, such as sm_90a: they alone have these instructions.
[[nodiscard]] std::string letter_error(const Module& module, const Instruction& i);

}  // namespace gpusim::isa
