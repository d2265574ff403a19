// Turns what the components counted into results: the counters, per-SM, per-PC and issue-slot tables and the
// time series of a kernel, for the summary and for the recorded file. Names are nvprof's where one exists;
// docs/statistics.md defines each.
#pragma once
#include <string>
#include <vector>

#include "components/launch/kernel_launch.h"
#include "components/power/governor.h"
#include "components/power/power_model.h"
#include "components/simulation/gpu.h"
#include "components/simulation/simulation.h"
#include "simcore/record/recorder.h"

namespace gpusim::comp {

/// Totals of a kernel without anything timed (functional runs).
[[nodiscard]] KernelResult summarise(const KernelLaunch& run, const core::MachineConfig& machine,
                                     const std::string& limiter);
/// Totals of a timed kernel, which took `seconds`.
[[nodiscard]] KernelResult summarise(const KernelLaunch& run, const core::MachineConfig& machine,
                                     const std::string& limiter, double seconds);

class RunRecorder {
 public:
  /// `recorder` may be null: results are computed, nothing is recorded. `checker`: of a run with --check.
  RunRecorder(core::Recorder* recorder, Gpu& gpu, PowerModel& power, const core::MachineConfig& machine,
              const Checker* checker = nullptr)
      : recorder_(recorder), gpu_(gpu), power_(power), machine_(machine), checker_(checker) {}

  void begin_kernel(KernelLaunch& run, const core::LaunchSpec& spec);
  [[nodiscard]] KernelResult end_kernel(KernelLaunch& run, const std::string& limiter);
  /// A run that ends early: closes the open kernels' tables without final counters.
  void abandon_kernels();
  /// What ran when, once nothing does any more.
  void write_timeline(const SimulationResult& result);
  /// What the whole system drew, where that is known.
  void write_system(const SimulationResult& result);
  /// One row of each time series (called at fixed cycles by the core domain's observer).
  void sample(uint64_t now);
  /// Issue slots of the kernels so far, for the governor.
  [[nodiscard]] SlotUse slot_use() const;

 private:
  struct OpenKernel {
    KernelLaunch* run = nullptr;
    const core::LaunchSpec* spec = nullptr;
    uint32_t number = 0;  ///< of its group in the recorded file
    uint32_t beside = 0;  ///< other kernels that have run meanwhile
    core::EventTable* series = nullptr;
    MachineStats at_start;
    SmStats last_sample;
    DramStats last_dram;
    uint64_t last_sample_cycle = 0;
    core::Femtoseconds start_fs = 0, last_sample_fs = 0;
    double last_energy = 0;     ///< joules at the last sample
    uint64_t core_changes = 0;  ///< of the core clock, when it began
  };
  [[nodiscard]] core::Femtoseconds time_of(core::Cycle c) const { return gpu_.core_domain().time_of(c); }
  /// The time that the kernel took, which has ended.
  [[nodiscard]] double seconds(const OpenKernel& kernel) const;
  void open_tables(OpenKernel& kernel);
  void sample(OpenKernel& kernel, uint64_t now);
  /// Counters of what all kernels share, between the kernel's start and its end.
  void add_machine_counters(const OpenKernel& kernel, KernelResult& k) const;
  void record_end(OpenKernel& kernel, const KernelResult& k);
  void write_per_sm(const KernelLaunch& run);
  void write_per_pc(const KernelLaunch& run);
  void write_issue_slots(const SmStats& total);
  void write_checks(const KernelLaunch& run);

  core::Recorder* recorder_;
  Gpu& gpu_;
  PowerModel& power_;
  const core::MachineConfig& machine_;
  const Checker* checker_;
  std::vector<OpenKernel> open_;  ///< in the order in which they began
  uint32_t begun_ = 0;
  SlotUse ended_;  ///< of kernels that have ended
};

}  // namespace gpusim::comp
