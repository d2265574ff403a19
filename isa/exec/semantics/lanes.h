// Lane loops of the semantic functions: typed access to operand rows and "apply this to 32 lanes under a
// mask". Included once per instruction set, inside the namespace GPUSIM_SIMD. Destinations may be the same
// row as a source of the same width (element-wise loops allow it); rows of different width never overlap
// (isa/lowering/allocate.cpp sees to it).
#pragma once
#ifndef GPUSIM_SIMD
#error "compile through a wrapper that defines GPUSIM_SIMD (isa/backend.cmake)"
#endif
#include <cstdint>
#include <type_traits>

#include "isa/exec/executor.h"
#include "isa/exec/semantics/rows.h"

#if defined(__clang__)
#define GPUSIM_LANE_LOOP_OF(lanes) \
  _Pragma("clang loop vectorize(assume_safety)") for (int l = 0; l < (lanes); ++l)
#else
#define GPUSIM_LANE_LOOP_OF(lanes) _Pragma("GCC ivdep") for (int l = 0; l < (lanes); ++l)
#endif
#define GPUSIM_LANE_LOOP GPUSIM_LANE_LOOP_OF(kWarpSize)
#define GPUSIM_INLINE __attribute__((always_inline)) inline

namespace gpusim::isa::GPUSIM_SIMD {

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using s8 = int8_t;
using s16 = int16_t;
using s32 = int32_t;
using s64 = int64_t;
using u128 = unsigned __int128;
using s128 = __int128;

/// What one lane of a row holds for a value of type T: 8- and 16-bit values sit in 32-bit lanes.
template <class T>
using Lane = std::conditional_t<(sizeof(T) < 4), u32, T>;

template <class T>
GPUSIM_INLINE T from_lane(Lane<T> v) {
  return static_cast<T>(v);
}
/// Narrow results are sign- or zero-extended into the 32-bit lane, so that wider registers read them right.
template <class T>
GPUSIM_INLINE Lane<T> to_lane(T v) {
  if constexpr (sizeof(T) < 4) {
    return static_cast<u32>(static_cast<std::conditional_t<std::is_signed_v<T>, s32, u32>>(v));
  } else {
    return v;
  }
}

template <class T>
GPUSIM_INLINE Lane<T>* row(const RowRef& ref, const WarpContext& ctx) {
  return static_cast<Lane<T>*>(
      __builtin_assume_aligned(ctx.bank[static_cast<unsigned>(ref.bank)] + ref.offset, 64));
}

template <class T>
constexpr Type type_of() {
  if constexpr (std::is_same_v<T, u8>) return Type::kU8;
  if constexpr (std::is_same_v<T, u16>) return Type::kU16;
  if constexpr (std::is_same_v<T, u32>) return Type::kU32;
  if constexpr (std::is_same_v<T, u64>) return Type::kU64;
  if constexpr (std::is_same_v<T, s8>) return Type::kS8;
  if constexpr (std::is_same_v<T, s16>) return Type::kS16;
  if constexpr (std::is_same_v<T, s32>) return Type::kS32;
  if constexpr (std::is_same_v<T, s64>) return Type::kS64;
  if constexpr (std::is_same_v<T, float>) return Type::kF32;
  if constexpr (std::is_same_v<T, double>) return Type::kF64;
  return Type::kNone;
}
/// Calls `fn.operator()<T>()` for each type: rows for a family of types.
template <class... T, class Fn>
constexpr void for_types(Fn fn) {
  (fn.template operator()<T>(), ...);
}

GPUSIM_INLINE bool lane_on(u32 mask, int l) { return (mask >> l) & 1u; }

/// Bit of each lane: selecting by table vectorises where shifting by the lane number does not.
alignas(64) inline constexpr u32 kLaneBit[kWarpSize] = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
    1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
    1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
    1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};

/// Writes fn(lane) to every lane of row `d` that is in `mask`. All lanes are computed, which costs less than
/// branching per lane: straight into the row if the mask is full, else into a copy that is then blended. One
/// loop for both halves the code to compile.
template <class D, class Fn>
GPUSIM_INLINE void write_lanes(Lane<D>* d, LaneMask mask, Fn fn) {
  alignas(64) Lane<D> copy[kWarpSize];
  auto* out = static_cast<Lane<D>*>(__builtin_assume_aligned(mask.full() ? d : copy, 64));
  GPUSIM_LANE_LOOP out[l] = to_lane<D>(fn(l));
  if (mask.full()) return;
  const u32 m = mask.bits();
  GPUSIM_LANE_LOOP d[l] = (m & kLaneBit[l]) != 0 ? copy[l] : d[l];
}
template <class D, class A, class Fn>
GPUSIM_INLINE void map1(const MicroOp& op, WarpContext& ctx, LaneMask mask, Fn fn) {
  const Lane<A>* a = row<A>(op.src[0], ctx);
  write_lanes<D>(row<D>(op.dst[0], ctx), mask, [=](int l) { return static_cast<D>(fn(from_lane<A>(a[l]))); });
}
template <class D, class A, class B, class Fn>
GPUSIM_INLINE void map2(const MicroOp& op, WarpContext& ctx, LaneMask mask, Fn fn) {
  const Lane<A>* a = row<A>(op.src[0], ctx);
  const Lane<B>* b = row<B>(op.src[1], ctx);
  write_lanes<D>(row<D>(op.dst[0], ctx), mask,
                 [=](int l) { return static_cast<D>(fn(from_lane<A>(a[l]), from_lane<B>(b[l]))); });
}
template <class D, class A, class B, class C, class Fn>
GPUSIM_INLINE void map3(const MicroOp& op, WarpContext& ctx, LaneMask mask, Fn fn) {
  const Lane<A>* a = row<A>(op.src[0], ctx);
  const Lane<B>* b = row<B>(op.src[1], ctx);
  const Lane<C>* c = row<C>(op.src[2], ctx);
  write_lanes<D>(row<D>(op.dst[0], ctx), mask, [=](int l) {
    return static_cast<D>(fn(from_lane<A>(a[l]), from_lane<B>(b[l]), from_lane<C>(c[l])));
  });
}

/// One, two, three operands of one type, result of the same type. F is a stateless functor.
template <class F, class T>
void unary(const MicroOp& op, WarpContext& ctx, LaneMask mask) {
  map1<T, T>(op, ctx, mask, F{});
}
template <class F, class T>
void binary(const MicroOp& op, WarpContext& ctx, LaneMask mask) {
  map2<T, T, T>(op, ctx, mask, F{});
}
template <class F, class T>
void ternary(const MicroOp& op, WarpContext& ctx, LaneMask mask) {
  map3<T, T, T, T>(op, ctx, mask, F{});
}

/// Lane mask of a predicate source, negation applied.
GPUSIM_INLINE u32 predicate(const MicroOp& op, const WarpContext& ctx, int i) {
  const u32 p = ctx.predicates[op.pred_src[i]];
  return op.pred_negated[i] ? ~p : p;
}
GPUSIM_INLINE void write_predicate(const MicroOp& op, WarpContext& ctx, LaneMask mask, int i, u32 value) {
  if (op.pred_dst[i] == kNoPredicate) return;
  u32& p = ctx.predicates[op.pred_dst[i]];
  p = (p & ~mask.bits()) | (value & mask.bits());
}
/// Bit per lane of a per-lane condition; written as an OR reduction because compilers vectorise that.
template <class Fn>
GPUSIM_INLINE u32 lane_bits(Fn fn) {
  u32 bits = 0;
  GPUSIM_LANE_LOOP bits |= fn(l) ? kLaneBit[l] : 0u;
  return bits;
}

}  // namespace gpusim::isa::GPUSIM_SIMD
