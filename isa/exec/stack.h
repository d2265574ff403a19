// The part of a thread's stack that alloca takes from (PTX ISA, "Stack Manipulation Instructions"): a range
// of local memory above the module's own variables. The word before it has the address of what is free. As
// the stack pointer of a GPU lies in a register, none of these is an access to memory for the timing model.
#pragma once
#include <cstdint>

#include "isa/exec/executor.h"

namespace gpusim::isa {

/// MicroOp::imm of the three, and of the one that empties the stack at the start of a kernel.
struct StackPlace {
  uint32_t word = 0;   ///< local address of the word
  uint16_t align = 1;  ///< alloca: of the address
  uint16_t units = 0;  ///< bytes of the stack, in kUnit
  static constexpr uint32_t kUnit = 16, kWordBytes = 16;
  [[nodiscard]] constexpr uint64_t packed() const {
    return uint64_t{word} | uint64_t{align} << 32 | uint64_t{units} << 48;
  }
  [[nodiscard]] static constexpr StackPlace unpacked(uint64_t imm) {
    return {static_cast<uint32_t>(imm), static_cast<uint16_t>(imm >> 32), static_cast<uint16_t>(imm >> 48)};
  }
  [[nodiscard]] constexpr uint32_t begin() const { return word + kWordBytes; }
  [[nodiscard]] constexpr uint64_t end() const { return begin() + uint64_t{units} * kUnit; }
};

enum class StackOp : uint8_t { kAlloca, kSave, kRestore, kEmpty };
/// src[0]: bytes (kAlloca) or a saved pointer (kRestore), 64 bits wide; dst[0], as wide as MicroOp::type: the
/// address of the memory, or the pointer.
[[nodiscard]] MemFn stack_function(StackOp op);
[[nodiscard]] bool is_stack_function(MemFn function);

}  // namespace gpusim::isa
