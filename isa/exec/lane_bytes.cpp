#include "isa/exec/lane_bytes.h"

#include "isa/exec/cluster.h"

namespace gpusim::isa {

namespace {

struct Window {
  uint64_t base;
  Space space;
};
constexpr Window kWindows[] = {{kSharedWindowBase, Space::kShared},
                               {kLocalWindowBase, Space::kLocal},
                               {kParamWindowBase, Space::kParam}};

}  // namespace

uint64_t lane_address(const MicroOp& op, const WarpContext& ctx, int lane) {
  const MemoryOperand& m = op.memory;
  const auto offset = static_cast<uint64_t>(m.offset);
  if (!m.has_base) return offset;
  const std::byte* const row = ctx.row(op.src[0]);
  if (m.base_is_64) return reinterpret_cast<const uint64_t*>(row)[lane] + offset;
  return static_cast<uint32_t>(reinterpret_cast<const uint32_t*>(row)[lane] + offset);
}

std::byte* shared_of(const WarpContext& ctx, uint32_t rank) {
  if (rank == ctx.cluster_rank) return ctx.shared;
  return ctx.cluster == nullptr ? nullptr : ctx.cluster->shared[rank];
}

LaneBytes lane_bytes(const WarpContext& ctx, Space space, uint64_t address, uint64_t bytes, uint64_t align,
                     bool store, int lane, bool cluster) {
  LaneBytes place{nullptr, space, address, FaultKind::kOutOfBounds, ctx.cluster_rank};
  if (space == Space::kGeneric) {
    place.space = Space::kGlobal;
    for (const Window& w : kWindows) {
      if (address - w.base >= kWindowBytes) continue;
      place.space = w.space;
      place.address = address - w.base;
    }
  }
  const bool named = space == Space::kGeneric || (space == Space::kShared && cluster);
  const uint64_t window = cluster_window(space == Space::kShared);
  if (const uint64_t at = address - window; named && at < kClusterWindowBytes) {
    place.space = Space::kShared;
    place.address = at % kClusterStride;
    place.rank = static_cast<uint32_t>(at / kClusterStride);
    if (place.rank != ctx.cluster_rank && !cluster) {
      place.fault = FaultKind::kRemote;
      return place;
    }
  }
  const uint64_t at = place.address;
  if (at % align != 0) {
    place.fault = FaultKind::kMisaligned;
    return place;
  }
  const auto inside = [&](uint64_t size) { return at <= size && size - at >= bytes; };
  switch (place.space) {
    case Space::kShared:
      if (std::byte* const shared = shared_of(ctx, place.rank); shared == nullptr && ctx.shared_bytes != 0)
        place.fault = FaultKind::kAbsentBlock, place.address = address;
      else if (inside(ctx.shared_bytes))
        place.data = shared + at;
      break;
    case Space::kLocal:
      if (inside(ctx.local_bytes)) place.data = ctx.local + static_cast<size_t>(lane) * ctx.local_bytes + at;
      break;
    case Space::kParam:
      if (store)
        place.fault = FaultKind::kReadOnly;
      else if (inside(ctx.param_bytes))
        place.data = const_cast<std::byte*>(ctx.params) + at;
      break;
    default: {
      const MemoryWindow w = ctx.global == nullptr ? MemoryWindow{} : ctx.global->window(at);
      const bool found = w.data != nullptr && at >= w.begin && at <= w.end && w.end - at >= bytes;
      if (found && store && !w.writable)
        place.fault = FaultKind::kReadOnly;
      else if (found)
        place.data = w.data + (at - w.begin);
    }
  }
  if (place.data != nullptr) place.fault = FaultKind::kNone;
  return place;
}

LaneBytes without_block(LaneBytes place, uint32_t rank) {
  place.fault = FaultKind::kAbsentBlock;
  place.address = kClusterWindowBase + rank * kClusterStride + place.address;
  return place;
}

void set_fault(MemoryAccess& access, const LaneBytes& place, int lane) {
  access.fault = place.fault;
  access.fault_lane = static_cast<uint8_t>(lane);
  access.fault_address = place.address;
  access.space = place.space;
}

void begin_access(MemoryAccess& access, Space space, uint32_t bytes) {
  access.lanes = LaneMask();
  access.space = space;
  access.bytes = static_cast<uint16_t>(bytes);
  access.fault = FaultKind::kNone;
  access.set_shape(AccessShape::kOther);
}

}  // namespace gpusim::isa
