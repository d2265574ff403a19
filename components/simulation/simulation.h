// A whole run: PTX text and launch description onto a machine, executed cycle by cycle (or for values only),
// recorded and checked. The layer that cli/ and the end-to-end tests call. Input problems throw
// core::InputError; what the simulated program does wrong is in the result.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "components/services/host_services.h"
#include "components/simulation/device_contents.h"
#include "components/simulation/kernel_images.h"
#include "components/simulation/run_launches.h"
#include "components/simulation/simulation_options.h"
#include "components/simulation/simulation_result.h"
#include "isa/ptx/module.h"

namespace gpusim::comp {

/// Loads, lowers and checks everything at construction (throws core::InputError); run() may be called once.
class Simulation {
 public:
  explicit Simulation(SimulationOptions options);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  [[nodiscard]] SimulationResult run();
  /// Content of a launch-file buffer or variable after run().
  [[nodiscard]] std::span<const std::byte> buffer(uint32_t index) const { return contents_.buffer(index); }
  /// Where it lies in device memory.
  [[nodiscard]] uint64_t buffer_address(size_t index) const { return contents_.buffer_address(index); }
  [[nodiscard]] const SimulationOptions& options() const { return options_; }
  /// In the order of the launch file; those in loops as they are in the first iteration.
  [[nodiscard]] const std::vector<PreparedLaunch>& launches() const { return launches_.known(); }

 private:
  void warn_of_unset_constants() const;

  SimulationOptions options_;
  isa::Module module_;
  DeviceContents contents_;
  std::unique_ptr<Checker> checker_;  ///< of a run with checks
  HostServices services_;
  KernelImages images_;
  RunLaunches launches_;
};

}  // namespace gpusim::comp
