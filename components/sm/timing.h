// The machine's timing tables as the SM uses them: latency and pipes of every op class, indexed, validated
// once.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "isa/exec/micro_op.h"
#include "simcore/config/limits.h"
#include "simcore/config/machine_config.h"
#include "simcore/enum_array.h"

namespace gpusim::comp {

inline constexpr size_t kNumOpClasses = static_cast<size_t>(isa::OpClass::kCount);
using core::kMaxSchedulers;
/// The pipes of an SM: those that all schedulers share come first, then those of each scheduler.
inline constexpr size_t kMaxPipes = core::kMaxPipes * kMaxSchedulers;

struct ClassTiming {
  uint32_t latency = 0;           ///< core cycles until a dependent operation may issue
  uint8_t pipe[2] = {0, 0};       ///< pipes that can take it, preferred first; equal if there is one
  uint32_t interval[2] = {0, 0};  ///< core cycles that the pipe is busy
  /// Operations of wgmma on a machine whose tensor cores queue them (shared.tensor_queue): results that they
  /// overwrite do not hold them back, and steps issue so many core cycles ahead of their operands and of
  /// their pipe.
  bool queued = false;
  uint32_t ahead = 0;
};
using ClassTimings = core::EnumArray<ClassTiming, isa::OpClass>;

struct TimingTables {
  std::vector<ClassTimings> of_scheduler;  ///< differ in the pipes that each scheduler has for itself
  uint8_t shared_pipes = 0;                ///< pipes [0, shared_pipes) serve all schedulers
  uint8_t own_pipes = 0;                   ///< then come so many of scheduler 0, as many of scheduler 1, ...
};

/// Builds the tables; `problem` names a class without pipe or latency, empty if all is well.
[[nodiscard]] TimingTables build_timing(const core::MachineConfig& machine, std::string& problem);

}  // namespace gpusim::comp
