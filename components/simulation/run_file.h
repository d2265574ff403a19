// The recorded file of a run: opened before it, and closed with what became of it.
#pragma once
#include <memory>

#include "components/simulation/simulation_options.h"
#include "components/simulation/simulation_result.h"
#include "simcore/record/recorder.h"

namespace gpusim::comp {

class RunFile {
 public:
  /// No file if the run is not to be recorded. Throws core::InputError or core::RecordError.
  explicit RunFile(const SimulationOptions& options);

  /// Null without a file.
  [[nodiscard]] core::Recorder* recorder() const { return recorder_.get(); }
  /// Writes how the run has ended, and tells what became of the recording and of the one before it.
  void close(SimulationResult& result);

 private:
  const SimulationOptions& options_;
  bool replaces_ = false;  ///< the file holds an earlier run of this program on this machine
  std::unique_ptr<core::Recorder> recorder_;
};

}  // namespace gpusim::comp
