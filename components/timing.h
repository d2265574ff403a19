// The machine's timing tables as the SM uses them: latency and pipes of every op class, indexed, validated
// once.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "isa/micro_op.h"
#include "simcore/config/machine_config.h"

namespace gpusim::comp {

inline constexpr size_t kNumOpClasses = static_cast<size_t>(isa::OpClass::kCount);
inline constexpr size_t kMaxPipes = 8;

struct ClassTiming {
  uint32_t latency = 0;           ///< core cycles until a dependent operation may issue
  uint8_t pipe[2] = {0, 0};       ///< pipes that can take it, preferred first; equal if there is one
  uint16_t interval[2] = {0, 0};  ///< core cycles that the pipe is busy
};

struct TimingTables {
  std::array<ClassTiming, kNumOpClasses> of_class{};
  std::vector<std::string> pipe_names;
  [[nodiscard]] const ClassTiming& operator[](isa::OpClass c) const {
    return of_class[static_cast<size_t>(c)];
  }
};

/// Builds the tables; `problem` names a class without pipe or latency, empty if all is well.
[[nodiscard]] TimingTables build_timing(const core::MachineConfig& machine, std::string& problem);

}  // namespace gpusim::comp
