#include "components/sm/simt/control_transfer.h"

#include <fmt/format.h>

#include <array>

namespace gpusim::comp {

namespace {

template <class T>
const T* row(const isa::RowRef& ref, const isa::WarpContext& context) {
  return reinterpret_cast<const T*>(context.row(ref));
}

Transfer fault(int lane, std::string text) { return {false, lane, std::move(text)}; }

Transfer branch_table(const isa::KernelImage& image, const isa::MicroOp& op, const isa::WarpContext& context,
                      isa::LaneMask lanes, SimtStack& stack) {
  std::array<uint32_t, isa::kWarpSize> target{};
  const uint32_t* const index = row<uint32_t>(op.src[0], context);
  for (int lane = 0; lane < isa::kWarpSize; ++lane) {
    if (!lanes.test(lane)) continue;
    if (index[lane] >= op.imm)
      return fault(lane, fmt::format("index {} of a branch table with {} targets", index[lane], op.imm));
    target[static_cast<size_t>(lane)] = image.branch_targets[op.target + index[lane]];
  }
  return {stack.branch_many(target.data(), lanes, op.reconverge), -1, {}};
}

/// Number of the function that `lane` calls; an error text if its address is none or its parameters differ.
uint32_t callee(const isa::KernelImage& image, const isa::MicroOp& op, const isa::WarpContext& context,
                int lane, std::string& error) {
  if (op.num_src < 2) return op.target;
  const uint64_t address = row<uint64_t>(op.src[1], context)[lane];
  const uint64_t offset = address - isa::kCodeWindowBase;
  const uint64_t number = offset / isa::kFunctionStride;
  if (offset % isa::kFunctionStride != 0 || number >= image.functions.size()) {
    error = fmt::format("call of address {:#x}, where no function is", address);
    return 0;
  }
  const isa::CallTarget& f = image.functions[number];
  if (f.signature != op.imm)
    error = fmt::format("call of '{}' with parameters that are not its own", f.name);
  else if (f.entry == isa::kNoTarget)
    error = fmt::format("call of '{}', which has no code", f.name);
  return static_cast<uint32_t>(number);
}

Transfer call(const isa::KernelImage& image, const isa::MicroOp& op, const isa::WarpContext& context,
              isa::LaneMask lanes, SimtStack& stack) {
  std::array<uint32_t, isa::kWarpSize> target{};
  const uint32_t* const frame = row<uint32_t>(op.src[0], context);
  std::string error;
  for (int lane = 0; lane < isa::kWarpSize; ++lane) {
    if (!lanes.test(lane)) continue;
    const isa::CallTarget& f = image.functions[callee(image, op, context, lane, error)];
    if (!error.empty()) return fault(lane, error);
    if (uint64_t{frame[lane]} + f.frame_bytes > image.stack_end) {
      return fault(lane,
                   fmt::format("the call stack of {} bytes is full: '{}' needs {} more; if the recursion is "
                               "meant to be that deep, raise 'stack' of the [[launch]] in a launch file, "
                               "cudaDeviceSetLimit(cudaLimitStackSize) in a program",
                               image.stack_bytes, f.name, f.frame_bytes));
    }
    target[static_cast<size_t>(lane)] = f.entry;
  }
  return {stack.call(target.data()), -1, {}};
}

}  // namespace

Transfer transfer_control(const isa::KernelImage& image, const isa::MicroOp& op,
                          const isa::WarpContext& context, isa::LaneMask lanes, SimtStack& stack) {
  switch (op.kind) {
    case isa::OpKind::kBranchTable:
      return branch_table(image, op, context, lanes, stack);
    case isa::OpKind::kCall:
      return call(image, op, context, lanes, stack);
    default:
      stack.leave_function();
      return {};
  }
}

}  // namespace gpusim::comp
