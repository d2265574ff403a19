// What a run is asked for: program, machine, launches, and what to record and check.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "components/checker/options.h"
#include "components/functional/functional_runner.h"
#include "components/services/device_heap.h"
#include "components/services/print_fifo.h"
#include "isa/lowering/lowering.h"
#include "simcore/config/machine_config.h"
#include "simcore/launch/launch.h"
#include "simcore/record/event_schema.h"

namespace gpusim::comp {

class TlmMemory;

struct Progress {
  std::string kernel;
  uint64_t cycles = 0;
  uint64_t blocks_done = 0, blocks_total = 0;
  uint64_t warp_instructions = 0;
};

/// What the caches hold when a kernel begins. `kCold`: nothing at the first launch, later ones find what
/// those before them left. `kWarm`: all launches have run once before, on the same contents of memory; they
/// are not counted. `kFlushed`: nothing at any launch, as under profilers, which replay kernels one by one.
enum class CacheState : uint8_t { kCold, kWarm, kFlushed };
inline constexpr std::array<std::string_view, 3> kCacheStates{"cold", "warm", "flushed"};
/// Nothing if there is no such name.
[[nodiscard]] inline std::optional<CacheState> cache_state(std::string_view name) {
  for (size_t i = 0; i < kCacheStates.size(); ++i)
    if (kCacheStates[i] == name) return static_cast<CacheState>(i);
  return std::nullopt;
}

struct SimulationOptions {
  core::MachineConfig machine;
  std::string ptx_name;  ///< for messages
  std::string ptx_text;
  struct PtxFile {
    std::string name, text;
  };
  std::vector<PtxFile> linked;  ///< further PTX files, linked with the first
  core::LaunchDescription launch;
  uint32_t sms = 0;                      ///< 0: all
  uint64_t max_cycles = 10'000'000'000;  ///< core cycles per kernel (warp operations with `functional`)
  CacheState caches = CacheState::kCold;
  bool functional = false;
  bool strict_target = false;
  bool direct_driver = false;  ///< tests: activate modules without SystemC events, SMs never run ahead
  bool module_events = false;  ///< tests: activate each module through a SystemC event of its own
  /// Binds an outside TLM-2.0 memory to each DRAM channel, in place of our DRAM
  /// (components/dram/tlm_memory.h).
  std::function<void(TlmMemory&)> attach_memory;
  TraceStep trace;      ///< with `functional`: called for what each warp does, in its order
  CheckOptions checks;  ///< what to look for besides running
  isa::LoweringLevel lowering = isa::LoweringLevel::kSchedule;  ///< that of the program gpusim
  std::string out;                                              ///< HDF5 file; empty: none
  bool keep_other_runs = false;  ///< a file of another machine or program at `out` is refused, not replaced
  bool keep_kernel_results =
      false;  ///< LiveRun: results of all kernels to the end, even if nothing is recorded
  core::EventLevel events = core::EventLevel::kSummary;
  uint64_t sample_cycles = 0;  ///< between rows of the time series; 0: grows with the kernel (TimeSeries)
  int threads = 1;
  std::string command_line;  ///< canonical, for the recorded file
  std::string program_version;
  const std::atomic<bool>* interrupt = nullptr;
  std::function<void(const Progress&)> on_progress;
  std::function<void(const std::string&)> on_warning;
  std::function<void(std::string_view)> on_print;  ///< what kernels print, at the end of each launch
  /// Of printf() and malloc() in kernels (cudaDeviceSetLimit).
  uint64_t printf_fifo_bytes = PrintFifo::kDefaultBytes, malloc_heap_bytes = DeviceHeap::kDefaultBytes;
};

/// The user has asked the run to stop.
[[nodiscard]] inline bool interrupted(const SimulationOptions& options) {
  return options.interrupt != nullptr && options.interrupt->load(std::memory_order_relaxed);
}

}  // namespace gpusim::comp
