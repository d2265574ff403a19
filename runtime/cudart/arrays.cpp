// Arrays, and what textures and surfaces take from them: shared by the runtime and the driver library.
#include <algorithm>
#include <cmath>

#include "runtime/cudart/mipmapped_arrays.h"

namespace gpusim::runtime::cudart {

Array& array_of(const Device& device, cudaArray_const_t handle) {
  auto* const array = const_cast<Array*>(reinterpret_cast<const Array*>(handle));
  require(device.is_array(array), Code::kInvalidResourceHandle);
  return *array;
}

Copy copy_3d(Device& device, const cudaMemcpy3DParms& p) {
  require((p.srcArray == nullptr) != (p.srcPtr.ptr == nullptr) &&
          (p.dstArray == nullptr) != (p.dstPtr.ptr == nullptr));
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

/// The array that the texture reads: of a mipmapped one a level, if it cannot be another.
cudaResourceDesc one_level(const cudaResourceDesc& resource, const cudaTextureDesc& texture) {
  constexpr int kArray = 0, kMipmapped = 1;
  if (resource.resType != kMipmapped) return resource;
  const MipmappedArray& mipmapped = mipmapped_array_of(resource.res.mipmap.mipmap);
  const float last = static_cast<float>(mipmapped.levels.size() - 1);
  const float least = std::clamp(texture.minMipmapLevelClamp, 0.0f, last);
  const float most = std::clamp(texture.maxMipmapLevelClamp, 0.0f, last);
  // Kernels' levels are not passed on, and values would be wrong without a word.
  if (least < most || std::floor(most) != most)
    throw Failure(Code::kNotSupported,
                  "textures in mipmapped arrays are simulated if minMipmapLevelClamp and maxMipmapLevelClamp "
                  "leave one level");
  cudaResourceDesc r = resource;
  r.resType = kArray;
  r.res.array.array = reinterpret_cast<cudaArray_t>(mipmapped.levels[static_cast<size_t>(most)]);
  return r;
}

}  // namespace

isa::Texture texture_of(const Device& device, const cudaResourceDesc& resource,
                        const cudaTextureDesc& texture) {
  isa::Texture t;
  set_geometry(device, one_level(resource, texture), t);
  t.linear_filter = texture.filterMode == 1;
  t.normalized = texture.normalizedCoords != 0;
  t.normalized_float = texture.readMode == 1;
  for (size_t i = 0; i < 3; ++i) t.address_mode[i] = address_mode(texture.addressMode[i]);
  // Values would be wrong without a word.
  if (texture.sRGB != 0) throw Failure(Code::kNotSupported, "textures in sRGB are not simulated");
  const bool border =
      std::ranges::find(t.address_mode, isa::AddressMode::kBorder) != std::end(t.address_mode);
  if (border && std::ranges::any_of(texture.borderColor, [](float c) { return c != 0; }))
    throw Failure(Code::kNotSupported, "textures with a border that is not 0 are not simulated");
  return t;
}

isa::Texture surface_of(const Device& device, const cudaResourceDesc& resource) {
  constexpr int kArray = 0;
  require(resource.resType == kArray);
  isa::Texture t;
  set_geometry(device, resource, t);
  t.surface = array_of(device, resource.res.array.array).data;
  return t;
}

}  // namespace gpusim::runtime::cudart
