// The machine that microbenchmarks run on, as a program sees it: it loads PTX, gets buffers of zeros or of
// numbers that it gives, launches kernels one after another, and reads buffers and the kernels' times back.
// Nothing here tells how the machine is built; SimulatedDevice (simulated_device.h) runs on the simulator,
// CudaDevice (cuda_device.h) on a real GPU.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gpusim::microbench {

/// What a driver tells about a device.
struct DeviceProperties {
  int capability = 13;  ///< compute capability x 10
  uint32_t sms = 1;
  uint32_t threads_per_block = 512;  ///< at most
  uint32_t warps_per_sm = 32;        ///< resident, at most
  uint64_t shared_bytes = 16384;     ///< of a block, at most
  uint64_t memory_bytes = 0;
  double core_hz = 1e9;   ///< of the clock that kernels read
  double event_step = 0;  ///< seconds by which the time from one event to the next may be wrong
  /// Of many loads, so many may be slow for reasons of their own (a page that has to be looked up).
  double stray_loads = 0;
  uint32_t code_rounds = 1;  ///< in which straight code is run before it is as fast as it can be
  bool keeps_to_sms = true;  ///< Program::sms can be had
  /// Parameters lie in shared memory too on some machines.
  [[nodiscard]] uint64_t shared_for_data() const { return shared_bytes < 512 ? 0 : shared_bytes - 512; }
};

struct Argument {
  bool is_buffer = false;
  uint64_t value = 0;  ///< number, or index of a buffer of the program
  static Argument number(uint64_t v) { return {false, v}; }
  static Argument buffer(size_t index) { return {true, index}; }
};

struct Launch {
  std::string kernel;
  uint32_t blocks = 1, threads = 32;
  uint32_t shared_bytes = 0;  ///< dynamic
  std::vector<Argument> arguments;
  bool anywhere = false;  ///< it does not matter which multiprocessors take its blocks
};

/// What large buffers are aligned to.
inline constexpr uint64_t kBufferAlignment = uint64_t{1} << 28;

/// Device memory of 32-bit words.
struct Buffer {
  uint64_t bytes = 0;
  std::vector<uint32_t> content;  ///< of its first words; zeros behind them
  bool read_back = false;
};

/// Launches of one process: caches keep what earlier ones left (as far as the machine does).
struct Program {
  std::string ptx;
  std::vector<Buffer> buffers;
  std::vector<Launch> launches;
  uint32_t sms = 0;  ///< only that many multiprocessors take blocks (but see Launch::anywhere); 0: all
};

struct Outcome {
  std::vector<std::vector<uint32_t>> buffers;  ///< those read back; empty for the others
  std::vector<double> seconds;                 ///< of each launch, from one event to the next
};

class Device {
 public:
  virtual ~Device() = default;
  [[nodiscard]] virtual const DeviceProperties& properties() const = 0;
  /// Runs programs that do not depend on each other; outcomes in their order. Throws core::InputError when
  /// one fails.
  [[nodiscard]] virtual std::vector<Outcome> run(std::span<const Program> programs) = 0;

  [[nodiscard]] Outcome run_one(const Program& program) { return std::move(run({&program, 1}).front()); }
};

}  // namespace gpusim::microbench
