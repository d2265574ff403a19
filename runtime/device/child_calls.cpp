// The device runtime: what kernels call to launch others (isa/exec/device_runtime.h).
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "runtime/device/attributes.h"
#include "runtime/device/children.h"
#include "simcore/bits.h"
#include "simcore/text/input_error.h"
#include "simcore/text/kernel_name.h"

namespace gpusim::runtime {

using isa::RuntimeFunction;
using Kind = comp::DeviceLaunches::Order::Kind;

namespace {

constexpr uint32_t kMostDepth = 24;  ///< of grids in grids (CUDA programming guide, technical specifications)
constexpr int kRuntimeVersion = 13000;
constexpr int kMostNotes = 10;  ///< a million threads may fail alike

/// Streams by number: the null stream of a block or of a thread, and those that a grid has made.
constexpr uint64_t kOfThread = uint64_t{1} << 62, kMade = uint64_t{1} << 63;
// What a program writes for a stream that it has not made (driver_types.h, cuda_device_runtime_api.h).
constexpr uint64_t kNull = 0, kLegacy = 1, kPerThread = 2, kTail = 3, kFireAndForget = 4;
/// Handles are no addresses.
constexpr uint64_t kHandleBase = kMade, kHandleStride = 16;

uint64_t word_at(const std::byte* from) {
  uint64_t word = 0;
  std::memcpy(&word, from, sizeof word);
  return word;
}

/// The parts of cudaPitchedPtr, cudaPos and cudaExtent.
uint64_t word_at(std::span<const std::byte> structure, size_t i) { return word_at(structure.data() + 8 * i); }

}  // namespace

// --- arguments ---

uint64_t Device::Children::Caller::argument(size_t i) const {
  uint64_t value = 0;
  std::memcpy(&value, arguments + signature.offset(i), signature.arguments[i]);
  return value;
}

std::span<const std::byte> Device::Children::Caller::bytes(size_t i) const {
  return {arguments + signature.offset(i), signature.arguments[i]};
}

Size3 Device::Children::Caller::size(size_t i) const {
  uint32_t parts[3];
  std::memcpy(parts, arguments + signature.offset(i), sizeof parts);
  return {parts[0], parts[1], parts[2]};
}

void Device::Children::Caller::give(size_t i, const void* value, size_t count) const {
  const uint64_t address = argument(i);
  if (address == 0) throw Failure(Code::kInvalidValue);
  const isa::MemoryWindow w = isa::generic_window(context, static_cast<int>(lane), address);
  if (w.data != nullptr && w.writable && w.end - address >= count) {
    std::memcpy(w.data + (address - w.begin), value, count);
    return;
  }
  access.fault = isa::FaultKind::kOutOfBounds;
  access.fault_lane = static_cast<uint8_t>(lane);
  access.fault_address = address;
}

void Device::Children::call(isa::RuntimeCall call, const isa::WarpContext& context, isa::LaneMask lanes,
                            const isa::DeviceServices::Pointers& blocks,
                            isa::DeviceServices::Pointers& results, isa::MemoryAccess& access) {
  const auto number = static_cast<uint32_t>(context.grid_id);
  Grid& grid = grids_.at(number);
  const uint64_t block =
      (uint64_t{context.ctaid[2]} * context.nctaid[1] + context.ctaid[1]) * context.nctaid[0] +
      context.ctaid[0];
  const uint64_t threads = uint64_t{context.ntid[0]} * context.ntid[1] * context.ntid[2];
  for (const uint32_t lane : core::Bits(lanes.bits())) {
    const isa::MemoryWindow w = isa::generic_window(context, static_cast<int>(lane), blocks[lane]);
    const uint64_t in_block =
        (uint64_t{context.tid[2][lane]} * context.ntid[1] + context.tid[1][lane]) * context.ntid[0] +
        context.tid[0][lane];
    const Caller caller{context,
                        lane,
                        number,
                        grid,
                        block,
                        block * threads + in_block,
                        call.per_thread,
                        w.data + (blocks[lane] - w.begin),
                        isa::signature_of(call.function),
                        access};
    try {
      results[lane] = carry_out(call.function, caller);
    } catch (const Failure& failure) {
      if (device_.fault_) throw;  // of what ran for values in between
      // A buffer is an address, others give the error.
      results[lane] = caller.signature.result == 8 ? 0 : static_cast<uint64_t>(failure.code());
      grid.errors[caller.thread] = static_cast<int>(failure.code());
      if (*failure.what() != 0 && notes_++ < kMostNotes)
        device_.warn(fmt::format("note: {}", failure.what()));
    }
    if (access.fault != isa::FaultKind::kNone) return;
  }
}

uint64_t Device::Children::carry_out(RuntimeFunction function, const Caller& c) {
  using F = RuntimeFunction;
  constexpr int kFirstDevice = 0;
  switch (function) {
    case F::kGetLastError:
    case F::kPeekAtLastError: {
      const auto error = c.grid.errors.find(c.thread);
      if (error == c.grid.errors.end()) return 0;
      const int code = error->second;
      if (function == F::kGetLastError) c.grid.errors.erase(error);
      return static_cast<uint64_t>(code);
    }
    case F::kGetErrorString:
    case F::kGetErrorName: {
      const int code = static_cast<int>(c.argument(0));
      const char* const text = function == F::kGetErrorName ? error_name(code) : error_text(code);
      return text_of(text == nullptr ? "unrecognized error code" : text);
    }
    case F::kGetDeviceCount:
      c.give<int>(0, 1);
      return 0;
    case F::kGetDevice:
      c.give<int>(0, kFirstDevice);
      return 0;
    case F::kDeviceGetAttribute:
      if (c.argument(2) != kFirstDevice) throw Failure(Code::kInvalidDevice);
      c.give<int>(0, device_attribute(device_.machine(), static_cast<int>(c.argument(1))).value_or(0));
      return 0;
    case F::kDeviceGetLimit:
      c.give<uint64_t>(0, device_.limit(static_cast<Limit>(c.argument(1))));
      return 0;
    case F::kDeviceGetCacheConfig:
      c.give<int>(0, 0);
      return 0;
    case F::kDeviceGetSharedMemConfig:
      c.give<int>(0, 1);
      return 0;
    case F::kRuntimeGetVersion:
      c.give<int>(0, kRuntimeVersion);
      return 0;
    case F::kFuncGetAttributes:
      give_attributes(c);
      return 0;
    case F::kOccupancyBlocks:
    case F::kOccupancyBlocksWithFlags:
      give_occupancy(c);
      return 0;
    case F::kMalloc: {
      const uint64_t memory = device_.services_.heap().allocate(c.argument(1));
      if (memory == 0) throw Failure(Code::kMemoryAllocation);
      c.give<uint64_t>(0, memory);
      return 0;
    }
    case F::kFree:
      if (c.argument(0) != 0 && !device_.services_.heap().release(c.argument(0)))
        throw Failure(Code::kInvalidValue);
      return 0;
    case F::kStreamCreateWithFlags:
      create_stream(c);
      return 0;
    case F::kStreamDestroy:
      // What is in it goes on.
      if (c.grid.streams.erase(c.argument(0)) == 0) throw Failure(Code::kInvalidResourceHandle);
      return 0;
    case F::kStreamWaitEvent: {
      const auto event = c.grid.events.find(c.argument(1));
      Stream* const stream = target_of(c, c.argument(0)).stream;
      if (event == c.grid.events.end() || stream == nullptr) throw Failure(Code::kInvalidResourceHandle);
      if (event->second != 0) stream->waits.push_back(event->second);
      return 0;
    }
    case F::kEventCreateWithFlags: {
      constexpr uint64_t kDisableTiming = 2;
      if (c.argument(1) != kDisableTiming) throw Failure(Code::kInvalidValue);
      const uint64_t handle = kHandleBase + kHandleStride * ++next_handle_;
      c.grid.events[handle] = 0;
      c.give<uint64_t>(0, handle);
      return 0;
    }
    case F::kEventRecord:
    case F::kEventRecordWithFlags:
      record(c, c.argument(0), c.argument(1));
      return 0;
    case F::kEventDestroy:
      if (c.grid.events.erase(c.argument(0)) == 0) throw Failure(Code::kInvalidResourceHandle);
      return 0;
    case F::kMemcpyAsync: {
      Copy copy;
      copy.to = reinterpret_cast<std::byte*>(c.argument(0));
      copy.from = reinterpret_cast<const std::byte*>(c.argument(1));
      copy.width = copy.to_pitch = copy.from_pitch = c.argument(2);
      this->copy(c, std::move(copy), c.argument(4));
      return 0;
    }
    case F::kMemcpy2DAsync: {
      Copy copy;
      copy.to = reinterpret_cast<std::byte*>(c.argument(0));
      copy.to_pitch = c.argument(1);
      copy.from = reinterpret_cast<const std::byte*>(c.argument(2));
      copy.from_pitch = c.argument(3);
      copy.width = c.argument(4), copy.height = c.argument(5);
      this->copy(c, std::move(copy), c.argument(7));
      return 0;
    }
    case F::kMemcpy3DAsync: {
      // cudaMemcpy3DParms: array, position and pointer of the source, the same of the destination, extent.
      constexpr size_t kWords = 20, kFrom = 0, kTo = 8, kPosition = 1, kPointer = 4, kExtent = 16;
      const isa::MemoryWindow w = isa::generic_window(c.context, static_cast<int>(c.lane), c.argument(0));
      if (w.data == nullptr || w.end - c.argument(0) < kWords * 8) throw Failure(Code::kInvalidValue);
      const std::span<const std::byte> p(w.data + (c.argument(0) - w.begin), kWords * 8);
      if (word_at(p, kFrom) != 0 || word_at(p, kTo) != 0) throw Failure(Code::kInvalidValue);  // arrays
      const auto place = [&p](size_t side, uint64_t& pitch, uint64_t& slice) {
        const size_t pointer = side + kPointer, position = side + kPosition;
        pitch = word_at(p, pointer + 1);
        slice = pitch * word_at(p, pointer + 3);
        return reinterpret_cast<std::byte*>(word_at(p, pointer)) + word_at(p, position) +
               word_at(p, position + 1) * pitch + word_at(p, position + 2) * slice;
      };
      Copy copy;
      copy.from = place(kFrom, copy.from_pitch, copy.from_slice);
      copy.to = place(kTo, copy.to_pitch, copy.to_slice);
      copy.width = word_at(p, kExtent), copy.height = word_at(p, kExtent + 1);
      copy.depth = word_at(p, kExtent + 2);
      this->copy(c, std::move(copy), c.argument(1));
      return 0;
    }
    case F::kMemsetAsync: {
      Fill fill;
      fill.to = reinterpret_cast<std::byte*>(c.argument(0));
      fill.value = static_cast<uint32_t>(c.argument(1));
      fill.width = fill.pitch = c.argument(2);
      this->fill(c, fill, c.argument(3));
      return 0;
    }
    case F::kMemset2DAsync: {
      Fill fill;
      fill.to = reinterpret_cast<std::byte*>(c.argument(0));
      fill.pitch = c.argument(1);
      fill.value = static_cast<uint32_t>(c.argument(2));
      fill.width = c.argument(3), fill.height = c.argument(4);
      this->fill(c, fill, c.argument(5));
      return 0;
    }
    case F::kMemset3DAsync: {
      const auto pointer = c.bytes(0), extent = c.bytes(2);
      Fill fill;
      fill.to = reinterpret_cast<std::byte*>(word_at(pointer, 0));
      fill.pitch = word_at(pointer, 1);
      fill.slice = fill.pitch * word_at(pointer, 3);
      fill.value = static_cast<uint32_t>(c.argument(1));
      fill.width = word_at(extent, 0), fill.height = word_at(extent, 1), fill.depth = word_at(extent, 2);
      this->fill(c, fill, c.argument(3));
      return 0;
    }
    case F::kGetParameterBuffer:
      return parameter_buffer(c, {nullptr, {}, {}, 0, std::max<uint64_t>(c.argument(1), 1)});
    case F::kGetParameterBufferV2: {
      Buffer launch{&kernel_at(c, c.argument(0)), c.size(1), c.size(2), static_cast<uint32_t>(c.argument(3)),
                    0};
      check_launch(c, launch);
      launch.bytes = std::max<uint64_t>(launch.kernel->image().param_bytes, 1);
      return parameter_buffer(c, launch);
    }
    case F::kLaunchDevice: {
      Buffer launch{&kernel_at(c, c.argument(0)), c.size(2), c.size(3), static_cast<uint32_t>(c.argument(4)),
                    0};
      check_launch(c, launch);
      this->launch(c, c.argument(1), launch, c.argument(5));
      return 0;
    }
    case F::kLaunchDeviceV2: {
      const auto buffer = buffers_.find(c.argument(0));
      if (buffer == buffers_.end() || buffer->second.kernel == nullptr) throw Failure(Code::kInvalidValue);
      this->launch(c, c.argument(0), Buffer(buffer->second), c.argument(1));
      return 0;
    }
  }
  return 0;
}

uint64_t Device::Children::text_of(const char* text) {
  uint64_t& address = texts_[text];
  if (address != 0) return address;
  const size_t bytes = std::strlen(text) + 1;
  address = device_.memory_.allocate(bytes, core::DeviceMemory::kAlign, "text of an error");
  device_.watch_memory(address, comp::GlobalObject::Kind::kBuffer, true);
  std::memcpy(reinterpret_cast<char*>(address), text, bytes);
  return address;
}

// --- launches ---

Kernel& Device::Children::kernel_at(const Caller& c, uint64_t address) const {
  Module& module = c.grid.kernel->module();
  const auto& functions = module.ptx().functions;
  const uint64_t offset = address - isa::kCodeWindowBase, number = offset / isa::kFunctionStride;
  if (number >= functions.size() || offset % isa::kFunctionStride != 0 || !functions[number].is_entry)
    throw Failure(Code::kInvalidDeviceFunction);
  return device_.kernel(module, functions[number].name);
}

void Device::Children::check_launch(const Caller& c, const Buffer& l) const {
  const uint64_t threads = uint64_t{l.block.x} * l.block.y * l.block.z;
  LaunchRequest request;
  request.grid = l.grid, request.block = l.block;
  const isa::KernelImage& image = l.kernel->image_for(threads);
  device_.check_shape(request, image);
  if (l.dynamic_shared > device_.most_dynamic_shared(*l.kernel) ||
      device_.blocks_per_sm(*l.kernel, static_cast<uint32_t>(threads), l.dynamic_shared) == 0)
    throw Failure(
        Code::kLaunchOutOfResources,
        fmt::format("kernel '{}', launched by '{}': no block of {} threads with {} bytes of dynamic "
                    "shared memory fits an SM",
                    core::demangled(image.name), core::demangled(c.grid.kernel->name()), threads,
                    l.dynamic_shared));
  if (c.grid.depth >= kMostDepth)
    throw Failure(Code::kLaunchMaxDepthExceeded,
                  fmt::format("kernel '{}': launches are nested deeper than {}", core::demangled(image.name),
                              kMostDepth));
  // Lanes of a warp have their buffers before any of them launches.
  const uint64_t pending = prepared_ + (c.grid.timed ? device_.live_->pending_children() : values_.pending());
  if (pending >= most_pending)
    throw Failure(Code::kLaunchPendingCountExceeded,
                  fmt::format("kernel '{}' is not launched: {} launches are pending "
                              "(cudaLimitDevRuntimePendingLaunchCount)",
                              core::demangled(image.name), pending));
}

uint64_t Device::Children::parameter_buffer(const Caller& c, const Buffer& buffer) {
  const uint64_t address = take_buffer(buffer.bytes);
  buffers_[address] = buffer;
  prepared_ += buffer.kernel != nullptr;
  c.grid.buffers.insert(address);
  return address;
}

Device::Children::Target Device::Children::target_of(const Caller& c, uint64_t stream) {
  if (stream == kTail) return {{Kind::kTail, 0}, nullptr};
  if (stream == kFireAndForget) return {{Kind::kIndependent, 0}, nullptr};
  const bool own = stream == kPerThread || (c.own_stream && stream == kNull);
  if (own || stream == kNull || stream == kLegacy) {
    const uint64_t key = own ? kOfThread + c.thread : c.block;
    return {{Kind::kStream, key}, &c.grid.streams[key]};
  }
  const auto made = c.grid.streams.find(stream);
  if (stream < kHandleBase || made == c.grid.streams.end()) throw Failure(Code::kInvalidResourceHandle);
  return {{Kind::kStream, stream}, &made->second};
}

void Device::Children::launch(const Caller& c, uint64_t address, const Buffer& l, uint64_t stream) {
  const auto buffer = buffers_.find(address);
  if (buffer == buffers_.end()) throw Failure(Code::kInvalidValue);
  const Target target = target_of(c, stream);
  const isa::KernelImage& image = l.kernel->image();
  try {
    device_.services_.prepare(image, device_.memory_);
  } catch (const core::InputError& error) {
    throw Failure(Code::kMemoryAllocation, error.what());
  }
  Launched launched;
  launched.kernel = l.kernel;
  const auto* const parameters = reinterpret_cast<const std::byte*>(address);
  const uint64_t given = std::min<uint64_t>(image.param_bytes, buffer->second.bytes);
  launched.parameters.assign(parameters, parameters + given);
  launched.parameters.resize(image.param_bytes);
  core::LaunchSpec& spec = launched.spec;
  spec.kernel = image.name;
  spec.grid[0] = l.grid.x, spec.grid[1] = l.grid.y, spec.grid[2] = l.grid.z;
  spec.block[0] = l.block.x, spec.block[1] = l.block.y, spec.block[2] = l.block.z;
  spec.dynamic_shared = l.dynamic_shared;
  spec.stream = c.grid.stream;
  launched.parent = c.number;
  launched.depth = c.grid.depth + (target.order.kind == Kind::kTail ? 0 : 1);
  launched.number = static_cast<uint32_t>(device_.launch_count_++);
  ++l.kernel->launches_;
  launched.timed = device_.is_timed(*l.kernel, launched.number) && (c.grid.timed || !machine_runs);
  if (launched.timed) ++device_.timed_count_;
  device_.note_launch(*l.kernel,
                      {nullptr, l.grid, l.block, c.grid.stream, launched.timed, uint64_t{launched.parent}});
  c.grid.buffers.erase(address);
  free_buffer(address);
  add(c, target, std::move(launched));
}

// --- streams, events, copies, fills ---

void Device::Children::create_stream(const Caller& c) {
  constexpr uint64_t kNonBlocking = 1;
  if (c.argument(1) != kNonBlocking) throw Failure(Code::kInvalidValue);
  const uint64_t handle = kHandleBase + kHandleStride * ++next_handle_;
  c.grid.streams[handle];
  c.give<uint64_t>(0, handle);
}

void Device::Children::record(const Caller& c, uint64_t event, uint64_t stream) {
  const auto found = c.grid.events.find(event);
  const Target target = target_of(c, stream);
  if (found == c.grid.events.end() || target.stream == nullptr) throw Failure(Code::kInvalidResourceHandle);
  Launched launched;
  launched.parent = c.number;
  found->second = add(c, target, std::move(launched));
}

void Device::Children::check_memory(const void* pointer, uint64_t bytes) const {
  // Of a GPU's own threads shared and local memory are no memory that another engine reaches.
  const core::Allocation* const a = device_.memory_.find(reinterpret_cast<uint64_t>(pointer));
  if (a == nullptr || bytes > a->end() - reinterpret_cast<uint64_t>(pointer))
    throw Failure(Code::kInvalidValue);
}

namespace {

/// Bytes from the first to the last.
uint64_t span_of(uint64_t width, uint64_t height, uint64_t depth, uint64_t pitch, uint64_t slice) {
  return (depth - 1) * slice + (height - 1) * pitch + width;
}

}  // namespace

void Device::Children::copy(const Caller& c, Copy copy, uint64_t stream) {
  if (copy.bytes() == 0) return;
  if (copy.height > 1 && (copy.to_pitch < copy.width || copy.from_pitch < copy.width))
    throw Failure(Code::kInvalidPitchValue);
  copy.direction = Copy::Direction::kDeviceToDevice;
  check_memory(copy.to, span_of(copy.width, copy.height, copy.depth, copy.to_pitch, copy.to_slice));
  check_memory(copy.from, span_of(copy.width, copy.height, copy.depth, copy.from_pitch, copy.from_slice));
  auto work = std::make_unique<Work>();
  work->kind = Work::Kind::kCopy;
  work->copy = std::move(copy);
  submit_work(c, std::move(work), stream);
}

void Device::Children::fill(const Caller& c, const Fill& fill, uint64_t stream) {
  if (fill.bytes() == 0) return;
  if (fill.height > 1 && fill.pitch < fill.width) throw Failure(Code::kInvalidPitchValue);
  check_memory(fill.to, span_of(fill.width, fill.height, fill.depth, fill.pitch, fill.slice));
  auto work = std::make_unique<Work>();
  work->kind = Work::Kind::kFill;
  work->fill = fill;
  submit_work(c, std::move(work), stream);
}

// --- questions about kernels ---

void Device::Children::give_attributes(const Caller& c) {
  Kernel& kernel = kernel_at(c, c.argument(1));
  const isa::KernelImage& image = kernel.image();
  // The part of cudaFuncAttributes that all toolkits since 9 have.
  struct {
    uint64_t shared, constant, local;
    int threads, registers, ptx, binary, cache, dynamic_shared, carveout;
  } facts{};
  facts.shared = image.static_shared_bytes;
  facts.local = image.local_bytes;
  facts.threads = device_.most_threads(kernel);
  facts.registers = static_cast<int>(image.registers);
  facts.ptx = image.target_sm;
  facts.binary = static_cast<int>(device_.machine().gpu.compute_capability);
  facts.dynamic_shared = static_cast<int>(device_.most_dynamic_shared(kernel));
  facts.carveout = kernel.carveout;
  constexpr size_t kBytes = 3 * 8 + 7 * 4;
  c.give(0, &facts, kBytes);
}

void Device::Children::give_occupancy(const Caller& c) {
  Kernel& kernel = kernel_at(c, c.argument(1));
  const auto threads = static_cast<int>(c.argument(2));
  if (threads <= 0) throw Failure(Code::kInvalidValue);
  const bool fits = threads <= static_cast<int>(device_.machine().sm.max_threads_per_block);
  c.give<int>(0, fits ? device_.blocks_per_sm(kernel, static_cast<uint32_t>(threads), c.argument(3)) : 0);
}

}  // namespace gpusim::runtime
