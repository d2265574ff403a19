// What a run has come to: kernels, copies, what the checks found, and how it ended.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "components/checker/finding.h"
#include "components/launch/kernel_launch.h"
#include "components/simulation/unit_use.h"
#include "simcore/launch/launch.h"
#include "simcore/stats/counters.h"

namespace gpusim::comp {

struct KernelResult {
  std::string name;
  uint32_t launch = 0;  ///< number in the order of the launch file
  uint32_t number = 0;  ///< in the order in which kernels began: its group in the recorded file
  uint32_t stream = 0;
  Dim3 grid, block;
  uint64_t start = 0;   ///< core cycle
  double start_s = 0;   ///< the start as a time
  uint64_t cycles = 0;  ///< core cycles; 0 with --functional
  uint32_t beside = 0;  ///< other kernels that ran during some of it
  double time_s = 0;
  uint32_t registers = 0, shared_bytes = 0, blocks_per_sm = 0;
  bool registers_estimated = true;  ///< ours, what the launch file does not say
  std::string occupancy_limiter;
  SmStats total;  ///< over all SMs
  std::vector<core::Counter> counters;
  std::vector<UnitLoad> units;          ///< empty with --functional
  std::vector<std::string> top_stalls;  ///< "memory_dram 61.2 %", largest first
};

/// A timed host transfer over the machine's [host] link, or bytes that move within device memory.
struct CopyResult {
  enum class Form : uint8_t {
    kTransfer,
    kFill,   ///< with a pattern
    kInside  ///< from device memory to device memory
  };
  Form form = Form::kTransfer;
  std::string buffer;
  bool is_variable = false;
  uint32_t stream = 0, engine = 0;
  bool to_device = true;
  uint64_t bytes = 0;
  double time_s = 0;            ///< latency + bytes / rate; within device memory at the rate of its buses
  double start_s = 0;           ///< when it started
  uint64_t start = 0, end = 0;  ///< core cycles; 0 and 0 if it did not start
};

/// Bytes of device memory that a run has left, as one number (simcore/memory/fingerprint.h).
struct MemoryFingerprint {
  std::string name;  ///< of a buffer or variable
  uint64_t bytes = 0, fingerprint = 0;
};

struct SimulationResult {
  enum class Status {
    kComplete,
    kFailed,
    kInterrupted,
    kUnrecorded  ///< SimulationOptions::out cannot be written, for which the run has stopped if it had not
                 ///< ended
  };
  Status status = Status::kComplete;
  std::string reason;
  bool ended = false;  ///< all launches and transfers have
  /// Why it has failed, if the executor found it: an access out of bounds, an assert() and so on.
  isa::FaultKind fault = isa::FaultKind::kNone;
  std::vector<KernelResult> kernels;  ///< that ended, in the order in which they began
  std::vector<CopyResult> copies;     ///< in the order in which the host issued them
  std::vector<core::ExpectResult> expects;
  std::vector<MemoryFingerprint> fingerprints;  ///< of a recorded run that ended well
  double wall_s = 0;                            ///< host seconds of the simulation proper
  uint64_t warp_instructions = 0;
  uint64_t cycles = 0;            ///< in which a kernel ran
  double time_s = 0;              ///< the cycles as a time
  std::vector<Finding> findings;  ///< of the checks
  CheckCounts check_counts;
  bool recorded = false;  ///< SimulationOptions::out holds this run
  [[nodiscard]] bool expectations_met() const;
  /// Instructions, cycles and time of all kernels, which stand in the order in which they began.
  void add_up_kernels();
};

/// A launch or a transfer that was carried out.
struct TimelineItem {
  const KernelResult* kernel = nullptr;  ///< or
  const CopyResult* copy = nullptr;
  uint32_t stream = 0;
  uint64_t start = 0, end = 0;  ///< core cycles
  double start_s = 0, end_s = 0;
};
/// In the order in which they began; of those that began at the same time, kernels first.
[[nodiscard]] std::vector<TimelineItem> timeline(const SimulationResult& result);

}  // namespace gpusim::comp
