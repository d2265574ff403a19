// What was measured, and the JSON file that `gpusim correlate --hardware` reads (docs/correlate.md).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "plan.h"

namespace hardware {

struct DeviceInfo {
  std::string name, driver;
  int capability = 0, sms = 0;
  double core_khz = 0, memory_khz = 0;
  uint64_t memory_bytes = 0, l2_bytes = 0;
};

/// Of one launch, over the repetitions.
struct KernelTimes {
  std::vector<double> clock64;        ///< core cycles by the SMs' own clocks, launch not included
  std::vector<double> event_seconds;  ///< from one event to the next
  std::vector<double> clock_buffer;   ///< from the kernel's own clock reads; none if it has no such buffer
  int registers = 0;
};
struct RunResult {
  std::string not_run;  ///< why there is nothing else
  std::vector<KernelTimes> kernels;
  std::string cache;                ///< state of the caches at the begin; empty: not said
  double core_hz = 0;               ///< core clock, if it was not the device's highest
  double power_w = 0;               ///< average of the board over repetitions; 0: not measured
  double power_seconds = 0;         ///< of each of them
  double power_core_hz = 0;         ///< core clock after them
  std::vector<std::string> hashes;  ///< SHA-256 of each buffer of the plan, if they were taken; those that
                                    ///< note clocks are left out
};

double median(std::vector<double> values);

/// The whole file. `results[i]` is of `plans[i]`.
std::string results_json(const DeviceInfo& device, const std::string& date, const std::vector<Plan>& plans,
                         const std::vector<RunResult>& results);

}  // namespace hardware
