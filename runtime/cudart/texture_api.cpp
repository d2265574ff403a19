// Texture and surface objects.
#include <map>

#include "runtime/cudart/api.h"

namespace gpusim::runtime::cudart {

namespace {

struct Described {
  cudaResourceDesc resource;
  cudaTextureDesc texture;
};
std::map<uint64_t, Described>& objects() {
  static auto* const made = new std::map<uint64_t, Described>;
  return *made;
}

isa::Type texel_type(const cudaChannelFormatDesc& f) {
  constexpr int kSigned = 0, kUnsigned = 1, kFloat = 2;
  if (f.f == kFloat && f.x == 32) return isa::Type::kF32;
  if (f.f == kFloat && f.x == 16) return isa::Type::kF16;
  if (f.f == kSigned) {
    if (f.x == 8) return isa::Type::kS8;
    if (f.x == 16) return isa::Type::kS16;
    if (f.x == 32) return isa::Type::kS32;
  }
  if (f.f == kUnsigned) {
    if (f.x == 8) return isa::Type::kU8;
    if (f.x == 16) return isa::Type::kU16;
    if (f.x == 32) return isa::Type::kU32;
  }
  throw Failure(Code::kInvalidChannelDescriptor);
}

uint8_t channels_of(const cudaChannelFormatDesc& f) {
  return static_cast<uint8_t>(1 + (f.y != 0) + (f.z != 0) + (f.w != 0));
}

isa::AddressMode address_mode(int mode) {
  constexpr isa::AddressMode kModes[] = {isa::AddressMode::kWrap, isa::AddressMode::kClamp,
                                         isa::AddressMode::kMirror, isa::AddressMode::kBorder};
  require(mode >= 0 && mode < 4);
  return kModes[mode];
}

void set_geometry(const cudaResourceDesc& r, isa::Texture& t) {
  constexpr int kArray = 0, kLinear = 2, kPitch2d = 3;
  constexpr unsigned kLayered = 1, kCubemap = 4;
  cudaChannelFormatDesc format{};
  const std::byte* data = nullptr;
  if (r.resType == kArray) {
    const Array& a = array_of(r.res.array.array);
    format = a.format;
    data = a.data;
    t.cube = (a.flags & kCubemap) != 0;
    const bool layered = t.cube || (a.flags & kLayered) != 0;
    t.array = layered;
    t.dimensions = layered ? (a.extent.height != 0 ? 2 : 1)
                           : static_cast<uint8_t>(1 + (a.extent.height != 0) + (a.extent.depth != 0));
    t.size = {static_cast<uint32_t>(a.extent.width), static_cast<uint32_t>(a.height()),
              layered ? 1 : static_cast<uint32_t>(a.depth())};
    if (layered) t.layers = static_cast<uint32_t>(a.depth());
    t.pitch = a.pitch;
  } else if (r.resType == kLinear) {
    format = r.res.linear.desc;
    data = static_cast<const std::byte*>(r.res.linear.devPtr);
    const auto texel = static_cast<uint64_t>(format.x + format.y + format.z + format.w) / 8;
    require(texel != 0, Code::kInvalidChannelDescriptor);
    t.dimensions = 1;
    t.size = {static_cast<uint32_t>(r.res.linear.sizeInBytes / texel), 1, 1};
    t.pitch = r.res.linear.sizeInBytes;
  } else if (r.resType == kPitch2d) {
    format = r.res.pitch2D.desc;
    data = static_cast<const std::byte*>(r.res.pitch2D.devPtr);
    t.dimensions = 2;
    t.size = {static_cast<uint32_t>(r.res.pitch2D.width), static_cast<uint32_t>(r.res.pitch2D.height), 1};
    t.pitch = r.res.pitch2D.pitchInBytes;
  } else {
    throw Failure(Code::kNotSupported, "textures in mipmapped arrays are not simulated");
  }
  require(data != nullptr);
  t.format = texel_type(format);
  t.channels = channels_of(format);
  require(t.channels != 3, Code::kInvalidChannelDescriptor);
  t.data = data;
  t.address = reinterpret_cast<uint64_t>(data);
}

}  // namespace

GPUSIM_EXPORT cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object,
                                                  const cudaResourceDesc* resource,
                                                  const cudaTextureDesc* texture,
                                                  const cudaResourceViewDesc* view) {
  return call([&](Device& device) {
    require(object != nullptr && resource != nullptr && texture != nullptr);
    if (view != nullptr) throw Failure(Code::kNotSupported, "views of textures are not simulated");
    isa::Texture t;
    set_geometry(*resource, t);
    t.linear_filter = texture->filterMode == 1;
    t.normalized = texture->normalizedCoords != 0;
    t.normalized_float = texture->readMode == 1;
    for (size_t i = 0; i < 3; ++i) t.address_mode[i] = address_mode(texture->addressMode[i]);
    *object = device.add_texture(t);
    objects()[*object] = {*resource, *texture};
  });
}

GPUSIM_EXPORT cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
  return call([&](Device& device) {
    if (object == 0) return;
    device.remove_texture(object);
    objects().erase(object);
  });
}

GPUSIM_EXPORT cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                                           cudaTextureObject_t object) {
  return call([&](Device&) {
    const auto at = objects().find(object);
    require(resource != nullptr && at != objects().end());
    *resource = at->second.resource;
  });
}
GPUSIM_EXPORT cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* texture,
                                                          cudaTextureObject_t object) {
  return call([&](Device&) {
    const auto at = objects().find(object);
    require(texture != nullptr && at != objects().end());
    *texture = at->second.texture;
  });
}

GPUSIM_EXPORT cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object,
                                                  const cudaResourceDesc* resource) {
  return call([&](Device& device) {
    require(object != nullptr && resource != nullptr && resource->resType == 0);
    isa::Texture t;
    set_geometry(*resource, t);
    t.surface = array_of(resource->res.array.array).data;
    *object = device.add_texture(t);
    objects()[*object] = {*resource, {}};
  });
}
GPUSIM_EXPORT cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) {
  return cudaDestroyTextureObject(object);
}
GPUSIM_EXPORT cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource,
                                                           cudaSurfaceObject_t object) {
  return cudaGetTextureObjectResourceDesc(resource, object);
}

}  // namespace gpusim::runtime::cudart
