// Checks a parsed module against the PTX ISA: operand counts, kinds and types (as loosely as the manual's
// tables in sections 9.4.1 and 9.2), names, modifiers that must be there, and what the .target allows. Reads
// nothing but the module; lowering may rely on what passed. What is legal PTX but not executed yet gives a
// warning here, so that other kernels of the file still run; lowering refuses the statement with
// unsupported_reason().
#pragma once
#include <string>

#include "isa/ptx/module.h"

namespace gpusim::isa {

/// All errors and warnings, ordered by position, at most kMaxDiagnostics (isa/ptx/parser/parser.h).
[[nodiscard]] Diagnostics verify_module(const Module& module);

/// "'mma.sync' is not supported yet" for a legal statement that gpusim cannot execute; empty if it can.
[[nodiscard]] std::string unsupported_reason(const Instruction& instruction);

/// add.f32.f16 and the like: sources of half precision, the rest in single precision (PTX 8.6).
[[nodiscard]] bool mixes_precision(const Instruction& instruction);

/// The opcode with its modifiers as written: "ld.global.f32".
[[nodiscard]] std::string opcode_text(const Instruction& instruction);

}  // namespace gpusim::isa
