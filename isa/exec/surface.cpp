#include "isa/exec/surface.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

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
    const int64_t bytes = int64_t{form_.element_bytes} * form_.elements;
    std::array<int64_t, 3> at{}, last{};
    for (size_t d = 0; d < dimensions_; ++d) {
      at[d] = lanes_of<const int32_t>(op_.src[1 + d], ctx_)[lane];
      last[d] = int64_t{t.size[d]} - 1;
    }
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
    for (size_t e = 0; e < form.elements && place.inside; ++e) {
      const RowRef& source = op.src[surfaces.first_value() + e];
      const uint64_t value = is_wide(op, e) ? lanes_of<const uint64_t>(source, ctx)[lane]
                                            : lanes_of<const uint32_t>(source, ctx)[lane];
      std::memcpy(t.surface + place.offset + e * form.element_bytes, &value, form.element_bytes);
    }
  });
}

}  // namespace gpusim::isa
