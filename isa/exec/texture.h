// Textures as tex and txq read them: the sampling rules of the CUDA C++ Programming Guide, appendix "Texture
// Fetching" (point and linear filtering, address modes, normalized coordinates), on texels that lie row by
// row in device memory. Where the guide is silent the rules are ours (docs/launch_file.md, [[texture]]).
// Values are computed in double precision, whose sums and products are exact here but for the last rounding,
// so that they depend on no instruction set.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "isa/exec/executor.h"
#include "isa/ptx/opcodes.h"

namespace gpusim::isa {

/// In the order of their numbers in txq.addr_mode (PTX ISA, opaque types: wrap, mirror, clamp_ogl,
/// clamp_to_edge, clamp_to_border).
enum class AddressMode : uint8_t { kWrap = 0, kMirror = 1, kClamp = 3, kBorder = 4 };

/// Texels of one size. Texel (x, y, z) of a layer lies at x texels + y * pitch + (z + layer * depth) * height
/// * pitch bytes behind `address`.
struct TextureLevel {
  const std::byte* data = nullptr;  ///< host byte of `address`
  uint64_t address = 0;             ///< device address
  std::array<uint32_t, 3> size{1, 1, 1};
  uint64_t pitch = 0;  ///< bytes from row to row
  uint64_t tiles = 0;  ///< address at which the timing model sees it, in tiles; 0: it lies row by row
};

/// A texture bound for a run; what it inherits is its first level.
struct Texture : TextureLevel {
  std::byte* surface = nullptr;  ///< TextureLevel::data, if surface stores may write there
  Type format = Type::kF32;      ///< of a channel: u8 s8 u16 s16 u32 s32 f16 f32
  uint8_t channels = 1;          ///< 1, 2, 4
  uint8_t dimensions = 1;        ///< 1, 2, 3
  bool array = false;            ///< has layers (dimensions 1 or 2)
  bool cube = false;             ///< each six layers are the faces of a cube; array is true
  bool linear_filter = false;
  bool normalized = false;        ///< coordinates from 0 to 1
  bool normalized_float = false;  ///< integer texels are read as 0..1 or -1..1
  bool srgb = false;              ///< the first three channels of normalized bytes are in sRGB
  uint32_t layers = 1;
  std::array<AddressMode, 3> address_mode{AddressMode::kClamp, AddressMode::kClamp, AddressMode::kClamp};
  std::array<float, 4> border{};     ///< what is outside has; for integers that are read as such, their bits
  std::vector<TextureLevel> levels;  ///< all levels, if there are several
  bool linear_levels = false;        ///< the two nearest levels are weighed
  float level_bias = 0, least_level = 0, most_level = 0;

  [[nodiscard]] uint32_t texel_bytes() const { return channels * static_cast<uint32_t>(type_bytes(format)); }
};

/// Place of a byte of a tiled texture: tiles of 64 bytes by 8 rows, within which 32-byte sectors are 16 bytes
/// by 2 rows, pairs of sectors 32 bytes by 2 rows, and so on ("GOB" of the Tegra X1 Technical Reference
/// Manual, pixel memory formats). `x`: byte in the row; `row_bytes`: of a row.
[[nodiscard]] constexpr uint64_t tiled_offset(uint64_t x, uint64_t y, uint64_t row_bytes) {
  const uint64_t tile = y / 8 * ((row_bytes + 63) / 64) + x / 64;
  return tile * 512 + x % 64 / 32 * 256 + y % 8 / 2 * 64 + x % 32 / 16 * 32 + y % 2 * 16 + x % 16;
}
/// Bytes of the whole texture in tiles, all slices and layers.
[[nodiscard]] uint64_t tiled_bytes(const Texture& texture);

inline constexpr uint32_t kCubeFaces = 6;
/// That one fetch reads: linear filtering in three dimensions, in two levels.
inline constexpr int kMaxTexels = 16;

/// One thread's fetch: coordinates in, four 32-bit components and the texels that were read out.
struct TextureFetch {
  std::array<double, 3> position{};  ///< exact value of the f32 or s32 coordinates
  uint32_t layer = 0;
  double level = 0;
  bool integer = false;             ///< the coordinates are texel numbers (never filtered or normalized)
  std::array<int32_t, 3> offset{};  ///< texels from there, in every level
  std::array<uint32_t, 4> value{};
  std::array<uint64_t, kMaxTexels> texel{};  ///< as timing sees them; texels outside are not read
  int texels = 0;
};
void fetch(const Texture& texture, TextureFetch& f);
/// The level of two gradients of the coordinates: of the longer one, so that steps between lanes are a
/// texel's.
[[nodiscard]] double level_of(const Texture& texture, const std::array<std::array<double, 3>, 2>& gradients);
/// Component `component` of each of the four texels that a linear filter would weigh (tld4).
void gather(const Texture& texture, size_t component, TextureFetch& f);

/// True if tex with this geometry can read the texture.
[[nodiscard]] bool has_shape(const Texture& texture, TextureShape shape);
/// Dimensions of a geometry, without the layer.
[[nodiscard]] int shape_dimensions(TextureShape shape);
[[nodiscard]] bool is_array_shape(TextureShape shape);

/// tex: src[0] is the handle; behind it the coordinates, the layer of a shape with layers, and the level or
/// the two gradients, if the TextureLod in the bits of `imm` from kTextureLodShift on says so; the lower ones
/// are the TextureShape. With kTextureOffset the last sources are offsets in texels. `modifiers` is 1 if the
/// coordinates are integers. For the timing model `access` holds the 32-byte sectors that the warp reads, one
/// in each lane's place (at most 32 of them).
inline constexpr int kTextureLodShift = 8;
inline constexpr uint64_t kTextureOffset = uint64_t{1} << 16;
void execute_tex(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access);
/// tld4: like tex with two dimensions, with the component that is gathered in MicroOp::modifiers.
void execute_tld4(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access);
/// txq: src[0] is the handle, src[1] the level whose size is asked for, `imm` the TextureQuery. Takes no
/// memory access.
void execute_txq(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access);

}  // namespace gpusim::isa
