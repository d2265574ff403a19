// Control codes: what a compiler for Maxwell and later writes beside each operation, instead of a scoreboard
// in the machine. An operation of fixed latency is waited for by stall counts: the warp issues nothing for so
// many cycles after an operation. One whose time is not known, or is too long for a count, sets one of the
// warp's few dependency barriers, and the first operation that needs its result waits for that barrier; when
// there are more results on their way than barriers, several share one and are waited for together. Codes are
// made once per kernel, block of straight code by block; across blocks the scoreboard is what is waited for.
// Source: Volta and Turing as dissected by Jia et al. (2018, 2019).
#pragma once
#include <cstdint>
#include <vector>

#include "components/sm/timing.h"
#include "isa/exec/micro_op.h"
#include "simcore/config/machine_config.h"

namespace gpusim::comp {

struct ControlCode {
  static constexpr uint8_t kNoBarrier = 0xff;
  uint8_t stall = 0;          ///< core cycles until the warp's next operation may issue, at least
  uint8_t sets = kNoBarrier;  ///< barrier that is set until its result is there
  uint8_t waits = 0;          ///< barriers that it waits for, a bit each
};

/// Operations at which a stretch of straight code begins, in order, and the end of the code.
[[nodiscard]] std::vector<size_t> block_starts(const isa::KernelImage& image);

/// Codes of `image`'s operations for a machine with these issue cycles, barriers and operand latencies.
[[nodiscard]] std::vector<ControlCode> control_codes(const isa::KernelImage& image,
                                                     const ClassTimings& timings,
                                                     const core::MachineConfig::Scheduler& scheduler);

}  // namespace gpusim::comp
