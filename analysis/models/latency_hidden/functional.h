// What a functional run and the model of memory say of a kernel without simulating a cycle: the counts that
// the latency-hidden factor takes from a timed run otherwise. `gpusim predict` makes them; as a file they can
// stand beside a recorded run.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "analysis/models/latency_hidden/counts.h"
#include "simcore/config/machine_config.h"

namespace gpusim::analysis::latency_hidden {

struct FunctionalKernel {
  uint64_t launch = 0;  ///< its number among the launches
  std::string name, grid, block;
  Code code;  ///< of a file: counts only
  Counts counts;
  double followed = 1;                  ///< share of the accesses that the model of memory has followed
  std::vector<std::string> unmodelled;  ///< what the prediction leaves out, in words
};

/// What a functional run says of a program's kernels, and on which machine.
struct FunctionalFile {
  std::string machine;  ///< machine_identity()
  uint64_t sms = 0;     ///< that kernels run on
  std::vector<FunctionalKernel> kernels;
};
/// Differs for machines that differ in any key.
[[nodiscard]] std::string machine_identity(const core::MachineConfig& machine);

/// `sms`: 0: all.
[[nodiscard]] std::string functional_json(const core::MachineConfig& machine, uint64_t sms,
                                          std::span<const FunctionalKernel> kernels);
/// Throws core::InputError with the place of what is no such text.
[[nodiscard]] FunctionalFile functional_from_json(std::string_view text, const std::string& path);

}  // namespace gpusim::analysis::latency_hidden
