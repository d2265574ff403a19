#include "isa/exec/surface.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace gpusim::isa {
namespace {

template <class T>
T* lanes_of(const RowRef& ref, const WarpContext& ctx) {
  return reinterpret_cast<T*>(ctx.row(ref));
}

void stop(MemoryAccess& access, FaultKind kind, int lane, uint64_t address) {
  access.fault = kind;
  access.fault_lane = static_cast<uint8_t>(lane);
  access.fault_address = address;
}

/// Where a lane's access lies, in bytes from the first of the surface.
struct Place {
  uint64_t offset = 0;
  bool inside = false;  ///< else nothing is read or written there
};

class SurfaceAccess {
 public:
  SurfaceAccess(const MicroOp& op, WarpContext& ctx, MemoryAccess& access)
      : op_(op),
        ctx_(ctx),
        access_(access),
        form_(SurfaceForm::unpacked(op.imm)),
        dimensions_(static_cast<size_t>(shape_dimensions(form_.shape))) {
    access.lanes = LaneMask();
    access.space = Space::kGlobal;
    access.bytes = kSector;
    access.fault = FaultKind::kNone;
    access.set_shape(AccessShape::kOther);
  }

  /// Calls use(lane, surface, place) for each lane until one faults, then tells the timing model of the
  /// sectors.
  template <class Use>
  void each(LaneMask mask, bool writes, Use use) {
    const auto* handles = lanes_of<const uint64_t>(op_.src[0], ctx_);
    for (uint32_t left = mask.bits(); left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      const Texture* surface = ctx_.global->texture(handles[lane]);
      if (surface == nullptr) return stop(access_, FaultKind::kNoTexture, lane, handles[lane]);
      if (!has_shape(*surface, form_.shape))
        return stop(access_, FaultKind::kTextureShape, lane, handles[lane]);
      if (writes && surface->surface == nullptr)
        return stop(access_, FaultKind::kNoSurface, lane, handles[lane]);
      const Place place = locate(*surface, lane);
      if (access_.fault != FaultKind::kNone) return;
      use(lane, *surface, place);
      if (place.inside) add_sector(surface->address + place.offset);
    }
    access_.lanes = LaneMask::first(static_cast<int>(sectors_));
  }
  [[nodiscard]] const SurfaceForm& form() const { return form_; }
  /// Number of the first source behind the coordinates.
  [[nodiscard]] size_t first_value() const { return 1 + dimensions_ + (is_array_shape(form_.shape) ? 1 : 0); }

 private:
  static constexpr uint64_t kSector = 32;

  Place locate(const Texture& t, int lane) {
    const int64_t bytes = form_.formatted ? t.texel_bytes() : int64_t{form_.element_bytes} * form_.elements;
    std::array<int64_t, 3> at{}, last{};
    for (size_t d = 0; d < dimensions_; ++d) {
      at[d] = lanes_of<const int32_t>(op_.src[1 + d], ctx_)[lane];
      last[d] = int64_t{t.size[d]} - 1;
    }
    if (form_.formatted) at[0] *= bytes;
    last[0] = int64_t{t.size[0]} * t.texel_bytes() - bytes;
    int64_t layer = 0;
    if (is_array_shape(form_.shape)) layer = lanes_of<const int32_t>(op_.src[1 + dimensions_], ctx_)[lane];
    Place place;
    place.inside = layer >= 0 && layer < t.layers;
    for (size_t d = 0; d < dimensions_; ++d) place.inside = place.inside && at[d] >= 0 && at[d] <= last[d];
    const bool aligned = at[0] % bytes == 0;
    if (!aligned || (!place.inside && form_.edge == SurfaceEdge::kTrap)) {
      stop(access_, aligned ? FaultKind::kSurface : FaultKind::kMisaligned, lane,
           static_cast<uint64_t>(at[0]));
      return place;
    }
    if (!place.inside && form_.edge == SurfaceEdge::kClamp) {
      place.inside = last[0] >= 0;
      for (size_t d = 0; d < dimensions_; ++d)
        at[d] = std::clamp(at[d], int64_t{0}, std::max(last[d], int64_t{0}));
      layer = std::clamp(layer, int64_t{0}, int64_t{t.layers} - 1);
    }
    const int64_t row = (layer * t.size[2] + at[2]) * t.size[1] + at[1];
    place.offset = static_cast<uint64_t>(row) * t.pitch + static_cast<uint64_t>(at[0]);
    return place;
  }

  void add_sector(uint64_t address) {
    address &= ~(kSector - 1);
    const uint64_t* const end = access_.address + sectors_;
    if (std::find(static_cast<const uint64_t*>(access_.address), end, address) == end)
      access_.address[sectors_++] = address;
  }

  const MicroOp& op_;
  WarpContext& ctx_;
  MemoryAccess& access_;
  SurfaceForm form_;
  size_t dimensions_;
  uint32_t sectors_ = 0;
};

bool is_wide(const MicroOp& op, size_t value) { return (op.modifiers >> value & 1) != 0; }
uint64_t value_of(const MicroOp& op, const WarpContext& ctx, size_t source, bool wide, int lane) {
  const RowRef& row = op.src[source];
  return wide ? lanes_of<const uint64_t>(row, ctx)[lane] : lanes_of<const uint32_t>(row, ctx)[lane];
}

/// The nearest f16, of two the even one.
uint16_t half_bits(float value) {
  constexpr uint16_t kNaN = 0x7fff, kInfinity = 0x7c00;
  constexpr int kMantissa = 10, kLeastExponent = -14;
  if (std::isnan(value)) return kNaN;
  const float magnitude = std::abs(value);
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (magnitude >= 65536) return sign | kInfinity;
  const int exponent = magnitude == 0 ? kLeastExponent : std::max(std::ilogb(magnitude), kLeastExponent);
  // A mantissa that is rounded up to the next power of two carries into the exponent.
  const auto mantissa = static_cast<int>(std::nearbyint(std::ldexp(magnitude, kMantissa - exponent)));
  return static_cast<uint16_t>(sign | (((exponent - kLeastExponent) << kMantissa) + mantissa));
}

/// The bits of a channel of `format` that holds the 32-bit number: integers beyond its range become the
/// nearest one in it.
uint32_t channel_bits(Type format, uint32_t bits) {
  const auto clamped = [bits](int64_t least, int64_t most) {
    return static_cast<uint32_t>(std::clamp<int64_t>(static_cast<int32_t>(bits), least, most));
  };
  switch (format) {
    case Type::kU8:
      return std::min(bits, uint32_t{UINT8_MAX});
    case Type::kU16:
      return std::min(bits, uint32_t{UINT16_MAX});
    case Type::kS8:
      return clamped(INT8_MIN, INT8_MAX);
    case Type::kS16:
      return clamped(INT16_MIN, INT16_MAX);
    case Type::kF16:
      return half_bits(std::bit_cast<float>(bits));
    default:
      return bits;
  }
}

/// sust.p: the channels that texel and vector both have.
void store_texel(const MicroOp& op, const WarpContext& ctx, size_t first, size_t elements, const Texture& t,
                 std::byte* to, int lane) {
  const auto bytes = static_cast<size_t>(type_bytes(t.format));
  for (size_t c = 0; c < std::min<size_t>(elements, t.channels); ++c) {
    const uint64_t value = value_of(op, ctx, first + c, is_wide(op, c), lane);
    const uint32_t bits = channel_bits(t.format, static_cast<uint32_t>(value));
    std::memcpy(to + c * bytes, &bits, bytes);
  }
}

template <class T>
T reduced(SurfaceReduction reduction, T old, T by) {
  switch (reduction) {
    case SurfaceReduction::kMin:
      return std::min(old, by);
    case SurfaceReduction::kMax:
      return std::max(old, by);
    case SurfaceReduction::kAnd:
      return old & by;
    case SurfaceReduction::kOr:
      return old | by;
    default:
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(old) +
                            static_cast<std::make_unsigned_t<T>>(by));
  }
}
template <class T>
void reduce(SurfaceReduction reduction, std::byte* at, uint64_t by) {
  T number{};
  std::memcpy(&number, at, sizeof(number));
  number = reduced(reduction, number, static_cast<T>(by));
  std::memcpy(at, &number, sizeof(number));
}

}  // namespace

void execute_suld(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access) {
  SurfaceAccess surfaces(op, ctx, access);
  const SurfaceForm form = surfaces.form();
  // Results wait until every lane has read its coordinates: they may share rows.
  std::array<std::array<uint64_t, kWarpSize>, 4> values{};
  surfaces.each(mask, false, [&](int lane, const Texture& t, const Place& place) {
    for (size_t e = 0; e < form.elements && place.inside; ++e)
      std::memcpy(&values[e][static_cast<size_t>(lane)], t.data + place.offset + e * form.element_bytes,
                  form.element_bytes);
  });
  if (access.fault != FaultKind::kNone) return;
  for (size_t e = 0; e < op.num_dst; ++e) {
    for (uint32_t left = mask.bits(); left != 0; left &= left - 1) {
      const auto lane = static_cast<size_t>(std::countr_zero(left));
      if (is_wide(op, e))
        lanes_of<uint64_t>(op.dst[e], ctx)[lane] = values[e][lane];
      else
        lanes_of<uint32_t>(op.dst[e], ctx)[lane] = static_cast<uint32_t>(values[e][lane]);
    }
  }
}

void execute_sust(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access) {
  SurfaceAccess surfaces(op, ctx, access);
  const SurfaceForm form = surfaces.form();
  surfaces.each(mask, true, [&](int lane, const Texture& t, const Place& place) {
    if (!place.inside) return;
    if (form.formatted)
      return store_texel(op, ctx, surfaces.first_value(), form.elements, t, t.surface + place.offset, lane);
    for (size_t e = 0; e < form.elements; ++e) {
      const uint64_t value = value_of(op, ctx, surfaces.first_value() + e, is_wide(op, e), lane);
      std::memcpy(t.surface + place.offset + e * form.element_bytes, &value, form.element_bytes);
    }
  });
}

void execute_sured(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access) {
  SurfaceAccess surfaces(op, ctx, access);
  const SurfaceForm form = surfaces.form();
  const bool wide = form.element_bytes == sizeof(uint64_t);
  surfaces.each(mask, true, [&](int lane, const Texture& t, const Place& place) {
    if (!place.inside) return;
    const bool is_number = !form.formatted || (!is_float(t.format) && t.texel_bytes() >= form.element_bytes);
    if (!is_number) return stop(access, FaultKind::kTextureShape, lane, t.address + place.offset);
    const uint64_t by = value_of(op, ctx, surfaces.first_value(), is_wide(op, 0), lane);
    std::byte* const at = t.surface + place.offset;
    if (form.formatted ? is_signed(t.format) : form.is_signed)
      wide ? reduce<int64_t>(form.reduction, at, by) : reduce<int32_t>(form.reduction, at, by);
    else
      wide ? reduce<uint64_t>(form.reduction, at, by) : reduce<uint32_t>(form.reduction, at, by);
  });
}

}  // namespace gpusim::isa
