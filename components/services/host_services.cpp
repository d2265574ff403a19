#include "components/services/host_services.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "simcore/bits.h"
#include "simcore/text/input_error.h"

namespace gpusim::comp {

using isa::FaultKind;
using isa::SystemCall;

namespace {

// What printf() returns instead of the number of arguments (CUDA C++ Programming Guide, "Formatted Output").
constexpr int32_t kNoFormat = -1;

void fault(isa::MemoryAccess& access, FaultKind kind, uint32_t lane, uint64_t address) {
  access.fault = kind;
  access.fault_lane = static_cast<uint8_t>(lane);
  access.fault_address = address;
}

/// The string at a generic address; nothing if it has no end in the memory around it.
std::optional<std::string_view> string_at(const isa::WarpContext& context, uint32_t lane, uint64_t address) {
  const isa::MemoryWindow w = isa::generic_window(context, static_cast<int>(lane), address);
  if (w.data == nullptr) return std::nullopt;
  const char* const first = reinterpret_cast<const char*>(w.data + (address - w.begin));
  const auto* const end = static_cast<const char*>(std::memchr(first, 0, w.end - address));
  if (end == nullptr) return std::nullopt;
  return std::string_view(first, static_cast<size_t>(end - first));
}

}  // namespace

bool HostServices::set_malloc_heap_bytes(uint64_t bytes) {
  if (heap_.placed()) return false;
  heap_bytes_ = bytes;
  return true;
}

void HostServices::prepare(const isa::KernelImage& image, core::DeviceMemory& memory) {
  constexpr uint64_t kAlign = core::DeviceMemory::kAlign;
  if ((image.system_calls & system_call_bit(SystemCall::kPrint)) != 0 && fifo_address_ == 0)
    fifo_address_ = memory.allocate(std::max(fifo_.capacity(), kAlign), kAlign, "printf buffer");
  const bool runtime = (image.system_calls & system_call_bit(SystemCall::kRuntime)) != 0;
  if (runtime && !runtime_)
    throw core::InputError(fmt::format(
        "error: kernel '{}' calls the CUDA device runtime, as kernels do that launch others: only "
        "`gpusim run` carries that out",
        image.name));
  if (runtime && runtime_address_ == 0) runtime_address_ = memory.allocate(kAlign, kAlign, "device runtime");
  const uint8_t of_heap = system_call_bit(SystemCall::kAllocate) | system_call_bit(SystemCall::kRelease);
  // The device runtime allocates from the heap too.
  if (((image.system_calls & of_heap) == 0 && !runtime) || heap_.placed()) return;
  const uint64_t bytes = std::max(heap_bytes_, kAlign);
  heap_.place(memory.allocate(bytes, kAlign, "malloc heap"), bytes);
}

void HostServices::reset() {
  fifo_.clear();
  heap_.reset();
  runtime_address_ = 0;
}

std::string HostServices::stray(uint64_t address, uint64_t bytes) const {
  if (!heap_.contains(address)) return {};
  const DeviceHeap::Block block = heap_.block_before(address);
  if (block.bytes == 0) return "in the heap of malloc(), before its first block";
  const uint64_t end = block.begin + block.bytes;
  if (address + bytes <= end) return {};
  const bool over = address < end;
  return fmt::format("{} bytes {} the end of a block of malloc() ({:#x}, {} bytes)",
                     over ? address + bytes - end : address - end, over ? "over" : "past", block.begin,
                     block.bytes);
}

void HostServices::print(const isa::WarpContext& context, isa::LaneMask lanes, const Pointers& formats,
                         const Pointers& arguments, std::array<int32_t, isa::kWarpSize>& results,
                         isa::MemoryAccess& access) {
  // Lanes print through the same format most of the time.
  uint64_t last = 0;
  const PrintFormat* format = nullptr;
  for (const uint32_t lane : core::Bits(lanes.bits())) {
    if (formats[lane] == 0) {
      results[lane] = kNoFormat;
      continue;
    }
    if (format == nullptr || formats[lane] != last) {
      const auto text = string_at(context, lane, formats[lane]);
      if (!text) return fault(access, FaultKind::kOutOfBounds, lane, formats[lane]);
      format = &fifo_.format(*text);
      last = formats[lane];
    }
    if (!read_values(context, lane, *format, arguments[lane], access)) return;
    fifo_.push(*format, values_);
    results[lane] = static_cast<int32_t>(values_.size());
  }
}

bool HostServices::read_values(const isa::WarpContext& context, uint32_t lane, const PrintFormat& format,
                               uint64_t address, isa::MemoryAccess& access) {
  values_.clear();
  if (format.arguments().empty()) return true;
  const isa::MemoryWindow w = isa::generic_window(context, static_cast<int>(lane), address);
  uint64_t at = address;
  for (const PrintArgument argument : format.arguments()) {
    const uint64_t bytes = print_argument_bytes(argument);
    at = (at + bytes - 1) / bytes * bytes;
    if (w.data == nullptr || at > w.end || w.end - at < bytes) {
      fault(access, FaultKind::kOutOfBounds, lane, at);
      return false;
    }
    PrintValue value;
    std::memcpy(&value.bits, w.data + (at - w.begin), bytes);
    at += bytes;
    if (argument == PrintArgument::kString) {
      const auto text = value.bits == 0 ? std::string_view("(null)") : string_at(context, lane, value.bits);
      if (!text) {
        fault(access, FaultKind::kOutOfBounds, lane, value.bits);
        return false;
      }
      value.text = *text;
    }
    values_.push_back(value);
  }
  return true;
}

void HostServices::call_runtime(isa::RuntimeCall call, const isa::WarpContext& context, isa::LaneMask lanes,
                                const Pointers& blocks, Pointers& results, isa::MemoryAccess& access) {
  if (runtime_) return runtime_(call, context, lanes, blocks, results, access);
  fault(access, FaultKind::kNoService, static_cast<uint32_t>(lanes.lowest()), 0);
}

void HostServices::allocate(isa::LaneMask lanes, const Pointers& bytes, Pointers& results) {
  for (const uint32_t lane : core::Bits(lanes.bits())) results[lane] = heap_.allocate(bytes[lane]);
}

void HostServices::release(isa::LaneMask lanes, const Pointers& addresses, isa::MemoryAccess& access) {
  for (const uint32_t lane : core::Bits(lanes.bits()))
    if (addresses[lane] != 0 && !heap_.release(addresses[lane]))
      return fault(access, FaultKind::kBadFree, lane, addresses[lane]);
}

}  // namespace gpusim::comp
