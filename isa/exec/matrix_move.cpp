#include "isa/exec/matrix_move.h"

#include <array>
#include <bit>
#include <cstring>

#include "isa/exec/lane_bytes.h"

namespace gpusim::isa {

namespace {

constexpr size_t kSide = 8;
constexpr uint64_t kRowOfMatrix = 16;  // bytes
using Matrix = std::array<std::array<uint16_t, kSide>, kSide>;

uint32_t* words_of(const RowRef& ref, const WarpContext& ctx) {
  return reinterpret_cast<uint32_t*>(ctx.row(ref));
}

/// Calls fn(lane, row, column) for the first element of each lane; the next column is the second.
template <class Fn>
void each_pair(Fn fn) {
  for (size_t lane = 0; lane < kWarpSize; ++lane) fn(lane, lane / 4, lane % 4 * 2);
}

Matrix transposed(const Matrix& m) {
  Matrix t{};
  for (size_t i = 0; i < kSide; ++i)
    for (size_t j = 0; j < kSide; ++j) t[j][i] = m[i][j];
  return t;
}

void give(const Matrix& m, uint32_t* words) {
  each_pair([&](size_t lane, size_t i, size_t j) { words[lane] = m[i][j] | uint32_t{m[i][j + 1]} << 16; });
}
Matrix take(const uint32_t* words) {
  Matrix m{};
  each_pair([&](size_t lane, size_t i, size_t j) {
    m[i][j] = static_cast<uint16_t>(words[lane]);
    m[i][j + 1] = static_cast<uint16_t>(words[lane] >> 16);
  });
  return m;
}

/// The rows of all matrices in memory; `address` gives that of a row. False after a fault.
template <class Address>
bool locate_rows(const MicroOp& op, const WarpContext& ctx, size_t matrices, bool store, Address address,
                 MemoryAccess& access, MatrixRows& rows) {
  begin_access(access, Space::kShared, kRowOfMatrix);
  for (size_t r = 0; r < matrices * kSide; ++r) {
    const int lane = static_cast<int>(r);
    const LaneBytes at =
        lane_bytes(ctx, op.memory.space, address(r), kRowOfMatrix, kRowOfMatrix, store, lane);
    access.address[r] = at.address;
    if (at.data == nullptr) {
      set_fault(access, at, lane);
      return false;
    }
    access.space = at.space;
    rows[r] = at.data;
  }
  access.lanes = LaneMask::first(static_cast<int>(matrices * kSide));
  return true;
}

/// As ldmatrix and stmatrix have them: from the lanes.
auto rows_of_lanes(const MicroOp& op, const WarpContext& ctx) {
  return [&](size_t r) { return lane_address(op, ctx, static_cast<int>(r)); };
}

bool same_in_all_lanes(const MicroOp& op, const WarpContext& ctx, const uint32_t* strides) {
  for (int lane = 1; lane < kWarpSize; ++lane)
    if (strides[lane] != strides[0] || lane_address(op, ctx, lane) != lane_address(op, ctx, 0)) return false;
  return true;
}

}  // namespace

void give_matrices(const MicroOp& op, const WarpContext& ctx, const MatrixRows& rows, bool transposes) {
  for (size_t m = 0; m < op.num_dst; ++m) {
    Matrix matrix{};
    for (size_t i = 0; i < kSide; ++i) std::memcpy(matrix[i].data(), rows[m * kSide + i], kRowOfMatrix);
    give(transposes ? transposed(matrix) : matrix, words_of(op.dst[m], ctx));
  }
}

void execute_ldmatrix(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access) {
  access.lanes = LaneMask();
  access.fault = FaultKind::kNone;
  MatrixRows rows{};
  if (mask.none() || !locate_rows(op, ctx, op.num_dst, false, rows_of_lanes(op, ctx), access, rows)) return;
  give_matrices(op, ctx, rows, op.modifiers != 0);
}

void execute_wmma_matrices(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access) {
  access.lanes = LaneMask();
  access.fault = FaultKind::kNone;
  if (mask.none()) return;
  const uint32_t* strides = words_of(op.src[op.memory.has_base ? 1 : 0], ctx);
  if (!same_in_all_lanes(op, ctx, strides)) {
    access.lanes = mask;
    access.fault = FaultKind::kMatrixPlace;
    access.fault_lane = static_cast<uint8_t>(mask.lowest());
    access.fault_address = lane_address(op, ctx, 0);
    return;
  }
  const auto matrices = std::bit_cast<WmmaMatrices>(op.imm);
  const uint64_t base = lane_address(op, ctx, 0), stride = strides[0];
  const auto row_address = [&](size_t r) {
    constexpr uint64_t kLow = 15, kBits = 4;
    const uint64_t place = matrices.place[r / kSide];
    const uint64_t i = (place & kLow) * kSide, k = (place >> kBits) * kSide;
    const uint64_t element =
        matrices.across != 0 ? (k + r % kSide) * stride + i : (i + r % kSide) * stride + k;
    return base + element * sizeof(uint16_t);
  };
  MatrixRows rows{};
  if (locate_rows(op, ctx, op.num_dst, false, row_address, access, rows))
    give_matrices(op, ctx, rows, matrices.across != 0);
}

void execute_stmatrix(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access) {
  access.lanes = LaneMask();
  access.fault = FaultKind::kNone;
  const size_t first = op.memory.has_base ? 1 : 0, matrices = op.num_src - first;
  MatrixRows rows{};
  if (mask.none() || !locate_rows(op, ctx, matrices, true, rows_of_lanes(op, ctx), access, rows)) return;
  for (size_t m = 0; m < matrices; ++m) {
    Matrix matrix = take(words_of(op.src[first + m], ctx));
    if (op.modifiers != 0) matrix = transposed(matrix);
    for (size_t i = 0; i < kSide; ++i) std::memcpy(rows[m * kSide + i], matrix[i].data(), kRowOfMatrix);
  }
}

void execute_movmatrix(const MicroOp& op, WarpContext& ctx, LaneMask mask) {
  if (mask.none()) return;
  give(transposed(take(words_of(op.src[0], ctx))), words_of(op.dst[0], ctx));
}

}  // namespace gpusim::isa
