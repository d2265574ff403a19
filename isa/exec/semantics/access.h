// Address side of a memory micro-op: lane addresses, bounds and alignment checks, and where the bytes are on
// the host. The common shapes (all lanes one address, consecutive addresses, one window) are found in one
// pass over the lanes; only what leaves the last window used pays a look-up per lane. No data is moved before
// every lane has passed its checks.
#pragma once
#include "isa/exec/semantics/lanes.h"

namespace gpusim::isa::GPUSIM_SIMD {

enum class Shape : uint8_t {
  kFault,       ///< access.fault says why
  kUniform,     ///< all lanes at `base`
  kContiguous,  ///< full mask, lane l at base + l * bytes
  kBase,        ///< lane l at base + (access.address[l] - begin)
  kPointers,    ///< lane l at pointer[l]
};
/// Lanes outside the mask stand where the lowest active lane does, so that loops may read all 32.
struct Located {
  Shape shape = Shape::kFault;
  std::byte* base = nullptr;
  u64 begin = 0;  ///< of Shape::kBase: the address whose byte `base` is
  std::byte* pointer[kWarpSize];
};

GPUSIM_INLINE void lane_addresses(const MicroOp& op, const WarpContext& ctx, LaneMask mask, u64* a) {
  const MemoryOperand& m = op.memory;
  const u64 offset = u64(m.offset);
  if (!m.has_base) {
    GPUSIM_LANE_LOOP a[l] = offset;
    return;
  }
  if (m.base_is_64) {
    const u64* b = row<u64>(op.src[0], ctx);
    GPUSIM_LANE_LOOP a[l] = b[l] + offset;
  } else {
    const u32* b = row<u32>(op.src[0], ctx);
    const u32 offset32 = u32(offset);
    GPUSIM_LANE_LOOP a[l] = u32(b[l] + offset32);
  }
  if (!mask.full()) {
    const u64 first = a[mask.lowest()];
    const u32 on = mask.bits();
    GPUSIM_LANE_LOOP a[l] = lane_on(on, l) ? a[l] : first;
  }
}

/// True if [address, address + bytes) lies in a window of `size` bytes from `begin`.
GPUSIM_INLINE bool inside(u64 address, u64 bytes, u64 begin, u64 end) {
  return address >= begin && address <= end && end - address >= bytes;
}

/// Makes the window that holds [address, address + bytes) the current one; false if there is none.
GPUSIM_INLINE bool select_window(WarpContext& ctx, u64 address, u64 bytes) {
  if (inside(address, bytes, ctx.window.begin, ctx.window.end) && ctx.window.data != nullptr) return true;
  MemoryWindow w = ctx.previous_window;
  if (!inside(address, bytes, w.begin, w.end) || w.data == nullptr) {
    if (ctx.global == nullptr) return false;
    w = ctx.global->window(address);
    if (w.data != nullptr && !inside(address, bytes, w.begin, w.end)) w = ctx.global->window_beyond(address);
    if (w.data == nullptr || !inside(address, bytes, w.begin, w.end)) return false;
  }
  ctx.previous_window = ctx.window;
  ctx.window = w;
  return true;
}

/// Host byte of one access, or nullptr; `fault` is set then.
inline std::byte* locate_lane(WarpContext& ctx, Space space, u64 address, u64 bytes, u64 align_mask,
                              bool store, int lane, FaultKind& fault) {
  fault = FaultKind::kOutOfBounds;
  if (address & align_mask) {
    fault = FaultKind::kMisaligned;
    return nullptr;
  }
  switch (space) {
    case Space::kShared:
      return inside(address, bytes, 0, ctx.shared_bytes) ? ctx.shared + address : nullptr;
    case Space::kLocal:
      if (!inside(address, bytes, 0, ctx.local_bytes)) return nullptr;
      return ctx.local + u64(lane) * ctx.local_bytes + address;
    case Space::kParam:
      if (store) fault = FaultKind::kReadOnly;
      if (store || !inside(address, bytes, 0, ctx.param_bytes)) return nullptr;
      return const_cast<std::byte*>(ctx.params) + address;
    default:
      break;
  }
  if (!select_window(ctx, address, bytes)) return nullptr;
  if (store && (space == Space::kConst || !ctx.window.writable)) {
    fault = FaultKind::kReadOnly;
    return nullptr;
  }
  return ctx.window.data + (address - ctx.window.begin);
}

/// Host byte of a lane's access by way of the cluster's windows, where its own space does not have it: the
/// address becomes that in the block's shared memory. nullptr: `fault` is set if it lies there.
inline std::byte* locate_in_cluster(const MicroOp& op, const WarpContext& ctx, Space space, u64 bytes,
                                    u64 align_mask, int lane, MemoryAccess& access, FaultKind& fault) {
  const bool may = space == Space::kShared ? op.memory.cluster
                                           : space == Space::kGlobal && op.memory.space == Space::kGeneric;
  u64& address = access.address[lane];
  const u64 at = address + (space == Space::kShared ? kSharedWindowBase : 0) - kClusterWindowBase;
  if (!may || at >= kClusterWindowBytes) return nullptr;
  const u32 rank = u32(at / kClusterStride);
  const u64 offset = at % kClusterStride;
  std::byte* const shared = ctx.cluster != nullptr     ? ctx.cluster->shared[rank]
                            : rank == ctx.cluster_rank ? ctx.shared
                                                       : nullptr;
  fault = shared == nullptr            ? FaultKind::kAbsentBlock
          : (offset & align_mask) != 0 ? FaultKind::kMisaligned
                                       : FaultKind::kOutOfBounds;
  if (fault != FaultKind::kOutOfBounds || !inside(offset, bytes, 0, ctx.shared_bytes)) return nullptr;
  address = offset;
  access.rank[lane] = u8(rank);
  return shared + offset;
}

/// Lane by lane: different windows, local memory, generic lanes of different spaces, shared memory of other
/// blocks, and the search for the first fault.
inline void locate_slowly(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access,
                          const Space* spaces, u64 bytes, u64 align_mask, bool store, Located& out) {
  u32 in_cluster = 0, in_shared = 0, remote = 0;
  for (int l = 0; l < kWarpSize; ++l) {
    if (!mask.test(l)) continue;
    FaultKind fault = FaultKind::kNone;
    out.pointer[l] = locate_lane(ctx, spaces[l], access.address[l], bytes, align_mask, store, l, fault);
    access.rank[l] = u8(ctx.cluster_rank);
    in_shared |= u32{spaces[l] == Space::kShared} << l;
    if (out.pointer[l] == nullptr) {
      out.pointer[l] = locate_in_cluster(op, ctx, spaces[l], bytes, align_mask, l, access, fault);
      in_cluster |= u32{out.pointer[l] != nullptr} << l;
      remote |= u32{access.rank[l] != ctx.cluster_rank} << l;
    }
    if (out.pointer[l] == nullptr) {
      access.fault = fault;
      access.fault_lane = uint8_t(l);
      access.fault_address = access.address[l];
      out.shape = Shape::kFault;
      return;
    }
  }
  std::byte* const first = out.pointer[mask.lowest()];
  for (int l = 0; l < kWarpSize; ++l) {
    if (!mask.test(l)) out.pointer[l] = first;
  }
  out.shape = Shape::kPointers;
  if (in_cluster == 0) return;
  const u32 elsewhere = mask.bits() & ~(in_cluster | in_shared);  // only these are timed, if there are any
  access.space = elsewhere == 0 ? Space::kShared : Space::kGlobal;
  access.lanes = LaneMask(elsewhere == 0 ? mask.bits() : elsewhere);
  access.remote = LaneMask(elsewhere == 0 ? remote : 0);
}

/// Resolves generic addresses to spaces; returns the common space, or kGeneric if the lanes differ (`spaces`
/// is filled in).
inline Space resolve_generic(LaneMask mask, MemoryAccess& access, Space* spaces) {
  u32 shared = 0, local = 0, param = 0;
  for (int l = 0; l < kWarpSize; ++l) {
    shared |= u32{access.address[l] - kSharedWindowBase < kWindowBytes} << l;
    local |= u32{access.address[l] - kLocalWindowBase < kWindowBytes} << l;
    param |= u32{access.address[l] - kParamWindowBase < kWindowBytes} << l;
  }
  if ((shared | local | param) == 0) return Space::kGlobal;
  for (int l = 0; l < kWarpSize; ++l) {
    spaces[l] = lane_on(shared, l)  ? Space::kShared
                : lane_on(local, l) ? Space::kLocal
                : lane_on(param, l) ? Space::kParam
                                    : Space::kGlobal;
    access.address[l] -= lane_on(shared, l)  ? kSharedWindowBase
                         : lane_on(local, l) ? kLocalWindowBase
                         : lane_on(param, l) ? kParamWindowBase
                                             : 0;
  }
  const u32 on = mask.bits();
  if ((shared & on) == on) return Space::kShared;
  if ((local & on) == on) return Space::kLocal;
  if ((param & on) == on) return Space::kParam;
  access.lanes = LaneMask(on & ~(shared | local | param));  // only the global lanes are timed
  return Space::kGeneric;
}

/// How the addresses of a half warp lie.
GPUSIM_INLINE AccessShape shape_of_half(const u64* a, u64 bytes) {
  u64 differ = 0, stride = 0;
  const u64 first = a[0];
  GPUSIM_LANE_LOOP_OF(kWarpSize / 2) {
    differ |= a[l] ^ first;
    stride |= a[l] - first - u64(l) * bytes;
  }
  return differ == 0 ? AccessShape::kUniform : stride == 0 ? AccessShape::kContiguous : AccessShape::kOther;
}

/// Fills in `access`, whose addresses are there already, and finds the bytes. `mask` is not empty.
inline void locate_addresses(const MicroOp& op, WarpContext& ctx, LaneMask mask, bool store,
                             MemoryAccess& access, Located& out) {
  u64* a = access.address;
  const u64 bytes = u64(op.memory.element_bytes) * op.memory.elements;
  const u64 align_mask = (bytes - 1) | op.memory.align_mask;
  access.lanes = mask;
  access.bytes = uint16_t(bytes);
  access.fault = FaultKind::kNone;
  access.set_shape(AccessShape::kOther);
  Space space = op.memory.space;
  Space spaces[kWarpSize];
  if (space == Space::kGeneric) space = resolve_generic(mask, access, spaces);
  if (space == Space::kGeneric) {
    access.space = access.lanes.any() ? Space::kGlobal : Space::kShared;
    if (access.lanes.none()) access.lanes = mask;
    return locate_slowly(op, ctx, mask, access, spaces, bytes, align_mask, store, out);
  }
  access.space = space;

  // One pass: alignment, all equal, consecutive.
  u64 low_bits = 0, differ = 0, stride = 0;
  const u64 first = a[0];
  GPUSIM_LANE_LOOP {
    low_bits |= a[l];
    differ |= a[l] ^ first;
    stride |= a[l] - first - u64(l) * bytes;
  }
  u64 lo = first, hi = first;
  out.shape = Shape::kUniform;
  if (differ != 0) {
    if (stride == 0) {  // only a full mask can be consecutive: idle lanes repeat an address
      out.shape = Shape::kContiguous;
      hi = a[kWarpSize - 1];
    } else {
      out.shape = Shape::kBase;
      GPUSIM_LANE_LOOP {
        lo = a[l] < lo ? a[l] : lo;
        hi = a[l] > hi ? a[l] : hi;
      }
    }
  }
  const bool aligned = (low_bits & align_mask) == 0 && hi >= lo;
  std::byte* window = nullptr;  // that holds all lanes: host byte of the address `begin`
  u64 begin = 0;
  bool found = false;
  if (space == Space::kShared) {
    found = inside(hi, bytes, 0, ctx.shared_bytes);
    window = ctx.shared;
  } else if (space == Space::kParam) {
    found = !store && inside(hi, bytes, 0, ctx.param_bytes);
    window = const_cast<std::byte*>(ctx.params);
  } else if (space != Space::kLocal) {
    static_cast<void>(select_window(ctx, first, bytes));
    const MemoryWindow& w = ctx.window;
    found = w.data != nullptr && lo >= w.begin && inside(hi, bytes, w.begin, w.end) &&
            !(store && (space == Space::kConst || !w.writable));
    window = w.data;
    begin = w.begin;
  }
  if (!aligned || !found) {
    for (Space& s : spaces) s = space;
    return locate_slowly(op, ctx, mask, access, spaces, bytes, align_mask, store, out);
  }
  out.base = out.shape == Shape::kBase ? window : window + (first - begin);
  out.begin = begin;
  if (out.shape == Shape::kUniform)
    access.set_shape(AccessShape::kUniform);
  else if (out.shape == Shape::kContiguous)
    access.set_shape(AccessShape::kContiguous);
  else if (space == Space::kShared)  // whose timing asks for it: rows of a tile
    access.set_shape(AccessShape::kOther, shape_of_half(a, bytes), shape_of_half(a + kWarpSize / 2, bytes));
}

/// Locates an access at the addresses of the lanes' base registers.
inline void locate(const MicroOp& op, WarpContext& ctx, LaneMask mask, bool store, MemoryAccess& access,
                   Located& out) {
  lane_addresses(op, ctx, mask, access.address);
  locate_addresses(op, ctx, mask, store, access, out);
}

template <class M>
GPUSIM_INLINE M read_bytes(const std::byte* p) {
  M v;
  __builtin_memcpy(&v, p, sizeof(M));
  return v;
}
template <class M>
GPUSIM_INLINE void write_bytes(std::byte* p, M v) {
  __builtin_memcpy(p, &v, sizeof(M));
}
GPUSIM_INLINE std::byte* lane_pointer(const Located& where, const MemoryAccess& access, int l) {
  switch (where.shape) {
    case Shape::kUniform:
      return where.base;
    case Shape::kContiguous:
      return where.base + u64(l) * access.bytes;
    case Shape::kBase:
      return where.base + (access.address[l] - where.begin);
    default:
      return where.pointer[l];
  }
}

}  // namespace gpusim::isa::GPUSIM_SIMD
