#include "components/sm/simt/block_barriers.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "simcore/bits.h"

namespace gpusim::comp {

using isa::BarrierAction;
using isa::LaneMask;

namespace {

uint32_t* row(const isa::RowRef& ref, const isa::WarpContext& context) {
  return reinterpret_cast<uint32_t*>(context.row(ref));
}

LaneMask holding_lanes(const isa::MicroOp& op, const isa::WarpContext& context, LaneMask lanes) {
  if (op.pred_src[0] == isa::kNoPredicate) return (op.imm & isa::kBarrierConstant) != 0 ? lanes : LaneMask();
  const uint32_t bits = context.predicates[op.pred_src[0]];
  return lanes & LaneMask(op.pred_negated[0] ? ~bits : bits);
}

}  // namespace

std::string read_barrier_request(const isa::MicroOp& op, const isa::WarpContext& context, LaneMask lanes,
                                 LaneMask alive, bool independent, BarrierRequest& request) {
  request.action = static_cast<BarrierAction>(op.modifiers);
  request.number = static_cast<uint32_t>(op.imm % isa::kNumBarriers);
  request.lanes = lanes;
  request.arriving = independent ? lanes : alive;
  request.alive = alive;
  if ((op.imm & isa::kBarrierOfWarpgroup) != 0) {
    const uint32_t group = context.warp_in_block / isa::kWarpsOfWarpgroup;
    const uint32_t left = context.warps_in_block - group * isa::kWarpsOfWarpgroup;
    request.number = isa::kFirstWarpgroupBarrier + group;
    request.threads = std::min(left, isa::kWarpsOfWarpgroup) * isa::kWarpSize;
    return {};
  }
  if ((op.imm & isa::kBarrierHasCount) != 0)
    request.threads = row(op.src[op.num_src - 1u], context)[lanes.lowest()];
  if (op.modifiers >= static_cast<uint8_t>(BarrierAction::kRedPopc))
    request.holding = holding_lanes(op, context, lanes);
  if ((op.imm & isa::kBarrierNumberInSource) == 0) return {};
  const uint32_t* const numbers = row(op.src[0], context);
  request.number = numbers[lanes.lowest()];
  if (request.number >= isa::kNumBarriers)
    return fmt::format("barrier {} does not exist, expected 0 to {}", request.number, isa::kNumBarriers - 1);
  for (uint32_t bits = lanes.bits(); bits != 0; bits &= bits - 1) {
    const uint32_t other = numbers[std::countr_zero(bits)];
    if (other != request.number)
      return fmt::format("lanes of one warp name barriers {} and {}", request.number, other);
  }
  return {};
}

void BlockBarriers::arrive(const BarrierRequest& request, uint32_t warp) {
  Barrier& b = barriers_[request.number];
  const uint32_t arriving = request.arriving.count();
  b.threads += arriving;
  arrived_ |= 1u << request.number;
  if (request.arriving == request.alive) {
    b.slots += isa::kWarpSize;
  } else {
    auto part = std::find_if(b.parts.begin(), b.parts.end(), [&](const Part& p) { return p.warp == warp; });
    if (part == b.parts.end()) part = b.parts.insert(part, {warp, isa::LaneMask()});
    part->lanes |= request.arriving;
    leave(warp, request.alive);
  }
  if (request.threads != 0) b.expected = request.threads;
  if (request.waits()) b.warps |= uint64_t{1} << warp;
  if (request.action < BarrierAction::kRedPopc) return;
  const uint32_t holding = request.holding.count();
  b.holding += holding;
  b.lacking += request.lanes.count() - holding;
}

void BlockBarriers::leave(uint32_t warp, LaneMask alive) {
  for (uint32_t bits = arrived_; bits != 0; bits &= bits - 1) {
    Barrier& b = barriers_[core::lowest_bit(bits)];
    const size_t completed =
        std::erase_if(b.parts, [&](const Part& p) { return p.warp == warp && (alive & ~p.lanes).none(); });
    b.slots += static_cast<uint32_t>(completed) * isa::kWarpSize;
  }
}

bool BlockBarriers::complete(uint32_t number, uint32_t live) const {
  const Barrier& b = barriers_[number];
  if (b.threads == 0) return false;
  return b.expected != 0 ? b.slots >= b.expected : b.threads >= live;
}

BlockBarriers::Opened BlockBarriers::open(uint32_t number) {
  Barrier& b = barriers_[number];
  const Opened opened{b.warps, b.holding, b.lacking};
  b = {};
  arrived_ &= ~(1u << number);
  return opened;
}

void write_barrier_result(const isa::MicroOp& op, isa::WarpContext& context, LaneMask lanes,
                          const BlockBarriers::Opened& opened) {
  const auto action = static_cast<BarrierAction>(op.modifiers);
  if (action == BarrierAction::kRedPopc) {
    if (op.num_dst == 0) return;
    uint32_t* const d = row(op.dst[0], context);
    for (uint32_t bits = lanes.bits(); bits != 0; bits &= bits - 1)
      d[std::countr_zero(bits)] = opened.holding;
  } else if (action > BarrierAction::kRedPopc && op.pred_dst[0] != isa::kNoPredicate) {
    const bool result = action == BarrierAction::kRedAnd ? opened.lacking == 0 : opened.holding != 0;
    uint32_t& p = context.predicates[op.pred_dst[0]];
    p = result ? p | lanes.bits() : p & ~lanes.bits();
  }
}

}  // namespace gpusim::comp
