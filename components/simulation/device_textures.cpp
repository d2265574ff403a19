// Textures of the launch file: as the executor reads them, and bound to the texture references of the PTX.
#include <fmt/format.h>

#include <algorithm>

#include "components/simulation/device_contents.h"
#include "isa/exec/executor.h"
#include "isa/ptx/diagnostics.h"

namespace gpusim::comp {

namespace {

isa::Type texel_type(core::ElementType type) {
  switch (type) {
    case core::ElementType::kU8:
      return isa::Type::kU8;
    case core::ElementType::kS8:
      return isa::Type::kS8;
    case core::ElementType::kU16:
      return isa::Type::kU16;
    case core::ElementType::kS16:
      return isa::Type::kS16;
    case core::ElementType::kU32:
      return isa::Type::kU32;
    case core::ElementType::kS32:
      return isa::Type::kS32;
    case core::ElementType::kF16:
      return isa::Type::kF16;
    default:
      return isa::Type::kF32;
  }
}

isa::AddressMode address_mode(core::TextureAddress mode) {
  switch (mode) {
    case core::TextureAddress::kWrap:
      return isa::AddressMode::kWrap;
    case core::TextureAddress::kMirror:
      return isa::AddressMode::kMirror;
    case core::TextureAddress::kBorder:
      return isa::AddressMode::kBorder;
    default:
      return isa::AddressMode::kClamp;
  }
}

isa::Texture texture_of(const core::TextureSpec& spec) {
  isa::Texture t;
  t.format = texel_type(spec.format);
  t.channels = static_cast<uint8_t>(spec.channels);
  t.dimensions = static_cast<uint8_t>(spec.dimensions);
  t.array = spec.array;
  t.linear_filter = spec.linear_filter;
  t.normalized = spec.normalized;
  t.normalized_float = spec.normalized_float;
  t.size = spec.size;
  t.layers = spec.layers;
  t.pitch = spec.pitch;
  std::ranges::transform(spec.address, t.address_mode.begin(), address_mode);
  return t;
}

}  // namespace

void DeviceContents::place_textures() {
  // A tiled texture is a copy of its buffer (an array of the driver's), behind everything else; timing only.
  uint64_t tiles = uint64_t{1} << 42;
  const std::vector<core::TextureSpec>& specs = options_.launch.textures;
  for (const core::TextureSpec& spec : specs) {
    isa::Texture t = texture_of(spec);
    t.address = buffer_address_[spec.buffer];
    t.surface = memory_.find(t.address)->data;
    t.data = t.surface;
    if (options_.machine.texture.tiled && t.dimensions > 1) {
      t.tiles = tiles;
      tiles += isa::tiled_bytes(t);
    }
    textures_.push_back(t);
  }
  for (const isa::Variable& v : module_.variables) {
    if (!isa::is_texture(v)) continue;
    const auto spec = std::ranges::find(specs, v.name, &core::TextureSpec::name);
    if (spec == specs.end()) continue;
    variable_address_.emplace_back(&v, isa::texture_handle(static_cast<uint64_t>(spec - specs.begin())));
  }
  check_textures();
}

void DeviceContents::check_textures() const {
  const core::LaunchDescription& launch = options_.launch;
  for (size_t i = 0; i < launch.textures.size(); ++i) {
    const core::TextureSpec& spec = launch.textures[i];
    const bool passed = std::ranges::any_of(launch.launches, [i](const core::LaunchSpec& l) {
      return std::ranges::any_of(l.arguments, [i](const core::ArgumentSpec& a) {
        return a.kind == core::ArgumentSpec::Kind::kTexture && a.texture == i;
      });
    });
    const bool bound = std::ranges::any_of(variable_address_,
                                           [&](const auto& entry) { return entry.first->name == spec.name; });
    if (passed || bound) continue;
    isa::NearestName nearest(spec.name);
    for (const isa::Variable& v : module_.variables)
      if (isa::is_texture(v)) nearest.consider(v.name);
    core::raise_input_error(spec.where,
                            fmt::format("texture '{}' is not used: {} has no texture reference of that name, "
                                        "and no launch passes it",
                                        spec.name, options_.ptx_name),
                            nearest.hint());
  }
}

}  // namespace gpusim::comp
