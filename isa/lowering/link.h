// The programs of a kernel become one image: the kernel's own code first, then that of the functions it calls
// through the stack. All use the same register rows, from 0.
#pragma once
#include <vector>

#include "isa/lowering/call_plan.h"
#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {

/// One program behind its passes.
struct Unit {
  const Function* function = nullptr;
  Program program;
  Flow flow;
};

/// Gives every frame of `units` (the kernel first) its final size and the image its stack, of `stack_bytes`
/// if there is recursion.
void lay_out_stack(std::vector<Unit>& units, const Module& module, uint32_t stack_bytes, KernelImage& image);
/// Adds the code of `part`, the unit `unit`, to the image.
void append_code(KernelImage&& part, const Function& function, const Module& module, KernelImage& image);

/// Sets MicroOp::may_wait of the branches back of loops with an atomic, or a volatile or ordered load; of
/// loops that call, if any function has one.
void mark_waiting_loops(KernelImage& image);

}  // namespace gpusim::isa::lir
