#include "runtime/embed/include/gpusim/gpu.h"

#include <map>
#include <mutex>
#include <utility>

#include "runtime/device/device.h"

namespace gpusim {

namespace {

/// The interface's errors for those of the device.
template <class Action>
auto told(Action action) {
  try {
    return action();
  } catch (const runtime::Failure& failure) {
    const int code = static_cast<int>(failure.code());
    const std::string why = failure.what();
    throw GpuError(code, why.empty() ? runtime::error_text(code) : why);
  }
}

runtime::DeviceOptions device_options(const GpuOptions& o) {
  runtime::DeviceOptions d;
  d.config = o.config;
  d.sets = o.sets;
  d.config_folders = o.config_folders;
  d.functional = o.functional;
  d.timed = o.timed;
  d.out = o.out;
  d.check = o.check;
  d.sms = o.sms;
  d.max_cycles = o.max_cycles;
  d.keep_times = true;
  d.quiet = o.quiet;
  d.replace_other_runs = true;
  d.print = o.print;
  d.warn = o.warn;
  return d;
}

runtime::Size3 size(const Extent& e) { return {e.x, e.y, e.z}; }

}  // namespace

struct Gpu::Implementation {
  explicit Implementation(const GpuOptions& options) : device(device_options(options)) {}
  runtime::Device device;
  std::vector<runtime::Module*> programs;

  /// Locks the device, of which a thread may go on with work that waits.
  template <class Action>
  auto told(Action action) {
    const std::lock_guard lock(device.mutex());
    return gpusim::told(action);
  }

  std::map<uint32_t, runtime::Stream*> streams;

  runtime::Stream& stream(uint32_t number) {
    if (number == 0) return device.legacy_stream();
    runtime::Stream*& known = streams[number];
    if (known == nullptr) known = &device.add_stream(true, 0, 0);
    return *known;
  }
  runtime::Module& program(uint32_t number) {
    if (number >= programs.size())
      throw runtime::Failure(runtime::Code::kInvalidValue, "no program of that number has been loaded");
    return *programs[number];
  }
  void copy(runtime::Copy::Direction direction, void* to, const void* from, uint64_t bytes, uint32_t number,
            bool wait) {
    runtime::Copy c;
    c.direction = direction;
    c.to = static_cast<std::byte*>(to);
    c.from = static_cast<const std::byte*>(from);
    c.width = c.to_pitch = c.from_pitch = bytes;
    const auto device_side = [this, bytes](const void* place) {
      const runtime::PointerKind kind = device.pointer_kind(place);
      if (bytes != 0 && (kind.memory == runtime::PointerKind::Memory::kUnregistered ||
                         reinterpret_cast<uint64_t>(place) + bytes > kind.base + kind.bytes))
        throw runtime::Failure(runtime::Code::kInvalidValue, "the copy leaves its device memory");
    };
    if (direction != runtime::Copy::Direction::kDeviceToHost) device_side(to);
    if (direction != runtime::Copy::Direction::kHostToDevice) device_side(from);
    device.copy(std::move(c), stream(number), wait);
  }
};

Gpu::Gpu(const GpuOptions& options) : own_(told([&] { return std::make_unique<Implementation>(options); })) {}

Gpu::~Gpu() { finish(); }

void* Gpu::allocate(uint64_t bytes) {
  return own_->told([&] { return own_->device.allocate(bytes); });
}

void Gpu::release(void* memory) {
  own_->told([&] {
    own_->device.synchronize();
    if (memory != nullptr && !own_->device.release(memory))
      throw runtime::Failure(runtime::Code::kInvalidValue, "no device memory begins there");
  });
}

void Gpu::copy_to_device(void* device, const void* host, uint64_t bytes, uint32_t stream) {
  own_->told(
      [&] { own_->copy(runtime::Copy::Direction::kHostToDevice, device, host, bytes, stream, false); });
}

void Gpu::copy_to_host(void* host, const void* device, uint64_t bytes, uint32_t stream) {
  own_->told([&] { own_->copy(runtime::Copy::Direction::kDeviceToHost, host, device, bytes, stream, true); });
}

void Gpu::copy_on_device(void* to, const void* from, uint64_t bytes, uint32_t stream) {
  own_->told([&] { own_->copy(runtime::Copy::Direction::kDeviceToDevice, to, from, bytes, stream, false); });
}

void Gpu::fill(void* device, uint8_t value, uint64_t bytes, uint32_t stream) {
  own_->told([&] {
    const runtime::PointerKind kind = own_->device.pointer_kind(device);
    if (bytes != 0 && reinterpret_cast<uint64_t>(device) + bytes > kind.base + kind.bytes)
      throw runtime::Failure(runtime::Code::kInvalidValue, "the memory to fill is no device memory");
    runtime::Fill f;
    f.to = static_cast<std::byte*>(device);
    f.width = f.pitch = bytes;
    f.value = value;
    own_->device.fill(f, own_->stream(stream), false);
  });
}

uint32_t Gpu::load(std::span<const Text> texts) {
  return own_->told([&] {
    std::vector<runtime::Module::Text> all;
    for (const Text& t : texts) all.push_back({t.name, t.ptx});
    runtime::Module& module = own_->device.add_module(
        std::move(all), texts.size() == 1 ? runtime::Module::Made::kWhole : runtime::Module::Made::kByLinker);
    module.load();
    own_->programs.push_back(&module);
    return static_cast<uint32_t>(own_->programs.size() - 1);
  });
}

Gpu::Variable Gpu::variable(uint32_t program, const std::string& name) {
  return own_->told([&] {
    const auto found = own_->program(program).global(name);
    if (!found)
      throw runtime::Failure(runtime::Code::kInvalidSymbol, "the program has no variable '" + name + "'");
    return Variable{reinterpret_cast<void*>(found->address), found->bytes};
  });
}

void Gpu::launch(uint32_t program, const std::string& kernel, Extent grid, Extent block,
                 std::span<const void* const> arguments, uint32_t dynamic_shared, uint32_t stream) {
  own_->told([&] {
    runtime::LaunchRequest r;
    r.kernel = &own_->device.kernel(own_->program(program), kernel);
    const size_t wanted = r.kernel->image().params.size();
    if (wanted != arguments.size())
      throw runtime::Failure(runtime::Code::kInvalidValue, "kernel '" + kernel + "' takes " +
                                                               std::to_string(wanted) + " arguments, not " +
                                                               std::to_string(arguments.size()));
    r.grid = size(grid);
    r.block = size(block);
    r.dynamic_shared = dynamic_shared;
    std::vector<void*> places;
    for (const void* a : arguments) places.push_back(const_cast<void*>(a));
    r.arguments = places.data();
    own_->device.launch(r, own_->stream(stream));
    own_->device.check();
  });
}

void Gpu::synchronize() {
  own_->told([&] { own_->device.synchronize(); });
}

void Gpu::synchronize(uint32_t stream) {
  own_->told([&] { own_->device.synchronize(own_->stream(stream)); });
}

double Gpu::seconds() const {
  return own_->told([&] { return own_->device.now_s(); });
}

std::vector<KernelTime> Gpu::kernels() const {
  return own_->told([&] {
    std::vector<KernelTime> all;
    for (const comp::KernelResult& k : own_->device.timed_kernels())
      all.push_back({k.name, k.launch, k.cycles, k.time_s, k.total.warp_instructions});
    return all;
  });
}

uint64_t Gpu::findings() const {
  return own_->told([&] { return uint64_t{own_->device.findings()}; });
}

void Gpu::finish() {
  own_->told([&] { own_->device.finish(); });
}

}  // namespace gpusim
