// What the runtime and the driver library share: errors, handles, copies that are checked, attributes.
#include <algorithm>
#include <cstdint>

#include "runtime/cudart/api.h"

namespace gpusim::runtime::cudart {

thread_local int last_error = 0;

cudaError_t returned(const Failure& failure) {
  const int code = static_cast<int>(failure.code());
  if (failure.code() != Code::kNotReady) last_error = code;
  // Faults of kernels have been told; what is wrong with a program's text or launch is told here.
  const bool tells = failure.what()[0] != '\0';
  const bool told = failure.told() || failure.code() == Code::kNoDevice;
  if (tells && !told && failure.code() != Code::kMemoryAllocation) {
    if (Device* device = existing_device()) device->warn(as_error(failure.what()));
  }
  return code;
}

Stream& stream_of(Device& device, cudaStream_t handle, Default null) {
  device.check();
  return stream_at(device, handle, null);
}

Stream& stream_at(Device& device, cudaStream_t handle, Default null) {
  constexpr uintptr_t kLegacy = 1, kPerThread = 2;
  const auto value = reinterpret_cast<uintptr_t>(handle);
  if (value == kPerThread || (value == 0 && null == Default::kThread)) return device.thread_stream();
  if (value == 0 || value == kLegacy) return device.legacy_stream();
  auto* const stream = reinterpret_cast<Stream*>(handle);
  require(device.is_stream(stream), Code::kInvalidResourceHandle);
  return *stream;
}

Event& event_of(Device& device, cudaEvent_t handle) {
  device.check();
  auto* const event = reinterpret_cast<Event*>(handle);
  require(device.is_event(event), Code::kInvalidResourceHandle);
  return *event;
}

namespace {

bool on_device(const Device& device, const void* pointer) {
  const auto memory = device.pointer_kind(pointer).memory;
  return memory == PointerKind::Memory::kDevice || memory == PointerKind::Memory::kManaged;
}

}  // namespace

uint64_t span_of_rows(uint64_t width, uint64_t height, uint64_t depth, uint64_t pitch, uint64_t slice) {
  return (depth - 1) * slice + (height - 1) * pitch + width;
}

void check_reach(const Device& device, const void* pointer, uint64_t bytes, bool must_be_device) {
  const PointerKind kind = device.pointer_kind(pointer);
  const auto address = reinterpret_cast<uint64_t>(pointer);
  if (kind.memory == PointerKind::Memory::kUnregistered) {
    require(!must_be_device);
    return;
  }
  require(bytes <= kind.base + kind.bytes - address);
}

Copy checked_copy(Device& device, Copy c, cudaMemcpyKind kind) {
  require(kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault, Code::kInvalidMemcpyDirection);
  if (c.bytes() == 0) return c;
  require(c.to != nullptr && c.from != nullptr);
  require(c.height == 1 || (c.to_pitch >= c.width && c.from_pitch >= c.width), Code::kInvalidPitchValue);
  const bool from_device = on_device(device, c.from), to_device = on_device(device, c.to);
  check_reach(device, c.to, span_of_rows(c.width, c.height, c.depth, c.to_pitch, c.to_slice),
              kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice);
  check_reach(device, c.from, span_of_rows(c.width, c.height, c.depth, c.from_pitch, c.from_slice),
              kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice);
  using D = Copy::Direction;
  c.direction = from_device ? (to_device ? D::kDeviceToDevice : D::kDeviceToHost)
                            : (to_device ? D::kHostToDevice : D::kHostToHost);
  return c;
}

Copy linear_copy(Device& device, void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  Copy c;
  c.to = static_cast<std::byte*>(to);
  c.from = static_cast<const std::byte*>(from);
  c.width = c.to_pitch = c.from_pitch = c.to_slice = c.from_slice = bytes;
  return checked_copy(device, std::move(c), kind);
}

Copy to_symbol(Device& device, const void* symbol, const void* from, size_t bytes, size_t offset,
               cudaMemcpyKind kind) {
  const Symbol s = symbol_of(device, symbol);
  require(bytes == 0 || (offset <= s.bytes && bytes <= s.bytes - offset));
  require(kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyHostToHost, Code::kInvalidMemcpyDirection);
  return linear_copy(device, s.address + offset, from, bytes, kind);
}

Copy from_symbol(Device& device, void* to, const void* symbol, size_t bytes, size_t offset,
                 cudaMemcpyKind kind) {
  const Symbol s = symbol_of(device, symbol);
  require(bytes == 0 || (offset <= s.bytes && bytes <= s.bytes - offset));
  require(kind != cudaMemcpyHostToDevice && kind != cudaMemcpyHostToHost, Code::kInvalidMemcpyDirection);
  return linear_copy(device, to, s.address + offset, bytes, kind);
}

}  // namespace gpusim::runtime::cudart
