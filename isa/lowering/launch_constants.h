// Literals whose value a launch decides: kernel parameters and the sizes of block and grid, which arithmetic
// reads from a constant bank (isa/lowering/bind_operands.cpp).
#pragma once
#include <span>

#include "isa/exec/micro_op.h"

namespace gpusim::isa {

/// The rows of Bank::kConstant for one launch: KernelImage::literals with the launch's values in it.
/// `params` is the parameter block; `block` and `grid` are %ntid and %nctaid.
[[nodiscard]] AlignedBytes bind_literals(const KernelImage& image, std::span<const std::byte> params,
                                         const uint32_t (&block)[3], const uint32_t (&grid)[3]);

}  // namespace gpusim::isa
