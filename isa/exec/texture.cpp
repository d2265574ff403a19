#include "isa/exec/texture.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

namespace gpusim::isa {
namespace {

constexpr uint64_t kSectorBytes = 32;
constexpr double kWeightOne = 256;  // weights have eight bits of fraction and may be 1.0
constexpr uint32_t kNan = 0x7fff'ffff;

double half_value(uint16_t h) {
  const int exponent = (h >> 10) & 31;
  const double mantissa = h & 0x3ff;
  double v = exponent == 0    ? std::ldexp(mantissa, -24)
             : exponent == 31 ? (mantissa == 0 ? HUGE_VAL : std::nan(""))
                              : std::ldexp(mantissa + 1024, exponent - 25);
  return h & 0x8000 ? -v : v;
}

template <class T>
T read(const std::byte* p) {
  T v;
  std::memcpy(&v, p, sizeof(T));
  return v;
}

uint32_t float_bits(double v) {
  return std::isnan(v) ? kNan : std::bit_cast<uint32_t>(static_cast<float>(v));
}

/// The channel's number.
double channel_value(Type format, const std::byte* p) {
  switch (format) {
    case Type::kU8:
      return read<uint8_t>(p);
    case Type::kS8:
      return read<int8_t>(p);
    case Type::kU16:
      return read<uint16_t>(p);
    case Type::kS16:
      return read<int16_t>(p);
    case Type::kF16:
      return half_value(read<uint16_t>(p));
    default:
      return read<float>(p);
  }
}

/// What a normalized integer channel is divided by.
double largest(Type format) {
  switch (format) {
    case Type::kU8:
      return 255;
    case Type::kS8:
      return 127;
    case Type::kU16:
      return 65535;
    default:
      return 32767;
  }
}

/// A channel as an unfiltered read in element mode gives it.
uint32_t element_bits(Type format, const std::byte* p) {
  switch (format) {
    case Type::kU8:
      return read<uint8_t>(p);
    case Type::kS8:
      return static_cast<uint32_t>(int32_t{read<int8_t>(p)});
    case Type::kU16:
      return read<uint16_t>(p);
    case Type::kS16:
      return static_cast<uint32_t>(int32_t{read<int16_t>(p)});
    case Type::kF16:
      return float_bits(half_value(read<uint16_t>(p)));
    default:
      return read<uint32_t>(p);
  }
}

/// Texel number `i` (a whole number, or infinite) by the address mode; -1: outside, the border colour.
int64_t resolve(AddressMode mode, double i, uint32_t size) {
  const double n = size;
  switch (mode) {
    case AddressMode::kBorder:
      return i >= 0 && i < n ? static_cast<int64_t>(i) : -1;
    case AddressMode::kClamp:
      return static_cast<int64_t>(std::clamp(i, 0.0, n - 1));
    case AddressMode::kWrap:
    case AddressMode::kMirror:
      break;
  }
  if (std::isinf(i)) return 0;
  const double period = mode == AddressMode::kWrap ? n : 2 * n;
  double m = std::fmod(i, period);
  if (m < 0) m += period;
  if (m >= n) m = period - 1 - m;
  return static_cast<int64_t>(m);
}

/// The one or two texels of a dimension and their weights in 1/256.
struct Taps {
  int count = 1;
  std::array<int64_t, 2> index{};
  std::array<double, 2> weight{kWeightOne, 0};
};

/// Wrapping and mirroring need normalized coordinates, clamping stands in otherwise (CUDA C++ Programming
/// Guide, "Texture Object API"). A fetch by texel number from a one-dimensional texture (tex1Dfetch) reads 0
/// outside, whatever the mode.
AddressMode effective_mode(const Texture& t, const TextureFetch& f, size_t dimension) {
  if (f.integer && t.dimensions == 1 && !t.array) return AddressMode::kBorder;
  const AddressMode mode = t.address_mode[dimension];
  const bool periodic = mode == AddressMode::kWrap || mode == AddressMode::kMirror;
  return periodic && (f.integer || !t.normalized) ? AddressMode::kClamp : mode;
}

Taps taps_of(const Texture& t, const TextureLevel& level, const TextureFetch& f, size_t dimension,
             bool linear) {
  Taps taps;
  const uint32_t size = level.size[dimension];
  const AddressMode mode = effective_mode(t, f, dimension);
  double x = f.position[dimension];
  if (std::isnan(x)) x = 0;
  if (t.normalized && !f.integer) x *= size;
  x += f.offset[dimension];
  if (f.integer) {
    taps.index[0] = resolve(mode, x, size);
    return taps;
  }
  if (!linear) {
    taps.index[0] = resolve(mode, std::floor(x), size);
    return taps;
  }
  x -= 0.5;
  const double low = std::floor(x);
  const double fraction = std::isinf(x) ? 0 : std::floor((x - low) * kWeightOne + 0.5);
  taps.count = 2;
  taps.index = {resolve(mode, low, size), resolve(mode, low + 1, size)};
  taps.weight = {kWeightOne - fraction, fraction};
  return taps;
}

uint64_t row_bytes(const Texture& t, const TextureLevel& level) {
  return uint64_t{level.size[0]} * t.texel_bytes();
}
/// Of a tiled texture.
uint64_t slice_bytes(const Texture& t, const TextureLevel& level) {
  return (row_bytes(t, level) + 63) / 64 * ((uint64_t{level.size[1]} + 7) / 8) * 512;
}

/// A channel in sRGB as a linear one, both from 0 to 1 (IEC 61966-2-1).
double from_srgb(double v) { return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4); }

/// Reads texels and adds them up.
class Sampler {
 public:
  Sampler(const Texture& texture, TextureFetch& f)
      : texture_(texture), f_(f), channel_bytes_(static_cast<size_t>(type_bytes(texture.format))) {}

  /// A texel of a level with its weight; a weight of 0 hides even a NaN.
  void add(const TextureLevel& level, const std::array<int64_t, 3>& index, double weight) {
    if (weight == 0) return;
    if (std::ranges::any_of(index, [](int64_t i) { return i < 0; })) return add_border(weight);
    const uint64_t offset = offset_of(level, index);
    f_.texel[static_cast<size_t>(f_.texels++)] = timed_address(level, index, offset);
    const std::byte* p = level.data + offset;
    for (size_t c = 0; c < texture_.channels; ++c, p += channel_bytes_) {
      if (filtered())
        sum_[c] += weight * value(p, c);
      else
        f_.value[c] = element_bits(texture_.format, p);
    }
  }

  /// Components that the texture does not have read as 0, the fourth as 1.
  void finish(double total_weight) {
    for (size_t c = 0; c < texture_.channels && filtered(); ++c) {
      const double mean = sum_[c] / total_weight;
      f_.value[c] = float_bits(texture_.normalized_float ? mean / largest(texture_.format) : mean);
    }
    if (texture_.channels < 4) f_.value[3] = returns_float() ? std::bit_cast<uint32_t>(1.0f) : 1;
  }

 private:
  [[nodiscard]] bool filtered() const {
    return texture_.normalized_float ||
           ((texture_.linear_filter || (texture_.linear_levels && !texture_.levels.empty())) && !f_.integer);
  }
  void add_border(double weight) {
    // A texel of a row that is fetched by its number is 0 outside.
    if (f_.integer && texture_.dimensions == 1 && !texture_.array) return;
    for (size_t c = 0; c < texture_.channels; ++c) {
      const float v = texture_.border[c];
      if (filtered())
        sum_[c] += weight * (texture_.normalized_float ? v * largest(texture_.format) : v);
      else
        f_.value[c] = std::bit_cast<uint32_t>(v);
    }
  }
  [[nodiscard]] bool returns_float() const { return texture_.normalized_float || is_float(texture_.format); }
  [[nodiscard]] uint64_t offset_of(const TextureLevel& level, const std::array<int64_t, 3>& index) const {
    const auto x = static_cast<uint64_t>(index[0]), y = static_cast<uint64_t>(index[1]),
               z = static_cast<uint64_t>(index[2]);
    const uint64_t row = (uint64_t{f_.layer} * level.size[2] + z) * level.size[1] + y;
    return row * level.pitch + x * texture_.texel_bytes();
  }
  [[nodiscard]] uint64_t timed_address(const TextureLevel& level, const std::array<int64_t, 3>& index,
                                       uint64_t offset) const {
    if (level.tiles == 0) return level.address + offset;
    const uint64_t slice = uint64_t{f_.layer} * level.size[2] + static_cast<uint64_t>(index[2]);
    return level.tiles + slice * slice_bytes(texture_, level) +
           tiled_offset(static_cast<uint64_t>(index[0]) * texture_.texel_bytes(),
                        static_cast<uint64_t>(index[1]), row_bytes(texture_, level));
  }
  [[nodiscard]] double value(const std::byte* p, size_t channel) const {
    const double v = channel_value(texture_.format, p);
    constexpr size_t kColours = 3;
    if (texture_.srgb && channel < kColours)
      return largest(texture_.format) * from_srgb(v / largest(texture_.format));
    return texture_.normalized_float ? std::max(v, -largest(texture_.format)) : v;
  }

  const Texture& texture_;
  TextureFetch& f_;
  const size_t channel_bytes_;
  std::array<double, 4> sum_{};
};

/// Distinct sectors of a warp's texels, for the timing model.
void add_sectors(const TextureFetch& f, MemoryAccess& access, uint32_t& count) {
  for (size_t i = 0; i < static_cast<size_t>(f.texels); ++i) {
    const uint64_t sector = f.texel[i] & ~(kSectorBytes - 1);
    const uint64_t* end = access.address + count;
    if (count == kWarpSize || std::find(std::as_const(access.address), end, sector) != end) continue;
    access.address[count++] = sector;
  }
}

template <class T>
T* row(const RowRef& ref, const WarpContext& ctx) {
  return reinterpret_cast<T*>(ctx.bank[static_cast<size_t>(ref.bank)] + ref.offset);
}

void open(MemoryAccess& access) {
  access.lanes = LaneMask();
  access.space = Space::kGlobal;
  access.bytes = kSectorBytes;
  access.fault = FaultKind::kNone;
  access.set_shape(AccessShape::kOther);
}

/// The lane's texture; `last` and `texture` remember the one of the lane before. Nullptr after a fault.
const Texture* find(const WarpContext& ctx, uint64_t handle, int lane, uint64_t& last, const Texture* texture,
                    MemoryAccess& access) {
  if (texture == nullptr || handle != last) texture = ctx.global->texture(handle);
  last = handle;
  if (texture != nullptr) return texture;
  access.fault = FaultKind::kNoTexture;
  access.fault_lane = static_cast<uint8_t>(lane);
  access.fault_address = handle;
  return nullptr;
}

TextureShape shape_of(const MicroOp& op) {
  constexpr uint64_t kShapes = (uint64_t{1} << kTextureLodShift) - 1;
  return static_cast<TextureShape>(op.imm & kShapes);
}

/// Reads the lanes' coordinates, calls read(texture, fetch, lane) for each and gives them the values.
template <class Read>
void read_texture(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access, bool integer,
                  Read read) {
  open(access);
  const TextureShape shape = shape_of(op);
  const auto dimensions = static_cast<size_t>(shape_dimensions(shape));
  const auto* handles = row<const uint64_t>(op.src[0], ctx);
  TextureFetch f;
  f.integer = integer;
  uint32_t sectors = 0;
  uint64_t last = 0;
  const Texture* texture = nullptr;
  // Results wait until every lane has read its coordinates: they may share rows.
  uint32_t value[4][kWarpSize];
  for (uint32_t left = mask.bits(); left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    texture = find(ctx, handles[lane], lane, last, texture, access);
    if (texture == nullptr) return;
    if (!has_shape(*texture, shape)) {
      access.fault = FaultKind::kTextureShape;
      access.fault_lane = static_cast<uint8_t>(lane);
      access.fault_address = handles[lane];
      return;
    }
    for (size_t d = 0; d < dimensions; ++d) {
      const RowRef& source = op.src[1 + d];
      f.position[d] = f.integer ? static_cast<double>(row<const int32_t>(source, ctx)[lane])
                                : double{row<const float>(source, ctx)[lane]};
    }
    for (size_t d = 0; d < dimensions && (op.imm & kTextureOffset) != 0; ++d)
      f.offset[d] = row<const int32_t>(op.src[op.num_src - dimensions + d], ctx)[lane];
    f.layer = is_array_shape(shape) ? row<const uint32_t>(op.src[1 + dimensions], ctx)[lane] : 0;
    read(*texture, f, lane);
    add_sectors(f, access, sectors);
    for (size_t c = 0; c < 4; ++c) value[c][lane] = f.value[c];
  }
  for (size_t c = 0; c < op.num_dst; ++c) {
    auto* to = row<uint32_t>(op.dst[c], ctx);
    for (uint32_t left = mask.bits(); left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      to[lane] = value[c][lane];
    }
  }
  access.lanes = LaneMask::first(static_cast<int>(sectors));
}

/// Numbers of OpenCL's cl_channel_type and cl_channel_order, which txq returns (PTX ISA, txq).
uint32_t channel_data_type(const Texture& t) {
  const bool norm = t.normalized_float;
  switch (t.format) {
    case Type::kU8:
      return norm ? 0x10d2 : 0x10da;
    case Type::kS8:
      return norm ? 0x10d0 : 0x10d7;
    case Type::kU16:
      return norm ? 0x10d3 : 0x10db;
    case Type::kS16:
      return norm ? 0x10d1 : 0x10d8;
    case Type::kS32:
      return 0x10d9;
    case Type::kU32:
      return 0x10dc;
    case Type::kF16:
      return 0x10dd;
    default:
      return 0x10de;
  }
}
uint32_t channel_order(const Texture& t) {
  return t.channels == 1 ? 0x10b0 : t.channels == 2 ? 0x10b2 : 0x10b5;
}

/// A level that does not exist has no size, which the manual leaves open.
uint32_t size_of(const Texture& t, size_t dimension, uint32_t level) {
  if (dimension >= t.dimensions || level >= std::max<size_t>(t.levels.size(), 1)) return 0;
  return t.levels.empty() ? t.size[dimension] : t.levels[level].size[dimension];
}

uint32_t answer(const Texture& t, TextureQuery query, uint32_t level) {
  switch (query) {
    case TextureQuery::kWidth:
      return size_of(t, 0, level);
    case TextureQuery::kHeight:
      return size_of(t, 1, level);
    case TextureQuery::kDepth:
      return size_of(t, 2, level);
    case TextureQuery::kLevels:
      return static_cast<uint32_t>(std::max<size_t>(t.levels.size(), 1));
    case TextureQuery::kArraySize:
      return t.array ? t.layers : 0;
    case TextureQuery::kChannelDataType:
      return channel_data_type(t);
    case TextureQuery::kChannelOrder:
      return channel_order(t);
    case TextureQuery::kNormalizedCoords:
      return t.normalized ? 1 : 0;
    case TextureQuery::kFilterMode:
      return t.linear_filter ? 1 : 0;
    case TextureQuery::kAddressMode0:
      return static_cast<uint32_t>(t.address_mode[0]);
    case TextureQuery::kAddressMode1:
      return static_cast<uint32_t>(t.address_mode[1]);
    case TextureQuery::kAddressMode2:
      return static_cast<uint32_t>(t.address_mode[2]);
    case TextureQuery::kNone:
      break;
  }
  return 0;
}

}  // namespace

int shape_dimensions(TextureShape shape) {
  switch (shape) {
    case TextureShape::k3d:
    case TextureShape::kCube:
    case TextureShape::kACube:
      return 3;  // of a cube: the direction
    case TextureShape::k2d:
    case TextureShape::kA2d:
      return 2;
    default:
      return 1;
  }
}
uint64_t tiled_bytes(const Texture& t) { return slice_bytes(t, t) * t.size[2] * t.layers; }
bool is_array_shape(TextureShape shape) {
  return shape == TextureShape::kA1d || shape == TextureShape::kA2d || shape == TextureShape::kACube;
}
bool has_shape(const Texture& texture, TextureShape shape) {
  if (shape == TextureShape::kCube) return texture.cube && texture.layers == kCubeFaces;
  if (shape == TextureShape::kACube) return texture.cube;
  return texture.dimensions == shape_dimensions(shape) && texture.array == is_array_shape(shape);
}

namespace {

/// Adds the texels of a level, each with `share` of its weight.
void add_level(const Texture& texture, const TextureLevel& level, const TextureFetch& f, double share,
               Sampler& sampler) {
  std::array<Taps, 3> taps;
  for (size_t d = 0; d < texture.dimensions; ++d)
    taps[d] = taps_of(texture, level, f, d, texture.linear_filter);
  for (size_t d = texture.dimensions; d < taps.size(); ++d) taps[d].weight[0] = 1;
  for (size_t z = 0; z < static_cast<size_t>(taps[2].count); ++z)
    for (size_t y = 0; y < static_cast<size_t>(taps[1].count); ++y)
      for (size_t x = 0; x < static_cast<size_t>(taps[0].count); ++x)
        sampler.add(level, {taps[0].index[x], taps[1].index[y], taps[2].index[z]},
                    share * taps[0].weight[x] * taps[1].weight[y] * taps[2].weight[z]);
}

/// The level that is asked for, with the texture's bias and within its bounds.
double wanted_level(const Texture& texture, const TextureFetch& f) {
  const double last = static_cast<double>(texture.levels.size() - 1);
  const double biased = f.level + texture.level_bias, level = std::isnan(biased) ? 0 : biased;
  return std::clamp(std::min<double>(std::max<double>(level, texture.least_level), texture.most_level), 0.0,
                    last);
}

}  // namespace

void fetch(const Texture& texture, TextureFetch& f) {
  f.value = {};
  f.texels = 0;
  f.layer = std::min(f.layer, texture.layers - 1);
  double total = 1;
  for (size_t d = 0; d < texture.dimensions; ++d) total *= kWeightOne;
  Sampler sampler(texture, f);
  if (texture.levels.empty()) {
    add_level(texture, texture, f, 1, sampler);
    return sampler.finish(total);
  }
  const double level = wanted_level(texture, f);
  if (!texture.linear_levels) {  // the nearest
    add_level(texture, texture.levels[static_cast<size_t>(level + 0.5)], f, 1, sampler);
    return sampler.finish(total);
  }
  const double low = std::floor(level), share = std::floor((level - low) * kWeightOne + 0.5);
  const auto first = static_cast<size_t>(low);
  add_level(texture, texture.levels[first], f, kWeightOne - share, sampler);
  if (share != 0) add_level(texture, texture.levels[first + 1], f, share, sampler);
  sampler.finish(total * kWeightOne);
}

double level_of(const Texture& texture, const std::array<std::array<double, 3>, 2>& gradients) {
  double longest = 0;
  for (const std::array<double, 3>& gradient : gradients) {
    double square = 0;
    for (size_t d = 0; d < texture.dimensions; ++d) {
      const double texels = gradient[d] * (texture.normalized ? texture.size[d] : 1);
      square += texels * texels;
    }
    longest = std::max(longest, square);
  }
  return std::log2(longest) / 2;
}

namespace {

using Vector = std::array<double, 3>;

/// A direction's part along the middle of a face of a cube, and across it (CUDA C++ Programming Guide,
/// "Cubemap Textures"): m, s, t.
Vector in_face(uint32_t face, const Vector& direction) {
  const auto [x, y, z] = direction;
  switch (face) {
    case 0:
      return {x, -z, -y};
    case 1:
      return {-x, z, -y};
    case 2:
      return {y, x, z};
    case 3:
      return {-y, x, -z};
    case 4:
      return {z, x, -y};
    default:
      return {-z, -x, -y};
  }
}

/// Face and place of a direction in a cube: `position` becomes the place in the face, which `layer` gets as
/// well, and the gradients of the direction those of the place.
void look_at_cube(const Texture& texture, TextureFetch& f, std::array<Vector, 2>& gradients) {
  const auto [x, y, z] = f.position;
  const double ax = std::abs(x), ay = std::abs(y), az = std::abs(z);
  uint32_t face = z < 0 ? 5 : 4;
  if (ax >= ay && ax >= az)
    face = x < 0 ? 1 : 0;
  else if (ay >= az)
    face = y < 0 ? 3 : 2;
  const auto [m, s, t] = in_face(face, f.position);
  const double scale = texture.normalized ? 1 : texture.size[0];
  f.position = {(s / m + 1) / 2 * scale, (t / m + 1) / 2 * scale, f.position[2]};
  for (Vector& gradient : gradients) {
    const auto [dm, ds, dt] = in_face(face, gradient);
    gradient = {(ds * m - s * dm) / (m * m) / 2 * scale, (dt * m - t * dm) / (m * m) / 2 * scale, 0};
  }
  f.layer = std::min(f.layer, texture.layers / kCubeFaces - 1) * kCubeFaces + face;
}

}  // namespace

void gather(const Texture& texture, size_t component, TextureFetch& f) {
  f.layer = std::min(f.layer, texture.layers - 1);
  f.texels = 0;
  // The texels that a linear filter would weigh, each by itself.
  const Taps x = taps_of(texture, texture, f, 0, true), y = taps_of(texture, texture, f, 1, true);
  Texture single = texture;
  single.linear_filter = single.linear_levels = false;
  // Counter-clockwise from the one of the lower row and column.
  constexpr std::array<std::array<size_t, 2>, 4> kOrder{{{0, 1}, {1, 1}, {1, 0}, {0, 0}}};
  std::array<uint32_t, 4> gathered{};
  for (size_t i = 0; i < kOrder.size(); ++i) {
    f.value = {};
    Sampler sampler(single, f);
    sampler.add(texture, {x.index[kOrder[i][0]], y.index[kOrder[i][1]], 0}, 1);
    sampler.finish(1);
    gathered[i] = f.value[component];
  }
  f.value = gathered;
}

void execute_tld4(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access) {
  read_texture(op, ctx, mask, access, false,
               [&op](const Texture& t, TextureFetch& f, int) { gather(t, op.modifiers, f); });
}

void execute_tex(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access) {
  const TextureShape shape = shape_of(op);
  const bool cube = shape == TextureShape::kCube || shape == TextureShape::kACube;
  const auto lod = static_cast<TextureLod>(op.imm >> kTextureLodShift & 0xff);
  const auto dimensions = static_cast<size_t>(shape_dimensions(shape));
  const size_t first = 1 + dimensions + (is_array_shape(shape) ? 1 : 0);
  const auto number = [&](size_t source, int lane) {
    return op.modifiers != 0 ? static_cast<double>(row<const int32_t>(op.src[source], ctx)[lane])
                             : double{row<const float>(op.src[source], ctx)[lane]};
  };
  read_texture(op, ctx, mask, access, op.modifiers != 0, [&](const Texture& t, TextureFetch& f, int lane) {
    f.level = lod == TextureLod::kLevel ? number(first, lane) : 0;
    std::array<Vector, 2> gradients{};
    for (size_t i = 0; i < gradients.size() * dimensions && lod == TextureLod::kGrad; ++i)
      gradients[i / dimensions][i % dimensions] = number(first + i, lane);
    if (cube) look_at_cube(t, f, gradients);
    if (lod == TextureLod::kGrad) f.level = level_of(t, gradients);
    fetch(t, f);
  });
}

void execute_txq(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access) {
  open(access);
  const auto* handles = row<const uint64_t>(op.src[0], ctx);
  uint64_t last = 0;
  const Texture* texture = nullptr;
  uint32_t value[kWarpSize];
  for (uint32_t left = mask.bits(); left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    texture = find(ctx, handles[lane], lane, last, texture, access);
    if (texture == nullptr) return;
    const uint32_t level = row<const uint32_t>(op.src[1], ctx)[lane];
    value[lane] = answer(*texture, static_cast<TextureQuery>(op.imm), level);
  }
  auto* to = row<uint32_t>(op.dst[0], ctx);
  for (uint32_t left = mask.bits(); left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    to[lane] = value[lane];
  }
}

}  // namespace gpusim::isa
