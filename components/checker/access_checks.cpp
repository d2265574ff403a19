// What each lane's access is checked for: the kind of memory, the variable of its address, written bytes,
// races.
#include <fmt/format.h>

#include <bit>

#include "components/checker/block_checks.h"

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
  for_each_lane(mask, [&](int lane) {
    const auto l = static_cast<size_t>(lane);
    if (lanes.space[l] != Space::kGlobal && lanes.space[l] != Space::kConst) return;
    const GlobalObject* object = shared_.globals.find(lanes.address[l]);
    if (object == nullptr || object->kind == GlobalObject::Kind::kBuffer) return;
    const bool constant = object->kind == GlobalObject::Kind::kConstant;
    const bool store = op.kind != OpKind::kLoad;
    const bool wrong = op.memory.space != Space::kGeneric && constant != (op.memory.space == Space::kConst);
    if (!wrong && !(constant && store)) return;
    const FindingKind kind = constant && store ? FindingKind::kReadOnly : FindingKind::kWrongSpace;
    const FaultPlace place{op.kind, lanes.space[l], lanes.address[l], lanes.bytes};
    shared_.log.note(kind, site(op.ptx_index, thread_of(warp, lane)), [&] {
      return describe_memory_fault(kind, place, kernel_->image(), shared_.globals, {});
    });
    if (constant && store) allowed &= ~LaneMask(uint32_t{1} << lane);
  });
  return allowed;
}

LaneMask BlockChecks::check_addresses(const WarpChecks& warp, const isa::MicroOp& op, const LaneAccess& lanes,
                                      const isa::WarpContext& context, LaneMask mask) {
  LaneMask allowed = mask;
  for_each_lane(mask, [&](int lane) {
    const JudgedAddress judged = warp.addresses_.judge(op, context, lanes, lane);
    if (judged.fault == AddressFault::kNone) return;
    const auto l = static_cast<size_t>(lane);
    const FaultPlace place{op.kind, lanes.space[l], lanes.address[l], lanes.bytes};
    const bool dangling = judged.fault == AddressFault::kDangling;
    shared_.log.note(dangling ? FindingKind::kDangling : FindingKind::kOutOfBounds,
                     site(op.ptx_index, thread_of(warp, lane)),
                     [&] { return describe_stray(place, judged, kernel_->image()); });
    allowed &= ~LaneMask(uint32_t{1} << lane);
  });
  return allowed;
}

void BlockChecks::check_init(WarpChecks& warp, const isa::MicroOp& op, const LaneAccess& lanes,
                             const isa::WarpContext& context, LaneMask mask) {
  const CheckedOp& checked = kernel_->of(op);
  for_each_lane(mask, [&](int lane) {
    const auto l = static_cast<size_t>(lane);
    ByteMap* map = nullptr;
    uint64_t first = lanes.address[l];
    switch (lanes.space[l]) {
      case Space::kShared:
        map = &written_;
        break;
      case Space::kLocal:
        if (warp.local_.empty()) warp.local_.reset(uint64_t{context.local_bytes} * isa::kWarpSize);
        map = &warp.local_;
        first += l * context.local_bytes;
        break;
      case Space::kGlobal:
      case Space::kConst:
        if (GlobalObject* object = shared_.globals.find(first); object != nullptr && !object->initialised) {
          map = &object->written;
          first -= object->begin;
        }
        break;
      default:
        break;
    }
    if (map == nullptr) return;
    uint32_t missing = checked.reads && !op.memory.is_spill ? map->clear_bytes(first, lanes.bytes) : 0;
    // Bytes that the PTX says nobody uses, such as a structure's padding.
    for (uint64_t unused = op.kind == OpKind::kLoad ? op.imm : 0; missing != 0 && unused != 0;
         unused &= unused - 1) {
      const auto byte = static_cast<uint32_t>(std::countr_zero(unused));
      if (byte < lanes.bytes) missing -= map->clear_bytes(first + byte, 1);
    }
    if (missing != 0) {
      const FaultPlace place{op.kind, lanes.space[l], lanes.address[l], lanes.bytes};
      shared_.log.note(FindingKind::kUninitialised, site(op.ptx_index, thread_of(warp, lane)),
                       [&] { return describe_unwritten(missing, place, kernel_->image(), shared_.globals); });
    }
    if (op.kind != OpKind::kLoad) map->set(first, lanes.bytes);
  });
}

void BlockChecks::check_race(const WarpChecks& warp, const isa::MicroOp& op, const LaneAccess& lanes,
                             const isa::WarpContext& context, LaneMask mask) {
  const CheckedOp& checked = kernel_->of(op);
  const uint32_t w = warp.warp_;
  LaneMask shared;
  for_each_lane(mask, [&](int lane) {
    if (lanes.space[static_cast<size_t>(lane)] == Space::kShared)
      shared = shared | LaneMask(uint32_t{1} << lane);
  });
  if (shared.none()) return;
  const bool talks = checked.strong || checked.is_volatile;
  const bool hears = talks && op.kind != OpKind::kStore, tells = talks && op.kind != OpKind::kLoad;
  SharedAccess a;
  a.statement = op.ptx_index;
  a.instance = ++instance_;
  a.write = op.kind != OpKind::kLoad;
  a.atomic = talks;
  // What lane `lane` has stored.
  const auto value = [&](uint32_t thread) {
    Scratch there;
    execute_on(there, op, checked.mem, context, static_cast<int>(thread % isa::kWarpSize));
    return there.bytes;
  };
  for_each_lane(shared, [&](int lane) {
    const uint64_t address = lanes.address[static_cast<size_t>(lane)];
    if (hears) clocks_.acquire(w, LaneMask(uint32_t{1} << lane), address);
    a.thread = thread_of(warp, lane);
    const RaceCheck::Conflict conflict =
        race_.access(clocks_, static_cast<uint32_t>(address), lanes.bytes, a,
                     [&](uint32_t thread) { return value(thread) == value(a.thread); });
    if (conflict.hazard != RaceCheck::Hazard::kNone) note_race(op, a.thread, conflict, address, lanes.bytes);
  });
  if (!tells) return;
  clocks_.advance(w);
  for_each_lane(shared, [&](int lane) { clocks_.publish(w, lanes.address[static_cast<size_t>(lane)]); });
}

void BlockChecks::note_race(const isa::MicroOp& op, uint32_t thread, const RaceCheck::Conflict& conflict,
                            uint64_t address, uint32_t bytes) {
  const Site other = site(conflict.statement, conflict.thread);
  shared_.log.note(FindingKind::kRace, site(op.ptx_index, thread), &other, [&] {
    FindingDetail d;
    d.space = Space::kShared;
    d.address = address;
    d.bytes = bytes;
    d.object = shared_variable_at(kernel_->image(), address);
    d.message = fmt::format("{} of {} at {:#x} without a barrier between", hazard_name(conflict.hazard),
                            d.object.empty() ? "shared memory" : fmt::format("'{}'", d.object), address);
    return d;
  });
}

}  // namespace gpusim::comp
