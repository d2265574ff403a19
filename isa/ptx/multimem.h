// multimem.ld_reduce, multimem.st and multimem.red (PTX ISA 9.7.9): one access to the copies that several
// GPUs have of the memory behind an address. On a machine of one GPU there is one copy, so that they are a
// load, a store and a reduction of it.
#pragma once
#include <cstdint>
#include <optional>

#include "isa/ptx/module.h"

namespace gpusim::isa {

struct MultimemForm {
  enum class Kind : uint8_t { kLoad, kStore, kReduce };
  Kind kind = Kind::kLoad;
  Type type = Type::kNone;  ///< of an element
  uint8_t elements = 1;
  AtomOp operation = AtomOp::kNone;  ///< of kLoad and kReduce
  Semantics order = Semantics::kNone;
  Scope scope = Scope::kNone;
  bool global = false;  ///< the address is one of global memory, else a generic one
};

/// What such an instruction, whose spelling is right, says; nothing if its type is not simulated.
[[nodiscard]] std::optional<MultimemForm> multimem_form(const Instruction& i);

}  // namespace gpusim::isa
