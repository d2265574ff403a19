#include "isa/exec/wgmma.h"

#include <bit>

#include "isa/exec/lane_bytes.h"
#include "isa/exec/matrix_move.h"

namespace gpusim::isa {

namespace {

constexpr uint64_t kChunk = 16;  // bytes that lie together
constexpr uint32_t kSide = 8;    // lines of a matrix, and its chunks if it is transposed

/// A matrix descriptor.
class Descriptor {
 public:
  explicit Descriptor(uint64_t bits)
      : start_((bits & kAddress) * kChunk),
        leading_((bits >> 16 & kAddress) * kChunk),
        stride_((bits >> 32 & kAddress) * kChunk),
        base_(bits >> 49 & 7),
        mode_(bits >> 62) {}

  /// Of row `row` (of 16 bytes) of the matrix of the lines `block` and the part `part` of k.
  [[nodiscard]] uint64_t address(uint32_t block, uint32_t part, uint32_t row, bool transposed) const {
    // Modes: none, 128, 64 and 32 bytes, in which so many chunks take turns
    const uint64_t chunks = mode_ == 0 ? 1 : 16u >> mode_;
    uint64_t offset = row * chunks * kChunk;
    if (transposed)
      offset += mode_ == 0 ? block * stride_ + part * leading_
                           : block % chunks * kChunk + block / chunks * leading_ + part * stride_;
    else
      offset += block * stride_ + part * (mode_ == 0 ? leading_ : kChunk);
    const uint64_t at = start_ + offset;
    constexpr int kTurn = 7;  // bits of the address from here on say whose turn it is
    return at ^ (((at >> kTurn) - base_) & (chunks - 1)) * kChunk;
  }

 private:
  static constexpr uint64_t kAddress = 0x3fff;
  uint64_t start_, leading_, stride_, base_, mode_;
};

}  // namespace

void execute_wgmma_load(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access) {
  access.lanes = LaneMask();
  access.fault = FaultKind::kNone;
  if (mask.none()) return;
  const auto tile = std::bit_cast<WgmmaTile>(op.imm);
  const Descriptor matrix(*reinterpret_cast<const uint64_t*>(ctx.row(op.src[0])));
  const uint32_t first = tile.of_a ? ctx.warp_in_block % kWarpsOfWarpgroup * 2 : tile.block;
  begin_access(access, Space::kShared, kChunk);
  MatrixRows rows{};
  for (uint32_t r = 0; r < op.num_dst * kSide; ++r) {
    const uint32_t m = r / kSide,
                   line = tile.wide   ? 0
                          : tile.of_a ? m % 2
                                      : m / 2,
                   part = tile.wide   ? m
                          : tile.of_a ? m / 2
                                      : m % 2;
    const uint64_t address = matrix.address(first + line, part, r % kSide, tile.transposed);
    const LaneBytes at = lane_bytes(ctx, Space::kShared, address, kChunk, kChunk, false, static_cast<int>(r));
    access.address[r] = at.address;
    if (at.data == nullptr) return set_fault(access, at, static_cast<int>(r));
    rows[r] = at.data;
  }
  access.lanes = LaneMask::first(static_cast<int>(op.num_dst * kSide));
  give_matrices(op, ctx, rows, tile.transposed);
}

LaneMask wgmma_share(const MicroOp& op, const WarpContext& ctx) {
  const LaneMask all = LaneMask::first(static_cast<int>(op.num_dst * kSide));
  if (std::bit_cast<WgmmaTile>(op.imm).of_a) return all;
  constexpr uint32_t kMatrix = (1u << kSide) - 1;
  return all & LaneMask(kMatrix << ctx.warp_in_block % kWarpsOfWarpgroup * kSide);
}

}  // namespace gpusim::isa
