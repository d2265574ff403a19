// Which accesses to shared memory are ordered, which of them order others (atomic and volatile ones), and
// which race. How clocks and accesses are compared: BlockClocks, RaceCheck.
#include <fmt/format.h>

#include "components/checker/block_checks.h"

namespace gpusim::comp {

using isa::LaneMask;
using isa::OpKind;
using isa::Space;

void BlockChecks::check_race(const WarpChecks& warp, const isa::MicroOp& op, const LaneAccess& lanes,
                             const isa::WarpContext& context, LaneMask mask) {
  const CheckedOp& checked = kernel_->of(op);
  const uint32_t w = warp.warp_;
  LaneMask shared;
  for_each_lane(mask, [&](uint32_t lane) {
    if (lanes.space[lane] == Space::kShared) shared = shared | LaneMask(uint32_t{1} << lane);
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
  for_each_lane(shared, [&](uint32_t lane) {
    const uint64_t address = lanes.address[lane];
    if (hears) clocks_.acquire(w, LaneMask(uint32_t{1} << lane), address);
    a.thread = thread_of(warp, lane);
    const RaceCheck::Conflict conflict =
        race_.access(clocks_, static_cast<uint32_t>(address), lanes.bytes, a,
                     [&](uint32_t thread) { return value(thread) == value(a.thread); });
    if (conflict.hazard != RaceCheck::Hazard::kNone) note_race(op, a.thread, conflict, address, lanes.bytes);
  });
  if (!tells) return;
  clocks_.advance(w);
  for_each_lane(shared, [&](uint32_t lane) { clocks_.publish(w, lanes.address[lane]); });
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
