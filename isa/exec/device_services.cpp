#include "isa/exec/device_services.h"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace gpusim::isa {

namespace {

template <class T>
T* lanes_of(const RowRef& ref, const WarpContext& ctx) {
  return reinterpret_cast<T*>(ctx.row(ref));
}

template <class Fn>
void each_lane(LaneMask mask, Fn fn) {
  for (uint32_t left = mask.bits(); left != 0; left &= left - 1) fn(std::countr_zero(left));
}

DeviceServices::Pointers source(const MicroOp& op, const WarpContext& ctx, LaneMask mask, size_t i) {
  DeviceServices::Pointers values{};
  const auto* row = lanes_of<const uint64_t>(op.src[i], ctx);
  each_lane(mask, [&](int lane) { values[static_cast<size_t>(lane)] = row[lane]; });
  return values;
}

template <class T>
void give(const MicroOp& op, const WarpContext& ctx, LaneMask mask, const std::array<T, kWarpSize>& values) {
  if (op.num_dst == 0) return;
  auto* row = lanes_of<T>(op.dst[0], ctx);
  each_lane(mask, [&](int lane) { row[lane] = values[static_cast<size_t>(lane)]; });
}

/// The services, with `access` made the atomic operation that the call is timed as.
DeviceServices* begin(SystemCall call, const MicroOp& op, const WarpContext& ctx, LaneMask mask,
                      MemoryAccess& access) {
  access.lanes = LaneMask();
  access.fault = FaultKind::kNone;
  access.space = Space::kGlobal;
  access.bytes = op.memory.element_bytes;
  if (mask.none()) return nullptr;
  DeviceServices* const services = ctx.global->services();
  if (services == nullptr) {
    access.fault = FaultKind::kNoService;
    access.fault_lane = static_cast<uint8_t>(mask.lowest());
    return nullptr;
  }
  access.lanes = mask;
  access.set_shape(AccessShape::kUniform);
  for (uint64_t& address : access.address) address = services->books(call);
  return services;
}

void execute_print(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access) {
  DeviceServices* const services = begin(SystemCall::kPrint, op, ctx, mask, access);
  if (services == nullptr) return;
  std::array<int32_t, kWarpSize> results{};
  services->print(ctx, mask, source(op, ctx, mask, 0), source(op, ctx, mask, 1), results, access);
  if (access.fault == FaultKind::kNone) give(op, ctx, mask, results);
}

void execute_allocate(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access) {
  DeviceServices* const services = begin(SystemCall::kAllocate, op, ctx, mask, access);
  if (services == nullptr) return;
  DeviceServices::Pointers results{};
  services->allocate(mask, source(op, ctx, mask, 0), results);
  give(op, ctx, mask, results);
}

void execute_release(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access) {
  DeviceServices* const services = begin(SystemCall::kRelease, op, ctx, mask, access);
  if (services != nullptr) services->release(mask, source(op, ctx, mask, 0), access);
}

void execute_runtime(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access) {
  DeviceServices* const services = begin(SystemCall::kRuntime, op, ctx, mask, access);
  if (services == nullptr) return;
  const RuntimeCall call = unpacked_call(op.imm);
  DeviceServices::Pointers results{};
  services->call_runtime(call, ctx, mask, source(op, ctx, mask, 0), results, access);
  if (access.fault != FaultKind::kNone) return;
  if (signature_of(call.function).result == sizeof(uint64_t)) return give(op, ctx, mask, results);
  std::array<uint32_t, kWarpSize> narrow{};
  std::ranges::transform(results, narrow.begin(), [](uint64_t r) { return static_cast<uint32_t>(r); });
  give(op, ctx, mask, narrow);
}

}  // namespace

std::optional<SystemCall> system_call(std::string_view name) {
  if (name == "vprintf") return SystemCall::kPrint;
  if (name == "malloc") return SystemCall::kAllocate;
  if (name == "free") return SystemCall::kRelease;
  if (runtime_call(name)) return SystemCall::kRuntime;
  return std::nullopt;
}

bool waits_for_children(std::string_view name) {
  return name == "cudaDeviceSynchronize" || name == "__cudaDeviceSynchronizeDeprecationAvoidance";
}

bool is_of_system(std::string_view name) {
  return system_call(name) || name == "__assertfail" || waits_for_children(name);
}

MemFn system_call_function(SystemCall call) {
  switch (call) {
    case SystemCall::kPrint:
      return &execute_print;
    case SystemCall::kAllocate:
      return &execute_allocate;
    case SystemCall::kRuntime:
      return &execute_runtime;
    case SystemCall::kRelease:
      break;
  }
  return &execute_release;
}

bool is_system_call(MemFn function) {
  return function == &execute_print || function == &execute_allocate || function == &execute_release ||
         function == &execute_runtime;
}

MemoryWindow generic_window(const WarpContext& ctx, int lane, uint64_t address) {
  const auto of_window = [address](uint64_t base, std::byte* data, uint64_t bytes) {
    const bool inside = data != nullptr && address - base < bytes;
    return inside ? MemoryWindow{base, base + bytes, data, true} : MemoryWindow{};
  };
  if (address - kSharedWindowBase < kWindowBytes)
    return of_window(kSharedWindowBase, ctx.shared, ctx.shared_bytes);
  if (address - kLocalWindowBase < kWindowBytes) {
    std::byte* const own =
        ctx.local == nullptr ? nullptr : ctx.local + static_cast<size_t>(lane) * ctx.local_bytes;
    return of_window(kLocalWindowBase, own, ctx.local_bytes);
  }
  if (address - kParamWindowBase < kWindowBytes)
    return of_window(kParamWindowBase, const_cast<std::byte*>(ctx.params), ctx.param_bytes);
  const MemoryWindow w = ctx.global == nullptr ? MemoryWindow{} : ctx.global->window(address);
  return w.data != nullptr && address >= w.begin && address < w.end ? w : MemoryWindow{};
}

}  // namespace gpusim::isa
