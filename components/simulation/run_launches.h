// The launches of a run. All are prepared before it begins if the launch file says them all; what the host
// decides meanwhile is prepared when its turn comes, and forgotten when it has ended.
#pragma once
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "components/simulation/device_contents.h"
#include "components/simulation/kernel_images.h"
#include "components/simulation/prepared_launch.h"
#include "components/simulation/simulation_options.h"

namespace gpusim::comp {

class RunLaunches {
 public:
  /// Checks and prepares every launch of the file. Throws core::InputError.
  RunLaunches(const SimulationOptions& options, KernelImages& images, const DeviceContents& contents);

  /// The file's launches in their order, each as often as it is repeated, as they are before anything has
  /// run.
  [[nodiscard]] const std::vector<PreparedLaunch>& known() const { return known_; }
  /// They are all that will run.
  [[nodiscard]] bool fixed() const { return fixed_; }

  /// The next launch; `spec` is as the host's turn has come to it. `warm_up`: of those that only warm the
  /// caches. Throws core::InputError.
  [[nodiscard]] PreparedLaunch& take(const core::LaunchSpec& spec, bool warm_up);
  [[nodiscard]] PreparedLaunch& of(const KernelLaunch& run);
  [[nodiscard]] bool warms_up(const KernelLaunch& run) const {
    return fixed_ ? run.id >= known_.size() : run.id >= kFirstWarmUp;
  }
  /// Nothing refers to the launch any more once the host's next turn has come.
  void ended(const KernelLaunch& run);
  void forget_ended();

 private:
  /// Numbers of launches that warm the caches, if it is not known how many the others are.
  static constexpr uint32_t kFirstWarmUp = uint32_t{1} << 31;
  struct Taken {
    core::LaunchSpec spec;
    PreparedLaunch launch;
  };
  void prepare(std::vector<PreparedLaunch>& launches, size_t first_id);

  const SimulationOptions& options_;
  KernelImages& images_;
  const DeviceContents& contents_;
  bool fixed_;
  std::vector<PreparedLaunch> known_;
  std::vector<PreparedLaunch> warm_up_;  ///< the same once more, if they are fixed and caches are to be warm
  std::unordered_map<uint32_t, std::unique_ptr<Taken>> taken_;  ///< by number, if they are not fixed
  std::vector<uint32_t> ended_;
  uint32_t next_ = 0, next_warm_up_ = 0;
};

}  // namespace gpusim::comp
