// A simulated GPU inside a program: the C++ interface over which the CUDA runtime and driver libraries of
// gpusim are thin, and which other host programs embed. Device memory lies in the process at addresses that
// host and device share. Not for several threads at a time: callers lock mutex(). Functions throw Failure.
//
// Work is carried out when a result of it can be seen: for values at once, in the order in which it is
// submitted; in a timed run when somebody waits for it (synchronize(), a copy that blocks, an event), so that
// streams overlap as their order allows. Simulated time stands still while the program computes.
#pragma once
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "components/checker/checker.h"
#include "components/functional/functional_runner.h"
#include "components/host/host_ranges.h"
#include "components/services/host_services.h"
#include "components/simulation/kernel_images.h"
#include "components/simulation/live_run.h"
#include "components/simulation/prepared_launch.h"
#include "isa/exec/texture.h"
#include "isa/ptx/module.h"
#include "runtime/device/array.h"
#include "runtime/device/error.h"
#include "runtime/device/host_functions.h"
#include "runtime/device/options.h"
#include "runtime/device/program.h"
#include "runtime/device/progress.h"
#include "runtime/device/requests.h"
#include "runtime/device/sharing.h"
#include "runtime/device/stream.h"
#include "simcore/memory/device_memory.h"

namespace gpusim::runtime {

class Export;

class Device {
 public:
  /// Throws Failure (kNoDevice) with what is wrong with the options.
  explicit Device(DeviceOptions options);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  [[nodiscard]] const core::MachineConfig& machine() const { return simulation_.machine; }
  [[nodiscard]] bool functional() const { return options_.functional; }
  [[nodiscard]] std::recursive_mutex& mutex() { return mutex_; }
  /// Throws what a kernel has done wrong, again and again (sticky errors).
  void check() const;
  void warn(const std::string& text) const;

  // Memory. Pointers are those of the process.
  std::byte* allocate(uint64_t bytes, const std::string& name = {});
  std::byte* allocate_host(uint64_t bytes, unsigned flags = 0);
  std::byte* allocate_managed(uint64_t bytes);
  /// False if nothing of that kind begins there.
  bool release(void* memory);
  /// Of allocate_host(), or of register_host().
  bool release_host(void* memory, bool registered = false);
  void register_host(void* memory, uint64_t bytes, unsigned flags);
  void unregister_host(void* memory);
  [[nodiscard]] PointerKind pointer_kind(const void* pointer) const;
  /// Device memory whose addresses the caller manages: take_bytes() has it without an address, map() makes
  /// known where the caller has mapped it, until release().
  void take_bytes(uint64_t bytes);
  void give_bytes(uint64_t bytes) { taken_bytes_ -= bytes; }
  /// `host_writes`: it has values that nobody here has written.
  void map(void* memory, uint64_t bytes, bool host_writes = false);
  /// Device memory that this process has allocated, at an address of ours.
  [[nodiscard]] bool is_own(const void* pointer) const {
    const core::Allocation* const a = memory_.find(reinterpret_cast<uint64_t>(pointer));
    return a != nullptr && !a->of_host;
  }
  [[nodiscard]] Sharing& sharing() { return sharing_; }
  [[nodiscard]] uint64_t free_bytes() const { return memory_.capacity() - memory_.used() - taken_bytes_; }
  [[nodiscard]] uint64_t total_bytes() const { return memory_.capacity(); }

  // Programs
  Module& add_module(std::vector<Module::Text> texts, Module::Made made);
  void remove_module(Module& module);
  [[nodiscard]] bool is_module(const Module* module) const;
  Kernel& kernel(Module& module, const std::string& name);
  /// The one with that address; null if there is none.
  [[nodiscard]] Kernel* kernel_at(const void* address) const;
  /// Blocks of the kernel that an SM holds at a time.
  [[nodiscard]] int blocks_per_sm(Kernel& kernel, uint32_t threads, uint64_t dynamic_shared);
  /// Dynamic shared memory that so many blocks on an SM may have each.
  [[nodiscard]] uint64_t available_shared(Kernel& kernel, uint32_t threads, int blocks);
  [[nodiscard]] uint64_t most_dynamic_shared(Kernel& kernel);
  /// As a program sets it; false if no block can have so much.
  [[nodiscard]] bool set_max_dynamic_shared(Kernel& kernel, int bytes);
  /// The multiprocessors in the order in which parts of the device are given away.
  [[nodiscard]] std::vector<uint32_t> sms_in_parts() const;
  /// Clusters of `blocks` blocks that run at a time. The most blocks that a cluster may have.
  [[nodiscard]] int clusters_together(Kernel& kernel, uint32_t threads, uint64_t dynamic_shared,
                                      uint32_t blocks);
  [[nodiscard]] uint32_t most_cluster_blocks(const Kernel& kernel) const;
  /// What the launch, the kernel or its attributes say of clusters; nothing: there are none.
  [[nodiscard]] static std::optional<Size3> cluster_of(const LaunchRequest& request,
                                                       const isa::KernelImage& image);
  /// Throws if the launch has clusters of another size than the kernel.
  static void check_cluster_size(const LaunchRequest& request, const isa::KernelImage& image);
  /// Threads that a block of the kernel may have.
  [[nodiscard]] int most_threads(Kernel& kernel);

  // Streams and events
  Stream& legacy_stream() { return legacy_; }
  Stream& thread_stream();
  Stream& add_stream(bool blocking, int priority, unsigned flags);
  void remove_stream(Stream* stream);
  [[nodiscard]] bool is_stream(const Stream* stream) const;
  Event& add_event(bool timing);
  void remove_event(Event* event);
  [[nodiscard]] bool is_event(const Event* event) const {
    return events_.contains(const_cast<Event*>(event));
  }
  void record(Event& event, Stream& stream);
  void wait(Stream& stream, const Event& event);
  /// The event stands for what all streams have so far; what they get from now on waits for it.
  void record_all(Event& event);
  void wait_all(const Event& event);
  void synchronize();
  void synchronize(const Stream& stream);
  void synchronize(const Event& event);
  /// Whether all is done in the simulated time that the program has reached. It stands still while the
  /// program computes, and goes on as it waits; who asks in vain waits too, each time twice as long. Of a
  /// timed run work is carried out when it is asked for a second time.
  [[nodiscard]] bool is_done(const Stream& stream);
  [[nodiscard]] bool is_done(const Event& event);
  /// Milliseconds of simulated time between two events that were reached.
  [[nodiscard]] double milliseconds(Event& from, Event& to);

  // Work
  /// Throws for a launch that this machine does not have, or not of this kernel. Returns the kernel's image.
  const isa::KernelImage& check_launch(const LaunchRequest& request);
  void launch(const LaunchRequest& request, Stream& stream);
  void copy(Copy copy, Stream& stream, bool wait);
  /// A copy that was not told to wait waits all the same: CUDA returns from one within the host's memory, or
  /// from the device's to memory that is not pinned, when it is done. Not while a kernel is known to wait for
  /// memory: the program may be what it waits for, and would hang on a GPU.
  [[nodiscard]] bool always_waits(const Copy& copy) const;
  void fill(const Fill& fill, Stream& stream, bool wait);
  /// A function of the program. It has a thread of its own, and others may call the device meanwhile.
  /// `after_failure` is called in its place if a kernel has failed, also when nothing that the program has
  /// called since has said so.
  void host_function(std::function<void()> function, Stream& stream,
                     std::function<void(Code)> after_failure = {});
  /// A function of this library, which must not wait.
  void action(std::function<void()> function, Stream& stream);
  /// What comes later in the stream begins when `ready()`, which looks at memory. In a timed run it must be
  /// so when what was submitted before is done.
  void wait_until(std::function<bool()> ready, Stream& stream);

  // Arrays
  Array& add_array(const ArrayShape& shape);
  [[nodiscard]] bool is_array(const Array* array) const { return arrays_.contains(array); }
  void remove_array(const Array* array);

  // Textures: handles are what kernels get.
  uint64_t add_texture(const isa::Texture& texture);
  void remove_texture(uint64_t handle);
  /// A handle for a texture reference, which nothing is bound to yet, until release_texture().
  uint64_t reserve_texture();
  void release_texture(uint64_t handle);
  /// What a reference reads from now on; null: nothing.
  void bind_texture(uint64_t handle, const isa::Texture* texture);
  [[nodiscard]] const isa::Texture* texture(uint64_t handle) const;

  /// As cudaLimit numbers them.
  enum class Limit : uint8_t {
    kStack,
    kPrintfBytes,
    kHeapBytes,
    kSyncDepth,
    kPendingLaunches,
    kL2Granularity,
    kPersistingL2,
    kSharedBytes
  };
  static constexpr size_t kLimits = 8;
  /// Throws if the machine has no such limit.
  [[nodiscard]] uint64_t limit(Limit limit) const;
  /// To a value that the machine can have, not below `value`. False if it has none, or if a kernel that was
  /// launched depends on the limit already.
  bool set_limit(Limit limit, uint64_t value);

  /// Simulated seconds so far.
  [[nodiscard]] double now_s() const;
  [[nodiscard]] uint64_t launches() const { return launch_count_; }
  /// Of the timed launches that have ended, if options or a recorded file ask for them.
  [[nodiscard]] std::span<const comp::KernelResult> timed_kernels() const {
    if (live_ == nullptr) return {};
    return live_->result().kernels;
  }
  /// Distinct mistakes that the checks have found.
  [[nodiscard]] size_t findings() const { return checker_ == nullptr ? 0 : checker_->log().size(); }
  /// After finish(): an option has named no launch, or nothing could be exported. It has been said.
  [[nodiscard]] bool in_vain() const { return in_vain_; }
  /// Carries out what nobody has waited for; what fails has been told.
  void do_what_is_left();
  /// The same, closes the recorded file, and says what was done. Nothing runs afterwards.
  void finish();
  /// All memory, modules' values, streams and events are as at the beginning (cudaDeviceReset).
  void reset();

 private:
  friend class Module;
  friend class Kernel;
  class Memory;
  class Children;
  struct Work;
  /// Carries out everything that was submitted.
  void flush();
  // Of a timed run (runtime/device/timed_work.cpp).
  [[nodiscard]] comp::LiveRun::Hooks hooks();
  void make_machine();
  [[nodiscard]] comp::CopyResult transfer_of(const Work& work) const;
  void hand_over(Work& work);
  /// False if a kernel has failed.
  bool run_machine();
  /// Returns its number.
  uint64_t submit(std::unique_ptr<Work> work, Stream& stream);
  uint64_t take_number(Work& work, Stream& stream);
  void carry_out(Work& work);
  // Of a run for values: kernels that wait for what the host or other work will write are put aside, and what
  // comes after them with them.
  std::unique_ptr<comp::FunctionalRunner> make_runner();
  [[nodiscard]] bool has_to_wait(const Work& work) const;
  /// The stream's work, or what it comes after in the legacy default stream, is not done.
  [[nodiscard]] bool is_waiting(const Stream& stream) const;
  /// The kernel waits, or has run for so long that the program goes on meanwhile.
  [[nodiscard]] bool may_put_aside(const comp::FunctionalRunner& runner,
                                   comp::FunctionalRunner::Outcome outcome) const;
  /// Of a kernel, before its launch is over.
  [[nodiscard]] uint64_t operations_at_once() const;
  void put_aside(std::unique_ptr<Work> launch, Stream& stream);
  /// Carries out what has to wait no more, and goes on with kernels; true if something has happened.
  bool go_on();
  /// Calls a function of the program, if it was not called. True if it is done.
  [[nodiscard]] bool call_back(Work& work);
  /// The same until it is done, while a timed run stands still.
  void call_back_and_wait(Work& work);
  /// What functions of the program are called in the place of those that a failed kernel prevents.
  void call_after_failure(std::vector<std::function<void(Code)>> functions);
  /// The timed run stands still in another thread, at a function of the program.
  [[nodiscard]] bool machine_is_busy() const;
  void wait_for_machine();
  /// In a thread of its own, as long as a kernel is put aside or work waits.
  void begin_beside();
  void go_on_beside(const std::stop_token& stop);
  void stop_beside();
  // When work is done, and how far the program is (runtime/device/host_time.cpp).
  void note_done(uint32_t stream, double seconds);
  /// Of a run for values. `before`: when what was in the stream before is done.
  void note_launched(uint32_t stream, double before, const comp::FunctionalRunner& runner);
  void note_carried_out(const Work& work, double before);
  /// By its number, also of a stream that was destroyed meanwhile.
  [[nodiscard]] double done_s(uint32_t stream) const;
  /// When the work of the stream, and what it comes after in the legacy default stream, is done.
  [[nodiscard]] double done_s(const Stream& stream) const;
  /// Of a timed run: work of the stream, or what it comes after, was not carried out yet.
  [[nodiscard]] bool is_pending(const Stream& stream) const;
  /// The program has waited until then.
  void waited(double seconds);
  /// The program goes on a little. Returns false.
  bool ask_in_vain();
  /// Whether the program is so far; if not, it asks in vain.
  bool is_past(double seconds);
  /// Until `done()`, or until nothing happens any more: then the launch that waits has failed.
  void go_on_until(const std::function<bool()>& done);
  /// The same for all that is open when the program ends, which ends what waits for it.
  void go_on_at_end();
  void give_up_what_waits();
  /// Others may call the device meanwhile.
  void sleep(std::chrono::microseconds time);
  void end_launch(Work& work, comp::FunctionalRunner::Outcome outcome);  ///< that was put aside or waited
  void end_values(comp::KernelLaunch& run, comp::FunctionalRunner& runner,
                  comp::FunctionalRunner::Outcome outcome);
  void move_bytes(Work& work);
  void run_for_values(comp::KernelLaunch& run, comp::FunctionalRunner& runner);
  [[nodiscard]] comp::PreparedLaunch prepared(const core::LaunchSpec& spec, uint64_t number,
                                              const comp::KernelImages::LoweredKernel& kernel,
                                              std::vector<std::byte> parameters, bool timed) const;
  /// Of a kernel that is launched again in the same shape, everything but the parameters is there already.
  [[nodiscard]] comp::KernelLaunch& launch_for_values(Kernel& kernel, const core::LaunchSpec& spec,
                                                      uint64_t number, std::vector<std::byte> parameters);
  /// What kernels of the stream are kept to; null: nothing, as in a run on some of the machine's SMs.
  [[nodiscard]] const SmPart* part_of(const Stream& stream) const;
  void check_part(const LaunchRequest& request, const isa::KernelImage& image, const SmPart& part);
  /// The list of launches in options_.timed names it.
  [[nodiscard]] bool is_chosen(const Kernel& kernel, uint64_t number) const;
  [[nodiscard]] bool is_timed(const Kernel& kernel, uint64_t number) const;
  /// Shared memory that an SM sets aside where a kernel prefers some (cudaFuncAttributePreferredShared-
  /// MemoryCarveout) and a block needs `block_bytes`.
  [[nodiscard]] uint64_t carved_shared(const Kernel& kernel, uint64_t block_bytes) const;
  [[nodiscard]] std::vector<std::byte> parameters_of(const LaunchRequest& request,
                                                     const isa::KernelImage& image) const;
  void check_shape(const LaunchRequest& request, const isa::KernelImage& image) const;
  /// Returns the device address of its barrier.
  uint64_t check_cooperative(const LaunchRequest& request, const isa::KernelImage& image, const SmPart* part);
  [[nodiscard]] static core::LaunchSpec spec_of(const LaunchRequest& request, const isa::KernelImage& image,
                                                const Stream& stream);
  /// Runs for its values what nothing has to come before.
  void launch_now(Kernel& kernel, const isa::KernelImage& image, comp::KernelLaunch& run, uint64_t number,
                  Stream& stream);
  void check_cluster(const LaunchRequest& request, const isa::KernelImage& image) const;
  [[nodiscard]] size_t free_texture();
  [[noreturn]] void fail(Code code, const std::string& message);
  /// Tells it, and all later calls fail.
  void note_fault(Code code, const std::string& message);
  // What the checks and the export know of device memory, and what the checks have found since the last time.
  // `host_writes`: the program writes there itself, unseen. `type`: that a variable is declared with.
  void watch_memory(uint64_t base, comp::GlobalObject::Kind kind, bool host_writes = false,
                    std::string_view type = {});
  void forget_memory(uint64_t base);
  void mark_written(const Work& work);
  /// Device memory that neither knows of yet.
  std::byte* reserve(uint64_t bytes, const std::string& name);
  /// An export that cannot go on is given up; the program goes on.
  template <class Action>
  void exported(Action action);
  void run_exported(Kernel& kernel, uint64_t number, const comp::KernelLaunch& run,
                    const std::function<void()>& launch);
  void end_export();
  void retire(Kernel& kernel);
  /// A kernel has gone out of an allocation, in one of its pages; said once for each.
  void tell_stray(const core::Allocation& allocation);
  void tell_findings();
  /// None of the launches was one that options_.timed names.
  void tell_unchosen();
  void report() const;
  void write_launches(core::Recorder& recorder) const;
  void write_new_texts(core::Recorder& recorder);
  [[nodiscard]] double copy_seconds(Copy::Direction direction, uint64_t bytes) const;

  DeviceOptions options_;
  comp::SimulationOptions simulation_;
  std::recursive_mutex mutex_;
  core::DeviceMemory memory_;
  struct HostFlags {
    PointerKind::Memory memory;
    unsigned flags;
    bool registered = false;  ///< memory of the program, not of allocate_host()
  };
  std::map<uint64_t, HostFlags> host_memory_;
  comp::HostRanges host_ranges_;  ///< what timed kernels reach over the host's link
  uint64_t taken_bytes_ = 0;
  std::map<const Array*, std::unique_ptr<Array>> arrays_;
  Sharing sharing_{*this};
  std::vector<std::unique_ptr<isa::Texture>> textures_;
  std::set<size_t> texture_references_;  ///< numbers of textures that are some reference's
  comp::HostServices services_;          ///< what kernels print and allocate
  std::unique_ptr<Memory> view_;         ///< memory_ and textures_ as the executor sees them
  std::list<Module> modules_;
  std::map<std::pair<Module*, std::string>, std::unique_ptr<Kernel>> kernels_;
  uint64_t next_code_ = comp::kFirstCodeAddress;
  Stream legacy_;
  std::map<const Stream*, std::unique_ptr<Stream>> streams_;
  std::map<std::thread::id, Stream*> thread_streams_;
  Stream* joined_ = nullptr;                    ///< in which events of all streams are recorded
  std::vector<uint64_t> waits_of_new_streams_;  ///< work that streams wait for which are made from now on
  std::unordered_map<Event*, std::unique_ptr<Event>> events_;
  uint32_t next_stream_ = 1;
  std::unique_ptr<comp::Checker> checker_;  ///< of a run with checks
  /// Kernels whose modules are gone; findings are told apart by their images.
  std::vector<std::unique_ptr<comp::KernelImages::LoweredKernel>> retired_;
  std::vector<comp::PreparedLaunch> retired_launches_;
  /// The second runs what a kernel has launched while blocks of that one are left.
  std::unique_ptr<comp::FunctionalRunner> runner_, inner_runner_;
  std::unique_ptr<Children> children_;
  std::unique_ptr<comp::LiveRun> live_;
  std::vector<std::unique_ptr<Work>> pending_, carried_out_;
  uint64_t work_count_ = 0;
  std::set<uint64_t> open_;                       ///< numbers of work that was put aside or waits for such
  std::vector<std::unique_ptr<Work>> aside_;      ///< launches that have begun
  std::unordered_map<uint64_t, uint32_t> order_;  ///< of work in live_, by its number
  std::vector<Work*> transfers_, markers_;        ///< of work in live_, by the numbers that it has there
  uint64_t legacy_barrier_ = 0;                   ///< last work of the legacy stream
  std::vector<double> done_s_;                    ///< of streams by their numbers, when their work is done
  std::set<const void*> asked_;                   ///< streams and events, since work was carried out last
  double program_s_ = 0;                          ///< simulated time that the program has reached
  double patience_s_ = 0;                         ///< of the last question in vain, 0 after a good answer
  struct LaunchRecord {
    const std::string* name = nullptr;  ///< of names_
    Size3 grid, block;
    uint32_t stream = 0;
    bool timed = false;
    uint64_t parent = kNoParent;  ///< launch whose kernel has launched it
  };
  static constexpr uint64_t kNoParent = ~0ull;
  /// Keeps what will be said of a launch at the end.
  void note_launch(Kernel& kernel, LaunchRecord record);
  void note_time(const comp::KernelResult& result);
  std::list<std::string> names_;  ///< of kernels that were launched, in the order of their first launches
  size_t names_run_ = 0;          ///< of these, when live_ ran last
  const std::string* last_name_ = nullptr;       ///< of the last launch
  std::vector<LaunchRecord> records_;            ///< of a run that is recorded
  std::vector<Module::Text> timed_texts_;        ///< likewise, of modules with launches that were simulated
  uint64_t texts_written_ = 0, text_bytes_ = 0;  ///< of these
  struct TimedKernel {
    std::string name;
    uint64_t launches = 0, cycles = 0;
    double seconds = 0;
  };
  std::vector<TimedKernel> timed_;  ///< in the order in which the first launch of each ended
  std::unordered_map<std::string, size_t> place_in_timed_;
  uint64_t launch_count_ = 0, timed_count_ = 0, allocations_ = 0;
  std::array<uint64_t, kLimits> limits_{1024, uint64_t{1} << 20, uint64_t{8} << 20, 2, 2048, 128, 0, 0};
  double untimed_s_ = 0;        ///< of work without a simulated time of its own
  uint64_t cooperative_ = 0;    ///< device address of the barriers of cooperative launches
  std::set<uint64_t> strayed_;  ///< allocations outside of which a kernel has been
  std::optional<Failure> fault_;
  mutable bool fault_is_known_ = false;  ///< to the program
  std::unique_ptr<Export> export_;       ///< of a run with an export folder
  bool finished_ = false, in_vain_ = false;
  bool goes_on_beside_ = false, ends_ = false;
  HostFunctions host_functions_;
  std::thread::id machine_thread_;  ///< in which the timed run goes on
  int beside_process_ = 0;
  std::chrono::steady_clock::time_point moved_at_;    ///< when go_on() has done something, last of all
  std::chrono::steady_clock::time_point ends_since_;  ///< the program; nothing: it does not end
  ProgressLine progress_;
  std::jthread beside_;  ///< last: it ends before the rest does
};

/// The one of this process, made from the environment at the first use. Throws Failure.
[[nodiscard]] Device& current_device();
/// The same if it has been made, else null.
[[nodiscard]] Device* existing_device();
/// This thread has called the CUDA runtime, which the driver library is asked about.
void use_runtime();
[[nodiscard]] bool thread_uses_runtime();
/// Any thread has.
[[nodiscard]] bool is_runtime_used();
/// What the driver library says that streams of this thread belong to from now on (Stream::owner).
[[nodiscard]] const SmPart*& owner_of_new_streams();

}  // namespace gpusim::runtime
