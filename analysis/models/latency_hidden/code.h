// The operations of a recorded kernel with their counts: the recorded PTX lowered again as the run lowered it
// (that is the clean-up pass: copies and constants propagated, dead code dropped, addresses folded, shared
// operands folded on compute capability 1.x), joined with the recorded per-PC counts. Counts only: no
// recorded time enters.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/recording/recording.h"
#include "components/sm/control_codes.h"
#include "isa/exec/micro_op.h"

namespace gpusim::analysis::latency_hidden {

/// Counts of one operation per warp of the launch.
struct OpCounts {
  double executed = 0;
  double transactions = 0;  ///< of the memory, or steps of shared memory
  double requested = 0;     ///< bytes that threads asked for
  double transferred = 0;   ///< bytes of the transactions
  double words = 0;         ///< that partitions' atomic units perform one after another
  double replays = 0;       ///< further steps by conflicts in shared memory
  double rounds = 0;        ///< of the loops that sums of floats in shared memory are
};

struct LaunchShape {
  uint64_t blocks = 0;
  uint32_t threads_per_block = 0, warps_per_block = 0;
  uint32_t registers = 0;     ///< per thread
  uint64_t shared_bytes = 0;  ///< per block
  std::array<uint64_t, 3> grid{1, 1, 1}, block{1, 1, 1};
};
/// Of "4,2,1".
[[nodiscard]] std::array<uint64_t, 3> dimensions_of(const std::string& text);

struct Code {
  isa::KernelImage image;
  std::vector<OpCounts> counts;  ///< of each operation
  LaunchShape shape;
  std::string level;                     ///< lowering of the run
  std::vector<comp::ControlCode> codes;  ///< of each operation, on a machine that has them
  /// Core cycles by which each keeps its unit longer since its registers lie in one bank; empty without
  /// banks.
  std::vector<uint8_t> bank_delays;
};

/// Loads, stores and atomics, of any space.
[[nodiscard]] bool is_access(const isa::MicroOp& op);
/// Of the memory behind the SM.
[[nodiscard]] bool is_long(const isa::MicroOp& op);
[[nodiscard]] bool is_shared(const isa::MicroOp& op);

/// "add" of "@%p1 add.s64 %rd1, %rd2, 4;".
[[nodiscard]] std::string_view mnemonic_of(std::string_view ptx);

/// Throws core::RecordError if the recorded PTX does not give the recorded operations.
[[nodiscard]] Code recorded_code(const Recording& recording, const KernelRecord& kernel);

}  // namespace gpusim::analysis::latency_hidden
