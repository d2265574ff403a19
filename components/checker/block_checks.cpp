#include "components/checker/block_checks.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

namespace gpusim::comp {

using isa::LaneMask;
using isa::OpKind;
using isa::Space;

void WarpChecks::memory(const isa::MicroOp& op, isa::WarpContext& context, LaneMask mask,
                        isa::MemoryAccess& access) {
  block_.memory(*this, op, context, mask, access);
}
void WarpChecks::exec(const isa::MicroOp& op, isa::WarpContext& context, LaneMask mask) {
  block_.exec(*this, op, context, mask);
}

BlockChecks::BlockChecks(CheckShared& shared)
    : shared_(shared),
      sync_([this](FindingKind kind, uint32_t statement, uint32_t thread, const std::string& message) {
        shared_.log.note(kind, site(statement, thread), [&] { return FindingDetail{message, {}}; });
      }) {}

void BlockChecks::begin(const KernelRun& run, const KernelChecks& kernel, uint64_t block, bool independent) {
  run_ = &run;
  kernel_ = &kernel;
  block_ = block;
  independent_ = independent;
  instance_ = 0;
  while (warps_.size() < run.warps_per_block)
    warps_.push_back(std::make_unique<WarpChecks>(*this, static_cast<uint32_t>(warps_.size())));
  for (const auto& warp : warps_) warp->local_.reset(0);
  if (shared_.options.init) written_.reset(run.shared_bytes);
  if (shared_.options.race) {
    race_.reset(run.shared_bytes);
    clocks_.reset(run.warps_per_block, independent);
  }
  std::vector<LaneMask> alive;
  for (uint32_t first = 0; first < run.threads_per_block; first += isa::kWarpSize)
    alive.push_back(LaneMask::first(static_cast<int>(std::min<uint32_t>(32, run.threads_per_block - first))));
  sync_.reset(std::move(alive), independent);
}

void BlockChecks::arrive(uint32_t warp, const isa::MicroOp& op, uint32_t number, uint32_t threads,
                         LaneMask lanes, bool waits) {
  if (shared_.options.race) clocks_.arrive(number, warp, waits);
  if (shared_.options.sync)
    sync_.arrive({number, warp, lanes, threads, waits, op.ptx_index, kernel_->of(op).aligned});
}

void BlockChecks::open(uint32_t number) {
  if (shared_.options.race) clocks_.open(number);
  sync_.open(number);
}

void BlockChecks::report_stuck() {
  if (shared_.options.sync) sync_.report_stuck();
}

void BlockChecks::exec(const WarpChecks& warp, const isa::MicroOp& op, isa::WarpContext& context,
                       LaneMask mask) {
  const CheckedOp& checked = kernel_->of(op);
  LaneMask together = mask;
  const isa::RowRef& row = op.src[op.num_src == 0 ? 0 : op.num_src - 1u];
  const auto* members =
      reinterpret_cast<const uint32_t*>(context.bank[static_cast<size_t>(row.bank)] + row.offset);
  // Lanes that came to another bar.warp.sync have their masks elsewhere.
  bool from_elsewhere = false;
  if (checked.members && checked.exec == nullptr && independent_)
    for_each_lane(mask, [&](int lane) { from_elsewhere |= ((members[lane] >> lane) & 1) == 0; });
  if (checked.members && mask.any() && !from_elsewhere) {
    if (shared_.options.sync) sync_.warp_operation(warp.warp_, mask, members, op.ptx_index);
    for (LaneMask left = mask; shared_.options.race && left.any(); left &= ~together) {
      const uint32_t named = members[left.lowest()];
      together = LaneMask(uint32_t{1} << left.lowest());
      for_each_lane(left, [&](int lane) {
        if (members[lane] == named) together = together | LaneMask(uint32_t{1} << lane);
      });
      clocks_.meet(warp.warp_, together);
    }
  } else if (shared_.options.race && mask.any()) {
    clocks_.meet(warp.warp_, mask);
  }
  if (checked.exec != nullptr) checked.exec(op, context, mask);
}

void BlockChecks::mark_whole_object(const isa::MicroOp& op, const isa::WarpContext& context,
                                    const isa::MemoryAccess& access) {
  if (op.kind == OpKind::kLoad || access.lanes.none()) return;
  if (access.space == Space::kShared) {
    written_.set(0, context.shared_bytes);
    return;
  }
  for_each_lane(access.lanes, [&](int lane) {
    GlobalObject* object = shared_.globals.find(access.address[lane]);
    if (object != nullptr) object->initialised = true;
  });
}

void BlockChecks::memory(WarpChecks& warp, const isa::MicroOp& op, isa::WarpContext& context, LaneMask mask,
                         isa::MemoryAccess& access) {
  const CheckedOp& checked = kernel_->of(op);
  if (!checked.plain || mask.none()) {
    static_cast<void>(execute(warp, op, nullptr, context, mask, access));
    if (shared_.options.init) mark_whole_object(op, context, access);
    return;
  }
  const LaneAccess lanes = find_lanes(op, context, mask);
  const LaneMask allowed = shared_.options.memory ? check_spaces(warp, op, lanes, mask) : mask;
  const LaneMask done = execute(warp, op, &lanes, context, allowed, access);
  if (access.fault != isa::FaultKind::kNone) return;
  for_each_lane(op.num_dst > 0 ? mask & ~done : LaneMask(), [&](int lane) {
    Scratch zeros;
    execute_on(zeros, op, checked.mem, context, lane);
  });
  if (shared_.options.init) check_init(warp, op, lanes, context, done);
  if (shared_.options.race) check_race(warp, op, lanes, context, done);
}

LaneMask BlockChecks::execute(const WarpChecks& warp, const isa::MicroOp& op, const LaneAccess* lanes,
                              isa::WarpContext& context, LaneMask mask, isa::MemoryAccess& access) {
  const CheckedOp& checked = kernel_->of(op);
  LaneMask left = mask;
  for (; left.any(); left &= ~LaneMask(uint32_t{1} << access.fault_lane)) {
    access.fault = isa::FaultKind::kNone;
    checked.mem(op, context, left, access);
    if (access.fault == isa::FaultKind::kNone || !shared_.options.memory) return left;
    const int lane = access.fault_lane;
    const bool matrix = access.fault == isa::FaultKind::kMatrixPlace;
    if (op.op_class == isa::OpClass::kTexture || matrix) {
      shared_.log.note(matrix ? FindingKind::kMatrix : FindingKind::kTexture,
                       site(op.ptx_index, thread_of(warp, lane)), [&] {
                         return FindingDetail{describe_fault(op, access, *context.global), {}};
                       });
    } else {
      const auto l = static_cast<size_t>(lane);
      const bool known = lanes != nullptr;
      report_fault(
          warp, op, lane, access.fault,
          {op.kind, known ? lanes->space[l] : access.space, known ? lanes->address[l] : access.fault_address,
           known ? lanes->bytes : uint32_t{op.memory.element_bytes} * op.memory.elements},
          context);
    }
    if (!checked.plain) clear_results(op, context, lane);
  }
  access.lanes = LaneMask();
  access.fault = isa::FaultKind::kNone;
  return left;
}

void BlockChecks::clear_results(const isa::MicroOp& op, const isa::WarpContext& context, int lane) {
  const size_t bytes = op.memory.element_bytes == 8 ? 8 : 4;
  for (size_t d = 0; d < op.num_dst; ++d)
    std::memset(context.bank[static_cast<size_t>(op.dst[d].bank)] + op.dst[d].offset +
                    bytes * static_cast<size_t>(lane),
                0, bytes);
}

void BlockChecks::report_fault(const WarpChecks& warp, const isa::MicroOp& op, int lane, isa::FaultKind fault,
                               const FaultPlace& place, const isa::WarpContext& context) {
  const MemoryLimits limits{context.shared_bytes, context.local_bytes, context.param_bytes};
  const FindingKind kind = classify_fault(fault, place, shared_.globals);
  shared_.log.note(kind, site(op.ptx_index, thread_of(warp, lane)), [&] {
    return describe_memory_fault(kind, place, kernel_->image(), shared_.globals, limits);
  });
}

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
