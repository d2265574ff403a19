// The common memory access of the AVX-512 set: one 32-bit element per lane, in shared, global, constant or
// parameter space, all lanes in one window. Addresses are computed, checked and recorded with full vectors;
// each half warp is then moved as one vector if it is consecutive or uniform, else gathered or scattered.
// What does not fit (faults, several windows, generic addresses) is left to locate(), before any data moved.
#pragma once
#include <immintrin.h>

#include "isa/exec/semantics/access.h"

namespace gpusim::isa::GPUSIM_SIMD {

/// Byte offsets of the lanes from `data`, 16 lanes each.
struct LaneOffsets {
  std::byte* data = nullptr;
  __m512i half[2];
};

/// Address of the lowest active lane.
GPUSIM_INLINE u64 first_address(const MicroOp& op, const WarpContext& ctx, LaneMask mask) {
  const MemoryOperand& m = op.memory;
  if (!m.has_base) return u64(m.offset);
  if (m.base_is_64) return row<u64>(op.src[0], ctx)[mask.lowest()] + u64(m.offset);
  return u32(row<u32>(op.src[0], ctx)[mask.lowest()] + u32(m.offset));
}

/// Writes access.address and `out.half`; false if an active lane leaves [begin, begin + limit] or is not
/// aligned.
GPUSIM_INLINE bool lane_offsets(const MicroOp& op, const WarpContext& ctx, LaneMask mask, u64 begin,
                                u64 limit, u64* address, LaneOffsets& out) {
  const MemoryOperand& m = op.memory;
  u32 bad = 0;
  if (m.has_base && !m.base_is_64) {
    const u32* base = row<u32>(op.src[0], ctx);
#pragma GCC unroll 2
    for (int h = 0; h < 2; ++h) {
      const __m512i v =
          _mm512_add_epi32(_mm512_load_si512(base + 16 * h), _mm512_set1_epi32(int(u32(m.offset))));
      _mm512_store_si512(address + 16 * h, _mm512_cvtepu32_epi64(_mm512_castsi512_si256(v)));
      _mm512_store_si512(address + 16 * h + 8, _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(v, 1)));
      out.half[h] = _mm512_sub_epi32(v, _mm512_set1_epi32(int(u32(begin))));
      const u32 wrong = _mm512_cmpgt_epu32_mask(out.half[h], _mm512_set1_epi32(int(u32(limit)))) |
                        _mm512_test_epi32_mask(v, _mm512_set1_epi32(3));
      bad |= wrong << (16 * h);
    }
    return (bad & mask.bits()) == 0;
  }
  const u64* base = m.has_base ? row<u64>(op.src[0], ctx) : nullptr;
  __m512i offset[4];
#pragma GCC unroll 4
  for (int q = 0; q < 4; ++q) {
    __m512i v = _mm512_set1_epi64(m.offset);
    if (base != nullptr) v = _mm512_add_epi64(v, _mm512_load_si512(base + 8 * q));
    _mm512_store_si512(address + 8 * q, v);
    offset[q] = _mm512_sub_epi64(v, _mm512_set1_epi64(s64(begin)));
  }
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i odd = _mm512_or_si512(even, _mm512_set1_epi32(1));
  const __m512i low_bits = _mm512_set1_epi32(3 & int(u32(begin)));
#pragma GCC unroll 2
  for (int h = 0; h < 2; ++h) {
    const __m512i low = _mm512_permutex2var_epi32(offset[2 * h], even, offset[2 * h + 1]);
    const __m512i high = _mm512_permutex2var_epi32(offset[2 * h], odd, offset[2 * h + 1]);
    const __m512i unaligned = _mm512_and_si512(_mm512_add_epi32(low, low_bits), _mm512_set1_epi32(3));
    const __m512i wrong = _mm512_or_si512(high, unaligned);
    out.half[h] = low;
    bad |= (u32(_mm512_cmpgt_epu32_mask(low, _mm512_set1_epi32(int(u32(limit))))) |
            u32(_mm512_test_epi32_mask(wrong, wrong)))
           << (16 * h);
  }
  return (bad & mask.bits()) == 0;
}

/// The bytes that `op` may touch if all lanes are where the first one is.
struct Reach {
  std::byte* data = nullptr;
  u64 begin = 0, end = 0;
};
/// False if locate() must do it. `mask` is not empty.
GPUSIM_INLINE bool find_reach(const MicroOp& op, WarpContext& ctx, LaneMask mask, bool store, Reach& reach) {
  const MemoryOperand& m = op.memory;
  if (m.elements != 1) return false;
  if (m.space == Space::kShared) {
    reach = {ctx.shared, 0, ctx.shared_bytes};
  } else if (m.space == Space::kGlobal || m.space == Space::kConst) {
    if (!select_window(ctx, first_address(op, ctx, mask), 4)) return false;
    if (store && (m.space == Space::kConst || !ctx.window.writable)) return false;
    reach = {ctx.window.data, ctx.window.begin, ctx.window.end};
  } else if (m.space == Space::kParam && !store) {
    reach = {const_cast<std::byte*>(ctx.params), 0, ctx.param_bytes};
  } else {
    return false;
  }
  return reach.end - reach.begin >= 4;
}
GPUSIM_INLINE void report(const MicroOp& op, LaneMask mask, MemoryAccess& access) {
  access.lanes = mask;
  access.space = op.memory.space;
  access.bytes = 4;
  access.fault = FaultKind::kNone;
}

/// False if locate() must do it.
GPUSIM_INLINE bool locate_words(const MicroOp& op, const WarpContext& ctx, LaneMask mask, const Reach& reach,
                                MemoryAccess& access, LaneOffsets& out) {
  // Offsets must fit the signed 32 bits of a gather, 32-bit addresses must not wrap around in the window.
  const u64 size = reach.end - reach.begin;
  if (size > 0x7fffffff || (reach.end > 0xffffffff && !op.memory.base_is_64)) return false;
  out.data = reach.data;
  return lane_offsets(op, ctx, mask, reach.begin, size - 4, access.address, out);
}

/// A load without a base register: one address for all lanes.
GPUSIM_INLINE bool load_word(const MicroOp& op, WarpContext& ctx, LaneMask mask, const Reach& reach,
                             MemoryAccess& access) {
  const u64 address = u64(op.memory.offset);
  if ((address & 3) != 0 || !inside(address, 4, reach.begin, reach.end)) return false;
  const __m512i v = _mm512_set1_epi32(read_bytes<s32>(reach.data + (address - reach.begin)));
  u32* d = row<u32>(op.dst[0], ctx);
  _mm512_mask_store_epi32(d, __mmask16(mask.bits()), v);
  _mm512_mask_store_epi32(d + 16, __mmask16(mask.bits() >> 16), v);
#pragma GCC unroll 4
  for (int q = 0; q < 4; ++q) _mm512_store_si512(access.address + 8 * q, _mm512_set1_epi64(s64(address)));
  report(op, mask, access);
  access.set_shape(AccessShape::kUniform);
  return true;
}

/// How the active lanes of one half warp lie: lane l at `first` + 4 l, or all at `first`.
GPUSIM_INLINE AccessShape half_shape(__m512i offsets, __mmask16 lanes, s64& first) {
  const __m512i iota = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60);
  const int low = __builtin_ctz(u32{lanes} | 0x10000u);
  const __m512i base = _mm512_permutexvar_epi32(_mm512_set1_epi32(low), offsets);
  const __m512i distance = _mm512_sub_epi32(offsets, base);
  first = _mm_cvtsi128_si32(_mm512_castsi512_si128(base));
  if (_mm512_mask_cmpneq_epi32_mask(lanes, _mm512_add_epi32(distance, _mm512_set1_epi32(4 * low)), iota) ==
      0) {
    first -= 4 * low;
    return AccessShape::kContiguous;
  }
  return _mm512_mask_test_epi32_mask(lanes, distance, distance) == 0 ? AccessShape::kUniform
                                                                     : AccessShape::kOther;
}
GPUSIM_INLINE AccessShape warp_shape(LaneMask mask, const AccessShape* half, const s64* first) {
  if (!mask.full() || half[0] != half[1]) return AccessShape::kOther;
  const s64 step = half[0] == AccessShape::kContiguous ? 64 : 0;
  return first[1] == first[0] + step ? half[0] : AccessShape::kOther;
}

/// Loads of 32 bits. False if nothing was done.
GPUSIM_INLINE bool load_words(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access) {
  Reach reach;
  if (!find_reach(op, ctx, mask, false, reach)) return false;
  if (!op.memory.has_base) return load_word(op, ctx, mask, reach, access);
  LaneOffsets at;
  if (!locate_words(op, ctx, mask, reach, access, at)) return false;
  u32* d = row<u32>(op.dst[0], ctx);
  AccessShape shape[2] = {};
  s64 first[2] = {};
#pragma GCC unroll 2
  for (int h = 0; h < 2; ++h) {
    const auto lanes = __mmask16(mask.bits() >> (16 * h));
    if (lanes == 0) continue;
    shape[h] = half_shape(at.half[h], lanes, first[h]);
    __m512i v;
    if (shape[h] == AccessShape::kContiguous)
      v = _mm512_maskz_loadu_epi32(lanes, at.data + first[h]);
    else if (shape[h] == AccessShape::kUniform)
      v = _mm512_set1_epi32(read_bytes<s32>(at.data + first[h]));
    else
      v = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), lanes, at.half[h], at.data, 1);
    _mm512_mask_store_epi32(d + 16 * h, lanes, v);
  }
  report(op, mask, access);
  access.set_shape(warp_shape(mask, shape, first), shape[0], shape[1]);
  return true;
}

/// Stores of 32 bits. A scatter writes in ascending order of lanes, so the highest one wins.
GPUSIM_INLINE bool store_words(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access) {
  Reach reach;
  LaneOffsets at;
  if (!find_reach(op, ctx, mask, true, reach) || !locate_words(op, ctx, mask, reach, access, at))
    return false;
  const u32* s = row<u32>(op.src[op.memory.has_base ? 1 : 0], ctx);
  AccessShape shape[2] = {};
  s64 first[2] = {};
#pragma GCC unroll 2
  for (int h = 0; h < 2; ++h) {
    const auto lanes = __mmask16(mask.bits() >> (16 * h));
    if (lanes == 0) continue;
    const __m512i v = _mm512_load_si512(s + 16 * h);
    shape[h] = half_shape(at.half[h], lanes, first[h]);
    if (shape[h] == AccessShape::kContiguous)
      _mm512_mask_storeu_epi32(at.data + first[h], lanes, v);
    else
      _mm512_mask_i32scatter_epi32(at.data, lanes, at.half[h], v, 1);
  }
  report(op, mask, access);
  access.set_shape(warp_shape(mask, shape, first), shape[0], shape[1]);
  return true;
}

}  // namespace gpusim::isa::GPUSIM_SIMD
