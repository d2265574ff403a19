#include "isa/exec/async.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "isa/exec/lane_bytes.h"

namespace gpusim::isa {

namespace {

constexpr int kCountBits = 20, kByteBits = 21;
constexpr uint64_t kCountMask = Mbarrier::kMostArrivals, kByteMask = (uint64_t{1} << kByteBits) - 1;

template <class T>
T* lanes_of(const RowRef& ref, const WarpContext& ctx) {
  return reinterpret_cast<T*>(ctx.row(ref));
}

size_t first_source(const MicroOp& op) { return op.memory.has_base ? 1 : 0; }

}  // namespace

Mbarrier Mbarrier::unpacked(uint64_t word) {
  Mbarrier b;
  b.expected = static_cast<uint32_t>(word & kCountMask);
  b.pending = static_cast<uint32_t>(word >> kCountBits & kCountMask);
  const uint64_t bytes = word >> (2 * kCountBits) & kByteMask;
  b.bytes = static_cast<int32_t>(bytes << (32 - kByteBits)) >> (32 - kByteBits);  // with its sign
  b.odd = word >> 63 != 0;
  return b;
}

uint64_t Mbarrier::packed() const {
  return uint64_t{expected} | uint64_t{pending} << kCountBits |
         (static_cast<uint64_t>(static_cast<int64_t>(bytes)) & kByteMask) << (2 * kCountBits) |
         uint64_t{odd} << 63;
}

void Mbarrier::complete(std::byte* object, uint32_t bytes) {
  uint64_t word = 0;
  std::memcpy(&word, object, sizeof word);
  Mbarrier b = unpacked(word);
  b.bytes -= static_cast<int32_t>(bytes);
  b.finish_phase();
  word = b.packed();
  std::memcpy(object, &word, sizeof word);
}

void complete_arrival(const WarpContext& context, const Arrival& arrival) {
  for (uint32_t left = arrival.ranks; left != 0; left &= left - 1) {
    std::byte* const shared = shared_of(context, static_cast<uint32_t>(std::countr_zero(left)));
    if (shared != nullptr) Mbarrier::complete(shared + arrival.offset, arrival.bytes);
  }
}

void Mbarrier::finish_phase() {
  if (pending != 0 || bytes != 0) return;
  odd = !odd;
  pending = expected;
}

void execute_async_copy(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access) {
  const uint64_t bytes = op.imm & kAsyncBytes;
  begin_access(access, Space::kGlobal, static_cast<uint32_t>(bytes));
  access.arrival = {};
  const size_t first = first_source(op);
  const auto* const from = lanes_of<const uint64_t>(op.src[first], ctx);
  const uint32_t* const sizes =
      (op.imm & kAsyncHasSize) != 0 ? lanes_of<const uint32_t>(op.src[first + 1], ctx) : nullptr;
  LaneMask ignored;
  if ((op.imm & kAsyncIgnores) != 0) {
    const uint32_t p = ctx.predicates[op.pred_src[0]];
    ignored = LaneMask(op.pred_negated[0] ? ~p : p);
  }
  LaneMask reads;
  for (uint32_t left = mask.bits(); left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const LaneBytes to =
        lane_bytes(ctx, op.memory.space, lane_address(op, ctx, lane), bytes, bytes, true, lane);
    if (to.data == nullptr) return set_fault(access, to, lane);
    uint64_t read = sizes == nullptr ? bytes : std::min<uint64_t>(sizes[lane], bytes);
    if (ignored.test(lane)) read = 0;
    access.address[lane] = from[lane];
    std::memset(to.data + read, 0, bytes - read);
    if (read == 0) continue;
    const LaneBytes source = lane_bytes(ctx, Space::kGlobal, from[lane], read, bytes, false, lane);
    if (source.data == nullptr) return set_fault(access, source, lane);
    std::memcpy(to.data, source.data, read);
    reads = reads | LaneMask(uint32_t{1} << lane);
  }
  access.lanes = reads;
}

namespace {

/// What an mbarrier operation of one lane takes and gives.
struct LaneOperation {
  MbarrierAction action;
  uint64_t source = 0;
  uint64_t old = 0;
  bool over = false;
};

void apply(LaneOperation& o, std::byte* data) {
  std::memcpy(&o.old, data, sizeof o.old);
  Mbarrier b = Mbarrier::unpacked(o.old);
  const auto count = static_cast<uint32_t>(o.source & kCountMask);
  const auto arrive = [&b](uint32_t n) { b.pending -= std::min(b.pending, n); };
  switch (o.action) {
    case MbarrierAction::kInit:
      b = Mbarrier{count, count, 0, false};
      break;
    case MbarrierAction::kInvalidate:
      b = Mbarrier{};
      break;
    case MbarrierAction::kArriveDrop:
      b.expected -= std::min(b.expected, count);
      [[fallthrough]];
    case MbarrierAction::kArrive:
      arrive(count);
      b.finish_phase();
      break;
    case MbarrierAction::kExpectArrive:
      b.bytes += static_cast<int32_t>(o.source);
      arrive(1);
      b.finish_phase();
      break;
    case MbarrierAction::kExpect:
      b.bytes += static_cast<int32_t>(o.source);
      break;
    case MbarrierAction::kComplete:
      b.bytes -= static_cast<int32_t>(o.source);
      b.finish_phase();
      break;
    case MbarrierAction::kTest:
      o.over = Mbarrier::unpacked(o.source).odd != b.odd;
      return;
    case MbarrierAction::kTestParity:
      o.over = ((o.source & 1) != 0) != b.odd;
      return;
  }
  const uint64_t word = b.packed();
  std::memcpy(data, &word, sizeof word);
}

}  // namespace

void execute_mbarrier(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access) {
  constexpr uint64_t kBytes = 8;
  begin_access(access, Space::kShared, kBytes);
  const size_t first = first_source(op);
  const bool has_source = op.num_src > first, wide = op.modifiers != 0;
  uint32_t over = 0, remote = 0;
  for (uint32_t left = mask.bits(); left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    // Only arrivals may be in other blocks.
    const LaneBytes at = lane_bytes(ctx, op.memory.space, lane_address(op, ctx, lane), kBytes, kBytes, true,
                                    lane, op.pred_dst[0] == kNoPredicate);
    access.address[lane] = at.address;
    if (at.data == nullptr) return set_fault(access, at, lane);
    access.space = at.space;
    access.rank[lane] = static_cast<uint8_t>(at.rank);
    remote |= uint32_t{at.rank != ctx.cluster_rank} << lane;
    LaneOperation o{static_cast<MbarrierAction>(op.imm)};
    if (has_source)
      o.source = wide ? lanes_of<const uint64_t>(op.src[first], ctx)[lane]
                      : lanes_of<const uint32_t>(op.src[first], ctx)[lane];
    apply(o, at.data);
    if (op.num_dst != 0) lanes_of<uint64_t>(op.dst[0], ctx)[lane] = o.old;
    over |= uint32_t{o.over} << lane;
  }
  if (op.pred_dst[0] != kNoPredicate) {
    uint32_t& p = ctx.predicates[op.pred_dst[0]];
    p = (p & ~mask.bits()) | over;
  }
  access.lanes = mask;
  access.remote = LaneMask(remote);
}

}  // namespace gpusim::isa
