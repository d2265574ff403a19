#include "runtime/device/device.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "components/launch/occupancy_limits.h"
#include "runtime/device/attributes.h"
#include "runtime/device/children.h"
#include "runtime/device/export.h"
#include "runtime/device/view.h"
#include "runtime/device/work.h"
#include "simcore/config/load.h"
#include "simcore/occupancy/machine_limits.h"
#include "simcore/text/input_error.h"

namespace gpusim::runtime {

namespace {

/// What a block may have of dynamic shared memory unless the program asks for more (CUDA programming guide,
/// technical specifications: more than 48 KB "requires an explicit opt-in").
constexpr uint64_t kSharedWithoutOptIn = 48 * 1024;

comp::SimulationOptions simulation_options(const DeviceOptions& o) {
  comp::SimulationOptions s;
  try {
    s.machine = core::load_machine(o.config, o.sets, o.config_folders);
    s.checks = comp::parse_checks(o.check);
  } catch (const core::InputError& error) {
    throw Failure(Code::kNoDevice, error.what());
  }
  s.sms = o.sms;
  s.max_cycles = o.max_cycles;
  s.functional = o.functional;
  s.lowering = isa::lowering_level(o.lowering);
  s.caches = comp::cache_state(o.cache).value_or(comp::CacheState::kCold);
  if (!o.functional) s.out = o.out;
  s.keep_kernel_results = o.keep_times;
  s.keep_other_runs = !o.replace_other_runs;
  s.events = o.events == "off"      ? core::EventLevel::kOff
             : o.events == "memory" ? core::EventLevel::kMemory
             : o.events == "all"    ? core::EventLevel::kAll
                                    : core::EventLevel::kSummary;
  s.program_version = o.program_version;
  s.command_line = o.command_line;
  s.on_warning = o.warn;
  return s;
}

std::unique_ptr<comp::Checker> checker_of(const comp::SimulationOptions& o) {
  if (!o.checks.any()) return nullptr;
  return std::make_unique<comp::Checker>(o.checks, "program", o.machine.gpu.compute_capability);
}

}  // namespace

Device::Device(DeviceOptions options)
    : options_(std::move(options)),
      simulation_(simulation_options(options_)),
      memory_(static_cast<uint64_t>(simulation_.machine.memory_bytes), core::DeviceMemory::Storage::kInPlace),
      services_([print = options_.print](std::string_view text) {
        if (print)
          print(text);
        else
          std::fwrite(text.data(), 1, text.size(), stdout);
      }),
      view_(std::make_unique<Memory>(
          memory_, textures_, services_,
          simulation_.checks.memory ? std::function<void(const core::Allocation&)>()
                                    : [this](const core::Allocation& a) { tell_stray(a); })),
      checker_(checker_of(simulation_)),
      runner_(make_runner()),
      inner_runner_(make_runner()),
      children_(std::make_unique<Children>(*this)),
      progress_(options_.progress) {
  simulation_.on_progress = [this](const comp::Progress& p) {
    progress_.update(launch_count_, p.kernel, p.blocks_done, p.blocks_total);
  };
  services_.set_runtime(
      [this](auto&&... of_call) { children_->call(std::forward<decltype(of_call)>(of_call)...); });
  legacy_.blocking = true;
  for (size_t i = 0; i < kLimits; ++i)
    limits_[i] = first_limit(machine(), static_cast<int>(i)).value_or(limits_[i]);
  services_.set_printf_fifo_bytes(limits_[static_cast<size_t>(Limit::kPrintfBytes)]);
  if (options_.export_folder.empty()) return;
  if (!options_.functional) throw Failure(Code::kNoDevice, "--export needs --functional");
  export_ = std::make_unique<Export>(options_.export_folder, memory_,
                                     options_.timed.empty() || options_.timed == "all");
}

Device::~Device() { stop_beside(); }

std::unique_ptr<comp::FunctionalRunner> Device::make_runner() {
  auto runner = std::make_unique<comp::FunctionalRunner>(
      *view_, simulation_.max_cycles, machine().gpu.compute_capability >= 70,
      [this] {
        progress_.update(launch_count_, *last_name_, 0, 0);
        return false;
      },
      checker_.get());
  runner->set_between_blocks([this](bool stuck) { return children_->between_blocks(stuck); });
  runner->count_instructions(false);  // of launches that are not timed nothing is recorded
  return runner;
}

void Device::check() const {
  if (!fault_) return;
  fault_is_known_ = true;
  throw Failure(fault_->code(), fault_->what(), true);
}

void Device::warn(const std::string& text) const {
  if (options_.warn)
    options_.warn(text);
  else
    std::fprintf(stderr, "gpusim: %s\n", text.c_str());
}

void Device::note_fault(Code code, const std::string& message) {
  fault_ = Failure(code, message);
  services_.flush();
  tell_findings();
  warn(as_error(message));
  std::vector<std::function<void(Code)>> functions;
  for (const auto* list : {&carried_out_, &pending_})
    for (const auto& work : *list)
      if (work->after_failure) functions.push_back(std::exchange(work->after_failure, {}));
  call_after_failure(std::move(functions));
}

void Device::fail(Code code, const std::string& message) {
  note_fault(code, message);
  fault_is_known_ = true;
  throw Failure(code, message, true);
}

std::byte* Device::allocate(uint64_t bytes, const std::string& name) {
  std::byte* const memory =
      reserve(bytes, name.empty() ? fmt::format("allocation {}", ++allocations_) : name);
  watch_memory(reinterpret_cast<uint64_t>(memory), comp::GlobalObject::Kind::kBuffer);
  return memory;
}

std::byte* Device::reserve(uint64_t bytes, const std::string& name) {
  if (bytes > free_bytes())
    throw Failure(
        Code::kMemoryAllocation,
        fmt::format("device memory is full: {} bytes are asked for, {} are free", bytes, free_bytes()));
  try {
    return reinterpret_cast<std::byte*>(memory_.allocate(bytes, core::DeviceMemory::kAlign, name));
  } catch (const core::InputError& error) {
    throw Failure(Code::kMemoryAllocation, error.what());
  }
}

void Device::take_bytes(uint64_t bytes) {
  if (bytes > free_bytes()) throw Failure(Code::kMemoryAllocation);
  taken_bytes_ += bytes;
}

void Device::map(void* memory, uint64_t bytes, bool host_writes) {
  if (!memory_.adopt(memory, bytes, fmt::format("mapped memory {}", ++allocations_)))
    throw Failure(Code::kInvalidValue);
  watch_memory(reinterpret_cast<uint64_t>(memory), comp::GlobalObject::Kind::kBuffer, host_writes);
}

std::byte* Device::allocate_host(uint64_t bytes, unsigned flags) {
  uint64_t base = 0;
  try {
    base = memory_.allocate_host(bytes, fmt::format("host memory {}", ++allocations_));
  } catch (const core::InputError& error) {
    throw Failure(Code::kMemoryAllocation, error.what());
  }
  host_memory_[base] = {PointerKind::Memory::kHost, flags};
  host_ranges_.add(base, base + bytes);
  watch_memory(base, comp::GlobalObject::Kind::kBuffer, true);
  return reinterpret_cast<std::byte*>(base);
}

std::byte* Device::allocate_managed(uint64_t bytes) {
  std::byte* const memory = reserve(bytes, fmt::format("managed memory {}", ++allocations_));
  const auto base = reinterpret_cast<uint64_t>(memory);
  host_memory_[base] = {PointerKind::Memory::kManaged, 0};
  watch_memory(base, comp::GlobalObject::Kind::kBuffer, true);
  return memory;
}

bool Device::release(void* memory) {
  const auto base = reinterpret_cast<uint64_t>(memory);
  if (const auto host = host_memory_.find(base); host != host_memory_.end()) {
    if (host->second.memory != PointerKind::Memory::kManaged) return false;
    host_memory_.erase(host);
  }
  if (sharing_.is_open(memory)) return false;  // another process owns it
  sharing_.forget_memory(base);
  forget_memory(base);
  return memory_.release(base);
}

bool Device::release_host(void* memory, bool registered) {
  const auto base = reinterpret_cast<uint64_t>(memory);
  const auto host = host_memory_.find(base);
  if (host == host_memory_.end() || host->second.memory != PointerKind::Memory::kHost) return false;
  if (host->second.registered != registered) return false;
  host_memory_.erase(host);
  host_ranges_.remove(base);
  forget_memory(base);
  return memory_.release(base);
}

void Device::register_host(void* memory, uint64_t bytes, unsigned flags) {
  // All of it must be there: msync() that starts nothing says so.
  const auto base = reinterpret_cast<uint64_t>(memory);
  const uint64_t before = base % comp::kHostPage;
  if (memory == nullptr || bytes == 0 || bytes > ~base ||
      msync(static_cast<std::byte*>(memory) - before, bytes + before, MS_ASYNC) != 0)
    throw Failure(Code::kInvalidValue);
  if (!memory_.adopt(memory, bytes, fmt::format("registered host memory {}", ++allocations_)))
    throw Failure(Code::kHostMemoryAlreadyRegistered);
  host_memory_[base] = {PointerKind::Memory::kHost, flags, true};
  host_ranges_.add(base, base + bytes);
  watch_memory(base, comp::GlobalObject::Kind::kBuffer, true);
}

void Device::unregister_host(void* memory) {
  if (release_host(memory, true)) return;
  // Inside of a piece is another mistake than nowhere.
  const PointerKind kind = pointer_kind(memory);
  const bool inside =
      kind.memory == PointerKind::Memory::kHost && kind.base != reinterpret_cast<uint64_t>(memory);
  throw Failure(inside ? Code::kInvalidValue : Code::kHostMemoryNotRegistered);
}

PointerKind Device::pointer_kind(const void* pointer) const {
  PointerKind kind;
  const core::Allocation* a = memory_.find(reinterpret_cast<uint64_t>(pointer));
  if (a == nullptr) return kind;
  kind.base = a->base;
  kind.bytes = a->bytes;
  kind.memory = PointerKind::Memory::kDevice;
  if (const auto host = host_memory_.find(a->base); host != host_memory_.end()) {
    kind.memory = host->second.memory;
    kind.flags = host->second.flags;
  }
  return kind;
}

uint64_t Device::available_shared(Kernel& kernel, uint32_t threads, int blocks) {
  if (blocks_per_sm(kernel, threads, 0) < blocks) throw Failure(Code::kInvalidValue);
  // The share of each block, of which what the system reserves is not taken (as an H100 with driver 580.159
  // answers).
  const isa::KernelImage& image = kernel.image();
  const uint64_t fixed = image.static_shared_bytes + comp::system_shared_bytes(machine(), image);
  const uint64_t unit = std::max<uint64_t>(machine().sm.shared_alloc_unit, 1);
  const uint64_t share = shared_of_sm(machine()) / static_cast<uint64_t>(blocks) / unit * unit;
  return std::min(share > fixed ? share - fixed : 0, most_dynamic_shared(kernel));
}

uint64_t Device::carved_shared(const Kernel& kernel, uint64_t block_bytes) const {
  constexpr uint64_t kPercent = 100;
  const int capability = static_cast<int>(machine().gpu.compute_capability);
  const uint64_t most = shared_of_sm(machine());
  if (kernel.carveout < 0) return most;
  // CUDA programming guide, of each architecture: "Shared memory".
  constexpr uint64_t kSteps[] = {0, 8, 16, 32, 64, 96, 100, 132, 164, 196, 228};
  constexpr uint64_t kOfVolta = 96;
  const uint64_t wanted =
      std::max(static_cast<uint64_t>(kernel.carveout) * most / kPercent, std::min(block_bytes, most));
  for (const uint64_t kilobytes : kSteps)
    if (kilobytes * 1024 >= wanted && (kilobytes != kOfVolta || capability == 70))
      return std::min(kilobytes * 1024, most);
  return most;
}

int Device::blocks_per_sm(Kernel& kernel, uint32_t threads, uint64_t dynamic_shared) {
  // A question changes nothing: of a kernel with too many registers for such a block the answer is none.
  const isa::KernelImage& image = kernel.image();
  const uint64_t fixed = uint64_t{image.fixed_shared_bytes()} + comp::system_shared_bytes(machine(), image);
  // More than a block has without asking, and than the program has asked for.
  const uint64_t unasked = std::min<uint64_t>(kSharedWithoutOptIn, machine().shared.bytes);
  if (dynamic_shared != 0 && dynamic_shared + fixed > unasked &&
      dynamic_shared > kernel.max_dynamic_shared.value_or(0))
    return 0;
  const uint64_t unit = std::max<uint64_t>(machine().sm.shared_alloc_unit, 1);
  const uint64_t bytes = (fixed + dynamic_shared + unit - 1) / unit * unit;
  isa::OccupancyLimits limits = core::occupancy_limits(machine());
  const bool divides_l1 = machine().shared.carveout != 0 && machine().l1.bytes != 0;
  limits.shared_bytes =
      static_cast<int64_t>(divides_l1 ? carved_shared(kernel, bytes + core::reserved_shared_bytes(machine()))
                                      : shared_of_sm(machine()));
  return isa::compute_occupancy(limits, static_cast<int>(threads), static_cast<int>(image.registers),
                                static_cast<int64_t>(bytes))
      .blocks_per_sm;
}

uint32_t Device::most_cluster_blocks(const Kernel& kernel) const {
  const core::MachineConfig::BlockClusters& clusters = machine().clusters;
  if (clusters.gpcs == 0) return 1;
  return kernel.non_portable_cluster ? clusters.most_blocks
                                     : std::min(clusters.most_blocks, core::kPortableClusterBlocks);
}

std::vector<uint32_t> Device::sms_in_parts() const { return comp::sms_in_parts(machine()); }

int Device::clusters_together(Kernel& kernel, uint32_t threads, uint64_t dynamic_shared, uint32_t blocks) {
  const uint32_t sms = options_.sms != 0 ? options_.sms : machine().gpu.sms;
  const int on_sm = blocks_per_sm(kernel, threads, dynamic_shared);
  return static_cast<int>(comp::clusters_together(machine(), sms, static_cast<uint32_t>(on_sm), blocks));
}

uint64_t Device::most_dynamic_shared(Kernel& kernel) {
  const uint64_t fixed =
      kernel.image().static_shared_bytes + comp::system_shared_bytes(machine(), kernel.image());
  const uint64_t most = std::min<uint64_t>(kSharedWithoutOptIn, machine().shared.bytes);
  return kernel.max_dynamic_shared.value_or(static_cast<uint32_t>(most > fixed ? most - fixed : 0));
}

bool Device::set_max_dynamic_shared(Kernel& kernel, int bytes) {
  const int64_t most = int64_t{machine().shared.bytes} - int64_t{kernel.image().static_shared_bytes};
  if (bytes < 0 || bytes > most) return false;
  kernel.max_dynamic_shared = static_cast<uint32_t>(bytes);
  return true;
}

Stream& Device::thread_stream() {
  Stream*& mine = thread_streams_[std::this_thread::get_id()];
  if (mine == nullptr) mine = &add_stream(true, 0, 0);
  return *mine;
}

Stream& Device::add_stream(bool blocking, int priority, unsigned flags) {
  auto made = std::make_unique<Stream>();
  made->number = next_stream_++;
  made->blocking = blocking;
  made->priority = priority;
  made->flags = flags;
  made->owner = owner_of_new_streams();
  made->waits = waits_of_new_streams_;
  Stream& stream = *made;
  streams_.emplace(&stream, std::move(made));
  return stream;
}

void Device::remove_stream(Stream* stream) {
  if (!streams_.contains(stream)) throw Failure(Code::kInvalidResourceHandle);
  if (open_.empty()) flush();
  // Its work goes on, and the legacy default stream comes after it as before.
  if (stream->blocking && open_.contains(stream->last_work)) legacy_.waits.push_back(stream->last_work);
  streams_.erase(stream);
}

bool Device::is_stream(const Stream* stream) const { return stream == &legacy_ || streams_.contains(stream); }

Event& Device::add_event(bool timing) {
  auto made = std::make_unique<Event>();
  made->timing = timing;
  Event& event = *made;
  events_.emplace(&event, std::move(made));
  return event;
}

void Device::remove_event(Event* event) {
  if (!events_.contains(event)) throw Failure(Code::kInvalidResourceHandle);
  for (const auto* list : {&pending_, &carried_out_})
    for (const auto& work : *list)
      if (work->event == event) work->event = nullptr;
  sharing_.forget_event(event);
  events_.erase(event);
}

Array& Device::add_array(const ArrayShape& shape) {
  constexpr uint64_t kPitch = 512;
  auto array = std::make_unique<Array>();
  static_cast<ArrayShape&>(*array) = shape;
  array->pitch = array->row_bytes();
  if (shape.extent.height != 0 || shape.extent.depth != 0)
    array->pitch = (array->pitch + kPitch - 1) / kPitch * kPitch;
  array->data = allocate(array->slice() * array->depth(), "array");
  Array& made = *array;
  arrays_.emplace(&made, std::move(array));
  return made;
}

void Device::remove_array(const Array* array) {
  if (!is_array(array)) throw Failure(Code::kInvalidResourceHandle);
  synchronize();
  release(array->data);
  arrays_.erase(array);
}

uint64_t Device::add_texture(const isa::Texture& texture) {
  const size_t number = free_texture();
  textures_[number] = std::make_unique<isa::Texture>(texture);
  return isa::texture_handle(number);
}

size_t Device::free_texture() {
  size_t number = 0;
  while (number < textures_.size() && (textures_[number] != nullptr || texture_references_.contains(number)))
    ++number;
  if (number == textures_.size()) textures_.emplace_back();
  return number;
}

uint64_t Device::reserve_texture() {
  const size_t number = free_texture();
  texture_references_.insert(number);
  return isa::texture_handle(number);
}

void Device::release_texture(uint64_t handle) {
  bind_texture(handle, nullptr);
  texture_references_.erase((handle - isa::kTextureWindowBase) / isa::kTextureStride);
}

void Device::bind_texture(uint64_t handle, const isa::Texture* texture) {
  flush();
  textures_[(handle - isa::kTextureWindowBase) / isa::kTextureStride] =
      texture == nullptr ? nullptr : std::make_unique<isa::Texture>(*texture);
}

void Device::remove_texture(uint64_t handle) {
  const uint64_t number = (handle - isa::kTextureWindowBase) / isa::kTextureStride;
  if (number >= textures_.size() || textures_[number] == nullptr) throw Failure(Code::kInvalidValue);
  flush();
  textures_[number].reset();
}

const isa::Texture* Device::texture(uint64_t handle) const { return view_->texture(handle); }

int Device::most_threads(Kernel& kernel) {
  const isa::KernelImage& image = kernel.image();
  int threads = static_cast<int>(machine().sm.max_threads_per_block);
  while (threads > 32 && blocks_per_sm(kernel, static_cast<uint32_t>(threads), 0) == 0) threads -= 32;
  if (image.maxntid[0] == 0) return threads;
  return std::min(threads, static_cast<int>(image.maxntid[0] * std::max(1u, image.maxntid[1]) *
                                            std::max(1u, image.maxntid[2])));
}

uint64_t Device::limit(Limit limit) const {
  if (!has_limit(machine(), static_cast<int>(limit))) throw Failure(Code::kUnsupportedLimit);
  return limits_[static_cast<size_t>(limit)];
}

bool Device::set_limit(Limit limit, uint64_t value) {
  if (!has_limit(machine(), static_cast<int>(limit))) throw Failure(Code::kUnsupportedLimit);
  const std::optional<uint64_t> possible = limit_value(machine(), static_cast<int>(limit), value);
  if (!possible) return false;
  value = *possible;
  if (limit == Limit::kPendingLaunches) children_->most_pending = value;
  if (limit == Limit::kPrintfBytes) services_.set_printf_fifo_bytes(value);
  if (limit == Limit::kHeapBytes && !services_.set_malloc_heap_bytes(value)) return false;
  limits_[static_cast<size_t>(limit)] = value;
  return true;
}

void Device::reset() {
  if (!fault_) flush();
  services_.flush();
  pending_.clear(), aside_.clear(), open_.clear();
  std::vector<uint64_t> bases;
  for (const core::Allocation& a : memory_.allocations()) bases.push_back(a.base);
  for (const uint64_t base : bases) {
    forget_memory(base);
    memory_.release(base);
  }
  host_memory_.clear();
  host_ranges_.clear();
  view_->forget_strays();
  strayed_.clear();
  textures_.clear();
  texture_references_.clear();
  arrays_.clear();
  sharing_.forget_all();
  services_.reset();
  children_->reset();
  for (const auto& [key, kernel] : kernels_) retire(*kernel);
  kernels_.clear();
  next_code_ = comp::kFirstCodeAddress;
  for (Module& m : modules_) {
    m.loaded_ = false;
    m.variables_.clear();
    m.textures_.clear();
  }
  cooperative_ = 0;
  legacy_.last_work = legacy_barrier_ = 0;
  waits_of_new_streams_.clear();
  for (auto& [key, stream] : streams_) stream->last_work = 0;
  // After a fault the process has no device any more (as an H100 with driver 580.159 answers).
  if (fault_) fault_ = Failure(Code::kDeviceUnavailable);
}

}  // namespace gpusim::runtime
