#include "isa/exec/bulk.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "isa/exec/async.h"
#include "isa/exec/lane_bytes.h"
#include "isa/exec/semantics/table.h"

namespace gpusim::isa {

namespace {

constexpr uint32_t kAlign = 16;  // addresses and sizes

template <class T>
T* lanes_of(const RowRef& ref, const WarpContext& ctx) {
  return reinterpret_cast<T*>(ctx.row(ref));
}

/// What a step reads of the registers of its lane.
struct Step {
  const MicroOp& op;
  WarpContext& context;
  int lane;
  uint64_t to, from;
  uint32_t bytes, done, count;  ///< of the whole copy; before this step; of this step

  [[nodiscard]] bool has(uint64_t flag) const { return (op.imm & flag) != 0; }
  [[nodiscard]] LaneBytes source() const {
    return lane_bytes(context, has(kBulkFromGlobal) ? Space::kGlobal : Space::kShared, from + done, count,
                      kAlign, false, lane);
  }
  [[nodiscard]] LaneBytes destination() const {
    return lane_bytes(context, has(kBulkToGlobal) ? Space::kGlobal : Space::kShared, to + done, count, kAlign,
                      true, lane, true);
  }
};

/// Blocks that get the bytes, a bit each.
uint16_t receivers(const Step& s, const LaneBytes& to) {
  if (!s.has(kBulkMulticast)) return static_cast<uint16_t>(1u << to.rank);
  return static_cast<uint16_t>(lanes_of<const uint32_t>(s.op.src[5], s.context)[s.lane]);
}

void move(const Step& s, std::byte* to, const std::byte* from) {
  if (!s.has(kBulkReduces)) {
    std::memmove(to, from, s.count);
    return;
  }
  const auto operation = static_cast<AtomOp>(s.op.imm >> kBulkOperation & 0xff);
  const auto type = static_cast<Type>(s.op.imm >> kBulkType & 0xff);
  find_reduction(type, operation)(to, from, s.count / static_cast<uint32_t>(type_bytes(type)));
}

/// Moves the piece; false if there was a fault.
bool move_piece(const Step& s, MemoryAccess& access) {
  const LaneBytes from = s.source(), to = s.destination();
  for (const LaneBytes* place : {&from, &to}) {
    if (place->data != nullptr) continue;
    set_fault(access, *place, s.lane);
    return false;
  }
  const uint16_t ranks = s.has(kBulkToGlobal) ? uint16_t{0} : receivers(s, to);
  if (s.has(kBulkToGlobal)) move(s, to.data, from.data);
  for (uint32_t left = ranks; left != 0; left &= left - 1) {
    std::byte* const shared = shared_of(s.context, static_cast<uint32_t>(std::countr_zero(left)));
    if (shared == nullptr) {
      set_fault(access, without_block(to, static_cast<uint32_t>(std::countr_zero(left))), s.lane);
      return false;
    }
    move(s, shared + to.address, from.data);
  }
  if (s.has(kBulkArrives)) {
    const LaneBytes barrier =
        lane_bytes(s.context, Space::kShared, lanes_of<const uint64_t>(s.op.src[4], s.context)[s.lane],
                   sizeof(uint64_t), sizeof(uint64_t), true, s.lane, true);
    if (barrier.data == nullptr) {
      set_fault(access, barrier, s.lane);
      return false;
    }
    const auto own = static_cast<uint16_t>(1u << barrier.rank);
    access.arrival = {static_cast<uint32_t>(barrier.address), s.count, s.has(kBulkMulticast) ? ranks : own};
  }
  // What is timed: the accesses to global memory, else those to the shared memory that gets the bytes.
  const LaneBytes& timed = s.has(kBulkFromGlobal) ? from : to;
  access.space = timed.space;
  const uint32_t each = access.bytes, lanes = (s.count + each - 1) / each;
  for (uint32_t l = 0; l < lanes; ++l) {
    access.address[l] = timed.address + uint64_t{l} * each;
    access.rank[l] = static_cast<uint8_t>(timed.rank);
  }
  access.lanes = LaneMask::first(static_cast<int>(lanes));
  if (timed.space == Space::kShared && timed.rank != s.context.cluster_rank) access.remote = access.lanes;
  if (lanes == kWarpSize) access.set_shape(AccessShape::kContiguous);
  return true;
}

}  // namespace

void execute_bulk_step(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access) {
  const bool reduces = (op.imm & kBulkReduces) != 0;
  constexpr uint32_t kWord = 4;
  const auto type = static_cast<Type>(op.imm >> kBulkType & 0xff);
  const uint32_t each = reduces ? std::max(kWord, static_cast<uint32_t>(type_bytes(type))) : kAlign;
  begin_access(access, Space::kShared, each);
  access.arrival = {};
  const auto* const bytes = lanes_of<const uint32_t>(op.src[2], ctx);
  const auto* const before = lanes_of<const uint32_t>(op.src[3], ctx);
  auto* const after = lanes_of<uint32_t>(op.dst[0], ctx);
  bool moved = false;
  uint32_t more = 0;
  for (uint32_t left = mask.bits(); left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const uint32_t done = before[lane];
    uint32_t count = 0;
    if (!moved && done < bytes[lane]) {
      count = std::min(bytes[lane] - done, each * kWarpSize);
      const Step step{op,
                      ctx,
                      lane,
                      lanes_of<const uint64_t>(op.src[0], ctx)[lane],
                      lanes_of<const uint64_t>(op.src[1], ctx)[lane],
                      bytes[lane],
                      done,
                      count};
      if (bytes[lane] % kAlign != 0) {
        LaneBytes wrong = step.source();
        wrong.fault = FaultKind::kMisaligned;
        return set_fault(access, wrong, lane);
      }
      if (!move_piece(step, access)) return;
      moved = true;
    }
    after[lane] = done + count;
    more |= uint32_t{done + count < bytes[lane]} << lane;
  }
  uint32_t& p = ctx.predicates[op.pred_dst[0]];
  p = (p & ~mask.bits()) | more;
  if (access.arrival.ranks == 0 || ctx.defers_arrivals) return;
  complete_arrival(ctx, access.arrival);
}

}  // namespace gpusim::isa
