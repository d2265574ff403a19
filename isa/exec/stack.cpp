#include "isa/exec/stack.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace gpusim::isa {

namespace {

uint32_t* pointer_of(const MicroOp& op, const WarpContext& ctx, size_t lane) {
  return reinterpret_cast<uint32_t*>(ctx.local + lane * ctx.local_bytes + StackPlace::unpacked(op.imm).word);
}

void give(const MicroOp& op, const WarpContext& ctx, size_t lane, uint64_t value) {
  if (op.num_dst == 0) return;
  std::byte* const row = ctx.row(op.dst[0]);
  if (op.type == Type::kU64)
    reinterpret_cast<uint64_t*>(row)[lane] = value;
  else
    reinterpret_cast<uint32_t*>(row)[lane] = static_cast<uint32_t>(value);
}

uint64_t source(const MicroOp& op, const WarpContext& ctx, size_t lane) {
  return reinterpret_cast<const uint64_t*>(ctx.row(op.src[0]))[lane];
}

template <class Fn>
void each_lane(LaneMask mask, MemoryAccess& access, Fn fn) {
  access.lanes = LaneMask();
  access.fault = FaultKind::kNone;
  for (uint32_t left = mask.bits(); left != 0 && access.fault == FaultKind::kNone; left &= left - 1)
    fn(static_cast<size_t>(std::countr_zero(left)));
}

void overflow(MemoryAccess& access, size_t lane, uint64_t bytes) {
  access.fault = FaultKind::kStack;
  access.fault_lane = static_cast<uint8_t>(lane);
  access.fault_address = bytes;
}

void execute_alloca(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access) {
  const StackPlace place = StackPlace::unpacked(op.imm);
  each_lane(mask, access, [&](size_t lane) {
    uint32_t* const pointer = pointer_of(op, ctx, lane);
    const uint64_t align = std::max<uint64_t>(place.align, 1);
    const uint64_t begin = (*pointer + align - 1) / align * align, bytes = source(op, ctx, lane);
    if (begin > place.end() || bytes > place.end() - begin) return overflow(access, lane, bytes);
    *pointer = static_cast<uint32_t>(begin + bytes);
    give(op, ctx, lane, begin);
  });
}

void execute_save(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access) {
  each_lane(mask, access, [&](size_t lane) { give(op, ctx, lane, *pointer_of(op, ctx, lane)); });
}

void execute_restore(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access) {
  const StackPlace place = StackPlace::unpacked(op.imm);
  each_lane(mask, access, [&](size_t lane) {
    const uint64_t pointer = source(op, ctx, lane);
    if (pointer < place.begin() || pointer > place.end()) return overflow(access, lane, pointer);
    *pointer_of(op, ctx, lane) = static_cast<uint32_t>(pointer);
  });
}

void execute_empty(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access) {
  const uint32_t begin = StackPlace::unpacked(op.imm).begin();
  each_lane(mask, access, [&](size_t lane) { *pointer_of(op, ctx, lane) = begin; });
}

constexpr MemFn kFunctions[] = {&execute_alloca, &execute_save, &execute_restore, &execute_empty};

}  // namespace

MemFn stack_function(StackOp op) { return kFunctions[static_cast<size_t>(op)]; }

bool is_stack_function(MemFn function) {
  return std::ranges::find(kFunctions, function) != std::end(kFunctions);
}

}  // namespace gpusim::isa
