// What the host of a launch file does: the walk through its steps, and the bytes that copies and memsets
// move.
#pragma once
#include <functional>
#include <string>

#include "components/checker/checker.h"
#include "components/simulation/device_contents.h"
#include "components/simulation/simulation_options.h"
#include "components/simulation/simulation_result.h"
#include "simcore/launch/steps.h"

namespace gpusim::comp {

class RunSteps {
 public:
  /// `checker`, or null, is told what the host writes. All must outlive it.
  RunSteps(const SimulationOptions& options, DeviceContents& contents, Checker* checker);

  [[nodiscard]] core::StepWalker& walker() { return walker_; }
  /// A copy or memset: what is recorded of it, and what it does when it ends; empty if only time passes.
  struct Transfer {
    CopyResult result;
    std::function<void()> move;
  };
  /// That the walker stands at. Throws core::InputError.
  [[nodiscard]] Transfer transfer();

 private:
  [[nodiscard]] Transfer copy();
  [[nodiscard]] Transfer memset();
  /// Times by the rates of the machine.
  [[nodiscard]] double link_seconds(uint64_t bytes) const;
  [[nodiscard]] double memory_seconds(uint64_t bytes) const;

  const SimulationOptions& options_;
  DeviceContents& contents_;
  Checker* checker_;
  core::StepWalker walker_;
};

/// A message of the walker as the reason for which a run has failed.
[[nodiscard]] std::string reason_of(const core::InputError& error);

}  // namespace gpusim::comp
