// Texture and surface objects.
#include <map>
#include <optional>

#include "runtime/cudart/api.h"

namespace gpusim::runtime::cudart {

namespace {

struct Described {
  cudaResourceDesc resource;
  cudaTextureDesc texture;
  std::optional<cudaResourceViewDesc> view;
};
std::map<uint64_t, Described>& objects() {
  static auto* const made = new std::map<uint64_t, Described>;
  return *made;
}

}  // namespace

GPUSIM_EXPORT cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object,
                                                  const cudaResourceDesc* resource,
                                                  const cudaTextureDesc* texture,
                                                  const cudaResourceViewDesc* view) {
  return call([&](Device& device) {
    require(object != nullptr && resource != nullptr);
    require(texture != nullptr, Code::kInvalidResourceHandle);
    check_texture_memory(device, *resource);
    *object = device.add_texture(texture_of(device, *resource, *texture, view));
    objects()[*object] = {*resource, *texture,
                          view == nullptr ? std::nullopt : std::optional<cudaResourceViewDesc>(*view)};
  });
}

GPUSIM_EXPORT cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
  return call([&](Device& device) {
    // One that is gone already is no error (as an H100 with driver 580.159 answers).
    if (objects().erase(object) != 0) device.remove_texture(object);
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
GPUSIM_EXPORT cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* view,
                                                               cudaTextureObject_t object) {
  return call([&](Device&) {
    const auto at = objects().find(object);
    require(view != nullptr && at != objects().end());
    *view = at->second.view.value_or(cudaResourceViewDesc{});
  });
}

GPUSIM_EXPORT cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object,
                                                  const cudaResourceDesc* resource) {
  return call([&](Device& device) {
    require(object != nullptr && resource != nullptr);
    *object = device.add_texture(surface_of(device, *resource));
    objects()[*object] = {*resource, {}, std::nullopt};
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
