// A simulated GPU inside a program of your own, without CUDA: device memory, kernels from PTX, streams,
// simulated time. Link with libgpusim.so (CMake: gpusim::gpu; docs/running_programs.md,
// examples/embedded_gpu).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace gpusim {

/// What is wrong, in words; code() is the number that cudaError_t has for it.
class GpuError : public std::runtime_error {
 public:
  GpuError(int code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] int code() const { return code_; }

 private:
  int code_;
};

struct GpuOptions {
  std::string config;             ///< machine: a path, or a name found in `config_folders`
  std::vector<std::string> sets;  ///< "section.key=value", as --set
  std::vector<std::string> config_folders;
  bool functional = false;  ///< values only: no simulated time
  std::string timed;  ///< launches that are simulated cycle by cycle, as `gpusim run --timed`; empty: all
  std::string out;    ///< recorded HDF5 file; empty: none
  std::string check;  ///< "memory,race", as --check; empty: none
  uint32_t sms = 0;   ///< use only so many SMs; 0: all
  uint64_t max_cycles = 10'000'000'000;          ///< a kernel that runs longer is an error
  bool quiet = true;                             ///< no report on standard error at the end
  std::function<void(std::string_view)> print;   ///< what kernels print; standard output if not given
  std::function<void(const std::string&)> warn;  ///< messages; standard error if not given
};

struct Extent {
  uint32_t x = 1, y = 1, z = 1;
};

/// A launch that has been simulated cycle by cycle.
struct KernelTime {
  std::string name;
  uint64_t launch = 0;  ///< its rank among all launches, from 0
  uint64_t cycles = 0;  ///< of the core clock
  double seconds = 0;
  uint64_t warp_instructions = 0;
};

/// One for each process may simulate time (SystemC builds its modules once). Calls from several threads must
/// not overlap. All functions throw GpuError; after a fault of a kernel, all of them do. Work of streams is
/// carried out when somebody waits for it.
class Gpu {
 public:
  explicit Gpu(const GpuOptions& options);
  /// As finish().
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  /// Device memory lies in the process: the address means the same to host and device. The host may access it
  /// directly when nothing is under way, which takes no simulated time; copies do.
  [[nodiscard]] void* allocate(uint64_t bytes);
  void release(void* memory);
  void copy_to_device(void* device, const void* host, uint64_t bytes, uint32_t stream = 0);
  /// Returns when the bytes have arrived.
  void copy_to_host(void* host, const void* device, uint64_t bytes, uint32_t stream = 0);
  void copy_on_device(void* to, const void* from, uint64_t bytes, uint32_t stream = 0);
  void fill(void* device, uint8_t value, uint64_t bytes, uint32_t stream = 0);

  struct Text {
    std::string name;  ///< for messages: the file
    std::string ptx;
  };
  /// A program of one or several PTX texts, linked. Its number, for launch().
  uint32_t load(std::span<const Text> texts);
  uint32_t load(std::string name, std::string ptx) {
    const std::array<Text, 1> one{{{std::move(name), std::move(ptx)}}};
    return load(one);
  }
  struct Variable {
    void* address = nullptr;
    uint64_t bytes = 0;
  };
  /// A .global or .const variable of a program.
  [[nodiscard]] Variable variable(uint32_t program, const std::string& name);

  /// `arguments`: where each argument lies, as many as the kernel has, each of the size that the kernel says.
  void launch(uint32_t program, const std::string& kernel, Extent grid, Extent block,
              std::span<const void* const> arguments, uint32_t dynamic_shared = 0, uint32_t stream = 0);
  /// The same with the arguments themselves: their types must have the sizes of the kernel's parameters.
  template <class... Arguments>
  void run(uint32_t program, const std::string& kernel, Extent grid, Extent block,
           const Arguments&... arguments) {
    const std::array<const void*, sizeof...(Arguments)> places{static_cast<const void*>(&arguments)...};
    launch(program, kernel, grid, block, places);
  }
  /// Streams have numbers: 0 is CUDA's legacy default stream, others are made at their first use.
  void synchronize();
  void synchronize(uint32_t stream);

  /// Simulated seconds of all that has been carried out.
  [[nodiscard]] double seconds() const;
  /// Of the launches that have ended, in the order in which they were issued.
  [[nodiscard]] std::vector<KernelTime> kernels() const;
  /// Distinct mistakes that the checks have found.
  [[nodiscard]] uint64_t findings() const;
  /// Carries out what is left and closes the recorded file. Nothing runs afterwards.
  void finish();

 private:
  struct Implementation;
  std::unique_ptr<Implementation> own_;
};

}  // namespace gpusim
