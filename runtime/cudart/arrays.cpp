// Arrays, and what textures and surfaces take from them: shared by the runtime and the driver library.
#include <algorithm>
#include <cmath>

#include "runtime/cudart/mipmapped_arrays.h"
#include "runtime/device/attributes.h"
#include "simcore/memory/device_memory.h"

namespace gpusim::runtime::cudart {

Array& array_of(const Device& device, cudaArray_const_t handle) {
  auto* const array = const_cast<Array*>(reinterpret_cast<const Array*>(handle));
  require(device.is_array(array), Code::kInvalidResourceHandle);
  return *array;
}

Copy copy_3d(Device& device, const cudaMemcpy3DParms& p) {
  if (p.extent.width == 0 || p.extent.height == 0 || p.extent.depth == 0) return {};
  require((p.srcArray == nullptr) != (p.srcPtr.ptr == nullptr) &&
          (p.dstArray == nullptr) != (p.dstPtr.ptr == nullptr));
  // As an H100 with driver 580.159 answers.
  for (const auto& [end, place] : {std::pair{p.srcPtr, p.srcPos}, std::pair{p.dstPtr, p.dstPos}}) {
    if (end.ptr == nullptr || p.srcArray != nullptr || p.dstArray != nullptr) continue;
    require(p.extent.height == 1 || p.extent.width <= end.pitch, Code::kInvalidPitchValue);
    require(p.extent.depth == 1 || end.ysize == 0 || p.extent.height <= end.ysize, Code::kInvalidPitchValue);
    require(p.extent.height == 1 || place.x + p.extent.width <= end.pitch);
  }
  Copy c;
  uint64_t texel = 1;
  if (p.srcArray != nullptr) texel = array_of(device, p.srcArray).texel_bytes();
  if (p.dstArray != nullptr) texel = array_of(device, p.dstArray).texel_bytes();
  if (p.srcArray != nullptr) require(array_of(device, p.srcArray).texel_bytes() == texel);
  c.width = p.extent.width * texel;
  c.height = p.extent.height;
  c.depth = p.extent.depth;
  if (p.srcArray != nullptr) {
    const Array& a = array_of(device, p.srcArray);
    require(p.srcPos.x + p.extent.width <= a.extent.width && p.srcPos.y + p.extent.height <= a.height() &&
            p.srcPos.z + p.extent.depth <= a.depth());
    c.from_pitch = a.pitch, c.from_slice = a.slice();
    c.from = a.data + p.srcPos.z * c.from_slice + p.srcPos.y * a.pitch + p.srcPos.x * texel;
  } else {
    c.from_pitch = p.srcPtr.pitch, c.from_slice = p.srcPtr.pitch * std::max(p.srcPtr.ysize, size_t{1});
    c.from = static_cast<const std::byte*>(p.srcPtr.ptr) + p.srcPos.z * c.from_slice +
             p.srcPos.y * c.from_pitch + p.srcPos.x * (p.dstArray != nullptr ? texel : 1);
  }
  if (p.dstArray != nullptr) {
    const Array& a = array_of(device, p.dstArray);
    require(p.dstPos.x + p.extent.width <= a.extent.width && p.dstPos.y + p.extent.height <= a.height() &&
            p.dstPos.z + p.extent.depth <= a.depth());
    c.to_pitch = a.pitch, c.to_slice = a.slice();
    c.to = a.data + p.dstPos.z * c.to_slice + p.dstPos.y * a.pitch + p.dstPos.x * texel;
  } else {
    c.to_pitch = p.dstPtr.pitch, c.to_slice = p.dstPtr.pitch * std::max(p.dstPtr.ysize, size_t{1});
    c.to = static_cast<std::byte*>(p.dstPtr.ptr) + p.dstPos.z * c.to_slice + p.dstPos.y * c.to_pitch +
           p.dstPos.x * (p.srcArray != nullptr ? texel : 1);
  }
  return checked_copy(device, std::move(c), p.kind);
}

namespace {

isa::Type texel_type(const ChannelFormat& f) {
  using Kind = ChannelFormat::Kind;
  if (f.kind == Kind::kFloat && f.x == 32) return isa::Type::kF32;
  if (f.kind == Kind::kFloat && f.x == 16) return isa::Type::kF16;
  if (f.kind == Kind::kSigned) {
    if (f.x == 8) return isa::Type::kS8;
    if (f.x == 16) return isa::Type::kS16;
    if (f.x == 32) return isa::Type::kS32;
  }
  if (f.kind == Kind::kUnsigned) {
    if (f.x == 8) return isa::Type::kU8;
    if (f.x == 16) return isa::Type::kU16;
    if (f.x == 32) return isa::Type::kU32;
  }
  throw Failure(Code::kInvalidChannelDescriptor);
}

uint8_t channels_of(const ChannelFormat& f) {
  return static_cast<uint8_t>(1 + (f.y != 0) + (f.z != 0) + (f.w != 0));
}

isa::AddressMode address_mode(int mode) {
  constexpr isa::AddressMode kModes[] = {isa::AddressMode::kWrap, isa::AddressMode::kClamp,
                                         isa::AddressMode::kMirror, isa::AddressMode::kBorder};
  require(mode >= 0 && mode < 4);
  return kModes[mode];
}

void set_geometry(const Device& device, const cudaResourceDesc& r, isa::Texture& t) {
  constexpr int kArray = 0, kLinear = 2, kPitch2d = 3;
  ChannelFormat format;
  const std::byte* data = nullptr;
  if (r.resType == kArray) {
    const Array& a = array_of(device, r.res.array.array);
    format = a.format;
    data = a.data;
    t.cube = (a.flags & Array::kCubemap) != 0;
    const bool layered = t.cube || (a.flags & Array::kLayered) != 0;
    t.array = layered;
    t.dimensions = layered ? (a.extent.height != 0 ? 2 : 1)
                           : static_cast<uint8_t>(1 + (a.extent.height != 0) + (a.extent.depth != 0));
    t.size = {static_cast<uint32_t>(a.extent.width), static_cast<uint32_t>(a.height()),
              layered ? 1 : static_cast<uint32_t>(a.depth())};
    if (layered) t.layers = static_cast<uint32_t>(a.depth());
    t.pitch = a.pitch;
  } else if (r.resType == kLinear) {
    format = channels(r.res.linear.desc);
    data = static_cast<const std::byte*>(r.res.linear.devPtr);
    const auto texel = static_cast<uint64_t>(format.bits()) / 8;
    require(texel != 0, Code::kInvalidChannelDescriptor);
    t.dimensions = 1;
    t.size = {static_cast<uint32_t>(r.res.linear.sizeInBytes / texel), 1, 1};
    t.pitch = r.res.linear.sizeInBytes;
  } else if (r.resType == kPitch2d) {
    format = channels(r.res.pitch2D.desc);
    data = static_cast<const std::byte*>(r.res.pitch2D.devPtr);
    t.dimensions = 2;
    t.size = {static_cast<uint32_t>(r.res.pitch2D.width), static_cast<uint32_t>(r.res.pitch2D.height), 1};
    t.pitch = r.res.pitch2D.pitchInBytes;
  } else {
    throw Failure(Code::kInvalidValue);
  }
  require(data != nullptr);
  t.format = texel_type(format);
  t.channels = channels_of(format);
  require(t.channels != 3, Code::kInvalidChannelDescriptor);
  t.data = data;
  t.address = reinterpret_cast<uint64_t>(data);
}

/// Formats of views (enum cudaResourceViewFormat): 0 is that of the texture; behind it 1, 2 and 4 channels of
/// each of these.
void view_as(int format, isa::Texture& t) {
  constexpr isa::Type kTypes[] = {isa::Type::kU8,  isa::Type::kS8,  isa::Type::kU16, isa::Type::kS16,
                                  isa::Type::kU32, isa::Type::kS32, isa::Type::kF16, isa::Type::kF32};
  constexpr int kCounts = 3;
  if (format == 0) return;
  const int kind = (format - 1) / kCounts;
  if (kind >= static_cast<int>(std::size(kTypes)))
    throw Failure(Code::kNotSupported, "views of textures as compressed blocks are not simulated");
  require(kind >= 0);
  const uint32_t bytes = t.texel_bytes();
  t.format = kTypes[kind];
  t.channels = static_cast<uint8_t>(1 << (format - 1) % kCounts);
  require(t.texel_bytes() == bytes);
}

/// What a view leaves of the texture.
void apply(const cudaResourceViewDesc& view, isa::Texture& t) {
  const auto same = [](size_t given, uint32_t size, bool there) { return given == (there ? size : 0); };
  require(view.format != 0);
  require(same(view.width, t.size[0], true) && same(view.height, t.size[1], t.dimensions > 1));
  require(t.array || same(view.depth, t.size[2], t.dimensions > 2));
  view_as(view.format, t);
  const auto levels = static_cast<unsigned>(std::max<size_t>(t.levels.size(), 1));
  require(view.firstMipmapLevel <= view.lastMipmapLevel && view.lastMipmapLevel < levels);
  const auto all = t.levels.begin();
  if (!t.levels.empty()) t.levels = std::vector(all + view.firstMipmapLevel, all + view.lastMipmapLevel + 1);
  require(view.firstLayer <= view.lastLayer && view.lastLayer < t.layers);
  t.layers = view.lastLayer - view.firstLayer + 1;
  const auto skip = [&](isa::TextureLevel& level) {
    const uint64_t bytes = level.pitch * level.size[1] * level.size[2] * view.firstLayer;
    level.data += bytes, level.address += bytes;
  };
  std::ranges::for_each(t.levels, skip);
  if (t.levels.empty())
    skip(t);
  else
    static_cast<isa::TextureLevel&>(t) = t.levels.front();
}

void set_levels(const Device& device, const cudaResourceDesc& resource, isa::Texture& t) {
  constexpr int kArray = 0;
  for (Array* const level : mipmapped_array_of(resource.res.mipmap.mipmap).levels) {
    cudaResourceDesc array = resource;
    array.resType = kArray;
    array.res.array.array = reinterpret_cast<cudaArray_t>(level);
    set_geometry(device, array, t);
    t.levels.push_back(t);
  }
  static_cast<isa::TextureLevel&>(t) = t.levels.front();
}

}  // namespace

namespace {
/// What a texture may ask for that has texels of this type.
void check_reads(const isa::Texture& t, const cudaTextureDesc& texture) {
  constexpr int kLinear = 1, kNormalized = 1;
  const bool floats = t.format == isa::Type::kF32 || t.format == isa::Type::kF16;
  const bool large = t.format == isa::Type::kU32 || t.format == isa::Type::kS32;
  const bool normalized = texture.readMode == kNormalized;
  require(texture.readMode >= 0 && texture.readMode <= kNormalized);
  require(texture.filterMode >= 0 && texture.filterMode <= kLinear);
  require(texture.mipmapFilterMode >= 0 && texture.mipmapFilterMode <= kLinear);
  require(texture.seamlessCubemap == 0 || t.cube);
  require(texture.filterMode != kLinear || floats || (normalized && !large), Code::kInvalidFilterSetting);
  require(!normalized || (!floats && !large), Code::kInvalidNormSetting);
}
}  // namespace

isa::Texture texture_of(const Device& device, const cudaResourceDesc& resource,
                        const cudaTextureDesc& texture, const cudaResourceViewDesc* view) {
  constexpr int kMipmapped = 1;
  isa::Texture t;
  if (resource.resType == kMipmapped)
    set_levels(device, resource, t);
  else
    set_geometry(device, resource, t);
  if (view != nullptr) {
    constexpr int kLinear = 2;
    require(resource.resType < kLinear);  // of arrays alone
    apply(*view, t);
  }
  check_reads(t, texture);
  t.linear_filter = texture.filterMode == 1;
  t.normalized = texture.normalizedCoords != 0;
  t.normalized_float = texture.readMode == 1;
  t.srgb = texture.sRGB != 0 && t.normalized_float && t.format == isa::Type::kU8;
  for (size_t i = 0; i < 3; ++i) t.address_mode[i] = address_mode(texture.addressMode[i]);
  std::ranges::copy(texture.borderColor, t.border.begin());
  t.linear_levels = texture.mipmapFilterMode == 1;
  t.level_bias = texture.mipmapLevelBias;
  t.least_level = texture.minMipmapLevelClamp, t.most_level = texture.maxMipmapLevelClamp;
  return t;
}

void check_texture_memory(const Device& device, const cudaResourceDesc& r) {
  constexpr int kLinear = 2, kPitch2d = 3;
  constexpr int kPitchAlignment = 51, kMostWidth = 70, kMostHeight = 71, kMostPitch = 72;
  if (r.resType != kLinear && r.resType != kPitch2d) return;
  const auto value = [&](int attribute) {
    return static_cast<size_t>(device_attribute(device.machine(), attribute).value_or(1));
  };
  const void* const memory = r.resType == kLinear ? r.res.linear.devPtr : r.res.pitch2D.devPtr;
  // The attribute says 512 (cudaDevAttrTextureAlignment), and memory of cudaMalloc must do, which begins at
  // multiples of 256 here, where launch files have theirs too.
  require(memory != nullptr && reinterpret_cast<uintptr_t>(memory) % core::DeviceMemory::kAlign == 0);
  require(device.pointer_kind(memory).memory != PointerKind::Memory::kUnregistered);
  if (r.resType == kLinear) {
    const auto bits = static_cast<size_t>(channels(r.res.linear.desc).bits());
    require(bits == 0 || r.res.linear.sizeInBytes / (bits / 8) <=
                             linear_texture_width(device.machine(), static_cast<int>(bits)));
    return;
  }
  const auto& rows = r.res.pitch2D;
  require(rows.pitchInBytes % value(kPitchAlignment) == 0 && rows.pitchInBytes <= value(kMostPitch));
  require(rows.width <= value(kMostWidth) && rows.height <= value(kMostHeight));
}

isa::Texture surface_of(const Device& device, const cudaResourceDesc& resource) {
  constexpr int kArray = 0;
  constexpr int kMipmapped = 1, kLinear = 2, kPitch2d = 3;
  require(resource.resType >= kArray && resource.resType <= kPitch2d);
  require(resource.resType != kMipmapped);
  if (resource.resType >= kLinear) throw Failure(Code::kInvalidChannelDescriptor);
  const Array& array = array_of(device, resource.res.array.array);
  require((array.flags & Array::kSurface) != 0);
  isa::Texture t;
  set_geometry(device, resource, t);
  t.surface = array.data;
  return t;
}

}  // namespace gpusim::runtime::cudart
