#include "isa/exec/tensor_copy.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "isa/exec/async.h"
#include "isa/exec/lane_bytes.h"
#include "isa/exec/semantics/table.h"
#include "isa/exec/tensor_map.h"

namespace gpusim::isa {

namespace {

constexpr uint32_t kPiece = 16, kBoxAlign = 128;
constexpr size_t kFirstCoordinate = 3;

template <class T>
T of_lane(const WarpContext& context, const RowRef& ref, int lane) {
  return reinterpret_cast<const T*>(context.row(ref))[lane];
}

/// What a lane copies.
struct Box {
  const MicroOp& op;
  WarpContext& context;
  int lane;
  TensorMap map;
  LaneBytes shared;  ///< all of its rows
  std::array<int64_t, TensorMap::kMostRank> at{};
  std::array<int64_t, TensorMap::kMostSpatial> offset{};  ///< of each pixel from its place, in im2col mode

  [[nodiscard]] bool loads() const { return (op.imm & kTensorLoads) != 0; }
  [[nodiscard]] AtomOp operation() const { return static_cast<AtomOp>(op.imm >> kTensorOperation & 0xff); }
  [[nodiscard]] uint64_t bytes() const { return map.rows() * map.row_bytes(); }
  /// Of a reduction: words, or elements that are larger.
  [[nodiscard]] uint32_t piece_bytes() const {
    constexpr uint32_t kWord = 4;
    return operation() == AtomOp::kNone ? kPiece : std::max(kWord, map.element_bytes());
  }
};

/// A few neighbouring bytes of a row of the box, and which of them are inside the tensor.
struct Piece {
  uint64_t shared = 0;  ///< from the box's first byte in shared memory, not swizzled
  uint64_t tensor = 0;  ///< address of the first byte inside
  uint32_t begin = 0, end = 0;
};

/// Where number `left` of a walk through dimension `d` is that begins at at[d], stays in the box of pixels
/// and begins at its lower corner again. `left` becomes how often it has.
int64_t walk(const Box& box, size_t d, uint64_t& left) {
  const TensorMap& map = box.map;
  const auto number = [step = int64_t{map.step[d]}](int64_t range) {
    return static_cast<uint64_t>((range + step - 1) / step);
  };
  const int64_t end = map.end_of_box(d), begin = map.lower[d - 1];
  const uint64_t first = box.at[d] < end ? number(end - box.at[d]) : 1;
  if (left < first) return box.at[d] + static_cast<int64_t>(std::exchange(left, 0) * map.step[d]);
  const uint64_t behind = left - first, each = number(end - begin);
  left = 1 + behind / each;
  return begin + static_cast<int64_t>(behind % each * map.step[d]);
}

Piece piece_at(const Box& box, uint64_t offset, uint32_t bytes) {
  const TensorMap& map = box.map;
  const uint64_t row = offset / map.row_bytes(), column = offset % map.row_bytes();
  const int64_t first = box.at[0] * map.element_bytes() + static_cast<int64_t>(column);
  const auto width = static_cast<int64_t>(map.size[0] * map.element_bytes());
  const auto within = [&](int64_t end) {
    return static_cast<uint32_t>(std::clamp<int64_t>(end - first, 0, int64_t{bytes}));
  };
  Piece p{row * map.row_pitch() + column, 0, within(0), within(width)};
  uint64_t base = map.address, left = row;
  for (size_t d = 1; d < map.rank; ++d) {
    int64_t index = 0;
    if (map.is_spatial(d)) {
      index = walk(box, d, left) + box.offset[d - 1];
    } else {
      const uint64_t each = map.im2col ? left + 1 : map.count(d);
      index = box.at[d] + static_cast<int64_t>(left % each * map.step[d]);
      left /= each;
    }
    if (index < 0 || static_cast<uint64_t>(index) >= map.size[d]) p.end = p.begin;
    base += static_cast<uint64_t>(index) * map.stride[d];
  }
  p.tensor = base + static_cast<uint64_t>(first + p.begin);
  return p;
}

/// Elements on their way from memory: some formats flush denormals, or lose the bits that tf32 lacks.
void convert(const TensorMap& map, std::byte* data, uint32_t bytes) {
  using Element = TensorMap::Element;
  const bool tf32 = map.element == Element::kTF32 || map.element == Element::kTF32Ftz;
  const bool flushes = map.element == Element::kF32Ftz || map.element == Element::kTF32Ftz;
  if (!tf32 && !flushes) return;
  constexpr uint32_t kSign = 0x80000000, kExponent = 0x7f800000, kLost = 0x1fff, kHalf = 0x1000;
  for (uint32_t b = 0; b < bytes; b += sizeof(uint32_t)) {
    uint32_t bits;
    std::memcpy(&bits, data + b, sizeof(bits));
    const uint32_t exponent = bits & kExponent;
    if (flushes && exponent == 0) bits &= kSign;
    if (tf32 && exponent != kExponent) bits = (bits + kHalf) & ~kLost;  // ties away from zero, as cvt.rna
    std::memcpy(data + b, &bits, sizeof(bits));
  }
}

/// Moves the piece; false if there was a fault.
bool move_piece(const Box& box, const Piece& p, uint32_t bytes, uint32_t ranks, MemoryAccess& access) {
  const TensorMap& map = box.map;
  const uint64_t shared = map.swizzled(box.shared.address + p.shared);
  std::array<std::byte, kPiece> values;
  values.fill(std::byte{0});
  constexpr std::byte kFill[2] = {std::byte{kOutsideTensor & 0xff}, std::byte{kOutsideTensor >> 8}};
  for (uint32_t b = 0; map.fills_with_nan && b < kPiece; ++b) values[b] = kFill[b % 2];
  LaneBytes tensor;
  const uint32_t inside = p.end - p.begin;
  if (inside != 0) {
    tensor = lane_bytes(box.context, Space::kGlobal, p.tensor, inside, map.element_bytes(), !box.loads(),
                        box.lane);
    if (tensor.data == nullptr) {
      set_fault(access, tensor, box.lane);
      return false;
    }
  }
  if (box.loads()) {
    if (inside != 0) std::memcpy(&values[p.begin], tensor.data, inside);
    if (inside != 0) convert(map, &values[p.begin], inside);
    for (uint32_t left = ranks; left != 0; left &= left - 1)
      std::memcpy(shared_of(box.context, static_cast<uint32_t>(std::countr_zero(left))) + shared,
                  values.data(), bytes);
    return true;
  }
  if (inside == 0) return true;
  const std::byte* const from = shared_of(box.context, box.shared.rank) + shared + p.begin;
  if (box.operation() == AtomOp::kNone)
    std::memcpy(tensor.data, from, inside);
  else
    find_reduction(map.type(), box.operation())(tensor.data, from, inside / map.element_bytes());
  return true;
}

void set_fault(MemoryAccess& access, FaultKind fault, uint64_t address, int lane) {
  LaneBytes place;
  place.space = Space::kGlobal;
  place.address = address;
  place.fault = fault;
  set_fault(access, place, lane);
}

/// Nothing, and a fault, if the map or the place in shared memory is not one.
std::optional<Box> box_of(const MicroOp& op, WarpContext& ctx, int lane, MemoryAccess& access) {
  const auto address = of_lane<uint64_t>(ctx, op.src[1], lane);
  const LaneBytes place =
      lane_bytes(ctx, Space::kGeneric, address, TensorMap::kBytes, TensorMap::kAlign, false, lane);
  if (place.data == nullptr) {
    set_fault(access, place, lane);
    return std::nullopt;
  }
  const std::optional<TensorMap> map = TensorMap::unpacked(place.data);
  const uint64_t rank = op.imm >> kTensorRank;
  Box box{op, ctx, lane, map.value_or(TensorMap{}), {}};
  const bool reduces = box.operation() != AtomOp::kNone;
  const FaultKind wrong =
      !map                                                                  ? FaultKind::kNoTensorMap
      : map->rank != rank || map->im2col != ((op.imm & kTensorIm2col) != 0) ? FaultKind::kTensorRank
      : reduces && find_reduction(map->type(), box.operation()) == nullptr  ? FaultKind::kTensorElement
                                                                            : FaultKind::kNone;
  if (wrong != FaultKind::kNone) {
    set_fault(access, wrong, address, lane);
    return std::nullopt;
  }
  for (size_t d = 0; d < rank; ++d) box.at[d] = of_lane<int32_t>(ctx, op.src[kFirstCoordinate + d], lane);
  if (map->im2col && box.loads()) {
    const auto offsets = of_lane<uint64_t>(ctx, op.src[op.num_src - 1], lane) >> 16;
    for (size_t d = 0; d + 2 < rank; ++d) box.offset[d] = static_cast<uint16_t>(offsets >> (16 * d));
  }
  box.shared = lane_bytes(ctx, Space::kShared, of_lane<uint64_t>(ctx, op.src[0], lane),
                          map->rows() * map->row_pitch(), kBoxAlign, box.loads(), lane, box.loads());
  if (box.shared.data != nullptr) return box;
  set_fault(access, box.shared, lane);
  return std::nullopt;
}

/// The blocks that get the box, a bit each; nothing, and a fault, if one of them does not run.
std::optional<uint16_t> receivers(const Box& box, MemoryAccess& access) {
  if (!box.loads()) return uint16_t{0};
  if ((box.op.imm & kTensorMulticast) == 0) return static_cast<uint16_t>(1u << box.shared.rank);
  const RowRef& last = box.op.src[box.op.num_src - 1];
  const auto ranks = static_cast<uint16_t>(box.map.im2col ? of_lane<uint64_t>(box.context, last, box.lane)
                                                          : of_lane<uint32_t>(box.context, last, box.lane));
  for (uint32_t left = ranks; left != 0; left &= left - 1) {
    const auto rank = static_cast<uint32_t>(std::countr_zero(left));
    if (shared_of(box.context, rank) != nullptr) continue;
    set_fault(access, without_block(box.shared, rank), box.lane);
    return std::nullopt;
  }
  return ranks;
}

/// Moves what is next of the box and says what of it is timed: the accesses to the tensor. The bytes that it
/// moved, those outside of the tensor included; 0 after a fault.
uint32_t move_pieces(const Box& box, uint32_t done, MemoryAccess& access) {
  const std::optional<uint16_t> ranks = receivers(box, access);
  if (!ranks) return 0;
  const uint32_t each = box.piece_bytes();
  const auto count =
      static_cast<uint32_t>(std::min<uint64_t>(box.bytes() - done, uint64_t{each} * kWarpSize));
  begin_access(access, Space::kGlobal, each);
  uint32_t timed = 0;
  for (uint32_t l = 0; l * each < count; ++l) {
    const Piece p = piece_at(box, uint64_t{done} + l * each, each);
    if (!move_piece(box, p, each, *ranks, access)) return 0;
    access.address[l] = p.tensor / each * each;
    timed |= uint32_t{p.begin != p.end} << l;
  }
  access.lanes = LaneMask(timed);
  if (!box.loads()) return count;
  const LaneBytes barrier =
      lane_bytes(box.context, Space::kShared,
                 of_lane<uint64_t>(box.context, box.op.src[kFirstCoordinate + box.map.rank], box.lane),
                 sizeof(uint64_t), sizeof(uint64_t), true, box.lane, true);
  if (barrier.data == nullptr) {
    set_fault(access, barrier, box.lane);
    return 0;
  }
  const bool multicast = (box.op.imm & kTensorMulticast) != 0;
  access.arrival = {static_cast<uint32_t>(barrier.address), count,
                    multicast ? *ranks : static_cast<uint16_t>(1u << barrier.rank)};
  return count;
}

}  // namespace

void execute_tensor_step(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access) {
  begin_access(access, Space::kGlobal, kPiece);
  access.arrival = {};
  bool moved = false;
  uint32_t more = 0;
  for (uint32_t left = mask.bits(); left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const auto done = of_lane<uint32_t>(ctx, op.src[2], lane);
    const std::optional<Box> box = box_of(op, ctx, lane, access);
    if (!box) return;
    uint32_t count = 0;
    if (!moved && done < box->bytes()) {
      count = move_pieces(*box, done, access);
      if (count == 0) return;
      moved = true;
    }
    reinterpret_cast<uint32_t*>(ctx.row(op.dst[0]))[lane] = done + count;
    more |= uint32_t{done + count < box->bytes()} << lane;
  }
  uint32_t& p = ctx.predicates[op.pred_dst[0]];
  p = (p & ~mask.bits()) | more;
  // Where nothing of the pieces is inside of the tensor, nothing has to come.
  if (access.arrival.ranks == 0 || (ctx.defers_arrivals && access.lanes.any())) return;
  complete_arrival(ctx, access.arrival);
}

void execute_tensormap_replace(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access) {
  begin_access(access, op.memory.space, sizeof(uint64_t));
  const auto field = static_cast<TensorMap::Field>(op.imm >> kTensorField & 0xff);
  const auto dimension = static_cast<uint32_t>(op.imm & 0xff);
  for (uint32_t left = mask.bits(); left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const uint64_t address = lane_address(op, ctx, lane);
    const LaneBytes place =
        lane_bytes(ctx, op.memory.space, address, TensorMap::kBytes, TensorMap::kAlign, true, lane);
    if (place.data == nullptr) return set_fault(access, place, lane);
    const auto value = of_lane<uint64_t>(ctx, op.src[op.memory.has_base ? 1 : 0], lane);
    if (!TensorMap::replace(place.data, field, dimension, value))
      return set_fault(access, FaultKind::kNoTensorMap, address, lane);
    access.address[lane] = place.address;
    access.space = place.space;
  }
  access.lanes = mask;
}

void execute_tensormap_copy(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access) {
  constexpr uint32_t kEach = TensorMap::kBytes / kWarpSize;
  begin_access(access, Space::kGlobal, kEach);
  if (mask.none()) return;
  const int lane = mask.lowest();
  const LaneBytes to = lane_bytes(ctx, Space::kGlobal, lane_address(op, ctx, lane), TensorMap::kBytes,
                                  TensorMap::kAlign, true, lane);
  const LaneBytes from =
      lane_bytes(ctx, Space::kShared, of_lane<uint64_t>(ctx, op.src[op.memory.has_base ? 1 : 0], lane),
                 TensorMap::kBytes, TensorMap::kAlign, false, lane);
  for (const LaneBytes* place : {&to, &from})
    if (place->data == nullptr) return set_fault(access, *place, lane);
  std::memcpy(to.data, from.data, TensorMap::kBytes);
  for (uint32_t l = 0; l < kWarpSize; ++l) access.address[l] = to.address + uint64_t{l} * kEach;
  access.lanes = LaneMask::all();
  access.set_shape(AccessShape::kContiguous);
}

}  // namespace gpusim::isa
