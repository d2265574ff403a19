#include "isa/exec/cluster.h"

#include <bit>

namespace gpusim::isa {

namespace {

template <class T>
T* lanes_of_row(const RowRef& ref, const WarpContext& ctx) {
  return reinterpret_cast<T*>(ctx.row(ref));
}

uint64_t address_of_lane(const MicroOp& op, const WarpContext& ctx, int lane) {
  return op.modifiers != 0 ? lanes_of_row<const uint64_t>(op.src[0], ctx)[lane]
                           : lanes_of_row<const uint32_t>(op.src[0], ctx)[lane];
}

}  // namespace

void execute_mapa(const MicroOp& op, WarpContext& ctx, LaneMask mask) {
  const uint32_t* const ranks = lanes_of_row<const uint32_t>(op.src[1], ctx);
  for (uint32_t left = mask.bits(); left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const uint64_t offset = address_of_lane(op, ctx, lane) % kClusterStride;
    const uint64_t mapped = op.imm + ranks[lane] * kClusterStride + offset;
    if (op.modifiers != 0)
      lanes_of_row<uint64_t>(op.dst[0], ctx)[lane] = mapped;
    else
      lanes_of_row<uint32_t>(op.dst[0], ctx)[lane] = static_cast<uint32_t>(mapped);
  }
}

void execute_getctarank(const MicroOp& op, WarpContext& ctx, LaneMask mask) {
  uint32_t* const rank = lanes_of_row<uint32_t>(op.dst[0], ctx);
  for (uint32_t left = mask.bits(); left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const uint64_t at = address_of_lane(op, ctx, lane) - op.imm;
    rank[lane] = at < kClusterWindowBytes ? static_cast<uint32_t>(at / kClusterStride) : ctx.cluster_rank;
  }
}

}  // namespace gpusim::isa
