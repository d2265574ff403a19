// Follows the kernels of a timed run: what the machine had counted when each began, its time series, and when
// it has ended its result and its tables in the recorded file. Names of counters are nvprof's where one
// exists; docs/statistics.md defines each.
#pragma once
#include <string>
#include <vector>

#include "components/launch/kernel_launch.h"
#include "components/power/governor.h"
#include "components/power/power_model.h"
#include "components/simulation/gpu.h"
#include "components/simulation/prepared_launch.h"
#include "components/simulation/simulation_result.h"
#include "components/simulation/time_series.h"
#include "simcore/record/recorder.h"

namespace gpusim::comp {

class RunRecorder {
 public:
  /// `recorder` may be null: results are computed, nothing is recorded. `checker`: of a run with --check.
  /// `sample_cycles`: interval of the time series; 0: as long as kernels are (TimeSeries).
  RunRecorder(core::Recorder* recorder, Gpu& gpu, PowerModel& power, const core::MachineConfig& machine,
              const Checker* checker = nullptr, uint64_t sample_cycles = 0)
      : recorder_(recorder),
        gpu_(gpu),
        power_(power),
        machine_(machine),
        checker_(checker),
        sample_cycles_(sample_cycles) {}

  void begin_kernel(const PreparedLaunch& launch);
  [[nodiscard]] KernelResult end_kernel(const PreparedLaunch& launch);
  /// A run that ends early: closes the open kernels' tables with the counts at the present.
  void abandon_kernels();
  /// Looks at the kernels that run, at core cycle `now`: rows of their time series that are due, and from
  /// time to time all their counts, for whoever finds a file whose run was killed.
  void sample(uint64_t now);
  /// Core cycle at which the next row of a time series is due; never (~0), if none is.
  [[nodiscard]] uint64_t next_sample() const;
  [[nodiscard]] size_t open_kernels() const { return open_.size(); }
  /// Issue slots of the kernels so far, for the governor.
  [[nodiscard]] SlotUse slot_use() const;

 private:
  struct OpenKernel {
    KernelLaunch* run = nullptr;
    uint32_t number = 0;  ///< of its group in the recorded file
    uint32_t beside = 0;  ///< other kernels that have run meanwhile
    MachineStats at_start;
    core::Femtoseconds start_fs = 0;
    uint64_t core_changes = 0;  ///< of the core clock, when it began
    TimeSeries series;
    std::vector<UnitCount> units_at_start{};
    uint32_t states = 0;      ///< written while it runs
    uint64_t next_state = 0;  ///< core cycles since its start
  };
  [[nodiscard]] core::Femtoseconds time_of(core::Cycle c) const { return gpu_.core_domain().time_of(c); }
  /// The time that the kernel took until `end`.
  [[nodiscard]] double seconds(const OpenKernel& kernel, core::Cycle end) const;
  /// Begins the kernel's group in the file, and gives it the event tables of the run's level. Returns the
  /// tables of its time series.
  SeriesTables open_group(const PreparedLaunch& launch);
  /// What is counted of a kernel that runs, as tables of their own.
  void write_state(OpenKernel& kernel, core::Cycle now);
  // Units whose work is counted by kernel.
  [[nodiscard]] UnitLoad shared_memory_load(const KernelLaunch& run, uint64_t cycles) const;
  [[nodiscard]] UnitLoad dispatcher_load(const KernelLaunch& run, uint64_t cycles) const;
  /// Counters of what all kernels share, between the kernel's start and its end.
  void add_machine_counters(const OpenKernel& kernel, KernelResult& k) const;
  /// Writes the kernel's tables and ends its group.
  void close_group(OpenKernel& kernel, const KernelResult& k);

  core::Recorder* recorder_;
  Gpu& gpu_;
  PowerModel& power_;
  const core::MachineConfig& machine_;
  const Checker* checker_;
  uint64_t sample_cycles_;
  std::vector<OpenKernel> open_;  ///< in the order in which they began
  uint32_t begun_ = 0;
  SlotUse ended_;  ///< of kernels that have ended
};

}  // namespace gpusim::comp
