// Constant tables of semantic rows, built at compile time so that the files compiled for AVX2 and AVX-512
// hold no library code that the linker could pick for the whole program.
#pragma once
#include <cstddef>

#include "isa/exec/semantics/table.h"

namespace gpusim::isa {

struct RowSpan {
  const SemanticRow* rows;
  size_t count;
};

/// Fixed-capacity list filled by a constexpr function; overflowing it is a compile error.
template <size_t kCapacity>
struct RowList {
  SemanticRow rows[kCapacity] = {};
  size_t count = 0;

  constexpr void add(Opcode op, Type type, Type type2, uint32_t variant, ExecFn exec, OpClass op_class,
                     uint8_t flops = 0) {
    rows[count++] = {form_key(op, type, type2, variant), exec, nullptr, op_class, flops};
  }
  constexpr void add(Opcode op, Type type, ExecFn exec, OpClass op_class, uint8_t flops = 0) {
    add(op, type, Type::kNone, 0, exec, op_class, flops);
  }
  constexpr void add_memory(Opcode op, Type type, Type type2, uint32_t variant, MemFn mem) {
    rows[count++] = {form_key(op, type, type2, variant), nullptr, mem, OpClass::kNop, 0};
  }
  [[nodiscard]] constexpr RowSpan span() const { return {rows, count}; }
};

}  // namespace gpusim::isa
