// Tables of a kernel in the recorded file, written when it has ended (docs/file_format.md).
#pragma once
#include "components/checker/checker.h"
#include "components/launch/kernel_launch.h"
#include "components/simulation/gpu.h"
#include "simcore/record/recorder.h"

namespace gpusim::comp {

/// Counts of each SM.
void write_per_sm(core::Recorder& recorder, const KernelLaunch& run, const Gpu& gpu);
/// Counts of each machine operation.
void write_per_pc(core::Recorder& recorder, const KernelLaunch& run);
/// Every issue slot by its cause.
void write_issue_slots(core::Recorder& recorder, const SmStats& total);
void write_units(core::Recorder& recorder, const std::vector<UnitLoad>& units);
/// What --check found in this launch; no table if that is nothing.
void write_findings(core::Recorder& recorder, const KernelLaunch& run, const Checker& checker);

}  // namespace gpusim::comp
