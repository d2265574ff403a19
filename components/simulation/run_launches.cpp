#include "components/simulation/run_launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "simcore/text/input_error.h"

namespace gpusim::comp {

RunLaunches::RunLaunches(const SimulationOptions& options, KernelImages& images,
                         const DeviceContents& contents)
    : options_(options), images_(images), contents_(contents), fixed_(options.launch.has_fixed_launches()) {
  if (options.launch.launches.empty())
    throw core::InputError(fmt::format("{}: error: nothing to launch", options.launch.path));
  prepare(known_, 0);
  if (fixed_ && options.caches == CacheState::kWarm) prepare(warm_up_, known_.size());
}

void RunLaunches::prepare(std::vector<PreparedLaunch>& launches, size_t first_id) {
  for (const core::LaunchSpec& spec : options_.launch.launches) {
    const uint32_t repeat = fixed_ ? spec.repeat : 1;
    for (uint32_t i = 0; i < repeat; ++i)
      launches.push_back(prepare_launch(options_, spec, static_cast<uint32_t>(first_id + launches.size()),
                                        images_.of(spec), contents_));
  }
}

PreparedLaunch& RunLaunches::take(const core::LaunchSpec& spec, bool warm_up) {
  uint32_t& next = warm_up ? next_warm_up_ : next_;
  const uint32_t number = next++;
  if (fixed_) return (warm_up ? warm_up_ : known_).at(number);
  const uint32_t id = warm_up ? kFirstWarmUp + number : number;
  auto taken = std::make_unique<Taken>(Taken{spec, {}});
  taken->launch = prepare_launch(options_, taken->spec, id, images_.of(taken->spec), contents_);
  return taken_.insert_or_assign(id, std::move(taken)).first->second->launch;
}

PreparedLaunch& RunLaunches::of(const KernelLaunch& run) {
  if (!fixed_) return taken_.at(run.id)->launch;
  return warms_up(run) ? warm_up_[run.id - known_.size()] : known_[run.id];
}

void RunLaunches::ended(const KernelLaunch& run) {
  if (!fixed_) ended_.push_back(run.id);
}

void RunLaunches::forget_ended() {
  for (const uint32_t id : ended_) taken_.erase(id);
  ended_.clear();
}

}  // namespace gpusim::comp
