// The control transfers that kernels seldom have: branches through a table, calls of functions with a frame
// on the call stack, and returns. Plain branches go to SimtStack::branch() directly.
#pragma once
#include <string>

#include "components/sm/simt/simt_stack.h"
#include "isa/exec/executor.h"

namespace gpusim::comp {

struct Transfer {
  bool diverged = false;
  int fault_lane = -1;  ///< of a program error, else -1: the stack has not moved then
  std::string fault;
};
/// Executes `op` (kBranchTable, kCall or kReturn) for the lanes in `lanes`.
[[nodiscard]] Transfer transfer_control(const isa::KernelImage& image, const isa::MicroOp& op,
                                        const isa::WarpContext& context, isa::LaneMask lanes,
                                        SimtStack& stack);

}  // namespace gpusim::comp
