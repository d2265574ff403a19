// A whole run: PTX text and launch description onto a machine, executed cycle by cycle (or for values only),
// recorded and checked. The layer that cli/ and the end-to-end tests call. Input problems throw
// core::InputError; what the simulated program does wrong is in the result.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "components/checker/checker.h"
#include "components/functional/functional_runner.h"
#include "components/launch/kernel_launch.h"
#include "isa/exec/texture.h"
#include "isa/lowering/lowering.h"
#include "isa/ptx/module.h"
#include "simcore/config/machine_config.h"
#include "simcore/launch/launch.h"
#include "simcore/memory/device_memory.h"
#include "simcore/record/recorder.h"

namespace gpusim::comp {

class Gpu;
class RunRecorder;
class TlmMemory;

struct Progress {
  std::string kernel;
  uint64_t cycles = 0;
  uint64_t blocks_done = 0, blocks_total = 0;
  uint64_t warp_instructions = 0;
};

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
  bool functional = false;
  bool strict_target = false;
  bool direct_driver = false;  ///< tests: activate modules without SystemC events, SMs never run ahead
  bool module_events = false;  ///< tests: activate each module through a SystemC event of its own
  /// Binds an outside TLM-2.0 memory to each DRAM channel, in place of our DRAM
  /// (components/dram/tlm_memory.h).
  std::function<void(TlmMemory&)> attach_memory;
  TraceStep trace;      ///< with `functional`: called for what each warp does, in its order
  CheckOptions checks;  ///< what to look for besides running
  isa::LoweringLevel lowering = isa::LoweringLevel::kClean;
  std::string out;               ///< HDF5 file; empty: none
  bool keep_other_runs = false;  ///< a file of another machine or program at `out` is refused, not replaced
  core::EventLevel events = core::EventLevel::kSummary;
  int threads = 1;
  std::string command_line;  ///< canonical, for the recorded file
  std::string program_version;
  const std::atomic<bool>* interrupt = nullptr;
  std::function<void(const Progress&)> on_progress;
  std::function<void(const std::string&)> on_warning;
};

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
  std::string occupancy_limiter;
  SmStats total;  ///< over all SMs
  std::vector<core::Counter> counters;
  std::vector<std::string> top_stalls;  ///< "memory_dram 61.2 %", largest first
};

/// A timed host transfer over the machine's [host] link.
struct CopyResult {
  std::string buffer;
  bool is_variable = false;
  uint32_t stream = 0, engine = 0;
  bool to_device = true;
  uint64_t bytes = 0;
  double time_s = 0;            ///< latency + bytes / rate
  double start_s = 0;           ///< when it started
  uint64_t start = 0, end = 0;  ///< core cycles; 0 and 0 if it did not start
};

struct SimulationResult {
  enum class Status { kComplete, kFailed, kInterrupted };
  Status status = Status::kComplete;
  std::string reason;
  std::vector<KernelResult> kernels;  ///< that ended, in the order in which they began
  std::vector<CopyResult> copies;     ///< in the order of the launch file
  std::vector<core::ExpectResult> expects;
  double wall_s = 0;  ///< host seconds of the simulation proper
  uint64_t warp_instructions = 0;
  uint64_t cycles = 0;               ///< in which a kernel ran
  double time_s = 0;                 ///< the cycles as a time
  std::vector<Finding> findings;     ///< of the checks
  uint64_t finding_occurrences = 0;  ///< how often, all together
  bool findings_overflowed = false;  ///< some distinct ones are not in the list
  bool recorded = false;             ///< SimulationOptions::out holds this run
  [[nodiscard]] bool expectations_met() const;
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

/// Loads, lowers and checks everything at construction (throws core::InputError); run() may be called once.
class Simulation {
 public:
  explicit Simulation(SimulationOptions options);
  ~Simulation();
  [[nodiscard]] SimulationResult run();
  /// Content of a launch-file buffer or variable after run().
  [[nodiscard]] std::span<const std::byte> buffer(uint32_t index) const;
  /// Where it lies in device memory.
  [[nodiscard]] uint64_t buffer_address(size_t index) const { return buffer_address_.at(index); }
  [[nodiscard]] const SimulationOptions& options() const { return options_; }
  [[nodiscard]] const std::vector<std::unique_ptr<KernelLaunch>>& runs() const { return runs_; }

 private:
  void load_program();
  [[nodiscard]] isa::Module load_module(const std::string& name, const std::string& text) const;
  void bind_variables();  // simulation_variables.cpp
  void place_variables();
  /// Device memory; what is wrong with it is said of `place`, where it is declared.
  uint64_t allocate(uint64_t bytes, uint64_t align, const std::string& name, const std::string& place);
  void set_variables();
  void write_addresses();
  void warn_of_unset_constants() const;
  void make_checker();  // simulation_checks.cpp
  void collect_findings(SimulationResult& result) const;
  void place_textures();  // simulation_textures.cpp
  void check_textures() const;
  void prepare_launches();
  const isa::KernelImage& lower(const core::LaunchSpec& spec);
  void prepare_run(const core::LaunchSpec& spec);
  /// The machine can run at the clocks of the launch.
  void check_clocks(const core::LaunchSpec& spec) const;
  void run_timed(SimulationResult& result);
  void enqueue(Gpu& gpu, const SimulationResult& result) const;
  /// What happens now and then while the simulation runs: time series, recorder errors, progress. Throws
  /// RecordError.
  void observe(Gpu& gpu, RunRecorder& records, core::Recorder* recorder, const SimulationResult& result,
               core::Cycle now) const;
  void run_functional(SimulationResult& result);
  [[nodiscard]] std::unique_ptr<core::Recorder> open_recorder(bool& replaces) const;
  void close_recorder(core::Recorder& recorder, bool replaces, SimulationResult& result) const;
  [[nodiscard]] std::vector<CopyResult> copies() const;
  struct LaunchItem {
    size_t run;  ///< index into runs_
  };
  struct CopyItem {
    size_t copy;  ///< index into copies()
  };
  using Item = std::variant<LaunchItem, CopyItem>;
  /// Launches and copies in the order of the launch file.
  [[nodiscard]] std::vector<Item> order() const;

  struct LoweredKernel {
    std::string name;
    uint32_t registers;
    uint32_t stack;
    std::unique_ptr<isa::KernelImage> image;
    uint64_t code_address;  ///< timing only
  };
  [[nodiscard]] uint64_t code_address(const isa::KernelImage& image) const;
  SimulationOptions options_;
  isa::Module module_;
  core::DeviceMemory memory_;
  std::vector<uint64_t> buffer_address_;  ///< of the launch's buffers and variables
  std::vector<std::pair<const isa::Variable*, uint64_t>> variable_address_;   ///< module's and functions'
  std::vector<std::pair<const isa::Variable*, std::string>> constants_read_;  ///< and by which kernel
  std::vector<isa::Texture> textures_;  ///< as the launch file lists them
  std::unique_ptr<Checker> checker_;    ///< of a run with checks
  std::vector<LoweredKernel> images_;
  std::vector<std::unique_ptr<KernelLaunch>> runs_;
  std::vector<std::string> limiters_;              ///< per run
  std::vector<const core::LaunchSpec*> launches_;  ///< per run
};

}  // namespace gpusim::comp
