// What each lane's access is checked for: the kind of memory, the variable of its address, written bytes.
// Races: memory_order_checks.cpp.
#include <fmt/format.h>

#include <bit>

#include "components/checker/block_checks.h"
#include "isa/exec/device_services.h"

namespace gpusim::comp {

using isa::LaneMask;
using isa::OpKind;
using isa::Space;

LaneMask BlockChecks::check_spaces(const WarpChecks& warp, const isa::MicroOp& op, const LaneAccess& lanes,
                                   LaneMask mask) {
  if (op.memory.space != Space::kGlobal && op.memory.space != Space::kConst &&
      op.memory.space != Space::kGeneric)
    return mask;
  LaneMask allowed = mask;
  for_each_lane(mask, [&](uint32_t lane) {
    if (lanes.space[lane] != Space::kGlobal && lanes.space[lane] != Space::kConst) return;
    const GlobalObject* object = shared_.globals.find(lanes.address[lane]);
    if (object == nullptr || object->kind == GlobalObject::Kind::kBuffer) return;
    const bool constant = object->kind == GlobalObject::Kind::kConstant;
    const bool store = op.kind != OpKind::kLoad;
    const bool wrong = op.memory.space != Space::kGeneric && constant != (op.memory.space == Space::kConst);
    if (!wrong && !(constant && store)) return;
    const FindingKind kind = constant && store ? FindingKind::kReadOnly : FindingKind::kWrongSpace;
    const FaultPlace place{op.kind, lanes.space[lane], lanes.address[lane], lanes.bytes};
    shared_.log.note(kind, site(op.ptx_index, thread_of(warp, lane)), [&] {
      return describe_memory_fault(kind, place, kernel_->image(), shared_.globals, {});
    });
    if (constant && store) allowed &= ~LaneMask(uint32_t{1} << lane);
  });
  return allowed;
}

LaneMask BlockChecks::check_heap(const WarpChecks& warp, const isa::MicroOp& op, const LaneAccess& lanes,
                                 const isa::WarpContext& context, LaneMask mask) {
  const isa::DeviceServices* const services =
      context.global == nullptr ? nullptr : context.global->services();
  LaneMask allowed = mask;
  if (services == nullptr) return allowed;
  for_each_lane(mask, [&](uint32_t lane) {
    if (lanes.space[lane] != Space::kGlobal) return;
    const std::string wrong = services->stray(lanes.address[lane], lanes.bytes);
    if (wrong.empty()) return;
    shared_.log.note(FindingKind::kOutOfBounds, site(op.ptx_index, thread_of(warp, lane)), [&] {
      FindingDetail d;
      d.space = Space::kGlobal;
      d.address = lanes.address[lane];
      d.bytes = lanes.bytes;
      d.object = "malloc heap";
      d.message = fmt::format("{}-byte {} global memory at {:#x} is outside: {}", lanes.bytes,
                              op.kind == OpKind::kLoad    ? "load from"
                              : op.kind == OpKind::kStore ? "store to"
                                                          : "atomic on",
                              lanes.address[lane], wrong);
      return d;
    });
    allowed &= ~LaneMask(uint32_t{1} << lane);
  });
  return allowed;
}

LaneMask BlockChecks::check_addresses(const WarpChecks& warp, const isa::MicroOp& op, const LaneAccess& lanes,
                                      const isa::WarpContext& context, LaneMask mask) {
  LaneMask allowed = mask;
  for_each_lane(mask, [&](uint32_t lane) {
    const JudgedAddress judged = warp.addresses_.judge(op, context, lanes, lane);
    if (judged.fault == AddressFault::kNone) return;
    const FaultPlace place{op.kind, lanes.space[lane], lanes.address[lane], lanes.bytes};
    const bool dangling = judged.fault == AddressFault::kDangling;
    shared_.log.note(dangling ? FindingKind::kDangling : FindingKind::kOutOfBounds,
                     site(op.ptx_index, thread_of(warp, lane)),
                     [&] { return describe_stray(place, judged, kernel_->image()); });
    allowed &= ~LaneMask(uint32_t{1} << lane);
  });
  return allowed;
}

/// What is known of the written bytes at the access; `first` becomes their place in it. Null if all are
/// written.
ByteMap* BlockChecks::written_bytes(WarpChecks& warp, const LaneAccess& lanes,
                                    const isa::WarpContext& context, uint32_t lane, uint64_t& first) {
  first = lanes.address[lane];
  switch (lanes.space[lane]) {
    case Space::kShared:
      if (!lanes.remote.test(static_cast<int>(lane))) return &written_;
      // The lane has found the block, so it runs; it is checked as this one.
      return &cluster_->checks[lanes.rank[lane]]->written_;
    case Space::kLocal:
      if (warp.local_.empty()) warp.local_.reset(uint64_t{context.local_bytes} * isa::kWarpSize);
      first += uint64_t{lane} * context.local_bytes;
      return &warp.local_;
    case Space::kGlobal:
    case Space::kConst: {
      GlobalObject* object = shared_.globals.find(first);
      if (object == nullptr || object->initialised) return nullptr;
      first -= object->begin;
      return &object->written;
    }
    default:
      return nullptr;
  }
}

void BlockChecks::report_unwritten(const WarpChecks& warp, const UnwrittenRead& read) {
  shared_.log.note(FindingKind::kUninitialised, site(read.statement, thread_of(warp, read.lane)), [&] {
    return describe_unwritten(read.missing, read.place, kernel_->image(), shared_.globals);
  });
}

void BlockChecks::check_init(WarpChecks& warp, const isa::MicroOp& op, const LaneAccess& lanes,
                             const isa::WarpContext& context, LaneMask mask) {
  for_each_lane(mask, [&](uint32_t lane) { check_init_of(warp, op, lanes, context, lane); });
}

void BlockChecks::check_init_of(WarpChecks& warp, const isa::MicroOp& op, const LaneAccess& lanes,
                                const isa::WarpContext& context, uint32_t lane) {
  const isa::MemoryOperand& m = op.memory;
  const bool load = op.kind == OpKind::kLoad, store = op.kind == OpKind::kStore;
  UnwrittenValues& values = warp.unwritten_;
  uint64_t first = 0;
  ByteMap* const map = written_bytes(warp, lanes, context, lane, first);
  // Bytes that the PTX says nobody uses, such as a structure's padding, do not count.
  const uint64_t unused = load ? op.imm : 0;
  std::array<uint8_t, 8> bytes{};  // unwritten ones of each element
  uint32_t missing = 0;
  if (map != nullptr && kernel_->of(op).reads && !m.is_spill && map->clear_bytes(first, lanes.bytes) != 0) {
    for (uint32_t b = 0; b < lanes.bytes; ++b) {
      if ((b < 64 && ((unused >> b) & 1) != 0) || map->clear_bytes(first + b, 1) == 0) continue;
      bytes[b / m.element_bytes] |= static_cast<uint8_t>(1u << (b % m.element_bytes));
      ++missing;
    }
  }
  const FaultPlace place{op.kind, lanes.space[lane], lanes.address[lane], lanes.bytes};
  const UnwrittenRead read{place, missing, op.ptx_index, lane, false};
  const uint32_t number = load && missing != 0 ? values.add(read) : 0;
  if (!load && missing != 0) report_unwritten(warp, read);
  if (!load && map != nullptr) map->set(first, lanes.bytes);
  for (size_t d = 0; d < op.num_dst; ++d)
    values.set(op.dst[d], lane, {load && bytes[d] != 0 ? number : 0, bytes[d]});
  if (load || !values.any() || m.is_spill) return;
  // What is copied within the block stays unwritten; what leaves it, or is computed with, is used.
  const bool inside = store && map != nullptr && place.space != Space::kGlobal;
  for (size_t s = m.has_base ? 1 : 0, e = 0; s < op.num_src; ++s, ++e) {
    const UnwrittenValues::Value value = values.at(op.src[s], lane);
    if (!inside) values.use(op.src[s], lane, [&](const UnwrittenRead& r) { report_unwritten(warp, r); });
    for (uint32_t b = 0; inside && value.read != 0 && b < m.element_bytes; ++b)
      if (((value.bytes >> b) & 1) != 0) map->clear(first + e * m.element_bytes + b, 1);
  }
}

}  // namespace gpusim::comp
