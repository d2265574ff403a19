// The traces of a launch's warps (analysis/recording/warp_trace.h) from the steps of a functional run.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/recording/warp_trace.h"
#include "components/simulation/simulation_options.h"

namespace gpusim::study {

[[nodiscard]] analysis::WarpTraceHeader trace_header(const comp::KernelLaunch& run,
                                                     const std::string& machine);

/// Takes the steps of one launch, block after block.
class WarpSteps {
 public:
  explicit WarpSteps(uint32_t warps_per_block) : warps_(warps_per_block), loads_(warps_per_block, 0) {}

  /// True if that was a block's last step: warps() are the block's, until clear().
  bool take(const comp::TracedStep& t);
  [[nodiscard]] const std::vector<analysis::WarpEncoder>& warps() const { return warps_; }
  void clear();
  [[nodiscard]] uint64_t accesses() const { return accesses_; }  ///< of lanes

 private:
  void describe(const comp::TracedStep& t);

  std::vector<analysis::WarpEncoder> warps_;
  std::vector<uint32_t> loads_;
  analysis::WarpStep step_;
  uint64_t accesses_ = 0;
};

}  // namespace gpusim::study
