#include "isa/exec/video.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "isa/ptx/compare.h"
#include "isa/ptx/opcodes.h"

namespace gpusim::isa {

namespace {

/// The `bits` of `word` from bit `first`, with their sign if they have one.
int64_t field(uint32_t word, int first, int bits, bool is_signed) {
  const uint64_t v = uint64_t{word} >> first & ((uint64_t{1} << bits) - 1);
  return is_signed && (v >> (bits - 1) & 1) != 0 ? static_cast<int64_t>(v) - (int64_t{1} << bits)
                                                 : static_cast<int64_t>(v);
}

int bits_of(VideoPart p) { return p == kWholeWord ? 32 : p >= kFirstHalf ? 16 : 8; }
int first_bit(VideoPart p) {
  return p == kWholeWord ? 0 : p >= kFirstHalf ? 16 * (p - kFirstHalf) : 8 * (p - kFirstByte);
}

int64_t saturated(int64_t v, int bits, bool is_signed) {
  const int64_t high = (int64_t{1} << (bits - (is_signed ? 1 : 0))) - 1;
  return std::clamp(v, is_signed ? -high - 1 : int64_t{0}, high);
}

uint32_t merged(uint32_t into, int64_t v, int first, int bits) {
  if (bits == 32) return static_cast<uint32_t>(v);
  const uint32_t mask = ((1u << bits) - 1) << first;
  return (into & ~mask) | (static_cast<uint32_t>(v) << first & mask);
}

class Lane {
 public:
  Lane(const VideoForm& form, uint8_t modifiers) : form_(form), modifiers_(modifiers) {}

  [[nodiscard]] uint32_t result(uint32_t a, uint32_t b, uint32_t c) const {
    if (form_.op == VideoOp::kMad) return product(a, b, c);
    return form_.lanes == 1 ? scalar(a, b, c) : simd(a, b, c);
  }

 private:
  [[nodiscard]] bool has(uint8_t flag) const { return (form_.flags & flag) != 0; }

  [[nodiscard]] int64_t operation(int64_t a, int64_t b) const {
    switch (form_.op) {
      case VideoOp::kAdd:
        return a + b;
      case VideoOp::kSub:
        return a - b;
      case VideoOp::kAverage:  // a half goes away from zero
        return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
      case VideoOp::kAbsDiff:
        return std::abs(a - b);
      case VideoOp::kMin:
        return std::min(a, b);
      case VideoOp::kMax:
        return std::max(a, b);
      case VideoOp::kSet:
        return holds(static_cast<CompareOp>(modifiers_), a, b) ? 1 : 0;
      default:
        break;
    }
    // Distances count as unsigned.
    const uint64_t distance = static_cast<uint32_t>(b);
    const int64_t by =
        static_cast<int64_t>(has(kVideoWrap) ? distance & 31 : std::min<uint64_t>(distance, 32));
    if (form_.op == VideoOp::kShr) return a >> by;
    // Of what leaves the word whole, only how it saturates counts: 2^63 and more as 2^62 does.
    return (by == 32 ? std::min<int64_t>(a, INT32_MAX) : a) * (int64_t{1} << by);
  }

  [[nodiscard]] uint32_t scalar(uint32_t a, uint32_t b, uint32_t c) const {
    const auto part = [](uint32_t w, VideoPart p, bool s) { return field(w, first_bit(p), bits_of(p), s); };
    int64_t v = operation(part(a, form_.a, has(kVideoSignedA)), part(b, form_.b, has(kVideoSignedB)));
    const bool is_signed = has(kVideoSignedD);
    if (has(kVideoSat)) v = saturated(v, bits_of(form_.d), is_signed);
    const auto low = static_cast<uint32_t>(v);
    const int64_t whole = is_signed ? int64_t{static_cast<int32_t>(low)} : int64_t{low};
    const int64_t other = is_signed ? int64_t{static_cast<int32_t>(c)} : int64_t{c};
    switch (form_.second) {
      case VideoSecond::kAdd:
        return low + c;
      case VideoSecond::kMin:
        return static_cast<uint32_t>(std::min(whole, other));
      case VideoSecond::kMax:
        return static_cast<uint32_t>(std::max(whole, other));
      case VideoSecond::kNone:
        break;
    }
    return merged(c, v, first_bit(form_.d), bits_of(form_.d));
  }

  [[nodiscard]] uint32_t simd(uint32_t a, uint32_t b, uint32_t c) const {
    const int bits = 32 / form_.lanes;
    uint32_t d = c;
    for (int i = 0; i < form_.lanes; ++i) {
      if ((form_.mask >> i & 1) == 0) continue;
      int64_t v = operation(field(a, i * bits, bits, has(kVideoSignedA)),
                            field(b, i * bits, bits, has(kVideoSignedB)));
      if (has(kVideoSat)) v = saturated(v, bits, has(kVideoSignedD));
      // What is added is the whole result, not the part as it would be written (so does ptxas' code).
      if (form_.second == VideoSecond::kAdd)
        d += static_cast<uint32_t>(v);
      else
        d = merged(d, v, i * bits, bits);
    }
    return d;
  }

  [[nodiscard]] uint32_t product(uint32_t a, uint32_t b, uint32_t c) const {
    const auto part = [](uint32_t w, VideoPart p, bool s) { return field(w, first_bit(p), bits_of(p), s); };
    const bool minus_product = (modifiers_ & kVideoMinusProduct) != 0;
    const bool minus_c = (modifiers_ & kVideoMinusC) != 0;
    const bool is_signed =
        has(kVideoSignedA) || has(kVideoSignedB) || has(kVideoSignedD) || minus_product || minus_c;
    __int128 v =
        static_cast<__int128>(part(a, form_.a, has(kVideoSignedA))) * part(b, form_.b, has(kVideoSignedB));
    const int64_t addend = is_signed ? int64_t{static_cast<int32_t>(c)} : int64_t{c};
    if (minus_product) v = -v;
    v += minus_c ? -addend : addend;
    if ((modifiers_ & kVideoPlusOne) != 0) v += 1;
    v >>= (modifiers_ & kVideoShift7) != 0 ? 7 : (modifiers_ & kVideoShift15) != 0 ? 15 : 0;
    if (has(kVideoSat)) {
      const __int128 high = (static_cast<__int128>(1) << (is_signed ? 31 : 32)) - 1;
      v = std::clamp<__int128>(v, is_signed ? -high - 1 : 0, high);
    }
    return static_cast<uint32_t>(v);
  }

  const VideoForm form_;
  const uint8_t modifiers_;
};

}  // namespace

void execute_video(const MicroOp& op, WarpContext& ctx, LaneMask mask) {
  const Lane lane(VideoForm::unpacked(op.imm), op.modifiers);
  const auto words = [&ctx](const RowRef& r) { return reinterpret_cast<uint32_t*>(ctx.row(r)); };
  const uint32_t *a = words(op.src[0]), *b = words(op.src[1]), *c = words(op.src[2]);
  uint32_t* const d = words(op.dst[0]);
  for (uint32_t left = mask.bits(); left != 0; left &= left - 1) {
    const int l = std::countr_zero(left);
    d[l] = lane.result(a[l], b[l], c[l]);
  }
}

}  // namespace gpusim::isa
