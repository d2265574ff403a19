// PTX text -> Module. A hand-written recursive-descent parser that collects every error of a file: after an
// error it goes on at the next `;` or `}`. Accepts PTX 1.0 to 9.0; what a statement means is checked by
// verify_module() (isa/ptx/verifier/verifier.h). Names of inner scopes are made unique here, so that later
// passes need no scopes (see Function in isa/ptx/module.h). PTX ISA manual, chapters 4 (syntax), 5 (state
// spaces), 11 (directives).
#pragma once
#include <string_view>

#include "isa/ptx/module.h"

namespace gpusim::isa {

struct ParseResult {
  Module module;            ///< what could be read, also after errors
  Diagnostics diagnostics;  ///< ordered by position; at most kMaxDiagnostics
  [[nodiscard]] bool ok() const;
};

/// Sizes beyond which a text is refused, so that no input exhausts memory or stack.
inline constexpr size_t kMaxTextBytes = size_t{1} << 30;
inline constexpr uint64_t kMaxRange = uint64_t{1} << 30;          ///< registers of one `%r<n>`
inline constexpr uint64_t kMaxRegisters = uint64_t{1} << 20;      ///< of ranges, per module
inline constexpr uint64_t kMaxVariableBytes = uint64_t{1} << 40;  ///< one variable
inline constexpr uint64_t kMaxInitialBytes = uint64_t{1} << 26;   ///< initial values of a module
inline constexpr size_t kMaxScopeDepth = 128;
inline constexpr size_t kMaxDiagnostics = 100;

/// Parses a whole PTX text. Never throws on bad input; errors are in the result.
[[nodiscard]] ParseResult parse_module(std::string_view text);

/// Sets the address size of a module whose text has no .address_size (isa/ptx/address_size.cpp).
void infer_address_size(Module& module);

}  // namespace gpusim::isa
