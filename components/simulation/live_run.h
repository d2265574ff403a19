// A run whose work comes from a program that goes on meanwhile: the machine stands still between two calls of
// run(), as it was when the work before was done. One per process (SystemC elaborates once).
#pragma once
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "components/power/power_model.h"
#include "components/simulation/gpu.h"
#include "components/simulation/prepared_launch.h"
#include "components/simulation/run_file.h"
#include "components/simulation/run_recorder.h"
#include "components/simulation/simulation_options.h"
#include "components/simulation/simulation_result.h"

namespace gpusim::comp {

class LiveRun {
 public:
  struct Hooks {
    /// A transfer ends: its bytes move now.
    std::function<void(uint32_t number)> copied;
    std::function<void(uint32_t number, double seconds)> marker;
    std::function<void(const KernelResult&)> kernel_ended;
  };
  /// `options`, `memory` and `checker` (of a run with --check) and `host_memory` (of
  /// the host's memory, what kernels may access) must outlive it. Throws core::InputError or
  /// core::RecordError.
  LiveRun(const SimulationOptions& options, const isa::GlobalMemory& memory, Hooks hooks,
          Checker* checker = nullptr, const HostRanges* host_memory = nullptr);
  ~LiveRun();
  LiveRun(const LiveRun&) = delete;
  LiveRun& operator=(const LiveRun&) = delete;

  using Order = BlockDispatcher::Order;
  /// Each returns a number for Order::after. The launch must live until kernel_ended.
  uint32_t add(PreparedLaunch& launch, Order order);
  uint32_t add_copy(CopyResult copy, Order order, uint32_t number);
  uint32_t add_marker(Order order, uint32_t number);
  /// Until all work is done. False if it never will be: failure() says why, and nothing runs any more.
  bool run();
  [[nodiscard]] const std::string& failure() const { return error_; }
  /// Simulated seconds since the first work.
  [[nodiscard]] double now_s() const;
  /// Writes what is left to write; `buffers`: contents whose fingerprints the file keeps. `more`: writes
  /// further tables.
  void close(const std::vector<MemoryFingerprint>& buffers, const std::function<void(core::Recorder&)>& more);
  [[nodiscard]] const SimulationResult& result() const { return result_; }

 private:
  template <class Action>
  void guarded(Action action);
  [[nodiscard]] PreparedLaunch& launch_of(const KernelLaunch& run) const;
  [[nodiscard]] BlockDispatcher::Hooks dispatcher_hooks();
  void end_kernel(KernelLaunch& run);
  void watch(uint64_t core_cycle);
  void observe_from_time_to_time();
  void tell_progress(uint64_t core_cycle) const;

  const SimulationOptions& options_;
  Hooks hooks_;
  Checker* checker_;
  SimulationResult result_;
  std::string error_;
  bool all_done_ = true, begun_ = false;
  std::exception_ptr failure_;
  std::vector<PreparedLaunch*> open_;  ///< added and not ended
  RunFile file_;
  core::Engine engine_;
  Gpu gpu_;
  PowerModel power_;
  RunRecorder records_;
};

}  // namespace gpusim::comp
