// Literals whose value a launch decides: kernel parameters, the sizes of block and grid, and constant memory
// at addresses that are known, which arithmetic reads from a constant bank (isa/lowering/bind_operands.cpp).
#pragma once
#include <span>

#include "isa/exec/executor.h"
#include "isa/exec/micro_op.h"

namespace gpusim::isa {

/// The rows of Bank::kConstant for one launch: KernelImage::literals with the launch's values in it.
/// `params` is the parameter block; `block` and `grid` are %ntid and %nctaid. What comes from constant memory
/// is zero until bind_constant_memory().
[[nodiscard]] AlignedBytes bind_literals(const KernelImage& image, std::span<const std::byte> params,
                                         const uint32_t (&block)[3], const uint32_t (&grid)[3]);

/// Fills in what constant memory holds now: for the moment at which the kernel begins, for copies to constant
/// memory may be under way when it is launched.
void bind_constant_memory(const KernelImage& image, const GlobalMemory& memory, AlignedBytes& rows);

}  // namespace gpusim::isa
