#include "components/checker/lane_access.h"

#include <algorithm>

namespace gpusim::comp {

using isa::LaneMask;
using isa::Space;

LaneAccess find_lanes(const isa::MicroOp& op, const isa::WarpContext& context, LaneMask lanes) {
  LaneAccess a;
  const isa::MemoryOperand& m = op.memory;
  a.bytes = uint32_t{m.element_bytes} * m.elements;
  const std::byte* row = m.has_base ? context.row(op.src[0]) : nullptr;
  const auto offset = static_cast<uint64_t>(m.offset);
  for_each_lane(lanes, [&](uint32_t lane) {
    uint64_t address = offset;
    if (m.has_base && m.base_is_64)
      address += reinterpret_cast<const uint64_t*>(row)[lane];
    else if (m.has_base)
      address = static_cast<uint32_t>(reinterpret_cast<const uint32_t*>(row)[lane] + offset);
    Space space = m.space;
    const bool generic = space == Space::kGeneric, windows = generic || m.cluster;
    const uint64_t at = address + (generic ? 0 : isa::kSharedWindowBase) - isa::kClusterWindowBase;
    if (windows && at < isa::kClusterWindowBytes) {
      space = Space::kShared;
      address = at % isa::kClusterStride;
      a.rank[lane] = static_cast<uint8_t>(at / isa::kClusterStride);
      if (a.rank[lane] != context.cluster_rank) a.remote |= LaneMask(uint32_t{1} << lane);
    } else if (generic) {
      space = Space::kGlobal;
      if (address - isa::kSharedWindowBase < isa::kWindowBytes) {
        space = Space::kShared;
        address -= isa::kSharedWindowBase;
      } else if (address - isa::kLocalWindowBase < isa::kWindowBytes) {
        space = Space::kLocal;
        address -= isa::kLocalWindowBase;
      }
    }
    a.address[lane] = address;
    a.space[lane] = space;
  });
  return a;
}

void execute_on(Scratch& scratch, const isa::MicroOp& op, isa::MemFn function,
                const isa::WarpContext& context, uint32_t lane) {
  isa::MicroOp moved = op;
  if (op.memory.has_base) {
    std::copy(op.src.begin() + 1, op.src.end(), moved.src.begin());
    --moved.num_src;
  }
  moved.memory.space = Space::kShared;
  moved.memory.has_base = moved.memory.base_is_64 = false;
  moved.memory.offset = 0;
  isa::WarpContext there = context;  // the registers stay where they are
  there.shared = scratch.bytes.data();
  there.shared_bytes = static_cast<uint32_t>(scratch.bytes.size());
  isa::MemoryAccess access;
  function(moved, there, LaneMask(uint32_t{1} << lane), access);
}

}  // namespace gpusim::comp
