// A run whose work comes from a program that goes on meanwhile: the machine stands still between two calls of
// run(), as it was when the work before was done. One per process (SystemC elaborates once).
#pragma once
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
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
    /// What a kernel has launched starts: the launch to run, which must live until kernel_ended, or null and
    /// the seconds that it takes without one.
    struct Child {
      PreparedLaunch* launch = nullptr;
      double seconds = 0;
    };
    std::function<Child(uint64_t number)> child = {};
    std::function<void(uint64_t number)> child_done = {};
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
  /// Each returns a number for Order::after, which means nothing any more once run() has returned. The launch
  /// must live until kernel_ended. Numbers of copies may begin anew then.
  uint32_t add(PreparedLaunch& launch, Order order);
  uint32_t add_copy(CopyResult copy, Order order, uint32_t number);
  uint32_t add_marker(Order order, uint32_t number);
  /// Work that a kernel launches at present; returns its number for the hooks and for Item::after. A grid, a
  /// copy or a fill takes as long as the machine's child_launch until it may start, an event starts at once.
  uint64_t add_child(DeviceLaunches::Item item, bool at_once = false);
  /// The last work of a stream of a grid that runs, if it is not complete.
  [[nodiscard]] std::optional<uint64_t> last_child(uint32_t grid, uint64_t stream) const;
  /// Grids that kernels have launched and that have not started.
  [[nodiscard]] uint64_t pending_children() const;
  /// Until all work is done. False if it never will be: failure() says why, and nothing runs any more.
  bool run();
  [[nodiscard]] const std::string& failure() const { return error_; }
  /// Simulated seconds since the first work.
  [[nodiscard]] double now_s() const;
  /// Writes further tables of the run now, so that a killed one leaves them.
  void record(const std::function<void(core::Recorder&)>& write) const;
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
  /// Before what is added when all work so far is done: what is kept for the work that goes on is given up.
  void begin_batch();

  bool all_done_ = true, begun_ = false;
  size_t first_copy_ = 0;  ///< in result_.copies: number 0 of add_copy()
  std::exception_ptr failure_;
  std::vector<PreparedLaunch*> open_;  ///< added and not ended
  RunFile file_;
  core::Engine engine_;
  Gpu gpu_;
  PowerModel power_;
  RunRecorder records_;
};

}  // namespace gpusim::comp
