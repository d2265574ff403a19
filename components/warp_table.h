// State of an SM's warps as its schedulers read it: when each warp's next operation could issue and on which pipes, and why
// it waits. One flat table so that a scheduler's scan touches few cache lines.
#pragma once
#include <array>
#include <cstdint>
#include <systemc>

#include "components/stall_cause.h"
#include "components/timing.h"
#include "simcore/types.h"

namespace gpusim::comp {

inline constexpr uint32_t kMaxWarps = 64;
/// ready_at of a warp that waits for an event whose time is not known (memory, barrier, fence).
inline constexpr uint64_t kUnknownCycle = ~0ull;

struct WarpTable {
  alignas(64) std::array<uint64_t, kMaxWarps> ready_at{};  ///< core cycle from which the operands are there
  std::array<uint8_t, kMaxWarps> pipe{}, other_pipe{};
  std::array<StallCause, kMaxWarps> cause{};  ///< why the warp waits before ready_at
  std::array<uint64_t, kMaxWarps> age{};      ///< start order, lower is older
  uint64_t resident = 0;                      ///< bit per warp slot: has a warp that is not done
  std::array<uint64_t, kMaxPipes> pipe_free{};  ///< core cycle from which the pipe takes a new operation
  enum Gate : uint8_t { kOpen, kLoadStoreQueue, kConstantMisses, kNumGates };
  std::array<Gate, kMaxWarps> gate{};           ///< further condition of the next operation
  std::array<uint64_t, kNumGates> gate_free{};  ///< 0 if open, kUnknownCycle if closed

  /// First cycle at which warp `w` could issue, as far as known now.
  [[nodiscard]] uint64_t earliest(uint32_t w) const {
    const uint64_t a = pipe_free[pipe[w]], b = pipe_free[other_pipe[w]];
    uint64_t free = a < b ? a : b;
    free = gate_free[gate[w]] > free ? gate_free[gate[w]] : free;
    return ready_at[w] > free ? ready_at[w] : free;
  }
};

/// What an SM offers its schedulers.
class WarpTableIf : public virtual sc_core::sc_interface {
 public:
  [[nodiscard]] virtual const WarpTable& warp_table() const = 0;
};

}  // namespace gpusim::comp
