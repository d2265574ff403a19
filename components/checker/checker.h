// `--check`: the checks of a whole run. Made only when asked for. Kernels are observed from their lowering on
// (KernelChecks), blocks from their start to their end (BlockChecks); neither changes what takes how long.
#pragma once
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "components/checker/block_checks.h"

namespace gpusim::comp {

class Checker {
 public:
  /// `capability`: of the machine, 75 for 7.5. `ptx_name`: for messages.
  Checker(const CheckOptions& options, std::string ptx_name, int64_t capability);

  [[nodiscard]] const CheckOptions& options() const { return shared_.options; }
  [[nodiscard]] GlobalObjects& globals() { return shared_.globals; }
  void observe(isa::KernelImage& image);

  /// A block of an observed kernel starts, or ends.
  [[nodiscard]] BlockChecks* begin_block(const KernelLaunch& run, uint64_t block);
  void end_block(BlockChecks* block);
  /// All blocks of the launch have ended, and what was found in it has been recorded.
  void end_launch(const KernelLaunch& run) { shared_.log.end_launch(run.id); }
  /// The run ends in a deadlock: names the barriers at which threads wait.
  void report_stuck_barriers();

  [[nodiscard]] const FindingLog& log() const { return shared_.log; }
  [[nodiscard]] FindingLog& log() { return shared_.log; }

 private:
  CheckShared shared_;
  int64_t capability_;
  std::unordered_map<const isa::KernelImage*, std::unique_ptr<KernelChecks>> kernels_;
  std::vector<std::unique_ptr<BlockChecks>> running_, idle_;
};

}  // namespace gpusim::comp
