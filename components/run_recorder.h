// Turns what the components counted into results: the counters, per-SM, per-PC and issue-slot tables and the
// time series of a kernel, for the summary and for the recorded file. Names are nvprof's where one exists;
// docs/statistics.md defines each.
#pragma once
#include <string>
#include <vector>

#include "components/gpu.h"
#include "components/kernel_run.h"
#include "components/simulation.h"
#include "simcore/record/recorder.h"

namespace gpusim::comp {

/// Totals of a kernel without anything timed (functional runs).
[[nodiscard]] KernelResult summarise(const KernelRun& run, const core::MachineConfig& machine,
                                     const std::string& limiter);

class RunRecorder {
 public:
  /// `recorder` may be null: results are computed, nothing is recorded. `checker`: of a run with --check.
  RunRecorder(core::Recorder* recorder, Gpu& gpu, const core::MachineConfig& machine,
              const Checker* checker = nullptr)
      : recorder_(recorder), gpu_(gpu), machine_(machine), checker_(checker) {}

  void begin_kernel(KernelRun& run);
  [[nodiscard]] KernelResult end_kernel(KernelRun& run, const std::string& limiter);
  /// A run that ends early: closes the open kernel's tables without final counters.
  void abandon_kernel();
  /// One row of the time series (called at fixed cycles by the core domain's observer).
  void sample(uint64_t now);

 private:
  void write_per_sm(const KernelRun& run);
  void write_per_pc(const KernelRun& run);
  void write_issue_slots(const SmStats& total);
  void write_checks(const KernelRun& run);

  core::Recorder* recorder_;
  Gpu& gpu_;
  const core::MachineConfig& machine_;
  const Checker* checker_;
  KernelRun* run_ = nullptr;
  core::EventTable* series_ = nullptr;
  DramStats dram_at_start_;
  TlbStats tlb_at_start_;
  TextureStats textures_at_start_;
  L2Stats l2_at_start_;
  uint64_t flits_at_start_[2] = {0, 0};
  SmStats last_sample_;
  DramStats last_dram_;
  uint64_t last_sample_cycle_ = 0;
};

}  // namespace gpusim::comp
