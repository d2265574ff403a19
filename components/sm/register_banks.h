// Conflicts at the banks of an SM's register file: a bank gives a limited number of 32-lane operands per
// cycle to the operand collectors, so an operation whose sources lie in one bank waits for them. The
// registers of an operation are fixed, so its delay is known before the kernel starts.
#pragma once
#include <cstdint>
#include <vector>

#include "isa/exec/micro_op.h"

namespace gpusim::comp {

/// Core cycles by which each micro-op of the image is late: register r lies in bank r % `banks`, and a bank
/// gives `reads` of them per cycle. A register that is read twice is read once.
[[nodiscard]] std::vector<uint8_t> register_bank_delays(const isa::KernelImage& image, uint32_t banks,
                                                        uint32_t reads);

}  // namespace gpusim::comp
