#include "components/checker/block_checks.h"

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
        const bool asked =
            kind == FindingKind::kSkippedBarrier ? shared_.options.early_exit : shared_.options.sync;
        if (asked)
          shared_.log.note(kind, site(statement, thread), [&] { return FindingDetail{message, {}}; });
      }) {}

void BlockChecks::begin(const KernelLaunch& run, const KernelChecks& kernel, uint64_t block,
                        bool independent) {
  run_ = &run;
  kernel_ = &kernel;
  block_ = block;
  independent_ = independent;
  cluster_ = nullptr;
  instance_ = 0;
  while (warps_.size() < run.warps_per_block)
    warps_.push_back(std::make_unique<WarpChecks>(*this, static_cast<uint32_t>(warps_.size())));
  addresses_.clear();
  for (const auto& warp : warps_) {
    warp->local_.reset(0);
    if (shared_.options.memory) warp->addresses_.begin(kernel.image(), addresses_);
    if (shared_.options.init) warp->unwritten_.begin(kernel.image().num_rows);
    warp->accessed_.assign(kernel.knows_past() ? kernel.image().ops.size() : 0, LaneMask());
  }
  if (shared_.options.init) {
    written_.reset(run.shared_bytes);
    written_.set(0, kernel.image().reserved_shared_bytes);  // the system's
  }
  if (shared_.options.race) {
    race_.reset(run.shared_bytes);
    clocks_.reset(run.warps_per_block, independent);
  }
  std::vector<LaneMask> existing;
  for (uint32_t first = 0; first < run.threads_per_block; first += isa::kWarpSize)
    existing.push_back(
        LaneMask::first(static_cast<int>(std::min<uint32_t>(32, run.threads_per_block - first))));
  sync_.reset(std::move(existing), independent);
}

void BlockChecks::arrive(uint32_t warp, const isa::MicroOp& op, uint32_t number, uint32_t threads,
                         LaneMask lanes, bool waits) {
  if (shared_.options.race) clocks_.arrive(number, warp, waits);
  for_each_lane(lanes, [&](uint32_t lane) {  // of a reduction
    for (size_t d = 0; shared_.options.init && d < op.num_dst; ++d)
      warps_[warp]->unwritten_.set(op.dst[d], lane, {});
  });
  if (shared_.options.sync || shared_.options.early_exit)
    sync_.arrive({number, warp, lanes, threads, waits, op.ptx_index, kernel_->of(op).aligned});
}

void BlockChecks::open(uint32_t number) {
  if (shared_.options.race) clocks_.open(number);
  sync_.open(number);
}

void BlockChecks::report_stuck() {
  if (shared_.options.sync) sync_.report_stuck();
}

namespace {
/// The member mask that each lane of a .sync operation names.
const uint32_t* members_of(const isa::MicroOp& op, const isa::WarpContext& context) {
  const isa::RowRef& row = op.src[op.num_src - 1u];
  return reinterpret_cast<const uint32_t*>(context.row(row));
}
}  // namespace

void BlockChecks::come(uint32_t warp, const isa::MicroOp& op, const isa::WarpContext& context,
                       LaneMask lanes) {
  if (!shared_.options.sync || !kernel_->of(op).members) return;
  sync_.check_members(warp, lanes, members_of(op, context), op.ptx_index);
  sync_.wait(warp, lanes, members_of(op, context), op.ptx_index);
}

void BlockChecks::transfer(uint32_t warp, const isa::MicroOp& op, const isa::WarpContext& context,
                           LaneMask lanes) {
  if (shared_.options.memory) warps_[warp]->addresses_.transfer(op, context, lanes);
}

void BlockChecks::exec(WarpChecks& warp, const isa::MicroOp& op, isa::WarpContext& context, LaneMask mask) {
  const CheckedOp& checked = kernel_->of(op);
  if (checked.warp_sync) warp_sync(warp, op, context, mask);
  if (checked.exec == nullptr) return;
  if (shared_.options.init)
    warp.unwritten_.execute(op, context, mask, checked.copies,
                            [&](const UnwrittenRead& read) { report_unwritten(warp, read); });
  if (!shared_.options.memory) return checked.exec(op, context, mask);
  warp.addresses_.before(op, context, mask);
  checked.exec(op, context, mask);
  warp.addresses_.after(op, context, mask);
}

LaneMask BlockChecks::gone_past(const WarpChecks& warp, const CheckedOp& sync) const {
  LaneMask past;
  for (const uint32_t access : sync.behind) past |= warp.accessed_[access];
  return past;
}

void BlockChecks::warp_sync(const WarpChecks& warp, const isa::MicroOp& op, const isa::WarpContext& context,
                            LaneMask mask) {
  const CheckedOp& checked = kernel_->of(op);
  const uint32_t* const members = checked.members ? members_of(op, context) : nullptr;
  LaneMask together = mask;
  if (shared_.options.sync) sync_.go_on(warp.warp_, mask);
  // Lanes that came to another bar.warp.sync have their masks elsewhere.
  bool from_elsewhere = false;
  if (checked.members && checked.exec == nullptr && independent_)
    for_each_lane(mask, [&](uint32_t lane) { from_elsewhere |= ((members[lane] >> lane) & 1) == 0; });
  if (checked.members && mask.any() && !from_elsewhere) {
    if (shared_.options.sync && op.kind != OpKind::kSync)  // else come() has seen it
      sync_.check_members(warp.warp_, mask, members, op.ptx_index);
    if (shared_.options.sync)
      sync_.warp_operation(warp.warp_, mask, members, op.ptx_index, checked.exchanges,
                           gone_past(warp, checked));
    for (LaneMask left = mask; shared_.options.race && left.any(); left &= ~together) {
      const uint32_t named = members[left.lowest()];
      together = LaneMask(uint32_t{1} << left.lowest());
      for_each_lane(left, [&](uint32_t lane) {
        if (members[lane] == named) together = together | LaneMask(uint32_t{1} << lane);
      });
      clocks_.meet(warp.warp_, together);
    }
  } else if (shared_.options.race && mask.any()) {
    clocks_.meet(warp.warp_, mask);
  }
}

void BlockChecks::mark_whole_object(const isa::MicroOp& op, const isa::WarpContext& context,
                                    const isa::MemoryAccess& access) {
  if (kernel_->of(op).writes_shared) written_.set(0, context.shared_bytes);
  if (op.kind == OpKind::kLoad || access.lanes.none()) return;
  if (access.space == Space::kShared) {
    written_.set(0, context.shared_bytes);
    return;
  }
  for_each_lane(access.lanes, [&](uint32_t lane) {
    GlobalObject* object = shared_.globals.find(access.address[lane]);
    if (object != nullptr) object->initialised = true;
  });
}

void BlockChecks::memory(WarpChecks& warp, const isa::MicroOp& op, isa::WarpContext& context, LaneMask mask,
                         isa::MemoryAccess& access) {
  const CheckedOp& checked = kernel_->of(op);
  if (!warp.accessed_.empty())
    if (const uint32_t at = kernel_->index_of(op); at != isa::kNoTarget) warp.accessed_[at] |= mask;
  if (checked.system_call) return system_call(warp, op, context, mask, access);
  if (!checked.plain || mask.none()) {
    static_cast<void>(execute(warp, op, nullptr, context, mask, access));
    if (!shared_.options.init) return;
    mark_whole_object(op, context, access);
    warp.unwritten_.execute(op, context, mask, false,
                            [&](const UnwrittenRead& read) { report_unwritten(warp, read); });
    return;
  }
  const LaneAccess lanes = find_lanes(op, context, mask);
  if (shared_.options.init && op.memory.has_base && warp.unwritten_.any())
    for_each_lane(mask, [&](uint32_t lane) {
      warp.unwritten_.use(op.src[0], lane, [&](const UnwrittenRead& r) { report_unwritten(warp, r); });
    });
  LaneMask allowed = mask;
  if (shared_.options.memory) {
    allowed = check_heap(warp, op, lanes, context, check_spaces(warp, op, lanes, mask));
    if (!op.memory.is_spill && warp.addresses_.knows_address(op))
      allowed = check_addresses(warp, op, lanes, context, allowed);
  }
  const LaneMask done = execute(warp, op, &lanes, context, allowed, access);
  if (access.fault != isa::FaultKind::kNone) return;
  for_each_lane(op.num_dst > 0 ? mask & ~done : LaneMask(), [&](uint32_t lane) {
    Scratch zeros;
    execute_on(zeros, op, checked.mem, context, lane);
  });
  if (shared_.options.memory) warp.addresses_.moved(op, context, lanes, mask);
  if (shared_.options.init) {
    check_init(warp, op, lanes, context, done);
    for_each_lane(mask & ~done, [&](uint32_t lane) {
      for (size_t d = 0; d < op.num_dst; ++d) warp.unwritten_.set(op.dst[d], lane, {});
    });
  }
  if (!shared_.options.race) return;
  check_race(warp, op, lanes, context, done & ~lanes.remote);
  shared_.log.count_uncompared((done & lanes.remote).count());
}

void BlockChecks::system_call(WarpChecks& warp, const isa::MicroOp& op, isa::WarpContext& context,
                              LaneMask mask, isa::MemoryAccess& access) {
  const CheckedOp& checked = kernel_->of(op);
  if (shared_.options.init)
    warp.unwritten_.execute(op, context, mask, false,
                            [&](const UnwrittenRead& read) { report_unwritten(warp, read); });
  LaneMask done;
  for_each_lane(mask, [&](uint32_t lane) {
    if (access.fault != isa::FaultKind::kNone) return;
    const LaneMask only(uint32_t{1} << lane);
    checked.mem(op, context, only, access);
    if (access.fault == isa::FaultKind::kNone) {
      done = done | only;
      return;
    }
    if (!shared_.options.memory || access.fault == isa::FaultKind::kNoService ||
        access.fault == isa::FaultKind::kStack)
      return;
    if (access.fault == isa::FaultKind::kBadFree)
      shared_.log.note(FindingKind::kBadFree, site(op.ptx_index, thread_of(warp, lane)), [&] {
        return FindingDetail{describe_fault(op, access, *context.global), {}};
      });
    else
      report_fault(warp, op, lane, access.fault, {OpKind::kLoad, Space::kGlobal, access.fault_address, 1},
                   context);
    clear_results(op, context, lane);
    access.fault = isa::FaultKind::kNone;
  });
  if (access.fault == isa::FaultKind::kNone) access.lanes = done;
}

LaneMask BlockChecks::execute(const WarpChecks& warp, const isa::MicroOp& op, const LaneAccess* lanes,
                              isa::WarpContext& context, LaneMask mask, isa::MemoryAccess& access) {
  const CheckedOp& checked = kernel_->of(op);
  LaneMask left = mask;
  for (; left.any(); left &= ~LaneMask(uint32_t{1} << access.fault_lane)) {
    access.fault = isa::FaultKind::kNone;
    checked.mem(op, context, left, access);
    if (access.fault == isa::FaultKind::kNone || !shared_.options.memory) return left;
    const uint32_t lane = access.fault_lane;
    const bool matrix = access.fault == isa::FaultKind::kMatrixPlace;
    const bool described =
        access.fault == isa::FaultKind::kAbsentBlock || access.fault == isa::FaultKind::kRemote ||
        access.fault == isa::FaultKind::kNoTensorMap || access.fault == isa::FaultKind::kTensorRank ||
        access.fault == isa::FaultKind::kTensorElement;
    if (op.op_class == isa::OpClass::kTexture || matrix || described) {
      shared_.log.note(matrix      ? FindingKind::kMatrix
                       : described ? FindingKind::kOutOfBounds
                                   : FindingKind::kTexture,
                       site(op.ptx_index, thread_of(warp, lane)), [&] {
                         return FindingDetail{describe_fault(op, access, *context.global), {}};
                       });
    } else {
      const bool known = lanes != nullptr;
      report_fault(warp, op, lane, access.fault,
                   {op.kind, known ? lanes->space[lane] : access.space,
                    known ? lanes->address[lane] : access.fault_address,
                    known ? lanes->bytes : uint32_t{op.memory.element_bytes} * op.memory.elements},
                   context);
    }
    if (!checked.plain) clear_results(op, context, lane);
  }
  access.lanes = LaneMask();
  access.fault = isa::FaultKind::kNone;
  return left;
}

void BlockChecks::clear_results(const isa::MicroOp& op, const isa::WarpContext& context, uint32_t lane) {
  const size_t bytes = op.memory.element_bytes == 8 ? 8 : 4;
  for (size_t d = 0; d < op.num_dst; ++d) std::memset(context.row(op.dst[d]) + bytes * lane, 0, bytes);
}

void BlockChecks::report_fault(const WarpChecks& warp, const isa::MicroOp& op, uint32_t lane,
                               isa::FaultKind fault, const FaultPlace& place,
                               const isa::WarpContext& context) {
  const MemoryLimits limits{context.shared_bytes, context.local_bytes, context.param_bytes};
  const FindingKind kind = classify_fault(fault, place, shared_.globals);
  shared_.log.note(kind, site(op.ptx_index, thread_of(warp, lane)), [&] {
    return describe_memory_fault(kind, place, kernel_->image(), shared_.globals, limits);
  });
}

}  // namespace gpusim::comp
