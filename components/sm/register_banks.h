// Conflicts at the banks of an SM's register file: a bank gives a limited number of 32-lane operands per
// cycle, so an operation whose sources lie in one bank keeps its pipe for longer than a cycle. Two banks of
// one operand a cycle give a multiply-add of three registers every other cycle at most (recalled:
// Huerta et al., "Analyzing Modern NVIDIA GPU cores", 2025; loops of such multiply-adds take twice the cycles
// of those with two on an H100, docs/correlate.md). The registers of an operation are fixed, so its delay is
// known before the kernel starts.
#pragma once
#include <cstdint>
#include <vector>

#include "components/sm/control_codes.h"
#include "components/sm/timing.h"
#include "isa/exec/micro_op.h"

namespace gpusim::comp {

struct RegisterFile {
  uint32_t banks = 2;
  uint32_t reads = 1;  ///< 32-lane registers that a bank gives per core cycle
};

/// Core cycles by which each micro-op of the image keeps its pipe longer than its class does (`timings`).
/// A register's number decides its bank where the lowering knows it (KernelImage::source_registers). Others,
/// constants among them, are dealt to the banks as a compiler does it: so that those that are read together
/// lie apart, those of inner loops first. A register that is read twice is read once. With `codes`, what an
/// operation reads in the same place as the one right before it is still there, if that stalls for less than
/// three cycles (.reuse in ptxas' code). Of the constants of a multiply-add one is an operand of the
/// instruction; two parameters in the same eight bytes are loaded together, into registers (code of ptxas 13
/// for 9.0). Values of 64 bits are not counted.
[[nodiscard]] std::vector<uint8_t> register_bank_delays(const isa::KernelImage& image,
                                                        const RegisterFile& file, const ClassTimings& timings,
                                                        const std::vector<ControlCode>& codes);

}  // namespace gpusim::comp
