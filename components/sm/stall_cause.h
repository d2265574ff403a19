// The causes of the exact cycle accounting: every issue slot of every scheduler in every cycle has exactly
// one. A slot that issues nothing takes the cause of the warp that the policy would have picked next
// (docs/statistics.md, "Issue slots"). Memory waits carry the level that finally served the access.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "simcore/record/event_schema.h"

namespace gpusim::comp {

enum class StallCause : uint8_t {
  kIssued,      ///< no stall: one warp instruction issued
  kNoWarp,      ///< no warp is resident
  kBlockStart,  ///< a block is being set up, or a branch is being resolved
  kBarrier,
  kFence,
  kAluDependency,  ///< operand of an arithmetic operation not ready
  kSharedMemory,   ///< operand loaded from shared memory not ready
  kConstantL1,
  kConstantL2,
  kConstantL3,
  kL1,                ///< operand loaded through the first-level cache not ready
  kL2,                ///< operand that the second-level cache held not ready
  kDram,              ///< operand loaded from device memory not ready
  kPipeBusy,          ///< operands ready, the execution pipe is not
  kMemoryThrottle,    ///< operands ready, the load/store queue is full
  kInstructionFetch,  ///< the next operation is not in the instruction cache
  kTextureL1,         ///< operand that the texture cache held not ready
  kTextureL2,         ///< operand that the second texture level held not ready
  kTextureThrottle,   ///< operands ready, the texture path is full
  kCount
};
inline constexpr size_t kNumStallCauses = static_cast<size_t>(StallCause::kCount);

inline constexpr std::array<std::string_view, kNumStallCauses> kStallCauseNames = {
    "issued",         "no_warp",       "control",         "barrier",         "fence",
    "alu_dependency", "memory_shared", "memory_const_l1", "memory_const_l2", "memory_const_l3",
    "memory_l1",      "memory_l2",     "memory_dram",     "pipe_busy",       "memory_throttle",
    "inst_fetch",     "memory_tex_l1", "memory_tex_l2",   "texture_throttle"};

/// Causes of waits that last until an access is served (those for shared memory and constants in the first
/// level have a length that is known before).
inline constexpr std::array kAwaitedCauses = {
    StallCause::kConstantL2, StallCause::kConstantL3, StallCause::kTextureL1, StallCause::kTextureL2,
    StallCause::kL1,         StallCause::kL2,         StallCause::kDram};

/// Level of the memory hierarchy that served an access (column `level` of events/memory).
enum class MemoryLevel : uint8_t {
  kNone,
  kShared,
  kConstantL1,
  kConstantL2,
  kConstantL3,
  kTextureL1,
  kTextureL2,
  kL1,
  kL2,
  kDram
};

[[nodiscard]] constexpr StallCause cause_of(MemoryLevel level) {
  switch (level) {
    case MemoryLevel::kShared:
      return StallCause::kSharedMemory;
    case MemoryLevel::kConstantL1:
      return StallCause::kConstantL1;
    case MemoryLevel::kConstantL2:
      return StallCause::kConstantL2;
    case MemoryLevel::kConstantL3:
      return StallCause::kConstantL3;
    case MemoryLevel::kTextureL1:
      return StallCause::kTextureL1;
    case MemoryLevel::kTextureL2:
      return StallCause::kTextureL2;
    case MemoryLevel::kL1:
      return StallCause::kL1;
    case MemoryLevel::kL2:
      return StallCause::kL2;
    default:
      return StallCause::kDram;
  }
}

/// The same level as events/memory records it.
[[nodiscard]] constexpr uint8_t recorded_level(MemoryLevel level) {
  using core::ServedBy;
  switch (level) {
    case MemoryLevel::kShared:
      return static_cast<uint8_t>(ServedBy::kShared);
    case MemoryLevel::kConstantL1:
      return static_cast<uint8_t>(ServedBy::kConstantL1);
    case MemoryLevel::kConstantL2:
      return static_cast<uint8_t>(ServedBy::kConstantL2);
    case MemoryLevel::kConstantL3:
      return static_cast<uint8_t>(ServedBy::kConstantL3);
    case MemoryLevel::kTextureL1:
      return static_cast<uint8_t>(ServedBy::kTextureL1);
    case MemoryLevel::kTextureL2:
      return static_cast<uint8_t>(ServedBy::kTextureL2);
    case MemoryLevel::kL1:
      return static_cast<uint8_t>(ServedBy::kL1);
    case MemoryLevel::kL2:
      return static_cast<uint8_t>(ServedBy::kL2);
    case MemoryLevel::kDram:
      return static_cast<uint8_t>(ServedBy::kDram);
    case MemoryLevel::kNone:
      break;
  }
  return static_cast<uint8_t>(ServedBy::kNone);
}

}  // namespace gpusim::comp
