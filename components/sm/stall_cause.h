// The causes of the exact cycle accounting: every issue slot of every scheduler in every cycle has exactly
// one. A slot that issues nothing takes the cause of the warp that the policy would have picked next
// (docs/statistics.md, "Issue slots"). Memory waits carry the level that finally served the access.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "simcore/enum_array.h"
#include "simcore/record/event_schema.h"

namespace gpusim::comp {

enum class StallCause : uint8_t {
  kIssued,      ///< no stall: one warp instruction issued (an operation may be several)
  kNoWarp,      ///< no warp is resident
  kBlockStart,  ///< a block is being set up, or a branch is being resolved
  kBarrier,
  kFence,
  kAluDependency,  ///< operand of an arithmetic operation not ready
  kSharedMemory,   ///< operand loaded from shared memory not ready
  kConstantL1,
  kConstantL2,
  kConstantL3,
  kL1,                ///< operand loaded through the L1 not ready
  kL2,                ///< operand that the L2 held not ready
  kDram,              ///< operand loaded from device memory not ready
  kPipeBusy,          ///< operands ready, the execution pipe is not
  kMemoryThrottle,    ///< operands ready, the load/store queue is full or the policy holds the load back
  kInstructionFetch,  ///< the next operation is not in the instruction cache
  kTextureL1,         ///< operand that the texture cache held not ready
  kTextureL2,         ///< operand that the second texture level held not ready
  kTextureThrottle,   ///< operands ready, the texture path is full
  kLaunch,            ///< no block of the kernel has started yet on any SM
  kDrain,             ///< all its blocks have ended, but not all its stores
  kCount
};
inline constexpr size_t kNumStallCauses = static_cast<size_t>(StallCause::kCount);

/// A count for each cause.
using CauseCounts = core::EnumArray<uint64_t, StallCause>;

inline constexpr core::EnumArray<std::string_view, StallCause> kStallCauseNames = {
    "issued",         "no_warp",       "control",         "barrier",          "fence",
    "alu_dependency", "memory_shared", "memory_const_l1", "memory_const_l2",  "memory_const_l3",
    "memory_l1",      "memory_l2",     "memory_dram",     "pipe_busy",        "memory_throttle",
    "inst_fetch",     "memory_tex_l1", "memory_tex_l2",   "texture_throttle", "launch",
    "drain"};

/// Slots without a candidate warp: they stand at no operation.
[[nodiscard]] constexpr bool has_no_warp(StallCause cause) {
  return cause == StallCause::kNoWarp || cause == StallCause::kLaunch || cause == StallCause::kDrain;
}

/// Causes of waits that last until an access is served (those for shared memory and constants in the first
/// level have a length that is known before).
inline constexpr std::array kAwaitedCauses = {
    StallCause::kConstantL2, StallCause::kConstantL3, StallCause::kTextureL1, StallCause::kTextureL2,
    StallCause::kL1,         StallCause::kL2,         StallCause::kDram};

using core::MemoryLevel;

/// What a warp waits for while that level serves its access.
[[nodiscard]] constexpr StallCause cause_of(MemoryLevel level) {
  constexpr std::array<StallCause, core::kNumMemoryLevels> kCauses = {
      StallCause::kSharedMemory, StallCause::kConstantL1, StallCause::kConstantL2,
      StallCause::kConstantL3,   StallCause::kTextureL1,  StallCause::kTextureL2,
      StallCause::kL1,           StallCause::kL2,         StallCause::kDram};
  return level == MemoryLevel::kNone ? StallCause::kDram : kCauses[core::index_of(level)];
}

}  // namespace gpusim::comp
