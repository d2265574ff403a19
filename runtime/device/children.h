// What kernels launch (CUDA dynamic parallelism): the device runtime that they call, and the grids, copies
// and fills that they ask for. When these start is comp::DeviceLaunches' business; of grids that run for
// values their children run when they have ended, or between two of their blocks if many are waiting.
#pragma once
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "components/launch/device_launches.h"
#include "isa/exec/device_services.h"
#include "runtime/device/device.h"
#include "runtime/device/work.h"

namespace gpusim::runtime {

class Device::Children {
 public:
  explicit Children(Device& device) : device_(device), values_([](uint32_t) {}) {}

  static constexpr uint64_t kDefaultPending = 2048;
  /// cudaLimitDevRuntimePendingLaunchCount.
  uint64_t most_pending = kDefaultPending;

  /// Device functions of the runtime: comp::HostServices::Runtime.
  void call(isa::RuntimeCall call, const isa::WarpContext& context, isa::LaneMask lanes,
            const isa::DeviceServices::Pointers& blocks, isa::DeviceServices::Pointers& results,
            isa::MemoryAccess& access);

  [[nodiscard]] static bool may_launch(const isa::KernelImage& image) {
    return (image.system_calls & isa::system_call_bit(isa::SystemCall::kRuntime)) != 0;
  }
  /// A grid that is about to run, of a kernel that may launch others.
  void begin(uint32_t number, Kernel& kernel, bool timed, uint32_t stream) {
    grids_[number] = Grid{&kernel, timed, stream, 0, {}, {}, {}, {}};
  }
  /// A timed grid has ended.
  void end(uint32_t number);
  /// The stream of the host's launch above a timed grid, or that is the grid itself.
  [[nodiscard]] uint32_t host_stream(const comp::KernelResult& ended) const;
  /// Runs a grid for its values, and everything that it launches.
  void run_for_values(Kernel& kernel, comp::KernelLaunch& run, uint32_t stream);
  /// Between two blocks of a grid that runs for values; `stuck`: all that are left wait for something. True
  /// if something was done.
  bool between_blocks(bool stuck);
  // Of a timed run, when what was launched starts, and when its time is over.
  comp::LiveRun::Hooks::Child start(uint64_t number);
  void done(uint64_t number);
  /// The simulated machine runs: nothing can be added to it but by the kernels on it.
  bool machine_runs = false;
  void reset();

 private:
  using Number = comp::DeviceLaunches::Number;
  struct Stream {
    std::vector<Number> waits;  ///< work that what is launched into it next waits for
  };
  /// What a grid has made, which is gone when it has ended.
  struct Grid {
    Kernel* kernel = nullptr;
    bool timed = false;
    uint32_t stream = 0;                 ///< of the host's launch above it
    uint32_t depth = 0;                  ///< grids above it
    std::map<uint64_t, Stream> streams;  ///< by number
    std::map<uint64_t, Number> events;   ///< by handle: the work that each marks
    std::map<uint64_t, int> errors;      ///< last ones, by thread
    std::set<uint64_t> buffers;          ///< of parameters, that were not launched
  };
  struct Buffer {
    Kernel* kernel = nullptr;  ///< null: what is launched names it
    Size3 grid, block;
    uint32_t dynamic_shared = 0;
    uint64_t bytes = 0;
  };
  /// Something that was launched and has not been done.
  struct Launched {
    Kernel* kernel = nullptr;  ///< null: a copy, a fill or an event
    core::LaunchSpec spec;
    std::vector<std::byte> parameters;
    uint32_t number = 0, parent = 0, depth = 0;
    uint32_t host_stream = 0;  ///< of the host's launch above it, when it has started
    bool timed = false;
    comp::PreparedLaunch launch;
    std::unique_ptr<Work> work;
  };
  /// One thread that calls.
  struct Caller {
    const isa::WarpContext& context;
    uint32_t lane = 0;
    uint32_t number = 0;  ///< of its grid
    Grid& grid;
    uint64_t block = 0, thread = 0;  ///< numbers in the grid
    bool own_stream = false;
    const std::byte* arguments = nullptr;
    const isa::RuntimeSignature& signature;
    isa::MemoryAccess& access;

    [[nodiscard]] uint64_t argument(size_t i) const;
    [[nodiscard]] std::span<const std::byte> bytes(size_t i) const;
    [[nodiscard]] Size3 size(size_t i) const;
    /// Writes to the address that an argument is. Throws Failure if it is null.
    void give(size_t i, const void* value, size_t bytes) const;
    template <class T>
    void give(size_t i, T value) const {
      give(i, &value, sizeof value);
    }
  };
  struct Target {
    comp::DeviceLaunches::Order order;
    Stream* stream = nullptr;  ///< null: neither waits nor events
  };

  // child_calls.cpp
  /// What a function gives; throws Failure. The address of a parameter buffer, or 0 for success.
  uint64_t carry_out(isa::RuntimeFunction function, const Caller& caller);
  [[nodiscard]] uint64_t text_of(const char* text);
  [[nodiscard]] Kernel& kernel_at(const Caller& caller, uint64_t address) const;
  [[nodiscard]] Target target_of(const Caller& caller, uint64_t stream);
  uint64_t parameter_buffer(const Caller& caller, const Buffer& buffer);
  void check_launch(const Caller& caller, const Buffer& launch) const;
  void launch(const Caller& caller, uint64_t buffer, const Buffer& launch, uint64_t stream);
  void create_stream(const Caller& caller);
  void record(const Caller& caller, uint64_t event, uint64_t stream);
  void copy(const Caller& caller, Copy copy, uint64_t stream);
  void fill(const Caller& caller, const Fill& fill, uint64_t stream);
  void check_memory(const void* pointer, uint64_t bytes) const;
  void give_attributes(const Caller& caller);
  void give_occupancy(const Caller& caller);

  // children.cpp
  Number add(const Caller& caller, const Target& target, Launched launched);
  void submit_work(const Caller& caller, std::unique_ptr<Work> work, uint64_t stream);
  void close(uint32_t number);
  void run_grid(Kernel& kernel, comp::KernelLaunch& run, uint32_t stream, uint32_t depth);
  /// Runs what waits, until so little is left.
  void drain(uint64_t pending);
  void carry_out(Launched& launched);
  void prepare(Launched& launched, bool timed);
  [[nodiscard]] uint64_t take_buffer(uint64_t bytes);
  void free_buffer(uint64_t address);

  Device& device_;
  std::unordered_map<uint32_t, Grid> grids_;
  comp::DeviceLaunches values_;  ///< of grids that run for values
  uint64_t generation_ = 0;      ///< grids that have run for values: what the last one launches goes first
  uint32_t depth_ = 0;           ///< of runs for values inside each other
  std::unordered_map<Number, Launched> launched_, launched_for_values_;
  std::list<Launched> running_;  ///< timed
  std::vector<uint32_t> ended_;  ///< of these
  std::vector<bool> lanes_;      ///< streams of core::kFirstChildStream that some grid has
  std::unordered_map<uint64_t, Buffer> buffers_;
  uint64_t prepared_ = 0;                                   ///< launches that have a buffer of these
  std::map<uint64_t, std::vector<uint64_t>> free_buffers_;  ///< by size
  std::unordered_map<const char*, uint64_t> texts_;
  uint64_t next_handle_ = 0;
  int notes_ = 0;  ///< on launches that failed
};

}  // namespace gpusim::runtime
